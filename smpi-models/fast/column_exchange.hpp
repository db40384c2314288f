#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "smpi-models/clock/rank_speed.hpp"

namespace hplcast::smpi_models {

/// Lessons of sampled exchanges (made with messages that share links) for those that are computed. A panel is in
/// parts (SampledExchanges); each part has lessons of its own, because row swaps fill the links at its beginning more
/// than at its end. Times in s are of one exchange.
class ExchangeLessons {
 public:
  /// A run of sampled exchanges, as means over its exchanges and the processes of the column.
  struct Sample {
    double took_s = 0;    ///< with the work between exchanges
    double excess_s = 0;  ///< of that, beyond what it would have taken in an empty network
  };
  void add(int part, const Sample& sample);
  void count_computed(std::size_t exchanges) { computed_ += exchanges; }

  /// Excess of the latest sample of the part; 0 before the first.
  double excess_s(int part) const;

  /// How much of the bytes of computed exchanges the links feel, if these bytes go at a constant rate: from 0 to 1.
  ///
  /// Say that a share p of the exchanges meets busy links and then takes x longer than the time t alone, and all others
  /// take t. Busy links get the bytes of p exchanges. As they are busy for p (t + x) / (t + p x) of the time, a
  /// constant rate would give them so much instead. The ratio of both is (t + p x) / (t + x); the mean excess is p x,
  /// the mean of its square p x^2.
  double load_share(int part) const;

  /// Twice the standard error in s of the time of all computed exchanges together. Half the mean square of the
  /// differences of neighbouring samples of a part is their variance, whatever slow trend there is (von Neumann 1941);
  /// their mean, which stands for every computed exchange, has this over their number. 0 before the second sample.
  double error_95_s() const;

 private:
  struct Part {
    double latest_s = 0;
    double samples = 0, took_s = 0, excess_s = 0, squared_excess_s2 = 0;  // sums
  };
  std::unordered_map<int, Part> parts_;
  std::uint64_t computed_ = 0;
  std::uint64_t changes_ = 0;
  double squared_changes_s2_ = 0;
};

/// A process's candidate in the search of its column for the pivot of one matrix column: HPL's WORK[0..3].
struct PivotCandidate {
  double value = 0;
  double local_row = 0;
  double row = 0;    ///< of the whole matrix
  double owner = 0;  ///< process row; one more than there are: none
};

/// Costs of one message of an exchange, in s: MPI_Send and the receive in the calling process, and the message
/// between them. From detached_bytes on only the last counts, and what MPI_Irecv and MPI_Wait take beside MPI_Recv.
/// `half_duplex`: then of two with each other the one that is sent later waits for the end of the other.
struct ExchangeMessage {
  double send_s = 0, transfer_s = 0, recv_s = 0, exchange_s = 0;
  bool half_duplex = false;
};

/// Costs of the exchange of one matrix column, in s. Positions are places in the process column, counted from the
/// process that owns the diagonal block.
class ColumnCosts {
 public:
  virtual ~ColumnCosts() = default;
  virtual ExchangeMessage message(int from, int to, double bytes) = 0;
  /// Time of a cblas_dcopy of `count` elements.
  virtual double copy_s(int position, int count) = 0;
  /// When work of `work_s` that a process begins at `begin_s` ends.
  virtual double after(int /*position*/, Work /*what*/, double begin_s, double work_s) { return begin_s + work_s; }
  /// A process has waited for another that had not come: part of the times that exchange_column() gives.
  virtual void waited(int /*position*/, double /*duration_s*/) {}
  /// False: after() adds, and nobody asks who waited; then neither is called.
  bool stretches = true;
  /// Below: a message leaves at once; below: its sender does not wait for the receiver.
  double async_small_bytes = 0;
  double detached_bytes = 0;
};

/// HPL_pdmxswp for a whole process column at once: the same messages between the same processes in the same order, but
/// only their times are computed, by the recursion t' = max(t, arrival) over the steps of HPL's exchange (pairs of the
/// greatest power of two of processes; the others before and after them).
///
/// @param panel_columns  JB >= 1
/// @param times_s        by position: when a process enters; on return: when it leaves
/// @param candidates     by position; on return the winner, the same for all. As in HPL the greatest value wins, then
///                       the lower owner.
void exchange_column(int panel_columns, ColumnCosts& costs, std::vector<double>& times_s,
                     std::vector<PivotCandidate>& candidates);

/// Messages that follow one another on the longest way through exchange_column() of `processes`.
int exchange_steps(int processes);

}  // namespace hplcast::smpi_models
