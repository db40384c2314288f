/* The functions of messages.c as Fortran calls them: everything by address, handles as numbers, the result at the end.
 * The linker turns calls of NAME into __wrap_NAME. */
#include <stdlib.h>

#include "mpi_wrap.h"

/* Addresses that Fortran hands over for constants of MPI: SMPI's common blocks of these names. */
extern int mpi_bottom_, mpi_status_ignore_, mpi_statuses_ignore_;

static void* buffer_of(void* address) {
  return address == (void*)&mpi_bottom_ ? MPI_BOTTOM : address;
}

static MPI_Status* status_of(void* address) {
  return address == (void*)&mpi_status_ignore_ || address == (void*)&mpi_statuses_ignore_ ? MPI_STATUS_IGNORE
                                                                                          : (MPI_Status*)address;
}

static MPI_Fint number_of(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return MPI_FORTRAN_REQUEST_NULL;
  return hplcast_is_request(request) ? hplcast_request_number(request) : MPI_Request_c2f(request);
}

static MPI_Request request_of(MPI_Fint number) {
  if (number == MPI_FORTRAN_REQUEST_NULL) return MPI_REQUEST_NULL;
  const MPI_Request ours = hplcast_request_of_number(number);
  return ours != MPI_REQUEST_NULL ? ours : MPI_Request_f2c(number);
}

static MPI_Request* requests_of(int count, const MPI_Fint* numbers) {
  MPI_Request* const requests = malloc(sizeof *requests * (size_t)(count > 0 ? count : 1));
  for (int i = 0; i < count; ++i) requests[i] = request_of(numbers[i]);
  return requests;
}

/* And back. Frees them. */
static void return_requests(int count, MPI_Request* requests, MPI_Fint* numbers) {
  for (int i = 0; i < count; ++i) numbers[i] = number_of(requests[i]);
  free(requests);
}

/* Places are counted from 1 there. */
static void shift(int* place) {
  if (*place != MPI_UNDEFINED) ++*place;
}

#define SEND(fortran, NAME)                                                                                  \
  int NAME(const void*, int, MPI_Datatype, int, int, MPI_Comm);                                              \
  void __wrap_##fortran(void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* peer, MPI_Fint* tag,        \
                        MPI_Fint* communicator, MPI_Fint* error) {                                           \
    *error = NAME(buffer_of(buffer), *count, MPI_Type_f2c(*type), *peer, *tag, MPI_Comm_f2c(*communicator)); \
  }
SEND(mpi_send_, __wrap_MPI_Send)
SEND(mpi_ssend_, __wrap_MPI_Ssend)
SEND(mpi_rsend_, __wrap_MPI_Rsend)
SEND(mpi_bsend_, __wrap_MPI_Bsend)

#define BEGIN(fortran, NAME)                                                                                           \
  int NAME(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);                                          \
  void __wrap_##fortran(void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* peer, MPI_Fint* tag,                  \
                        MPI_Fint* communicator, MPI_Fint* number, MPI_Fint* error) {                                   \
    MPI_Request request = MPI_REQUEST_NULL;                                                                            \
    *error = NAME(buffer_of(buffer), *count, MPI_Type_f2c(*type), *peer, *tag, MPI_Comm_f2c(*communicator), &request); \
    *number = number_of(request);                                                                                      \
  }
BEGIN(mpi_isend_, __wrap_MPI_Isend)
BEGIN(mpi_issend_, __wrap_MPI_Issend)
BEGIN(mpi_irsend_, __wrap_MPI_Irsend)
BEGIN(mpi_ibsend_, __wrap_MPI_Ibsend)
BEGIN(mpi_irecv_, __wrap_MPI_Irecv)
BEGIN(mpi_send_init_, __wrap_MPI_Send_init)
BEGIN(mpi_ssend_init_, __wrap_MPI_Ssend_init)
BEGIN(mpi_rsend_init_, __wrap_MPI_Rsend_init)
BEGIN(mpi_bsend_init_, __wrap_MPI_Bsend_init)
BEGIN(mpi_recv_init_, __wrap_MPI_Recv_init)

