#include "smpi-models/simgrid_port/simgrid_port.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#if SIMGRID_VERSION >= 40000
#include <simgrid/simcall.hpp>
#else
#include <simgrid/simix.hpp>
#endif
#include <xbt/config.hpp>

#include <algorithm>
#include <cstdlib>
#include <unordered_set>
#include <utility>

namespace simgrid::kernel::actor {

/// Exported by libsimgrid from 3.32 to 4.1, but its header is not installed.
class ActorImpl {
 public:
  static ActorImpl* self();
  void simcall_answer();                      ///< lets it go on after simcall_run_blocking()
  void simcall_handle(int times_considered);  ///< does what it has asked for
  void yield();                               ///< its context is suspended; throws if it is killed meanwhile
  void cleanup_from_kernel();
};

}  // namespace simgrid::kernel::actor

namespace simgrid::kernel::context {

/// Exported without a header, too.
class Context {
 public:
  static Context* self();
};
class SwappedContext : public Context {
 public:
  /// Until it is suspended. As long as no other actor is to run: the next one would run then.
  void resume();
};

}  // namespace simgrid::kernel::context

namespace hplcast::smpi_models::port {

using simgrid::kernel::actor::ActorImpl;

namespace {

/// smpirun says it in a property; actors started otherwise are numbered from 1.
std::uint32_t world_rank(const s4u::Actor& actor) {
  const char* property = actor.get_property("rank");
  return property == nullptr ? static_cast<std::uint32_t>(actor.get_pid() - 1)
                             : static_cast<std::uint32_t>(std::strtoul(property, nullptr, 10));
}

/// Cache lines from `first` to `end` after an address: at once, not one after the other as they are needed.
void fetch(const void* address, int first, int end) {
  if (address == nullptr) return;
  for (int line = first; line < end; ++line) __builtin_prefetch(static_cast<const char*>(address) + 64 * line);
}

/// Runs actors that SimGrid's kernel need not know of, as it runs all: in rounds, those that are let go on in one of
/// them in the next one, in that order. It would take a function object and a call of the kernel for each wait, and ask
/// all of its models after each round.
class Rounds {
 public:
  void begin() { are_used_ = true; }
  bool are_used() const { return are_used_; }

  /// The actor that runs. The first time it may let others run before it returns.
  Waiter self() {
    if (running.actor != nullptr) return running;
    ActorImpl* const actor = ActorImpl::self();
    if (!are_used_) return {actor, nullptr};
    if (known_.insert(actor).second) s4u::this_actor::on_exit([this, actor](bool killed) { end(actor, killed); });
    return {actor, static_cast<simgrid::kernel::context::SwappedContext*>(simgrid::kernel::context::Context::self())};
  }
  void let_go_on(const Waiter& waiter) {
    if (waiter.context == nullptr) return waiter.actor->simcall_answer();
    // Nothing of it is in a cache. What it needs was seen in a profile; where this is wrong it only costs time.
    fetch(waiter.context, 0, 2);
    fetch(waiter.actor, 1, 6);
    fetch(waiter.frame, -6, 12);
    fetch(waiter.its_rank, 0, 5);
    next_.push_back(waiter);
  }
  /// Until it is let go on. It is not SimGrid's kernel that does this.
  void wait(const Waiter& self) {
    waits_ = true;
    self.actor->yield();
  }

  bool have_next() const { return !next_.empty(); }
  /// Rounds until nobody goes on. False: an actor has asked SimGrid's kernel for something meanwhile.
  bool run() {
    while (!next_.empty()) {
      std::swap(next_, round_);
      for (const Waiter& waiter : round_) resume(waiter);
      round_.clear();
    }
    return asking_.empty();
  }
  void let_kernel_answer() {
#if SIMGRID_VERSION < 40000
    for (ActorImpl* const actor : std::exchange(asking_, {})) actor->simcall_handle(0);
#endif
  }

