#include "check_cost.hpp"

#include <iostream>
#include <sstream>

#include "checks.hpp"
#include "configuration_file.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "output.hpp"
#include "seed_option.hpp"
#include "simulation_mode_option.hpp"

namespace hplcast::cli {

namespace {

core::ClusterModel normal_cluster(const history::HistoryDatabase& database, const history::HistoryCheck& check,
                                  const std::string& cluster, const std::string& file) {
  if (!file.empty()) {
    core::ClusterModel normal;
    core::read_file(file, [&](std::istream& in, const std::string& name) { normal = core::read_cluster(in, name); });
    return normal;
  }
  const std::string name = cluster.empty() ? database.clusters().front() : cluster;
  const std::string json = database.latest_cluster_json(name);
  if (json.empty()) {
    throw core::Error(core::ExitCode::bad_input,
                      "the history has no models of the cluster\n  hint: give some with --normal; `history add` keeps "
                      "those of archives");
  }
  std::istringstream in(json);
  return without_findings(check, core::read_cluster(in, database.path().string()));
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::string with_error(const history::Scenario& one) {
  return signed_percent(one.effect) + " +- " + percent(one.effect_error);
}

nlohmann::ordered_json scenario_json(const history::Scenario& one) {
  return {{"P", one.parameters.P},
          {"Q", one.parameters.Q},
          {"gflops", one.gflops},
          {"effect", one.effect},
          {"effect_error", one.effect_error}};
}

}  // namespace

void add_cost_options(CLI::App& command, CheckCostOptions& options) {
  command.add_option("--predict", options.configuration, "what the findings cost this HPL run: HPL.dat, or CSV")
      ->type_name("HPL.dat");
  command
      .add_option("--normal", options.normal,
                  "with --predict: cluster.json without the findings (the newest models of the history)")
      ->type_name("FILE");
  add_seeds(command, options.cost.seeds, "with --predict: seeds, the same for all that is compared (1,2,3)");
  command.add_option("--jobs", options.cost.jobs, "with --predict: simulations at a time (1)")
      ->check(CLI::Range(1, 1024));
  add_simulation_mode(command, options.cost.mode);
}

history::Cost predicted_cost(const history::HistoryDatabase& database, const history::HistoryCheck& check,
                             const std::string& cluster, CheckCostOptions options) {
  const auto configurations = read_configuration_file("hplcast check", options.configuration);
  if (configurations.size() != 1) {
    throw core::Error(core::ExitCode::bad_input, options.configuration + " has " +
                                                     std::to_string(configurations.size()) +
                                                     " runs; expected the one that matters");
  }
  options.cost.parameters = configurations.front();
  return cost_of(check, normal_cluster(database, check, cluster, options.normal), options.cost);
}

void write_cost(std::ostream& out, const history::Cost& cost) {
  out << "predicted with dgemm as much slower or faster as " << cost.factor
      << (cost.kept_kernels.empty() ? "\n" : ", all other kernels as they were\n");
  out << "HPL: " << significant(mean(cost.normal_gflops)) << " Gflop/s without the findings, now "
      << with_error(cost.now) << '\n';
  for (const history::Cost::OfHost& one : cost.hosts) {
    out << one.host << " (" << one.what << "): alone " << with_error(one.alone);
    if (!one.without.gflops.empty()) {
      out << "; without it " << signed_percent(one.without.effect) << " (" << one.without.parameters.P << " x "
          << one.without.parameters.Q << ")"
          << (one.pays_to_leave_out ? ": it pays to leave it out" : ": it does not pay to leave it out");
    }
    out << '\n';
  }
}

nlohmann::ordered_json cost_json(const history::Cost& cost) {
  nlohmann::ordered_json json;
  json["speed"] = cost.factor;
  json["kernels_changed"] = {"dgemm"};
  json["kernels_unchanged"] = cost.kept_kernels;
  json["normal_gflops"] = cost.normal_gflops;
  json["now"] = scenario_json(cost.now);
  auto& hosts = json["hosts"] = nlohmann::ordered_json::array();
  for (const history::Cost::OfHost& one : cost.hosts) {
    nlohmann::ordered_json entry = {{"host", one.host}, {"findings", one.what}, {"alone", scenario_json(one.alone)}};
    if (!one.without.gflops.empty()) entry["without"] = scenario_json(one.without);
    entry["pays_to_leave_out"] = one.pays_to_leave_out;
    hosts.push_back(std::move(entry));
  }
  return json;
}

}  // namespace hplcast::cli
