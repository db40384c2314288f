#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "column_exchange.hpp"
#include "exchange_lessons.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "messages.hpp"
#include "settings.hpp"
#include "simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

class Runtime;
struct RankState;

/// The fast mode: the exchanges of HPL's panel factorisation, one a matrix column, become a meeting of the process
/// column. Every process notes how long it computes between its exchanges and goes on at once; where they meet, the
/// last to come computes when each of them would be done (exchange_column(), with the costs of the same network model),
/// and that becomes the pending delay of each.
///
/// The meeting knows nothing of other messages on the same links. So some exchanges are made with real messages
/// (RealExchanges). What these take longer than computed is added to every step of the exchanges of the same part of
/// the panel, in this panel and in those after it, until it is measured again: process columns are alike, so one learns
/// from the other.
class ColumnMeetings {
 public:
  ColumnMeetings(Runtime& runtime, Messages& messages, const NetworkCosts& costs, const RealExchanges& real);

  /// True if exchange `index` of the panel is to be made with real messages, between begin_real() and end_real().
  bool is_real(const hplcast_column& column, int index) const {
    return real_.is_real(column.panel, column.panel_columns, index);
  }
  void begin_real(const hplcast_column& column, int index, const PivotCandidate& candidate);
  void end_real(const hplcast_column& column);

  /// Notes exchange `index`; costs no simulated time yet.
  void note(const hplcast_column& column, int index, const PivotCandidate& candidate);
  /// How far the time of a run in fast mode may be off by chance, in s: ExchangeLessons::error_95_s().
  double error_95_s() const { return lessons_.error_95_s(); }

  /// Blocks until all of the column are here; then the noted exchanges are over and their pivot rows known.
  void settle(const hplcast_column& column, double* pivot_rows);

 private:
  struct Note {
    double compute_s;
    PivotCandidate candidate;
  };
  /// An exchange that one member has made with real messages.
  struct RealExchange {
    double entered_s;
    double left_s;
    PivotCandidate candidate;
  };
  struct Member {
    RankState* state = nullptr;
    int rank = 0;  ///< in MPI_COMM_WORLD
    std::vector<Note> notes;
    double finish_s = 0;
    std::vector<std::pair<int, double>> sent;  ///< bytes of noted exchanges that left its host, by position
    std::vector<RealExchange> real;            ///< of the run that goes on
  };
  struct Column {
    std::vector<Member> members;  ///< by position
    int panel_columns = 0;
    int tag = 0;
    int first_index = 0;  ///< of the notes
    int arrived = 0;
    int through = 0;        ///< members that have made the last real exchange of the run
    int real_part = 0;      ///< of the panel, in which it was
    std::size_t loads = 0;  ///< times that load_links() was called
    std::vector<double> pivot_rows;
    simgrid::s4u::BarrierPtr barrier;
  };
  class Costs;

  Column& open(const hplcast_column& column);
  void learn(Column& column);
  void compute(Column& column);
  void load_links(Column& column);

  Runtime& runtime_;
  Messages& messages_;
  const NetworkCosts& costs_;
  RealExchanges real_;
  ExchangeLessons lessons_;
  std::unordered_map<int, std::unique_ptr<Column>> columns_;
};

}  // namespace hplcast::smpi_models
