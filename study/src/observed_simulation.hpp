#pragma once

#include <filesystem>
#include <optional>

#include "hplcast/core/process.hpp"
#include "hplcast/study/observation.hpp"
#include "statistics.hpp"

namespace hplcast::study {

/// True if a trace is asked for: it shows messages that the fast mode does not have.
bool observes_messages(const Observation& observation);

/// Tells the simulated program and SMPI what to keep; progress goes to a file in the command's directory.
void observe(core::Command& command, const Observation& observation);

/// Progress of a command that observe() prepared; nothing before the first panel.
std::optional<SimulationProgress> progress_of(const core::Command& command);

/// Mean, smallest and largest time over the ranks of each phase, in the order of HPL_pdgesv.
std::vector<core::PhaseSummary> summarised(const std::vector<RankPhases>& phases);

/// One row per rank and phase. @throws core::Error if the file cannot be written.
void write_phases_csv(const std::filesystem::path& path, const std::vector<RankPhases>& phases);

/// The messages that the ranks wait for, for an error message: the first few in full.
std::string blocked_text(const Statistics& statistics);

}  // namespace hplcast::study
