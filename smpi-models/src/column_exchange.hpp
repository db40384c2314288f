#pragma once

#include <vector>

#include "rank_detours.hpp"

namespace hplcast::smpi_models {

/// What a process of a process column brings to the search for the pivot of one matrix column: HPL's WORK[0..3].
struct PivotCandidate {
  double value = 0;
  double local_row = 0;
  double row = 0;    ///< of the whole matrix
  double owner = 0;  ///< process row; one more than there are: none
};

/// What one message of an exchange costs, in s: MPI_Send and the receive in the calling process, and the message
/// between them. From detached_bytes on only the last counts.
struct ExchangeMessage {
  double send_s = 0;
  double transfer_s = 0;
  double recv_s = 0;
};

/// What the exchange of one matrix column costs, in s. Positions are places in the process column, counted from the
/// process that owns the diagonal block.
class ColumnCosts {
 public:
  virtual ~ColumnCosts() = default;
  virtual ExchangeMessage message(int from, int to, double bytes) = 0;
  /// Time of a cblas_dcopy of `count` elements.
  virtual double copy_s(int position, int count) = 0;
  /// When work of `work_s` that a process begins at `begin_s` ends.
  virtual double after(int position, Work what, double begin_s, double work_s) {
    static_cast<void>(position);
    static_cast<void>(what);
    return begin_s + work_s;
  }
  /// A process has waited for another that had not come: part of the times that exchange_column() gives.
  virtual void waited(int position, double duration_s) {
    static_cast<void>(position);
    static_cast<void>(duration_s);
  }
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
