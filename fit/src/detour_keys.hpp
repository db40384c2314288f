#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event_train.hpp"
#include "hplcast/core/detours.hpp"
#include "hplcast/fit/detour_sources.hpp"

namespace hplcast::fit {

/// What a periodic source hits at the same instant.
struct TrainKeys {
  core::DetoursPer per = core::DetoursPer::core;
  double jitter_s = 0;
  std::optional<double> phase_s;  ///< if it is the same everywhere, after the trace's epoch
};

/// @param hosts  of each core of the train
TrainKeys keys_of(const EventTrain& train, const std::vector<std::string>& hosts, const DetourFitOptions& options);

}  // namespace hplcast::fit
