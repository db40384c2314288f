/* Every MPI call of HPL that spends or observes simulated time first spends what the kernels before it have cost, and
 * is counted. The linker's -Bsymbolic makes HPL use these definitions, and MPI's profiling interface is what they call.
 */
#include <mpi.h>

#include "channels.h"
#ifdef HPLCAST_NO_CONTENT
#include "shared_panel.h"
#endif
#include "hplcast/smpi_models/hplcast_smpi.h"

/* Only bytes matter in messages without content: a strided piece of U is sent as as many contiguous doubles, because
 * packing and unpacking would read and commit memory without content. Messages with content (pivots) are
 * contiguous, see shared_panel.c. */
static void flatten(int* count, MPI_Datatype* type) {
#ifdef HPLCAST_NO_CONTENT
  int bytes_of_item = 0;
  if (*type == MPI_DOUBLE || *type == MPI_INT || *type == MPI_BYTE) return;
  (void)PMPI_Type_size(*type, &bytes_of_item);
  *count *= bytes_of_item / (int)sizeof(double);
  *type = MPI_DOUBLE;
#else
  (void)count, (void)type;
#endif
}

static void count_message(hplcast_mpi operation, int count, MPI_Datatype type) {
  int bytes_of_item = 0;
  if (count > 0) (void)PMPI_Type_size(type, &bytes_of_item);
  hplcast_count_message(operation, (double)count * bytes_of_item);
}

static void enter(hplcast_mpi operation, int count, MPI_Datatype type) {
  hplcast_flush();
  count_message(operation, count, type);
}

static void enter_without_data(hplcast_mpi operation) {
  enter(operation, 0, MPI_BYTE);
}

#ifdef HPLCAST_NO_CONTENT
#define DIRECT_MESSAGES direct_messages()
static int direct_messages(void) {
  static int known, direct;
  if (!known) direct = hplcast_direct_messages();
  known = 1;
  return direct;
}

static hplcast_message message(const void* data, int count, MPI_Datatype type, hplcast_channel ends) {
  hplcast_message result;
  int bytes_of_item = 0;
  (void)PMPI_Type_size(type, &bytes_of_item);
  result.channel = ends;
  result.bytes = (double)count * bytes_of_item;
  hplcast_find_content(data, (size_t)count * (size_t)bytes_of_item, &result);
  return result;
}

static void send_directly(hplcast_mpi operation, const void* data, int count, MPI_Datatype type, hplcast_channel ends,
                          MPI_Request* request) {
  const hplcast_message out = message(data, count, type, ends);
  const int synchronous = operation == HPLCAST_MPI_SSEND || operation == HPLCAST_MPI_ISSEND;
  hplcast_count_message(operation, out.bytes);
  if (request == NULL)
    hplcast_send(&out, synchronous);
  else
    *request = (MPI_Request)hplcast_isend(&out, synchronous);
}

static MPI_Request receive_directly(hplcast_mpi operation, const void* data, int count, MPI_Datatype type,
                                    hplcast_channel ends) {
  const hplcast_message in = message(data, count, type, ends);
  hplcast_count_message(operation, in.bytes);
  return (MPI_Request)hplcast_irecv(&in);
}

static int wait_directly(MPI_Request* request) {
  if (*request != MPI_REQUEST_NULL) hplcast_wait((hplcast_request*)*request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
#else
#define DIRECT_MESSAGES 0 /* SMPI packs what is strided */
#define send_directly(operation, data, count, type, ends, request) (void)(ends)
#define receive_directly(operation, data, count, type, ends) ((void)(ends), MPI_REQUEST_NULL)
#define wait_directly(request) ((void)(request), MPI_SUCCESS)
#endif

/* What HPL calls of MPI's messages. Sends have the same body but for the call of SMPI. */
#define SEND(operation, request, call)                                                   \
  if (DIRECT_MESSAGES) {                                                                 \
    send_directly(operation, data, count, type, channel_to(to, tag, comm), request); \
    return MPI_SUCCESS;                                                                  \
  }                                                                                      \
  enter(operation, count, type);                                                         \
  flatten(&count, &type);                                                                \
  sent(to, tag, comm);                                                                   \
  return call

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  SEND(HPLCAST_MPI_SEND, NULL, PMPI_Send(data, count, type, to, tag, comm));
}

int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  SEND(HPLCAST_MPI_SSEND, NULL, PMPI_Ssend(data, count, type, to, tag, comm));
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  SEND(HPLCAST_MPI_ISEND, request, PMPI_Isend(data, count, type, to, tag, comm, request));
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  SEND(HPLCAST_MPI_ISSEND, request, PMPI_Issend(data, count, type, to, tag, comm, request));
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (DIRECT_MESSAGES) {
    MPI_Request request;
    request = receive_directly(HPLCAST_MPI_RECV, data, count, type, channel_from(from, tag, comm));
    return wait_directly(&request);
  }
  enter(HPLCAST_MPI_RECV, count, type);
  flatten(&count, &type);
  taken(from, tag, comm);
  return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (DIRECT_MESSAGES) {
    *request = receive_directly(HPLCAST_MPI_IRECV, data, count, type, channel_from(from, tag, comm));
    return MPI_SUCCESS;
  }
  enter(HPLCAST_MPI_IRECV, count, type);
  flatten(&count, &type);
  taken(from, tag, comm);
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (DIRECT_MESSAGES) {
    hplcast_count_message(HPLCAST_MPI_WAIT, 0);
    return wait_directly(request);
  }
  enter_without_data(HPLCAST_MPI_WAIT);
  return PMPI_Wait(request, status);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const hplcast_channel probed = channel_from(from, tag, comm);
  int result;
  hplcast_count_message(HPLCAST_MPI_IPROBE, 0);
  if (DIRECT_MESSAGES) {
    *found = hplcast_probe(&probed);
    return MPI_SUCCESS;
  }
  hplcast_probe_begin(&probed); /* in place of hplcast_flush() */
  result = PMPI_Iprobe(from, tag, comm, found, status);
  hplcast_probe_end(*found);
  return result;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  enter_without_data(HPLCAST_MPI_COLLECTIVE);
  return PMPI_Comm_split(comm, color, key, part);
}

#ifdef HPLCAST_NO_CONTENT
/* HPL frees the types of its panels, which here are MPI_DOUBLE (shared_panel.c). */
int MPI_Type_free(MPI_Datatype* type) {
  if (*type != MPI_DOUBLE) return PMPI_Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
#endif

double MPI_Wtime(void) {
  hplcast_flush();
  return PMPI_Wtime();
}

int MPI_Abort(MPI_Comm comm, int status) {
  hplcast_flush();
  return PMPI_Abort(comm, status);
}

int MPI_Finalize(void) {
  hplcast_flush();
  return PMPI_Finalize();
}
