#include "hplcast/fit/findings.hpp"

#include <cmath>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

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
    const double own = detail::quantile_of(cpu.value, 0.5);
    for (std::size_t i = 0; i < cpu.value.size(); ++i) shares_of_day[cpu.day[i]].push_back(cpu.value[i] / own);
  }
  CommonFactor result;
  for (const auto& [day, shares] : shares_of_day) {
    result.cpus_of_day[day] = shares.size();
    result.of_day[day] = detail::quantile_of(shares, 0.5);
  }
  for (const DatedValues& cpu : cpus) {
    std::vector<double>& ratios = result.ratios.emplace_back(cpu.value);
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= result.of_day.at(cpu.day[i]);
  }
  return result;
}

}  // namespace hplcast::fit
