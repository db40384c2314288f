#pragma once

#include <string>

#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit {

/// The result of a fit, for people who are no statisticians: the formula, how far off single calls are, what is
/// uncertain, the notes. Several lines, each ended by a newline. `kernel` names it.
std::string describe(const std::string& kernel, const KernelFit& fit);

}  // namespace hplcast::fit
