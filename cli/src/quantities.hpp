#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hplcast::cli {

/// Quantities with units (core/units.hpp) for options of CLI11:
/// `command.add_option("--timeout", timeout_s, "...")->transform(as_seconds())`.
CLI::Validator as_bytes();  ///< whole ones
CLI::Validator as_bytes_per_s();
CLI::Validator as_flop_per_s();
CLI::Validator as_seconds();
CLI::Validator as_time_limit();  ///< seconds, above 0

/// 0 to 1, as "0.5%". Without the sign it is refused: 0.5 could be meant either way.
CLI::Validator as_percentage();

/// 0 and more, as "0.2" or "20%". A number above 1 needs the sign.
CLI::Validator as_ratio();

/// As those above; a value that no machine has is told on stderr after `who` ("hplcast quick: warning: --bandwidth"),
/// with the unit that was understood: 100 is 100 B/s. Zero is refused.
CLI::Validator as_link_bandwidth(const std::string& who);
CLI::Validator as_latency(const std::string& who);    ///< between two nodes
CLI::Validator as_memory(const std::string& who);     ///< of a node
CLI::Validator as_core_rate(const std::string& who);  ///< to Gflop/s, which is also the unit of a bare number

}  // namespace hplcast::cli
