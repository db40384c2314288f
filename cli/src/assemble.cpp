#include <memory>

#include "commands.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "output.hpp"
#include "program.hpp"
#include "quantities.hpp"

namespace hplcast::cli {

namespace {

struct AssembleOptions {
  std::string name;
  core::Hosts::Values hosts = core::Hosts().values();
  std::string rank_to_cpu = "block";
  std::vector<std::string> kernels;
  std::string network;
  std::string provenance;
  std::string output;
};

core::RankToCpu parse_rank_to_cpu(const std::string& text) {
  core::RankToCpu result;
  if (text == "block") return result;
  if (text == "cyclic") {
    result.kind = core::RankToCpu::Kind::cyclic;
    return result;
  }
  result.kind = core::RankToCpu::Kind::list;
  for (const std::string& cpu : CLI::detail::split(text, ',')) {
    int number = 0;
    if (!CLI::detail::lexical_cast(cpu, number)) {
      throw core::UsageError("--rank-to-cpu is `" + text + "`; expected block, cyclic, or CPU numbers like 0,0,1,1");
    }
    result.list.push_back(number);
  }
  return result;
}

/// Kernel models of several files; a kernel may stand in one of them only.
std::map<std::string, core::KernelModel> read_kernels(const std::vector<std::string>& paths) {
  std::map<std::string, core::KernelModel> all;
  for (const std::string& path : paths) {
    core::read_file(path, [&](std::istream& in, const std::string& name) {
      for (auto& [kernel, model] : core::read_kernel_models(in, name)) {
        if (!all.emplace(kernel, std::move(model)).second) {
          throw core::ParseError({name, 0, "/" + kernel}, "the kernel " + kernel + " is in another file, too");
        }
      }
    });
  }
  return all;
}

void run_assemble(const AssembleOptions& options) {
  require_writable(options.output);
  core::ClusterModel cluster;
  cluster.name = options.name;
  core::Hosts::Values hosts = options.hosts;
  hosts.rank_to_cpu = parse_rank_to_cpu(options.rank_to_cpu);
  cluster.hosts = core::Hosts::make(hosts);
  cluster.kernels = read_kernels(options.kernels);
  core::read_file(options.network, [&](std::istream& in, const std::string& name) {
    cluster.network = core::read_network_model(in, name);
  });
  if (!options.provenance.empty()) {
    core::read_file(options.provenance, [&](std::istream& in, const std::string& name) {
      cluster.provenance = core::read_provenance(in, name);
    });
  }
  write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, cluster); });
}

}  // namespace

void setup_assemble(CLI::App& app) {
  auto options = std::make_shared<AssembleOptions>();
  CLI::App& command = add_command(app, "assemble", "Join fitted models to a cluster.json",
                                  "hplcast assemble --name mine --hosts localhost --cores 2 --kernel-fits kernels.json "
                                  "--network-fit network.json -o cluster.json");
  command.add_option("--name", options->name, "of the cluster")->required();
  command.add_option("--hosts", options->hosts.names, "names of the hosts: node-[1-32]")->capture_default_str();
  command.add_option("--cores", options->hosts.cores, "per host")->capture_default_str();
  command.add_option("--cpus", options->hosts.cpus, "sockets per host")->capture_default_str();
  command
      .add_option("--rank-to-cpu", options->rank_to_cpu, "CPU of each local rank: block, cyclic, or a list: 0,0,1,1")
      ->capture_default_str();
  command.add_option("--memory", options->hosts.memory_bytes, "per host (64GiB)")->transform(as_bytes());
  command.add_option("--kernel-fits", options->kernels, "JSON objects of kernel models, by kernel name")
      ->required()
      ->type_name("FILE");
  command.add_option("--network-fit", options->network, "JSON object of the network model")
      ->required()
      ->type_name("FILE");
  command.add_option("--provenance", options->provenance, "JSON object: what was measured, when, where")
      ->type_name("FILE");
  command.add_option("-o,--output", options->output, "cluster.json (default: the standard output)")->type_name("FILE");
  command.callback([options] { run_assemble(*options); });
}

}  // namespace hplcast::cli