int __wrap_MPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
void __wrap_mpi_recv_(void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* peer, MPI_Fint* tag,
                      MPI_Fint* communicator, void* status, MPI_Fint* error) {
  *error = __wrap_MPI_Recv(buffer_of(buffer), *count, MPI_Type_f2c(*type), *peer, *tag, MPI_Comm_f2c(*communicator),
                           status_of(status));
}

int __wrap_MPI_Sendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm,
                        MPI_Status*);
void __wrap_mpi_sendrecv_(void* out, MPI_Fint* out_count, MPI_Fint* out_type, MPI_Fint* to, MPI_Fint* out_tag, void* in,
                          MPI_Fint* in_count, MPI_Fint* in_type, MPI_Fint* from, MPI_Fint* in_tag,
                          MPI_Fint* communicator, void* status, MPI_Fint* error) {
  *error =
      __wrap_MPI_Sendrecv(buffer_of(out), *out_count, MPI_Type_f2c(*out_type), *to, *out_tag, buffer_of(in), *in_count,
                          MPI_Type_f2c(*in_type), *from, *in_tag, MPI_Comm_f2c(*communicator), status_of(status));
}

int __wrap_MPI_Sendrecv_replace(void*, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status*);
void __wrap_mpi_sendrecv_replace_(void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* to, MPI_Fint* out_tag,
                                  MPI_Fint* from, MPI_Fint* in_tag, MPI_Fint* communicator, void* status,
                                  MPI_Fint* error) {
  *error = __wrap_MPI_Sendrecv_replace(buffer_of(buffer), *count, MPI_Type_f2c(*type), *to, *out_tag, *from, *in_tag,
                                       MPI_Comm_f2c(*communicator), status_of(status));
}

int __wrap_MPI_Startall(int, MPI_Request*);
void __wrap_mpi_startall_(MPI_Fint* count, MPI_Fint* numbers, MPI_Fint* error) {
  MPI_Request* const requests = requests_of(*count, numbers);
  *error = __wrap_MPI_Startall(*count, requests);
  return_requests(*count, requests, numbers);
}

void __wrap_mpi_start_(MPI_Fint* number, MPI_Fint* error) {
  MPI_Fint one = 1;
  __wrap_mpi_startall_(&one, number, error);
}

int __wrap_MPI_Probe(int, int, MPI_Comm, MPI_Status*);
void __wrap_mpi_probe_(MPI_Fint* peer, MPI_Fint* tag, MPI_Fint* communicator, void* status, MPI_Fint* error) {
  *error = __wrap_MPI_Probe(*peer, *tag, MPI_Comm_f2c(*communicator), status_of(status));
}

int __wrap_MPI_Iprobe(int, int, MPI_Comm, int*, MPI_Status*);
void __wrap_mpi_iprobe_(MPI_Fint* peer, MPI_Fint* tag, MPI_Fint* communicator, MPI_Fint* found, void* status,
                        MPI_Fint* error) {
  *error = __wrap_MPI_Iprobe(*peer, *tag, MPI_Comm_f2c(*communicator), found, status_of(status));
}

int __wrap_MPI_Wait(MPI_Request*, MPI_Status*);
void __wrap_mpi_wait_(MPI_Fint* number, void* status, MPI_Fint* error) {
  MPI_Request request = request_of(*number);
  *error = __wrap_MPI_Wait(&request, status_of(status));
  *number = number_of(request);
}

int __wrap_MPI_Test(MPI_Request*, int*, MPI_Status*);
void __wrap_mpi_test_(MPI_Fint* number, MPI_Fint* ended, void* status, MPI_Fint* error) {
  MPI_Request request = request_of(*number);
  *error = __wrap_MPI_Test(&request, ended, status_of(status));
  *number = number_of(request);
}

