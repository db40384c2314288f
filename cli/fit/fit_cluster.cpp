#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/hpl_design.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::cli {

namespace {

struct FitClusterOptions {
  bool idle_messages = false;
  std::string campaign;
  std::string name;
  std::vector<long> for_hpl;
  std::vector<std::string> kinds;
  bool force = false;
  std::string output;
};

fit::HplSizes sizes_of(const core::HplParameters& grid) {
  fit::HplSizes sizes;
  sizes.run = core::printed("N=%lld, NB=%d, %dx%d", grid.N, grid.NB, grid.P, grid.Q);
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

/// "usable", or which flags there are about a kernel or a scope of messages ("local", "isend local").
std::string verdict_on(const std::string& subject, const std::vector<core::QualityFlag>& flags) {
  std::set<std::string> names;
  for (const core::QualityFlag& flag : flags) {
    const std::vector<std::string> words = core::words_of(flag.subject);
    if (std::find(words.begin(), words.end(), subject) != words.end()) names.insert(flag.flag);
  }
  return names.empty() ? "usable" : core::comma_separated(names);
}

/// Half of the largest m and n measured: well inside the range; of dgemm, the k of HPL's updates.
core::KernelShape typical_shape(const core::ShapeRange& range) {
  const auto middle = [](double least, double most) { return std::max(least, std::floor(most / 2)); };
  return {middle(range.min.m, range.max.m), middle(range.min.n, range.max.n), range.max.k};
}

std::string rate_of(const std::string& kernel, const core::KernelModel& model, const core::KernelShape& shape) {
  const double time_s = model.cluster_law().at(shape).mean_s(shape);
  const double flop = core::kernel_flop(*core::kernel_from_name(kernel), shape);
  if (flop > 0) return significant(flop / time_s / 1e9, 3) + " Gflop/s";
  return significant(1e9 * time_s / (shape.m * shape.n), 3) + " ns per element";
}

/// Without those that are 1: kernels of vectors have one size.
std::string sizes_text(const core::KernelShape& shape) {
  std::string text;
  for (const double size : {shape.m, shape.n, shape.k})
    if (size != 1) text += (text.empty() ? "" : " x ") + core::printed("%.0f", size);
  return text;
}

/// A dozen lines: kernels and messages with a rate, an error and a verdict.
void write_summary(std::ostream& out, const fit::CampaignFit& fit) {
  constexpr std::size_t most = 6;
  TextTable table({"model", "rate", "at", "error of a mean", "verdict"});
  table.end_with_words();
  std::vector<std::pair<std::string, const fit::KernelFit*>> kernels;
  for (const auto& [kernel, one] : fit.kernels)  // those that were measured most come first, dgemm before them
    if (one.ok()) kernels.emplace_back(kernel, &one);
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
    const auto weight = [](const auto& one) {
      return std::pair(one.first == "dgemm", one.second->model.quality().rows);
    };
    return weight(a) > weight(b);
  });
  const std::size_t left = kernels.size() - std::min(kernels.size(), most);
  kernels.resize(kernels.size() - left);
  for (const auto& [kernel, one] : kernels) {
    const core::KernelShape shape = typical_shape(*one->model.range());
    table.add({kernel, rate_of(kernel, one->model, shape), sizes_text(shape),
               percent(one->model.quality().mean_abs_relative_error), verdict_on(kernel, fit.flags)});
  }
  const core::NetworkModel::Values& network = fit.cluster.network.values();
  const auto add_scope = [&](core::Scope which, const core::ScopeModel& scope) {
    table.add({std::string("messages, ") + core::to_string(which),
               significant(scope.bandwidth_bytes_per_s / 1e9, 3) + " GB/s",
               significant(1e6 * scope.latency_s, 3) + " us", "", verdict_on(core::to_string(which), fit.flags)});
  };
  add_scope(core::Scope::local, network.local);
  if (network.remote) add_scope(core::Scope::remote, *network.remote);
  table.write(out);
  if (left > 0 || !fit.notes.empty())
    out << (left > 0 ? std::to_string(left) + " more kernels; " : "") << fit.notes.size()
        << " notes on what was left out or assumed: --verbose, and provenance in the result\n";
}

