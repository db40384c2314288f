#pragma once

#include <cstdint>
#include <vector>

#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit::detail {

/// Keeps a uniform sample of at most `capacity` of the values that come by (Vitter 1985, algorithm R). `seen` counts
/// this value, too. The same values in the same order give the same sample.
inline void keep_in_reservoir(std::vector<double>& sample, std::size_t capacity, long seen, double value) {
  if (sample.size() < capacity) {
    sample.push_back(value);
    return;
  }
  const core::StreamName stream{0, core::stream_fit, 0, 0};
  const double at = core::draw(stream, static_cast<std::uint64_t>(seen)).uniform * static_cast<double>(seen);
  if (at < static_cast<double>(capacity)) sample[static_cast<std::size_t>(at)] = value;
}

}  // namespace hplcast::fit::detail
