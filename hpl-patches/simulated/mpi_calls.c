/* The MPI calls of HPL in the simulated program. Each that spends or observes simulated time first spends what the
 * kernels before it have cost, and is counted and shown to the runtime (hplcast_smpi.h). These functions call MPI's
 * profiling interface, and send all messages in MPI_COMM_WORLD: other communicators are not SMPI's (below). */
#include <mpi.h>

#include "channels.h"
#include "own_memory.h"
#include "wrap.h"

static void begin(hplcast_mpi operation, int peer, int tag, MPI_Comm comm, double bytes) {
  hplcast_call_begin(operation, peer < 0 ? -1 : in_world(peer, comm), tag, bytes, NULL);
  hplcast_count_message(operation, bytes);
}

#ifdef HPLCAST_NO_CONTENT
static int direct_messages(void) {
  static int known, direct;
  if (!known) direct = hplcast_direct_messages();
  known = 1;
  return direct;
}

/* Only bytes matter in messages without content: a strided piece of U is sent as as many contiguous doubles, because
 * packing and unpacking would read and commit memory without content. Messages with content (pivots) are
 * contiguous (own_memory.c). */
static void flatten(int* count, MPI_Datatype* type) {
  if (*type == MPI_DOUBLE || *type == MPI_INT || *type == MPI_BYTE) return;
  *count = (int)(bytes_of(*count, *type) / sizeof(double));
  *type = MPI_DOUBLE;
}
#else /* SMPI packs what is strided */
#define direct_messages() 0
#define flatten(count, type) (void)0
#define hplcast_find_content(data, bytes, message) (void)(data)
#define hplcast_take_new_bytes(data, bytes) 0
#endif

static hplcast_message message(const void* data, double bytes, hplcast_channel ends) {
  hplcast_message result;
  result.channel = ends;
  result.bytes = bytes;
  result.probed = 1;
  result.new_bytes = 0;
  result.exchanged = 0;
  result.panel = 0;
  hplcast_find_content(data, (size_t)bytes, &result);
  return result;
}

/* `request` is null for a blocking send; `receive`: that of one between MPI_Irecv and MPI_Wait. */
static void send_directly(hplcast_mpi operation, const void* data, double bytes, hplcast_channel ends, int probed,
                          int panel, MPI_Request* request, const MPI_Request* receive) {
  hplcast_message out = message(data, bytes, ends);
  out.probed = probed;
  out.panel = panel;
  const int synchronous = operation != HPLCAST_MPI_SEND;
  if (receive != NULL)
    hplcast_send_within(&out, (hplcast_request*)*receive);
  else if (request == NULL)
    hplcast_send(&out, synchronous);
  else
    *request = (MPI_Request)hplcast_isend(&out, synchronous);
}

static int new_memory_costs(void) {
  static int costs = -1;
  if (costs < 0) costs = hplcast_new_memory_costs();
  return costs;
}

static MPI_Request receive_directly(const void* data, double bytes, hplcast_channel ends, int exchanged) {
  hplcast_message in = message(data, bytes, ends);
  in.exchanged = exchanged;
  in.new_bytes = new_memory_costs() ? hplcast_take_new_bytes(data, bytes) : 0;
  return (MPI_Request)hplcast_irecv(&in);
}

