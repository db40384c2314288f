#pragma once

#include <cstddef>
#include <vector>

namespace hplcast::fit {

/// How the probabilities of many tests at once are corrected.
enum class Correction {
  none,
  holm,                ///< S. Holm 1979: the chance of any false finding, whatever the tests have in common
  benjamini_hochberg,  ///< Y. Benjamini and Y. Hochberg 1995: the expected share of false ones among the findings
};

/// Probabilities as if each were the only test, in the order given: a finding at level alpha is one with at most alpha.
/// `tests`: how many were made; those that are not in `probabilities` have larger ones than all that are.
/// @throws core::DomainError for probabilities outside [0, 1], or fewer tests than probabilities.
std::vector<double> corrected(const std::vector<double>& probabilities, std::size_t tests, Correction correction);

}  // namespace hplcast::fit
