#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/detours.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/comparison.hpp"

namespace hplcast::fit {

struct DetourFitOptions {
  double clock_error_s = 1e-4;  ///< between hosts: events nearer than this may be the same; negative: none ever are
  double together_s = 2e-5;     ///< between cores of a host
  double join_s = 0;            ///< events of a core with less than this between them are one, as long as all of them
  bool in_kernels = false;      ///< the measured kernels contain these detours: written into all sources
};

/// A source of detours that was found, with what it was found from.
struct FoundDetours {
  core::DetourSource source;
  long events = 0;
  std::size_t cores = 0;      ///< that have it
  double share = 0;           ///< of the time of the cores watched
  double period_error_s = 0;  ///< standard error; of poisson of the mean interval
  double occupancy = 1;       ///< share of the periods with a detour, of the cores of the source; of poisson 1
};

/// The sources, those that take most time first.
struct DetourFit {
  bool ok = false;
  std::string reason;  ///< if not ok
  std::vector<FoundDetours> sources;
  double lost_share = 0;       ///< of the time watched, measured; its common rest as in both, if watched in turns
  double explained_share = 0;  ///< what the sources take together
  bool too_much = false;       ///< they take more than 1.05 times the time measured
  double watched_s = 0;        ///< of all cores
  int core_numbers = 0;        ///< how many different ones were watched
  std::vector<std::string> notes;
};

/// Finds the sources of measured detours. Periodic ones, one after the other: in all events, and in those of a decade
/// of durations, frequencies are taken from the periodogram of events; times are folded and regressed (the shortest
/// period of which nearly all have an event is the period; jitter is the range of what is left); events whose duration
/// does not fit are given back. Where fewer than 95 percent of the periods have an event, the durations have a share of
/// zeros. All others are of Poisson sources. Sources are per host if the cores of a host are
/// hit together, period by period, not only with the same phase by chance; per cluster, if all hosts are.
/// Periods have at least five occurrences; a source must be on half of the cores, else it is part of the Poisson rest.
/// Sums (rtla) give one Poisson source. Not ok: no detour at all, or more than the time of a core.
/// @param beside  the same cores, watched in turns with these (a source that goes on and stops): Poisson sources are
///                fitted from both, but for half decades of durations that take more time of one of them
/// @throws ParseError for sums in turns, a core that was watched in both at once or beside only.
DetourFit fit_detours(const core::DetourTrace& trace, DetourFitOptions options = {},
                      const core::DetourTrace& beside = {});

/// The law of durations: constant if 90 percent of them are within 2 percent of their median; exponential or uniform if
/// the largest distance of the distributions is below its 1 percent limit (Lilliefors 1969 for the exponential law,
/// whose mean is estimated) and there are at least 20; else quantiles at steps of 1/40, of which the last is moved so
/// that the mean is that of the durations: rare long ones take their share of the time, not more.
/// @throws core::DomainError for no durations, or ones that are not above 0.
core::DetourDuration fit_duration(std::vector<double> durations_s);

/// Runs beside a source of detours that takes a share of the time.
struct NoisyRuns {
  double level = 0;
  SampleSummary runs;
};

enum class Detection {
  seen,       ///< the intervals do not overlap, and p < 1 - confidence
  not_seen,   ///< and an effect as large as the level would have been
  undecided,  ///< too few runs, or too much scatter, to see an effect as large as the level
  faster      ///< the noisy runs were shorter: something else changed
};
HPLCAST_ENUM_NAMES(Detection, "detection", "seen", "not seen", "undecided", "faster");

/// A level compared with the clean runs.
struct LevelResult : NoisyRuns {
  double increase = 0;  ///< mean / clean mean - 1
  double gap = 0;       ///< lower bound of the noisy runs - upper bound of the clean ones
  double p_value = 1;   ///< Welch
  Detection detection = Detection::undecided;
  long runs_needed = 0;  ///< of both kinds, to see an increase by `level` in nine of ten studies; 0: there are enough
};

/// A detector of detours: which levels does it see?
struct Sensitivity {
  SampleSummary clean;
  Bounds clean_interval;
  double confidence = 0.99;
  std::vector<LevelResult> levels;  ///< from the highest to the lowest
  std::optional<double> limit;      ///< the lowest level that is seen with all higher ones; nothing: not the highest
};

/// @throws core::DomainError for fewer than 2 runs of a kind, no scatter at all, levels outside [0, 1).
Sensitivity detector_sensitivity(const SampleSummary& clean, std::vector<NoisyRuns> noisy, double confidence = 0.99);

/// Collective runs of one kind: operation, size, count, ranks and hosts.
struct DetectorRuns {
  core::CollectiveRun kind;
  std::vector<double> clean;                    ///< durations
  std::map<double, std::vector<double>> noisy;  ///< by level
  std::map<double, double> duty_sums;           ///< of the source, by level
  double shortest_periods = HUGE_VAL;           ///< of the source in a run
};

/// Without those of the warm-up.
std::vector<DetectorRuns> detector_runs(const std::vector<core::CollectiveRun>& runs);

/// @throws core::Error (bad_input) for fewer than 2 clean runs, no level, a level with one run.
Sensitivity detector_sensitivity(const DetectorRuns& runs);

}  // namespace hplcast::fit
