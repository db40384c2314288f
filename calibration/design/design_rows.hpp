#pragma once

#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::calibration {

/// @throws DomainError for more rows than anybody measures: before they are made, they would fill the memory.
inline void require_few_rows(double rows) {
  constexpr double most_rows = 1e7,
                   bytes_per_row = 100;  // a row in memory and as text; ten million take a day at 10 ms
  if (rows <= most_rows) return;
  throw core::DomainError("rows of the design", rows,
                          "at most " + std::to_string(static_cast<long>(most_rows)) + ": these would need about " +
                              std::to_string(static_cast<long long>(rows * bytes_per_row / 1e9)) + " GB of memory",
                          "take a smaller count, or fewer repetitions");
}

/// Fisher-Yates: every order is equally likely.
template <typename T>
void shuffle(std::vector<T>& items, core::RandomStream& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace hplcast::calibration
