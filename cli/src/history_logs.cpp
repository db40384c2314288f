#include "history_logs.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

#include "checks.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
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

/// @throws core::Error (bad_input) for a host that no campaign knows: a log entry of it would do nothing.
void require_known_hosts(const HistoryDatabase& database, const std::string& hosts) {
  if (hosts == "all") return;
  std::vector<std::string> known;
  for (const history::Place& place : database.places())
    if (known.empty() || known.back() != place.host) known.push_back(place.host);
  std::istringstream in(hosts);
  for (std::string host; std::getline(in, host, '/');) {
    if (std::find(known.begin(), known.end(), host) != known.end()) continue;
    throw core::Error(core::ExitCode::bad_input, "no campaign has measured host `" + host + "`; there are " +
                                                     (known.empty() ? "none" : core::comma_separated(known)));
  }
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
    HistoryDatabase database(options->database, HistoryDatabase::Access::write);
    require_known_hosts(database, options->hosts);
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
    HistoryDatabase database(options->database, HistoryDatabase::Access::write);
    require_known_hosts(database, options->hosts);
    const bool added =
        database.add_outlier({time_s, options->cluster, options->hosts, options->job, options->description});
    tell_added("outlier of " + options->date, added);
  });
}

struct FailedOptions {
  std::string database, date, cluster, hosts, job;
};

/// A campaign that asked hosts and got nothing. It is measured as the one before, so it begins no new reference.
history::CampaignRecord failed_campaign(const HistoryDatabase& database, const FailedOptions& options,
                                        std::int64_t time_s) {
  history::CampaignRecord record;
  record.job = options.job;
  record.cluster = options.cluster;
  record.start_s = record.end_s = time_s;
  std::istringstream in(options.hosts);
  for (std::string host; std::getline(in, host, '/');) record.hosts.push_back(host);
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
  command.add_option("--hosts", options->hosts, "names, with / between them")->required();
  command.add_option("--date", options->date, "YYYY-MM-DD, or with HH:MM or HH:MM:SS, in UTC")->required();
  command.add_option("--job", options->job, "of the batch system");
  command.callback([options] {
    const std::int64_t time_s = of_options([&] { return history::parse_date(options->date); });
    HistoryDatabase database(options->database, HistoryDatabase::Access::write);
    require_known_hosts(database, options->hosts);
    const std::string name = "failed " + options->hosts + " " + options->date + " " + options->cluster;
    const auto record = failed_campaign(database, *options, time_s);
    tell_added(name, database.add_source({core::sha256_hex(name), name}, [&](const auto& add) { add(record); }));
  });
}

}  // namespace

void add_history_option(CLI::App& command, std::string& database) {
  command.add_option("--database", database, "the history; made if it is missing")->required()->type_name("FILE");
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
