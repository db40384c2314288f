#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

/// The operation timed on the measuring rank, always with one message (docs/use/calibration.md has the exact
/// protocols).
enum class MpiOperation {
  recv,            ///< MPI_Recv of a message that has arrived
  isend,           ///< MPI_Isend, the call alone
  send,            ///< MPI_Send to a receiver that waits in MPI_Recv
  pingpong,        ///< that send and the receipt of the answer
  iprobe,          ///< one MPI_Iprobe of a polling loop, mean over the loop
  test,            ///< one MPI_Test of a polling loop, mean over the loop
  wtime,           ///< one MPI_Wtime, mean over many
  exchange,        ///< a message, then one in each direction at once, as HPL swaps rows between two ranks
  send_unmatched,  ///< MPI_Send to a receiver that comes only after late_receiver_s
  panel,           ///< as pingpong, with messages as HPL sends panels: columns of a matrix, described by a datatype
  one_way,         ///< a message one way until an empty answer says that it has arrived; of all pairs of a turn at once
};

/// How long the receiver of send_unmatched stays away, in s: far more than any message of a design takes to leave.
inline constexpr double late_receiver_s = 0.02;

/// Panels of a design have 128 columns, of as many rows as the size says. Panels of HPL with 91 columns and more have
/// 64 KiB at least: their upper triangle.
inline constexpr long panel_columns = 128, panel_row_bytes = 8 * panel_columns, least_panel_bytes = 1 << 16;

HPLCAST_ENUM_NAMES(MpiOperation, "operation", "recv", "isend", "send", "pingpong", "iprobe", "test", "wtime",
                   "exchange", "send_unmatched", "panel", "one_way");
/// The default operations of designs: all except one_way, which is for saturation.
std::vector<MpiOperation> all_mpi_operations();

/// One row of a design: one measured call.
struct MpiCall {
  MpiOperation operation = MpiOperation::pingpong;
  long size_bytes = 0;
  int repetition = 0;
  long pairs = 0;  ///< of ranks that do this at once; 0: as the pattern of the measurement has it
};

using MpiDesign = std::vector<MpiCall>;

/// Parameters of a design of MPI calls.
struct MpiDesignOptions {
  long min_bytes = 1;
  long max_bytes = 1 << 20;
  long count = 100;  ///< sizes; each is used by all operations that have a size
  /// If not empty, sizes are chosen among these (hpl_message_bytes()), evenly over their logarithm, with the smallest
  /// and the largest; min_bytes and max_bytes are then not used.
  std::vector<long> among;
  int repetitions = 3;  ///< calls of each size and operation, shuffled over the whole experiment
  std::uint64_t seed = 1;
  std::vector<MpiOperation> operations = all_mpi_operations();
};

/// Sizes spread log-uniformly over [min_bytes, max_bytes] with noise (one draw in each of `count` equal strata of the
/// logarithm), both ends included, operations and repetitions in one random order. iprobe and test use one byte, wtime
/// none; send_unmatched has sizes of its own, at and shortly below powers of two, where the limits of MPI libraries
/// lie; panel those of least_panel_bytes and more, rounded to multiples of panel_row_bytes.
/// @throws DomainError for options outside their domain.
MpiDesign make_mpi_design(const MpiDesignOptions& given);

/// Parameters of a design of a saturation measurement.
struct SaturationDesignOptions {
  long min_bytes = 1 << 20;  ///< long messages only: bandwidth dominates their cost
  long max_bytes = 8 << 20;
  long count = 4;                 ///< sizes, log-uniform as those of other designs
  std::vector<long> pairs = {1};  ///< numbers of pairs of ranks at once
  int repetitions = 6;            ///< of each size and number of pairs
  std::uint64_t seed = 1;
};

/// Messages one_way of all sizes by all numbers of pairs, in one random order.
/// @throws DomainError for options outside their domain, a number of pairs twice.
MpiDesign make_saturation_design(const SaturationDesignOptions& options);

/// 1, 2, 4 ... and `most` itself. @throws DomainError if that is below 1.
std::vector<long> doubling_pairs(long most);

/// A rough time in s of the whole design on a network of this bandwidth.
double estimated_s(const MpiDesign& design, double bandwidth_bytes_per_s = 1e9);

/// Largest message of a design, in bytes.
long max_bytes(const MpiDesign& design);

/// CSV with the columns order, operation, size_bytes, repetition, and pairs if there are any.
void write_design(std::ostream& out, const MpiDesign& design);

/// Reads such a CSV; operation and size_bytes are required.
/// @throws ParseError for missing columns, unknown operations, sizes below 0 or above 2^31 - 1 (one MPI message),
/// pairs below 1, no rows.
MpiDesign read_mpi_design(std::istream& in, const std::string& name);

/// One measured pair of ranks: the initiator has the clock.
struct MpiPair {
  int initiator = 0;
  int responder = 1;
  std::string scope;  ///< local or remote
};

