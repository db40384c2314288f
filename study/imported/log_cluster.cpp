// A cluster.json from HPL's own output and a benchmark of messages.
#include "hplcast/study/log_cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/least_squares.hpp"
#include "hplcast/fit/network_fit.hpp"
#include "hplcast/study/quick.hpp"

namespace hplcast::study {

namespace {

constexpr std::size_t log_parts = 3;  ///< dgemm and dtrsm, other kernels, constant per column
constexpr double unit_flop_per_s = 1e12, no_time = 1e-6;
/// The other kernels are bound by memory: a node has some sixteen times what one of its cores gets. As uncertain.
constexpr double expected_other_kernels = 1.0 / 16, least_other_kernels = 1.0 / 64;
/// How the costs that grow with the matrix divide between panels and updates, no log tells: standard deviation.
constexpr double unknown_division = 0.5;

QuickAssumptions assumptions(double other_kernels) {
  QuickAssumptions assumed = all_assumptions(&QuickAssumption::expected);
  assumed.other_kernels = other_kernels;
  assumed.waiting = 1;
  return assumed;
}

/// One rank per node, with a constant for each column of the panel: each calls idamax once.
core::ClusterModel cluster_of(const QuickMachine& machine, double other_kernels, double column_s) {
  core::ClusterModel cluster = quick_cluster(machine, assumptions(other_kernels));
  const auto pivot = cluster.kernels.find("idamax");
  const core::DurationLaw& law = pivot->second.cluster_law().pieces().front().law;
  std::vector<core::Monomial> terms = law.mu().terms();
  std::vector<double> coefficients = law.mu().coefficients();
  terms.push_back({});
  coefficients.push_back(column_s);
  pivot->second = core::KernelModel::make(
      "M2", core::PiecewiseLaw(core::DurationLaw::make(core::Polynomial::make(terms, coefficients), law.sigma(),
                                                       law.noise(), law.modes())));
  return cluster;
}

/// Time of each part, of coefficient 1, for a matrix of so many columns.
std::array<double, log_parts> basis(core::HplParameters parameters, double columns) {
  parameters.N = std::llround(columns);
  std::array<double, log_parts> result{};
  if (parameters.N < 1) return result;
  QuickMachine machine;
  const auto time_s = [&](double flop_per_s, double other_kernels, double column_s) {
    machine.flop_per_s_per_core = flop_per_s;
    return closed_form_s(cluster_of(machine, other_kernels, column_s), parameters);
  };
  const double nothing = time_s(unit_flop_per_s / no_time, no_time, 0);
  result[0] = time_s(unit_flop_per_s, no_time, 0) - nothing;
  result[1] = time_s(unit_flop_per_s / no_time, 1, 0) - nothing;
  result[2] = time_s(unit_flop_per_s / no_time, no_time, 1) - nothing;
  return result;
}

void require_lines(std::size_t lines) {
  constexpr std::size_t least_lines = 20;
  if (lines < least_lines)
    throw core::InputError("a log with " + std::to_string(lines) + " lines of progress; expected " +
                           std::to_string(least_lines) + ": they tell how the rate depends on the size");
}

void check(const core::HplLog& log, const core::HplLog& first) {
  const core::HplParameters& p = log.parameters;
  if (p.P * p.Q != 1)
    throw core::InputError("a log of " + std::to_string(p.P) + " x " + std::to_string(p.Q) +
                           " ranks; expected one rank on one node, whose time is that of its kernels alone");
  if (!log.result) throw core::InputError("a log without a result: expected a run that ended");
  if (log.result->residual_checked && !log.result->residual_passed)
    throw core::InputError("a log whose residual check has failed");
  require_lines(log.progress.size());
  if (p.N != first.parameters.N || p.NB != first.parameters.NB)
    throw core::InputError("logs of different N or NB; expected repetitions of one run");
}

/// Lines whose time differs by more than their digits may hide, at most 200 of them.
std::vector<core::HplProgress> distinct_lines(const core::HplLog& log) {
  constexpr double least_step = 0.005, errors = 20;
  const double N = static_cast<double>(log.parameters.N);
  std::vector<core::HplProgress> lines = {log.progress.front()};
  for (const core::HplProgress& line : log.progress)
    if (line.column >= lines.back().column + least_step * N &&
        line.elapsed_s > lines.back().elapsed_s + errors * line.elapsed_error_s)
      lines.push_back(line);
  return lines;
}

void add_errors(const std::vector<core::HplProgress>& lines, double N, const fit::RegressionData& data,
                const std::array<double, log_parts>& coefficients, LogCluster& result) {
  std::array<double, 10> real_s{}, model_s{};
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const auto tenth =
        std::min<std::size_t>(9, static_cast<std::size_t>(5 * (lines[i].column + lines[i + 1].column) / N));
    real_s[tenth] += lines[i + 1].elapsed_s - lines[i].elapsed_s;
    for (std::size_t part = 0; part < log_parts; ++part) model_s[tenth] += coefficients[part] * data.columns[part][i];
  }
  for (std::size_t tenth = 0; tenth < real_s.size(); ++tenth) {
    if (real_s[tenth] == 0) continue;  // no line in it
    double& error = tenth == 9 ? result.last_error : result.largest_error;
    error = std::max(error, std::abs(model_s[tenth] / real_s[tenth] - 1));
  }
}

/// Coefficients of one log; adds its errors.
std::array<double, log_parts> fit_log(const core::HplLog& log, LogCluster& result) {
  const double N = static_cast<double>(log.parameters.N);
  // Lines are about a panel ahead of the work (docs/models/follow.md).
  const auto left_at = [&](double column) {
    return basis(log.parameters, N - std::max(0.0, column - log.parameters.NB));
  };
  fit::RegressionData data;
  data.columns.resize(log_parts);
  const std::vector<core::HplProgress> lines = distinct_lines(log);
  require_lines(lines.size());
  std::array<double, log_parts> before = left_at(lines.front().column);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::array<double, log_parts> after = left_at(lines[i].column);
    data.y.push_back(lines[i].elapsed_s - lines[i - 1].elapsed_s);
    data.weights.push_back(1 / data.y.back());
    for (std::size_t part = 0; part < log_parts; ++part) data.columns[part].push_back(before[part] - after[part]);
    data.y.back() -= least_other_kernels * data.columns[1].back();
    before = after;
  }
  fit::LeastSquaresOptions options;
  options.non_negative = true;
  fit::LeastSquares solution = fit::solve_least_squares(data, options);
  // Where the lines do not tell the other kernels from the constant, what a node can be expected to do.
  const double noise = solution.rss / static_cast<double>(data.y.size() - log_parts);
  data.y.push_back(expected_other_kernels - least_other_kernels);
  data.weights.push_back(std::max(noise, std::numeric_limits<double>::min()) / expected_other_kernels /
                         expected_other_kernels);
  for (std::size_t part = 0; part < log_parts; ++part) data.columns[part].push_back(part == 1 ? 1 : 0);
  solution = fit::solve_least_squares(data, options);
  solution.coefficients[1] += least_other_kernels;
  if (!(solution.coefficients[0] > 0))
    throw core::InputError("the progress of a log does not become slower with its flop");
  const std::array<double, log_parts> whole = basis(log.parameters, N);
  double total_s = 0;
  std::array<double, log_parts> coefficients{};
  for (std::size_t part = 0; part < log_parts; ++part) total_s += solution.coefficients[part] * whole[part];
  for (std::size_t part = 0; part < log_parts; ++part)
    coefficients[part] = solution.coefficients[part] * log.result->time_s / total_s;
  add_errors(lines, N, data, coefficients, result);
  return coefficients;
}

