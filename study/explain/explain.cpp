#include "hplcast/study/explain.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/compare.hpp"
#include "study/explain/explain_parts.hpp"

namespace hplcast::study {

namespace {

void check_parameters(const ExplainRequest& request) {
  if (request.runs.empty()) throw core::InputError("no run to explain");
  for (const ObservedRun& one : request.runs) {
    const auto run = core::without_unused(one.run.parameters);
    const auto predicted = core::without_unused(request.prediction.parameters);
    if (!(run == predicted))
      throw core::InputError(one.folder.string() + " is a run of another configuration than the prediction: " +
                             nearest_difference(one.run.parameters, {request.prediction.parameters}) +
                             " as there\n  hint: predict with the same HPL.dat as `run-real`");
  }
  const std::string sha256 = core::cluster_sha256(request.cluster);
  if (sha256 != request.prediction.model_sha256)
    throw core::InputError(
        "the prediction was made with another cluster model (" + request.prediction.model_sha256.substr(0, 12) +
        ") than " + request.cluster.name + " (" + sha256.substr(0, 12) +
        ")\n  hint: --cluster must be the file that `predict` was given, without --control and --day");
}

std::string first_word(const std::string& host) {
  return host.substr(0, host.find('.'));
}

/// Ranks that shared a host must share one in the model, and hosts that both know must be the same.
void check_places(const std::vector<RankActivity>& ranks, const std::vector<RankPlace>& places,
                  const core::ClusterModel& cluster, const std::string& folder) {
  const std::string hint =
      "\n  hint: run with a hostfile in the order of the hosts in cluster.json, a rank per core, or predict that order";
  std::map<int, int> host_of;  // of the model, by the first rank of the real host
  std::map<std::string, int> index;
  for (const std::string& name : cluster.hosts.names()) index.emplace(first_word(name), static_cast<int>(index.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int predicted = places[i].host;
    const std::string& predicted_name = cluster.hosts.names()[static_cast<std::size_t>(predicted)];
    const int first = ranks[i].first_rank_of_host;
    const auto [known, is_new] = host_of.emplace(first, predicted);
    const bool shares = places[static_cast<std::size_t>(first)].host == predicted;
    const bool alone = is_new && first != ranks[i].rank;
    if (known->second != predicted || !shares || alone)
      throw core::InputError("rank " + std::to_string(i) + " ran on the host of rank " + std::to_string(first) + " (" +
                             ranks[i].host + ") in " + folder + "; the model has it on " + predicted_name + hint);
    const auto named = index.find(first_word(ranks[i].host));
    if (named != index.end() && named->second != predicted)
      throw core::InputError("rank " + std::to_string(i) + " ran on " + ranks[i].host + " in " + folder +
                             "; the model has it on " + predicted_name + hint);
  }
  std::map<int, int> first_of;  // real host by that of the model
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int first = first_of.emplace(places[i].host, ranks[i].first_rank_of_host).first->second;
    if (first != ranks[i].first_rank_of_host)
      throw core::InputError("rank " + std::to_string(i) + " ran on " + ranks[i].host + " in " + folder +
                             ", apart from rank " + std::to_string(first) + "; the model has both on " +
                             cluster.hosts.names()[static_cast<std::size_t>(places[i].host)] + hint);
  }
}

/// Share of the messages of all runs that were `seen`.
double seen_share(const std::vector<ObservedRanks>& runs, std::size_t seen) {
  double sent = 0;
  for (const ObservedRanks& run : runs)
    for (const RankActivity& rank : run.ranks)
      for (const PhaseSums& phase : rank.phases)
        for (std::size_t i = 0; i < phase.messages.size(); ++i)
          if (std::string(core::mpi_names[i]).find("send") != std::string::npos)
            sent += static_cast<double>(phase.messages[i].calls);
  return sent > 0 ? std::min(1.0, static_cast<double>(seen) / sent) : 1;
}

double own_work_s(const std::vector<RankPhases>& phases) {
  double sum_s = 0;
  double ranks = 1;
  for (const RankPhases& phase : phases) {
    ranks = static_cast<double>(phase.elapsed_s.size());
    for (std::size_t i = 0; i < phase.elapsed_s.size(); ++i)
      sum_s += phase.elapsed_s[i] - phase.kernels_s[i] - phase.messages_s[i] - phase.waiting_s[i];
  }
  return sum_s / ranks;
}

std::vector<ObservedRanks> read_runs(const ExplainRequest& request, const std::vector<RankPlace>& places) {
  std::vector<ObservedRanks> runs;
  for (const ObservedRun& one : request.runs) {
    ObservedRanks observed = observed_ranks(read_ranks(one.folder, one.run.parameters));
    check_places(observed.ranks, places, request.cluster, one.folder.string());
    runs.push_back(std::move(observed));
  }
  return runs;
}

std::vector<std::string> warnings_of(const std::vector<ObservedRanks>& runs, const std::vector<RankPlace>& places) {
  std::vector<std::string> warnings;
  bool jumped = false;
  std::size_t early = 0;
  for (const ObservedRanks& run : runs) {
    for (const HostClock& clock : run.clocks) jumped |= clock.jumped();
    early += run.waits.too_early;
    for (std::size_t i = 0; i < run.ranks.size() && warnings.empty(); ++i) {
      const std::size_t first = static_cast<std::size_t>(run.ranks[i].first_rank_of_host);
      const bool known = run.ranks[i].cpu >= 0 && run.ranks[first].cpu >= 0;
      if (known && (run.ranks[i].cpu == run.ranks[first].cpu) != (places[i].cpu == places[first].cpu))
        warnings.push_back("rank " + std::to_string(i) + " ran on CPU " + std::to_string(run.ranks[i].cpu) +
                           ", and the model (rank_to_cpu) has it on CPU " + std::to_string(places[i].cpu));
    }
  }
  if (jumped) warnings.emplace_back("the clock of a host jumped during a run: costs of messages are uncertain");
  if (early > 0)
    warnings.push_back(std::to_string(early) + " messages came before they were sent, by the clocks of the hosts");
  return warnings;
}

Explanation begun(const ExplainRequest& request, const std::vector<ObservedRanks>& runs,
                  const std::vector<RankPlace>& places) {
  Explanation explanation;
  explanation.parameters = request.prediction.parameters;
  explanation.runs = request.runs.size();
  const auto times_s = core::mapped(request.runs, [](const ObservedRun& one) { return one.run.time_s; });
  explanation.real_s = median(times_s);
  explanation.least_real_s = *std::min_element(times_s.begin(), times_s.end());
  explanation.most_real_s = *std::max_element(times_s.begin(), times_s.end());
  explanation.predicted_s = request.prediction.time_s;
  explanation.warnings = warnings_of(runs, places);
  const double ranks = static_cast<double>(places.size() * runs.size());
  for (const ObservedRanks& run : runs) {
    explanation.known_waiting = std::min(explanation.known_waiting, known_share(run));
    for (const RankActivity& rank : run.ranks) {
      explanation.overhead = std::max(explanation.overhead, rank.overhead_s / (rank.end_s - rank.begin_s));
      explanation.observation_s += rank.overhead_s / ranks;
    }
  }
  return explanation;
}

/// Simulations that may be made without being asked for take at most so long together.
constexpr double few_seconds = 30;
/// Messages up to which a simulation is traced to learn what sharing links costs them: some 50 MB.
constexpr double traced_messages = 2e5;

std::vector<SeenMessage> seen_in(const std::vector<RankActivity>& simulated, const ExplainRequest& request,
                                 const std::vector<RankPlace>& places) {
  if (simulated.empty()) return {};
  return seen_messages(observed_ranks(simulated), request.cluster.network, places);
}

/// Compares runs with the model and its simulations.
class Comparer {
 public:
  Comparer(const ExplainRequest& request, const std::vector<ObservedRanks>& runs, const std::vector<RankPlace>& places)
      : request_(request), places_(places) {
    findings_.runs = static_cast<double>(runs.size());
    findings_.predicted_s = request.prediction.time_s;
    findings_.drawn = request.prediction.kernels;
    std::vector<const std::vector<RankActivity>*> ranks;
    for (const ObservedRanks& run : runs) {
      ranks.push_back(&run.ranks);
      core::append(messages_, seen_messages(run, request.cluster.network, places));
    }
    constexpr double matters = 0.001;
    findings_.kernels =
        kernel_findings(ranks, request.cluster, places, matters * findings_.predicted_s * findings_.runs);
    share_ = 1 / (findings_.runs * std::max(seen_share(runs, messages_.size()), 1e-9));
    findings_.network = network_findings(messages_, {}, share_);
  }

