#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/commands.hpp"
#include "hplcast/core/doubts.hpp"

namespace hplcast::cli {

namespace {

struct CheckClusterOptions {
  std::string cluster;
  bool json = false;
};

void write_json(std::ostream& out, const std::vector<core::Problem>& problems) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const core::Problem& problem : problems) {
    nlohmann::ordered_json one = {
        {"severity", problem.is_error ? "error" : "warning"}, {"field", problem.field}, {"message", problem.message}};
    if (!problem.hint.empty()) one["hint"] = problem.hint;
    list.push_back(std::move(one));
  }
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;  // names in the file may be any bytes
  out << list.dump(2, ' ', false, replace) << '\n';
}

void write_text(std::ostream& out, const std::vector<core::Problem>& problems) {
  for (const core::Problem& problem : problems)
    out << (problem.is_error ? "error: " : "warning: ") << (problem.field.empty() ? "" : problem.field + ": ")
        << problem.message << (problem.hint.empty() ? "" : "; " + problem.hint) << '\n';
}

void run_check_cluster(const CheckClusterOptions& options) {
  std::optional<core::ClusterModel> cluster;
  const std::vector<core::Problem> problems = read_from(options.cluster, core::cluster_problems, &cluster);
  options.json ? write_json(std::cout, problems) : write_text(std::cout, problems);
  const auto errors = std::count_if(problems.begin(), problems.end(), [](const auto& one) { return one.is_error; });
  if (errors > 0) {
    std::cout.flush();
    throw InputError(options.cluster + " has " + core::counted(errors, "error"));
  }
  std::cerr << options.cluster << ": "
            << (problems.empty() ? "fine" : "no errors, " + core::counted(problems.size(), "warning"));
  if (cluster->hosts.has_kinds()) std::cerr << "; " << cluster->hosts.text();
  if (const std::optional<core::Rails>& rails = cluster->network.values().rails)
    std::cerr << "; " << rails->text(cluster->network.scope(core::Scope::remote).link_bytes_per_s());
  std::cerr << '\n';
}

}  // namespace

void setup_check_cluster(Command& app) {
  Command& command = add_command(app, "check-cluster", "Tell all that is wrong or doubtful in a cluster.json",
                                 "hplcast check-cluster examples/dahu-like.json");
  auto& options = command.runs<CheckClusterOptions>(run_check_cluster);
  command.add_option("cluster", options.cluster, "cluster.json", required, reads("CLUSTER.json"));
  command.add_flag("--json", options.json, "a list of severity, field, message and hint");
}

}  // namespace hplcast::cli