/// The network of `quick` with the messages between nodes that were measured.
core::NetworkModel network_of(const LogMachine& machine, const core::NetworkModel& assumed, LogCluster& result) {
  fit::NetworkFitOptions options;
  options.detached_bytes = static_cast<std::uint64_t>(machine.detached_bytes);
  options.async_small_bytes = options.detached_bytes;
  constexpr double long_bytes = 1 << 20;
  for (const core::MpiMeasurement& row : machine.messages)
    if (row.operation == "stream" && row.size_bytes >= long_bytes)
      result.windowed_bytes_per_s = std::max(result.windowed_bytes_per_s, row.size_bytes / row.duration_s);
  const fit::NetworkFit fit = fit::fit_network(machine.messages, options);
  if (!fit.ok())
    throw core::InputError("no network model of several nodes: " + fit.reason + "; expected osu_latency or PingPong");
  core::NetworkModel::Values values = assumed.values();
  values.remote = fit.model.scope(core::Scope::remote);
  result.blocking_bytes_per_s = values.remote->bandwidth_bytes_per_s;
  if (result.windowed_bytes_per_s > 0)
    values.remote->capacity = core::LinkCapacity{std::max(result.windowed_bytes_per_s, result.blocking_bytes_per_s), 0,
                                                 0, core::LinkCapacity::Origin::given};
  values.async_small_bytes = values.detached_bytes = *options.detached_bytes;
  return core::NetworkModel::make(std::move(values));
}

