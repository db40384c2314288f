#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/imported.hpp"

namespace hplcast::study {

/// Logs of others as a calibration.
struct LogMachine {
  std::string name;
  int nodes = 1;
  int threads = 1;                             ///< of the BLAS of a node's rank, each on a core; 1: one, or not known
  double memory_bytes = 0;                     ///< of a node; 0: not known
  std::vector<core::HplLog> logs;              ///< of one rank on one node, with lines of progress, ended
  std::vector<core::MpiMeasurement> messages;  ///< between two nodes; of several nodes only
  double detached_bytes = 65536;  ///< below, MPI_Send does not wait for the receiver: no benchmark here tells
};

/// Effective models: kernels whose sums are those of the logs.
struct LogCluster {
  core::ClusterModel cluster;
  double dgemm_flop_per_s = 0;  ///< of the leading term, without what follows
  double other_kernels = 0;     ///< time of all other kernels, over those of one core of 2017 (`quick`)
  double column_s = 0;          ///< per column of the panel, whatever its height
  double scatter = 0;           ///< of the rate between the logs: standard deviation of its logarithm; 0: one log
  double largest_error = 0;     ///< of the time of each of the first nine tenths of the columns, relative
  double last_error = 0;        ///< of the last one: a thousandth of the flop
  double blocking_bytes_per_s = 0, windowed_bytes_per_s = 0;  ///< of long messages
  std::vector<std::string> unknown;                           ///< for people: what such data do not tell
};

/// The time between two lines of progress is a sum over panels of closed_form_s(), which is linear in the time per flop
/// of dgemm (with dtrsm), the scale of the other kernels, and a constant per column of the panel: least squares with
/// coefficients >= 0, scaled to the whole time of each log (docs/models/log-cluster.md).
/// @throws core::InputError for logs of several ranks, without progress or result, or of different N or NB; for several
/// nodes without a ping-pong.
LogCluster fit_logs(const LogMachine& machine);

}  // namespace hplcast::study
