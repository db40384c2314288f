#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// HPL configurations from an HPL.dat, or from a CSV with one configuration a row: column N is required, other columns
/// have the names of core::hpl_fields(), absent ones keep `defaults`, unknown ones are ignored. A file whose first line
/// has a comma-separated field `N` is a CSV. @throws core::ParseError, also for a file without configurations.
std::vector<core::HplParameters> read_configurations(std::istream& in, const std::string& name,
                                                     const core::HplParameters& defaults = {});

/// Runs of the real HPL from its own output or from a CSV (core::read_hpl_csv), told apart in the same way.
/// @throws core::ParseError, also for a file without runs.
std::vector<core::HplRun> read_real_runs(std::istream& in, const std::string& name,
                                         const core::HplParameters& defaults = {});

}  // namespace hplcast::study
