#pragma once

#include <CLI/CLI.hpp>

namespace hplcast::cli {

/// Quantities with units (core/units.hpp) for options of CLI11:
/// `command.add_option("--timeout", timeout_s, "...")->transform(as_seconds())`.
CLI::Validator as_bytes();
CLI::Validator as_bytes_per_s();
CLI::Validator as_flop_per_s();
CLI::Validator as_seconds();
CLI::Validator as_share();  ///< 0 to 1: "0.5%" or "0.005"

}  // namespace hplcast::cli
