#include "history_logs.hpp"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>
#include <set>

#include "checks.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/history/check.hpp"
#include "hplcast/history/history_database.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

using history::HistoryDatabase;

struct LogOptions {
  std::string database, date, cluster = "all", hosts = "all", type = "change", job, description;
};

/// Options that `history change` and `history outlier` share.
void add_log_options(CLI::App& command, LogOptions& options) {
  add_history_option(command, options.database);
  command.add_option("--cluster", options.cluster, "names, with / between them (all)");
  command.add_option("--hosts", options.hosts, "names, with / between them (all)");
  command.add_option("description", options.description, "what happened")->required();
}

/// Names with "/" between them. @throws core::UsageError for empty ones.
std::vector<std::string> listed(const char* option, const std::string& list) {
  auto names = history::names_in(list);
  if (std::find(names.begin(), names.end(), "") != names.end())
    throw core::UsageError(std::string(option) + " is `" + list + "`; expected names with / between them, or all");
  return names;
}

/// @throws core::Error (bad_input) for a name that no campaign has: an entry about it would do nothing.
void require_known(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw core::Error(core::ExitCode::bad_input, "no campaign has measured " + what + " `" + name + "`; there are " +
                                                   (known.empty() ? "none" : named(known)));
}

std::vector<std::string> hosts_of(const HistoryDatabase& database, const std::string& cluster) {
  std::vector<std::string> hosts;
  for (const auto& [host, times] : database.host_times(cluster)) hosts.push_back(host);
  return hosts;
}

/// An entry of a log is about clusters and hosts, or networks, that campaigns have measured.
void require_known(const HistoryDatabase& database, const LogOptions& options) {
  const auto known = database.clusters();
  // A cluster without a name is called so, too.
  const auto clusters = options.cluster == "all" ? known : history::names_in(options.cluster);
  for (const std::string& cluster : clusters) require_known("cluster", cluster, known);
  if (options.hosts == "all") return;
  std::set<std::string> hosts;
  for (const std::string& cluster : clusters)
    for (const std::string& host : hosts_of(database, cluster)) hosts.insert(host);
  for (const history::Place& place : database.places())
    if (history::list_names(options.cluster, place.cluster)) hosts.insert(place.host);
  for (const std::string& host : listed("--hosts", options.hosts))
    require_known("host", host, {hosts.begin(), hosts.end()});
}

/// What was measured was measured before now. @throws core::UsageError
void require_past(const std::string& date, std::int64_t time_s) {
  if (time_s > std::time(nullptr)) throw core::UsageError("--date is `" + date + "`, in the future (UTC)");
}

void setup_change(CLI::App& group) {
  const auto options = std::make_shared<LogOptions>();
  CLI::App& command = add_command(
      group, "change", "Log that something was changed or repaired: a new reference begins",
      "hplcast history change --date 2025-04-08 --hosts node-3 --type repair \"new fan\" --database watch.db");
  add_log_options(command, *options);
  command.add_option("--date", options->date, "YYYY-MM-DD, or with HH:MM or HH:MM:SS, in UTC")->required();
  command.add_option("--type", options->type, "any word: protocol, BIOS, repair ... (change)");
  command.callback([options] {
    const std::int64_t time_s = of_options([&] { return history::parse_date(options->date); });
    (void)listed("--hosts", options->hosts);
    HistoryDatabase database(options->database, HistoryDatabase::Access::write);
    require_known(database, *options);
    if (time_s > std::time(nullptr))
      std::cerr << "warning: " << options->date << " (UTC) is in the future: the change counts from then on\n";
    const bool added =
        database.add_change({time_s, options->cluster, options->hosts, options->type, options->description});
    tell_added("change of " + options->date, added);
  });
}

void setup_outlier(CLI::App& group) {
  const auto options = std::make_shared<LogOptions>();
  CLI::App& command = add_command(
      group, "outlier", "Log runs that are known to be bad: they are no part of any reference",
      "hplcast history outlier --date 2025-01-20 --hosts node-7 \"another job was on the node\" --database watch.db");
  add_log_options(command, *options);
  command.add_option("--date", options->date, "day of the runs, YYYY-MM-DD, in UTC")->required();
  command.add_option("--job", options->job, "of the batch system (all of that day)");
  command.callback([options] {
    const std::int64_t time_s = of_options([&] { return history::parse_date(options->date); });
    if (time_s % fit::day_s != 0)
      throw core::UsageError("--date is `" + options->date +
                             "`; expected a day, YYYY-MM-DD: all runs of it, or those of --job");
    require_past(options->date, time_s);
    (void)listed("--hosts", options->hosts);
    HistoryDatabase database(options->database, HistoryDatabase::Access::write);
    require_known(database, *options);
    const bool added =
        database.add_outlier({time_s, options->cluster, options->hosts, options->job, options->description});
    tell_added("outlier of " + options->date, added);
  });
}

