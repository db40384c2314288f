#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

/// Which hosts are near each other, from messages between all pairs of them (docs/use/fit.md).
namespace hplcast::fit {

/// Messages from one host to another: a latency, a bandwidth, or both (0: not measured).
struct PairMeasurement {
  std::string source, destination;
  double latency_s = 0;              ///< half a round trip of an empty or short message
  double bandwidth_bytes_per_s = 0;  ///< of long messages
};

/// Reads the output of nxnlatbw (source, destination, latency in us, MB/s; the header may stand anywhere), or a CSV
/// with a header and columns source, destination, latency_s, bandwidth_bytes_per_s (the last two or one of them), or
/// messages of `hplcast-measure-mpi --pattern all-pairs`: latency_s is half the median round trip of up to 1 KiB, the
/// bandwidth that of the median round trip of the longest messages, of 64 KiB at least. Ranks of one host are called
/// host:rank.
/// @throws core::ParseError
std::vector<PairMeasurement> read_pairs(std::istream& in, const std::string& name);

/// A host whose messages to all others are slower than those of the hosts of its group.
struct SlowHost {
  std::string host;
  double latency_s = 0;        ///< more than the others
  double bandwidth_share = 1;  ///< of that of the others
};

/// A pair that is slower than its groups and hosts say.
struct SlowPair {
  std::string first, second;
  double latency_s = 0;        ///< more than expected
  double bandwidth_share = 1;  ///< of what is expected
};

struct PairTopology {
  std::vector<std::vector<std::string>> groups;  ///< the largest first
  std::vector<std::vector<double>> latency_s;    ///< between groups, and inside (diagonal; 0: a group of one host)
  std::vector<std::vector<double>> bandwidth;    ///< likewise [B/s]; empty: not measured
  double within_s = 0, between_s = 0;  ///< means over the pairs inside groups, and of different ones (0: none)
  double difference_error_s = 0;       ///< standard error of their difference
  double bandwidth_share = 1;          ///< of pairs of different groups, over that of pairs inside; 1: not measured
  double bic_of_one = 0, bic = 0;      ///< of one group, and of these; lower is better
  std::vector<SlowHost> slow_hosts;
  std::vector<SlowPair> slow_pairs;
};

/// Groups of hosts with like latencies: average linkage of the latencies (both directions averaged); the number of
/// groups by BIC, with the logarithm of the number of ways to choose them as part of the cost. Slow hosts and pairs are
/// beyond five robust standard deviations of the others, and 2 % of the latency or 0.5 % of the bandwidth at least.
/// @throws core::InputError for fewer than three hosts, or pairs that were not measured.
PairTopology fit_pair_topology(const std::vector<PairMeasurement>& pairs);

/// `cluster` with these groups as topology host_groups, if its messages between groups are slower; else, one switch
/// explains the data. Its messages were measured between hosts of one group, but for `apart` of them, from 0 to 1.
/// @throws core::InputError for hosts whose pairs were not measured, core::DomainError for a topology of another kind.
core::ClusterModel with_groups(core::ClusterModel cluster, const PairTopology& found, double apart = 0);

/// JSON of all of it.
void write_pair_topology(std::ostream& out, const PairTopology& topology);

}  // namespace hplcast::fit
