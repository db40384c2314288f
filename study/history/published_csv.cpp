#include "hplcast/study/history.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

constexpr std::size_t none = core::CsvReader::npos;

/// Nodes 1, 2 ... of cluster dahu are dahu-1, dahu-2 ...
std::string host_name(const std::string& cluster, const std::string& node) {
  const bool is_number = !node.empty() && node.find_first_not_of("0123456789") == std::string::npos;
  return is_number && !cluster.empty() ? cluster + "-" + node : node;
}

/// The first of two columns that is there. @throws core::ParseError if none is.
std::size_t column_of(const core::CsvReader& csv, const char* name, const char* other) {
  const std::size_t second = csv.find_column(other);
  return csv.find_column(name) == none && second != none ? second : csv.column(name);
}

std::string not_empty(const core::CsvReader& csv, std::size_t column) {
  const std::string text(csv.text(column));
  if (text.empty()) throw core::ParseError(csv.at(column), "expected a text, found nothing");
  return text;
}

/// Factors with their columns. avg_gflops is what another of the published files calls mean_gflops.
std::vector<std::pair<const FactorInfo*, std::size_t>> factor_columns(const core::CsvReader& csv) {
  std::vector<std::pair<const FactorInfo*, std::size_t>> columns;
  for (const FactorInfo& factor : known_factors()) {
    std::vector<std::string> names = {factor.name, factor.published};
    if (names[1] == "mean_gflops") names.emplace_back("avg_gflops");
    for (const std::string& one : names) {
      if (one.empty() || csv.find_column(one) == none) continue;
      columns.emplace_back(&factor, csv.find_column(one));
      break;
    }
  }
  if (columns.empty())
    throw core::ParseError({csv.name(), 1, ""}, "no column of a factor; found " + core::comma_separated(csv.header()),
                           "docs/use/history.md lists the factors, such as dgemm_gflops or mean_frequency");
  return columns;
}

/// The rows of a file, by job; several clusters may have the same number of a job.
using Jobs = std::map<std::pair<std::string, std::string>, CampaignRecord>;

void finish(CampaignRecord& campaign) {
  std::set<std::string> hosts;
  campaign.start_s = campaign.observations.front().time_s;
  for (const FactorObservation& one : campaign.observations) {
    campaign.start_s = std::min(campaign.start_s, one.time_s);
    hosts.insert(one.place.host);
  }
  campaign.end_s = campaign.start_s;  // unknown: jobs of other hosts may begin meanwhile
  campaign.hosts.assign(hosts.begin(), hosts.end());
}

/// "13/14" of cluster dahu: "dahu-13/dahu-14"; "13" of dahu/gros: "dahu-13/gros-13".
std::string host_list(const std::string& clusters, const std::string& nodes) {
  if (nodes == "all") return nodes;
  return core::joined(names_in(clusters), "/", [&](const std::string& cluster) {
    return core::joined(names_in(nodes), "/", [&](const std::string& node) { return host_name(cluster, node); });
  });
}

/// Entries with a date, clusters, hosts, one text more in a column of these names, and a description.
template <typename Entry>
std::vector<Entry> read_log(std::istream& in, const std::string& name, const char* more, const char* or_more) {
  core::CsvReader csv(in, name);
  const std::size_t date = csv.column("date"), cluster = csv.column("cluster"), hosts = column_of(csv, "node", "hosts"),
                    text = column_of(csv, more, or_more), description = csv.column("description");
  std::vector<Entry> entries;
  while (csv.next()) {
    const std::string its_cluster = not_empty(csv, cluster);
    entries.push_back({csv.made(date, parse_date), its_cluster, host_list(its_cluster, not_empty(csv, hosts)),
                       std::string(csv.text(text)), std::string(csv.text(description))});
  }
  return entries;
}

}  // namespace

ImportedRuns import_runs(std::istream& in, const std::string& name, const std::string& cluster,
                         const std::function<void(const CampaignRecord&)>& add) {
  core::CsvReader csv(in, name);
  const std::size_t node = column_of(csv, "node", "host"), cpu = csv.column("cpu"),
                    job = column_of(csv, "jobid", "job"), start = csv.column("start_time");
  const std::size_t cluster_column = csv.find_column("cluster");
  if (cluster_column == none && cluster.empty())
    throw core::ParseError({name, 1, ""}, "there is no column cluster", "name it with --cluster");
  const auto factors = factor_columns(csv);
  constexpr double year_2000_s = 946684800;
  const double latest_s = static_cast<double>(std::time(nullptr) + core::day_s);  // of another zone, at most
  Jobs jobs;
  ImportedRuns found;
  while (csv.next()) {
    const std::string its_cluster = cluster.empty() ? not_empty(csv, cluster_column) : cluster;
    const std::string its_job = not_empty(csv, job);
    CampaignRecord& campaign = jobs[{its_cluster, its_job}];
    campaign.cluster = its_cluster;
    campaign.job = its_job;
    const Place place{its_cluster, host_name(its_cluster, not_empty(csv, node)), csv.integer(cpu, 0, 4095)};
    const double start_s = csv.number(start);
    if (!(start_s >= year_2000_s && start_s <= latest_s))
      throw core::ParseError(
          csv.at(start),
          "found " + std::string(csv.text(start)) + "; expected a Unix time in s, since 2000 and in the past",
          "are these ms? Else the clock was wrong");
    const auto time_s = static_cast<std::int64_t>(std::floor(start_s));
    for (const auto& [factor, column] : factors)
      if (csv.has(column))
        campaign.observations.push_back(
            {place, factor->name, time_s, factor->checked ? csv.positive(column) : csv.number(column)});
    ++found.rows;
  }
  if (found.rows == 0) throw core::ParseError({name, csv.line(), ""}, "found no rows");
  std::vector<CampaignRecord*> in_order;
  for (auto& [key, campaign] : jobs) {
    if (campaign.observations.empty()) continue;
    finish(campaign);
    in_order.push_back(&campaign);
  }
  std::stable_sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->start_s < b->start_s; });
  for (const CampaignRecord* campaign : in_order) add(*campaign);
  found.campaigns = in_order.size();
  std::set<std::size_t> used = {node, cpu, job, start, cluster_column};
  for (const auto& [factor, column] : factors) {
    found.factors.emplace_back(factor->name);
    used.insert(column);
  }
  for (std::size_t i = 0; i < csv.header().size(); ++i)
    if (used.count(i) == 0) found.unused.push_back(csv.header()[i]);
  return found;
}

std::vector<Change> read_changes(std::istream& in, const std::string& name) {
  return read_log<Change>(in, name, "type", "type");
}

std::vector<LoggedOutlier> read_outliers(std::istream& in, const std::string& name) {
  return read_log<LoggedOutlier>(in, name, "jobid", "job");
}

}  // namespace hplcast::study
