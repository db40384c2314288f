#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/run_series.hpp"

namespace hplcast::fit {

/// The runs of one CPU, for comparing it with the others. Vectors of one length.
struct DatedValues {
  std::vector<std::int64_t> day;  ///< any number that is the same for runs of the same day
  std::vector<double> value;      ///< > 0
  bool goes_on = false;           ///< of the CPU before, with another level: both count once on a day
};

/// The common factor of all CPUs on a day: the median over the CPUs of (value / level of that CPU), of several runs on
/// that day their median. The level of a CPU is the median of its values over these factors. A change of all CPUs moves
/// the factor, a change of a few does not, nor does it matter who takes part on which days.
struct CommonFactor {
  std::map<std::int64_t, double> of_day;
  std::map<std::int64_t, std::size_t> cpus_of_day;  ///< how many CPUs it is the median of
  std::vector<std::vector<double>> ratios;          ///< per CPU and run: value / common factor of the day
};

/// @throws core::DomainError for lengths that differ, or values that are not finite and positive.
CommonFactor common_factor(const std::vector<DatedValues>& cpus);

/// One factor of one CPU over all campaigns, in the order of time. Vectors of one length.
struct CpuHistory {
  std::vector<std::int64_t> time_s;  ///< Unix time
  std::vector<double> value;         ///< finite
  std::vector<bool> outlier;         ///< logged as one
  /// Changes before the run that begin a new reference: of the CPU alone; of its ratio to the others, which a change of
  /// all of them does not move; of what all have in common, which a change of a few does not move.
  std::vector<std::size_t> own_epoch;
  std::vector<std::size_t> ratio_epoch;
  std::vector<std::size_t> common_epoch;
  /// Days since 1970 that the runs count for, empty: those of time_s. Hosts measured in turn share one beyond midnight.
  std::vector<std::int64_t> day = {};
};

/// The same factor of all CPUs of a cluster.
struct FactorHistory {
  std::vector<CpuHistory> cpus;
};

/// The ratios of a CPU to what all have in common, of the days that have enough CPUs to say that.
struct RatioRuns {
  RunSeries runs;
  std::vector<std::size_t> places;  ///< of the runs in the history of the CPU
};

struct Ratios {
  CommonFactor common;
  std::vector<RatioRuns> cpus;
};

/// A CPU has one level for each of its ratio_epochs. Nothing if there are fewer CPUs, or a value is not positive, as
/// coefficients of models may be.
std::optional<Ratios> ratios_of(const FactorHistory& history, std::size_t least_cpus);

/// The reference that a CPU is compared with.
enum class Against {
  own,     ///< its own earlier runs
  cluster  ///< the same, after division by what all CPUs had in common that day
};

struct FindingOptions {
  double confidence = 0.9999;
  std::vector<std::size_t> windows = {1, 5};  ///< medians of as many latest runs are tested
  bool own = true;
  bool cluster = true;
  double least_effect = 0.01;                ///< as a ratio
  std::size_t least_runs = 10;               ///< earlier runs that a test needs
  double least_sd = 1e-4;                    ///< as a share of the mean
  std::size_t repeated = 2;                  ///< runs in a row that confirm a single one
  std::size_t least_cpus = 3;                ///< of a day that have a common factor
  Correction correction = Correction::holm;  ///< over the tests of a day
};

/// A deviation that is significant, large enough, and confirmed.
struct Finding {
  static constexpr std::size_t all_cpus = static_cast<std::size_t>(-1);
  std::size_t factor = 0;  ///< index in the argument of find_changes()
  std::size_t cpu = 0;     ///< index, or all_cpus: what the CPUs have in common changed
  Against against = Against::own;
  std::int64_t since_s = 0;  ///< first run of it
  std::int64_t last_s = 0;   ///< last run of it
  bool open = false;         ///< the newest run still shows it
  std::size_t runs = 0;      ///< flagged ones
  std::size_t reference_runs = 0;
  double expected = 0;        ///< of a ratio: 1 is what the others do
  double observed = 0;        ///< mean of the runs from the first to the last
  double effect = 0;          ///< observed / expected - 1
  double effect_error = 0;    ///< half a 95 % interval of it
  double probability = 0;     ///< least one of its tests, corrected for all tests of the day
  std::size_t also_cpus = 0;  ///< of a finding about all CPUs: CPUs whose own findings it explains
};

/// How much could be tested at all.
struct FindingCounts {
  std::size_t tests = 0;                          ///< of all runs, windows, kinds of comparison
  std::size_t newest_untested = 0;                ///< CPUs and factors whose newest run has too few earlier ones
  std::size_t missing_runs = 0;                   ///< of the one among them that lacks most
  std::vector<std::size_t> tests_of_window = {};  ///< in the order of the options
};

struct Findings {
  std::vector<Finding> all;  ///< ordered by factor, CPU and time
  FindingCounts counts;
};

/// Looks at every run as if it had just come: a run, or the median of a window, is flagged by RunTests. What is flagged
/// and kept out of references, or significant among all tests of its day, marks a deviation; marks on one side are one,
/// unless three runs or more between them are a hundred times as likely without it. It is told if it is as large as
/// least_effect, confirmed (`repeated` runs in a row alone, or a window of which four fifths of the runs show it), and
/// significant among all tests of its day. One of a CPU alone that the common factor explains is counted there.
/// A factor that is not positive everywhere has no ratio and is compared with own runs only. A deviation from 0 has no
/// effect as a ratio, and is not told.
/// @throws core::DomainError for options or values outside their domain.
Findings find_changes(const std::vector<FactorHistory>& factors, const FindingOptions& options);

}  // namespace hplcast::fit
