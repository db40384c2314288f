#include "exchange_lessons.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::smpi_models {

void ExchangeLessons::add(int part, const Sample& sample) {
  Part& here = parts_[part];
  if (here.samples > 0) {
    const double change_s = sample.excess_s - here.latest_s;
    squared_changes_s2_ += change_s * change_s;
    ++changes_;
  }
  here.latest_s = sample.excess_s;
  here.samples += 1;
  here.took_s += sample.took_s;
  here.excess_s += sample.excess_s;
  here.squared_excess_s2 += sample.excess_s * sample.excess_s;
}

double ExchangeLessons::excess_s(int part) const {
  const auto found = parts_.find(part);
  return found == parts_.end() ? 0 : found->second.latest_s;
}

double ExchangeLessons::load_share(int part) const {
  const auto found = parts_.find(part);
  if (found == parts_.end() || !(found->second.excess_s > 0)) return 1;
  const Part& here = found->second;
  const double mean_s = here.took_s / here.samples;              // t + p x
  const double excess_s = here.excess_s / here.samples;          // p x
  const double busy_s = here.squared_excess_s2 / here.excess_s;  // x
  if (!(mean_s > excess_s)) return 1;
  return std::min(1.0, mean_s / (mean_s - excess_s + busy_s));
}

double ExchangeLessons::error_95_s() const {
  if (changes_ == 0) return 0;
  return 2 * static_cast<double>(computed_) * std::sqrt(squared_changes_s2_ / 2) / static_cast<double>(changes_);
}

}  // namespace hplcast::smpi_models
