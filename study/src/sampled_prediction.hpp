#pragma once

#include <filesystem>

#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// Simulates windows of the panels, each in a process and a folder of its own below `folder`, and estimates the rest
/// (fit::integrate_curve()). Windows whose results lie there already, of the same request, are not simulated again; one
/// that is observed (Observation) is, and leaves no result.
core::Prediction predict_sampled(const PredictionRequest& request, const WindowPlan& plan,
                                 const std::filesystem::path& folder);

}  // namespace hplcast::study
