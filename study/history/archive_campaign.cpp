#include "hplcast/study/archive_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/row_rules.hpp"
#include "study/history/archive_sensors.hpp"
#include "study/history/network_factors.hpp"

namespace hplcast::study {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t time_in(const calibration::CampaignArchive& archive, const std::string& file) {
  const auto found = archive.files.find(file);
  std::string text = found == archive.files.end() ? "" : found->second;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  double time_s = 0;
  if (!core::parse_double(text, time_s)) {
    throw core::ParseError({file, 0, ""}, text.empty() ? "is missing" : "found `" + text + "`",
                           "expected the Unix time that `hplcast calibrate` writes there");
  }
  return static_cast<std::int64_t>(std::floor(time_s));
}

/// Kernels of the operating system and the like: one entry if all hosts have the same.
template <typename Text>
Json distinct(const calibration::CampaignArchive& archive, Text text) {
  std::set<std::string> all;
  for (const auto& machine : archive.context.machines) all.insert(text(machine));
  return Json(all);
}

/// How and with what was measured. The names and the number of the hosts are not part of it.
std::string protocol_of(const calibration::CampaignArchive& archive) {
  Json protocol;
  Json& designs = protocol["designs"] = Json::object();
  for (const auto& [name, text] : archive.files)
    if (core::begins_with(name, "designs/")) designs[name.substr(8)] = core::sha256_hex(text).substr(0, 16);
  protocol["BLAS"] = archive.context.software.blas_library;
  protocol["BLAS core type"] = archive.context.software.blas_core_type;
  protocol["MPI"] = archive.context.software.mpi_library;
  protocol["compiler"] = archive.context.software.compiler;
  protocol["kernel"] = distinct(archive, [](const auto& machine) { return machine.kernel; });
  protocol["firmware"] = distinct(archive, [](const auto& machine) { return machine.firmware; });
  protocol["governor"] = distinct(archive, [](const auto& machine) { return machine.governor; });
  protocol["turbo"] = distinct(archive, [](const auto& machine) {
    return !machine.turbo ? "unknown" : *machine.turbo ? "on" : "off";
  });
  return core::json_text(protocol);
}

/// Sums of the calls of a design on one CPU.
struct Work {
  double products = 0, duration_s = 0;
};

std::map<Place, Work> work_of(const calibration::CampaignArchive& archive, const std::string& cluster) {
  std::map<Place, Work> work;
  for (const auto& [name, text] : archive.measurements) {
    if (text.substr(0, text.find('\n')).find("kernel") == std::string::npos) continue;
    std::istringstream in(text);
    core::read_kernel_csv(in, name, "", [&](const core::KernelMeasurement& row) {
      if (row.kernel != "dgemm" || !fit::is_designed(row) || !fit::reason_to_set_aside(row).empty()) return;
      Work& sum = work[{cluster, row.host, row.cpu}];
      sum.products += row.shape.m * row.shape.n * row.shape.k;
      sum.duration_s += row.duration_s;
    });
  }
  return work;
}

void add_coefficients(const core::DurationLaw& law, const Place& place, CampaignRecord& record) {
  const std::pair<const char*, core::Monomial> terms[] = {{"dgemm_intercept", {0, 0, 0}},
                                                          {"dgemm_mnk", {1, 1, 1}},
                                                          {"dgemm_mn", {1, 1, 0}},
                                                          {"dgemm_mk", {1, 0, 1}},
                                                          {"dgemm_nk", {0, 1, 1}}};
  for (const auto& [name, term] : terms) {
    record.observations.push_back({place, name, record.start_s, law.mu().coefficient(term)});
    record.observations.push_back({place, std::string(name) + "_sd", record.start_s, law.sigma().coefficient(term)});
  }
}

/// Coefficients of the CPUs that have a law of their own, or of the only one.
void add_kernel_laws(const core::ClusterModel& cluster, const std::map<Place, Work>& work, CampaignRecord& record) {
  const auto found = cluster.kernels.find("dgemm");
  if (found == cluster.kernels.end()) return;
  const auto add = [&](const core::PiecewiseLaw& law, const Place& place) {
    if (law.pieces().size() == 1) add_coefficients(law.pieces().front().law, place, record);
  };
  if (work.size() == 1) return add(found->second.law(0, work.begin()->first.cpu), work.begin()->first);
  for (const core::CpuLaw& own : found->second.overrides())
    add(own.law, {record.cluster, cluster.hosts.names().at(static_cast<std::size_t>(own.host)), own.cpu});
}

void add_models(const calibration::CampaignArchive& archive, const std::map<Place, Work>& work, CampaignRecord& record,
                std::vector<std::string>& notes) {
  try {
    const core::ClusterModel cluster = fit::fit_campaign(campaign_of(archive)).cluster;
    add_kernel_laws(cluster, work, record);
    add_messages(cluster.network, record);
    std::ostringstream json;
    core::write_cluster(json, cluster);
    record.cluster_json = json.str();
  } catch (const core::Error& error) {
    if (error.code() != core::ExitCode::no_acceptable_fit) throw;
    notes.push_back(std::string("no models: ") + error.what());
  }
}

}  // namespace

fit::Campaign campaign_of(const calibration::CampaignArchive& archive) {
  fit::Campaign campaign;
  for (const calibration::MachineDescription& machine : archive.context.machines) {
    fit::MeasuredHost host{machine.host, machine.memory_bytes, {}};
    for (const calibration::RankPlace& place : archive.context.ranks)
      if (place.host == machine.host) host.rank_cpus.push_back(place.cpu);
    campaign.hosts.push_back(std::move(host));
  }
  campaign.measurements = archive.measurements;
  campaign.origin = calibration::origin_json(archive);
  campaign.doubts = calibration::host_doubts(archive);
  return campaign;
}

CampaignRecord campaign_record(const calibration::CampaignArchive& archive, const std::string& cluster,
                               std::vector<std::string>& notes) {
  CampaignRecord record;
  record.cluster = cluster;
  record.start_s = time_in(archive, "start");
  record.end_s = archive.files.count("latest") > 0 ? time_in(archive, "latest") : record.start_s;
  for (const auto& machine : archive.context.machines) record.hosts.push_back(machine.host);
  record.protocol = protocol_of(archive);
  const std::map<Place, Work> work = work_of(archive, cluster);
  if (work.empty()) {
    throw core::Error(core::ExitCode::bad_input,
                      "the archive has no call of dgemm that counts\n  hint: a campaign to watch a cluster has a step "
                      "dgemm (docs/use/history.md)");
  }
  for (const auto& [place, sum] : work)
    record.observations.push_back({place, "dgemm_gflops", record.start_s, 2e-9 * sum.products / sum.duration_s});
  add_sensors(archive, record);
  add_models(archive, work, record, notes);
  return record;
}

std::vector<std::string> protocol_differences(const std::string& before, const std::string& after) {
  const Json old = core::parse_json<Json>(before), now = core::parse_json<Json>(after);
  std::vector<std::string> differences;
  const auto text = [](const Json& json) { return json.is_string() ? json.get<std::string>() : core::json_text(json); };
  for (const auto& [key, value] : now.items()) {
    if (!old.contains(key)) {
      differences.push_back(key + ": " + text(value));
    } else if (old[key] != value) {
      differences.push_back(key == "designs" ? "designs" : key + ": " + text(old[key]) + " -> " + text(value));
    }
  }
  for (const auto& [key, value] : old.items())
    if (!now.contains(key)) differences.push_back(key + " is gone");
  return differences;
}

}  // namespace hplcast::study
