#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// Whether a text is a CSV of configurations or runs: its first line (comments aside) has a field `N`. No HPL.dat and
/// no output of HPL begins like that.
bool is_configuration_csv(const std::string& text);

/// HPL configurations from an HPL.dat, or from a CSV with one configuration a row: column N is required, other columns
/// have the names of core::hpl_fields(), absent ones keep `defaults`, unknown ones are ignored. They are
/// told apart by is_configuration_csv(). `warnings`, if given: those of core::read_hpl_dat().
/// @throws core::ParseError, also for a file without configurations.
std::vector<core::HplParameters> read_configurations(std::istream& in, const std::string& name,
                                                     const core::HplParameters& defaults = {},
                                                     std::vector<std::string>* warnings = nullptr);

/// Leaves each configuration once, where it comes first. Returns the others.
std::vector<core::HplParameters> take_repeated(std::vector<core::HplParameters>& configurations);

/// Runs of the real HPL from its own output or from a CSV (core::read_hpl_csv), told apart in the same way.
/// @throws core::ParseError, also for a file without runs.
std::vector<core::HplRun> read_real_runs(std::istream& in, const std::string& name,
                                         const core::HplParameters& defaults = {});

}  // namespace hplcast::study
