#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "commands.hpp"
#include "history_logs.hpp"
#include "hplcast/calibration/campaign_archive.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/history/archive_campaign.hpp"
#include "hplcast/history/history_database.hpp"
#include "hplcast/history/published_csv.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

namespace fs = std::filesystem;
using history::HistoryDatabase;

/// SHA-256 of an archive, or of all files of a campaign's folder.
std::string hash_of(const fs::path& path, const calibration::CampaignArchive& archive) {
  if (!fs::is_directory(path)) return core::sha256_hex(core::read_text(path));
  std::string all;
  for (const auto& [name, text] : archive.files) all += name + " " + core::sha256_hex(text) + "\n";
  return core::sha256_hex(all);
}

struct AddOptions {
  std::vector<std::string> archives;
  std::string database, cluster, job;
};

/// The campaign to compare with: the last of these hosts or, if one of them is new, of the cluster. Hosts may be
/// measured one by one.
std::optional<history::StoredCampaign> last_campaign(const HistoryDatabase& database,
                                                     const history::CampaignRecord& record, bool any_new) {
  const auto campaigns = database.campaigns();
  for (auto one = campaigns.rbegin(); one != campaigns.rend(); ++one) {
    if (one->cluster != record.cluster || one->start_s > record.start_s) continue;
    const auto hosts = any_new ? record.hosts : database.hosts(one->id);
    if (std::find_first_of(hosts.begin(), hosts.end(), record.hosts.begin(), record.hosts.end()) != hosts.end())
      return *one;
  }
  return std::nullopt;
}

/// What is new about the hosts or the way of measuring, before a campaign is added.
void tell_differences(const HistoryDatabase& database, const history::CampaignRecord& record) {
  const auto known = database.host_times(record.cluster);
  const bool any_new = std::any_of(record.hosts.begin(), record.hosts.end(),
                                   [&](const std::string& host) { return known.count(host) == 0; });
  const auto last = last_campaign(database, record, any_new);
  if (!last) return;
  for (const auto& difference : history::protocol_differences(database.protocol(last->protocol), record.protocol))
    std::cerr << "  measured in another way than before, so a new reference begins: " << difference << '\n';
  for (const std::string& host : record.hosts)
    if (known.count(host) == 0) std::cerr << "  host " << host << " is new: its history begins now\n";
  for (const std::string& host : database.hosts(last->id))
    if (std::find(record.hosts.begin(), record.hosts.end(), host) == record.hosts.end())
      std::cerr << "  host " << host << " took part in the campaign before, not in this one\n";
}

void run_add(const AddOptions& options) {
  for (const std::string& path : options.archives) {
    const calibration::CampaignArchive archive = calibration::read_campaign_archive(path);
    const std::string hash = hash_of(path, archive);
    HistoryDatabase database(options.database, HistoryDatabase::Access::write);
    if (database.has_source(hash)) {
      tell_added(path, false);
      continue;
    }
    std::vector<std::string> notes;
    history::CampaignRecord record = history::campaign_record(archive, options.cluster, notes);
    record.job = options.job;
    add_network_segments(record, database.first_cluster_json(record.cluster, core::sha256_hex(record.protocol)));
    tell_differences(database, record);
    const bool added = database.add_source({hash, path}, [&](const auto& add) { add(record); });
    tell_added(path, added);
    for (const std::string& note : notes) std::cerr << "  " << note << '\n';
  }
}

void setup_add(CLI::App& group) {
  const auto options = std::make_shared<AddOptions>();
  CLI::App& command = add_command(group, "add", "Add the archives of campaigns",
                                  "hplcast history add laptop.zip --database history.db");
  command.add_option("archives", options->archives, "archives, or folders, of `hplcast calibrate`")
      ->required()
      ->type_name("FILE");
  add_history_option(command, options->database);
  command.add_option("--cluster", options->cluster, "name of the cluster, if the history is of several");
  command.add_option("--job", options->job, "of the batch system, for `history outlier`");
  command.callback([options] { run_add(*options); });
}

struct ImportOptions {
  std::vector<std::string> files, changes, outliers;
  std::string database, cluster;
};

void import_file(HistoryDatabase& database, const std::string& path, const std::string& cluster) {
  const std::string text = core::read_text(path);
  const std::string name = core::is_standard_stream(path) ? "standard input" : path;
  history::ImportedRuns found;
  const bool added = database.add_source({core::sha256_hex(text), name}, [&](const HistoryDatabase::Add& add) {
    std::istringstream in(text);
    found = history::import_runs(in, name, cluster, add);
  });
  tell_added(name, added);
  if (!added) return;
  std::cerr << "  " << found.rows << " rows of " << found.campaigns << " jobs: " << core::comma_separated(found.factors)
            << '\n';
  if (!found.unused.empty())
    std::cerr << "  columns that are no factors: " << core::comma_separated(found.unused) << '\n';
}

/// The entries of a log, after those that are there.
template <typename Entry>
void add_all(const std::string& path, std::vector<Entry> (*read)(std::istream&, const std::string&),
             std::vector<Entry>& entries) {
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    for (Entry& entry : read(in, name)) entries.push_back(std::move(entry));
  });
}

void run_import(const ImportOptions& options) {
  if (options.files.empty() && options.changes.empty() && options.outliers.empty())
    throw core::UsageError("nothing to import: expected files of runs, --changes or --outliers");
  // Whatever can be wrong is read before the history is made.
  std::vector<history::Change> changes;
  std::vector<history::LoggedOutlier> outliers;
  for (const std::string& path : options.changes) add_all(path, history::read_changes, changes);
  for (const std::string& path : options.outliers) add_all(path, history::read_outliers, outliers);
  for (const std::string& path : options.files)
    if (!core::is_standard_stream(path)) core::read_file(path, [](std::istream&, const std::string&) {});
  HistoryDatabase database(options.database, HistoryDatabase::Access::write);
  for (const std::string& path : options.files) import_file(database, path, options.cluster);
  if (!options.changes.empty()) std::cerr << database.add_changes(changes) << " new changes\n";
  if (!options.outliers.empty()) std::cerr << database.add_outliers(outliers) << " new outliers\n";
}

void setup_history_import(CLI::App& group) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App& command = add_command(
      group, "import", "Add runs, changes and outliers from CSV files",
      "hplcast history import examples/watch/runs.csv --changes examples/watch/changes.csv --database watch.db");
  command.add_option("files", options->files, "one row per CPU and job: node, cpu, jobid, start_time, factors")
      ->type_name("FILE");
  add_history_option(command, options->database);
  command.add_option("--cluster", options->cluster, "name of the cluster, for files without such a column");
  command.add_option("--changes", options->changes, "date, cluster, node, type, description")->type_name("FILE");
  command.add_option("--outliers", options->outliers, "date, cluster, node, jobid, description")->type_name("FILE");
  command.callback([options] { run_import(*options); });
}

}  // namespace

void setup_history(CLI::App& app) {
  CLI::App& group = add_command(app, "history", "Keep what repeated campaigns have measured (docs/use/history.md)",
                                "hplcast history import --help");
  group.require_subcommand(1);
  setup_add(group);
  setup_history_import(group);
  setup_history_logs(group);
  setup_history_site(group);
}

}  // namespace hplcast::cli
