#pragma once

#include <deque>
#include <optional>

#include "smpi-models/clock/kernels.hpp"
#include "smpi-models/fast/column_meeting.hpp"
#include "smpi-models/messages/communicators.hpp"
#include "smpi-models/messages/messages.hpp"
#include "smpi-models/messages/probes.hpp"
#include "smpi-models/observe/activity.hpp"
#include "smpi-models/observe/energy_meters.hpp"
#include "smpi-models/observe/statistics.hpp"
#include "smpi-models/program/program.hpp"
#include "smpi-models/program/program_messages.hpp"
#include "smpi-models/session/session.hpp"

namespace hplcast::smpi_models {

/// The state of the simulation: ranks, models, streams and counts. There is one, made at the first call of an actor;
/// SimGrid runs actors one at a time, so nothing is locked.
class Runtime {
 public:
  /// The runtime; made on the first call. Ends the simulation for bad settings, an unreadable model, hosts that the
  /// model does not have.
  static Runtime& instance() { return made_ == nullptr ? make() : *made_; }

  /// The calling rank. Ends the simulation outside of a simulated rank.
  static Rank& rank() {
    return port::running.its_rank != nullptr ? *static_cast<Rank*>(port::running.its_rank) : find_rank();
  }

  /// The rank spends a drawn duration in a kernel.
  void kernel_call(Rank& rank, core::KernelId kernel, const core::KernelShape& shape);
  /// As hplcast_leading_dimension().
  void leading_dimension(Rank& rank, int doubles) const { kernels_.set_leading_dimension(rank, doubles); }
  /// u^(1/rows) and a row below `rows`, from the stream of pivots. @throws DomainError for rows < 1.
  double pivot(Rank& rank, int rows, int& row) const;

  Communicator& world() { return *world_; }
  Polling& polling() { return *polling_; }
  Activity& activity() { return activity_; }
  /// Null: messages go through SMPI, because the platform is not ours or the settings say so.
  Messages* messages() { return messages_ ? &*messages_ : nullptr; }
  /// Messages of programs other than HPL; null where messages() is.
  ProgramMessages* program_messages() { return program_messages_ ? &*program_messages_ : make_program_messages(); }
  /// Only with messages().
  Probes& probes() { return *probes_; }
  /// Null where no panel is factored as in fast mode.
  ColumnMeetings* columns() { return columns_ ? &*columns_ : nullptr; }
  /// Whether a panel of the window, counted from 0, is factored as in fast mode.
  bool meets(int panel) const { return columns_ && (settings_.fast || panel < settings_.fast_panels); }
  Program& program() { return program_; }
  PanelCounts& counts() { return counts_; }
  /// The window of a matrix of `panels` panels. @throws DomainError for a window that it does not have.
  hplcast_window panel_window(int panels, int process_columns) const;
  /// As hplcast_panel_begins(), which tells how far the simulation is, too.
  void panel_begins(Rank& rank, const hplcast_window& window, int index);
  /// The part of HPL that is timed begins for a rank, or ends.
  void timed_part(Rank& rank, bool begins, double now_s);
  /// Tells now and then how far a program is.
  void tell_progress();
  void report_time(double time_s) { result_.times_s.push_back(time_s); }

 private:
  inline static Runtime* made_ = nullptr;
  static Rank& find_rank();
  Runtime();
  static Runtime& make();
  ProgramMessages* make_program_messages();
  void add_ranks();
  void begin_account(bool changes);
  void end_account();
  MessageTotals program_totals() const;
  void check() const;
  void write();

  const Settings& settings_;
  core::SimulationResult result_;  ///< as far as it is known before the end
  PanelCounts counts_;
  Kernels kernels_;
  Activity activity_;
  Program program_;
  std::optional<EnergyAccount> energy_;
  std::deque<Rank> ranks_;  // by number in MPI_COMM_WORLD
  std::optional<Communicator> world_;
  std::optional<Polling> polling_;
  ProgressFile progress_;
  PanelMarks panel_marks_;
  std::optional<Messages> messages_;
  std::optional<ProgramMessages> program_messages_;  ///< when asked for
  std::optional<Probes> probes_;
  std::optional<ColumnMeetings> columns_;
};

}  // namespace hplcast::smpi_models