  const Findings& findings() const { return findings_; }
  std::vector<Replacement> causes() const { return replacements(findings_, request_.cluster, places_); }

  /// Flows share links in the simulation as in the run: with events of simulations, their costs are told apart from
  /// those of the network. Twice, because how much they share depends on how fast it is.
  void learn_sharing(const Baseline& baseline) {
    if (baseline.ranks.empty()) return;
    findings_.network = network_findings(messages_, seen_in(baseline.ranks, request_, places_), share_);
    constexpr int times = 2;
    for (int i = 0; i < times && network_differs(); ++i) {
      MeasuredParts parts;
      for (const Replacement& one : causes()) merge(parts, one.parts);
      ExplainRequest changed = request_;
      changed.cluster = with_measured(request_.cluster, parts, places_);
      refine(findings_.network, messages_, seen_in(simulate_baseline(changed, true).ranks, request_, places_));
    }
  }

 private:
  bool network_differs() const {
    constexpr double worth = 0.003;  // of the time
    for (const Replacement& one : causes()) {
      const bool of_kernels = one.cause.kind == Cause::Kind::kernel || one.cause.kind == Cause::Kind::place;
      if (!of_kernels && std::abs(one.cause.estimated_s) > worth * findings_.predicted_s) return true;
    }
    return false;
  }

