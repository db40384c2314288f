#pragma once

#include <cmath>
#include <vector>

#include "hplcast/core/random_stream.hpp"
#include "hplcast/fit/network_fit.hpp"

namespace hplcast::fit::testing {

/// Messages within a host: each(size, add) for 300 log-uniform sizes up to 8 MB; add(operation, duration_s) adds a row
/// with this much log-normal noise.
template <typename Each>
std::vector<core::MpiMeasurement> local_rows(double noise, const Each& each) {
  core::RandomStream stream({1, core::stream_fit, 0, 0});
  std::vector<core::MpiMeasurement> rows;
  for (int i = 0; i < 300; ++i) {
    const double size = std::floor(std::pow(8e6, stream.uniform()));
    each(size, [&](const char* operation, double duration_s) {
      core::MpiMeasurement row;
      row.operation = operation;
      row.scope = "local";
      row.size_bytes = size;
      row.duration_s = duration_s * std::exp(noise * stream.normal());
      rows.push_back(row);
    });
  }
  return rows;
}

}  // namespace hplcast::fit::testing
