#include "hplcast/smpi_models/hplcast_program.h"

#include <dlfcn.h>
#include <array>
#include <string>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "smpi-models/program/program.hpp"
#include "smpi-models/program/program_messages.hpp"
#include "smpi-models/program/shared_memory.hpp"
#include "smpi-models/session/c_boundary.hpp"
#include "smpi-models/session/runtime.hpp"
#include "smpi-models/session/session.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

using hplcast::smpi_models::guarded;
using hplcast::smpi_models::ProgramMessages;
using hplcast::smpi_models::ProgramRequest;
using hplcast::smpi_models::Rank;
using hplcast::smpi_models::Runtime;
using hplcast::smpi_models::shared_memory;

namespace core = hplcast::core;

// What blocks is called outside of guarded(): an actor that is killed must be unwound by SimGrid's own exception.

namespace {

/// A shared library of BLAS for --numerics run, which all ranks call: BLAS keeps nothing between its calls.
class RealBlas {
 public:
  /// Empty: OpenBLAS, or else the BLAS of the system. @throws core::Error if there is none.
  explicit RealBlas(const std::string& path) {
    const char* const everywhere[] = {"libopenblas.so.0", "libblas.so.3"};
    for (const char* name : everywhere) {
      path_ = path.empty() ? name : path;
      // Its own functions are its own: the program has some of the same names.
      library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
      if (library_ != nullptr) return;
      if (!path.empty()) break;
    }
    throw core::Error(
        core::ExitCode::bad_input,
        "--numerics run needs a shared library of BLAS; expected " +
            (path.empty() ? std::string("libopenblas.so.0 or libblas.so.3 where the loader finds it") : path) + ": " +
            ::dlerror());
  }

  /// @throws core::Error for a name that it does not have.
  void* routine(const char* name) const {
    if (void* const found = ::dlsym(library_, name)) return found;
    throw core::Error(
        core::ExitCode::bad_input,
        path_ + " has no " + name + ", which --numerics run needs; expected another library (HPLCAST_REAL_BLAS)");
  }

 private:
  std::string path_;
  void* library_ = nullptr;
};

/// Clocks are read and memory is allocated before the simulation begins, too.
bool in_a_rank() {
  return simgrid::s4u::Actor::self() != nullptr;
}

}  // namespace

int hplcast_routine(const char* name, const char* base) {
  return guarded([&] { return Runtime::instance().program().routine(name, base); });
}

void hplcast_routine_call(int routine, double m, double n, double k, double flop, int executed) {
  guarded([&] {
    Runtime& runtime = Runtime::instance();
    runtime.program().call(Runtime::rank(), routine, {m, n, k}, flop, executed != 0);
  });
}

int hplcast_routine_has_model(int routine) {
  return guarded([&] { return Runtime::instance().program().has_model(routine) ? 1 : 0; });
}

int hplcast_lapack_begin(int routine, double m, double n, double k, double flop) {
  return guarded([&] {
    Runtime& runtime = Runtime::instance();
    return runtime.program().begin_composed(Runtime::rank(), routine, {m, n, k}, flop);
  });
}

void hplcast_lapack_end(void) {
  guarded([] { Runtime::instance().program().end_composed(Runtime::rank()); });
}

int hplcast_region_enter(const char* name, double m, double n, double k) {
  return guarded([&] { return Runtime::instance().program().enter(Runtime::rank(), name, {m, n, k}); });
}

void hplcast_region_leave(const char* name) {
  guarded([&] { Runtime::instance().program().leave(Runtime::rank(), name); });
}

int hplcast_numerics(void) {
  return guarded([] { return Runtime::instance().program().has_numerics() ? 1 : 0; });
}

void hplcast_numerics_begin(void) {
  guarded([] { Runtime::instance().program().pause(Runtime::rank()); });
}

void hplcast_numerics_end(void) {
  guarded([] { Runtime::instance().program().resume(Runtime::rank()); });
}

void* hplcast_real_routine(const char* name) {
  return guarded([&] {
    static const auto* const blas =
        new RealBlas(hplcast::smpi_models::session().settings().program.value_or(core::ProgramSettings()).real_blas);
    return blas->routine(name);
  });
}

