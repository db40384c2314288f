#include "hplcast/study/history.hpp"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/study/history_check.hpp"
#include "hplcast/study/history_models.hpp"

namespace hplcast::cli {

namespace {

using study::HistoryDatabase;
/// --database of the commands that write a history.
void add_history_option(Command& command, std::string& database) {
  command.add_option("--database", database, "the history; made if it is missing", required, of_type("FILE"),
                     named_file);
}

void tell_added(const std::string& name, bool added) {
  std::cerr << name << (added ? ": added\n" : ": is in the history already\n");
}

struct LogOptions {
  std::string database, date, cluster = "all", hosts = "all", type = "change", job, description;
};

/// Options that `history change` and `history outlier` share.
void add_log_options(Command& command, LogOptions& options) {
  add_history_option(command, options.database);
  command.add_option("--cluster", options.cluster, "names, with / between them (all)");
  command.add_option("--hosts", options.hosts, "names, with / between them (all)");
  command.add_option("description", options.description, "what happened", required);
}

/// Names with "/" between them. @throws core::UsageError for empty ones.
std::vector<std::string> hosts_in(const std::string& list) {
  auto names = study::names_in(list);
  if (std::find(names.begin(), names.end(), "") != names.end())
    throw core::UsageError("--hosts is `" + list + "`; expected names with / between them, or all");
  return names;
}

/// The time of --date, if --hosts is right, too. @throws core::UsageError
std::int64_t time_of(const LogOptions& options) {
  const std::int64_t time_s = of_options([&] { return study::parse_date(options.date); });
  hosts_in(options.hosts);
  return time_s;
}

/// @throws core::Error (bad_input) for a name that no campaign has: an entry about it would do nothing.
void require_known(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw InputError("no campaign has measured " + what + " `" + name + "`; there are " +
                   (known.empty() ? "none" : study::names_text(known)));
}

/// An entry of a log is about clusters and hosts, or networks, that campaigns have measured.
void require_known(const HistoryDatabase& database, const LogOptions& options) {
  const auto known = database.clusters();
  // A cluster without a name is called so, too.
  const auto clusters = options.cluster == "all" ? known : study::names_in(options.cluster);
  for (const std::string& cluster : clusters) require_known("cluster", cluster, known);
  if (options.hosts == "all") return;
  std::set<std::string> hosts;
  for (const std::string& cluster : clusters)
    for (const auto& [host, times] : database.host_times(cluster)) hosts.insert(host);
  for (const study::Place& place : database.places())
    if (study::list_names(options.cluster, place.cluster)) hosts.insert(place.host);
  for (const std::string& host : hosts_in(options.hosts)) require_known("host", host, {hosts.begin(), hosts.end()});
}

/// Refuses dates of measurements in the future. @throws core::UsageError
void require_past(const std::string& date, std::int64_t time_s) {
  if (time_s > std::time(nullptr)) throw core::UsageError("--date is `" + date + "`, in the future (UTC)");
}

void run_change(const LogOptions& options) {
  const std::int64_t time_s = time_of(options);
  HistoryDatabase database(options.database, HistoryDatabase::Access::write);
  require_known(database, options);
  if (time_s > std::time(nullptr))
    std::cerr << "warning: " << options.date << " (UTC) is in the future: the change counts from then on\n";
  tell_added("change of " + options.date,
             database.add_change({time_s, options.cluster, options.hosts, options.type, options.description}));
}

void setup_change(Command& group) {
  Command& command = add_command(
      group, "change", "Log that something was changed or repaired: a new reference begins",
      "hplcast history change --date 2025-04-08 --hosts node-3 --type repair \"new fan\" --database watch.db");
  auto& options = command.runs<LogOptions>(run_change);
  add_log_options(command, options);
  command.add_option("--date", options.date, "YYYY-MM-DD, or with HH:MM or HH:MM:SS, in UTC", required);
  command.add_option("--type", options.type, "any word: protocol, BIOS, repair ... (change)");
}

void run_outlier(const LogOptions& options) {
  const std::int64_t time_s = time_of(options);
  if (time_s % core::day_s != 0)
    throw core::UsageError("--date is `" + options.date +
                           "`; expected a day, YYYY-MM-DD: all runs of it, or those of --job");
  require_past(options.date, time_s);
  HistoryDatabase database(options.database, HistoryDatabase::Access::write);
  require_known(database, options);
  const auto campaigns = database.campaigns();
  const auto is_of_job = [&](const study::StoredCampaign& one) { return one.job == options.job; };
  if (!options.job.empty() && std::none_of(campaigns.begin(), campaigns.end(), is_of_job))
    throw InputError("no campaign is of job `" + options.job + "`");
  tell_added("outlier of " + options.date,
             database.add_outlier({time_s, options.cluster, options.hosts, options.job, options.description}));
}

void setup_outlier(Command& group) {
  Command& command = add_command(
      group, "outlier", "Log runs that are known to be bad: they are no part of any reference",
      "hplcast history outlier --date 2025-01-20 --hosts node-7 \"another job was on the node\" --database watch.db");
  auto& options = command.runs<LogOptions>(run_outlier);
  add_log_options(command, options);
  command.add_option("--date", options.date, "day of the runs, YYYY-MM-DD, in UTC", required);
  command.add_option("--job", options.job, "of the batch system (all of that day)");
}

/// The cluster that is named, or the only one. @throws core::UsageError if there are several.
std::string one_cluster(const HistoryDatabase& database, const std::string& name) {
  const auto known = database.clusters();
  if (name.empty() && known.size() > 1)
    throw core::UsageError("the history is of several clusters: expected --cluster, one of " +
                           study::names_text(known));
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
    if (newest_s - one.asked_s <= study::CheckOptions().missing_after_s) hosts.push_back(host);
  return hosts;
}

/// A campaign that asked hosts and got nothing. It is measured as the one before, so it begins no new reference.
study::CampaignRecord failed_campaign(const HistoryDatabase& database, const LogOptions& options, std::int64_t time_s) {
  study::CampaignRecord record;
  record.job = options.job;
  record.cluster = options.cluster;
  record.start_s = record.end_s = time_s;
  record.hosts = options.hosts == "all" ? present_hosts(database, options.cluster) : hosts_in(options.hosts);
  for (const study::StoredCampaign& one : database.campaigns())
    if (one.cluster == options.cluster) record.protocol = database.protocol(one.protocol);
  return record;
}

void run_failed(LogOptions& options) {
  const std::int64_t time_s = time_of(options);
  require_past(options.date, time_s);
  HistoryDatabase database(options.database, HistoryDatabase::Access::write);
  options.cluster = one_cluster(database, options.cluster);
  const auto record = failed_campaign(database, options, time_s);
  if (record.hosts.empty()) throw InputError("the history has no hosts yet");
  std::vector<std::string> known;
  for (const auto& [host, times] : database.host_times(options.cluster)) known.push_back(host);
  for (const std::string& host : record.hosts) require_known("host", host, known);
  const std::string name = "failed " + options.hosts + " " + options.date + " " + options.cluster;
  tell_added(name, database.add_source({core::sha256_hex(name), name}, [&](const auto& add) { add(record); }));
}

void setup_failed(Command& group) {
  Command& command = add_command(
      group, "failed", "Log hosts that were to be measured and gave no result: a job that never ended",
      "hplcast history failed --date \"2025-04-09 07:00\" --cluster demo --hosts node-2 --database watch.db");
  auto& options = command.runs<LogOptions>(run_failed);
  options.cluster.clear();
  add_history_option(command, options.database);
  command.add_option("--cluster", options.cluster, "its name, if the history is of several");
  command.add_option("--hosts", options.hosts, "names, with / between them, or all that took part in the last week",
                     required);
  command.add_option("--date", options.date, "YYYY-MM-DD, or with HH:MM or HH:MM:SS, in UTC", required);
  command.add_option("--job", options.job, "of the batch system");
}

struct SiteOptions {
  std::string database, folder;
  study::CheckOptions check;
};

void run_site(const SiteOptions& options) {
  require_distinct("--factors", options.check.factors);
  if (fs::exists(options.folder) && !fs::is_directory(options.folder))
    throw InputError(options.folder + " is a file; expected a folder for the pages");
  const study::HistoryDatabase database(options.database, study::HistoryDatabase::Access::read);
  const study::SiteSize size = write_site(database, options.check, options.folder);
  std::cerr << size.pages << " pages, the largest of " << (size.largest_bytes + 1023) / 1024 << " KiB; begin with "
            << (fs::path(options.folder) / "index.html").string() << '\n';
}

void setup_site(Command& group) {
  Command& command =
      add_command(group, "site", "Write a history as static pages: what needs attention, all hosts over time",
                  "hplcast history site watch.db -o site");
  auto& options = command.runs<SiteOptions>(run_site);
  command.add_option("history", options.database, "database of `hplcast history`", required, of_type("FILE"));
  command.add_option("-o,--output", options.folder, "folder for the pages; made if it is missing", required,
                     of_type("DIR"));
  command.add_option("--cluster", options.check.cluster, "only this one (all)");
  command.add_option("--factors", options.check.factors, "only these (docs/use/history.md)");
}

struct ExportOptions {
  std::string database, output, base;
  std::vector<std::string> between;
  study::HistorySpan span;
};

/// The newest models of the history, or those of a file.
core::ClusterModel base_of(const HistoryDatabase& database, const ExportOptions& options) {
  if (!options.base.empty()) return read_cluster_file(options.base);
  const std::string json = database.latest_cluster_json(options.span.cluster);
  if (json.empty())
    throw InputError(options.database +
                     " has no whole models, only numbers of runs\n  hint: --base gives cluster.json with "
                     "what a host is like, the network and the other kernels");
  return core::read_cluster(core::TextStream(json), options.database);
}

void run_export(ExportOptions& options) {
  of_options([&] {
    if (options.between.empty()) return;
    options.span.begin_s = study::parse_date(options.between.front());
    options.span.end_s = study::parse_end(options.between.back());
    if (*options.span.end_s < *options.span.begin_s)
      throw core::UsageError("--between: " + options.between.back() + " is before " + options.between.front());
  });
  const HistoryDatabase database(options.database, HistoryDatabase::Access::read);
  options.span.cluster = one_cluster(database, options.span.cluster);
  const study::HistoryCluster made = cluster_of_history(database, options.span, base_of(database, options));
  write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, made.cluster); });
  std::string days = "; of fewer than three days: how days differ is not known";
  if (made.days.days >= 3)
    days = "; days differ by " + percent(made.days.sd) + " (standard deviation of " + std::to_string(made.days.days) +
           " days)";
  tell(core::counted(made.cpus, "CPU") + " of " + core::counted(made.cluster.hosts.count(), "host") + ", " +
       core::counted(made.runs, "run") + " of dgemm" + days);
}

