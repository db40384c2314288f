#include "hplcast/smpi_models/hplcast_program_messages.h"

#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "hplcast/smpi_models/hplcast_program.h"
#include "smpi-models/program/program.hpp"
#include "smpi-models/program/program_messages.hpp"
#include "smpi-models/session/c_boundary.hpp"
#include "smpi-models/session/runtime.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

// Blocking calls stay outside of guarded(): an actor that is killed must be unwound by SimGrid's own exception.

namespace hplcast::smpi_models {

namespace {

/// Only where hplcast_messages().
ProgramMessages& messages() {
  return *Runtime::instance().program_messages();
}

/// Neither MPI_REQUEST_NULL nor a persistent one that was not started; those of SMPI are taken for active.
bool is_active(MPI_Request request) {
  const ProgramRequest* const ours = messages().find(request);
  return ours != nullptr ? ours->active : request != MPI_REQUEST_NULL;
}

/// A function of MPI that does no more than this; it may block.
template <typename Body>
int in_mpi(const char* function, const Body& body) {
  hplcast_enter_mpi(function);
  body();
  hplcast_after_mpi();
  return MPI_SUCCESS;
}

/// SMPI's own function, for a request of its own. Not by PMPI: MPI_Wait is what calls error handlers.
template <typename Call>
int by_smpi(const char* function, const Call& call) {
  hplcast_before_mpi(function);
  const int result = call();
  hplcast_after_mpi();
  return result;
}
#define SMPI(NAME, ...) by_smpi(#NAME, [&] { return NAME(__VA_ARGS__); })

/// Spends the time of an MPI function that has a model; `other`: a function whose model does for it.
void spend(const char* function, const char* other, const Packing& packing) {
  guarded([&] {
    Program& program = Runtime::instance().program();
    const int routine = program.routine(function + std::string(packing.strides), other);
    if (program.has_model(routine)) program.call(Runtime::rank(), routine, packing.shape, 0, false);
  });
}

/// Elements in short blocks with gaps between them are packed by their sender and unpacked by their receiver, as
/// MPI_Pack and MPI_Unpack do. Longer blocks take no more than a message without gaps: copying them is what it does,
/// too, piece by piece while others are on their way.
void spend_packing(int count, MPI_Datatype type) {
  if (const Packing packing = packing_of(count, type); packing.is_slow) spend("MPI_Pack", "MPI_Unpack", packing);
}

void spend_unpacking(const Packing& packing) {
  if (packing.is_slow) spend("MPI_Unpack", "MPI_Pack", packing);
}

/// Nothing, unless an active request of ours receives.
Packing to_unpack_of(const ProgramRequest& request) {
  return request.kind.receives ? packing_of(request.end.count, request.end.type) : Packing();
}

/// Tells the trace. A communicator that is not known ends the simulation here, where nothing blocks. @return `end`
const MessageEnd& noted(const MessageEnd& end) {
  guarded([&] {
    const Rank& rank = Runtime::rank();
    const Communicator& ranks = messages().communicators().find(rank.number, end.communicator)->ranks;
    Runtime::instance().program().note_message(rank, [&] {
      const int peer = end.peer >= 0 && end.peer < ranks.size ? ranks.world_ranks[end.peer] : -1;
      return TracedMessage{peer, end.tag, static_cast<double>(packed_bytes(end.count, end.type))};
    });
  });
  return end;
}

int send(const char* function, const MessageEnd& end, Sending how) {
  spend_packing(end.count, end.type);
  return in_mpi(function, [&] { messages().send(Runtime::rank(), noted(end), how); });
}

int begin(const char* function, const MessageEnd& end, const RequestKind& kind, MPI_Request* request) {
  if (!kind.receives && !kind.persistent) spend_packing(end.count, end.type);
  return in_mpi(function, [&] {
    // Making a persistent request does not block, and finds its communicator only here.
    if (kind.persistent)
      *request = guarded([&] { return messages().make(Runtime::rank(), end, kind); });
    else
      *request = messages().make(Runtime::rank(), noted(end), kind);
  });
}

void exchange(const char* function, const MessageEnd& out, const MessageEnd& in, MPI_Status* status) {
  in_mpi(function, [&] { messages().exchange(Runtime::rank(), noted(out), noted(in), status); });
}

int start(const char* function, MPI_Request* request) {
  ProgramRequest* const ours = messages().find(*request);
  if (ours == nullptr) return SMPI(MPI_Start, request);
  if (!ours->kind.receives) spend_packing(ours->end.count, ours->end.type);
  return in_mpi(function, [&] { messages().start(Runtime::rank(), *ours); });
}

MPI_Status* status_of(MPI_Status* statuses, int place) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[place];
}

/// On behalf of `function`.
int wait_for(const char* function, MPI_Request* request, MPI_Status* status) {
  const ProgramRequest* const ours = messages().find(*request);
  if (ours == nullptr) return SMPI(MPI_Wait, request, status);
  if (!ours->active) return set_empty_status(status), MPI_SUCCESS;
  const Packing to_unpack = to_unpack_of(*ours);
  in_mpi(function, [&] { messages().wait(*request, status); });
  spend_unpacking(to_unpack);
  return MPI_SUCCESS;
}

int test(const char* function, MPI_Request* request, int* ended, MPI_Status* status) {
  ProgramRequest* const ours = messages().find(*request);
  if (ours == nullptr) return SMPI(MPI_Test, request, ended, status);
  *ended = 1;
  if (!ours->active) return set_empty_status(status), MPI_SUCCESS;
  const Packing to_unpack = to_unpack_of(*ours);
  in_mpi(function, [&] {
    *ended = messages().test(Runtime::rank(), *ours);
    if (*ended != 0) messages().wait(*request, status);
  });
  if (*ended != 0) spend_unpacking(to_unpack);
  return MPI_SUCCESS;
}

/// One of them that has ended is waited for. @return its place; -1: none is active
int wait_for_one(const char* function, int count, MPI_Request* requests,
                 void (Messages::*wait)(const std::vector<MessageRequest*>&), MPI_Status* statuses, bool by_place) {
  int place = -1;
  Packing to_unpack;
  in_mpi(function, [&] {
    place = messages().place_of_ended(count, requests, wait);
    if (place < 0) return;
    to_unpack = to_unpack_of(*messages().find(requests[place]));
    messages().wait(requests[place], status_of(statuses, by_place ? place : 0));
  });
  spend_unpacking(to_unpack);
  return place;
}

/// Whether SMPI's algorithms come to the functions below: as run --fast has this library loaded (LD_PRELOAD).
bool is_first_loaded() {
  static const char* const first = std::getenv("LD_PRELOAD");
  return first != nullptr && std::strstr(first, "libhplcast-smpi") != nullptr;
}

/// The calling rank, if that is in an operation on this communicator; else null: SMPI sends, on the clock.
Rank* in_operation_on(MPI_Comm communicator) {
  Rank& rank = Runtime::rank();
  if (rank.collective_on == communicator) return &rank;
  if (rank.collective_on != nullptr) rank.clock.flush();
  return nullptr;
}

/// SimGrid's function of the same name.
template <auto function, typename... Arguments>
auto by_simgrid(Arguments... arguments) {
  static const auto its = [] {
    Dl_info ours{};
    ::dladdr(reinterpret_cast<void*>(function), &ours);
    return reinterpret_cast<decltype(function)>(::dlsym(RTLD_NEXT, ours.dli_sname));
  }();
  return its(arguments...);
}

}  // namespace

}  // namespace hplcast::smpi_models

