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

/* A function FORTRAN with such parameters, which calls NAME; `before` and `after`: statements. */
#define AS_IN_C(fortran, NAME, parameters, before, arguments, after) \
  void __wrap_##fortran parameters {                                 \
    before;                                                          \
    *error = __wrap_##NAME arguments;                                \
    after;                                                           \
  }

#define SEND(fortran, NAME)                                                                                      \
  AS_IN_C(fortran, NAME,                                                                                         \
          (void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* peer, MPI_Fint* tag, MPI_Fint* communicator, \
           MPI_Fint* error),                                                                                     \
          , (buffer_of(buffer), *count, MPI_Type_f2c(*type), *peer, *tag, MPI_Comm_f2c(*communicator)), )
SEND(mpi_send_, MPI_Send)
SEND(mpi_ssend_, MPI_Ssend)
SEND(mpi_rsend_, MPI_Rsend)
SEND(mpi_bsend_, MPI_Bsend)

#define BEGIN(fortran, NAME)                                                                                     \
  AS_IN_C(fortran, NAME,                                                                                         \
          (void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* peer, MPI_Fint* tag, MPI_Fint* communicator, \
           MPI_Fint* number, MPI_Fint* error),                                                                   \
          MPI_Request request = MPI_REQUEST_NULL,                                                                \
          (buffer_of(buffer), *count, MPI_Type_f2c(*type), *peer, *tag, MPI_Comm_f2c(*communicator), &request),  \
          *number = number_of(request))
BEGIN(mpi_isend_, MPI_Isend)
BEGIN(mpi_issend_, MPI_Issend)
BEGIN(mpi_irsend_, MPI_Irsend)
BEGIN(mpi_ibsend_, MPI_Ibsend)
BEGIN(mpi_irecv_, MPI_Irecv)
BEGIN(mpi_send_init_, MPI_Send_init)
BEGIN(mpi_ssend_init_, MPI_Ssend_init)
BEGIN(mpi_rsend_init_, MPI_Rsend_init)
BEGIN(mpi_bsend_init_, MPI_Bsend_init)
BEGIN(mpi_recv_init_, MPI_Recv_init)

AS_IN_C(mpi_recv_, MPI_Recv,
        (void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* peer, MPI_Fint* tag, MPI_Fint* communicator,
         void* status, MPI_Fint* error),
        ,
        (buffer_of(buffer), *count, MPI_Type_f2c(*type), *peer, *tag, MPI_Comm_f2c(*communicator), status_of(status)), )
AS_IN_C(mpi_sendrecv_, MPI_Sendrecv,
        (void* out, MPI_Fint* out_count, MPI_Fint* out_type, MPI_Fint* to, MPI_Fint* out_tag, void* in,
         MPI_Fint* in_count, MPI_Fint* in_type, MPI_Fint* from, MPI_Fint* in_tag, MPI_Fint* communicator, void* status,
         MPI_Fint* error),
        ,
        (buffer_of(out), *out_count, MPI_Type_f2c(*out_type), *to, *out_tag, buffer_of(in), *in_count,
         MPI_Type_f2c(*in_type), *from, *in_tag, MPI_Comm_f2c(*communicator), status_of(status)), )
AS_IN_C(mpi_sendrecv_replace_, MPI_Sendrecv_replace,
        (void* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* to, MPI_Fint* out_tag, MPI_Fint* from,
         MPI_Fint* in_tag, MPI_Fint* communicator, void* status, MPI_Fint* error),
        ,
        (buffer_of(buffer), *count, MPI_Type_f2c(*type), *to, *out_tag, *from, *in_tag, MPI_Comm_f2c(*communicator),
         status_of(status)), )

AS_IN_C(mpi_probe_, MPI_Probe, (MPI_Fint * peer, MPI_Fint* tag, MPI_Fint* communicator, void* status, MPI_Fint* error),
        , (*peer, *tag, MPI_Comm_f2c(*communicator), status_of(status)), )
