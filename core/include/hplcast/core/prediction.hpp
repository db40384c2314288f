#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

/// The energy of a run of HPL, and what meters would read of it (docs/models/energy.md). All of it at the wall.
namespace hplcast::core {

/// Time and energy of the cores in one core::CoreState.
struct StateEnergy {
  std::string name;
  double time_s = 0;    ///< mean over the ranks
  double energy_j = 0;  ///< that all cores added
};

/// Power over time, in bins.
struct PowerTrace {
  double bin_s = 1;
  double time_s = 0;           ///< of all bins: the last one may be shorter than the others
  std::vector<double> bins_j;  ///< energy of each
  struct Host {
    std::string name;
    std::vector<double> bins_j;
  };
  std::vector<Host> hosts;  ///< if asked for: of each host; the rest is that of the network

  /// Length of bin `index`: bin_s, or less for the last one.
  double duration_s(std::size_t index) const {
    return index + 1 < bins_j.size() ? bin_s : time_s - static_cast<double>(index) * bin_s;
  }
  /// Mean power in bin `index` of `joules`, which are bins_j or those of a host.
  double power_w(const std::vector<double>& joules, std::size_t index) const {
    return joules[index] / duration_s(index);
  }
};

/// Error of the mean power of a meter with one reading every `interval_s`, over all instants at which the first
/// reading may be taken: relative, without sign.
struct SamplingError {
  double interval_s = 0;
  int samples = 0;  ///< least number of readings in the run
  double worst = 0, mean = 0;
};

/// One run as reported at the levels of the EE HPC Working Group's methodology 2.0, which Green500 asks for.
struct PowerLevels {
  double level1_w = 0;           ///< mean of the samples of the whole core phase, one per second from its begin
  std::vector<double> level2_w;  ///< of equal tenths of the core phase
  double level3_j = 0;           ///< the energy that was metered
  std::vector<SamplingError> sampling;
};

/// A meter that reads every `interval_s` the power of the bin that it is in. @throws DomainError for an interval that
/// is shorter than a bin or longer than the trace.
SamplingError sampling_error(const PowerTrace& trace, double interval_s);
/// Nothing if the trace is shorter than a minute, or has bins of more than a second: no level allows it.
/// Errors are told of intervals of 1, 10, 30 and 60 s that give at least 10 samples (decision of 2023).
std::optional<PowerLevels> power_levels(const PowerTrace& trace);

/// The energy of a predicted run.
struct Energy {
  double energy_j = 0;      ///< of all parts below
  double mean_power_w = 0;  ///< energy_j / time_s of the run
  double gflops_per_w = 0;
  double idle_j = 0;       ///< of the hosts that the run uses, if nothing ran on them
  double awake_j = 0;      ///< more, while any of their cores is active
  double awake_share = 1;  ///< of the time, mean over these hosts
  double network_j = 0;    ///< the share of these hosts
  std::vector<StateEnergy> states;
  std::vector<std::string> unstated;  ///< states that the power model says nothing of: taken as 0 W
  std::optional<PowerLevels> levels;

