#pragma once

#include <utility>
#include <vector>

#include "hplcast/core/random_stream.hpp"

namespace hplcast::calibration {

/// Fisher-Yates: every order is equally likely.
template <typename T>
void shuffle(std::vector<T>& items, core::RandomStream& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace hplcast::calibration