/// Which scopes are measured: those that there are, one, or both.
enum class PeerChoice { any, local, remote, both };
HPLCAST_ENUM_NAMES(PeerChoice, "scope", "any", "local", "remote", "both");

/// Rank 0 with the first rank of its own host, the first of another, or both. @throws core::InputError if a peer that
/// is asked for does not exist.
std::vector<MpiPair> choose_peers(const std::vector<std::string>& hosts, PeerChoice choice);

/// Who exchanges messages with whom.
enum class MpiPattern {
  pair,       ///< rank 0 with its peers, in turn
  ring,       ///< every rank with the next, one pair after the other, while the others are the background
  saturated,  ///< disjoint pairs of all ranks, all at once
  all_pairs,  ///< the first ranks of all hosts, each with each, in rounds of disjoint pairs
  cpus,       ///< ranks of each CPU of a host with those of each CPU of another: turns_of_cpus()
};
HPLCAST_ENUM_NAMES(MpiPattern, "pattern", "pair", "ring", "saturated", "all-pairs", "cpus");

/// Pairs that measure at the same time.
using MpiTurn = std::vector<MpiPair>;

/// The turns of each row of a design. `hosts` has the host of every rank. Saturated pairs are a rank and the one half
/// of the ranks further (remote, any), or two neighbours of one host (local). All pairs are those of the first ranks of
/// the hosts, or (local) of the ranks of the host of rank 0: n - 1 rounds of n / 2 pairs in a random order of the
/// hosts, n rounds with one that waits where n is odd.
/// @throws core::InputError if there is no pair of the scope asked for.
std::vector<MpiTurn> choose_turns(const std::vector<std::string>& hosts, MpiPattern pattern, PeerChoice choice);

/// Turns in which exactly `pairs` of ranks exchange at the same time, of the requested scopes with enough ranks: first
/// between the host of rank 0 and the next one, then inside the host of rank 0. All initiators are on that host, rank 0
/// first. Empty if there are too few ranks.
std::vector<MpiTurn> turns_of_pairs(const std::vector<std::string>& hosts, PeerChoice choice, long pairs);

/// Turns between the host of rank 0 and the next one. Without a number of pairs: the first ranks of each CPU of one
/// with those of each CPU of the other, one pair per turn. With one: as many pairs as that, or as there are ranks for,
/// within each two CPUs of one number at once, then within each such couple alone, the one of rank 0 last. `cpus`: of
/// each rank.
/// @throws core::InputError without a second host.
std::vector<MpiTurn> turns_of_cpus(const std::vector<std::string>& hosts, const std::vector<int>& cpus, long pairs);

/// The pair of a turn that a rank is in; nullptr: it has no part in it.
const MpiPair* pair_with(const MpiTurn& turn, int rank);

/// Activity of the ranks between messages, and how they wait for them.
enum class Background {
  none,
  dgemm,         ///< they compute
  iprobe,        ///< they poll with MPI_Iprobe, as HPL does while it waits for a panel
  dgemm_iprobe,  ///< they compute and poll in turn
};

HPLCAST_ENUM_NAMES(Background, "background", "none", "dgemm", "iprobe", "dgemm+iprobe");
inline bool computes(Background background) {
  return background == Background::dgemm || background == Background::dgemm_iprobe;
}
inline bool polls(Background background) {
  return background == Background::iprobe || background == Background::dgemm_iprobe;
}

/// One turn of one row of a design, or of the warm-up.
struct MpiStep {
  const MpiTurn* turn = nullptr;
  std::size_t row = 0;
  bool warm_up = false;
  bool ends_row = false;  ///< the last turn of its row
};

/// Who does what in which order: each row of a design with the turns of the pattern, or of its own number of pairs; a
/// warm-up of each turn before. The same on all ranks.
class MpiSteps {
 public:
  /// `hosts` has the host of every rank, `cpus` (for MpiPattern::cpus) its CPU. @throws core::InputError if the pattern
  /// has no pairs, or there are too few ranks for every row.
  MpiSteps(const std::vector<std::string>& hosts, const MpiDesign& design, MpiPattern pattern, PeerChoice scope,
           int warm_up_calls, const std::vector<int>& cpus = {});
  MpiSteps(const MpiSteps&) = delete;
  MpiSteps& operator=(const MpiSteps&) = delete;

  const std::vector<MpiStep>& steps() const noexcept { return steps_; }
  /// The initiator of the last turn of each row.
  int leader() const noexcept { return steps_.back().turn->front().initiator; }
  /// Whether rows have a number of pairs.
  bool is_series() const noexcept { return turns_.rbegin()->first > 0; }
  /// The rows of a series: "remote 1, 2, 4; local 1, 2", and those that have too few ranks.
  std::string summary() const;

 private:
  std::map<long, std::vector<MpiTurn>> turns_;  // by number of pairs; 0: of the pattern
  std::vector<MpiStep> steps_;
};

}  // namespace hplcast::calibration
