#include "hplcast/fit/common_factor.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

/// Reorders its argument; not of nothing.
double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void require_valid(const DatedValues& cpu) {
  if (cpu.day.size() != cpu.value.size()) {
    throw core::DomainError("length of days", static_cast<double>(cpu.day.size()), "one per value");
  }
  for (double value : cpu.value)
    if (!(std::isfinite(value) && value > 0)) throw core::DomainError("value of a run", value, "a finite number > 0");
}

}  // namespace

CommonFactor common_factor(const std::vector<DatedValues>& cpus) {
  std::map<std::int64_t, std::vector<double>> shares_of_day;
  for (const DatedValues& cpu : cpus) {
    require_valid(cpu);
    if (cpu.value.empty()) continue;
    std::vector<double> values = cpu.value;
    const double own = median(values);
    for (std::size_t i = 0; i < cpu.value.size(); ++i) shares_of_day[cpu.day[i]].push_back(cpu.value[i] / own);
  }
  CommonFactor result;
  for (auto& [day, shares] : shares_of_day) {
    result.cpus_of_day[day] = shares.size();
    result.of_day[day] = median(shares);
  }
  for (const DatedValues& cpu : cpus) {
    std::vector<double>& ratios = result.ratios.emplace_back(cpu.value);
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= result.of_day.at(cpu.day[i]);
  }
  return result;
}

}  // namespace hplcast::fit
