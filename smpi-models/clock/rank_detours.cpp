#include "smpi-models/clock/rank_detours.hpp"

#include <algorithm>

namespace hplcast::smpi_models {

RankDetours::RankDetours(const std::vector<core::DetourSource>& sources, const core::DetourPlace& place)
    : all_(sources, place) {
  kernels_differ_ = std::any_of(sources.begin(), sources.end(),
                                [](const core::DetourSource& source) { return source.values().in_kernels; });
  if (kernels_differ_) kernels_ = core::DetourClock(sources, place, core::DetourClock::Which::not_in_kernels);
}

}  // namespace hplcast::smpi_models
