/* Point-to-point messages of a simulated program, which do not go through SMPI (hplcast_program_messages.h), unless
 * the settings or another platform ask for it. The linker turns calls of NAME into __wrap_NAME.
 *
 * Requests may be ours or those of SMPI's collective operations, mixed in one array. */
#include <stdio.h>
#include <stdlib.h>

#include "mpi_wrap.h"

/* SMPI's own function. */
#define SMPI(NAME, ...)                                 \
  __extension__({                                       \
    hplcast_before_mpi(#NAME);                          \
    const int smpi_result = __real_##NAME(__VA_ARGS__); \
    hplcast_after_mpi();                                \
    smpi_result;                                        \
  })

void hplcast_refuse(const char* name) {
  if (!hplcast_messages()) return;
  char text[160];
  snprintf(text, sizeof text,
           "%s is not among the functions that hplcast has; `hplcast run --messages smpi` leaves all messages to SMPI",
           name);
  hplcast_stop(text);
}

static hplcast_end end_of(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator) {
  const hplcast_end end = {(void*)buffer, count, type, peer, tag, communicator};
  return end;
}

/* --- communicators ------------------------------------------------------------------------------------------------ */

int __wrap_MPI_Comm_free(MPI_Comm* communicator) {
  if (hplcast_messages()) hplcast_communicator_freed(*communicator);
  return SMPI(MPI_Comm_free, communicator);
}

int __wrap_MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* child) {
  const int result = SMPI(MPI_Comm_create_group, parent, group, tag, child);
  if (hplcast_messages()) hplcast_communicator_made_by_group(parent, tag, *child);
  return result;
}

/* Elements in short blocks with gaps between them are packed by their sender and unpacked by their receiver, as
 * MPI_Pack and MPI_Unpack do. Longer blocks take no more than a message without gaps: copying them is what it does,
 * too, piece by piece while others are on their way. */
static double bytes_with_gaps(int count, MPI_Datatype type) {
  int size = 0;
  return hplcast_has_short_blocks(type) && PMPI_Type_size(type, &size) == MPI_SUCCESS ? (double)count * size : 0;
}

static void spend_packing(double bytes) {
  static struct hplcast_variant variant = {"MPI_Pack", "MPI_Unpack", -1};
  if (bytes > 0) hplcast_spend_if_known(&variant, bytes);
}

static void spend_unpacking(double bytes) {
  static struct hplcast_variant variant = {"MPI_Unpack", "MPI_Pack", -1};
  if (bytes > 0) hplcast_spend_if_known(&variant, bytes);
}

/* --- sends, receives and probes ---------------------------------------------------------------------------------- */

/* A function of one message, or one that it would receive; `before` and `after`: statements; `call`: with `end`. */
#define MESSAGE(NAME, parameters, arguments, before, of, call, after) \
  int __wrap_##NAME parameters {                                      \
    if (!hplcast_messages()) return SMPI(NAME, EXPANDED arguments);   \
    before;                                                           \
    hplcast_enter_mpi(#NAME);                                         \
    const hplcast_end end = end_of of;                                \
    call;                                                             \
    hplcast_after_mpi();                                              \
    after;                                                            \
    return MPI_SUCCESS;                                               \
  }
#define EXPANDED(...) __VA_ARGS__
#define MESSAGE_END (buffer, count, type, peer, tag, communicator)

#define SEND(NAME, synchronous)                                                                                     \
  MESSAGE(NAME, (const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator),       \
          (buffer, count, type, peer, tag, communicator), spend_packing(bytes_with_gaps(count, type)), MESSAGE_END, \
          hplcast_mpi_send(&end, synchronous), )
SEND(MPI_Send, 0)
SEND(MPI_Ssend, 1)
SEND(MPI_Rsend, 0)
SEND(MPI_Bsend, 0)

/* MPI_Isend(..., request) and the like; `data`: of the buffer; `make`: the request of `end`. */
#define BEGIN(NAME, data, before, make)                                                                              \
  MESSAGE(                                                                                                           \
      NAME,                                                                                                          \
      (data * buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator, MPI_Request* request), \
      (buffer, count, type, peer, tag, communicator, request), before, MESSAGE_END, *request = make, )
BEGIN(MPI_Isend, const void, spend_packing(bytes_with_gaps(count, type)), hplcast_mpi_isend(&end, 0))
BEGIN(MPI_Issend, const void, spend_packing(bytes_with_gaps(count, type)), hplcast_mpi_isend(&end, 1))
BEGIN(MPI_Irsend, const void, spend_packing(bytes_with_gaps(count, type)), hplcast_mpi_isend(&end, 0))
BEGIN(MPI_Ibsend, const void, spend_packing(bytes_with_gaps(count, type)), hplcast_mpi_isend(&end, 0))
BEGIN(MPI_Irecv, void, , hplcast_mpi_ireceive(&end))
BEGIN(MPI_Send_init, const void, , hplcast_mpi_prepare(&end, 0, 0))
BEGIN(MPI_Ssend_init, const void, , hplcast_mpi_prepare(&end, 0, 1))
BEGIN(MPI_Rsend_init, const void, , hplcast_mpi_prepare(&end, 0, 0))
BEGIN(MPI_Bsend_init, const void, , hplcast_mpi_prepare(&end, 0, 0))
BEGIN(MPI_Recv_init, void, , hplcast_mpi_prepare(&end, 1, 0))

