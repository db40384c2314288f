#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/power_fit.hpp"

namespace hplcast::cli {

namespace {

struct FitClusterOptions {
  std::string campaign;
  std::string name;
  std::vector<long> for_hpl;
  bool force = false;
  std::string output;
};

fit::HplSizes sizes_of(const core::HplParameters& grid) {
  fit::HplSizes sizes;
  sizes.run = "N=" + std::to_string(grid.N) + ", NB=" + std::to_string(grid.NB) + ", " + std::to_string(grid.P) + "x" +
              std::to_string(grid.Q);
  for (const calibration::DgemmShape& shape : calibration::hpl_update_shapes(grid))
    sizes.updates.push_back({static_cast<double>(shape.m), static_cast<double>(shape.n), static_cast<double>(shape.k)});
  const std::vector<long> messages = calibration::hpl_message_bytes(grid);
  if (!messages.empty()) sizes.longest_message_bytes = static_cast<double>(messages.back());
  return sizes;
}

/// Samples of the steps `power`, if there are any, become the power of the cluster, with watts of each host if several
/// were measured. @throws core::Error (no_acceptable_fit) if they cannot be fitted.
void add_power(const core::CampaignArchive& archive, fit::CampaignFit& fit) {
  const std::vector<core::PowerSample> samples = fit::power_samples(archive);
  if (samples.empty()) return;
  fit::PowerFitOptions options;
  options.hosts = &fit.cluster.hosts;
  const fit::PowerRows rows = fit::power_rows(samples);
  const fit::PowerFit power = fit::fit_power(rows, options);
  if (!power.ok)
    throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit of the power: " + power.reason);
  if (!is_quiet()) print_power_fit(std::cerr, power, rows);
  warn_of_flags(power.flags, "power of ");
  fit::set_power(power, rows, fit.cluster);
}

void run_fit_cluster(const FitClusterOptions& options) {
  const core::CampaignArchive archive = calibration::read_campaign_archive(options.campaign);
  fit::Campaign campaign = fit::campaign_of(archive);
  if (!options.for_hpl.empty()) campaign.must_cover = sizes_of(grid_of(options.for_hpl));
  fit::CampaignFit fit = fit::fit_campaign(campaign);
  add_power(archive, fit);
  if (!options.name.empty()) fit.cluster.name = options.name;
  const core::Verdict verdict = core::verdict_on(fit.flags);
  tell("the model " + fit.cluster.name + " is " + core::to_string(verdict));
  for (const auto& [kernel, one] : fit.kernels) std::cerr << fit::describe(kernel, one);
  for (const std::string& note : fit.notes) std::cerr << note << '\n';
  warn_of_flags(fit.flags);
  write_cluster_file(options.output, fit.cluster);
  if (verdict.usability == core::Usability::unusable && !options.force)
    throw core::Error(core::ExitCode::no_acceptable_fit,
                      "the model is unusable, though it was written: the warnings say why\n  hint: "
                      "mend the campaign and measure again; --force takes it as it is");
}

}  // namespace

void setup_fit_cluster(Command& fit) {
  Command& command = add_command(fit, "cluster", "A cluster.json from the archive of a campaign",
                                 "hplcast fit cluster laptop.zip -o cluster.json");
  auto& options = command.runs<FitClusterOptions>(run_fit_cluster);
  command.add_option("campaign", options.campaign, "archive (or folder) of `hplcast calibrate`", required,
                     reads("FILE"));
  command.add_option("--name", options.name, "of the cluster (default: the first host's)");
  add_for_hpl(command, options.for_hpl, "say whether the sizes of this run have been measured");
  command.add_flag("--force", options.force, "end with exit code 0 also if the model is unusable");
  command.add_json_output(options.output, "cluster.json");
}

}  // namespace hplcast::cli