AS_IN_C(mpi_iprobe_, MPI_Iprobe,
        (MPI_Fint * peer, MPI_Fint* tag, MPI_Fint* communicator, MPI_Fint* found, void* status, MPI_Fint* error), ,
        (*peer, *tag, MPI_Comm_f2c(*communicator), found, status_of(status)), )

/* `request`: of one that is there, `*number`. */
#define WITH_REQUEST(fortran, NAME, parameters, arguments) \
  AS_IN_C(fortran, NAME, parameters, MPI_Request request = request_of(*number), arguments, *number = number_of(request))
WITH_REQUEST(mpi_wait_, MPI_Wait, (MPI_Fint * number, void* status, MPI_Fint* error), (&request, status_of(status)))
WITH_REQUEST(mpi_test_, MPI_Test, (MPI_Fint * number, MPI_Fint* ended, void* status, MPI_Fint* error),
             (&request, ended, status_of(status)))
WITH_REQUEST(mpi_request_free_, MPI_Request_free, (MPI_Fint * number, MPI_Fint* error), (&request))

/* `requests`: of those that are there, `*count` numbers. */
#define WITH_REQUESTS(fortran, NAME, parameters, arguments, after)                                          \
  AS_IN_C(fortran, NAME, parameters, MPI_Request* const requests = requests_of(*count, numbers), arguments, \
          return_requests(*count, requests, numbers);                                                       \
          after)
WITH_REQUESTS(mpi_startall_, MPI_Startall, (MPI_Fint * count, MPI_Fint* numbers, MPI_Fint* error), (*count, requests), )
WITH_REQUESTS(mpi_waitall_, MPI_Waitall, (MPI_Fint * count, MPI_Fint* numbers, void* statuses, MPI_Fint* error),
              (*count, requests, status_of(statuses)), )
WITH_REQUESTS(mpi_testall_, MPI_Testall,
              (MPI_Fint * count, MPI_Fint* numbers, MPI_Fint* ended, void* statuses, MPI_Fint* error),
              (*count, requests, ended, status_of(statuses)), )
WITH_REQUESTS(mpi_waitany_, MPI_Waitany,
              (MPI_Fint * count, MPI_Fint* numbers, MPI_Fint* place, void* status, MPI_Fint* error),
              (*count, requests, place, status_of(status)), shift(place))
WITH_REQUESTS(mpi_testany_, MPI_Testany,
              (MPI_Fint * count, MPI_Fint* numbers, MPI_Fint* place, MPI_Fint* ended, void* status, MPI_Fint* error),
              (*count, requests, place, ended, status_of(status)), shift(place))
#define SOME(fortran, NAME)                                                                                       \
  WITH_REQUESTS(fortran, NAME,                                                                                    \
                (MPI_Fint * count, MPI_Fint * numbers, MPI_Fint * ended_count, MPI_Fint * places, void* statuses, \
                 MPI_Fint* error),                                                                                \
                (*count, requests, ended_count, places, status_of(statuses)),                                     \
                for (int i = 0; *ended_count != MPI_UNDEFINED && i < *ended_count; ++i) shift(&places[i]))
SOME(mpi_waitsome_, MPI_Waitsome)
SOME(mpi_testsome_, MPI_Testsome)

void __wrap_mpi_start_(MPI_Fint* number, MPI_Fint* error) {
  MPI_Fint one = 1;
  __wrap_mpi_startall_(&one, number, error);
}

AS_IN_C(mpi_comm_free_, MPI_Comm_free, (MPI_Fint * number, MPI_Fint* error),
        MPI_Comm communicator = MPI_Comm_f2c(*number), (&communicator), *number = MPI_Comm_c2f(communicator))
AS_IN_C(mpi_comm_create_group_, MPI_Comm_create_group,
        (MPI_Fint * parent, MPI_Fint* group, MPI_Fint* tag, MPI_Fint* number, MPI_Fint* error),
        MPI_Comm child = MPI_COMM_NULL, (MPI_Comm_f2c(*parent), MPI_Group_f2c(*group), *tag, &child),
        *number = MPI_Comm_c2f(child))
