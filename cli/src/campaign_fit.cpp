#include "campaign_fit.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "thresholds_file.hpp"

namespace hplcast::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* measured_under = "measurements/";
constexpr const char* hosts_file = "surroundings/hosts.json";

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

void add(fit::KernelTable& table, const core::KernelMeasurement& row) {
  if (row.error.empty()) {
    table.add(row.shape, row.duration_s);
  } else {
    table.set_aside("the call failed: " + row.error);
  }
}

void add_kernels(const std::string& name, const std::string& text, CampaignData& data) {
  std::istringstream in(text);
  long other_contents = 0;
  core::read_kernel_csv(in, name, "dgemm", [&](const core::KernelMeasurement& row) {
    if (row.content != "hpl" && row.content != "random") {
      ++other_contents;
      return;
    }
    add(data.kernels[row.kernel], row);
    if (row.content == "random") data.designed.push_back(row);
  });
  if (other_contents > 0)
    data.notes.push_back(name + ": " + std::to_string(other_contents) +
                         " rows are left out: their matrices do not hold random numbers, as HPL's do");
}

/// Several pairs at once tell where bandwidth is shared, not what a message costs.
void add_messages(const std::string& name, const std::string& text, CampaignData& data) {
  std::istringstream in(text);
  long left_out = 0;
  core::read_mpi_csv(in, name, "", [&](const core::MpiMeasurement& row) {
    if (row.operation == "one_way") {
      data.saturation.push_back(row);
    } else if (row.pairs > 1) {
      ++left_out;
    } else {
      data.messages.push_back(row);
    }
  });
  if (left_out > 0)
    data.notes.push_back(name + ": " + std::to_string(left_out) +
                         " rows are left out: several pairs exchanged messages at once (a step `saturation` measures "
                         "their total bandwidth)");
}

/// Messages as HPL sends them, while ranks compute and poll, if they were measured so; others then do not count.
void keep_loaded_messages(CampaignData& data) {
  const auto is_loaded = [](const core::MpiMeasurement& row) { return row.background == "dgemm+iprobe"; };
  const auto loaded = std::count_if(data.messages.begin(), data.messages.end(), is_loaded);
  const auto all = static_cast<std::ptrdiff_t>(data.messages.size());
  if (loaded == 0 || loaded == all) return;
  data.messages.erase(std::remove_if(data.messages.begin(), data.messages.end(), std::not_fn(is_loaded)),
                      data.messages.end());
  data.notes.push_back(std::to_string(all - loaded) +
                       " messages are left out: others were measured with the background dgemm+iprobe, as in HPL");
}

/// What each host ran on: cores with ranks, in the order of the local ranks.
core::Hosts hosts_of(const calibration::MeasurementContext& context) {
  core::Hosts::Values values;
  values.names.clear();
  values.cores = 0;
  std::map<std::string, std::vector<int>> cpus;  // of the local ranks
  for (const calibration::RankPlace& place : context.ranks) cpus[place.host].push_back(place.cpu);
  for (const calibration::MachineDescription& machine : context.machines) {
    values.names += (values.names.empty() ? "" : ",") + machine.host;
    values.memory_bytes =
        values.memory_bytes > 0 ? std::min(values.memory_bytes, machine.memory_bytes) : machine.memory_bytes;
    const std::vector<int>& here = cpus[machine.host];
    if (static_cast<int>(here.size()) <= values.cores) continue;
    values.cores = static_cast<int>(here.size());
    values.rank_to_cpu.list = here;
    values.cpus = 1 + *std::max_element(here.begin(), here.end());
  }
  const bool one_cpu = values.cpus == 1;
  values.rank_to_cpu.kind = one_cpu ? core::RankToCpu::Kind::block : core::RankToCpu::Kind::list;
  if (one_cpu) values.rank_to_cpu.list.clear();
  return core::Hosts::make(values);
}

using CpuPlace = std::pair<int, int>;  // host (index in the context), cpu

/// @throws core::Error (no_acceptable_fit)
fit::KernelFit require(const std::string& what, fit::KernelFit fit) {
  if (fit.ok()) return fit;
  throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit of " + what + ": " + fit.reason);
}

/// The law of every CPU that dgemm was measured on, if there are several with enough calls each.
std::vector<core::CpuLaw> cpu_laws(const CampaignData& data) {
  constexpr std::size_t enough_shapes = 20;
  std::map<CpuPlace, fit::KernelTable> tables;
  for (const core::KernelMeasurement& row : data.designed) {
    for (std::size_t host = 0; host < data.context.machines.size(); ++host) {
      if (data.context.machines[host].host == row.host) add(tables[{static_cast<int>(host), row.cpu}], row);
    }
  }
  std::vector<core::CpuLaw> laws;
  if (tables.size() < 2) return laws;
  for (const auto& [place, table] : tables) {
    if (table.shapes().size() < enough_shapes) continue;
    const fit::KernelFit fit = fit::fit_hpl_kernel("dgemm", table);
    if (fit.ok()) laws.push_back({place.first, place.second, fit.model.cluster_law()});
  }
  return laws;
}

std::map<std::string, fit::KernelFit> fit_kernels(const CampaignData& data) {
  std::map<std::string, fit::KernelFit> fits;
  for (const auto& [kernel, table] : data.kernels)
    fits.emplace(kernel, require(kernel, fit::fit_hpl_kernel(kernel, table)));
  return fits;
}

