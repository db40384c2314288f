#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::cli {

/// Adds one option for every HPL parameter (-N, --nb, -P, -Q, --pmap ... --align) that sets `parameters`. Values are
/// HPL's numbers or names (core::hpl_value). Returns the option -N.
/// `file`: an option for a file of configurations, which excludes them all.
CLI::Option* add_hpl_options(CLI::App& command, core::HplParameters& parameters, CLI::Option* file = nullptr);

/// Adds --nb, --bcast ... for a list of values of a parameter, which are its default. `levels` must live until the
/// options are parsed.
void add_hpl_levels(CLI::App& command, const std::string& field, std::vector<int>& levels,
                    const std::string& help = "");

}  // namespace hplcast::cli