std::vector<std::string> unknown_of(const LogMachine& machine, const LogCluster& result) {
  std::vector<std::string> all = {
      "how costs that grow with the matrix divide between panels and updates: on a grid panels are waited for",
      "how much calls scatter: assumed as by `quick`"};
  if (result.scatter == 0) all.emplace_back("how nodes differ: one log; all wait for the slowest");
  if (machine.nodes == 1) return all;
  all.push_back("when MPI_Send waits for the receiver: assumed from " + core::significant(machine.detached_bytes) +
                " B on");
  all.emplace_back("how messages and computing disturb each other, links of several hops, costs inside a node");
  if (result.windowed_bytes_per_s == 0)
    all.emplace_back("what several messages at once get: no osu_bw; taken as what one gets");
  return all;
}

std::string provenance(const LogMachine& machine, const LogCluster& result) {
  Json json;
  json["origin"] = "hplcast fit imported: logs of HPL and benchmarks of others";
  json["logs"] = Json::array();
  for (const core::HplLog& log : machine.logs)
    json["logs"].push_back({{"N", log.parameters.N}, {"NB", log.parameters.NB}, {"gflops", log.result->gflops}});
  json["fitted"] = HPLCAST_JSON(result, dgemm_flop_per_s, other_kernels, column_s, largest_error, last_error);
  json["quality_flags"] = Json::array();
  for (const std::string& one : result.unknown)
    json["quality_flags"].push_back({{"subject", "all"}, {"flag", "assumed"}, {"detail", one}});
  return core::json_text(json);
}

}  // namespace

LogCluster fit_logs(const LogMachine& machine) {
  if (machine.logs.empty()) throw core::InputError("no log of HPL");
  LogCluster result;
  std::array<double, log_parts> mean{};
  std::vector<double> logs_of_time;
  for (const core::HplLog& log : machine.logs) {
    check(log, machine.logs.front());
    const std::array<double, log_parts> one = fit_log(log, result);
    for (std::size_t part = 0; part < log_parts; ++part)
      mean[part] += one[part] / static_cast<double>(machine.logs.size());
    logs_of_time.push_back(std::log(log.result->time_s));
  }
  result.dgemm_flop_per_s = unit_flop_per_s / mean[0];
  result.other_kernels = mean[1];
  result.column_s = mean[2];
  if (logs_of_time.size() > 1) result.scatter = fit::summarize(logs_of_time).sd;

  QuickMachine quick;
  quick.nodes = machine.nodes;
  quick.flop_per_s_per_core = result.dgemm_flop_per_s;
  quick.bandwidth_bytes_per_s = quick.latency_s = 1;  // replaced below
  quick.memory_bytes = machine.memory_bytes;
  quick.name = machine.name;
  core::ClusterModel cluster = cluster_of(quick, result.other_kernels, result.column_s);
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.threads_per_rank = machine.threads;
  cluster.hosts = core::Hosts::make(hosts);
  if (machine.nodes > 1) cluster.network = network_of(machine, cluster.network, result);
  core::Uncertainty uncertainty;
  if (result.scatter > 0)
    uncertainty.of(core::ErrorGroup::dgemm) =
        core::EstimatedSd{result.scatter, static_cast<double>(logs_of_time.size() - 1)};
  uncertainty.of(core::ErrorGroup::other_kernels) = core::EstimatedSd{unknown_division, 0};
  cluster.uncertainty = uncertainty;
  result.unknown = unknown_of(machine, result);
  cluster.provenance = provenance(machine, result);
  result.cluster = std::move(cluster);
  return result;
}

}  // namespace hplcast::study
