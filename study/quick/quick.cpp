#include "hplcast/study/quick.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/transform.hpp"
#include "hplcast/study/tune.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

// --- the machine ---

using core::Monomial;

constexpr double rendezvous_bytes = 65536;
constexpr double copy_s_per_byte = 1e-10;  ///< of the core that sends or receives a short message
constexpr double local_latency_s = 3e-7;

/// Seconds per unit of the kernels that are bound by memory or by latency: round figures of a CPU of 2017 with 16
/// cores, all busy (those of examples/dahu-like.json).
struct OtherKernel {
  const char* name;
  Monomial unit;
  double s;
};
constexpr Monomial by_n{0, 1, 0}, by_mn{1, 1, 0}, by_nn{0, 2, 0};
constexpr OtherKernel kernels_of_2017[] = {
    {"daxpy", by_n, 7e-10},     {"dcopy", by_n, 6e-10},     {"dscal", by_n, 4e-10},     {"dswap", by_n, 1.5e-9},
    {"idamax", by_n, 6e-10},    {"dlocswpN", by_n, 3e-9},   {"dlocswpT", by_n, 3e-9},   {"dgemv", by_mn, 1.3e-9},
    {"dger", by_mn, 1.2e-9},    {"dtrsv", by_nn, 1.5e-9},   {"dlacpy", by_mn, 4e-9},    {"dlatcpy", by_mn, 5e-9},
    {"dlaswp00N", by_mn, 8e-9}, {"dlaswp01N", by_mn, 8e-9}, {"dlaswp01T", by_mn, 8e-9}, {"dlaswp02N", by_mn, 2.5e-8},
    {"dlaswp03N", by_mn, 4e-9}, {"dlaswp03T", by_mn, 4e-9}, {"dlaswp04N", by_mn, 9e-9}, {"dlaswp04T", by_mn, 9e-9},
    {"dlaswp05N", by_mn, 5e-9}, {"dlaswp05T", by_mn, 5e-9}, {"dlaswp06N", by_mn, 5e-9}, {"dlaswp06T", by_mn, 5e-9},
    {"dlaswp10N", by_mn, 8e-9}};

core::KernelModel kernel(const char* level, std::vector<Monomial> terms, std::vector<double> coefficients,
                         double sigma) {
  const Monomial main = terms.front();
  const double main_s = coefficients.front();
  const core::Polynomial mu = core::Polynomial::make(std::move(terms), std::move(coefficients));
  const core::Polynomial scatter = core::Polynomial::make({main}, {sigma * main_s});
  return core::KernelModel::make(
      level, core::PiecewiseLaw(core::DurationLaw::make(mu, scatter, core::NoiseFamily::half_normal)));
}

std::map<std::string, core::KernelModel> kernels(const QuickMachine& machine, const QuickAssumptions& assumed) {
  constexpr Monomial mnk{1, 1, 1}, mk{1, 0, 1}, nk{0, 1, 1};
  constexpr double scatter = 0.02, much_scatter = 0.2;
  // dgemm reads and packs its operands.
  constexpr double a_element_s = 1.5e-9, b_element_s = 3e-9;
  std::map<std::string, core::KernelModel> all;
  const double flop_s = assumed.waiting / machine.flop_per_s_per_core;
  const double others = assumed.waiting * assumed.other_kernels;
  all["dgemm"] = kernel("M2", {mnk, mk, nk}, {2 * flop_s, a_element_s * others, b_element_s * others}, scatter);
  all["dtrsm"] = kernel("M1", {mnk}, {flop_s / assumed.dtrsm}, scatter);
  for (const OtherKernel& one : kernels_of_2017)
    all[one.name] = kernel("M1", {one.unit}, {one.s * others}, much_scatter);
  return all;
}

core::ScopeModel scope(double latency_s, double flow_bytes_per_s, double call_s) {
  core::ScopeModel model;
  model.latency_s = latency_s;
  model.bandwidth_bytes_per_s = flow_bytes_per_s;
  const double slope = 1 / flow_bytes_per_s;
  // Long messages ask first: there and back again.
  model.cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, latency_s, slope}, {rendezvous_bytes, 3 * latency_s, slope}});
  model.cost(core::MessageCost::isend) = core::SegmentedLaw::make({{0, call_s, 0}});
  for (const core::MessageCost cost : {core::MessageCost::send, core::MessageCost::recv})
    model.cost(cost) = core::SegmentedLaw::make({{0, call_s, copy_s_per_byte}, {rendezvous_bytes, 0, 0}});
  return model;
}

