#include "hplcast/core/text.hpp"
#include "study/explain/explain_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hplcast::study {

namespace {

constexpr double own_cause = 0.002;    // of the time: levels of kernels that change less are put together
constexpr double own_effect = 0.001;   // of the time: parts of the network that change less are put together
constexpr double least_effect = 1e-4;  // of the time: less is not worth a simulation

/// ", nearly all of it in calls with m n k below 4e+06" where a small part of the sizes has most of the difference.
std::string where_in_sizes(const KernelFinding& finding) {
  constexpr double nearly_all = 0.8, most_time = 0.5;
  double all_s = 0, time_s = 0;
  for (const KernelSizes& sizes : finding.sizes) {
    all_s += std::abs(sizes.real_s - sizes.model_s);
    time_s += sizes.real_s;
  }
  double difference_s = 0, below_s = 0;
  for (const KernelSizes& sizes : finding.sizes) {
    difference_s += std::abs(sizes.real_s - sizes.model_s);
    below_s += sizes.real_s;
    if (below_s > most_time * time_s) break;
    if (difference_s > nearly_all * all_s)
      return ", nearly all of it in calls with m n k below " + core::printed("%.0e", sizes.most_product);
  }
  return "";
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  if (names.size() > shown) return names[0] + ", " + names[1] + " and " + std::to_string(names.size() - 2) + " more";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Durations that the prediction drew over those that its model expects.
double luck_of(const KernelFinding& finding, const Findings& findings) {
  constexpr double about_as_many = 1.5;  // calls are cut in two by timing; others are no calls of this run
  const auto drawn = findings.drawn.find(core::to_string(finding.kernel));
  const double expected_s = finding.model_s() / finding.stretch / findings.runs;
  if (drawn == findings.drawn.end() || !(drawn->second.time_s > 0) || !(expected_s > 0)) return 1;
  double calls = 0;
  for (const KernelSizes& sizes : finding.sizes) calls += sizes.calls / findings.runs;
  const double ratio = static_cast<double>(drawn->second.calls) / calls;
  return ratio > 1 / about_as_many && ratio < about_as_many ? drawn->second.time_s / expected_s : 1;
}

Replacement level_of(const KernelFinding& finding, const Findings& findings) {
  const double runs = findings.runs;
  Replacement one;
  Cause& cause = one.cause;
  cause.kind = Cause::Kind::kernel;
  cause.kernels = {core::to_string(finding.kernel)};
  for (std::size_t rank = 0; rank < finding.ranks.size(); ++rank) cause.estimated_s += finding.level_change_s(rank);
  cause.estimated_s /= runs * static_cast<double>(finding.ranks.size());
  cause.factor = finding.overall_level();
  if (!finding.has_model) {
    one.parts.without_model[finding.kernel] = cause.factor;
    cause.factor = 0;
    return one;
  }
  const double luck = luck_of(finding, findings);
  cause.estimated_s -= (luck - 1) * finding.model_s() / (runs * static_cast<double>(finding.ranks.size()));
  KernelLevel& level = one.parts.levels[finding.kernel];
  level = {finding.level, cause.factor / luck};
  for (double& factor : level.classes) factor /= luck;
  cause.text = cause.kernels.front() + " takes " + longer(cause.factor, "in the run") + " in the model" +
               where_in_sizes(finding);
  constexpr double sds = 4;
  const double noise_s = sds * std::sqrt(finding.sum_of(&KernelCell::variance_s2));
  if (std::abs(finding.real_s() - finding.model_s()) < noise_s) cause.text += ", as the noise of its model allows";
  return one;
}

/// All changes at once; what else is said of them is that of the first.
Replacement together(const std::vector<Replacement>& all) {
  Replacement one = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    core::append(one.cause.kernels, all[i].cause.kernels);
    one.cause.estimated_s += all[i].cause.estimated_s;
    one.cause.factor = 0;
    merge(one.parts, all[i].parts);
  }
  return one;
}

/// All of them as one.
Replacement without_models(const std::vector<Replacement>& all) {
  Replacement one = together(all);
  one.cause.text = list_of(one.cause.kernels) +
                   (all.size() == 1 ? " has no model, and takes" : " have no model, and take") + " time in the run";
  return one;
}

/// The small ones as one.
Replacement other_kernels(const std::vector<Replacement>& small) {
  Replacement all = together(small);
  if (small.size() > 1)
    all.cause.text = std::to_string(small.size()) + " other kernels differ a little from their models, of which " +
                     small.front().cause.kernels.front() + " most";
  return all;
}

/// Ranks on which some kernels take longer than on others, or shorter.
struct SlowPlace {
  RankGroup group;
  std::vector<std::pair<double, std::string>> kernels;  // seconds, name
  std::map<int, double> change_s;                       // of each rank
  double real_s = 0, expected_s = 0;
  MeasuredParts parts;

