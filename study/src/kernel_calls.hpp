#pragma once

#include <array>
#include <cstdint>

#include "hplcast/core/kernel_id.hpp"
#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/shape_sums.h"

namespace hplcast::study {

/// Calls of one kernel in one class of size (core/shape_sums.h), with exact sums over them.
struct KernelCalls {
  core::KernelId kernel{};
  int size_class = 0;
  std::uint64_t calls = 0;
  double time_s = 0;
  std::array<double, HPLCAST_SHAPE_SUM_COUNT> sums{};  ///< in the order of HPLCAST_SHAPE_SUMS
};

/// One call.
struct KernelSample {
  core::KernelId kernel{};
  double time_s = 0;
  core::KernelShape shape;
};

/// The class of the product m n k: floor(log4(product)), from 0.
int size_class_of(const core::KernelShape& shape) noexcept;

/// Adds calls of the same kernel; of several classes they are no class any more.
void add(KernelCalls& to, const KernelCalls& calls) noexcept;

/// Adds one call.
void add(KernelCalls& to, const core::KernelShape& shape, double time_s) noexcept;

/// The sum of a monomial over the calls: exact for the kept ones, calls times its value at the mean sizes for others.
double sum_of(const KernelCalls& calls, const core::Monomial& monomial) noexcept;

/// The mean sizes of the calls, at least one.
core::KernelShape mean_shape(const KernelCalls& calls) noexcept;

/// The expected time in s of a model for these very calls: coefficients times sums, so exact where all calls of the
/// class are in one piece of the law and its terms are kept; else the piece at the mean sizes counts. At least 0, as in
/// the simulation.
double expected_s(const KernelCalls& calls, const core::PiecewiseLaw& law) noexcept;

}  // namespace hplcast::study