/// The first flag of each kind, and how many more of it there are: a disturbed campaign has dozens.
void warn_of_kinds(const std::vector<core::QualityFlag>& flags) {
  std::map<std::string, std::vector<const core::QualityFlag*>> kinds;
  for (const core::QualityFlag& flag : flags) kinds[flag.flag].push_back(&flag);
  for (const auto& [kind, all] : kinds)
    warn(all.front()->subject + ": " + kind + ": " + all.front()->detail +
         (all.size() == 1 ? "" : "; " + std::to_string(all.size() - 1) + " more of this kind: --verbose"));
}

/// "newer=node-[5-8]"
std::pair<std::string, std::vector<std::string>> parse_kind(const std::string& text) {
  const auto [name, hosts] = name_and_value("--kind", text, "NAME=HOSTS such as newer=node-[5-8]");
  return {name, core::expand_hosts(hosts)};
}

/// Its hosts must be of the campaign.
void add_kind(std::pair<std::string, std::vector<std::string>> kind, fit::Campaign& campaign) {
  for (const std::string& name : kind.second) {
    const auto is_it = [&](const fit::MeasuredHost& host) { return host.name == name; };
    if (std::none_of(campaign.hosts.begin(), campaign.hosts.end(), is_it))
      throw core::DomainError(
          "host of --kind " + kind.first, name,
          "hosts of the campaign, " + campaign.hosts.front().name + " to " + campaign.hosts.back().name);
    for (const auto& [other, hosts] : campaign.kinds)
      if (other == kind.first || std::find(hosts.begin(), hosts.end(), name) != hosts.end())
        throw core::DomainError("--kind " + kind.first, name,
                                "each kind once, and each host in one kind: not in " + other);
  }
  campaign.kinds.push_back(std::move(kind));
}

void run_fit_cluster(const FitClusterOptions& options) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const std::string& text : options.kinds) of_options([&] { kinds.push_back(parse_kind(text)); });
  const core::CampaignArchive archive = calibration::read_campaign_archive(options.campaign);
  fit::Campaign campaign = fit::campaign_of(archive);
  campaign.idle_messages = options.idle_messages;
  for (auto& kind : kinds) add_kind(std::move(kind), campaign);
  if (!options.for_hpl.empty()) campaign.must_cover = sizes_of(grid_of(options.for_hpl));
  fit::CampaignFit fit = fit::fit_campaign(campaign);
  add_power(archive, fit);
  if (!options.name.empty()) fit.cluster.name = options.name;
  const core::Verdict verdict = core::verdict_on(fit.flags);
  if (fit.cluster.hosts.has_kinds()) tell(fit.cluster.name + ": " + fit.cluster.hosts.text());
  tell("the model " + fit.cluster.name + " is " + core::to_string(verdict));
  if (is_verbose()) {
    for (const auto& [kernel, one] : fit.kernels) std::cerr << fit::describe(kernel, one);
    for (const std::string& note : fit.notes) std::cerr << note << '\n';
  } else {
    write_summary(std::cerr, fit);
  }
  is_verbose() ? warn_of_flags(fit.flags) : warn_of_kinds(fit.flags);
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
  command.add_option("--kind", options.kinds, "hosts with kernels of their own: newer=node-[5-8]",
                     of_type("NAME=HOSTS"), many, value_count(1));
  add_for_hpl(command, options.for_hpl, "say whether the sizes of this run have been measured");
  add_choice<bool>(
      command, "--messages", options.idle_messages, {{"loaded", false}, {"idle", true}},
      "those that count: loaded, measured while the ranks compute and poll, as in HPL, or idle, for programs "
      "that send many short ones while their data are in the caches");
  command.add_flag("--force", options.force, "end with exit code 0 also if the model is unusable");
  command.add_json_output(options.output, "cluster.json");
}

}  // namespace hplcast::cli