using namespace hplcast::smpi_models;  // what follows is the interface of SimGrid and of C

#define OURS __attribute__((used, visibility("default"))) static
#define PLACE(data) data *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on
#define GIVEN buffer, count, type, peer, tag, on
#define END \
  { const_cast<void*>(buffer), count, type, peer, tag, on }

/// SMPI's algorithms send by functions of libsimgrid, which it calls as a program would: where this library was loaded
/// before it, these. The same from SimGrid 3.32 to 4.1; the header is not installed.
class simgrid::smpi::Request {
 public:
  OURS void send(PLACE(const void)) {
    if (Rank* const rank = in_operation_on(on)) return messages().send(*rank, END, Sending::standard);
    by_simgrid<&Request::send>(GIVEN);
  }
  OURS int recv(PLACE(void), MPI_Status* status) {
    if (Rank* const rank = in_operation_on(on)) return messages().receive(*rank, END, status), MPI_SUCCESS;
    return by_simgrid<&Request::recv>(GIVEN, status);
  }
  OURS void sendrecv(const void* out, int n, MPI_Datatype out_type, int to, int out_tag, PLACE(void), MPI_Status* got) {
    int self = MPI_PROC_NULL;
    PMPI_Comm_rank(on, &self);
    Rank* const rank = to == self && peer == self ? nullptr : in_operation_on(on);  // a copy takes no time
    if (rank == nullptr) return by_simgrid<&Request::sendrecv>(out, n, out_type, to, out_tag, GIVEN, got);
    messages().exchange(*rank, {const_cast<void*>(out), n, out_type, to, out_tag, on}, END, got);
  }
  OURS MPI_Request isend(PLACE(const void)) {
    if (Rank* const rank = in_operation_on(on)) return messages().make(*rank, END, {});
    return by_simgrid<&Request::isend>(GIVEN);
  }
  OURS MPI_Request irecv(PLACE(void)) {
    if (Rank* const rank = in_operation_on(on)) return messages().make(*rank, END, {true});
    return by_simgrid<&Request::irecv>(GIVEN);
  }
  OURS int wait(MPI_Request* request, MPI_Status* status) {
    if (messages().find(*request) != nullptr) return messages().wait(*request, status), MPI_SUCCESS;
    return in_operation_on(nullptr), by_simgrid<&Request::wait>(request, status);
  }
  OURS int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (std::none_of(requests, requests + count, [](MPI_Request one) { return messages().find(one) != nullptr; }))
      return in_operation_on(nullptr), by_simgrid<&Request::waitall>(count, requests, statuses);
    for (int i = 0; i < count; ++i)
      if (requests[i] != MPI_REQUEST_NULL) wait(&requests[i], status_of(statuses, i));
    return MPI_SUCCESS;
  }
  OURS int waitany(int count, MPI_Request* requests, MPI_Status* status) {
    const int place = messages().place_of_ended(count, requests, &Messages::wait_any);
    if (place < 0) return in_operation_on(nullptr), by_simgrid<&Request::waitany>(count, requests, status);
    return messages().wait(requests[place], status), place;
  }
  // SMPI starts these itself.
  OURS MPI_Request isend_init(PLACE(const void)) {
    return in_operation_on(nullptr), by_simgrid<&Request::isend_init>(GIVEN);
  }
  OURS MPI_Request irecv_init(PLACE(void)) { return in_operation_on(nullptr), by_simgrid<&Request::irecv_init>(GIVEN); }
};

