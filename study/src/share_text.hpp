#pragma once

#include <cmath>
#include <string>

#include "hplcast/core/csv.hpp"

namespace hplcast::study {

/// 0 of nothing.
inline double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/// "11.1 %".
inline std::string share_text(double share) {
  return core::shortest(std::round(share * 1000) / 10) + " %";
}

}  // namespace hplcast::study