void setup_history_export(Command& group) {
  Command& command = add_command(
      group, "export", "Write cluster.json of the CPUs as they were between two dates",
      "hplcast history export watch.db --base examples/dahu-like.json --between 2025-03-25 2025-04-07 -o now.json");
  auto& options = command.runs<ExportOptions>(run_export);
  command.add_option("history", options.database, "database of `hplcast history`", required, reads("FILE"));
  command.add_option("--cluster", options.span.cluster, "its name, if the history is of several");
  command.add_option("--between", options.between,
                     "first and last day, YYYY-MM-DD, or with a time, in UTC (all of the history)",
                     of_type("DATE DATE"), value_count(2));
  command.add_option("--base", options.base,
                     "cluster.json for hosts, network and other kernels (the newest of the history)",
                     reads("cluster.json"));
  command.add_option("-o,--output", options.output, "file to write (default: the standard output)",
                     writes("cluster.json"));
}

/// SHA-256 of an archive, or of all files of a campaign's folder.
std::string hash_of(const fs::path& path, const core::CampaignArchive& archive) {
  if (!fs::is_directory(path)) return core::sha256_hex(core::read_text(path));
  std::string all;
  for (const auto& [name, text] : archive.files) all += name + " " + core::sha256_hex(text) + "\n";
  return core::sha256_hex(all);
}

