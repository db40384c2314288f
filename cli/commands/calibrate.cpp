#include <cmath>
#include <iostream>

#include "cli/campaign/campaign_yaml.hpp"
#include "cli/commands/commands.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/campaign.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

struct CalibrateOptions {
  std::string campaign;
  std::string folder;
  std::string archive;
  bool resume = false;
  bool dry_run = false;
};

/// Steps, places and times.
void print_plan(std::ostream& out, const calibration::CampaignPlan& plan) {
  for (const std::string& note : plan.notes) tell(note);
  std::vector<int> pieces(plan.steps.size(), 0);
  for (const calibration::CampaignChunk& piece : calibration::chunks_of(plan)) ++pieces[piece.step];
  TextTable table({"step", "rows", "pieces", "about"});
  double total_s = plan.warm_up_s;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const calibration::CampaignStep& step = plan.steps[i];
    total_s += step.estimated_s;
    table.add({step.name, step.rows > 0 ? std::to_string(step.rows) : "-", std::to_string(pieces[i]),
               duration_text(std::ceil(step.estimated_s))});
  }
  table.write(out);
  const std::string places = !plan.hosts.empty() ? core::comma_separated(plan.hosts)
                             : plan.each_host    ? "the nodes of this Slurm job"
                                                 : "this machine";
  out << core::counted(plan.launch.ranks, "rank") << (plan.launch.threads > 1 ? " of several threads" : "") << " on "
      << places << ": about " << duration_text(std::ceil(total_s))
      << " with the warm-up, and some seconds more for each piece; less on cores of more than 10 to 20 Gflop/s\n";
}

void run_calibrate(const CalibrateOptions& options) {
  const fs::path programs = core::own_executable().parent_path();
  const std::string text = read_from(options.campaign, [](std::istream& in, const std::string& name) {
    return core::read_text(in, name, "is this a campaign?", core::most_bytes_of_plan);
  });
  const calibration::CampaignPlan plan = read_campaign(text, options.campaign, programs);
  const fs::path archive = options.archive.empty() ? fs::path(plan.name + ".zip") : fs::path(options.archive);
  calibration::require_archive_name(archive);
  require_writable(archive);
  if (options.dry_run) return print_plan(std::cout, plan);
  const fs::path folder = options.folder.empty() ? fs::path(plan.name + ".campaign") : fs::path(options.folder);
  const bool folder_refuses = fs::exists(folder);  // run_campaign() does, and says how to go on
  if (!options.resume && !folder_refuses && fs::exists(archive))
    throw InputError(archive.string() +
                     " exists: measurements are not overwritten\n  hint: choose another "
                     "name with -o, or move it away");
  core::catch_interrupts();
  Progress progress;
  calibration::CampaignReport report;
  report.message = [&](const std::string& message) {
    progress.clear();
    std::cerr << message << '\n';
  };
  report.progress = [&](double fraction, const std::string& what) { progress.update(fraction, what); };
  calibration::run_campaign(plan, folder, options.resume, report);
  progress.clear();
  calibration::write_archive(archive, folder, plan.name);
  std::cerr << "measured; everything is in " << archive.string() << '\n';
}

}  // namespace

void setup_calibrate(Command& app) {
  Command& command =
      add_command(app, "calibrate", "Make the measurements of a campaign file, and pack them into one archive",
                  "hplcast calibrate examples/campaign-laptop.yaml -o laptop.zip");
  auto& options = command.runs<CalibrateOptions>(run_calibrate);
  command.add_option("campaign", options.campaign, "YAML: hosts and steps (docs/formats/campaign.md)", required,
                     reads("FILE"));
  command.add_option("-o,--output", options.archive, "archive to write: .zip, .tar.zst or .tar.gz (default: NAME.zip)",
                     of_type("FILE"));
  command.add_option("--folder", options.folder, "where to work (default: NAME.campaign)", of_type("DIR"));
  command.add_flag("--dry-run", options.dry_run, "print steps, places and times only; starts nothing");
  command.add_flag("--resume", options.resume, "continue a campaign that was interrupted");
}

}  // namespace hplcast::cli