void hplcast_stop(const char* message) {
  hplcast::smpi_models::end_simulation(message, hplcast::core::ExitCode::bad_input);
}

void hplcast_before_mpi(const char* function) {
  if (!in_a_rank()) return;
  hplcast_enter_mpi(function);
  guarded([]() -> Rank& { return Runtime::rank(); }).clock.flush();
}

void hplcast_enter_mpi(const char* function) {
  if (!in_a_rank()) return;
  guarded([&] {
    Runtime& runtime = Runtime::instance();
    runtime.tell_progress();
    runtime.program().enter_mpi(Runtime::rank(), function);
  });
}

void hplcast_after_mpi(void) {
  if (!in_a_rank()) return;
  guarded([] { Runtime::instance().program().leave_mpi(Runtime::rank()); });
}

void* hplcast_share(size_t size) {
  return shared_memory().allocate(size);
}

size_t hplcast_shared_size(const void* memory) {
  return shared_memory().size_of(memory);
}

void hplcast_unshare(void* memory) {
  shared_memory().release(memory);
}

int hplcast_is_shared(const void* address) {
  return shared_memory().shares(address);
}

// --- messages --------------------------------------------------------------------------------------------------------

namespace {

ProgramMessages& messages() {
  return *Runtime::instance().program_messages();
}

Rank& this_rank() {
  return guarded([]() -> Rank& { return Runtime::rank(); });
}

int in_world(const hplcast_end& end, const hplcast::smpi_models::Communicator& ranks) {
  return end.peer >= 0 && end.peer < ranks.size ? ranks.world_ranks[end.peer] : -1;
}

/// Communicators that are not known end the simulation here, where nothing blocks.
void check(const hplcast_end& end) {
  guarded([&] {
    const Rank& rank = Runtime::rank();
    const auto& communicator = messages().communicators().find(rank.number, end.communicator);
    Runtime::instance().program().note_message(rank, [&] {
      int bytes = 0;
      PMPI_Type_size(end.type, &bytes);
      return hplcast::smpi_models::TracedMessage{in_world(end, communicator->ranks), end.tag,
                                                 static_cast<double>(bytes) * end.count};
    });
  });
}

MPI_Request handle(ProgramRequest* request) {
  return reinterpret_cast<MPI_Request>(request);
}

ProgramRequest& request_of(MPI_Request handle) {
  return *messages().find(handle);
}

double bytes_with_gaps(const ProgramRequest& request) {
  using hplcast::smpi_models::has_short_blocks;
  const hplcast_end& end = request.end;
  return has_short_blocks(end.type) ? static_cast<double>(hplcast::smpi_models::packed_bytes(end.count, end.type)) : 0;
}

}  // namespace

int hplcast_messages(void) {
  if (simgrid::s4u::Actor::self() == nullptr) return 0;
  return guarded([] { return Runtime::instance().program_messages() != nullptr; });
}

void hplcast_communicator_made(MPI_Comm parent, MPI_Comm child) {
  guarded([&] { messages().communicators().made(Runtime::rank().number, parent, child); });
}

void hplcast_communicator_made_by_group(MPI_Comm parent, int tag, MPI_Comm child) {
  guarded([&] { messages().communicators().made_by_group(Runtime::rank().number, parent, tag, child); });
}

void hplcast_communicator_freed(MPI_Comm communicator) {
  guarded([&] { messages().communicators().freed(Runtime::rank().number, communicator); });
}

void hplcast_before_collective(const char* function, hplcast_meets meets, int root, MPI_Comm communicator) {
  using hplcast::smpi_models::Meets;
  if (hplcast_messages()) {
    guarded([&] {
      const Rank& rank = Runtime::rank();
      if (!rank.clock.is_watched()) return;
      const auto known = messages().communicators().find_if_known(rank.number, communicator);
      if (known == nullptr) return;
      const hplcast::smpi_models::Communicator& ranks = known->ranks;
      const bool is_root = root >= 0 && root < ranks.size && ranks.world_ranks[root] == static_cast<int>(rank.number);
      constexpr std::array all = {Meets::all, Meets::from, Meets::to};
      Runtime::instance().program().meet({known->context, ranks.size, all[meets], is_root});
    });
  }
  hplcast_before_mpi(function);
}

