#include <iostream>
#include <memory>

#include "checks.hpp"
#include "cluster_file.hpp"
#include "commands.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/platforms/hostfile.hpp"
#include "hplcast/platforms/model_h.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "output.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

struct EmitOptions {
  std::string cluster;
  std::string platform;
  std::string hostfile;
  std::string model_h;
  int ranks = 0;
};

void run_emit(const EmitOptions& options) {
  if (options.platform.empty() && options.hostfile.empty() && options.model_h.empty()) {
    throw core::UsageError("nothing to emit: give --platform, --hostfile or --model-h");
  }
  for (const std::string& path : {options.platform, options.hostfile, options.model_h}) require_writable(path);
  for (const std::string& path : {options.platform, options.hostfile, options.model_h})
    require_other_file(path, {options.cluster});
  const core::ClusterModel cluster = read_cluster_file(options.cluster);
  if (!options.platform.empty()) {
    core::write_file(options.platform, [&](std::ostream& out) { platforms::write_platform_xml(out, cluster); });
    for (const std::string& loss : platforms::platform_xml_losses(cluster)) {
      std::cerr << "hplcast emit: warning: " << options.platform << " loses a part of the cluster: " << loss << '\n';
    }
  }
  if (!options.hostfile.empty()) {
    const int ranks = options.ranks > 0 ? options.ranks : cluster.hosts.total_cores();
    core::write_file(options.hostfile, [&](std::ostream& out) { platforms::write_hostfile(out, cluster, ranks); });
  }
  if (!options.model_h.empty()) {
    core::write_file(options.model_h, [&](std::ostream& out) { platforms::write_model_h(out, cluster); });
  }
}

}  // namespace

void setup_emit(CLI::App& app) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App& command = add_command(app, "emit", "Export a cluster for plain smpirun",
                                  "hplcast emit examples/dahu-like.json --platform platform.xml --hostfile hostfile "
                                  "--model-h model.h --ranks 64");
  command.add_option("cluster", options->cluster, "cluster.json")->required()->type_name("CLUSTER.json");
  command.add_option("--platform", options->platform, "SimGrid's platform")->type_name("platform.xml");
  command.add_option("--hostfile", options->hostfile, "one line per rank, for smpirun and mpirun")
      ->type_name("hostfile");
  command.add_option("--model-h", options->model_h, "kernel models as C99 tables")->type_name("model.h");
  command.add_option("--ranks", options->ranks, "lines of the hostfile (default: all cores of the cluster)")
      ->check(CLI::PositiveNumber);
  command.callback([options] { run_emit(*options); });
}

}  // namespace hplcast::cli
