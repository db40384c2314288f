#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/comparison.hpp"

namespace hplcast::study {

/// Energy and power of one configuration, on one side: medians.
struct EnergyMedians {
  std::size_t runs = 0;
  double energy_j = 0;
  double mean_power_w = 0;
  double gflops_per_w = 0;
};

/// Energy of a configuration, both measured and predicted.
struct ComparedEnergy {
  EnergyMedians real, predicted;
  double energy_error = 0;  ///< (predicted - real) / real; a ratio
  double power_error = 0;
};

/// How the error of a configuration came about (docs/models/control.md). Ratios: machine + model + scatter = error.
struct ErrorParts {
  double calibration_s = 0;  ///< control of the campaign
  double run_s = 0;          ///< control of the real runs, median
  std::optional<double>
      kernels;                 ///< in the real runs they took longer (above 0) than predicted, median; if all tell it
  double machine = 0;          ///< the machine was slower (above 0) or faster at the runs than at the calibration
  double scatter = 0;          ///< as much of the rest as chance may explain; 0 if that is not known
  double model = 0;            ///< the remainder
  double corrected_error = 0;  ///< scatter + model: the error without the change of the machine
};

/// One configuration that was run and predicted. Several predictions (other seeds) count by their median.
struct ComparedMedians {
  double real_median = 0;
  double real_spread = 0;  ///< (largest - smallest) / median of the real runs
  double predicted_median = 0;
  double error = 0;  ///< (predicted - real) / real, of the medians; a ratio
};

/// The predictive interval of a configuration (medians over its seeds), and the real runs inside.
struct ComparedInterval {
  double level_percent = 0, low_gflops = 0, high_gflops = 0;
  std::size_t runs_inside = 0;
};

/// One configuration of HPL; medians in Gflop/s.
struct ComparedConfiguration : ComparedMedians {
  core::HplParameters parameters;
  std::vector<double> real_gflops;       ///< ascending, not empty
  std::vector<double> predicted_gflops;  ///< ascending, not empty
  /// The largest 95 percent error of its sampled predictions, relative to their time; absent if none is sampled.
  std::optional<double> sampling_error_95;
  /// 95 percent confidence interval of predicted / real - 1, from the scatter of both over all configurations
  /// (pooled_sd(); of medians) or, if they know more, of these values (of geometric means), and the sampling error of a
  /// single prediction; absent if neither knows the scatter of real runs.
  std::optional<fit::Bounds> error_interval;
  std::optional<ComparedEnergy> energy;  ///< if it was measured and predicted
  std::optional<ComparedInterval> interval;
  std::optional<ErrorParts> parts;  ///< if the campaign and all its real runs have a control
};

/// Signs of how fast the machine was in a real run, ln of times: above 0 it was slower than when it was calibrated.
struct RunSpeed {
  double control = 0;             ///< mean of the controls before and after the run over that of the calibration
  double control_half = 0;        ///< half of the difference of the two
  std::optional<double> kernels;  ///< all kernels in the run itself, over their predicted time
};

/// How much slower the machine was in each run than when it was calibrated, ln, and the share of the mean square of the
/// controls that counts; nothing where kernels in the runs tell of each moment (docs/models/control.md).
struct MachineChanges {
  std::vector<std::vector<double>> of_runs;  ///< by configuration, in the order of `speeds`
  std::optional<double> coefficient;
};
/// `speeds`: of the runs of each configuration. `calibration_variance`: of ln of the calibration's control.
MachineChanges machine_changes(const std::vector<std::vector<RunSpeed>>& speeds, double calibration_variance);

/// Errors over all configurations; ratios. With n = 0 all are 0.
struct ComparisonSummary {
  std::size_t n = 0;
  double mean_abs_error = 0;
  double median_abs_error = 0;
  double max_abs_error = 0;
  double bias = 0;                         ///< mean of the signed errors
  std::optional<double> rank_correlation;  ///< Spearman, of real and predicted; absent for n < 2 or constant values
};

/// Neither side is empty.
ComparedMedians compare_medians(const std::vector<double>& real, const std::vector<double>& predicted);
ComparisonSummary summarize(const std::vector<ComparedMedians>& rows);

/// Is the configuration that is predicted to be the best one of the best real ones? Among those of the same N only: the
/// largest N that has two configurations or more.
struct BestPredicted {
  core::HplParameters parameters;
  std::size_t configurations = 0;  ///< compared with each other
  std::size_t real_rank = 1;       ///< of its real median, 1 is the best
  double loss = 0;                 ///< (best real median - its own) / best; a ratio
  bool among_best = false;         ///< it is the best, or its real runs reach the slowest run of the best
};

/// The control of the campaign and of the real runs, over all configurations.
struct ComparedControl {
  std::string shape;
  std::optional<double> coefficient;     ///< share of the change of the control that is the machine's, 0 to 1
  double median_slowdown = 0;            ///< controls of the runs over that of the campaign, minus 1
  std::optional<double> median_kernels;  ///< kernels in the runs over the predicted, minus 1
  std::optional<double> median_machine;  ///< what of it is the machine's, in place of the coefficient
  double median_corrected_error = 0;     ///< median of |corrected_error|
  double max_corrected_error = 0;
};

struct Comparison {
  std::vector<ComparedConfiguration> rows;  ///< in the order of HplParameters
  ComparisonSummary summary;
  std::optional<BestPredicted> best;
  std::optional<ComparedControl> control;  ///< nothing: why_no_control says why
  std::string why_no_control;
  std::vector<std::string> disturbances;                 ///< disturbances_of(); empty: valid
  std::vector<core::HplParameters> unmatched_real;       ///< run, but not predicted
  std::vector<core::HplParameters> unmatched_predicted;  ///< predicted, but not run
  std::size_t failed_residuals = 0;  ///< real runs left out: HPL itself says that their result is wrong
};

/// Signs that the machine was disturbed while the real runs were made, for people: median spread of repeated runs,
/// change of the control during runs or since the calibration, or its wall time over its processor time, by more than
/// 10 %.
std::vector<std::string> disturbances_of(const std::vector<core::HplRun>& real,
                                         const std::vector<ComparedConfiguration>& rows);

/// "Not valid: ...", with the next step; empty without disturbances.
std::string validity_text(const Comparison& comparison);

/// Real runs of all configurations with an interval, and those inside it. Nothing is counted for several levels.
struct IntervalCount {
  double level_percent = 0;
  std::size_t runs = 0, inside = 0;
  double share() const { return static_cast<double>(inside) / static_cast<double>(runs); }
};
IntervalCount count_inside(const Comparison& comparison);

using Warn = std::function<void(const std::string& text)>;

/// Real runs of an output of HPL, or of a CSV; told in `warn`: parameters that it does not say. @throws
/// core::ParseError
std::vector<core::HplRun> runs_of_file(std::istream& in, const std::string& name, const Warn& warn);

/// The same of all outputs of HPL in an archive or a folder: texts by path. What else is in there does not matter.
/// @throws core::ParseError if there is none.
std::vector<core::HplRun> runs_of_files(const std::map<std::string, std::string>& files, const std::string& path,
                                        const Warn& warn);

/// Predictions of `predict` and databases of `sweep`; told in `warn`: that they are of several models.
/// @throws core::Error for other files, and if a configuration is predicted with several models: their predictions
/// would be taken for several seeds of one.
std::vector<core::Prediction> read_compared_predictions(const std::vector<std::string>& paths, const Warn& warn);

/// Rates that contradict N and time, also of predictions, and real rates beyond 5 times or a fifth of the predicted.
/// For people, with the mistake that they look like; the first of many that are alike.
std::vector<std::string> implausible_runs(const std::vector<core::HplRun>& real,
                                          const std::vector<core::Prediction>& predicted, const Comparison& comparison);

/// For people: a configuration that was run with another number of threads per rank than predicted, and one with
/// another BLAS, where both say which it is.
std::vector<std::string> differing_software(const std::vector<core::HplRun>& real,
                                            const std::vector<core::Prediction>& predicted);

/// Matches real and predicted runs that agree in all HPL parameters (the threshold of SWAP counts where SWAP is mix).
/// @throws core::DomainError if a rate is not positive, core::InputError for controls of several shapes.
Comparison compare(const std::vector<core::HplRun>& real, const std::vector<core::Prediction>& predicted);

/// The parameters that keep a configuration from matching any of `others`: those in which it differs from the nearest,
/// such as "SWAP is 2, not 1"; empty if there are no others.
std::string nearest_difference(const core::HplParameters& parameters, const std::vector<core::HplParameters>& others);

/// The cluster models of predictions, as "name (first digits of the SHA-256)", in the order in which they come first.
std::vector<std::string> models_of(const std::vector<core::Prediction>& predictions);

/// A configuration that was predicted with several models, whose predictions have no median that means anything.
std::optional<core::HplParameters> mixed_models(const std::vector<core::Prediction>& predictions);

/// The content of `compare --json` (docs/formats/compare-json.md).
void write_comparison(std::ostream& out, const Comparison& comparison);

using core::median;

/// Spearman's rank correlation; equal values share their mean rank. Nothing if one side is constant or n < 2.
std::optional<double> rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// Output of a program, in a real run or a simulated one.
struct ProgramOutput {
  std::string source;  ///< file, for messages
  std::string text;
  std::optional<double> time_s;  ///< of the whole run, where it is known
  /// The command, where it is known (archives of `observe`, JSON of `run`): name of the program, its arguments with
  /// blanks between them, ranks; else empty and 0.
  std::string program = {}, arguments = {};
  int ranks = 0;
  std::optional<core::Control> control = {};  ///< before and after a real run, if it was measured
};

/// Where times and configurations stand in outputs (docs/use/any-program.md). Patterns are regular expressions
/// (ECMAScript), which match inside of a line.
struct OutputPatterns {
  std::string time_from;   ///< with one group, the seconds; empty: ProgramOutput::time_s
  std::string match_from;  ///< outputs with the same groups are of one configuration; empty: all are
};

/// The number of the one match. @throws core::ParseError if there is none, there are several, or it is no number above
/// 0; core::UsageError for a pattern that is none, or has not one group.
double time_in(const ProgramOutput& output, const OutputPatterns& patterns);

/// One configuration of a program other than HPL; medians in s.
struct ComparedProgram : ComparedMedians {
  std::string configuration;
  std::vector<double> real_s, predicted_s;
};

struct ProgramComparison {
  std::vector<ComparedProgram> rows;  ///< by configuration
  ComparisonSummary summary;
  std::vector<std::string> unmatched_real, unmatched_predicted;  ///< configurations
  std::vector<std::string> warnings;                             ///< of arguments that differ in one configuration
  std::vector<std::string> disturbances;                         ///< disturbances_of(); empty: valid
};

/// As for HPL, but for the change since the calibration. Without rows: signs in the controls alone.
std::vector<std::string> disturbances_of(const std::vector<ProgramOutput>& real,
                                         const std::vector<ComparedProgram>& rows);
std::string validity_text(const ProgramComparison& comparison);

/// @throws as time_in(), likewise for groups of match_from; core::Error if no configuration is both run and predicted,
/// or if one has runs of several programs or on several numbers of ranks.
ProgramComparison compare_programs(const std::vector<ProgramOutput>& real, const std::vector<ProgramOutput>& predicted,
                                   const OutputPatterns& patterns);

/// Reads the JSON of write_program_run(). @throws core::ParseError
ProgramOutput read_program_output(std::istream& in, const std::string& name);

/// Whether a text is what write_program_run() wrote: a prediction, not the output of a real run.
bool is_program_run(const std::string& text);

/// As JSON, `hplcast compare --time-from ... --json`.
void write_program_comparison(std::ostream& out, const ProgramComparison& comparison);

}  // namespace hplcast::study
