#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/predict.hpp"

namespace hplcast::cli {

/// The predictions of one command, in the order of its requests, and their file: it has those that are there, and is
/// whole at any moment.
class PredictionResults {
 public:
  /// `requests` must outlive this. `levels`: described() ones of all predictions. `file`: empty for none.
  PredictionResults(const std::vector<study::PredictionRequest>& requests, std::map<std::string, std::string> levels,
                    std::string file);

  /// Takes what the file has; a file that is not there has nothing. @throws core::Error if it has predictions that are
  /// not among those asked for: they would be lost.
  void resume();

  /// Keeps a result. Several: the file is written at most once a second.
  void add(std::size_t index, core::Prediction prediction);

  /// Before the command ends early: writes what there is, and says how to go on.
  void save_what_is_there();

  std::vector<std::size_t> missing() const;    ///< indices of requests
  const std::vector<core::Prediction>& all();  ///< once none is missing

 private:
  using Clock = std::chrono::steady_clock;
  bool is_of(const core::Prediction& prediction, std::size_t index) const;
  std::vector<core::Prediction> there() const;
  void save();

  const std::vector<study::PredictionRequest>& requests_;
  std::map<std::string, std::string> levels_;
  std::string file_;
  std::string model_sha256_;
  std::vector<std::optional<core::Prediction>> results_;
  std::vector<core::Prediction> all_;
  Clock::time_point last_save_;
  bool saved_ = true;
};

}  // namespace hplcast::cli