core::NetworkModel network(const QuickMachine& machine, const QuickAssumptions& assumed) {
  core::NetworkModel::Values values{};  // braces: GCC 12 warns of members of its variant otherwise
  values.local = scope(local_latency_s, assumed.local_bytes_per_s, assumed.call_s);
  if (machine.nodes > 1) {
    const double link = machine.bandwidth_bytes_per_s * assumed.link_share;
    values.remote = scope(machine.latency_s, std::min(link, assumed.flow_bytes_per_s), assumed.call_s);
    values.remote->capacity = core::LinkCapacity{link, 0, 0, core::LinkCapacity::Origin::given};
  }
  values.async_small_bytes = values.detached_bytes = static_cast<std::uint64_t>(rendezvous_bytes);
  values.iprobe_s = values.test_s = 2e-7;
  values.wtime_s = 3e-8;
  return core::NetworkModel::make(std::move(values));
}

constexpr const char* quick_origin = "hplcast quick: nothing is measured";

std::string provenance(const QuickMachine& machine, const QuickAssumptions& assumed) {
  Json json;
  json["origin"] = quick_origin;
  json["given"] = HPLCAST_JSON(machine, nodes, cores);
  json["given"]["dgemm_flop_per_s_per_core"] = machine.flop_per_s_per_core;
  json["given"].update(HPLCAST_JSON(machine, bandwidth_bytes_per_s, latency_s, memory_bytes));
  if (!machine.threads.empty()) json["given"]["threads"] = machine.threads;
  if (machine.ranks_per_node > 0) json["given"]["ranks_per_node"] = machine.ranks_per_node;
  if (machine.full_w > 0) json["given"].update(HPLCAST_JSON(machine, idle_w, full_w));
  for (const QuickAssumption& one : listed_assumptions<QuickAssumptions>())
    json["assumed"][one.text] = assumed.*one.value / one.unit;
  json["quality_flags"] = {
      {{"subject", "all"}, {"flag", "assumed"}, {"detail", "no kernel and no message of this cluster was measured"}}};
  return core::json_text(json);
}

void check(const QuickMachine& machine) {
  require_positive("nodes", machine.nodes);
  require_positive("cores", machine.cores);
  constexpr double most_ranks = 1e7;
  if (static_cast<double>(machine.nodes) * machine.cores > most_ranks)
    throw core::DomainError("nodes times cores", static_cast<double>(machine.nodes) * machine.cores, "at most 10^7");
  if (machine.full_w != 0 || machine.idle_w != 0) {
    require_positive("watts-idle", machine.idle_w);
    core::require(machine.full_w >= machine.idle_w, "watts-full", machine.full_w, "at least watts-idle");
  }
  require_positive("gflops-per-core", machine.flop_per_s_per_core / 1e9);
  if (machine.nodes == 1) return;
  for (const auto& [name, value] :
       {std::pair("bandwidth", machine.bandwidth_bytes_per_s), {"latency", machine.latency_s}})
    core::require(value > 0, name, value, "a positive number", "several nodes need --bandwidth and --latency");
}

// --- the estimate ---

/// For ratios.
double comparable_s(const QuickMachine& machine, const QuickAssumptions& assumed,
                    const core::HplParameters& parameters) {
  return closed_form_s(quick_cluster(machine, assumed), parameters, ranks_for_ratios);
}

}  // namespace

template <>
const std::vector<QuickAssumption>& listed_assumptions() {
  using A = QuickAssumptions;  // text, place, unit: worst, expected, best
  static const std::vector<QuickAssumption> all = {
      {"waiting for the slowest CPU, factor", &A::waiting, 1, 1.12, 1.03, 1},
      {"time of the other kernels, over a CPU of 2017", &A::other_kernels, 1, 2, 1, 0.5},
      {"rate of dtrsm, over dgemm", &A::dtrsm, 1, 0.5, 0.65, 0.9},
      {"part of the bandwidth that messages get", &A::link_share, 1, 0.75, 0.9, 0.97},
      {"bandwidth of one core to another node [GB/s]", &A::flow_bytes_per_s, 1e9, 6e9, 10e9, 12e9},
      {"bandwidth of a message inside a node [GB/s]", &A::local_bytes_per_s, 1e9, 4e9, 8e9, 15e9},
      {"time of a call that sends or receives [us]", &A::call_s, 1e-6, 1e-6, 5e-7, 2.5e-7}};
  return all;
}

core::ClusterModel quick_cluster(const QuickMachine& machine, const QuickAssumptions& assumptions) {
  check(machine);
  core::ClusterModel cluster;
  cluster.name = machine.name.empty() ? std::to_string(machine.nodes) + "x" + std::to_string(machine.cores) + "-cores"
                                      : machine.name;
  core::Hosts::Values hosts;
  hosts.names = machine.nodes == 1 ? "node-1" : "node-[1-" + std::to_string(machine.nodes) + "]";
  hosts.cores = machine.cores;
  hosts.memory_bytes = machine.memory_bytes;
  cluster.hosts = core::Hosts::make(hosts);
  cluster.kernels = kernels(machine, assumptions);
  cluster.network = network(machine, assumptions);
  if (machine.full_w > 0) cluster.power = power_of_data_sheet(machine.idle_w, machine.full_w, machine.cores);
  cluster.provenance = provenance(machine, assumptions);
  std::vector<Transformation> changes;
  if (!machine.threads.empty()) changes.push_back({"threads-per-rank", machine.threads});
  if (machine.ranks_per_node > 0) changes.push_back({"ranks-per-node", std::to_string(machine.ranks_per_node)});
  if (!machine.fat_tree.empty()) changes.push_back({"fat-tree", machine.fat_tree});
  if (!changes.empty()) cluster = transformed(std::move(cluster), changes);
  return cluster;
}

