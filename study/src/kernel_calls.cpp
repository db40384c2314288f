#include "kernel_calls.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::study {

namespace {

#define HPLCAST_MONOMIAL_OF_SUM(m, n, k) core::Monomial{m, n, k},
constexpr std::array<core::Monomial, HPLCAST_SHAPE_SUM_COUNT> monomials = {HPLCAST_SHAPE_SUMS(HPLCAST_MONOMIAL_OF_SUM)};
#undef HPLCAST_MONOMIAL_OF_SUM

}  // namespace

int size_class_of(const core::KernelShape& shape) noexcept {
  const double product = shape.m * shape.n * shape.k;
  if (!(product >= 1)) return 0;
  return std::min(std::ilogb(product) / 2, HPLCAST_SHAPE_CLASS_COUNT - 1);
}

void add(KernelCalls& to, const KernelCalls& calls) noexcept {
  to.calls += calls.calls;
  to.time_s += calls.time_s;
  for (std::size_t i = 0; i < to.sums.size(); ++i) to.sums[i] += calls.sums[i];
}

void add(KernelCalls& to, const core::KernelShape& shape, double time_s) noexcept {
  ++to.calls;
  to.time_s += time_s;
  for (std::size_t i = 0; i < to.sums.size(); ++i) to.sums[i] += monomials[i](shape);
}

core::KernelShape mean_shape(const KernelCalls& calls) noexcept {
  if (calls.calls == 0) return {};
  const double count = static_cast<double>(calls.calls);
  return {calls.sums[0] / count, calls.sums[1] / count, calls.sums[2] / count};
}

double sum_of(const KernelCalls& calls, const core::Monomial& monomial) noexcept {
  if (monomial == core::Monomial{}) return static_cast<double>(calls.calls);
  const auto found = std::find(monomials.begin(), monomials.end(), monomial);
  if (found != monomials.end()) return calls.sums[static_cast<std::size_t>(found - monomials.begin())];
  return static_cast<double>(calls.calls) * monomial(mean_shape(calls));
}

double expected_s(const KernelCalls& calls, const core::PiecewiseLaw& law) noexcept {
  if (calls.calls == 0) return 0;
  const core::Polynomial& mu = law.at(mean_shape(calls)).mu();
  double sum_s = 0;
  for (std::size_t i = 0; i < mu.terms().size(); ++i) sum_s += mu.coefficients()[i] * sum_of(calls, mu.terms()[i]);
  return std::max(0.0, sum_s);
}

}  // namespace hplcast::study
