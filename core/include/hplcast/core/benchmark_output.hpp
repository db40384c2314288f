#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"

namespace hplcast::core {

/// What the output of a benchmark of messages has for us.
struct BenchmarkOutput {
  std::vector<MpiMeasurement> rows;  ///< `source` says that each is a mean over many calls
  std::vector<std::string> notes;    ///< of benchmarks in it that say nothing here
};

/// Reads what osu_latency and osu_bw (OSU microbenchmarks) and PingPong of the Intel MPI Benchmarks print, several
/// after each other, too; lines around them do not matter. Between ranks of `scope` (local, remote), which the outputs
/// do not tell.
///   osu_latency: rows of pingpong, of twice the latency that is printed; source "osu_latency VERSION";
///   IMB PingPong: the same, of twice t[usec]; source "IMB PingPong";
///   osu_bw: rows of stream: size / bandwidth, one pair with many messages on their way; source "osu_bw VERSION".
/// @throws ParseError if there is none of them, or a table of one is damaged or has other units.
BenchmarkOutput read_benchmark_output(std::istream& in, const std::string& name, const std::string& scope);

}  // namespace hplcast::core
