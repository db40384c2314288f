#include "hplcast/study/history.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::study {

namespace {

struct Mean {
  double sum = 0, count = 0;
};
using Means = std::map<std::pair<Place, std::string>, Mean>;
using HostsByName = std::map<std::string, fit::MeasuredHost>;  // which know the numbers of their CPUs in models

/// The CPU that "package-1" or "package-1 dram" is about; -1: the sensor is something else.
int package_of(const std::string& sensor) {
  const std::string name = "package-";
  if (!core::begins_with(sensor, name)) return -1;
  const std::string number = sensor.substr(name.size(), sensor.find(' ') - name.size());
  return number.size() == 1 && number[0] >= '0' && number[0] <= '9' ? number[0] - '0' : -1;
}

/// True for sensors of the CPU, not of a disk.
bool is_cpu_temperature(const std::string& sensor) {
  for (const char* chip : {"coretemp", "k10temp", "zenpower", "cpu_thermal"})
    if (core::begins_with(sensor, chip)) return true;
  return false;
}

/// `place`: the host; its CPU, if it has one.
void add_reading(const fit::MeasuredHost& host, Place place, const std::string& quantity, const std::string& sensor,
                 double value, Means& means) {
  std::string factor;
  if (quantity == "frequency_hz") {
    factor = "frequency_ghz";
    value *= 1e-9;
  } else if (quantity == "temperature_celsius" && is_cpu_temperature(sensor)) {
    factor = "temperature_celsius";
  } else if (quantity == "power_w" && package_of(sensor) >= 0) {
    place.cpu = fit::cpu_in_model(host, package_of(sensor));
    factor = sensor.find(" dram") != std::string::npos ? "power_dram_w" : "power_cpu_w";
    if (factor == "power_cpu_w" && sensor.find(' ') != std::string::npos) return;  // another part of the package
  } else {
    return;
  }
  Mean& mean = means[{place, factor}];
  mean.sum += value;
  ++mean.count;
}

/// Adds the means of the sensors while dgemm was measured: frequency and temperature of a host (of its CPU, if it has
/// one), power of each CPU package and its memory. @throws core::ParseError for damaged files.
void add_sensors(const core::CampaignArchive& archive, HostsByName& hosts, CampaignRecord& record) {
  std::map<std::string, int> cpus;
  for (const auto& machine : archive.context.machines) cpus[machine.host] = machine.packages == 1 ? 0 : -1;
  Means means;
  for (const auto& [name, text] : archive.files) {
    if (!core::begins_with(name, "monitoring/") || name.find("dgemm") == std::string::npos) continue;
    core::CsvReader csv(core::TextStream(text), name);
    const std::size_t host = csv.column("host"), quantity = csv.column("quantity"), sensor = csv.column("sensor"),
                      value = csv.column("value");
    while (csv.next()) {
      const auto its = cpus.emplace(csv.text(host), -1).first;
      add_reading(hosts[its->first], {record.cluster, its->first, its->second}, std::string(csv.text(quantity)),
                  std::string(csv.text(sensor)), csv.number(value), means);
    }
  }
  for (const auto& [key, mean] : means)
    record.observations.push_back({key.first, key.second, record.start_s, mean.sum / mean.count});
}

using core::kibibyte;
using core::mebibyte;
constexpr double short_bytes = 8;

/// Half a round trip: what fits take apart into these three is what was measured.
double message_s(const core::ScopeModel& scope, double bytes) {
  double sum = 0;
  for (const auto cost : {core::MessageCost::send, core::MessageCost::transfer, core::MessageCost::recv})
    sum += scope.cost(cost).mean_s(bytes);
  return sum;
}

void observe(const Place& place, const std::string& factor, double value, CampaignRecord& record) {
  if (std::isfinite(value) && value > 0) record.observations.push_back({place, factor, record.start_s, value});
}

/// Calls `each` with the scopes that a network has.
template <typename Each>
void for_scopes(const core::NetworkModel& network, Each each) {
  each(core::Scope::local);
  if (network.values().remote) each(core::Scope::remote);
}

std::string size_name(double bytes) {
  bytes = std::round(bytes);
  if (std::fmod(bytes, mebibyte) == 0 && bytes > 0) return core::shortest(bytes / mebibyte) + "mib";
  if (std::fmod(bytes, kibibyte) == 0 && bytes > 0) return core::shortest(bytes / kibibyte) + "kib";
  return core::shortest(bytes) + "b";
}

/// The segments of `reference` with what `scope` says of them: its own segments may begin elsewhere, as those of every
/// fit do. The first latency is latency_us.
void add_segments(const core::ScopeModel& scope, const core::ScopeModel& reference, const Place& place,
                  CampaignRecord& record) {
  const auto& segments = reference.cost(core::MessageCost::transfer).segments();
  const double most = std::min(scope.max_bytes, reference.max_bytes);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double name = segments[i].min_bytes, begin = std::max(name, short_bytes);
    const double end = i + 1 < segments.size() ? std::min(segments[i + 1].min_bytes - 1, most) : most;
    if (end <= begin) continue;
    if (i > 0) observe(place, "latency_from_" + size_name(name) + "_us", 1e6 * message_s(scope, begin), record);
    if (end != 64 * kibibyte && end != mebibyte)  // which have names of their own
      observe(place, "bandwidth_from_" + size_name(name) + "_gbps", 1e-9 * end / message_s(scope, end), record);
  }
}

