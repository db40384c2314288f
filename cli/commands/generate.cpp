#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/fit/generative.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::cli {

namespace {

struct GenerateCommandOptions {
  std::string model;
  std::string base;
  std::string name;
  std::string hosts;
  std::vector<std::string> kinds;
  fit::GenerateOptions generate;
  std::string output;
};

/// "slow=4"
std::pair<std::string, int> parse_count(const std::string& text) {
  const std::size_t equal = text.find('=');
  int count = 0;
  if (equal == 0 || equal == std::string::npos || !parse_whole(text.substr(equal + 1), count) || count < 0)
    throw core::UsageError("--kind is `" + text + "`; expected NAME=HOSTS such as slow=4");
  return {text.substr(0, equal), count};
}

void run_generate(GenerateCommandOptions options) {
  const core::GenerativeModel model = read_from(options.model, core::read_generative);
  core::ClusterModel base = read_cluster_file(options.base);
  if (!options.hosts.empty()) of_options([&] { base = study::with_host_names(std::move(base), options.hosts); });
  if (!options.name.empty()) base.name = options.name;
  for (const std::string& text : options.kinds) options.generate.hosts_of_kind.push_back(parse_count(text));
  const core::ClusterModel cluster = fit::sample_cluster(base, model, options.generate);
  write_cluster_file(options.output, cluster);
}

}  // namespace

void setup_generate(Command& app) {
  Command& command = add_command(app, "generate", "Draw a cluster of any size from a generative model",
                                 "hplcast generate examples/generative/generative.json --base examples/dahu-like.json "
                                 "--hosts 'node-[1-256]' --seed 7 -o cluster.json");
  auto& options = command.runs<GenerateCommandOptions>(run_generate);
  command.add_option("model", options.model, "generative model (hplcast fit generative)", required,
                     reads("GENERATIVE.json"));
  command.add_option("--base", options.base, "cluster that gives everything else: cores, network, other kernels",
                     required, reads("CLUSTER.json"));
  command.add_option("--hosts", options.hosts, "names of the hosts (default: those of the base)", host_names,
                     of_type("NAMES"));
  command.add_option("--name", options.name, "of the cluster (default: that of the base)");
  add_seed(command, options.generate.seed, "another seed is another cluster");
  command.add_option("--day", options.generate.day, "another day of the same cluster", at_least_zero, with_default);
  command.add_option("--spatial", options.generate.spatial, "factor on the standard deviations between CPUs",
                     at_least_zero, with_default);
  command.add_option("--temporal", options.generate.temporal, "factor on the standard deviations between days",
                     at_least_zero, with_default);
  command.add_option("--kind", options.kinds,
                     "hosts of each kind, in order: normal=28,slow=4 (default: by their shares)");
  command.add_json_output(options.output, "cluster.json");
}

}  // namespace hplcast::cli
