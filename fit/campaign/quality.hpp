#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hplcast/core/doubts.hpp"

namespace hplcast::fit {

/// One measured call, as a share of the duration that its model expects.
struct RelativeCall {
  double start_s = 0;
  double ratio = 1;
};

/// Doubts about a model, from calls that were made in random order (else the sizes are mistaken for the time):
///   too_few_repetitions: fewer than 30 calls: neither mean nor noise are certain;
///   drift: the last third of the time is slower or faster than the first by more than 3 percent (medians), and not by
///     chance (Mann and Whitney, p < 0.001);
///   several_modes: a mixture of normal laws on the logarithms finds two modes of at least 10 percent of the calls,
///     more than 10 percent and two standard deviations of both apart.
/// @throws core::DomainError for ratios that are not positive and finite.
std::vector<core::QualityFlag> quality_flags(const std::string& subject, std::vector<RelativeCall> calls);

/// By how much the last third of the calls took longer than the first (medians, relative); 0 where there is no flag
/// `drift`, or few calls.
double relative_drift(std::vector<RelativeCall> calls);

/// Calls of which neither mean nor noise are certain.
inline constexpr std::size_t few_calls = 30;

}  // namespace hplcast::fit
