#pragma once

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include <simgrid/version.h>  // that of 3.32 needs another one before it

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hplcast/core/topology.hpp"
#include "smpi-models/clock/alarms.hpp"
#include "smpi-models/flows/flow_shape.hpp"

namespace simgrid::kernel {

/// Exported by libsimgrid from 3.32 to 4.1, but its header is not installed.
class EngineImpl {
 public:
  static double now_;
  void add_model(std::shared_ptr<resource::Model> model, const std::vector<resource::Model*>& dependencies);
};

namespace context {
class SwappedContext;
}

}  // namespace simgrid::kernel

/// SimGrid as hplcast needs it beyond the classes above, which are public and the same in every version that CMake
/// accepts. Only sources of this folder include SimGrid's headers, ask for its version or use what is not public
/// (tools/check-includes).
///
/// Where a function blocks, other actors run meanwhile, and SimGrid may end the calling actor with an exception that is
/// no std::exception: never call it inside guarded() (c_boundary.hpp).
namespace hplcast::smpi_models::port {

namespace s4u = simgrid::s4u;

/// The clock of the simulation, as s4u::Engine::get_clock(), without its two calls: it is read several times per
/// message.
inline double clock_s() {
  return simgrid::kernel::EngineImpl::now_;
}

/// Such as "SimGrid 3.32": the library that runs.
std::string simulator_name();
/// T: bool, int or double, as SimGrid has it.
template <typename T>
T setting(const char* name);
bool is_default(const char* name);  ///< neither the platform nor the command line has set it
/// Settings of the user's command line stay. Before any zone exists: SimGrid refuses settings afterwards.
void set_default(const std::string& name, const std::string& value);

struct Process {
  s4u::Actor* actor = nullptr;
  std::uint32_t rank = 0;  ///< in MPI_COMM_WORLD
  s4u::Host* host = nullptr;
};
/// By rank. All exist before the first of them runs.
std::vector<Process> processes();

/// From now on actors wait without SimGrid's kernel, as long as it has nothing else to do: in the same order of events,
/// in a third of the instructions. Not with contexts of another kind than SimGrid's default; not since SimGrid 4.
void run_by_ourselves();

/// An actor that waits for another one, or may.
struct Waiter {
  simgrid::kernel::actor::ActorImpl* actor = nullptr;
  simgrid::kernel::context::SwappedContext* context = nullptr;  ///< null: SimGrid's kernel runs it
  void* its_rank = nullptr;                                     ///< what the runtime has noted in `running`
  const void* frame = nullptr;                                  ///< of Bell::wait(), on its stack
};
inline Waiter running;  ///< the one that run_by_ourselves() runs; null: SimGrid's kernel runs one, or none runs

/// One actor at a time waits for it, and others ring it: a semaphore of SimGrid, closed at first, in the same order of
/// events, without an activity of SimGrid for each wait.
class Bell {
 public:
  Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Blocks until it has rung once more than it was waited for.
  void wait();
  /// Does not block; rung by an actor, lets other actors run before it returns.
  void ring();
  /// The same by SimGrid's kernel, as in an alarm.
  void ring_in_kernel();

 private:
  Waiter waiting_;
  std::size_t rung_ = 0;
};
using BellPtr = std::shared_ptr<Bell>;

/// As a barrier of SimGrid.
class Barrier {
 public:
  explicit Barrier(std::size_t actors) : actors_(actors) {}
  /// Blocks until that many actors wait.
  void wait();

 private:
  void come(const Waiter& waiter);

  std::size_t actors_;
  std::vector<Waiter> waiting_;
};

/// The calling actor spends `duration_s` > 0 seconds of simulated time, exact to the rounding of the clock. Blocks. An
/// idle wait, which occupies no core. This and work() are the places that decide how a delay enters the simulation.
/// @param bell  nobody else uses it meanwhile; it is closed before and after
/// @return what is left because SimGrid cannot resolve it: the caller keeps it pending.
double spend(double duration_s, Bell& bell);
/// SimGrid resolves no shorter time where flows end (surf/precision).
inline constexpr double resolution_s = 1e-12;
/// As spend() with one core of its host at work, for SimGrid's plugins. As exact as SimGrid's CPUs, and more work.
void work(double duration_s);

/// A message on its way through SimGrid's network. Whoever has it can wait for its end.
using Flow = s4u::CommPtr;

/// Begins now. Lets other actors run before it returns: what they look at must be in place before. `nobody_waits`: for
/// the end of what is returned, which is null then.
Flow begin_flow(const FlowShape& shape, bool nobody_waits = false);
/// Blocks until the flow has ended.
void wait_for_end(const Flow& flow);
void wait_for_any(const std::vector<Flow>& flows);
/// An actor on this host, which does not keep the simulation going.
void start_daemon(const char* name, const std::function<void()>& code);

/// A speed for each of its frequency states, at least one.
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, const std::vector<double>& flop_per_s);
s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bytes_per_s);
s4u::Link* add_split_duplex_link(s4u::NetZone* zone, const std::string& name, double bytes_per_s);
/// And back. `to` null, in a star: to and from all others.
void add_route(s4u::NetZone* zone, const s4u::Host* from, const s4u::Host* to,
               const std::vector<s4u::LinkInRoute>& links);

/// The one zone of a platform, as the root or below a root that SimGrid has made; to be sealed.
s4u::NetZone* make_star(const std::string& name);
/// Makers of a hierarchy's leaves, called at the latest when it is sealed.
struct Leaves {
  std::function<s4u::Host*(s4u::NetZone* zone, unsigned long id)> host;
  std::function<s4u::Link*(s4u::NetZone* zone, unsigned long id)> loopback;
};
/// The topologies of several levels.
using Hierarchy = std::variant<core::FatTree, core::Dragonfly, core::Torus>;
/// As make_star(); its links are split duplex.
s4u::NetZone* make_hierarchy(const std::string& name, const Hierarchy& hierarchy, const Leaves& leaves,
                             double bytes_per_s, double latency_s);

/// SimGrid asks once for each factor of a flow, in any order, when it begins.
struct FactorQuestion {
  const s4u::Host* source = nullptr;
  const s4u::Host* destination = nullptr;
  double wire_bytes = 0;
  std::size_t links = 0;  ///< of its route
};
using Factor = std::function<double(const FactorQuestion&)>;
void set_factors(s4u::NetZone* zone, const Factor& latency, const Factor& bandwidth);

}  // namespace hplcast::smpi_models::port
