#include "hplcast/study/offer.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/predict.hpp"
#include "hplcast/study/tune.hpp"

namespace hplcast::study {

namespace {

/// A value outside its domain is one of the offer.
template <typename Make>
auto of_offer(const Offer& offer, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const core::DomainError& error) {
    core::Location where = offer.where;
    where.field.clear();
    throw core::ParseError(where, "offer `" + offer.name + "`: " + error.what());
  }
}

/// Watts of all hosts with all cores in dgemm: waiting cores poll, which takes about as much.
std::optional<double> watts_in_dgemm(const core::ClusterModel& cluster) {
  if (!cluster.power) return std::nullopt;
  double sum = cluster.power->values().network_w;
  for (int host = 0; host < cluster.hosts.count(); ++host) {
    std::vector<core::CoresInState> cores;
    for (int core = 0; core < cluster.hosts.cores_of(host); ++core)
      cores.push_back({cluster.hosts.cpu_of(host, core), core::state_of(core::KernelId::dgemm), 1});
    sum += core::HostPower(*cluster.power, cluster.hosts, host).watts(cores);
  }
  return sum;
}

core::HplParameters best_parameters(const OfferQuestion& question, const OfferedMachine& machine) {
  const int ranks = machine.cluster.hosts.total_cores();
  core::HplParameters best;
  double best_gflops = 0;
  const auto look_at = [&](core::HplParameters p) {
    const double gflops =
        core::hpl_flop(static_cast<double>(p.N)) / closed_form_s(machine.cluster, p, ranks_for_ratios);
    if (gflops <= best_gflops) return;
    best_gflops = gflops;
    best = p;
  };
  constexpr int most_grids = 3, broadcasts = 4;  // the closed form has no long ones
  for (const int NB : machine.NB > 0 ? std::vector<int>{machine.NB} : question.NB)
    for (const auto& [P, Q] : near_square_grids(ranks, most_grids)) {
      core::HplParameters p;
      p.NB = NB;
      p.N = size_from_memory(machine.cluster, ranks, question.memory_fraction, NB);
      p.P = P;
      p.Q = Q;
      p.validate();
      look_at(p);
    }
  core::HplParameters p = best;
  for (p.BCAST = 0; p.Q > 1 && p.BCAST < broadcasts; ++p.BCAST) look_at(p);
  return best;
}

/// Errors of the closed form: the largest that was seen as what 95 percent are below.
core::ErrorTerm form_term(double time_s, double dgemm_s) {
  const double bound = closed_form_error * std::max(0.0, time_s - dgemm_s) / time_s;
  return {"closed form", bound / fit::normal_quantile(0.975), 0, std::nullopt,
          "docs/measurements/quick.md: the largest difference from simulations"};
}

void settle(const OfferQuestion& question, OfferEstimate& estimate) {
  const core::PredictiveInterval& interval = estimate.interval();
  estimate.doubts = interval.terms;
  std::stable_sort(estimate.doubts.begin(), estimate.doubts.end(),
                   [](const auto& a, const auto& b) { return a.sd > b.sd; });
  if (!estimate.offer.committed_gflops) return;
  const auto at_least = [&](double gflops) {
    const double sds = (std::log(estimate.gflops() / gflops) - interval.bias) / interval.sd;
    return interval.nu > 0 ? fit::students_t_tail(interval.nu, -sds) : core::normal_cdf(sds);
  };
  estimate.keeps = at_least((1 - question.tolerance) * *estimate.offer.committed_gflops);
  estimate.keeps_fully = at_least(*estimate.offer.committed_gflops);
}

std::vector<std::string> basis_of(const OfferEstimate& estimate) {
  const Offer& offer = estimate.offer;
  std::vector<std::string> all;
  switch (offer.basis) {
    case OfferBasis::numbers:
      all.emplace_back("a data sheet: nothing was measured, the rest is assumed as by hplcast quick");
      break;
    case OfferBasis::cluster:
      all.push_back("the models of " + offer.cluster);
      break;
    case OfferBasis::logs:
      all.push_back("HPL's output on one node: " + core::comma_separated(offer.logs));
      if (!offer.benchmarks.empty())
        all.push_back("benchmarks of messages: " + core::comma_separated(offer.benchmarks));
      break;
  }
  if (estimate.simulated) {
    all.emplace_back("a simulation of HPL on it");
    return all;
  }
  all.emplace_back("a formula for the time of HPL, not a simulation (--simulate)");
  const auto differs = [](const auto& kernel) { return !kernel.second.overrides().empty(); };
  if (std::any_of(estimate.cluster.kernels.begin(), estimate.cluster.kernels.end(), differs))
    all.emplace_back(
        "nodes that are taken as alike, though its models differ between them: --simulate takes them as "
        "they are, and is lower");
  return all;
}

/// The probability that the merit of one is above that of another, where each has an error of its own.
double probability_above(const OfferEstimate& a, const OfferEstimate& b, bool by_merit) {
  const auto as_run = [&](const OfferEstimate& one) {
    core::Prediction prediction = one.prediction;
    prediction.gflops = by_merit ? one.merit() : one.gflops();
    prediction.cluster = one.offer.name;
    return std::vector<core::Prediction>{std::move(prediction)};
  };
  return probability_faster(as_run(a), as_run(b));
}

/// "keeps", "probably keeps" ...
std::string keeping(double probability) {
  constexpr double surely = 0.9, rather = 0.5;
  if (probability >= surely) return " keeps";
  if (probability >= rather) return " probably keeps";
  return probability >= 1 - surely ? " may not keep" : " will not keep";
}

/// Why those are not taken that nobody can believe.
std::string left_out(const OfferAnswer& answer) {
  std::string text;
  for (const OfferEstimate& one : answer.estimates) {
    if (OfferAnswer::is_credible(one)) continue;
    const bool tempts = one.merit() > answer.estimates.front().merit();
    text += " " + one.offer.name + " is left out" +
            (!tempts           ? ""
             : answer.by_price ? ", though cheaper per Tflop/s by what is expected"
                               : ", though faster by what is expected") +
            ": it promises " + rate_of_gflops(*one.offer.committed_gflops) + ", and " + rate_of_gflops(one.gflops()) +
            " are expected.";
  }
  return text;
}

std::string verdict_of(const OfferAnswer& answer) {
  const OfferEstimate& best = answer.estimates.front();
  if (!OfferAnswer::is_credible(best)) return "Take none of them as it stands: no offer will keep what it promises.";
  const OfferEstimate* second = nullptr;
  double sure = 1;
  for (std::size_t i = 1; i < answer.estimates.size() && OfferAnswer::is_credible(answer.estimates[i]); ++i)
    if (answer.better[0][i] < sure || second == nullptr) {
      second = &answer.estimates[i];
      sure = answer.better[0][i];
    }
  if (second == nullptr) return "Take " + best.offer.name + ": the only offer that may keep what it promises.";
  const std::string than = " than " + second->offer.name + " with a probability of " + chance_text(sure) + ".";
  const std::string better = answer.by_price ? "cheaper per Tflop/s" : "faster";
  constexpr double clear = 0.9, likely = 0.7;
  if (sure >= clear) return "Take " + best.offer.name + ": " + better + than + left_out(answer);
  if (sure >= likely) return "Probably " + best.offer.name + ": " + better + than + left_out(answer);
  return best.offer.name + " and " + second->offer.name + " cannot be told apart by what is known: " + best.offer.name +
         " is " + better + than + left_out(answer);
}

/// "Basalt probably keeps its promise: 78 % for at least 54.0 Tflop/s (the promised 60.0 less 10 %), 33 % in full."
std::string promise_of(const OfferQuestion& question, const OfferEstimate& one) {
  const double promised = *one.offer.committed_gflops;
  std::string text = one.offer.name + keeping(*one.keeps) + " its promise: " + chance_text(*one.keeps) +
                     " for at least " + rate_of_gflops((1 - question.tolerance) * promised) + " (the promised " +
                     rate_of_gflops(promised) + " less " + core::short_percent(question.tolerance) + "), " +
                     chance_text(*one.keeps_fully) + " in full.";
  if (promised > one.peak_gflops)
    text += " It promises more than its matrix products alone would give, " + rate_of_gflops(one.peak_gflops) + ".";
  if (promised < 0.5 * one.gflops())
    text += " It promises less than half of what is expected: is one of its numbers mistaken?";
  return text;
}

/// The likelier side: "faster with a probability of 60 %", "dearer ... with 55 %".
std::string likelier(const char* more, const char* less, double probability) {
  constexpr double even = 0.5;
  return std::string(probability >= even ? more : less) + " with a probability of " +
         chance_text(std::max(probability, 1 - probability));
}

/// Who should be asked for more.
std::string what_is_not_known(const OfferAnswer& answer) {
  const auto& all = answer.estimates;
  const auto known_less = [](const OfferEstimate& a, const OfferEstimate& b) {
    return a.interval().sd < b.interval().sd;
  };
  const auto [most, least] = std::minmax_element(all.begin(), all.end(), known_less);
  const core::ErrorTerm& largest = least->doubts.front();
  constexpr double alike = 1.2;
  const bool equally = least->interval().sd < alike * most->interval().sd;
  const auto is_data_sheet = [](const OfferEstimate& one) { return one.offer.basis == OfferBasis::numbers; };
  std::string text =
      (equally ? "All are known about equally well. Most" : "Least is known of " + least->offer.name + ": most") +
      std::string(" of the uncertainty is ") +
      (largest.name == "assumptions" ? "what a data sheet leaves out, and had to be assumed"
                                     : largest.name + " (" + largest.source + ")") +
      ".";
  if (equally ? std::any_of(all.begin(), all.end(), is_data_sheet) : is_data_sheet(*least))
    text += std::string(" Ask for ") + (equally ? "each vendor's" : "the vendor's") +
            " output of HPL on one node, with lines of progress, and of osu_latency and osu_bw between two nodes (keys "
            "logs and osu of the offers).";
  return text;
}

std::vector<std::string> reasons_of(const OfferAnswer& answer) {
  std::vector<std::string> all;
  for (const OfferEstimate& one : answer.estimates)
    if (one.keeps) all.push_back(promise_of(answer.question, one));
  const OfferEstimate& best = answer.estimates.front();
  for (std::size_t i = 1; i < answer.estimates.size(); ++i) {
    std::string text = best.offer.name + " against " + answer.estimates[i].offer.name + ": " +
                       likelier("faster", "slower", answer.faster[0][i]);
    if (answer.by_price) text += ", " + likelier("cheaper per Tflop/s", "dearer per Tflop/s", answer.better[0][i]);
    all.push_back(text + ".");
  }
  all.push_back(what_is_not_known(answer));
  return all;
}

}  // namespace