MESSAGE(MPI_Recv,
        (void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator, MPI_Status* status),
        (buffer, count, type, peer, tag, communicator, status), , MESSAGE_END, hplcast_mpi_receive(&end, status),
        spend_unpacking(bytes_with_gaps(count, type)))

#define PROBE_END (NULL, 0, MPI_BYTE, peer, tag, communicator)
MESSAGE(MPI_Probe, (int peer, int tag, MPI_Comm communicator, MPI_Status* status), (peer, tag, communicator, status), ,
        PROBE_END, hplcast_mpi_probe(&end, 1, status), )
MESSAGE(MPI_Iprobe, (int peer, int tag, MPI_Comm communicator, int* found, MPI_Status* status),
        (peer, tag, communicator, found, status), , PROBE_END, *found = hplcast_mpi_probe(&end, 0, status), )

static void exchange(const char* name, const hplcast_end* out, const hplcast_end* in, MPI_Status* status) {
  hplcast_enter_mpi(name);
  MPI_Request sent = hplcast_mpi_isend(out, 0), received = hplcast_mpi_ireceive(in);
  hplcast_mpi_wait(&received, status);
  hplcast_mpi_wait(&sent, MPI_STATUS_IGNORE);
  hplcast_after_mpi();
}

int __wrap_MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                        int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm communicator,
                        MPI_Status* status) {
  if (!hplcast_messages())
    return SMPI(MPI_Sendrecv, out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, communicator,
                status);
  const hplcast_end sent = end_of(out, out_count, out_type, to, out_tag, communicator);
  const hplcast_end received = end_of(in, in_count, in_type, from, in_tag, communicator);
  spend_packing(bytes_with_gaps(out_count, out_type));
  exchange("MPI_Sendrecv", &sent, &received, status);
  spend_unpacking(bytes_with_gaps(in_count, in_type));
  return MPI_SUCCESS;
}

int __wrap_MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                                MPI_Comm communicator, MPI_Status* status) {
  if (!hplcast_messages())
    return SMPI(MPI_Sendrecv_replace, buffer, count, type, to, out_tag, from, in_tag, communicator, status);
  /* What is sent is packed before anything is received into its place. */
  int size = 0, packed = 0;
  MPI_Type_size(type, &size);
  size *= count;
  char* const out = malloc((size_t)size + 1);
  MPI_Pack(buffer, count, type, out, size, &packed, communicator);
  const hplcast_end sent = end_of(out, size, MPI_BYTE, to, out_tag, communicator);
  const hplcast_end received = end_of(buffer, count, type, from, in_tag, communicator);
  exchange("MPI_Sendrecv_replace", &sent, &received, status);
  free(out);
  return MPI_SUCCESS;
}

static int start(const char* name, MPI_Request* request) {
  if (!hplcast_is_request(*request)) return SMPI(MPI_Start, request);
  spend_packing(hplcast_bytes_to_pack(*request));
  hplcast_enter_mpi(name);
  hplcast_mpi_start(*request);
  hplcast_after_mpi();
  return MPI_SUCCESS;
}

int __wrap_MPI_Start(MPI_Request* request) {
  return start("MPI_Start", request);
}

int __wrap_MPI_Startall(int count, MPI_Request* requests) {
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && result == MPI_SUCCESS; ++i) result = start("MPI_Startall", &requests[i]);
  return result;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static MPI_Status* status_of(MPI_Status* statuses, int place) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[place];
}

static void empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  const MPI_Status none = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
  *status = none;
}

/* Neither MPI_REQUEST_NULL nor a persistent one that was not started; those of SMPI are taken for active. */
static int is_active(MPI_Request request) {
  return request != MPI_REQUEST_NULL && (!hplcast_is_request(request) || hplcast_is_active(request));
}

/* `name`: on behalf of which function. */
static int wait_for(const char* name, MPI_Request* request, MPI_Status* status) {
  if (!hplcast_is_request(*request)) return SMPI(MPI_Wait, request, status);
  if (!hplcast_is_active(*request)) {
    empty(status);
    return MPI_SUCCESS;
  }
  const double to_unpack = hplcast_bytes_to_unpack(*request);
  hplcast_enter_mpi(name);
  hplcast_mpi_wait(request, status);
  hplcast_after_mpi();
  spend_unpacking(to_unpack);
  return MPI_SUCCESS;
}

int __wrap_MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return wait_for("MPI_Wait", request, status);
}

