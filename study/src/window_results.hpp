#pragma once

#include <filesystem>
#include <optional>

#include "hpl_simulation.hpp"

namespace hplcast::study {

/// The result of a window in its folder, so that a run that was stopped, or jobs elsewhere, need not make it again.
class WindowResult {
 public:
  WindowResult(const PredictionRequest& request, const PanelWindow& window, const std::filesystem::path& folder);

  /// Nothing if it is not there, or not that of this request.
  std::optional<HplSimulation> read() const;
  void write(const HplSimulation& simulation) const;

 private:
  std::filesystem::path path_;
  std::string request_;  ///< names all that the result depends on
};

}  // namespace hplcast::study
