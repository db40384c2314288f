#pragma once

#include <cstdint>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "hplcast/fit/run_series.hpp"
#include "tests/support/reference_data.hpp"

/// The published histories of dahu, read without any code of hplcast's own database.
namespace hplcast::test {

inline std::int64_t utc(const std::string& date) {
  std::tm parts{};
  if (sscanf(date.c_str(), "%d-%d-%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday) != 3)
    throw std::runtime_error("not a date: " + date);
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return timegm(&parts);
}

inline std::string utc_date(std::int64_t time_s) {
  const std::time_t time = time_s;
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&time));
  return text;
}

inline bool names(const std::string& list, const std::string& one) {
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, '/');)
    if (name == "all" || name == one) return true;
  return false;
}

struct PublishedChange {
  std::string cluster, node;
  std::int64_t time_s = 0;
};

struct PublishedSeries {
  std::vector<std::int64_t> time_s;
  fit::RunSeries runs;
};
using Cpu = std::pair<int, int>;  ///< node, CPU

struct PublishedLogs {
  std::vector<PublishedChange> changes;
  std::vector<std::pair<std::string, long long>> outliers;  ///< nodes, job

  std::size_t epoch(const std::string& node, std::int64_t time_s) const {
    std::size_t count = 0;
    for (const auto& change : changes)
      if (names(change.cluster, "dahu") && names(change.node, node) && change.time_s <= time_s) ++count;
    return count;
  }
  bool is_outlier(const std::string& node, long long job) const {
    for (const auto& [nodes, id] : outliers)
      if (id == job && names(nodes, node)) return true;
    return false;
  }
};

inline PublishedLogs published_logs() {
  PublishedLogs logs;
  std::ifstream changes(reference_file("non-regression/exp_changelog.csv"));
  core::CsvReader log(changes, "changes");
  while (log.next())
    logs.changes.push_back({std::string(log.text(log.column("cluster"))), std::string(log.text(log.column("node"))),
                            utc(std::string(log.text(log.column("date"))))});
  std::ifstream outliers(reference_file("non-regression/exp_outlierlog.csv"));
  core::CsvReader list(outliers, "outliers");
  while (list.next())
    if (list.text(list.column("cluster")) == "dahu")
      logs.outliers.emplace_back(list.text(list.column("node")), list.integer(list.column("jobid")));
  return logs;
}

/// The rows of the files that have this factor, by CPU, in the order of time.
inline std::map<Cpu, PublishedSeries> published_series(const std::vector<std::filesystem::path>& files,
                                                       const std::string& factor, const PublishedLogs& logs) {
  std::map<Cpu, std::map<std::int64_t, std::pair<double, bool>>> rows;
  for (const auto& file : files) {
    std::ifstream in(file);
    core::CsvReader csv(in, file.string());
    while (csv.next()) {
      if (csv.text(csv.column(factor)).empty()) continue;
      const std::string node(csv.text(csv.column("node")));
      const bool outlier = logs.is_outlier(node, csv.integer(csv.column("jobid")));
      rows[{std::stoi(node), static_cast<int>(csv.integer(csv.column("cpu")))}][csv.integer(csv.column("start_time"))] =
          {csv.number(csv.column(factor)), outlier};
    }
  }
  std::map<Cpu, PublishedSeries> result;
  for (const auto& [cpu, runs] : rows) {
    for (const auto& [time_s, run] : runs) {
      PublishedSeries& series = result[cpu];
      series.time_s.push_back(time_s);
      series.runs.values.push_back(run.first);
      series.runs.outlier.push_back(run.second);
      series.runs.epoch.push_back(logs.epoch(std::to_string(cpu.first), time_s));
    }
  }
  return result;
}

}  // namespace hplcast::test
