#include "hplcast/calibration/measure_power.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

constexpr double kilo = 1e3, step_hz = 1e8;

/// cpu0/cpufreq, cpu1/cpufreq ...: what writes to one of a policy writes to all of it.
std::vector<fs::path> policies_below(const fs::path& root) {
  std::vector<fs::path> found;
  for (const fs::path& cpu : entries(root / "sys/devices/system/cpu", "cpu")) {
    const std::string name = cpu.filename();
    if (name.size() < 4 || std::isdigit(static_cast<unsigned char>(name[3])) == 0) continue;
    if (first_number(cpu / "cpufreq/scaling_max_freq")) found.push_back(cpu / "cpufreq");
  }
  return found;
}

std::string ghz_text(double hz) {
  return core::shortest(hz / 1e9) + " GHz";
}

}  // namespace

FrequencyControl::FrequencyControl(const fs::path& root) : policies_(policies_below(root)) {
  if (policies_.empty()) return;
  const fs::path& first = policies_.front();
  least_hz_ = first_number(first / "cpuinfo_min_freq").value_or(0) * kilo;
  most_hz_ = first_number(first / "cpuinfo_max_freq").value_or(0) * kilo;
  std::istringstream list(first_line(first / "scaling_available_frequencies"));
  for (double khz = 0; list >> khz;) states_hz_.push_back(khz * kilo);
  if (states_hz_.empty() && least_hz_ > 0 && most_hz_ > least_hz_)
    for (double hz = most_hz_; hz >= least_hz_ - 1; hz -= step_hz) states_hz_.push_back(hz);
  std::sort(states_hz_.rbegin(), states_hz_.rend());
  if (!states_hz_.empty() && !(most_hz_ > 0)) {
    most_hz_ = states_hz_.front();
    least_hz_ = states_hz_.back();
  }
}

FrequencyControl::~FrequencyControl() {
  // The lower limit first goes down and the upper one up, whatever they are: no order of both can then be refused.
  for (const auto& [file, khz] : before_khz_) std::ofstream(file) << static_cast<long long>(khz) << '\n';
  for (const auto& [file, khz] : before_khz_) std::ofstream(file) << static_cast<long long>(khz) << '\n';
}

void FrequencyControl::write(const fs::path& file, double khz) {
  if (const auto before = first_number(file)) before_khz_.emplace(file, *before);
  errno = 0;
  std::ofstream out(file);
  if (out << static_cast<long long>(std::llround(khz)) << '\n' && out.flush()) return;
  throw core::InputError("the frequency cannot be set: " + file.string() + ": " +
                         (errno != 0 ? std::strerror(errno) : "cannot be written") +
                         "\n  hint: root may allow it (chmod a+w, or the batch system's option for frequencies); "
                         "without --frequencies they are left alone");
}

void FrequencyControl::set_limits(const fs::path& policy, double khz) {
  const double highest = first_number(policy / "scaling_max_freq").value_or(0);
  const bool rises = khz > highest;
  write(policy / (rises ? "scaling_max_freq" : "scaling_min_freq"), khz);
  write(policy / (rises ? "scaling_min_freq" : "scaling_max_freq"), khz);
}

void FrequencyControl::set(double hz) {
  if (policies_.empty())
    throw core::InputError(
        "the frequency cannot be set: there is no /sys/devices/system/cpu/cpu*/cpufreq\n  hint: virtual machines have "
        "none; without --frequencies they are left alone");
  if (least_hz_ > 0 && (hz < least_hz_ * (1 - 1e-9) || hz > most_hz_ * (1 + 1e-9)))
    throw core::DomainError("frequency", ghz_text(hz), ghz_text(least_hz_) + " to " + ghz_text(most_hz_));
  for (const fs::path& policy : policies_) {
    if (first_line(policy / "scaling_governor") == "userspace") {
      write(policy / "scaling_setspeed", hz / kilo);
    } else {
      set_limits(policy, hz / kilo);
    }
  }
}

}  // namespace hplcast::calibration
