#include "smpi-models/simgrid_port/simgrid_port.hpp"

#include <simgrid/version.h>
#include <simgrid/kernel/Timer.hpp>
#include <xbt/config.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hplcast::smpi_models::port {

namespace {

/// smpirun says it in a property; actors started otherwise are numbered from 1.
std::uint32_t world_rank(const s4u::Actor& actor) {
  const char* property = actor.get_property("rank");
  return property == nullptr ? static_cast<std::uint32_t>(actor.get_pid() - 1)
                             : static_cast<std::uint32_t>(std::strtoul(property, nullptr, 10));
}

/// A timer of SimGrid's kernel.
class Alarm {
 public:
  template <typename Task>
  Alarm(double date_s, Task task)
      : timer_(simgrid::kernel::timer::Timer::set(date_s, [this, task = std::move(task)] {
          timer_ = nullptr;  // SimGrid deletes it
          task();
        })) {}
  ~Alarm() {
    if (timer_ != nullptr) timer_->remove();
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  simgrid::kernel::timer::Timer* timer_;
};

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
  for (const s4u::ActorPtr& actor : s4u::Engine::get_instance()->get_all_actors()) {
    result.push_back({actor.get(), world_rank(*actor), actor->get_host()});
  }
  std::sort(result.begin(), result.end(), [](const Process& a, const Process& b) { return a.rank < b.rank; });
  return result;
}

double spend(double duration_s, s4u::Semaphore& bell) {
  if (duration_s < resolution_s) return duration_s;
  // A third of the work of sleep_for(), which makes an action of the CPU and rounds otherwise.
  const Alarm alarm(s4u::Engine::get_clock() + duration_s, [&bell] { bell.release(); });
  bell.acquire();
  return 0;
}

std::shared_ptr<const void> call_at(double date_s, std::function<void()> task) {
  return std::make_shared<Alarm>(std::max(date_s, s4u::Engine::get_clock()), std::move(task));
}

void work(double duration_s) {
  s4u::this_actor::execute(duration_s * s4u::this_actor::get_host()->get_speed());
}

}  // namespace hplcast::smpi_models::port
