#include "prediction_results.hpp"

#include <filesystem>
#include <iostream>

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::cli {

PredictionResults::PredictionResults(const std::vector<study::PredictionRequest>& requests,
                                     std::map<std::string, std::string> levels, std::string file)
    : requests_(requests),
      levels_(std::move(levels)),
      file_(std::move(file)),
      model_sha256_(core::cluster_sha256(requests.front().cluster)),
      results_(requests.size()),
      last_save_(Clock::now()) {}

bool PredictionResults::is_of(const core::Prediction& prediction, std::size_t index) const {
  const study::PredictionRequest& request = requests_[index];
  const std::string mode = study::mode_of(request) == study::SimulationMode::fast ? "fast" : "exact";
  return prediction.parameters == request.parameters && prediction.seed == request.seed && prediction.mode == mode &&
         prediction.model_sha256 == model_sha256_ && prediction.model_levels == levels_ &&
         (!prediction.phases.empty() || !request.observation.phases) &&
         (prediction.energy || !request.observation.energy) && study::is_sampled_as(prediction, request);
}

void PredictionResults::resume() {
  if (!std::filesystem::exists(file_)) return;
  std::vector<core::Prediction> found;
  core::read_file(file_, [&](std::istream& in, const std::string& name) { found = core::read_predictions(in, name); });
  std::size_t foreign = 0;
  for (const core::Prediction& prediction : found) {
    bool asked_for = false;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (!is_of(prediction, i)) continue;
      results_[i] = prediction;
      asked_for = true;
    }
    if (!asked_for) ++foreign;
  }
  if (foreign > 0) {
    throw core::Error(
        core::ExitCode::bad_input,
        file_ + " has " + std::to_string(foreign) +
            " predictions that are not among those asked for (other parameters, seed, mode, windows or cluster); "
            "--resume would lose them\n  hint: give the options of the first time, or another -o");
  }
  std::cerr << "hplcast predict: " << found.size() << " of " << requests_.size() << " predictions are in " << file_
            << " already\n";
}

void PredictionResults::add(std::size_t index, core::Prediction prediction) {
  prediction.model_levels = levels_;
  results_[index] = std::move(prediction);
  saved_ = false;
  using namespace std::chrono_literals;
  if (file_.empty() || requests_.size() == 1 || (Clock::now() - last_save_ < 1s && !missing().empty())) return;
  save();
}

void PredictionResults::save() {
  core::write_file(file_, [&](std::ostream& out) { core::write_predictions(out, there()); });
  last_save_ = Clock::now();
  saved_ = true;
}

void PredictionResults::save_what_is_there() {
  const std::size_t count = there().size();
  if (file_.empty() || count == 0) return;
  if (!saved_) save();
  std::cerr << "hplcast predict: " << count << " of " << requests_.size() << " predictions are in " << file_
            << "; the same command with --resume makes the others\n";
}

std::vector<std::size_t> PredictionResults::missing() const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i]) indices.push_back(i);
  }
  return indices;
}

std::vector<core::Prediction> PredictionResults::there() const {
  std::vector<core::Prediction> list;
  for (const auto& result : results_) {
    if (result) list.push_back(*result);
  }
  return list;
}

const std::vector<core::Prediction>& PredictionResults::all() {
  all_ = there();
  return all_;
}

}  // namespace hplcast::cli
