#pragma once

// Two things make the work of a rank slower than its models say: detours, and another frequency of its CPU.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/detours.hpp"

namespace hplcast::smpi_models {

/// Kind of a rank's work: detours that the measured durations of kernels contain already (`in_kernels`) hold
/// up only `other`.
enum class Work {
  kernel,
  other,  ///< the software's part of messages, probes, hplcast_delay()
};

/// The detours of the core that a rank runs on (core::DetourClock). Times are the rank's own, and never fall from call
/// to call; copies have pasts of their own.
class RankDetours {
 public:
  /// None at all: a rank then adds up its work as it is.
  RankDetours() = default;
  /// `sources` must outlive this and its copies.
  RankDetours(const std::vector<core::DetourSource>& sources, const core::DetourPlace& place)
      : kernels_differ_(
            std::any_of(sources.begin(), sources.end(), [](const auto& one) { return one.values().in_kernels; })),
        all_(sources, place) {
    if (kernels_differ_) kernels_ = core::DetourClock(sources, place, core::DetourClock::Which::not_in_kernels);
  }

  bool any() const { return all_.any(); }
  /// When work of `work_s` that begins at `begin_s` ends.
  double after(Work what, double begin_s, double work_s) {
    return what == Work::kernel && kernels_differ_ ? kernels_.after(begin_s, work_s) : all_.after(begin_s, work_s);
  }
  /// How much gets done in that time.
  double free_s(Work what, double begin_s, double end_s) {
    return what == Work::kernel && kernels_differ_ ? kernels_.free_s(begin_s, end_s) : all_.free_s(begin_s, end_s);
  }

 private:
  bool kernels_differ_ = false;
  core::DetourClock all_;
  core::DetourClock kernels_;  // only if it differs
};

/// Seconds, watts or joules by core::CoreState.
using ByState = std::array<double, core::core_state_count>;

class ControlledGroup;

/// The frequency of a CPU over time, where it changes while a run goes on. Instants are those of the simulated clock.
class CpuFrequency {
 public:
  /// `cluster` must outlive this; its power has a frequency.
  CpuFrequency(const core::ClusterModel& cluster, int host, int cpu,
               std::vector<const core::FrequencySchedule*> schedules, ControlledGroup* group);

  /// A frequency: how much longer code takes than at that of the models, and the watts, behind the supply.
  struct Level {
    std::array<double, core::kernel_count + 1> slower{};  ///< by KernelId; the last: code that is no kernel of HPL
    ByState watts{};                                      ///< of one core
    double idle_w = 0, awake_w = 0;                       ///< the CPU's share of those of its host
  };
  static constexpr std::size_t other_code = core::kernel_count;
  struct Span {
    const Level& level;
    double until_s;
  };
  /// From an instant before known_until_s() on, until it changes or is not known.
  Span at(double time_s);
  /// A controller decides what comes then.
  double known_until_s() const;
  /// Lets the controller decide all that it does until then. All that cores have done before must have been told.
  void learn_until(double time_s);
  /// The same with another limit than the controller's.
  const Level& level_at(double time_s, double limit_hz);
  /// The integral of watts(begin, end, level) over a time in which all is known.
  template <typename Of>
  double integral(double begin_s, double end_s, Of watts) {
    double sum = 0;
    while (begin_s < end_s) {
      const Span span = at(begin_s);
      const double to_s = std::min(span.until_s, end_s);
      sum += (to_s - begin_s) * watts(begin_s, to_s, span.level);
      begin_s = to_s;
    }
    return sum;
  }

 private:
  const Level& level(double hz);
  const core::ClusterModel& cluster_;
  int host_, cpu_;
  double hz_;  // of the models
  std::vector<const core::FrequencySchedule*> schedules_;
  std::map<double, Level> levels_;  // by frequency
  ControlledGroup* group_;
};

}  // namespace hplcast::smpi_models