OfferedMachine machine_of_numbers(const Offer& offer) {
  return of_offer(offer, [&]() -> OfferedMachine {
    return {offer, quick_cluster(offer.machine, all_assumptions(&QuickAssumption::expected)), 0};
  });
}

OfferedMachine machine_of_cluster(const Offer& offer, core::ClusterModel cluster, int NB) {
  return of_offer(offer, [&]() -> OfferedMachine {
    core::require(!cluster.hosts.has_kinds(), "hosts of " + cluster.name, cluster.hosts.text(),
                  "hosts of one kind in an offer", "`hplcast predict` takes them as they are");
    core::Hosts::Values hosts = cluster.hosts.values();
    if (offer.machine.memory_bytes > 0) hosts.memory_bytes = offer.machine.memory_bytes;
    if (!(hosts.memory_bytes > 0)) {
      core::Location where = offer.where;
      where.field = where.field.substr(0, where.field.rfind('.') + 1) + "memory";
      throw core::ParseError(where, "missing, and " + offer.cluster +
                                        " does not tell it either; expected that of a node, "
                                        "such as 256 GiB: N follows from it");
    }
    cluster.hosts = core::Hosts::make(hosts);
    const QuickMachine& given = offer.machine;
    if (given.full_w > 0 || given.idle_w > 0) {
      if (!(given.idle_w > 0 && given.full_w >= given.idle_w))
        throw core::DomainError("watts-full", given.full_w, "at least watts-idle, and both");
      // A rank that waits polls on one core; threads-per-rank has the same rule for clusters of `quick`.
      const int threads = hosts.threads_per_rank;
      core::PowerModel::Values power = power_of_data_sheet(given.idle_w, given.full_w, hosts.cores * threads).values();
      if (threads > 1)
        for (const char* kernel : {"dgemm", "dtrsm"})
          power.states[kernel] = (given.full_w - given.idle_w) / hosts.cores;
      cluster.power = core::PowerModel::make(std::move(power));
    }
    return {offer, std::move(cluster), NB};
  });
}