/// Runs `work` with a history; one that it was to begin goes again if it fails, unless something is in it.
template <typename Work>
void in_history(const std::string& path, const Work& work) {
  std::error_code ignored;
  const bool is_new = !fs::exists(fs::symlink_status(path, ignored));
  try {
    HistoryDatabase database(path, HistoryDatabase::Access::write);
    work(database);
  } catch (...) {
    bool is_empty = false;
    try {
      const study::HistoryCounts counts = HistoryDatabase(path, HistoryDatabase::Access::read).counts();
      is_empty = counts.campaigns == 0 && counts.changes == 0 && counts.outliers == 0;
    } catch (const core::Error&) {
    }
    if (is_new && is_empty) fs::remove(path, ignored);
    throw;
  }
}

struct AddOptions {
  std::vector<std::string> archives;
  std::string database, cluster, job;
};

/// The campaign to compare with: the last of these hosts or, if one of them is new, of the cluster. Hosts may be
/// measured one by one.
std::optional<study::StoredCampaign> last_campaign(const HistoryDatabase& database, const study::CampaignRecord& record,
                                                   bool any_new) {
  const auto campaigns = database.campaigns();
  for (auto one = campaigns.rbegin(); one != campaigns.rend(); ++one) {
    if (one->cluster != record.cluster || one->start_s > record.start_s) continue;
    const auto hosts = any_new ? record.hosts : database.hosts(one->id);
    if (std::find_first_of(hosts.begin(), hosts.end(), record.hosts.begin(), record.hosts.end()) != hosts.end())
      return *one;
  }
  return std::nullopt;
}

