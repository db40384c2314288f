#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/generative.hpp"
#include "hplcast/study/history.hpp"

/// From the campaigns of a history to models (docs/use/history.md#models-of-a-history).
namespace hplcast::study {

/// Which runs of a history count. Runs that are logged as outliers never do.
struct HistorySpan {
  std::string cluster;                         ///< as the history names it
  std::optional<std::int64_t> begin_s, end_s;  ///< Unix times, both included; nothing: from the first, to the last
};

/// The coefficients of dgemm of every CPU in every run of the span, in the order of `parameters`: what
/// fit::fit_generative() takes. A coefficient that a run does not have is 0 (its term was not significant); a run
/// without mnk is left out. Days (UTC) are those on which campaigns began, of runs within half a day.
std::vector<fit::DailyRegression> daily_regressions(const HistoryDatabase& database, const HistorySpan& span,
                                                    const std::vector<core::LawParameter>& parameters);

/// How far the days of all CPUs together lie apart.
struct DayToDay {
  long days = 0;
  double sd = 0;  ///< of ln(speed of dgemm): of the median, over the CPUs of a day, of speed over mean speed of the CPU
};
DayToDay day_to_day(const HistoryDatabase& database, const HistorySpan& span);

/// A model of a cluster at a time.
struct HistoryCluster {
  core::ClusterModel cluster;
  std::size_t cpus = 0, runs = 0;  ///< of dgemm
  DayToDay days;
};

/// `base` with the hosts of the span and a law of dgemm for each of their CPUs: the mean of its coefficients over the
/// runs of the span, which is the law of the mean duration. The law of the cluster is the mean of the CPUs. Network,
/// other kernels and what a host is like are those of `base`; its laws of single CPUs are left out if its hosts are
/// others. How days differ is that of all runs up to the end of the span, since the last logged change of all hosts.
/// @throws core::InputError for a span without runs, or with CPUs that `base` lacks, or hosts, if it has groups or
/// watts of them.
HistoryCluster cluster_of_history(const HistoryDatabase& database, const HistorySpan& span,
                                  const core::ClusterModel& base);

/// The machine on a day drawn at random: dgemm of all CPUs faster or slower by what days differ in common
/// (uncertainty.between_days). Another seed is another day. @throws core::InputError for a model that does
/// not know it.
core::ClusterModel on_random_day(core::ClusterModel cluster, std::uint64_t seed);

}  // namespace hplcast::study
