#pragma once

#include <CLI/CLI.hpp>

#include "hplcast/study/predict.hpp"

namespace hplcast::cli {

/// --windows, --target-error, --windows-jobs, --only-window.
void add_windows(CLI::App& command, study::PredictionRequest& request);

}  // namespace hplcast::cli
