#include "window_options.hpp"

#include "hplcast/core/errors.hpp"
#include "quantities.hpp"

namespace hplcast::cli {

void add_windows(CLI::App& command, study::PredictionRequest& request) {
  const auto take_rule = [&request](const std::string& text) {
    try {
      request.windows = study::WindowRule::from(text);
    } catch (const core::DomainError& error) {
      throw CLI::ValidationError("--windows", error.what());
    }
  };
  command
      .add_option_function<std::string>(
          "--windows", take_rule,
          "panels that are simulated: auto (a few windows of a run that would take more than 30 s), off (all), or K "
          "windows of WIDTH panels after WARMUP panels (docs/use/sampled.md)")
      ->type_name("auto|off|K[:WIDTH[:WARMUP]]")
      ->group("Sampled prediction");
  command
      .add_option("--target-error", request.target_error,
                  "add windows until the 95 % error of a sampled prediction is at most this share of its time: 0.5%")
      ->transform(as_percentage())
      ->group("Sampled prediction");
  command
      .add_option("--windows-jobs", request.window_jobs,
                  "windows at a time, each in a process of its own; the result does not depend on it (default 1)")
      ->check(CLI::Range(1, 4096))
      ->group("Sampled prediction");
  command
      .add_option(
          "--only-window", request.only_window,
          "simulate this window alone, counted from 0, into the folder of --keep: for job arrays (docs/use/sampled.md)")
      ->check(CLI::NonNegativeNumber)
      ->group("Sampled prediction");
}

}  // namespace hplcast::cli
