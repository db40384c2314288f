#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hplcast/core/doubts.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/campaign.hpp"

/// Steps of fit_campaign(): the controls, doubts about models, measured rows beside what models expect of them.
namespace hplcast::fit {

/// The speed of each host over a campaign, from its controls (docs/models/control.md). Pieces are what was measured
/// between two controls.
class ControlCurve {
 public:
  ControlCurve() = default;  ///< no controls: nothing is disturbed or slower
  /// `csv`: control.csv; empty: no controls. @throws core::ParseError
  ControlCurve(const std::string& csv, const std::string& name);

  /// Whether the controls around this moment (slowest rank of the host, mean of both) are above 1.1 times the median.
  bool is_disturbed(const std::string& host, double start_s) const;
  /// Duration of a kernel at this moment over that at the median of all controls: the interpolated change of the
  /// median rank of the host, to the power of the share of its variance that is not the control's own scatter.
  double slowdown(const std::string& host, double start_s) const;
  /// The model rests on so many seconds of kernels at this moment, taken to the median by slowdown().
  void count(const std::string& host, double start_s, double duration_s);
  /// Keeps the kernels of which more than half of the rows of a CSV are disturbed ("" for rows without a kernel): too
  /// few would be left. @throws core::ParseError
  const std::set<std::string>& keep_mostly_disturbed(const std::string& csv, const std::string& name);
  /// Whether a row of that CSV is disturbed, and not of a kernel that was kept.
  bool sets_aside(const std::string& name, const std::string& kernel, const std::string& host, double start_s) const;

  bool is_empty() const noexcept { return pieces() == 0; }
  /// `control` in the provenance: a JSON object. Its time is that of the speed that the counted kernels were taken to;
  /// without any the median.
  std::string provenance_json() const;
  std::string note() const;  ///< the same for people

 private:
  struct Host {
    std::vector<double> ratios, slowest;  ///< per control: median and slowest rank, each over its own median
    double usual = 1;                     ///< slowest rank of a piece, median
    double coefficient = 0;
  };
  struct Counted {
    core::Control control;
    std::size_t set_aside = 0;
    double coefficient = 0;  ///< mean over the hosts
  };

  std::size_t pieces() const noexcept { return times_s_.size() < 2 ? 0 : times_s_.size() - 1; }
  std::size_t piece_at(double start_s) const;
  /// Between two controls: `values` of each, interpolated.
  double at(double start_s, const std::vector<double>& values) const;
  bool is_disturbed(const Host& host, std::size_t piece) const;
  static double slowest(const Host& host, std::size_t piece) {
    return (host.slowest[piece] + host.slowest[piece + 1]) / 2;
  }
  const Host* host(const std::string& name) const;
  Counted counted() const;

  std::vector<core::ControlRows> controls_;
  std::vector<double> times_s_;  ///< when each control began
  std::vector<double> walls_s_;  ///< of its slowest rank
  std::map<std::string, Host> hosts_;
  std::map<std::string, std::set<std::string>> kept_;  ///< kernels by CSV
  double counted_s_ = 0, log_wall_s_ = 0;  ///< of kernels; sum of their s times the logarithm of the control
};

/// One measured call, as a share of the duration that its model expects.
struct RelativeCall {
  double start_s = 0;
  double ratio = 1;
};

/// Doubts about a model, from calls that were made in random order (else the sizes are mistaken for the time):
///   too_few_repetitions: fewer than 30 calls: neither mean nor noise are certain;
///   drift: the last third of the time is slower or faster than the first by more than 3 percent (medians), and not by
///     chance (Mann and Whitney, p < 0.001);
///   several_modes: a mixture of normal laws on the logarithms finds two modes of at least 10 percent of the calls,
///     more than 10 percent and two standard deviations of both apart.
/// @throws core::DomainError for ratios that are not positive and finite.
std::vector<core::QualityFlag> quality_flags(const std::string& subject, std::vector<RelativeCall> calls);

/// By how much the last third of the calls took longer than the first (medians, relative); 0 where there is no flag
/// `drift`, or few calls.
double relative_drift(std::vector<RelativeCall> calls);

/// Calls of dgemm on one rank of each host while the others slept, and while they computed (none in old archives).
struct PairedCalls {
  std::vector<core::KernelMeasurement> alone, beside;
};

/// True for a call in a run that had fewer ranks on that host than the campaign has there: cores are faster then.
bool is_of_fewer_ranks(const std::vector<MeasuredHost>& hosts, const core::KernelMeasurement& row);

/// The same model with a range that has these calls of fewer ranks, too, with which it is compared (alone_json()).
core::KernelModel widened(const core::KernelModel& model, const KernelTable& fewer_ranks);

/// `alone` of the provenance: what calls take on one rank of a host over what they take with all of them, for
/// predictions of fewer ranks per host (docs/models/kernel-models.md#fewer-ranks-per-host). A JSON object; null where
/// dgemm was not measured so.
std::string alone_json(const Campaign& campaign, const PairedCalls& dgemm, const ControlCurve& control,
                       const core::ClusterModel& cluster, std::vector<std::string>& notes);

/// True for a call of HPL on a matrix whose columns are a multiple of 4096 bytes apart.
bool is_aliased(const core::KernelMeasurement& row);

/// Measured durations, and those that they are compared with, in pairs that share the state of the machine.
using PairedTimes = std::vector<std::pair<double, double>>;
/// A ratio of sums, so that long calls count as in HPL.
core::EstimatedRatio ratio_of(const PairedTimes& times);
inline constexpr std::size_t fewest_pairs = 4;

/// `aliased` of the cluster: calls of aliased runs beside those of other runs before and after them on the same core.
/// Ratios below 1 or within a standard error of it are left out: fewer sets of a cache make nothing faster.
std::vector<core::AliasedColumns> aliased_columns(const Campaign& campaign, const ControlCurve& control,
                                                  const core::ClusterModel& cluster, std::vector<std::string>& notes);

/// Calls of which neither mean nor noise are certain.
inline constexpr std::size_t few_calls = 30;

/// Calls in less time share the state of the machine: its speed changes within seconds to minutes.
inline constexpr double least_block_s = 2;

/// True for rows of messages, false for those of kernels.
bool is_mpi(const std::string& name, const std::string& text);
/// All rows of kernels, each with the name of its file.
void for_kernel_rows(const Campaign& campaign,
                     const std::function<void(const std::string&, const core::KernelMeasurement&)>& each);
/// Index of a host in the campaign; its size if it is none of them.
std::size_t index_of(const std::vector<MeasuredHost>& hosts, const std::string& name);

/// Expected duration of a call on its host and CPU.
double expected_s(const core::ClusterModel& cluster, const std::vector<MeasuredHost>& hosts,
                  const core::KernelMeasurement& row);
/// Expected duration of a message; 0 for operations whose model is one number.
double expected_s(const core::NetworkModel& network, const core::MpiMeasurement& row);

/// How well each group of durations is known, of the models of `fit`, from resampled blocks of the campaign's rows:
/// those of designs that count, and all messages; calls of HPL are read again. Groups that cannot be told are left out.
void add_group_errors(const Campaign& campaign, const std::vector<core::KernelMeasurement>& designed,
                      const std::vector<core::MpiMeasurement>& messages, const ControlCurve& control, CampaignFit& fit);

}  // namespace hplcast::fit
