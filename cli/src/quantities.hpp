#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hplcast::cli {

/// Bytes from "64KiB", "1.5GB", "100" (plain numbers are bytes). Units: B, kB, MB, GB, TB (powers of 1000), KiB, MiB,
/// GiB, TiB (powers of 1024). @throws core::UsageError for anything else, negative or not finite values.
double parse_bytes(const std::string& text);

/// Bytes per second from "12.5GBps", "100Gbps" (bits), "1GiB/s". Plain numbers are bytes per second.
/// @throws core::UsageError
double parse_bytes_per_s(const std::string& text);

/// Seconds from "1us", "30min", "2h", "1.5". Units: ns, us, ms, s, min, h, d. @throws core::UsageError
double parse_seconds(const std::string& text);

/// The same for options of CLI11: `command.add_option("--timeout", timeout_s, "...")->transform(as_seconds())`.
CLI::Validator as_bytes();
CLI::Validator as_bytes_per_s();
CLI::Validator as_seconds();

}  // namespace hplcast::cli