static int test(const char* name, MPI_Request* request, int* ended, MPI_Status* status) {
  if (!hplcast_is_request(*request)) return SMPI(MPI_Test, request, ended, status);
  *ended = 1;
  if (!hplcast_is_active(*request)) {
    empty(status);
    return MPI_SUCCESS;
  }
  const double to_unpack = hplcast_bytes_to_unpack(*request);
  hplcast_enter_mpi(name);
  *ended = hplcast_mpi_test(request, status);
  hplcast_after_mpi();
  if (*ended) spend_unpacking(to_unpack);
  return MPI_SUCCESS;
}

int __wrap_MPI_Test(MPI_Request* request, int* ended, MPI_Status* status) {
  return test("MPI_Test", request, ended, status);
}

int __wrap_MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!hplcast_messages()) return SMPI(MPI_Waitall, count, requests, statuses);
  /* What has come is taken while others are on their way. Who asks each of many for each of them waits too long. */
  enum { few = 64 };
  char done[few] = {0};
  int result = MPI_SUCCESS;
  for (int left = count <= few ? count : 0; left > 1; --left) {
    hplcast_enter_mpi("MPI_Waitall");
    const int place = hplcast_mpi_wait_next(count, requests);
    const double to_unpack = place >= 0 ? hplcast_bytes_to_unpack(requests[place]) : 0;
    if (place >= 0) {
      hplcast_mpi_wait(&requests[place], status_of(statuses, place));
      done[place] = 1;
    }
    hplcast_after_mpi();
    spend_unpacking(to_unpack);
    if (place < 0) break;
  }
  for (int i = 0; i < count; ++i) {
    if (count <= few && done[i]) continue;
    const int one = wait_for("MPI_Waitall", &requests[i], status_of(statuses, i));
    if (one != MPI_SUCCESS) result = one;
  }
  return result;
}

/* How many are active; all of them are ours, or the simulation ends. */
static int active_ones(int count, MPI_Request* requests, const char* name) {
  int active = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i])) continue;
    if (!hplcast_is_request(requests[i])) hplcast_refuse(name);
    ++active;
  }
  return active;
}

int __wrap_MPI_Waitany(int count, MPI_Request* requests, int* place, MPI_Status* status) {
  if (!hplcast_messages()) return SMPI(MPI_Waitany, count, requests, place, status);
  *place = MPI_UNDEFINED;
  empty(status);
  if (active_ones(count, requests, "MPI_Waitany with requests of collective operations") == 0) return MPI_SUCCESS;
  hplcast_enter_mpi("MPI_Waitany");
  *place = hplcast_mpi_wait_any(count, requests);
  const double to_unpack = hplcast_bytes_to_unpack(requests[*place]);
  hplcast_mpi_wait(&requests[*place], status);
  hplcast_after_mpi();
  spend_unpacking(to_unpack);
  return MPI_SUCCESS;
}

int __wrap_MPI_Testany(int count, MPI_Request* requests, int* place, int* ended, MPI_Status* status) {
  if (!hplcast_messages()) return SMPI(MPI_Testany, count, requests, place, ended, status);
  *place = MPI_UNDEFINED;
  *ended = 1;
  empty(status);
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i])) continue;
    const int result = test("MPI_Testany", &requests[i], ended, status);
    if (*ended) *place = i;
    if (*ended || result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}

int __wrap_MPI_Testsome(int count, MPI_Request* requests, int* ended_count, int* places, MPI_Status* statuses) {
  if (!hplcast_messages()) return SMPI(MPI_Testsome, count, requests, ended_count, places, statuses);
  int active = 0;
  *ended_count = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i])) continue;
    ++active;
    int ended = 0;
    const int result = test("MPI_Testsome", &requests[i], &ended, status_of(statuses, *ended_count));
    if (result != MPI_SUCCESS) return result;
    if (ended) places[(*ended_count)++] = i;
  }
  if (active == 0) *ended_count = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int __wrap_MPI_Waitsome(int count, MPI_Request* requests, int* ended_count, int* places, MPI_Status* statuses) {
  if (!hplcast_messages()) return SMPI(MPI_Waitsome, count, requests, ended_count, places, statuses);
  *ended_count = 1;
  const int result = __wrap_MPI_Waitany(count, requests, &places[0], status_of(statuses, 0));
  if (places[0] == MPI_UNDEFINED) *ended_count = MPI_UNDEFINED;
  return result;
}

int __wrap_MPI_Testall(int count, MPI_Request* requests, int* ended, MPI_Status* statuses) {
  if (!hplcast_messages()) return SMPI(MPI_Testall, count, requests, ended, statuses);
  *ended = 1;
  for (int i = 0; i < count && *ended; ++i) {
    if (!hplcast_is_request(requests[i]) && requests[i] != MPI_REQUEST_NULL) {
      const int result = SMPI(MPI_Test, &requests[i], ended, status_of(statuses, i));
      if (result != MPI_SUCCESS) return result;
    } else if (is_active(requests[i])) {
      test("MPI_Testall", &requests[i], ended, status_of(statuses, i));
    }
  }
  return MPI_SUCCESS;
}

int __wrap_MPI_Request_free(MPI_Request* request) {
  if (!hplcast_is_request(*request)) return SMPI(MPI_Request_free, request);
  hplcast_mpi_request_free(request);
  return MPI_SUCCESS;
}