  void add(const KernelFinding& finding) {
    double all_s = 0;
    for (const int rank : group.ranks) {
      const auto i = static_cast<std::size_t>(rank);
      const double rank_expected_s = finding.levelled_s(i);
      const double rank_change_s = (finding.deviation[i] - 1) * rank_expected_s;
      expected_s += rank_expected_s;
      real_s += rank_expected_s + rank_change_s;
      change_s[rank] += rank_change_s;
      all_s += rank_change_s;
      parts.ranks[finding.kernel][rank] = finding.deviation[i];
    }
    kernels.emplace_back(std::abs(all_s), core::to_string(finding.kernel));
  }
};

/// Others wait for the rank that loses most.
Replacement cause_of(SlowPlace slow, double runs) {
  std::sort(slow.kernels.rbegin(), slow.kernels.rend());
  Replacement one;
  Cause& cause = one.cause;
  cause.kind = Cause::Kind::place;
  cause.group = slow.group;
  for (const auto& [seconds, name] : slow.kernels) cause.kernels.push_back(name);
  cause.factor = slow.real_s / slow.expected_s;
  for (const auto& [rank, change_s] : slow.change_s)
    if (std::abs(change_s) > std::abs(cause.estimated_s)) cause.estimated_s = change_s;
  cause.estimated_s /= runs;
  cause.text = list_of(cause.kernels) + (cause.kernels.size() == 1 ? " takes " : " take ") +
               longer(cause.factor, "in the run") + " in the model, on " + cause.group.name + " only";
  one.parts = std::move(slow.parts);
  return one;
}

/// Kernels that are slow at the same place are one cause: that place.
std::vector<Replacement> places_of(const Findings& findings, const core::ClusterModel& cluster,
                                   const std::vector<RankPlace>& places) {
  std::map<std::pair<std::vector<int>, bool>, SlowPlace> all;
  for (const KernelFinding& finding : findings.kernels) {
    for (const bool slower : {true, false}) {
      std::vector<bool> chosen(places.size());
      for (std::size_t rank = 0; rank < places.size(); ++rank)
        chosen[rank] = slower ? finding.deviation[rank] > 1 : finding.deviation[rank] < 1;
      for (const RankGroup& group : rank_groups(cluster, places, chosen)) {
        SlowPlace& slow = all[{group.ranks, slower}];
        slow.group = group;
        slow.add(finding);
      }
    }
  }
  std::vector<Replacement> causes;
  for (auto& [key, slow] : all) causes.push_back(cause_of(std::move(slow), findings.runs));
  return causes;
}

/// Parts of the network that differ a little, as one.
Replacement other_parts(const std::vector<Replacement>& small, const std::string& where) {
  Replacement all = together(small);
  if (small.size() == 1) return all;
  std::vector<std::string> names;
  for (const Replacement& one : small) names.emplace_back(to_string(one.cause.kind));
  all.cause.kind = Cause::Kind::messages;
  all.cause.text = list_of(names) + " of messages" + where + " differ a little from the model";
  return all;
}

void add_network(const Findings& findings, double ranks, std::vector<Replacement>& all) {
  for (const auto& [scope, finding] : findings.network) {
    const std::string where = scope == core::Scope::local ? " inside a host" : " between hosts";
    std::vector<Replacement> small;
    const auto add = [&, &scope = scope, &finding = finding](Cause::Kind kind, double NetworkFactors::*factor,
                                                             double model_s, const std::string& text) {
      Replacement one;
      one.cause.kind = kind;
      one.cause.scope = scope;
      one.cause.factor = finding.*factor;
      one.parts.network[scope].*factor = finding.*factor;
      one.cause.estimated_s = (one.cause.factor - 1) * model_s / ranks;
      one.cause.text = text;
      const double change_s = std::abs(one.cause.estimated_s);
      if (change_s > 0) (change_s < own_effect * findings.predicted_s ? small : all).push_back(std::move(one));
    };
    const auto of_model = [&](const char* what, double factor) {
      constexpr double none = 0.01;
      return "the " + (what + (" of messages" + where)) + " is " +
             (factor < none ? "below 1 % of" : core::readable(factor, 2) + " times") + " that of the model";
    };
    add(Cause::Kind::latency, &NetworkFactors::latency, finding.latency_s, of_model("latency", finding.latency));
    add(Cause::Kind::bandwidth, &NetworkFactors::bandwidth, finding.bytes_s,
        of_model("bandwidth", 1 / finding.bandwidth));
    add(Cause::Kind::calls, &NetworkFactors::calls, finding.calls_s,
        "the calls that send and receive" + where + " take " + longer(finding.calls, "") + " in the model");
    const double most_s = std::accumulate(small.begin(), small.end(), 0.0, [](double sum, const Replacement& one) {
      return sum + std::abs(one.cause.estimated_s);
    });
    if (most_s > least_effect * findings.predicted_s) all.push_back(other_parts(small, where));
  }
}

struct KindText {
  const char* name;
  const char* advice;
};

constexpr const char* measure_messages = "measure the messages again (step `mpi`): hplcast calibrate CAMPAIGN.yaml";

constexpr KindText kind_texts[] = {
    {"kernel", "calibrate the kernels again, as warm and as busy as the run: hplcast calibrate CAMPAIGN.yaml"},
    {"place",
     "look at it (other programs, clock, cooling); if it stays so, calibrate it again: hplcast calibrate "
     "CAMPAIGN.yaml"},
    {"latency", measure_messages},
    {"bandwidth", measure_messages},
    {"calls", measure_messages},
    {"messages", measure_messages},
    {"observation", "compare the prediction with runs without --phases, or explain a larger matrix"},
    {"own_work", "explain a larger matrix, which has less of it"}};  // in the order of Cause::Kind

void advise(Cause& cause) {
  cause.advice = kind_texts[static_cast<std::size_t>(cause.kind)].advice;
}

}  // namespace