core::PowerModel power_of_data_sheet(double idle_w, double full_w, int cores) {
  core::PowerModel::Values values;
  values.idle = idle_w;
  for (const char* state : {core::default_state, "polling", "blocked", "messages"})
    values.states[state] = (full_w - idle_w) / cores;
  return core::PowerModel::make(std::move(values));
}

std::optional<double> assumed_spread(const core::ClusterModel& cluster, const core::HplParameters& parameters) {
  const auto json = nlohmann::json::parse(cluster.provenance, nullptr, false);
  if (!json.is_object() || json.value("origin", nlohmann::json()) != quick_origin || !json.contains("given")) return {};
  const nlohmann::json& given = json["given"];
  const auto number = [&](const char* pointer) { return core::number_at(given, pointer); };
  QuickMachine machine;
  machine.nodes = static_cast<int>(number("/nodes"));
  machine.cores = static_cast<int>(number("/cores"));
  machine.flop_per_s_per_core = number("/dgemm_flop_per_s_per_core");
  machine.bandwidth_bytes_per_s = number("/bandwidth_bytes_per_s");
  machine.latency_s = number("/latency_s");
  machine.ranks_per_node = static_cast<int>(number("/ranks_per_node"));
  if (given.contains("threads") && given["threads"].is_string()) machine.threads = given["threads"];
  const auto time_s = [&](double QuickAssumption::*at) {
    return comparable_s(machine, all_assumptions(at), parameters);
  };
  const double middle_s = time_s(&QuickAssumption::expected);
  return std::max(std::log(time_s(&QuickAssumption::worst) / middle_s),
                  std::log(middle_s / time_s(&QuickAssumption::best)));
}

QuickResult quick(const QuickRequest& request) {
  QuickMachine machine = request.machine;
  machine.flop_per_s_per_core = 1e9 * request.gflops_per_core;
  const QuickAssumptions expected = all_assumptions(&QuickAssumption::expected);
  QuickResult result;
  result.cluster = quick_cluster(machine, expected);
  const int ranks = result.cluster.hosts.total_cores();
  core::HplParameters& p = result.parameters;
  p.NB = request.NB;
  p.N = size_from_memory(result.cluster, ranks, request.memory_fraction, p.NB);
  std::tie(p.P, p.Q) = near_square_grids(ranks, 1).front();
  p.validate();
  const auto N = static_cast<double>(p.N);
  result.memory_share = core::hpl_matrix_bytes(N) / (machine.memory_bytes * machine.nodes);
  result.time_s = closed_form_s(result.cluster, p);
  const double expected_s = comparable_s(machine, expected, p);
  const int threads = machine.threads.empty() ? 1 : std::stoi(machine.threads);  // transformed() has read it
  result.peak_gflops = machine.flop_per_s_per_core * ranks * threads / 1e9;
  const double dgemm_s = core::hpl_flop(N) / (1e9 * result.peak_gflops);
  double best = comparable_s(machine, all_assumptions(&QuickAssumption::best), p) / expected_s;
  double worst = comparable_s(machine, all_assumptions(&QuickAssumption::worst), p) / expected_s;
  result.influences = influences_of<QuickAssumptions>(
      [&](const QuickAssumptions& changed) { return comparable_s(machine, changed, p); });
  // Dates are chaotic: with 10,000 ranks and more one assumption alone may change more than all together.
  for (const QuickInfluence& one : result.influences) {
    best = std::min({best, 1 / (1 + one.worst_change), 1 / (1 + one.best_change)});
    worst = std::max({worst, 1 / (1 + one.worst_change), 1 / (1 + one.best_change)});
  }
  const auto with_error = [&](double ratio, double factor) {
    return dgemm_s + factor * std::max(0.0, ratio * result.time_s - dgemm_s);
  };
  result.low_time_s = with_error(best, 1 - closed_form_error);
  result.high_time_s = with_error(worst, 1 + closed_form_error);
  const auto gflops = [&](double s) { return core::hpl_flop(N) / s / 1e9; };
  result.gflops = gflops(result.time_s);
  result.low_gflops = gflops(result.high_time_s);
  result.high_gflops = gflops(result.low_time_s);
  PredictionRequest simulated;
  simulated.cluster = result.cluster;
  simulated.parameters = p;
  result.simulation = resolve_unchecked(std::move(simulated)).needs();
  return result;
}

}  // namespace hplcast::study
