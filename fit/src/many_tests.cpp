#include "hplcast/fit/many_tests.hpp"

#include <algorithm>
#include <numeric>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

std::vector<double> corrected(const std::vector<double>& probabilities, std::size_t tests, Correction correction) {
  for (double probability : probabilities)
    if (!(probability >= 0 && probability <= 1))
      throw core::DomainError("probability", probability, "a number from 0 to 1");
  if (tests < probabilities.size())
    throw core::DomainError("number of tests", static_cast<double>(tests), "one per probability at least");
  std::vector<double> result = probabilities;
  if (correction == Correction::none) return result;
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return probabilities[a] < probabilities[b]; });
  const auto all = static_cast<double>(tests);
  if (correction == Correction::holm) {
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      least = std::max(least, std::min(1.0, (all - static_cast<double>(i)) * probabilities[order[i]]));
      result[order[i]] = least;
    }
    return result;
  }
  double most = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    most = std::min(most, all / static_cast<double>(i + 1) * probabilities[order[i]]);
    result[order[i]] = most;
  }
  return result;
}

}  // namespace hplcast::fit