/// Comm::init_smp looks for ranks that share hosts by a message for each pair of ranks, as no MPI does: here by few.
namespace simgrid::smpi {
using Allgather = int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
__attribute__((visibility("default"))) Allgather allgather__ring, allgather__bruck;
int allgather__ring(const void* out, int n, MPI_Datatype type, void* in, int m, MPI_Datatype in_type, MPI_Comm on) {
  Dl_info caller{};
  if (n == 1 && ::dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_sname != nullptr &&
      std::strstr(caller.dli_sname, "init_smp") != nullptr)
    return allgather__bruck(out, n, type, in, m, in_type, on);
  return by_simgrid<&allgather__ring>(out, n, type, in, m, in_type, on);
}
}  // namespace simgrid::smpi

void hplcast_spend_packing(const char* function, int count, MPI_Datatype type) {
  spend(function, function, packing_of(count, type));
}

int hplcast_messages(void) {
  return (port::running.its_rank != nullptr || simgrid::s4u::Actor::self() != nullptr) &&
         guarded([] { return Runtime::instance().program_messages() != nullptr; });
}

void hplcast_refuse(const char* function) {
  if (hplcast_messages())
    end_simulation(std::string(function) +
                   " is not among the functions that hplcast has; `hplcast run --messages smpi` leaves all messages to "
                   "SMPI");
}

void hplcast_communicator_made(MPI_Comm parent, MPI_Comm child) {
  if (hplcast_messages()) guarded([&] { messages().communicators().made(Runtime::rank().number, parent, child); });
}

void hplcast_before_collective(const char* function, hplcast_meets meets, int root, MPI_Comm communicator) {
  bool by_us = false;
  if (hplcast_messages()) {
    guarded([&] {
      Rank& rank = Runtime::rank();
      const auto known = messages().communicators().find_if_known(rank.number, communicator);
      by_us = known != nullptr && is_first_loaded();
      if (by_us) rank.collective_on = communicator;
      if (known == nullptr || !rank.clock.is_watched()) return;
      const Communicator& ranks = known->ranks;
      const bool is_root = root >= 0 && root < ranks.size && ranks.world_ranks[root] == static_cast<int>(rank.number);
      constexpr std::array all = {Meets::all, Meets::from, Meets::to};
      Runtime::instance().program().meet({known->context, ranks.size, all[meets], is_root});
    });
  }
  by_us ? hplcast_enter_mpi(function) : hplcast_before_mpi(function);
}

