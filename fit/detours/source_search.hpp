#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/detours.hpp"
#include "hplcast/fit/detours.hpp"

namespace hplcast::fit {

/// A core's events that may belong to a train, and when it was watched: times count from any instant, all from the
/// same.
struct TrainInput {
  std::vector<double> times_s;  ///< in their order
  double watched_s = 0;
  std::vector<core::DetourWindow> windows = {};
  /// How little an event is like the others of the train, in standard deviations; empty: all are alike.
  std::vector<double> unlikeness = {};
  /// With durations an event that begins too early and lasts beyond the expected time is one, too: it began in another.
  std::vector<double> durations_s = {};
};

/// A frequency at which events come regularly.
struct FrequencyPeak {
  double frequency_hz = 0;
  double power = 0;  ///< sum over the cores of |sum w exp(2 pi i f t)|^2 / sum w^2: of Poisson events 1 for each core
};

/// Peaks of the periodogram of events (Bartlett 1963): the 12 highest, and the 12 of the lowest frequencies that are
/// significant, since the lowest one of a periodic source is no harmonic. Powers of the cores are added, their phases
/// may differ. Frequencies from 3 per span up to 1.25 times the mean rate of events while a core was watched: no source
/// has more events than that. Hann's window keeps side lobes low. With very many events only as long a part is looked
/// at as 2^20 bins of a quarter of the least period hold.
/// @param cores  times in [0, span_s), each core's from a beginning of its own
std::vector<FrequencyPeak> find_peaks(const std::vector<TrainInput>& cores, double span_s);

/// A train must have been watched for as many of its periods.
inline constexpr std::size_t least_periods = 5;

/// An event of a core that belongs to the period `number` of a train.
struct TrainEvent {
  long number = 0;
  std::size_t event = 0;  ///< index in the list it was matched from
  double start_s = 0;     ///< of one that began in another: the expected time
};

/// The part of a train on one core.
struct CoreTrain {
  double center_s = 0;             ///< expected time of the event of number 0, in [0, period)
  double occupancy = 0;            ///< share of the periods with an event, without those that would be there by chance
  double log_chance = 0;           ///< logarithm of the probability that so many events are so near by chance, at most
  std::vector<TrainEvent> events;  ///< at most one per number, in their order
};

/// Events at center + number * period.
struct EventTrain {
  double period_s = 0;
  double period_error_s = 0;  ///< standard error
  double half_width_s = 0;    ///< of the part of the period in which its events are
  std::vector<CoreTrain> cores;
  long matched() const;
};

/// The train of about this period: times are folded, the part of the period that holds most of them is found on every
/// core, and times are regressed on their numbers with a common period and a center for each core; then again with
/// narrower parts, as long as they hold as many. An empty train if there is none: fewer than half of the cores have an
/// event in at least 60 % of the periods, beyond what chance would give; that may be chance; fewer than 5 periods.
/// @param own_instants  share of the events that no other core has at the same instant: what hits all cores at once is
///                      seen as often, and is no less by chance
EventTrain find_train(const std::vector<TrainInput>& cores, double about_period_s, double own_instants);

/// The same train in other lists of times: of each period the event that is nearest to the expected time and most like
/// the others, if it is not farther away than uniform jitter explains: 2 median deviations, 3.5 as they are uncertain.
EventTrain match_train(const EventTrain& train, const std::vector<TrainInput>& cores);

/// The law of a source of which `missing` periods have no detour: there its detour takes 0 s. Quantiles, with the mean
/// over all periods.
core::DetourDuration fit_thinned_duration(std::vector<double> durations_s, std::size_t missing);

/// Cores that a periodic source hits at the same instant, its jitter and its phase.
struct TrainKeys {
  core::DetoursPer per = core::DetoursPer::core;
  double jitter_s = 0;
  std::optional<double> phase_s;  ///< if it is the same everywhere, after the trace's epoch
};

/// @param hosts         of each core of the train
/// @param resolution_s  uniform errors of the times of events, which are no jitter
TrainKeys keys_of(const EventTrain& train, const std::vector<std::string>& hosts, double resolution_s,
                  const DetourFitOptions& options);

/// The source at random times of so many events, which took `lost_s` of `watched_s`. `values`: the rest of it.
FoundDetours poisson_source(core::DetourSource::Values values, double events, double watched_s, double lost_s);

/// Poisson sources of the rest: events that hit all cores of a host at once, or all hosts, if they are more than chance
/// would give, are sources per host or per cluster; the others one per core, and one more for each core number that has
/// far more than most.
/// @param cores  with the events that no periodic source has
/// @param name   that theirs begin with
std::vector<FoundDetours> fit_rest(std::vector<core::CoreDetours> cores, const DetourFitOptions& options,
                                   const std::string& name = "rest");

/// The rest of two traces of the same cores, watched in turns.
struct RestOfTurns {
  std::vector<core::CoreDetours> common;  ///< of both: half decades of durations that take as much of both
  std::vector<core::CoreDetours> own;     ///< of the first: the others
  double change = 0;                      ///< of the share of the first's time that is lost: its common ones as in both
};

/// @param trace, beside  with the events that no periodic source has
/// @throws ParseError if a core was watched in both at the same time, or in the second only.
RestOfTurns rest_of_turns(core::DetourTrace trace, core::DetourTrace beside);

}  // namespace hplcast::fit