 private:
  void resume([[maybe_unused]] const Waiter& waiter) {
#if SIMGRID_VERSION < 40000
    running = waiter;
    waits_ = has_ended_ = false;
    waiter.context->resume();
    running = {};
    if (waits_) return;
    if (has_ended_)
      waiter.actor->cleanup_from_kernel();
    else
      asking_.push_back(waiter.actor);
#endif
  }

  void end(ActorImpl* actor, bool is_killed) {
    has_ended_ = true;
    known_.erase(actor);
    const auto same = [actor](const Waiter& one) { return one.actor == actor; };
    if (is_killed) next_.erase(std::remove_if(next_.begin(), next_.end(), same), next_.end());
  }

  bool are_used_ = false;
  std::unordered_set<ActorImpl*> known_;  // that tell when they end
  std::vector<Waiter> next_, round_;
  std::vector<ActorImpl*> asking_;
  bool waits_ = false, has_ended_ = false;
};

Rounds& rounds() {
  static auto* const made = new Rounds();  // never destroyed: actors may outlive static objects
  return *made;
}

/// Rings alarms. SimGrid asks it as one of its models, which say when something happens next: its timers take several
/// times as long, and do what is due at one date in any order.
class AlarmModel : public simgrid::kernel::resource::Model {
 public:
  AlarmModel() : Model("hplcast") {}
  Alarms alarms;

  /// How long SimGrid's clock may go on.
  double next_occurring_event(double now_s) override {
    if (rounds().have_next()) return 0;
    Alarm* first = alarms.first();
    for (; first != nullptr && first->is_early() && first->date_s() > now_s && has_simgrid_nothing_to_do();
         first = alarms.first()) {
      early_until_s_ = first->date_s();
      alarms.ring(*first);
    }
    const double next_s = first == nullptr ? early_until_s_ : first->date_s();
    return first == nullptr && next_s <= now_s ? -1 : std::max(0.0, next_s - now_s);
  }
  /// Does all that is due, and as long as SimGrid has nothing to do, goes on with the clock here.
  void update_actions_state(double now_s, double /*delta_s*/) override {
    do_all_until(now_s);
    while (rounds().are_used() && rounds().run() && (is_alone_ = has_simgrid_nothing_to_do())) {
      const double delta_s = next_occurring_event(clock_s());
      if (delta_s < 0) break;
      simgrid::kernel::EngineImpl::now_ += delta_s;
      do_all_until(clock_s());
    }
    is_alone_ = false;
    rounds().let_kernel_answer();
  }

 private:
  void do_all_until(double date_s) {
    for (Alarm* first = alarms.first(); first != nullptr && first->date_s() <= date_s; first = alarms.first())
      alarms.ring(*first);
  }
  bool has_simgrid_nothing_to_do() const {
    return is_alone_ ||
           (simgrid::kernel::timer::Timer::next() < 0 && std::all_of(models_.begin(), models_.end(), [](Model* model) {
              return model->get_started_action_set()->empty() && model->get_finished_action_set()->empty() &&
                     model->get_failed_action_set()->empty();
            }));
  }
  bool is_alone_ = false;     // SimGrid has nothing to do as long as no actor asks for something
  double early_until_s_ = 0;  // what was done early happened until then
  std::vector<Model*> models_ = s4u::Engine::get_instance()->get_all_models();
};

Alarms& alarms() {
  static AlarmModel* const model = [] {
    auto* const made = new AlarmModel();  // never destroyed: actors may outlive static objects
    s4u::Engine::get_instance()->get_impl()->add_model({made, [](void*) {}}, {});
    return made;
  }();
  return model->alarms;
}

}  // namespace

std::string simulator_name() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  const std::string name = "SimGrid " + std::to_string(major) + "." + std::to_string(minor);
  return patch == 0 ? name : name + "." + std::to_string(patch);
}

template <typename T>
T setting(const char* name) {
  return simgrid::config::get_value<T>(name);
}
template bool setting(const char* name);
template int setting(const char* name);
template double setting(const char* name);

bool is_default(const char* name) {
  return simgrid::config::is_default(name);
}

