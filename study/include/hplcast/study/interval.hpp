#pragma once

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/compare.hpp"
#include "hplcast/study/predict.hpp"

/// How far one run on the real machine may be from its prediction (docs/models/interval.md).
namespace hplcast::study {

/// d ln(time of the run) / d ln(durations of a group), in the order of core::ErrorGroup. Those of dgemm, of the other
/// kernels and of messages add up to 1, because a run takes twice as long if everything does; that of the scatter of
/// dgemm comes on top, and is an upper bound.
using Elasticities = std::array<double, core::error_groups.size()>;

/// Without a simulation: messages by closed_form_s() on the same cluster, kernels by their share of the prediction.
Elasticities closed_form_elasticities(const core::ClusterModel& cluster, const core::Prediction& prediction);
/// The same by closed_form_s() alone, where nothing was simulated. `dgemm`: its share of the time.
Elasticities closed_form_elasticities(const core::ClusterModel& cluster, const core::HplParameters& parameters,
                                      double dgemm);
/// The largest difference of an elasticity of the closed form from simulations of seven cases, relative
/// (docs/models/interval.md).
inline constexpr double elasticity_error_of_form = 0.2;
/// By two more simulations with the same random numbers as `prediction`, which is that of `plan`: slower dgemm, dearer
/// messages. @throws as predict()
Elasticities simulated_elasticities(const RunPlan& plan, const core::Prediction& prediction);

/// Shares of kernels in the time of the ranks of a prediction.
struct KernelShares {
  double dgemm = 0, other_kernels = 0;
};
KernelShares kernel_shares(const core::Prediction& prediction);
/// The elasticity of dgemm: that of the prediction's interval, else its share.
double dgemm_elasticity(const core::Prediction& prediction);
/// The same of all kernels together.
double kernels_elasticity(const core::Prediction& prediction);

/// Standard deviation within groups of values (logarithms of repeated runs), from the median difference of two values
/// of a group: a few interrupted runs do not move it. nu: the degrees of freedom with which a sample standard deviation
/// of normal values would be as well known; where that is less than 2, it is that. Nothing with fewer than three pairs.
std::optional<core::EstimatedSd> pooled_sd(const std::vector<std::vector<double>>& groups);

/// A run of the real HPL beside its prediction: a row of a ledger (docs/formats/ledger-csv.md).
struct LedgerRow {
  std::string date;  ///< of the runs: equal dates are one occasion
  std::string cluster, model_sha256;
  std::string kind;  ///< kind_of() the prediction
  core::HplParameters parameters;
  double real_gflops = 0, predicted_gflops = 0;
  std::optional<double> low_gflops, high_gflops;  ///< of the interval, if it had one
  double level_percent = 0;                       ///< of the interval
};

/// "plain", or the model levels that were switched off: comparisons of other kinds tell nothing of this one.
std::string kind_of(const core::Prediction& prediction);

/// @throws core::ParseError for other columns or units, and for rates that no run has.
std::vector<LedgerRow> read_ledger(std::istream& in, const std::string& name);
/// A header, and a line for each.
void write_ledger(std::ostream& out, const std::vector<LedgerRow>& rows);
/// A row for each real run of a comparison, but not for those that read_ledger() would refuse. `predicted`: what was
/// compared.
std::vector<LedgerRow> ledger_rows(const Comparison& comparison, const std::vector<core::Prediction>& predicted,
                                   const std::string& date);
/// Appends rows, of one date, that the ledger does not have yet: the same runs again change nothing. Returns how many.
std::size_t append(std::vector<LedgerRow>& ledger, const std::vector<LedgerRow>& rows);

/// Errors of earlier comparisons of one cluster and kind.
struct PastErrors {
  std::size_t configurations = 0, occasions = 0, repeated_runs = 0;
  bool has_model_errors = false;  ///< all of the same cluster.json as the prediction, or of three and more others
  double bias = 0;                ///< centre of ln(real time / predicted time)
  std::optional<core::EstimatedSd> machine;      ///< of the occasions around it; needs three that can be told apart
  std::optional<core::EstimatedSd> discrepancy;  ///< of the configurations (of an occasion); needs three of them
  std::optional<core::EstimatedSd> run;          ///< of repeated runs; needs three pairs of them
};
PastErrors past_errors(const std::vector<LedgerRow>& ledger, const core::Prediction& prediction);

/// All that an interval needs besides the prediction.
struct IntervalBasis {
  Elasticities elasticities{};
  std::string method;                  ///< of the elasticities: for PredictiveInterval
  double elasticity_error = 0;         ///< standard deviation of each of them, relative
  PastErrors past;                     ///< of a ledger; empty without one
  std::vector<double> seeds_time_s;    ///< predictions of this configuration, one per seed
  std::optional<double> assumed = {};  ///< assumed_spread(), in place of groups; empty of measured clusters
};

/// @throws core::DomainError for a level not in (0, 100).
core::PredictiveInterval predictive_interval(const core::Prediction& prediction, const core::ClusterModel& cluster,
                                             const IntervalBasis& basis, double level_percent);
/// The same of any terms. Bounds: bias -+ quantile of Student's t for the summed variance, with Satterthwaite's degrees
/// of freedom.
core::PredictiveInterval interval_of_terms(const core::Prediction& prediction, std::vector<core::ErrorTerm> terms,
                                           double bias, double level_percent);

/// Without a simulation and a ledger, of this prediction alone.
IntervalBasis closed_form_basis(const core::ClusterModel& cluster, const core::Prediction& prediction);

/// How all predictions of a command get their intervals.
struct IntervalRequest {
  double level_percent = 90;
  bool simulated_elasticities = false;  ///< or in closed form
  std::vector<LedgerRow> ledger;
  bool random_days = false;  ///< each seed has a day of its own: three and more seeds show how days differ
};

/// Gives each prediction its interval; those of one configuration share the elasticities of the first. Nothing else of
/// a prediction changes. `plans`: of the predictions, in their order. @throws as predictive_interval() and predict()
void add_intervals(const std::vector<RunPlan>& plans, const IntervalRequest& request,
                   std::vector<core::Prediction>& predictions);

/// Probability that one configuration is faster than another, each in the mean of many runs on the real machine. What
/// all predictions of one machine have in common is not in it (docs/models/interval.md#which-is-faster). `a`, `b`:
/// predictions of each, one per seed. @throws core::DomainError without intervals.
double probability_faster(const std::vector<core::Prediction>& a, const std::vector<core::Prediction>& b);

}  // namespace hplcast::study