/// Prints changes of the hosts or the way of measuring, before a campaign is added.
void tell_differences(const HistoryDatabase& database, const study::CampaignRecord& record) {
  const auto known = database.host_times(record.cluster);
  const bool any_new = std::any_of(record.hosts.begin(), record.hosts.end(),
                                   [&](const std::string& host) { return known.count(host) == 0; });
  const auto last = last_campaign(database, record, any_new);
  if (!last) return;
  for (const auto& difference : study::protocol_differences(database.protocol(last->protocol), record.protocol))
    std::cerr << "  measured in another way than before, so a new reference begins: " << difference << '\n';
  for (const std::string& host : record.hosts)
    if (known.count(host) == 0) std::cerr << "  host " << host << " is new: its history begins now\n";
  for (const std::string& host : database.hosts(last->id))
    if (std::find(record.hosts.begin(), record.hosts.end(), host) == record.hosts.end())
      std::cerr << "  host " << host << " took part in the campaign before, not in this one\n";
}

void run_add(const AddOptions& options) {
  for (const std::string& path : options.archives) {
    const core::CampaignArchive archive = calibration::read_campaign_archive(path);
    const std::string hash = hash_of(path, archive);
    in_history(options.database, [&](HistoryDatabase& database) {
      if (database.has_source(hash)) return tell_added(path, false);
      try {
        std::vector<std::string> notes;
        study::CampaignRecord record = study::campaign_record(archive, options.cluster, notes);
        record.job = options.job;
        add_network_segments(record, database.first_cluster_json(record.cluster, core::sha256_hex(record.protocol)));
        tell_differences(database, record);
        tell_added(path, database.add_source({hash, path}, [&](const auto& add) { add(record); }));
        for (const std::string& note : notes) std::cerr << "  " << note << '\n';
      } catch (const core::Error& error) {
        throw core::Error(error.code(), path + ": " + error.what());  // of which of many
      }
    });
  }
}

