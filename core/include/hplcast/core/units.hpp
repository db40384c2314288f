#pragma once

#include <cstdint>
#include <string>

namespace hplcast::core {

inline constexpr double kibibyte = 1024, mebibyte = 1024 * kibibyte, gibibyte = 1024 * mebibyte;

inline constexpr std::int64_t day_s = 86400;
/// Days since 1970 (UTC), rounded down.
inline std::int64_t day_of(std::int64_t time_s) {
  return (time_s >= 0 ? time_s : time_s - day_s + 1) / day_s;
}

// Quantities as people write them: a number and a unit, with or without a blank between them. The only parser of units:
// options, campaign files and transformations use it. All @throws UsageError for anything else, and for negative or not
// finite values.

/// Bytes from "64KiB", "1.5GB", "100" (plain numbers are bytes). Units: B, kB, MB, GB, TB (powers of 1000), KiB, MiB,
/// GiB, TiB (powers of 1024).
double parse_bytes(const std::string& text);

/// Bytes per second from "12.5GBps", "12.5GB/s", "1GiB/s"; bits with a small b: "100Gbps", "100Gb/s", "100Gbit/s".
/// Plain numbers are bytes per second.
double parse_bytes_per_s(const std::string& text);

/// Floating-point operations per second from "30Gflop/s", "1.2Tflop/s", "3e10".
double parse_flop_per_s(const std::string& text);

/// Seconds from "1us", "30min", "2h", "1.5". Units: ns, us, ms, s, min, h, d.
double parse_seconds(const std::string& text);

/// Hertz from "1.8GHz", "1800MHz"; a plain number is refused: it would be read both ways.
double parse_hertz(const std::string& text);

/// Watts from "200W", "1.5kW", "125". Units: mW, W, kW, MW.
double parse_watts(const std::string& text);

}  // namespace hplcast::core
