#include "smpi-models/simgrid_port/simgrid_port.hpp"

#include <simgrid/version.h>
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
#include <utility>

namespace simgrid::kernel::actor {

/// Exported by libsimgrid from 3.32 to 4.1, but its header is not installed.
class ActorImpl {
 public:
  /// Lets it go on after simcall_run_blocking().
  void simcall_answer();
};

}  // namespace simgrid::kernel::actor

namespace hplcast::smpi_models::port {

using simgrid::kernel::actor::ActorImpl;

namespace {

/// smpirun says it in a property; actors started otherwise are numbered from 1.
std::uint32_t world_rank(const s4u::Actor& actor) {
  const char* property = actor.get_property("rank");
  return property == nullptr ? static_cast<std::uint32_t>(actor.get_pid() - 1)
                             : static_cast<std::uint32_t>(std::strtoul(property, nullptr, 10));
}

}  // namespace

/// All alarms that are set, as a heap with the first on top. What the heap needs lies side by side: alarms are on the
/// stacks of actors, in no cache. SimGrid asks it as one of its models, which say when something happens next: its
/// timers take several times as long, and do what is due at one date in any order.
class AlarmQueue : public simgrid::kernel::resource::Model {
 public:
  AlarmQueue() : Model("hplcast") {}

  void add(Alarm& alarm) {
    if (free_slots_.empty()) {
      free_slots_.push_back(places_.size());
      places_.push_back(0);
    }
    alarm.slot_ = free_slots_.back();
    free_slots_.pop_back();
    heap_.emplace_back();
    rise(heap_.size() - 1, {alarm.date_s_, alarm.number_, alarm.slot_, &alarm, alarm.is_early_});
  }
  std::uint64_t next_number() { return numbers_++; }
  void take_out(Alarm& alarm) {
    std::size_t hole = places_[alarm.slot_];
    free_slots_.push_back(std::exchange(alarm.slot_, Alarm::not_set));
    const Entry last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      put(hole, heap_[child]);
      hole = child;
    }
    rise(hole, last);
  }

  /// How long SimGrid's clock may go on.
  double next_occurring_event(double now_s) override {
    while (!heap_.empty() && heap_.front().is_early && heap_.front().date_s > now_s && is_next(heap_.front().date_s)) {
      early_until_s_ = heap_.front().date_s;
      do_first();
    }
    const double next_s = heap_.empty() ? early_until_s_ : heap_.front().date_s;
    return heap_.empty() && next_s <= now_s ? -1 : std::max(0.0, next_s - now_s);
  }
  void update_actions_state(double now_s, double /*delta_s*/) override {
    while (!heap_.empty() && heap_.front().date_s <= now_s) do_first();
  }

 private:
  struct Entry {
    double date_s;
    std::uint64_t number;
    std::size_t slot;
    Alarm* alarm;
    bool is_early;
    bool operator<(const Entry& other) const {
      return date_s != other.date_s ? date_s < other.date_s : number < other.number;
    }
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    places_[entry.slot] = place;
  }
  void rise(std::size_t place, const Entry& entry) {
    for (; place > 0 && entry < heap_[(place - 1) / 2]; place = (place - 1) / 2) put(place, heap_[(place - 1) / 2]);
    put(place, entry);
  }
  void do_first() {
    Alarm& first = *heap_.front().alarm;
    take_out(first);
    first.task_();
  }
  /// Whether nothing of SimGrid's own happens until then.
  bool is_next(double date_s) const {
    const double timer_s = simgrid::kernel::timer::Timer::next();
    return (timer_s < 0 || timer_s > date_s) && std::all_of(models_.begin(), models_.end(), [](Model* model) {
             return model->get_started_action_set()->empty();
           });
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> places_, free_slots_;  // in the heap, by slot
  std::uint64_t numbers_ = 0;
  double early_until_s_ = 0;  // what was done early happened until then
  std::vector<Model*> models_ = s4u::Engine::get_instance()->get_all_models();
};

namespace {

AlarmQueue& alarms() {
  static AlarmQueue* const queue = [] {
    auto* const made = new AlarmQueue();  // never destroyed: actors may outlive static objects
    s4u::Engine::get_instance()->get_impl()->add_model({made, [](void*) {}}, {});
    return made;
  }();
  return *queue;
}

}  // namespace

void Alarm::set(double date_s) {
  cancel();
  date_s_ = std::max(date_s, clock_s());
  number_ = alarms().next_number();
  alarms().add(*this);
}

void Alarm::set_in_place_of(const Alarm& other) {
  cancel();
  date_s_ = other.date_s_;
  number_ = other.number_;
  alarms().add(*this);
}

void Alarm::cancel() {
  if (is_set()) alarms().take_out(*this);
}

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
  for (const s4u::ActorPtr& actor : s4u::Engine::get_instance()->get_all_actors()) {
    result.push_back({actor.get(), world_rank(*actor), actor->get_host()});
  }
  std::sort(result.begin(), result.end(), [](const Process& a, const Process& b) { return a.rank < b.rank; });
  return result;
}

// SimGrid's kernel does the functions that are passed to it, in the order in which the actors ran that asked for them.

void Bell::wake() {
  if (ActorImpl* const actor = std::exchange(waiting_, nullptr))
    actor->simcall_answer();
  else
    ++rung_;
}

void Bell::wait() {
  // If the actor is killed meanwhile, too.
  struct End {
    Bell& bell;
    ~End() { bell.waiting_ = nullptr; }
  };
  const End end{*this};
  ActorImpl* const self = s4u::Actor::self()->get_impl();
  simcall_run_blocking(
      [this, self] {
        waiting_ = self;
        if (rung_ == 0) return;
        --rung_;
        std::exchange(waiting_, nullptr)->simcall_answer();
      },
      nullptr);
}

void Bell::ring() {
  if (s4u::Actor::is_maestro())
    wake();
  else
    simcall_run_answered([this] { wake(); }, nullptr);
}

void Barrier::wait() {
  ActorImpl* const self = s4u::Actor::self()->get_impl();
  simcall_run_blocking(
      [this, self] {
        waiting_.push_back(self);
        if (waiting_.size() < actors_) return;
        for (ActorImpl* const actor : waiting_) actor->simcall_answer();
        waiting_.clear();
      },
      nullptr);
}

double spend(double duration_s, Bell& bell) {
  if (duration_s < resolution_s) return duration_s;
  // A third of the work of sleep_for(), which makes an action of the CPU and rounds otherwise.
  Alarm alarm([&bell] { bell.ring(); });
  alarm.set(clock_s() + duration_s);
  bell.wait();
  return 0;
}

void work(double duration_s) {
  s4u::this_actor::execute(duration_s * s4u::this_actor::get_host()->get_speed());
}

}  // namespace hplcast::smpi_models::port