  const ExplainRequest& request_;
  const std::vector<RankPlace>& places_;
  Findings findings_;
  std::vector<SeenMessage> messages_;
  double share_ = 1;
};

void add_details(Explanation& explanation, const Findings& findings, const ExplainRequest& request,
                 const std::vector<RankPlace>& places) {
  for (const KernelFinding& kernel : findings.kernels)
    explanation.kernels.push_back(difference_of(kernel, request.cluster, places, findings.runs));
  const auto gap_s = [](const KernelDifference& one) { return std::abs(one.real_s - one.model_s); };
  std::stable_sort(explanation.kernels.begin(), explanation.kernels.end(),
                   [&](const auto& a, const auto& b) { return gap_s(a) > gap_s(b); });
  for (const auto& [scope, network] : findings.network) {
    explanation.messages.insert(explanation.messages.end(), network.sizes.begin(), network.sizes.end());
    explanation.held_up_s += network.held_up_s / static_cast<double>(places.size());
  }
  for (const auto& [name, kernel] : request.cluster.kernels) {
    const bool called = std::any_of(explanation.kernels.begin(), explanation.kernels.end(),
                                    [&, name = name](const KernelDifference& one) { return one.kernel == name; });
    const auto predicted = request.prediction.kernels.find(name);
    if (!called && predicted != request.prediction.kernels.end() && predicted->second.calls > 0)
      explanation.warnings.push_back("the run never called " + name + ", which the prediction has " +
                                     std::to_string(predicted->second.calls) + " calls of");
  }
}

/// Equal requests give equal times: another one is from another version of hplcast or SimGrid.
void warn_of_other_time(Explanation& explanation, double again_s) {
  constexpr double rounding = 1e-9;
  const double change = again_s / explanation.predicted_s - 1;
  if (std::abs(change) < rounding) return;
  explanation.warnings.push_back("simulated again, the prediction is " + core::printed("%+.2g %%", 100 * change) +
                                 " longer: another version made it; predict again");
}

void conclude(Explanation& explanation, std::vector<Replacement> causes) {
  explanation.rest_s = explanation.difference_s();
  for (Replacement& one : causes) {
    explanation.rest_s -= one.cause.share_s();
    explanation.causes.push_back(std::move(one.cause));
  }
  for (Cause& one : without_replacement(explanation)) {
    if (explanation.simulated) one.simulated_s = one.least_s = one.most_s = one.estimated_s;  // no simulation has it
    explanation.rest_s -= one.share_s();
    explanation.causes.push_back(std::move(one));
  }
  std::stable_sort(explanation.causes.begin(), explanation.causes.end(),
                   [](const Cause& a, const Cause& b) { return std::abs(a.share_s()) > std::abs(b.share_s()); });
}

/// The causes and both runs as a file; the page of a report draws the causes itself.
void draw(Explanation& explanation, const Figure& timelines, const std::filesystem::path& file) {
  if (file.empty()) return;
  explanation.picture = figure_file({timelines});
  std::stringstream json;
  write_explanation(json, explanation);
  const Figure causes = waterfall(read_explanation(json, "explanation"), "causes");
  core::write_file(file, [&](std::ostream& out) { out << figure_file({causes, timelines}); });
}

}  // namespace

Explanation explain(const ExplainRequest& asked) {
  check_parameters(asked);
  ExplainRequest request = asked;
  const RunPlan plan = resolve_unchecked(request_of(asked));
  request.cluster = plan.simulated_cluster();
  const core::HplParameters& parameters = request.prediction.parameters;
  std::vector<RankPlace> places = rank_places(request.cluster, parameters.P * parameters.Q);
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    places[rank].leading_dimension = core::leading_dimension(parameters, static_cast<int>(rank));
  const std::vector<ObservedRanks> runs = read_runs(request, places);
  Explanation explanation = begun(request, runs, places);

  Comparer comparer(request, runs, places);
  constexpr double baselines = 3;  // the prediction again, and two to learn how links are shared
  explanation.counterfactuals_estimate_s =
      plan.needs().wall_s * (baselines + static_cast<double>(counterfactuals_of(comparer.causes().size())));
  explanation.simulated = request.counterfactuals.value_or(explanation.counterfactuals_estimate_s <= few_seconds);
  const bool draws = !request.trace.empty() || !request.picture.empty();
  const bool exact = request.prediction.mode == "exact" && !request.prediction.sampling;
  const bool learns = explanation.simulated && exact && plan.needs().simulated_messages <= traced_messages;
  const bool events = draws || learns;
  Baseline baseline;
  if (explanation.simulated || events) baseline = simulate_baseline(request, events);
  if (baseline.summaries.empty() && request.prediction.phases.empty())
    throw core::InputError(
        "the prediction has no phases\n  hint: `hplcast predict --phases -o`, or --counterfactuals on");

  if (learns) comparer.learn_sharing(baseline);
  const Findings& findings = comparer.findings();
  std::vector<Replacement> causes = comparer.causes();
  // With events all is simulated message by message, which is another time than that of a sampled or fast prediction.
  const bool same_mode = exact || !events;
  if (explanation.simulated) {
    const double start_s = same_mode                     ? baseline.time_s
                           : request.prediction.sampling ? simulate_baseline(request, false).time_s
                                                         : request.prediction.time_s;
    explanation.measured_model_waiting_s = simulate_causes(request, places, start_s, causes);
  }
  // A sampled one may have other windows.
  if (explanation.simulated && same_mode && !request.prediction.sampling)
    warn_of_other_time(explanation, baseline.time_s);
  const std::vector<RankPhases> real_phases = mean_of(core::mapped(runs, &ObservedRanks::phases));
  explanation.own_work_s = own_work_s(real_phases);
  explanation.phases = phase_differences(real_phases, baseline.phases,
                                         baseline.summaries.empty() ? request.prediction.phases : baseline.summaries,
                                         explanation.predicted_s);
  explanation.kinds = kind_times(request.cluster.hosts, places, real_phases, baseline.phases);
  explanation.cards = card_times(request.cluster.network.values().rails, places, real_phases, baseline.phases);
  add_details(explanation, findings, request, places);
  conclude(explanation, std::move(causes));
  if (draws) draw(explanation, write_timelines(request, runs.front(), baseline.ranks), request.picture);
  return explanation;
}

}  // namespace hplcast::study