void setup_add(Command& group) {
  Command& command = add_command(group, "add", "Add the archives of campaigns",
                                 "hplcast history add laptop.zip --database history.db");
  auto& options = command.runs<AddOptions>(run_add);
  command.add_option("archives", options.archives, "archives, or folders, of `hplcast calibrate`", required,
                     of_type("FILE"));
  add_history_option(command, options.database);
  command.add_option("--cluster", options.cluster, "name of the cluster, if the history is of several");
  command.add_option("--job", options.job, "of the batch system, for `history outlier`");
}

struct HistoryImportOptions {
  std::vector<std::string> files, changes, outliers;
  std::string database, cluster;
};

void import_file(HistoryDatabase& database, const std::string& path, const std::string& cluster) {
  const std::string text = core::read_text(path);
  const std::string name = core::is_standard_stream(path) ? "standard input" : path;
  study::ImportedRuns found;
  const bool added = database.add_source({core::sha256_hex(text), name}, [&](const HistoryDatabase::Add& add) {
    found = study::import_runs(core::TextStream(text), name, cluster, add);
  });
  tell_added(name, added);
  if (!added) return;
  std::cerr << "  " << core::counted(found.rows, "row") << " of " << core::counted(found.campaigns, "job") << ": "
            << core::comma_separated(found.factors) << '\n';
  if (!found.unused.empty())
    std::cerr << "  columns that are no factors: " << core::comma_separated(found.unused) << '\n';
}

template <typename Entry>
std::vector<Entry> read_all(const std::vector<std::string>& paths,
                            std::vector<Entry> (*read)(std::istream&, const std::string&)) {
  std::vector<Entry> entries;
  for (const std::string& path : paths) core::append(entries, read_from(path, read));
  return entries;
}

void run_history_import(const HistoryImportOptions& options) {
  if (options.files.empty() && options.changes.empty() && options.outliers.empty())
    throw core::UsageError("nothing to import: expected files of runs, --changes or --outliers");
  // Whatever can be wrong is read before the history is made.
  const std::vector<study::Change> changes = read_all(options.changes, study::read_changes);
  const std::vector<study::LoggedOutlier> outliers = read_all(options.outliers, study::read_outliers);
  for (const std::string& path : options.files)
    if (!core::is_standard_stream(path)) core::read_file(path, [](std::istream&, const std::string&) {});
  in_history(options.database, [&](HistoryDatabase& database) {
    for (const std::string& path : options.files) import_file(database, path, options.cluster);
    if (!options.changes.empty()) std::cerr << database.add_changes(changes) << " new changes\n";
    if (!options.outliers.empty()) std::cerr << database.add_outliers(outliers) << " new outliers\n";
  });
}

void setup_import_of_runs(Command& group) {
  Command& command = add_command(
      group, "import", "Add runs, changes and outliers from CSV files",
      "hplcast history import examples/watch/runs.csv --changes examples/watch/changes.csv --database watch.db");
  auto& options = command.runs<HistoryImportOptions>(run_history_import);
  command.add_option("files", options.files, "one row per CPU and job: node, cpu, jobid, start_time, factors",
                     of_type("FILE"));
  add_history_option(command, options.database);
  command.add_option("--cluster", options.cluster, "name of the cluster, for files without such a column");
  command.add_option("--changes", options.changes, "date, cluster, node, type, description", of_type("FILE"));
  command.add_option("--outliers", options.outliers, "date, cluster, node, jobid, description", of_type("FILE"));
}

}  // namespace

void setup_history(Command& app) {
  Command& group = add_command(app, "history", "Keep what repeated campaigns have measured (docs/use/history.md)",
                               "hplcast history import --help");
  group.require_subcommand(1);
  for (const auto setup :
       {setup_add, setup_import_of_runs, setup_change, setup_outlier, setup_failed, setup_history_export, setup_site})
    setup(group);
}

}  // namespace hplcast::cli