OfferEstimate estimate_offer(const OfferQuestion& question, const OfferedMachine& machine) {
  OfferEstimate estimate;
  estimate.offer = machine.offer;
  estimate.cluster = machine.cluster;
  core::Prediction& prediction = estimate.prediction;
  const core::HplParameters p = of_offer(machine.offer, [&] { return best_parameters(question, machine); });
  prediction.parameters = p;
  prediction.cluster = machine.offer.name;
  prediction.time_s = closed_form_s(machine.cluster, p);
  const double flop = core::hpl_flop(static_cast<double>(p.N));
  prediction.gflops = flop / prediction.time_s / 1e9;
  estimate.peak_gflops = dgemm_peak_gflops(machine.cluster, p.P * p.Q);
  estimate.memory_share = core::hpl_matrix_bytes(static_cast<double>(p.N)) /
                          (machine.cluster.hosts.values().memory_bytes * machine.cluster.hosts.count());
  estimate.watts = watts_in_dgemm(machine.cluster);
  const double dgemm_s = std::min(prediction.time_s, flop / (1e9 * estimate.peak_gflops));

  IntervalBasis basis;
  basis.elasticities = closed_form_elasticities(machine.cluster, p, dgemm_s / prediction.time_s);
  basis.method = "closed-form";
  basis.elasticity_error = elasticity_error_of_form;
  basis.assumed = assumed_spread(machine.cluster, p);
  std::vector<core::ErrorTerm> terms =
      predictive_interval(prediction, machine.cluster, basis, question.level_percent).terms;
  for (core::ErrorTerm& term : terms)
    if (term.name == "simulation") term = form_term(prediction.time_s, dgemm_s);
  prediction.interval = interval_of_terms(prediction, std::move(terms), 0, question.level_percent);
  prediction.interval->elasticities = basis.method;
  settle(question, estimate);
  estimate.rests_on = basis_of(estimate);
  return estimate;
}

