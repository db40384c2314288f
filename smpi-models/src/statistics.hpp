#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "activity.hpp"
#include "energy_account.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "panel_counts.hpp"
#include "program_counts.hpp"

namespace hplcast::smpi_models {

/// What happened in one simulation: the content of the file HPLCAST_STATS (docs/internals/smpi-runtime.md).
struct Statistics {
  std::string cluster;       ///< name; empty without a model
  std::string model_sha256;  ///< empty without a model
  std::string model_source;
  std::string simulator;       ///< name and version
  bool fast = false;           ///< the mode
  double fast_error_95_s = 0;  ///< ColumnMeetings::error_95_s()
  std::uint64_t seed = 0;
  bool noise = true;
  int ranks = 0;
  bool deadlock = false;
  double end_s = 0;             ///< simulated time at the end
  std::vector<double> times_s;  ///< as reported, in order
  CallCounts counts;
  ProgramCounts program;
  std::vector<double> detours_s;         ///< RankClock::detours_s(), by rank; empty without detours
  hplcast_window window{0, 0};           ///< PanelMarks::window()
  std::vector<double> panel_marks_s;     ///< PanelMarks::means_s()
  std::vector<CallCounts> panel_counts;  ///< PanelCounts::until_marks(), of a window
  std::optional<EnergyTotals> energy;    ///< nothing: not asked for
  std::vector<StateSums> panel_states;   ///< EnergyAccount::at_marks(), of a window
  std::vector<PhaseTimes> panel_phases;  ///< Activity::phase_times_at_marks()
  Activity::RankPhaseTimes phases{};     ///< empty if not measured
  std::vector<BlockedRank> blocked;      ///< what ranks waited for in a deadlock
};

/// JSON; kernels and operations that were not called are left out.
void write_statistics(std::ostream& out, const Statistics& statistics);

}  // namespace hplcast::smpi_models