int __wrap_MPI_Waitall(int, MPI_Request*, MPI_Status*);
void __wrap_mpi_waitall_(MPI_Fint* count, MPI_Fint* numbers, void* statuses, MPI_Fint* error) {
  MPI_Request* const requests = requests_of(*count, numbers);
  *error = __wrap_MPI_Waitall(*count, requests, status_of(statuses));
  return_requests(*count, requests, numbers);
}

int __wrap_MPI_Testall(int, MPI_Request*, int*, MPI_Status*);
void __wrap_mpi_testall_(MPI_Fint* count, MPI_Fint* numbers, MPI_Fint* ended, void* statuses, MPI_Fint* error) {
  MPI_Request* const requests = requests_of(*count, numbers);
  *error = __wrap_MPI_Testall(*count, requests, ended, status_of(statuses));
  return_requests(*count, requests, numbers);
}

int __wrap_MPI_Waitany(int, MPI_Request*, int*, MPI_Status*);
void __wrap_mpi_waitany_(MPI_Fint* count, MPI_Fint* numbers, MPI_Fint* place, void* status, MPI_Fint* error) {
  MPI_Request* const requests = requests_of(*count, numbers);
  *error = __wrap_MPI_Waitany(*count, requests, place, status_of(status));
  return_requests(*count, requests, numbers);
  shift(place);
}

int __wrap_MPI_Testany(int, MPI_Request*, int*, int*, MPI_Status*);
void __wrap_mpi_testany_(MPI_Fint* count, MPI_Fint* numbers, MPI_Fint* place, MPI_Fint* ended, void* status,
                         MPI_Fint* error) {
  MPI_Request* const requests = requests_of(*count, numbers);
  *error = __wrap_MPI_Testany(*count, requests, place, ended, status_of(status));
  return_requests(*count, requests, numbers);
  shift(place);
}

#define SOME(fortran, NAME)                                                                                          \
  int NAME(int, MPI_Request*, int*, int*, MPI_Status*);                                                              \
  void __wrap_##fortran(MPI_Fint* count, MPI_Fint* numbers, MPI_Fint* ended_count, MPI_Fint* places, void* statuses, \
                        MPI_Fint* error) {                                                                           \
    MPI_Request* const requests = requests_of(*count, numbers);                                                      \
    *error = NAME(*count, requests, ended_count, places, status_of(statuses));                                       \
    return_requests(*count, requests, numbers);                                                                      \
    for (int i = 0; *ended_count != MPI_UNDEFINED && i < *ended_count; ++i) shift(&places[i]);                       \
  }
SOME(mpi_waitsome_, __wrap_MPI_Waitsome)
SOME(mpi_testsome_, __wrap_MPI_Testsome)

int __wrap_MPI_Request_free(MPI_Request*);
void __wrap_mpi_request_free_(MPI_Fint* number, MPI_Fint* error) {
  MPI_Request request = request_of(*number);
  *error = __wrap_MPI_Request_free(&request);
  *number = number_of(request);
}

int __wrap_MPI_Comm_free(MPI_Comm*);
void __wrap_mpi_comm_free_(MPI_Fint* number, MPI_Fint* error) {
  MPI_Comm communicator = MPI_Comm_f2c(*number);
  *error = __wrap_MPI_Comm_free(&communicator);
  *number = MPI_Comm_c2f(communicator);
}

int __wrap_MPI_Comm_create_group(MPI_Comm, MPI_Group, int, MPI_Comm*);
void __wrap_mpi_comm_create_group_(MPI_Fint* parent, MPI_Fint* group, MPI_Fint* tag, MPI_Fint* number,
                                   MPI_Fint* error) {
  MPI_Comm child = MPI_COMM_NULL;
  *error = __wrap_MPI_Comm_create_group(MPI_Comm_f2c(*parent), MPI_Group_f2c(*group), *tag, &child);
  *number = MPI_Comm_c2f(child);
}