const char* to_string(Cause::Kind kind) {
  return kind_texts[static_cast<std::size_t>(kind)].name;
}

std::string longer(double factor, const std::string& where) {
  constexpr double as_multiple = 2;
  const std::string middle = where.empty() ? " " : " " + where + " ";
  if (factor >= as_multiple) return core::readable(factor, 2) + " times as long" + middle + "as";
  if (factor >= 1) return core::printed("%.1f %% longer", 100 * (factor - 1)) + middle + "than";
  return core::printed("%.1f %% less time", 100 * (1 - factor)) + middle + "than";
}

void merge(MeasuredParts& into, const MeasuredParts& more) {
  for (const auto& [kernel, level] : more.levels) into.levels[kernel] = level;
  for (const auto& [kernel, rate] : more.without_model) into.without_model[kernel] = rate;
  for (const auto& [kernel, ranks] : more.ranks)
    for (const auto& [rank, factor] : ranks) into.ranks[kernel][rank] = factor;
  for (const auto& [scope, by] : more.network) {
    NetworkFactors& network = into.network[scope];
    network.latency *= by.latency;
    network.bandwidth *= by.bandwidth;
    network.calls *= by.calls;
  }
}

std::vector<Cause> without_replacement(const Explanation& explanation) {
  std::vector<Cause> all;
  const auto add = [&](Cause::Kind kind, double time_s, const std::string& text) {
    if (time_s < own_effect * explanation.predicted_s) return;
    Cause one;
    one.kind = kind;
    one.factor = 0;
    one.estimated_s = time_s;
    one.text = text;
    advise(one);
    all.push_back(std::move(one));
  };
  const double observation_s = std::min(explanation.observation_s, explanation.own_work_s);
  add(Cause::Kind::observation, observation_s, "the observation of the run takes time, which other runs do not have");
  add(Cause::Kind::own_work, explanation.own_work_s - observation_s,
      "the work of HPL itself between kernels and messages has no model");
  return all;
}

std::vector<Replacement> replacements(const Findings& findings, const core::ClusterModel& cluster,
                                      const std::vector<RankPlace>& places) {
  std::vector<Replacement> all = places_of(findings, cluster, places);
  std::vector<Replacement> small, unmodelled;
  for (const KernelFinding& finding : findings.kernels) {
    Replacement one = level_of(finding, findings);
    const bool is_small = std::abs(one.cause.estimated_s) < own_cause * findings.predicted_s;
    (!finding.has_model ? unmodelled : is_small ? small : all).push_back(std::move(one));
  }
  const auto larger = [](const Replacement& a, const Replacement& b) {
    return std::abs(a.cause.estimated_s) > std::abs(b.cause.estimated_s);
  };
  for (std::vector<Replacement>* group : {&small, &unmodelled}) std::stable_sort(group->begin(), group->end(), larger);
  if (!unmodelled.empty()) all.push_back(without_models(unmodelled));
  if (!small.empty()) all.push_back(other_kernels(small));
  add_network(findings, static_cast<double>(places.size()), all);
  std::stable_sort(all.begin(), all.end(), larger);
  for (Replacement& one : all) advise(one.cause);
  return all;
}

}  // namespace hplcast::study