void hplcast_mpi_send(const hplcast_end* end, int synchronous) {
  check(*end);
  messages().send(this_rank(), *end, synchronous != 0);
}

void hplcast_mpi_receive(const hplcast_end* end, MPI_Status* status) {
  check(*end);
  messages().receive(this_rank(), *end, status);
}

MPI_Request hplcast_mpi_isend(const hplcast_end* end, int synchronous) {
  check(*end);
  return handle(messages().isend(this_rank(), *end, synchronous != 0));
}

MPI_Request hplcast_mpi_ireceive(const hplcast_end* end) {
  check(*end);
  return handle(messages().ireceive(this_rank(), *end));
}

MPI_Request hplcast_mpi_prepare(const hplcast_end* end, int receives, int synchronous) {
  return guarded([&] { return handle(messages().prepare(Runtime::rank(), *end, receives != 0, synchronous != 0)); });
}

void hplcast_mpi_start(MPI_Request request) {
  messages().start(this_rank(), request_of(request));
}

int hplcast_mpi_probe(const hplcast_end* end, int waits, MPI_Status* status) {
  check(*end);
  return messages().probe(this_rank(), *end, waits != 0, status);
}

int hplcast_has_short_blocks(MPI_Datatype type) {
  return hplcast::smpi_models::has_short_blocks(type) ? 1 : 0;
}

int hplcast_is_request(MPI_Request request) {
  return hplcast_messages() && messages().find(request) != nullptr;
}

void hplcast_mpi_wait(MPI_Request* request, MPI_Status* status) {
  if (messages().wait(request_of(*request), status)) *request = MPI_REQUEST_NULL;
}

int hplcast_mpi_test(MPI_Request* request, MPI_Status* status) {
  const ProgramMessages::Tested tested = messages().test(this_rank(), request_of(*request), status);
  if (tested == ProgramMessages::Tested::gone) *request = MPI_REQUEST_NULL;
  return tested != ProgramMessages::Tested::open;
}

namespace {

/// Place of one that has ended; -1: none is active.
template <typename Wait>
int place_of_ended(int count, MPI_Request* requests, const Wait& wait) {
  std::vector<ProgramRequest*> active;
  std::vector<int> places;
  for (int i = 0; i < count; ++i) {
    if (!hplcast_is_active(requests[i])) continue;
    active.push_back(&request_of(requests[i]));
    places.push_back(i);
  }
  return active.empty() ? -1 : places[wait(active)];
}

}  // namespace

int hplcast_mpi_wait_any(int count, MPI_Request* requests) {
  return place_of_ended(count, requests, [](const auto& active) { return messages().wait_any(active); });
}

int hplcast_mpi_wait_next(int count, MPI_Request* requests) {
  return place_of_ended(count, requests, [](const auto& active) { return messages().wait_next(active); });
}

int hplcast_is_active(MPI_Request request) {
  const ProgramRequest* const found = messages().find(request);
  return found != nullptr && found->active;
}

double hplcast_bytes_to_unpack(MPI_Request request) {
  const ProgramRequest& one = request_of(request);
  return one.active && one.receives ? bytes_with_gaps(one) : 0;
}

double hplcast_bytes_to_pack(MPI_Request request) {
  const ProgramRequest& one = request_of(request);
  return one.receives ? 0 : bytes_with_gaps(one);
}

void hplcast_mpi_request_free(MPI_Request* request) {
  messages().free(request_of(*request));
  *request = MPI_REQUEST_NULL;
}

int hplcast_request_number(MPI_Request request) {
  return guarded([&] { return messages().number(request_of(request)); });
}

MPI_Request hplcast_request_of_number(int number) {
  return hplcast_messages() ? handle(messages().of_number(number)) : MPI_REQUEST_NULL;
}
