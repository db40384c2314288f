#pragma once

#include <filesystem>

#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// Whether something is asked for that only a simulation of all panels has.
bool is_observed(const Observation& observation);

/// Simulates windows of the panels, each in a process and a folder of its own below `folder`, and estimates the rest
/// (fit::integrate_curve()). Windows whose results lie there already, of the same request, are not simulated again.
core::Prediction predict_sampled(const PredictionRequest& request, const WindowPlan& plan,
                                 const std::filesystem::path& folder);

}  // namespace hplcast::study
