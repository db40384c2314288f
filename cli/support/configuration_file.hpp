#pragma once

#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::cli {

/// Reads configurations (core::read_configurations) and tells on stderr, as `program`, where HPL reads its HPL.dat in
/// another way than people would. @throws core::Error if the file cannot be opened or read.
std::vector<core::HplParameters> read_configuration_file(const std::string& program, const std::string& path,
                                                         const core::HplParameters& defaults = {});

}  // namespace hplcast::cli
