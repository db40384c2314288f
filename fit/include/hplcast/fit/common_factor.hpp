#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace hplcast::fit {

constexpr std::int64_t day_s = 86400;
/// Days since 1970 (UTC), rounded down.
std::int64_t day_of(std::int64_t time_s);

/// The runs of one CPU, for comparing it with the others. Vectors of one length.
struct DatedValues {
  std::vector<std::int64_t> day;  ///< any number that is the same for runs of the same day
  std::vector<double> value;      ///< > 0
};

/// What all CPUs had in common on a day: the median over the CPUs of (value / median of that CPU). A change of all CPUs
/// moves it, a change of a few does not.
struct CommonFactor {
  std::map<std::int64_t, double> of_day;
  std::map<std::int64_t, std::size_t> cpus_of_day;  ///< how many CPUs it is the median of
  std::vector<std::vector<double>> ratios;          ///< per CPU and run: value / common factor of the day
};

/// @throws core::DomainError for lengths that differ, or values that are not finite and positive.
CommonFactor common_factor(const std::vector<DatedValues>& cpus);

}  // namespace hplcast::fit