static int wait_directly(MPI_Request* request) {
  if (*request != MPI_REQUEST_NULL) hplcast_wait((hplcast_request*)*request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/* Sends have the same body but for the call of SMPI. */
#define SEND(operation, is_probed, request, receive, call)                                                          \
  MPI_Request* const made = request;                                                                                \
  const double bytes = bytes_of(count, type);                                                                       \
  int status = MPI_SUCCESS;                                                                                         \
  begin(operation, to, tag, comm, bytes);                                                                           \
  if (direct_messages()) {                                                                                          \
    send_directly(operation, data, bytes, channel_to(to, tag, comm), is_probed, type == PANEL_TYPE, made, receive); \
  } else {                                                                                                          \
    hplcast_flush();                                                                                                \
    flatten(&count, &type);                                                                                         \
    sent(to, tag, comm);                                                                                            \
    status = call;                                                                                                  \
  }                                                                                                                 \
  hplcast_call_end(made == NULL ? NULL : *made, 1);                                                                 \
  return status

WRAP(int, MPI_Send, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  SEND(HPLCAST_MPI_SEND, 1, NULL, NULL, PMPI_Send(data, count, type, in_world(to, comm), tag, MPI_COMM_WORLD));
}

WRAP(int, MPI_Ssend, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  SEND(HPLCAST_MPI_SSEND, 1, NULL, NULL, PMPI_Ssend(data, count, type, in_world(to, comm), tag, MPI_COMM_WORLD));
}

WRAP(int, MPI_Issend, const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
     MPI_Request* request) {
  SEND(HPLCAST_MPI_ISSEND, 1, request, NULL,
       PMPI_Issend(data, count, type, in_world(to, comm), tag, MPI_COMM_WORLD, request));
}

/* The part of a receive that is the same whoever carries the message. */
static double begin_receive(hplcast_mpi operation, int* count, MPI_Datatype* type, int from, int tag, MPI_Comm comm) {
  const double bytes = bytes_of(*count, *type);
  begin(operation, from, tag, comm, bytes);
  if (direct_messages()) return bytes;
  hplcast_flush();
  flatten(count, type);
  taken(from, tag, comm);
  return bytes;
}

WRAP(int, MPI_Recv, void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  int result;
  const double bytes = begin_receive(HPLCAST_MPI_RECV, &count, &type, from, tag, comm);
  if (direct_messages()) {
    MPI_Request request = receive_directly(data, bytes, channel_from(from, tag, comm), 0);
    result = wait_directly(&request);
  } else {
    result = PMPI_Recv(data, count, type, in_world(from, comm), tag, MPI_COMM_WORLD, status);
  }
  hplcast_call_end(NULL, 1);
  return result;
}

WRAP(int, MPI_Irecv, void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  int status = MPI_SUCCESS;
  const double bytes = begin_receive(HPLCAST_MPI_IRECV, &count, &type, from, tag, comm);
  if (direct_messages())
    *request = receive_directly(data, bytes, channel_from(from, tag, comm), 1); /* HPL has no others */
  else
    status = PMPI_Irecv(data, count, type, in_world(from, comm), tag, MPI_COMM_WORLD, request);
  hplcast_call_end(*request, 1);
  return status;
}

WRAP(int, MPI_Wait, MPI_Request* request, MPI_Status* status) {
  int result;
  hplcast_call_begin(HPLCAST_MPI_WAIT, -1, 0, 0, *request);
  hplcast_count_message(HPLCAST_MPI_WAIT, 0);
  if (direct_messages()) {
    result = wait_directly(request);
  } else {
    hplcast_flush();
    result = PMPI_Wait(request, status);
  }
  hplcast_call_end(NULL, 1);
  return result;
}

WRAP(int, MPI_Iprobe, int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const hplcast_channel probed = channel_from(from, tag, comm);
  int result = MPI_SUCCESS;
  begin(HPLCAST_MPI_IPROBE, from, tag, comm, 0);
  if (direct_messages()) {
    *found = hplcast_probe(&probed);
  } else {
    hplcast_probe_begin(&probed); /* in place of hplcast_flush() */
    result = PMPI_Iprobe(in_world(from, comm), tag, MPI_COMM_WORLD, found, status);
    hplcast_probe_end(*found);
  }
  hplcast_call_end(NULL, *found);
  return result;
}

/* HPL probes only for panels (HPL_bcast): what these two functions send is not looked for. `receive`: as above. */
static int send_unprobed(const double* data, int count, int to, int tag, MPI_Comm comm, const MPI_Request* receive) {
  MPI_Datatype type = MPI_DOUBLE;
  SEND(HPLCAST_MPI_SEND, 0, NULL, receive, PMPI_Send(data, count, type, in_world(to, comm), tag, MPI_COMM_WORLD));
}

WRAP(int, HPL_send, double* data, int count, int to, int tag, MPI_Comm comm) {
  return count > 0 ? send_unprobed(data, count, to, tag, comm, NULL) : MPI_SUCCESS;
}

WRAP(int, HPL_sdrv, double* out, int out_count, int out_tag, double* in, int in_count, int in_tag, int partner,
     MPI_Comm comm) {
  MPI_Request request;
  if (in_count <= 0) return HPL_send(out, out_count, partner, out_tag, comm);
  if (out_count <= 0) return HPL_recv(in, in_count, partner, in_tag, comm);
  __wrap_MPI_Irecv(in, in_count, MPI_DOUBLE, partner, in_tag, comm, &request);
  send_unprobed(out, out_count, partner, out_tag, comm, &request);
  return __wrap_MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* HPL frees the types of its panels, of which there is one here (own_memory.c). */
WRAP(int, MPI_Type_free, MPI_Datatype* type) {
  if (*type != PANEL_TYPE) return PMPI_Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

WRAP(int, MPI_Abort, MPI_Comm comm, int status) {
  hplcast_flush();
  return PMPI_Abort(comm, status);
}

WRAP(int, MPI_Finalize, void) {
  hplcast_flush();
  return PMPI_Finalize();
}

/* A program that was linked for another version of the runtime is told, in place of going wrong. */
__attribute__((constructor)) static void require_interface(void) {
  hplcast_require_interface(HPLCAST_INTERFACE);
}

/* --- communicators ------------------------------------------------------------------------------------------------ */

/* They are those of the runtime, which one object serves for all of their ranks. Messages in them go between ranks of
 * MPI_COMM_WORLD. */
WRAP(int, MPI_Comm_split, MPI_Comm comm, int color, int key, MPI_Comm* part) {
  hplcast_count_message(HPLCAST_MPI_COLLECTIVE, 0);
  *part = (MPI_Comm)hplcast_split(communicator_of(comm), color == MPI_UNDEFINED ? -1 : color, key);
  if (*part == NULL) *part = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

WRAP(int, MPI_Comm_rank, MPI_Comm comm, int* rank) {
  *rank = hplcast_rank_in(communicator_of(comm));
  return MPI_SUCCESS;
}

WRAP(int, MPI_Comm_size, MPI_Comm comm, int* size) {
  *size = communicator_of(comm)->size;
  return MPI_SUCCESS;
}

WRAP(int, MPI_Comm_free, MPI_Comm* comm) {
  hplcast_free(communicator_of(*comm));
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