/// One rank sends no messages; a model must have a network nevertheless.
fit::NetworkFit network_of_one_rank() {
  core::NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e10;
  values.local.latency_s = 1e-6;
  fit::NetworkFit fit;
  fit.status = fit::NetworkStatus::ok;
  fit.model = core::NetworkModel::make(values);
  fit.notes.push_back("no network was measured: the model is good for HPL on one process only");
  return fit;
}

fit::NetworkFit fit_messages(const CampaignData& data) {
  if (data.messages.empty()) {
    if (data.context.ranks.size() <= 1) return network_of_one_rank();
    throw core::Error(core::ExitCode::no_acceptable_fit,
                      "the campaign has no step `mpi`, so that there is no network to fit");
  }
  fit::NetworkFitOptions options;
  if (!data.thresholds.empty()) {
    std::istringstream in(data.thresholds);
    set_thresholds(in, "thresholds", options);
  }
  std::vector<core::MpiMeasurement> rows = data.messages;
  rows.insert(rows.end(), data.saturation.begin(), data.saturation.end());
  fit::NetworkFit fit = fit::fit_network(rows, options);
  if (!fit.ok()) throw core::Error(core::ExitCode::no_acceptable_fit, "no network model: " + fit.reason);
  return fit;
}

std::string text_of(const CampaignFiles& files, const std::string& name) {
  const auto found = files.find(name);
  return found == files.end() ? "" : found->second;
}

std::string provenance_of(const CampaignFiles& files, const CampaignData& data, const CampaignFit& fit) {
  Json json;
  json["campaign_file"] = text_of(files, "campaign.yaml");
  const std::string start = text_of(files, "start");
  json["start_unix_s"] = start.empty() ? Json() : Json::parse(start);
  json["surroundings"] = Json::parse(text_of(files, hosts_file));
  const std::string git = text_of(files, "surroundings/git.txt");
  json["hplcast_commit"] = git.substr(0, git.find(' '));
  json["quality_flags"] = Json::array();
  for (const fit::QualityFlag& flag : fit.flags) {
    json["quality_flags"].push_back({{"subject", flag.subject}, {"flag", flag.flag}, {"detail", flag.detail}});
  }
  json["notes"] = data.notes;
  for (const std::string& note : fit.network.notes) json["notes"].push_back("network: " + note);
  return json.dump();
}

}  // namespace

CampaignFiles read_campaign_files(const std::string& path) {
  CampaignFiles files =
      std::filesystem::is_directory(path) ? calibration::read_folder(path) : calibration::read_archive(path);
  if (files.count("campaign.yaml") == 0 || files.count(hosts_file) == 0) {
    throw core::Error(core::ExitCode::bad_input,
                      path + " is no campaign: it lacks campaign.yaml or " + hosts_file +
                          "\n  hint: expected an archive or folder made by `hplcast calibrate`");
  }
  return files;
}

CampaignData read_campaign_data(const CampaignFiles& files) {
  CampaignData data;
  std::istringstream hosts(files.at(hosts_file));
  data.context = calibration::read_context(hosts, hosts_file);
  if (data.context.machines.empty()) throw core::ParseError({hosts_file, 0, "/machines"}, "found no hosts");
  for (const auto& [name, text] : files) {
    if (!begins_with(name, measured_under)) continue;
    if (ends_with(name, ".json")) data.thresholds = text;
    if (!ends_with(name, ".csv")) continue;
    const std::string header = text.substr(0, text.find('\n'));
    if (("," + header + ",").find(",operation,") != std::string::npos) {
      add_messages(name, text, data);
    } else {
      add_kernels(name, text, data);
    }
  }
  if (data.kernels.empty()) throw core::Error(core::ExitCode::bad_input, "the campaign has measured no kernels");
  keep_loaded_messages(data);
  data.name = data.context.machines.front().host;
  return data;
}

CampaignFit fit_campaign(const CampaignFiles& files, const std::optional<calibration::HplGrid>& for_hpl) {
  const CampaignData data = read_campaign_data(files);
  CampaignFit fit;
  fit.cluster.name = data.name;
  fit.cluster.hosts = hosts_of(data.context);
  fit.kernels = fit_kernels(data);
  for (const auto& [kernel, one] : fit.kernels) fit.cluster.kernels.emplace(kernel, one.model);
  const auto dgemm = fit.cluster.kernels.find("dgemm");
  if (dgemm == fit.cluster.kernels.end())
    throw core::Error(core::ExitCode::no_acceptable_fit, "the campaign has no calls of dgemm");
  const core::KernelModel& model = dgemm->second;
  dgemm->second =
      core::KernelModel::make(model.level(), model.cluster_law(), cpu_laws(data), model.range(), model.quality());
  fit.network = fit_messages(data);
  fit.cluster.network = fit.network.model;
  fit.flags = campaign_flags(files, data, fit.cluster, for_hpl);
  fit.flags.insert(fit.flags.end(), fit.network.flags.begin(), fit.network.flags.end());
  fit.cluster.provenance = provenance_of(files, data, fit);
  return fit;
}

}  // namespace hplcast::cli