struct FailedOptions {
  std::string database, date, cluster, hosts, job;
};

/// The cluster that is named, or the only one. @throws core::UsageError if there are several.
std::string one_cluster(const HistoryDatabase& database, const std::string& name) {
  const auto known = database.clusters();
  if (name.empty() && known.size() > 1)
    throw core::UsageError("the history is of several clusters: expected --cluster, one of " + named(known));
  if (name.empty()) return known.empty() ? name : known.front();
  require_known("cluster", name, known);
  return name;
}

/// Without those that are gone.
std::vector<std::string> present_hosts(const HistoryDatabase& database, const std::string& cluster) {
  const auto times = database.host_times(cluster);
  std::int64_t newest_s = 0;
  for (const auto& [host, one] : times) newest_s = std::max(newest_s, one.asked_s);
  std::vector<std::string> hosts;
  for (const auto& [host, one] : times)
    if (newest_s - one.asked_s <= history::CheckOptions().missing_after_s) hosts.push_back(host);
  return hosts;
}

/// A campaign that asked hosts and got nothing. It is measured as the one before, so it begins no new reference.
history::CampaignRecord failed_campaign(const HistoryDatabase& database, const FailedOptions& options,
                                        std::int64_t time_s) {
  history::CampaignRecord record;
  record.job = options.job;
  record.cluster = options.cluster;
  record.start_s = record.end_s = time_s;
  record.hosts = options.hosts == "all" ? present_hosts(database, options.cluster) : listed("--hosts", options.hosts);
  for (const history::StoredCampaign& one : database.campaigns())
    if (one.cluster == options.cluster) record.protocol = database.protocol(one.protocol);
  return record;
}

void setup_failed(CLI::App& group) {
  const auto options = std::make_shared<FailedOptions>();
  CLI::App& command = add_command(
      group, "failed", "Log hosts that were to be measured and gave no result: a job that never ended",
      "hplcast history failed --date \"2025-04-09 07:00\" --cluster demo --hosts node-2 --database watch.db");
  add_history_option(command, options->database);
  command.add_option("--cluster", options->cluster, "its name, if the history is of several");
  command.add_option("--hosts", options->hosts, "names, with / between them, or all that took part in the last week")
      ->required();
  command.add_option("--date", options->date, "YYYY-MM-DD, or with HH:MM or HH:MM:SS, in UTC")->required();
  command.add_option("--job", options->job, "of the batch system");
  command.callback([options] {
    const std::int64_t time_s = of_options([&] { return history::parse_date(options->date); });
    require_past(options->date, time_s);
    (void)listed("--hosts", options->hosts);
    HistoryDatabase database(options->database, HistoryDatabase::Access::write);
    options->cluster = one_cluster(database, options->cluster);
    const auto record = failed_campaign(database, *options, time_s);
    if (record.hosts.empty()) throw core::Error(core::ExitCode::bad_input, "the history has no hosts yet");
    for (const std::string& host : record.hosts) require_known("host", host, hosts_of(database, options->cluster));
    const std::string name = "failed " + options->hosts + " " + options->date + " " + options->cluster;
    tell_added(name, database.add_source({core::sha256_hex(name), name}, [&](const auto& add) { add(record); }));
  });
}

}  // namespace

void add_history_option(CLI::App& command, std::string& database) {
  command.add_option("--database", database, "the history; made if it is missing")->required()->type_name("FILE");
}

std::string named(const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(name.empty() ? "''" : name);
  return core::comma_separated(texts);
}

void tell_added(const std::string& name, bool added) {
  std::cerr << name << (added ? ": added\n" : ": is in the history already\n");
}

void setup_history_logs(CLI::App& group) {
  setup_change(group);
  setup_outlier(group);
  setup_failed(group);
}

}  // namespace hplcast::cli
