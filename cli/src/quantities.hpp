#pragma once

#include <CLI/CLI.hpp>

namespace hplcast::cli {

/// Quantities with units (core/units.hpp) for options of CLI11:
/// `command.add_option("--timeout", timeout_s, "...")->transform(as_seconds())`.
CLI::Validator as_bytes();
CLI::Validator as_bytes_per_s();
CLI::Validator as_flop_per_s();
CLI::Validator as_seconds();

}  // namespace hplcast::cli
