#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"
#include "smpi-models/clock/kernels.hpp"
#include "smpi-models/fast/column_exchange.hpp"
#include "smpi-models/messages/messages.hpp"
#include "smpi-models/observe/statistics.hpp"
#include "smpi-models/session/session.hpp"

namespace hplcast::smpi_models {

/// The pivot rows of the exchanges that one meeting was about.
struct PivotRows {
  int first_index = 0;  ///< of the exchanges, in the panel
  std::vector<double> rows;
};

/// The fast mode: the exchanges of HPL's panel factorisation, one per matrix column, become a meeting of the process
/// column, some of them being sampled (docs/models/modes.md#the-meeting-of-a-process-column). The last to come computes
///     for all j: t(i) += w(i, j), its work before exchange j;  t = exchange_column(t), with costs + excess / steps
/// from when rank i comes to its first exchange, and t(i) - now becomes its pending delay. With detours, "t += w" is
/// t = after(t, w) (RankDetours).
class ColumnMeetings {
 public:
  /// All must outlive this.
  ColumnMeetings(Kernels& kernels, Messages& messages, const NetworkCosts& costs, PanelCounts& counts,
                 const SampledExchanges& sampled)
      : kernels_(kernels), messages_(messages), costs_(costs), counts_(counts), sampled_(sampled) {}

  /// True if exchange `index` of the panel is to be simulated, between begin_sampled() and end_sampled().
  bool is_sampled(const hplcast_column& column, int index) const {
    return sampled_.is_sampled(column.panel, column.panel_columns, index);
  }
  void begin_sampled(Rank& rank, const hplcast_column& column, int index, const PivotCandidate& candidate);
  void end_sampled(Rank& rank, const hplcast_column& column);

  /// Notes exchange `index`. @throws core::Error if it is not the one after the last noted.
  void note(Rank& rank, const hplcast_column& column, int index, const PivotCandidate& candidate);

  /// Blocks until all of the column are here; then the noted exchanges are over. Nothing happens if there are none.
  PivotRows settle(Rank& rank, const hplcast_column& column);

  /// How far the time of a run in fast mode may be off by chance, in s: ExchangeLessons::error_95_s().
  double error_95_s() const { return lessons_.error_95_s(); }

 private:
  struct Note {
    RankClock::Noted work;
    PivotCandidate candidate;
  };
  struct SampledExchange {
    double entered_s, left_s;
    PivotCandidate candidate;
  };
  struct Member {
    Rank* rank = nullptr;
    std::vector<Note> notes;
    double came_s = 0;                         ///< to the meeting
    std::vector<std::pair<int, double>> sent;  ///< bytes of computed exchanges that left its host, by position
    std::vector<SampledExchange> sampled;      ///< of the run that goes on
    RankDetours detours;                       ///< as they were at the begin of that
    SendingNumbers sendings;                   ///< likewise
  };
  /// Result of a meeting, found by the last to come. Held by those that are still to wake up when the next has begun.
  struct Meeting {
    PivotRows pivots;
    std::vector<double> finish_s;  ///< by position
  };
  struct Column {
    std::vector<Member> members;  ///< by position
    int panel_columns = 0;
    int tag = 0;
    std::shared_ptr<Meeting> meeting;  ///< null: nobody has noted anything
    int arrived = 0;
    int through = 0;        ///< members that have made the last sampled exchange of the run
    int sampled_part = 0;   ///< of the panel, in which it was
    std::size_t loads = 0;  ///< times that load_links() was called
    std::unique_ptr<port::Barrier> barrier;
  };
  class Costs;
  class SampledCosts;
  class DrawnCosts;

  Column& open(Rank& rank, const hplcast_column& column);
  void learn(Column& column);
  void compute(Column& column);
  void load_links(Column& column);

  Kernels& kernels_;
  Messages& messages_;
  const NetworkCosts& costs_;
  PanelCounts& counts_;
  SampledExchanges sampled_;
  ExchangeLessons lessons_;
  std::unordered_map<int, std::unique_ptr<Column>> columns_;
  std::vector<std::vector<Note>> spare_notes_;  ///< of members that note nothing at the moment
};

}  // namespace hplcast::smpi_models
