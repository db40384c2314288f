#include "hplcast/fit/samples_by_size.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

void SamplesBySize::add(double size, double duration_s) {
  if (!(size >= 0) || !std::isfinite(size)) throw core::DomainError("size", size, "a finite number >= 0");
  if (!(duration_s > 0) || !std::isfinite(duration_s))
    throw core::DomainError("duration_s", duration_s, "a finite number > 0");
  SizeCell& cell = cells_[size];
  cell.size = size;
  const auto n = static_cast<double>(++cell.rows);
  const double step = duration_s - cell.mean;
  cell.mean += step / n;
  cell.m2 += step * (duration_s - cell.mean);
  const double value = std::log(duration_s);
  const double log_step = value - cell.mean_log;
  cell.mean_log += log_step / n;
  cell.m2_log += log_step * (value - cell.mean_log);
  ++rows_;
}

std::vector<SizeCell> SamplesBySize::cells() const {
  std::vector<SizeCell> sorted;
  sorted.reserve(cells_.size());
  for (const auto& entry : cells_) sorted.push_back(entry.second);
  std::sort(sorted.begin(), sorted.end(), [](const SizeCell& a, const SizeCell& b) { return a.size < b.size; });
  return sorted;
}

std::vector<SizeCell> averaged(std::vector<SizeCell> cells) {
  for (SizeCell& cell : cells) cell = SizeCell{cell.size, 1, cell.mean, 0, std::log(cell.mean), 0};
  return cells;
}

}  // namespace hplcast::fit
