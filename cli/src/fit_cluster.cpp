#include <iostream>
#include <memory>
#include <sstream>

#include "campaign_fit.hpp"
#include "commands.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/fit/report.hpp"
#include "output.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

struct FitClusterOptions {
  std::string campaign;
  std::string name;
  std::vector<long> for_hpl;
  bool quiet = false;
  std::string output;
};

void summarise(const CampaignFit& fit) {
  for (const auto& [kernel, one] : fit.kernels) std::cerr << fit::describe(kernel, one);
  for (const std::string& note : fit.network.notes) std::cerr << "network: " << note << '\n';
}

void run_fit_cluster(const FitClusterOptions& options) {
  require_writable(options.output);
  std::optional<calibration::HplGrid> grid;
  if (!options.for_hpl.empty())
    grid = calibration::HplGrid{options.for_hpl[0], static_cast<int>(options.for_hpl[1]),
                                static_cast<int>(options.for_hpl[2]), static_cast<int>(options.for_hpl[3])};
  CampaignFit fit = fit_campaign(read_campaign_files(options.campaign), grid);
  if (!options.name.empty()) fit.cluster.name = options.name;
  if (!options.quiet) summarise(fit);
  for (const fit::QualityFlag& flag : fit.flags)
    std::cerr << "hplcast fit cluster: warning: " << flag.subject << ": " << flag.flag << ": " << flag.detail << '\n';
  write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, fit.cluster); });
}

}  // namespace

void setup_fit_cluster(CLI::App& fit) {
  const auto options = std::make_shared<FitClusterOptions>();
  CLI::App& command = add_command(fit, "cluster", "A cluster.json from the archive of a campaign",
                                  "hplcast fit cluster laptop.zip -o cluster.json");
  command.add_option("campaign", options->campaign, "archive (or folder) of `hplcast calibrate`")
      ->required()
      ->type_name("FILE");
  command.add_option("--name", options->name, "of the cluster (default: the first host's)");
  command.add_option("--for-hpl", options->for_hpl, "N,NB,P,Q: say whether the sizes of this run have been measured")
      ->delimiter(',')
      ->expected(4)
      ->check(CLI::Range(1L, 2147483647L));
  command.add_flag("--quiet", options->quiet, "warnings only on the standard error");
  command.add_option("-o,--output", options->output, "cluster.json (default: the standard output)")->type_name("FILE");
  command.callback([options] { run_fit_cluster(*options); });
}

}  // namespace hplcast::cli
