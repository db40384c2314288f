#pragma once

#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::core {

/// The fields in which configurations differ, in the order of hpl_fields(), but those named in `without`: what a table
/// of them has to show besides.
std::vector<const HplField*> varying_fields(const std::vector<HplParameters>& configurations,
                                            const std::vector<std::string>& without);

}  // namespace hplcast::core