void take_simulation(const OfferQuestion& question, core::Prediction simulated, OfferEstimate& estimate) {
  simulated.interval = predictive_interval(simulated, estimate.cluster, closed_form_basis(estimate.cluster, simulated),
                                           question.level_percent);
  if (simulated.energy) estimate.watts = simulated.energy->mean_power_w;
  estimate.prediction = std::move(simulated);
  estimate.simulated = true;
  settle(question, estimate);
  estimate.rests_on = basis_of(estimate);
}

OfferAnswer answer_offers(OfferQuestion question, std::vector<OfferEstimate> estimates) {
  OfferAnswer answer;
  answer.by_price = estimates.front().offer.price.has_value();
  std::stable_sort(estimates.begin(), estimates.end(), [](const OfferEstimate& a, const OfferEstimate& b) {
    const bool kept = OfferAnswer::is_credible(a);
    return kept != OfferAnswer::is_credible(b) ? kept : a.merit() > b.merit();
  });
  for (const OfferEstimate& row : estimates) {
    answer.faster.emplace_back();
    answer.better.emplace_back();
    for (const OfferEstimate& column : estimates) {
      const bool same = &row == &column;
      answer.faster.back().push_back(same ? 0.5 : probability_above(row, column, false));
      answer.better.back().push_back(same ? 0.5 : probability_above(row, column, true));
    }
  }
  answer.question = std::move(question);
  answer.estimates = std::move(estimates);
  answer.verdict = verdict_of(answer);
  answer.reasons = reasons_of(answer);
  return answer;
}

std::string chance_text(double probability) {
  constexpr double smallest = 0.005;
  if (probability < smallest) return "below 1 %";
  if (probability >= 1 - smallest) return "above 99 %";
  return std::to_string(std::lround(100 * probability)) + " %";
}

std::string rate_of_gflops(double gflops) {
  constexpr double next = 1000;
  if (gflops < next) return core::significant(gflops, 3) + " Gflop/s";
  if (gflops < next * next) return core::significant(gflops / next, 3) + " Tflop/s";
  return core::significant(gflops / next / next, 3) + " Pflop/s";
}

std::string price_text(const OfferQuestion& question, const OfferEstimate& one) {
  if (!one.offer.price) return "";
  const auto per_tflops = [&](double gflops) { return core::readable(*one.offer.price / (gflops / 1e3), 3); };
  return per_tflops(one.gflops()) + (question.currency.empty() ? "" : " " + question.currency) + " per Tflop/s (" +
         per_tflops(one.interval().high_gflops) + " to " + per_tflops(one.interval().low_gflops) + ")";
}

}  // namespace hplcast::study
