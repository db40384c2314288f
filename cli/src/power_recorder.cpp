#include "power_recorder.hpp"

#include <utility>

#include "hplcast/core/host_and_time.hpp"

namespace hplcast::cli {

SensorRecorder::SensorRecorder(const std::filesystem::path& root, std::vector<calibration::MeterKind> kinds,
                               double period_s)
    : root_(root), kinds_(std::move(kinds)), period_s_(period_s) {
  calibration::require_host_power(calibration::find_power_meters(kinds_, root_), core::host_name());
}

void SensorRecorder::begin() {
  monitor_.emplace(calibration::Sensors::discover(root_, kinds_), period_s_);
}

std::vector<core::PowerSample> SensorRecorder::end() {
  const std::vector<calibration::Reading> readings = monitor_->stop();
  const double offset_s = calibration::unix_minus_now_s();
  const std::string host = core::host_name();
  std::vector<core::PowerSample> samples;
  for (const auto& meter : monitor_->sensors().power().meters) {
    for (core::PowerSample& sample : calibration::power_samples(*meter, readings, offset_s)) {
      sample.host = host;
      samples.push_back(std::move(sample));
    }
    for (const std::string& trouble : meter->troubles()) troubles_.push_back(meter->name() + ": " + trouble);
  }
  monitor_.reset();
  return samples;
}

std::vector<std::string> SensorRecorder::take_troubles() {
  return std::exchange(troubles_, {});
}

}  // namespace hplcast::cli