  /// Energy, mean power and rate from the parts.
  void add_up(double time_s, double gflops);
};

/// As JSON, with the keys of `energy` in prediction.json (docs/formats/prediction-json.md).
std::string energy_text(const Energy& energy);

// The names in describe() are the fields in JSON, of predictions and of results of simulations.

template <typename Fields>
void describe(Fields& fields, StateEnergy& state) {
  fields("name", state.name);
  fields("time_s", state.time_s);
  fields("energy_j", state.energy_j);
}

/// Statistics of the simulated calls of one kernel.
struct KernelCount {
  std::uint64_t calls = 0;
  std::uint64_t outside_range = 0;  ///< calls whose sizes the model was not fitted on
  double time_s = 0;                ///< sum over all ranks
  double flop = 0;                  ///< sum over all ranks
};

template <typename Fields>
void describe(Fields& fields, KernelCount& count) {
  fields("calls", count.calls);
  fields("outside_range", count.outside_range);
  fields("time_s", count.time_s);
  fields("flop", count.flop);
}

/// Statistics of the simulated MPI calls of one operation.
struct MessageCount {
  std::uint64_t calls = 0;
  std::uint64_t outside_range = 0;
  double bytes = 0;
};

template <typename Fields>
void describe(Fields& fields, MessageCount& count) {
  fields("calls", count.calls);
  fields("outside_range", count.outside_range);
  fields("bytes", count.bytes);
}

/// How the ranks spent the time of one phase of HPL (docs/use/traces.md); all but the extremes are means over the
/// ranks.
struct PhaseSummary {
  std::string name;
  double elapsed_s = 0;  ///< without phases inside it
  double least_s = 0;    ///< of the rank that spent the least
  double most_s = 0;
  double kernels_s = 0;
  double messages_s = 0;  ///< in MPI calls, without waiting
  double waiting_s = 0;   ///< in MPI calls, while the other side was not there yet
  double detours_s = 0;   ///< by which they stretched what the rank did itself
};

/// A number of a phase and its key in JSON, in predictions and in real runs.
struct PhaseField {
  const char* name;
  double PhaseSummary::*member;
  bool required = true;  ///< false: it is 0 where it is absent
};
inline constexpr std::array<PhaseField, 7> phase_fields = {{{"elapsed_s", &PhaseSummary::elapsed_s},
                                                            {"least_s", &PhaseSummary::least_s},
                                                            {"most_s", &PhaseSummary::most_s},
                                                            {"kernels_s", &PhaseSummary::kernels_s},
                                                            {"messages_s", &PhaseSummary::messages_s},
                                                            {"waiting_s", &PhaseSummary::waiting_s},
                                                            {"detours_s", &PhaseSummary::detours_s, false}}};

/// Neighbouring panels, counted from 0, in a sampled prediction.
struct PanelCost {
  int first_panel = 0;
  int panels = 0;
  double time_s = 0;
  std::optional<double> error_95_s;  ///< nothing: simulated
};

/// How a prediction was made of some of the panels (docs/models/sampled.md).
struct Sampling {
  double share = 0;  ///< of all panels that were simulated, warm-up too; more than 1 if windows are close to each other
  std::vector<PanelCost> windows;  ///< simulated and counted
  std::vector<PanelCost> pieces;   ///< of the gaps between them, estimated
  double deviation = 0;            ///< largest distance of a simulated piece from a smooth curve, relative
  int deviates_at_panel = 0;       ///< where that is
};

/// One independent cause of the difference between a prediction and a run.
struct ErrorTerm {
  std::string name;                  ///< a group, or days, simulation, machine, model, run
  double sd = 0;                     ///< of ln(time of a run / time predicted)
  double nu = 0;                     ///< degrees of freedom of its estimate; 0: taken as known
  std::optional<double> elasticity;  ///< of a group: d ln(time of the run) / d ln(its durations)
  std::string source;                ///< for people: where sd comes from
};

/// Where the time of one run on the real machine is with probability `level_percent`.
struct PredictiveInterval {
  double level_percent = 90;
  double low_time_s = 0, high_time_s = 0;
  double low_gflops = 0, high_gflops = 0;
  double bias = 0;               ///< mean of ln(time of a run / time predicted) in earlier comparisons; 0 without any
  double sd = 0;                 ///< of all terms together
  double nu = 0;                 ///< of it, after Satterthwaite; 0: all terms are taken as known
  std::string elasticities;      ///< how they were found: closed-form or simulated
  std::vector<ErrorTerm> terms;  ///< their variances add up
};

/// The result of one simulated HPL run: the content of prediction.json.
struct Prediction {
  static constexpr int schema_version = 1;
  HplParameters parameters;
  double time_s = 0;
  double gflops = 0;
  std::uint64_t seed = 0;
  std::string mode;            ///< exact or fast
  double fast_error_95_s = 0;  ///< of fast mode: how far time_s may be off because exchanges are computed, by chance
  /// Error of time_s in a sampled prediction: how far off the mean over seeds of simulations of all panels it may be.
  double error_95_s = 0;
  std::optional<Sampling> sampling;  ///< nothing: all panels were simulated; else the counts below are extrapolated
  std::string cluster;
  int hosts = 0;                                    ///< of it that the run uses; 0: not said (older files)
  int threads_per_rank = 1;                         ///< of the BLAS, in that cluster
  std::string blas;                                 ///< that its kernels were measured with; empty: not said
  std::string model_sha256;                         ///< of the model that was simulated, after the switches below
  std::map<std::string, std::string> model_levels;  ///< switches of model levels that were used, by option
  std::vector<std::string> model_doubts;            ///< core::model_doubts() of the model, a line each
  std::string simulator;                            ///< name and version
  double wall_s = 0;  ///< how long the simulation took; the only field that differs between two equal predictions,
  double peak_pss_bytes = 0;  ///< with this one; looked at every 100 ms, so that short simulations hide it
  static constexpr double least_s_with_memory = 0.5;  ///< wall_s from which on it can be told
  std::map<std::string, KernelCount> kernels;
  std::map<std::string, MessageCount> messages;
  double detours_s = 0;              ///< by which they stretched what the ranks did themselves, mean over the ranks
  std::vector<PhaseSummary> phases;  ///< empty if not asked for
  std::optional<Energy> energy;      ///< likewise
  std::optional<PredictiveInterval> interval;  ///< of one run on the real machine; nothing if not asked for
  std::optional<Control> control;              ///< in the campaign of the model
};

/// JSON of a prediction. @throws ParseError (JSON pointer as field) for other schema versions, missing and unknown
/// fields, and values that no prediction has.
void write_prediction(std::ostream& out, const Prediction& prediction);
Prediction read_prediction(std::istream& in, const std::string& name);

/// The same for several: a JSON array; one prediction is written as the object alone, and either is read.
void write_predictions(std::ostream& out, const std::vector<Prediction>& predictions);
std::vector<Prediction> read_predictions(std::istream& in, const std::string& name);

}  // namespace hplcast::core
