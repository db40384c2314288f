#pragma once

#include <CLI/CLI.hpp>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::cli {

/// Adds one option for every HPL parameter (-N, --nb, -P, -Q, --pmap ... --align) that sets `parameters`. Values are
/// HPL's numbers or names (core::hpl_value). Returns the option -N.
/// `file`: an option for a file of configurations, which excludes them all.
CLI::Option* add_hpl_options(CLI::App& command, core::HplParameters& parameters, CLI::Option* file = nullptr);

}  // namespace hplcast::cli
