#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/monitor.hpp"
#include "hplcast/study/run_energy.hpp"

namespace hplcast::cli {

/// The sensors of this host as a recorder of real runs.
class SensorRecorder : public study::PowerRecorder {
 public:
  /// @throws core::Error (bad_input) if none tells the power of the host; it says what was looked for.
  SensorRecorder(const std::filesystem::path& root, std::vector<calibration::MeterKind> kinds, double period_s);

  void begin() override;
  std::vector<core::PowerSample> end() override;
  /// What went wrong with sensors since this was asked last, for people.
  std::vector<std::string> take_troubles();

 private:
  std::filesystem::path root_;
  std::vector<calibration::MeterKind> kinds_;
  double period_s_;
  std::optional<calibration::Monitor> monitor_;
  std::vector<std::string> troubles_;
};

}  // namespace hplcast::cli
