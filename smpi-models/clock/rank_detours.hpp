#pragma once

#include <algorithm>
#include <vector>

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
  /// How much of anything but kernels gets done in that time.
  double free_s(double begin_s, double end_s) { return all_.free_s(begin_s, end_s); }

 private:
  bool kernels_differ_ = false;
  core::DetourClock all_;
  core::DetourClock kernels_;  // only if it differs
};

}  // namespace hplcast::smpi_models