MPI_Fint hplcast_request_number(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return MPI_FORTRAN_REQUEST_NULL;
  ProgramRequest* const ours = hplcast_messages() ? messages().find(request) : nullptr;
  return ours != nullptr ? messages().number(*ours) : MPI_Request_c2f(request);
}

MPI_Request hplcast_request_of_number(MPI_Fint number) {
  if (number == MPI_FORTRAN_REQUEST_NULL) return MPI_REQUEST_NULL;
  ProgramRequest* const ours = hplcast_messages() ? messages().of_number(number) : nullptr;
  return ours != nullptr ? reinterpret_cast<MPI_Request>(ours) : MPI_Request_f2c(number);
}

// --- the functions of MPI --------------------------------------------------------------------------------------------

#define SEND(NAME, how)                                                                                        \
  OURS_FOR(NAME, const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator) { \
    return send(#NAME, {const_cast<void*>(buffer), count, type, peer, tag, communicator}, Sending::how);       \
  }
SEND(MPI_Send, standard)
SEND(MPI_Ssend, synchronous)
SEND(MPI_Rsend, standard)
SEND(MPI_Bsend, buffered)

/// `data`: of the buffer; then the RequestKind.
#define BEGIN(NAME, data, receives, how, persistent)                                                   \
  OURS_FOR(NAME, data* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator, \
           MPI_Request* request) {                                                                     \
    const MessageEnd end{const_cast<void*>(buffer), count, type, peer, tag, communicator};             \
    return begin(#NAME, end, {receives, Sending::how, persistent}, request);                           \
  }
BEGIN(MPI_Isend, const void, false, standard, false)
BEGIN(MPI_Issend, const void, false, synchronous, false)
BEGIN(MPI_Irsend, const void, false, standard, false)
BEGIN(MPI_Ibsend, const void, false, buffered, false)
BEGIN(MPI_Irecv, void, true, standard, false)
BEGIN(MPI_Send_init, const void, false, standard, true)
BEGIN(MPI_Ssend_init, const void, false, synchronous, true)
BEGIN(MPI_Rsend_init, const void, false, standard, true)
BEGIN(MPI_Bsend_init, const void, false, buffered, true)
BEGIN(MPI_Recv_init, void, true, standard, true)

OURS_FOR(MPI_Recv, void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator,
         MPI_Status* status) {
  const MessageEnd end{buffer, count, type, peer, tag, communicator};
  in_mpi("MPI_Recv", [&] { messages().receive(Runtime::rank(), noted(end), status); });
  spend_unpacking(packing_of(count, type));
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Sendrecv, const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
         int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm communicator, MPI_Status* status) {
  spend_packing(out_count, out_type);
  exchange("MPI_Sendrecv", {const_cast<void*>(out), out_count, out_type, to, out_tag, communicator},
           {in, in_count, in_type, from, in_tag, communicator}, status);
  spend_unpacking(packing_of(in_count, in_type));
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Sendrecv_replace, void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
         MPI_Comm communicator, MPI_Status* status) {
  // SMPI packs what it sends before anything is received into its place, by functions of MPI that may have models.
  in_mpi("MPI_Type_size", [] { spend("MPI_Type_size", "MPI_Type_size", {"", {1, 1, 1}}); });
  in_mpi("MPI_Pack", [&] { spend("MPI_Pack", "MPI_Pack", packing_of(count, type)); });
  exchange("MPI_Sendrecv_replace", {buffer, count, type, to, out_tag, communicator},
           {buffer, count, type, from, in_tag, communicator}, status);
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Buffer_detach, void* place, int* size) {
  in_mpi("MPI_Buffer_detach", [] { messages().wait_for_buffered(Runtime::rank()); });
  return PMPI_Buffer_detach(place, size);
}

OURS_FOR(MPI_Probe, int peer, int tag, MPI_Comm communicator, MPI_Status* status) {
  const MessageEnd end{nullptr, 0, MPI_BYTE, peer, tag, communicator};
  return in_mpi("MPI_Probe", [&] { messages().probe(Runtime::rank(), noted(end), true, status); });
}

OURS_FOR(MPI_Iprobe, int peer, int tag, MPI_Comm communicator, int* found, MPI_Status* status) {
  const MessageEnd end{nullptr, 0, MPI_BYTE, peer, tag, communicator};
  return in_mpi("MPI_Iprobe", [&] { *found = messages().probe(Runtime::rank(), noted(end), false, status); });
}

OURS_FOR(MPI_Start, MPI_Request* request) {
  return start("MPI_Start", request);
}

OURS_FOR(MPI_Startall, int count, MPI_Request* requests) {
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && result == MPI_SUCCESS; ++i) result = start("MPI_Startall", &requests[i]);
  return result;
}

OURS_FOR(MPI_Wait, MPI_Request* request, MPI_Status* status) {
  return wait_for("MPI_Wait", request, status);
}

OURS_FOR(MPI_Waitall, int count, MPI_Request* requests, MPI_Status* statuses) {
  // Arrived messages are taken while others are on their way. Asking each of many for each of them would take too long.
  constexpr int few = 64;
  std::array<bool, few> done{};
  int result = MPI_SUCCESS;
  for (int left = count <= few ? count : 0; left > 1; --left) {
    const int place = wait_for_one("MPI_Waitall", count, requests, &Messages::wait_next, statuses, true);
    if (place < 0) break;
    done[static_cast<std::size_t>(place)] = true;
  }
  for (int i = 0; i < count; ++i) {
    if (count <= few && done[static_cast<std::size_t>(i)]) continue;
    const int one = wait_for("MPI_Waitall", &requests[i], status_of(statuses, i));
    if (one != MPI_SUCCESS) result = one;
  }
  return result;
}

OURS_FOR(MPI_Waitany, int count, MPI_Request* requests, int* place, MPI_Status* status) {
  *place = MPI_UNDEFINED;
  set_empty_status(status);
  const auto is_smpis = [](MPI_Request request) { return is_active(request) && messages().find(request) == nullptr; };
  if (std::any_of(requests, requests + count, is_smpis))
    hplcast_refuse("MPI_Waitany with requests of collective operations");
  if (std::any_of(requests, requests + count, is_active))
    *place = wait_for_one("MPI_Waitany", count, requests, &Messages::wait_any, status, false);
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Waitsome, int count, MPI_Request* requests, int* ended_count, int* places, MPI_Status* statuses) {
  *ended_count = std::any_of(requests, requests + count, is_active) ? 1 : MPI_UNDEFINED;
  return *ended_count == 1 ? hplcast_MPI_Waitany(count, requests, &places[0], status_of(statuses, 0)) : MPI_SUCCESS;
}

OURS_FOR(MPI_Test, MPI_Request* request, int* ended, MPI_Status* status) {
  return test("MPI_Test", request, ended, status);
}

OURS_FOR(MPI_Testall, int count, MPI_Request* requests, int* ended, MPI_Status* statuses) {
  *ended = 1;
  in_mpi("MPI_Testall", [&] {
    for (int i = 0; i < count && *ended != 0; ++i)
      if (ProgramRequest* const ours = messages().find(requests[i])) *ended = messages().test(Runtime::rank(), *ours);
  });
  for (const bool ours : {false, true})  // SMPI ends its own by testing them
    for (int i = 0; i < count && *ended != 0; ++i)
      if ((messages().find(requests[i]) != nullptr) == ours)
        test("MPI_Testall", &requests[i], ended, status_of(statuses, i));
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Testany, int count, MPI_Request* requests, int* place, int* ended, MPI_Status* status) {
  *place = MPI_UNDEFINED;
  *ended = 1;
  set_empty_status(status);
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i])) continue;
    const int result = test("MPI_Testany", &requests[i], ended, status);
    if (*ended != 0) *place = i;
    if (*ended != 0 || result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Testsome, int count, MPI_Request* requests, int* ended_count, int* places, MPI_Status* statuses) {
  *ended_count = std::any_of(requests, requests + count, is_active) ? 0 : MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (!is_active(requests[i])) continue;
    int ended = 0;
    const int result = test("MPI_Testsome", &requests[i], &ended, status_of(statuses, *ended_count));
    if (result != MPI_SUCCESS) return result;
    if (ended != 0) places[(*ended_count)++] = i;
  }
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Request_free, MPI_Request* request) {
  if (messages().find(*request) == nullptr) return SMPI(MPI_Request_free, request);
  messages().free(*request);
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Comm_free, MPI_Comm* communicator) {
  guarded([&] { messages().communicators().freed(Runtime::rank().number, *communicator); });
  return SMPI(MPI_Comm_free, communicator);
}

OURS_FOR(MPI_Comm_create_group, MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* child) {
  const int result = SMPI(MPI_Comm_create_group, parent, group, tag, child);
  guarded([&] { messages().communicators().made_by_group(Runtime::rank().number, parent, tag, *child); });
  return result;
}

#undef BEGIN  // the sources of a room are compiled together
#undef END
#undef GIVEN
#undef OURS
#undef PLACE
#undef SEND
#undef SMPI