void set_default(const std::string& name, const std::string& value) {
  if (is_default(name.c_str())) s4u::Engine::set_config(name + ":" + value);
}

std::vector<Process> processes() {
  std::vector<Process> result;
  for (const s4u::ActorPtr& actor : s4u::Engine::get_instance()->get_all_actors())
    result.push_back({actor.get(), world_rank(*actor), actor->get_host()});
  std::sort(result.begin(), result.end(), [](const Process& a, const Process& b) { return a.rank < b.rank; });
  return result;
}

void run_by_ourselves() {
  if (SIMGRID_VERSION >= 40000 || !is_default("contexts/factory") || setting<int>("contexts/nthreads") != 1) return;
  alarms();  // whoever goes on is run by it
  rounds().begin();
}

// SimGrid's kernel does the functions that are passed to it, in the order in which the actors ran that asked for them.

void Bell::ring_in_kernel() {
  const Waiter waiter = std::exchange(waiting_, {});
  if (waiter.actor == nullptr)
    ++rung_;
  else
    rounds().let_go_on(waiter);
}

void Bell::wait() {
  // If the actor is killed meanwhile, too.
  struct End {
    Bell& bell;
    ~End() { bell.waiting_ = {}; }
  };
  const End end{*this};
  Waiter self = rounds().self();
  self.frame = __builtin_frame_address(0);
  const auto begin = [this, &self] {
    waiting_ = self;
    if (rung_ == 0) return;
    --rung_;
    rounds().let_go_on(std::exchange(waiting_, {}));
  };
  if (self.context == nullptr) {
    simcall_run_blocking(begin, nullptr);
    return;
  }
  begin();
  rounds().wait(self);
}

void Bell::ring() {
  const Waiter self = rounds().self();
  if (self.context == nullptr) {
    simcall_run_answered([this] { ring_in_kernel(); }, nullptr);
    return;
  }
  ring_in_kernel();
  rounds().let_go_on(self);
  rounds().wait(self);
}

void Barrier::come(const Waiter& waiter) {
  waiting_.push_back(waiter);
  if (waiting_.size() < actors_) return;
  for (const Waiter& one : waiting_) rounds().let_go_on(one);
  waiting_.clear();
}

void Barrier::wait() {
  const Waiter self = rounds().self();
  if (self.context == nullptr) {
    simcall_run_blocking([this, &self] { come(self); }, nullptr);
    return;
  }
  come(self);
  rounds().wait(self);
}

void start_daemon(const char* name, const std::function<void()>& code) {
  s4u::Host* const host = s4u::this_actor::get_host();
  const auto start = [&] {
#if SIMGRID_VERSION >= 40100
    host->add_actor(name, code)->daemonize();
#elif SIMGRID_VERSION >= 40000
    s4u::Engine::get_instance()->add_actor(name, host, code)->daemonize();
#else
    s4u::Actor::create(name, host, code)->daemonize();
#endif
  };
  simcall_run_answered(start, nullptr);  // SMPI takes children of a rank for it, where it looks who shares a host
}

double spend(double duration_s, Bell& bell) {
  if (duration_s < resolution_s) return duration_s;
  // A third of the work of sleep_for(), which makes an action of the CPU and rounds otherwise.
  Alarm alarm([&bell] { bell.ring_in_kernel(); });
  alarm.set(clock_s() + duration_s);
  bell.wait();
  return 0;
}

void work(double duration_s) {
  s4u::this_actor::execute(duration_s * s4u::this_actor::get_host()->get_speed());
}

}  // namespace hplcast::smpi_models::port

namespace hplcast::smpi_models {

void Alarm::set(double date_s) {
  cancel();
  port::alarms().add(*this, std::max(date_s, port::clock_s()), port::alarms().next_number());
}

void Alarm::set_in_place_of(const Alarm& other) {
  cancel();
  port::alarms().add(*this, other.date_s_, Alarms::number_of(other));
}

void Alarm::cancel() {
  if (is_set()) port::alarms().take_out(*this);
}

}  // namespace hplcast::smpi_models
