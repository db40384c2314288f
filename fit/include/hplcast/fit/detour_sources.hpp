#pragma once

#include <string>
#include <vector>

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/detours.hpp"

namespace hplcast::fit {

struct DetourFitOptions {
  double clock_error_s = 1e-4;  ///< between hosts: events nearer than this may be the same
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
};

/// The sources, those that take most time first.
struct DetourFit {
  bool ok = false;
  std::string reason;  ///< if not ok
  std::vector<FoundDetours> sources;
  double lost_share = 0;       ///< of the time watched, measured
  double explained_share = 0;  ///< what the sources take together
  double watched_s = 0;        ///< of all cores
  std::vector<std::string> notes;
};

/// Finds the sources of measured detours. Periodic ones, one after the other: in all events, and in those of a decade
/// of durations, frequencies are taken from the periodogram of events; times are folded and regressed (the shortest
/// period of which nearly all have an event is the period; jitter is the range of what is left); events whose duration
/// does not fit are given back. All others are of Poisson sources. Sources are per host if the cores of a host are
/// hit together, period by period, not only with the same phase by chance; per cluster, if all hosts are.
/// Periods have at least five occurrences; a source must be on half of the cores, else it is part of the Poisson rest.
/// Sums (rtla) give one Poisson source. Not ok: no detour at all, or more than the time of a core.
DetourFit fit_detours(const core::DetourTrace& trace, const DetourFitOptions& options = {});

}  // namespace hplcast::fit
