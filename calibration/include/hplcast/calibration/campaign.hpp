#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/doctor.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::calibration {

/// One thing that a campaign measures: a run of a program, in pieces if it has a design.
struct CampaignStep {
  std::string name;  ///< of its files, such as 01-dgemm
  std::filesystem::path program;
  std::vector<std::string> arguments;  ///< without design, rows and outputs
  std::string design_option = "--design";
  std::string design;             ///< what that file holds; empty: the program takes none
  std::size_t rows = 0;           ///< of the design, that can be measured in pieces; 0: all in one
  bool may_be_shortened = false;  ///< the first rows of the design are a fair sample of all
  double estimated_s = 1;
  std::string extension = "csv";  ///< of the result
  bool is_mpi = true;             ///< started by the launcher; false: it starts MPI programs itself
  bool is_own = false;            ///< a command of the user, which prints a CSV: `rows` runs of it, each a piece
  double time_limit_s = 0;        ///< of a run of it
};

/// Limits that stop a campaign between two pieces: nothing is measured on a host that is not as it should be.
struct CampaignLimits {
  std::optional<double> temperature_celsius, power_w;  ///< of any sensor of any host during the piece before
  std::optional<double> load;  ///< runnable tasks of others on the host that measures, before a piece
};

/// The steps of a campaign; their pieces are measured in a random order.
struct CampaignPlan {
  std::string name;
  std::string source;  ///< the campaign file as it was given
  std::vector<CampaignStep> steps;
  core::MpiLaunch launch;          ///< on all hosts and cores
  std::vector<std::string> hosts;  ///< their names, if the campaign names them
  std::vector<std::string> notes;  ///< what is not measured, and why
  bool strict = false;             ///< warnings of the check before are errors
  bool monitoring = true;
  Settings required;                         ///< of every host; else nothing is measured
  Settings set;                              ///< of all hosts, while the campaign runs
  std::optional<core::MpiLaunch> each_host;  ///< one process on each of them, for `set`; nothing: this machine only
  CampaignLimits limits;
  double chunk_s = 30;                  ///< about what an interruption may lose
  bool control = true;                  ///< a control measurement before the first piece and after each
  std::uint64_t seed = 1;               ///< decides the order of the pieces
  double warm_up_s = 20;                ///< time for which all cores compute before the first measurement
  std::filesystem::path measure_dgemm;  ///< the program that warms up and describes hosts
};

/// A piece of a step: rows [first, end) of its design, or everything if end is 0.
struct CampaignChunk {
  std::size_t step = 0;
  std::size_t index = 0;  ///< within the step
  std::size_t first = 0, end = 0;
  double estimated_s = 0;
};

/// Takes fewer rows of the designs that may be shortened, so that warm-up and all steps take about `total_s`.
/// @throws core::DomainError if the rest alone takes longer, or a design would become empty.
void shorten(CampaignPlan& plan, double total_s);

/// The pieces of all steps in order, of about chunk_s each.
std::vector<CampaignChunk> chunks_of(const CampaignPlan& plan);

/// The same pieces in the random order in which they are measured, so that a change of the machine meets all steps.
std::vector<CampaignChunk> shuffled_chunks(const CampaignPlan& plan);

/// Progress of a running campaign.
struct CampaignReport {
  std::function<void(const std::string&)> message;                         ///< a line for people
  std::function<void(double fraction, const std::string& what)> progress;  ///< of the estimated time
};

/// Runs a campaign in a folder of its own. A result exists under its final name only when it is whole, so that running
/// the same plan there again does what is missing, and nothing twice. Folder layout: docs/formats/campaign.md. Before
/// anything is measured, every step is started once on all hosts to look at its options, design and ranks. Steps of
/// which nothing has been measured may differ from those of an earlier start.
/// @throws core::InputError if the folder holds another campaign, or holds anything and `resume` is false, or is in
/// use, or if the clock has been set back, or if all calls of a step fail; an Error that names step, rows and hosts if
/// a program fails: bad_input if that is what the program said, else external_failure.
void run_campaign(const CampaignPlan& plan, const std::filesystem::path& folder, bool resume,
                  const CampaignReport& report);

}  // namespace hplcast::calibration
