#include "hplcast/fit/kernel_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

void require_positive(const char* name, double value) {
  if (!std::isfinite(value) || !(value > 0)) throw core::DomainError(name, value, "a finite number above 0");
}

}  // namespace

std::size_t KernelTable::ShapeHash::operator()(const core::KernelShape& shape) const noexcept {
  const std::hash<double> hash;
  // 64-bit golden ratio, as in boost::hash_combine: the three sizes are often alike.
  constexpr std::size_t mix = 0x9e3779b97f4a7c15u;
  std::size_t seed = hash(shape.m);
  seed ^= hash(shape.n) + mix + (seed << 6) + (seed >> 2);
  seed ^= hash(shape.k) + mix + (seed << 6) + (seed >> 2);
  return seed;
}

KernelTable::KernelTable(std::size_t sample_size)
    : sample_size_(sample_size), stream_(core::StreamName{1, core::stream_fit, 0, 0}) {}

void KernelTable::add(const core::KernelShape& shape, double duration_s) {
  require_positive("m", shape.m);
  require_positive("n", shape.n);
  require_positive("k", shape.k);
  require_positive("duration_s", duration_s);

  const auto [place, is_new] = index_.try_emplace(shape, shapes_.size());
  if (is_new) shapes_.push_back({shape, 0, 0, 0, duration_s, duration_s});
  ShapeSummary& summary = shapes_[place->second];
  ++summary.count;
  const double step = duration_s - summary.mean_s;
  summary.mean_s += step / static_cast<double>(summary.count);
  summary.squares_s2 += step * (duration_s - summary.mean_s);
  summary.min_s = std::min(summary.min_s, duration_s);
  summary.max_s = std::max(summary.max_s, duration_s);

  ++rows_;
  total_s_ += duration_s;
  const SampledCall call{place->second, duration_s};
  if (first_calls_.size() < first_calls_kept) first_calls_.push_back(call);
  if (sample_.size() < sample_size_) {
    sample_.push_back(call);
  } else if (sample_size_ > 0) {
    const std::uint64_t slot = stream_.below(static_cast<std::uint64_t>(rows_));
    if (slot < sample_size_) sample_[slot] = call;
  }
}

void KernelTable::set_aside(const std::string& reason, long rows) {
  rows_set_aside_[reason] += rows;
}

core::ShapeRange KernelTable::range() const noexcept {
  return range_of(shapes_);
}

core::ShapeRange range_of(const std::vector<ShapeSummary>& shapes) noexcept {
  if (shapes.empty()) return {};
  core::ShapeRange range{shapes.front().shape, shapes.front().shape};
  for (const ShapeSummary& summary : shapes) {
    const core::KernelShape& shape = summary.shape;
    range.min = {std::min(range.min.m, shape.m), std::min(range.min.n, shape.n), std::min(range.min.k, shape.k)};
    range.max = {std::max(range.max.m, shape.m), std::max(range.max.n, shape.n), std::max(range.max.k, shape.k)};
  }
  return range;
}

}  // namespace hplcast::fit
