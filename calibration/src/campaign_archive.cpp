#include "hplcast/calibration/campaign_archive.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/doctor.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr const char* hosts_file = "surroundings/hosts.json";

bool is_measurement(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string ending = file.extension();
  // A study of a detector and samples of power say nothing of kernels and messages.
  for (const char* other : {"-detours", "-power"})
    if (core::ends_with(file.stem().string(), other)) return false;
  return core::begins_with(path, "measurements/") && (ending == ".csv" || ending == ".json");
}

std::string text_of(const CampaignArchive& archive, const std::string& path) {
  const auto found = archive.files.find(path);
  return found == archive.files.end() ? "" : found->second;
}

/// Least and largest count of throttling, by host and sensor.
using ThrottleCounts = std::map<std::string, std::pair<double, double>>;

void add_throttle_counts(const std::string& name, const std::string& text, ThrottleCounts& counts) {
  std::istringstream in(text);
  core::CsvReader csv(in, name);
  const std::size_t host = csv.column("host"), quantity = csv.column("quantity"), sensor = csv.column("sensor"),
                    value = csv.column("value");
  while (csv.next()) {
    if (csv.text(quantity) != "throttle_count") continue;
    const double count = csv.number(value);
    const auto key = std::string(csv.text(host)) + " " + std::string(csv.text(sensor));
    auto& range = counts.emplace(key, std::make_pair(count, count)).first->second;
    range = {std::min(range.first, count), std::max(range.second, count)};
  }
}

/// A counter of throttling that grew while something was measured.
void flag_throttling(const CampaignArchive& archive, std::vector<core::QualityFlag>& flags) {
  ThrottleCounts counts;
  for (const auto& [name, text] : archive.files)
    if (core::begins_with(name, "monitoring/")) add_throttle_counts(name, text, counts);
  for (const auto& [key, range] : counts) {
    if (range.second > range.first)
      flags.push_back({key, "throttling",
                       "the hardware slowed down " + core::shortest(range.second - range.first) +
                           " times because of heat while measuring"});
  }
}

/// The state of a host before the measurement, and what of it was measured.
void flag_host(const MeasurementContext& context, const MachineDescription& machine,
               std::vector<core::QualityFlag>& flags) {
  for (const Check& check : examine(machine, {}, std::nullopt)) {
    const bool matters = check.name == "load" || check.name == "other users" || check.name == "frequency governor";
    if (check.status == CheckStatus::warn && matters)
      flags.push_back({machine.host, "busy_host", check.name + ": " + check.found});
  }
  const auto ranks = std::count_if(context.ranks.begin(), context.ranks.end(),
                                   [&](const RankPlace& place) { return place.host == machine.host; });
  if (ranks < machine.cores)
    flags.push_back({machine.host, "idle_cores",
                     std::to_string(ranks) + " of " + std::to_string(machine.cores) +
                         " cores were measured: all cores together are slower; the model has only the measured ones"});
}

}  // namespace

CampaignArchive read_campaign_archive(const std::filesystem::path& path) {
  CampaignArchive archive;
  archive.files = std::filesystem::is_directory(path) ? read_folder(path) : read_archive(path);
  if (archive.files.count("campaign.yaml") == 0 || archive.files.count(hosts_file) == 0) {
    throw core::Error(core::ExitCode::bad_input,
                      path.string() + " is no campaign: it lacks campaign.yaml or " + hosts_file +
                          "\n  hint: expected an archive or folder made by `hplcast calibrate`");
  }
  std::istringstream hosts(archive.files.at(hosts_file));
  archive.context = read_context(hosts, hosts_file);
  if (archive.context.machines.empty()) throw core::ParseError({hosts_file, 0, "/machines"}, "found no hosts");
  for (const auto& file : archive.files)
    if (is_measurement(file.first)) archive.measurements.insert(file);
  return archive;
}

std::vector<core::QualityFlag> host_doubts(const CampaignArchive& archive) {
  std::vector<core::QualityFlag> flags;
  if (is_oversubscribed(archive.context))
    flags.push_back({"hosts", "oversubscribed", "several ranks shared a core: durations are those of shared cores"});
  for (const MachineDescription& machine : archive.context.machines) flag_host(archive.context, machine, flags);
  flag_throttling(archive, flags);
  return flags;
}

std::string origin_json(const CampaignArchive& archive) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["campaign_file"] = text_of(archive, "campaign.yaml");
  const std::string start = text_of(archive, "start");
  if (!start.empty()) core::check_json(start, "start");
  json["start_unix_s"] = start.empty() ? Json() : Json::parse(start);
  json["surroundings"] = Json::parse(archive.files.at(hosts_file));
  const std::string git = text_of(archive, "surroundings/git.txt");
  json["hplcast_commit"] = git.substr(0, git.find(' '));
  return json.dump();
}

}  // namespace hplcast::calibration
