#include "smpi-models/simgrid_port/simgrid_port.hpp"

#include <simgrid/version.h>
#include <simgrid/kernel/Timer.hpp>
#if SIMGRID_VERSION >= 40000
#include <simgrid/simcall.hpp>
#else
#include <simgrid/simix.hpp>
#endif
#include <xbt/config.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
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

/// All alarms that are set, as a heap with the first on top. SimGrid has a timer for that one only: its own heap of
/// timers takes several times as long, and does what is due at one date in any order. What the heap needs lies side by
/// side: alarms are on the stacks of actors, in no cache.
class AlarmQueue {
 public:
  void add(Alarm& alarm) {
    if (free_slots_.empty()) {
      free_slots_.push_back(places_.size());
      places_.push_back(0);
    }
    alarm.slot_ = free_slots_.back();
    free_slots_.pop_back();
    heap_.emplace_back();
    rise(heap_.size() - 1, {alarm.date_s_, added_++, alarm.slot_, &alarm});
    set_timer();
  }
  void remove(Alarm& alarm) {
    take_out(alarm);
    set_timer();
  }

 private:
  using Timer = simgrid::kernel::timer::Timer;
  struct Entry {
    double date_s;
    std::uint64_t number;  // in the order in which alarms were set
    std::size_t slot;
    Alarm* alarm;
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
  void set_timer() {
    if (is_ringing_) return;
    const double date_s = heap_.empty() ? never_s : heap_.front().date_s;
    if (date_s == timer_s_) return;
    if (timer_ != nullptr) timer_->remove();
    timer_s_ = date_s;
    timer_ = date_s == never_s ? nullptr : Timer::set(date_s, [this] { ring(); });
  }
  void ring() {
    timer_ = nullptr;  // SimGrid deletes it
    timer_s_ = never_s;
    is_ringing_ = true;
    while (!heap_.empty() && heap_.front().date_s <= clock_s()) {
      Alarm& first = *heap_.front().alarm;
      take_out(first);
      first.task_();
    }
    is_ringing_ = false;
    set_timer();
  }

  static constexpr double never_s = std::numeric_limits<double>::infinity();
  std::vector<Entry> heap_;
  std::vector<std::size_t> places_, free_slots_;  // in the heap, by slot
  std::uint64_t added_ = 0;
  bool is_ringing_ = false;
  double timer_s_ = never_s;
  Timer* timer_ = nullptr;
};

namespace {

AlarmQueue& alarms() {
  static auto* const queue = new AlarmQueue();  // never destroyed: actors may outlive static objects
  return *queue;
}

}  // namespace

void Alarm::set(double date_s) {
  cancel();
  date_s_ = std::max(date_s, clock_s());
  alarms().add(*this);
}

void Alarm::cancel() {
  if (is_set()) alarms().remove(*this);
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

// What is passed to SimGrid is done by its kernel, for all that actors have asked for in the order in which they ran.

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