/// Where the costs of messages are observed: inside the host of a campaign of one, inside hosts, between hosts.
Place network_place(const CampaignRecord& record, core::Scope scope) {
  if (scope == core::Scope::local && record.hosts.size() == 1) return {record.cluster, record.hosts.front(), -1};
  return {record.cluster, std::string("network ") + to_string(scope), -1};
}

/// Adds the time of a short message, and the bandwidths of two sizes.
void add_messages(const core::NetworkModel& network, CampaignRecord& record) {
  for_scopes(network, [&](core::Scope which) {
    const core::ScopeModel& scope = network.scope(which);
    const Place place = network_place(record, which);
    observe(place, "latency_us", 1e6 * message_s(scope, short_bytes), record);
    const std::pair<const char*, double> sizes[] = {{"bandwidth_64kib_gbps", 64 * kibibyte},
                                                    {"bandwidth_1mib_gbps", mebibyte}};
    for (const auto& [factor, bytes] : sizes)
      if (scope.max_bytes >= bytes) observe(place, factor, 1e-9 * bytes / message_s(scope, bytes), record);
  });
}

std::int64_t time_in(const core::CampaignArchive& archive, const std::string& file) {
  const auto found = archive.files.find(file);
  const std::string text = found == archive.files.end() ? "" : core::folded(found->second);
  double time_s = 0;
  if (!core::parse_double(text, time_s))
    throw core::ParseError({file, 0, ""}, text.empty() ? "is missing" : "found `" + text + "`",
                           "expected the Unix time that `hplcast calibrate` writes there");
  return static_cast<std::int64_t>(std::floor(time_s));
}

/// Kernels of the operating system and the like: one entry if all hosts have the same.
template <typename Text>
Json distinct(const core::CampaignArchive& archive, Text text) {
  std::set<std::string> all;
  for (const auto& machine : archive.context.machines) all.insert(text(machine));
  return Json(all);
}

/// How and with what was measured. The names and the number of the hosts are not part of it.
std::string protocol_of(const core::CampaignArchive& archive) {
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

std::map<Place, Work> work_of(const core::CampaignArchive& archive, HostsByName& hosts, const std::string& cluster) {
  std::map<Place, Work> work;
  for (const auto& [name, text] : archive.measurements) {
    if (text.substr(0, text.find('\n')).find("kernel") == std::string::npos) continue;
    core::read_kernel_csv(core::TextStream(text), name, "", [&](const core::KernelMeasurement& row) {
      if (row.kernel != "dgemm" || !fit::is_designed(row) || !fit::reason_to_set_aside(row).empty()) return;
      Work& sum = work[{cluster, row.host, fit::cpu_in_model(hosts[row.host], row.cpu)}];
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

void add_models(const fit::Campaign& campaign, const std::map<Place, Work>& work, CampaignRecord& record,
                std::vector<std::string>& notes) {
  try {
    const core::ClusterModel cluster = fit::fit_campaign(campaign).cluster;
    add_kernel_laws(cluster, work, record);
    add_messages(cluster.network, record);
    record.cluster_json = core::written([&](std::ostream& out) { core::write_cluster(out, cluster); });
  } catch (const core::Error& error) {
    if (error.code() != core::ExitCode::no_acceptable_fit) throw;
    notes.push_back(std::string("no models: ") + error.what());
  }
}

}  // namespace

CampaignRecord campaign_record(const core::CampaignArchive& archive, const std::string& cluster,
                               std::vector<std::string>& notes) {
  CampaignRecord record;
  record.cluster = cluster;
  record.start_s = time_in(archive, "start");
  record.end_s = archive.files.count("latest") > 0 ? time_in(archive, "latest") : record.start_s;
  for (const auto& machine : archive.context.machines) record.hosts.push_back(machine.host);
  record.protocol = protocol_of(archive);
  const fit::Campaign campaign = fit::campaign_of(archive);
  HostsByName hosts;
  for (const fit::MeasuredHost& host : campaign.hosts) hosts[host.name] = host;
  const std::map<Place, Work> work = work_of(archive, hosts, cluster);
  if (work.empty())
    throw core::InputError(
        "the archive has no call of dgemm that counts\n  hint: a campaign to watch a cluster has a step "
        "dgemm (docs/use/history.md)");
  for (const auto& [place, sum] : work)
    record.observations.push_back({place, "dgemm_gflops", record.start_s, 2e-9 * sum.products / sum.duration_s});
  add_sensors(archive, hosts, record);
  add_models(campaign, work, record, notes);
  return record;
}

void add_network_segments(CampaignRecord& record, const std::string& reference_json) {
  if (record.cluster_json.empty()) return;
  const auto network_of = [](const std::string& json) {
    return core::read_cluster(core::TextStream(json), "the models of a campaign").network;
  };
  const core::NetworkModel network = network_of(record.cluster_json);
  const core::NetworkModel reference = reference_json.empty() ? network : network_of(reference_json);
  for_scopes(network, [&](core::Scope which) {
    if (which == core::Scope::remote && !reference.values().remote) return;
    add_segments(network.scope(which), reference.scope(which), network_place(record, which), record);
  });
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
