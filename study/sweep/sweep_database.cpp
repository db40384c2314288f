#include "hplcast/study/sweep_database.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/run/locked_file.hpp"
#include "study/sqlite/sqlite_file.hpp"

namespace hplcast::study {

namespace {

/// The number reads "hplc".
constexpr SqliteKind kind = {"database", "database of hplcast sweep", "choose another --database", 0x68706c63,
                             SweepDatabase::schema_version};
constexpr int busy_timeout_ms = 30000;

// Contents of runs, points, skipped depend on the plans alone, not on when, where and in which order they were run;
// that is in executions.
constexpr const char* schema = R"sql(
CREATE TABLE clusters(sha256 TEXT PRIMARY KEY, name TEXT NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plans(sha256 TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points(run TEXT NOT NULL, factors TEXT NOT NULL, PRIMARY KEY(run, factors)) WITHOUT ROWID;
CREATE TABLE skipped(factors TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(factors, reason)) WITHOUT ROWID;
CREATE TABLE runs(id TEXT PRIMARY KEY, model_sha256 TEXT NOT NULL, seed INTEGER NOT NULL,
  mode TEXT NOT NULL, time_s REAL NOT NULL, gflops REAL NOT NULL, prediction TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE executions(run TEXT PRIMARY KEY, wall_s REAL NOT NULL, peak_pss_bytes REAL NOT NULL,
  ended TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID;
CREATE TABLE failures(run TEXT PRIMARY KEY, message TEXT NOT NULL, log TEXT NOT NULL) WITHOUT ROWID;
)sql";

std::string factors_json(const Configuration& factors) {
  Json json = Json::object();
  for (const Setting& setting : factors) json[setting.factor] = setting.value;
  return core::json_text(json);
}

Configuration factors_of(const std::string& text) {
  Configuration factors;
  core::check_json(text, "factors in the database");
  const auto json = core::parse_json<Json>(text);
  const auto fail = [&] {
    throw core::ParseError({"factors in the database", 0, ""},
                           "found " + text.substr(0, 60) + "; expected an object with a text per factor");
  };
  if (!json.is_object()) fail();
  for (const auto& [factor, value] : json.items()) {
    if (!value.is_string()) fail();
    factors.push_back({factor, value.get<std::string>()});
  }
  return factors;
}

/// Without what differs between two equal predictions.
std::string prediction_json(core::Prediction prediction) {
  prediction.wall_s = prediction.peak_pss_bytes = 0;
  return core::written([&](std::ostream& out) { core::write_prediction(out, prediction); });
}

template <typename Work>
auto guarded(const fs::path& path, Work work) {
  const auto hint = [](int) { return "results that were told as done are in it; the same command goes on"; };
  return guarded(kind, path, hint, work);
}

void make_schema(SQLite::Database& database) {
  SQLite::Transaction transaction(database);
  database.exec(schema);
  mark(database, kind);
  transaction.commit();
}

/// A copy of a database and of the journal that a killed sweep has left. SQLite must take its last transaction back
/// before it can read: with the copy that needs no right to write, and changes nothing of the sweep.
fs::path copied(const fs::path& database, const fs::path& folder) {
  const fs::path copy = folder / "database";
  const fs::path journal = database.string() + "-journal";
  // Until nobody changes it meanwhile: a sweep that goes on takes the transaction back itself.
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::error_code gone;
    const auto before = fs::last_write_time(journal, gone);
    fs::copy_file(database, copy, fs::copy_options::overwrite_existing);
    if (gone) {
      fs::remove(copy.string() + "-journal", gone);
      return copy;
    }
    fs::copy_file(journal, copy.string() + "-journal", fs::copy_options::overwrite_existing, gone);
    if (!gone && fs::last_write_time(journal, gone) == before && !gone) return copy;
  }
  return copy;
}

std::set<std::string> ids(const SQLite::Database& database, const char* sql) {
  const auto texts = texts_of(database, sql);
  return {texts.begin(), texts.end()};
}

/// Factors that have no column of their own, in the order in which they come.
std::vector<std::string> other_factors(const std::vector<SweepResult>& results) {
  std::set<std::string> own = {"grid", "mode"};
  for (const core::HplField& field : core::hpl_fields()) own.insert(field.name);
  std::vector<std::string> names;
  for (const SweepResult& result : results) {
    for (const auto& [factor, value] : result.factors)
      if (own.count(factor) == 0 && std::find(names.begin(), names.end(), factor) == names.end())
        names.push_back(factor);
  }
  return names;
}

}  // namespace

struct SweepDatabase::State {
  std::optional<LockedFile> lock;  ///< another file beside the database: locks on that itself are SQLite's
  std::optional<core::TemporaryFolder> copy;
  std::optional<SQLite::Database> database;
};

SweepDatabase::SweepDatabase(const fs::path& path, Access access)
    : path_(core::behind_links(path)), state_(std::make_unique<State>()) {
  guarded(path, [&] { access == Access::read ? open_for_reading() : open_for_writing(); });
}

void SweepDatabase::open_for_writing() {
  state_->lock.emplace(path_.string() + ".lock", 0,
                       path_.string() +
                           " is being written by another sweep\n  hint: wait for it, or stop it; "
                           "`hplcast sweep status` shows how far it is");
  SQLite::Database& database =
      state_->database.emplace(path_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, busy_timeout_ms);
  if (has_no_tables(database)) make_schema(database);
  check_version(database, kind, path_);
}

void SweepDatabase::open_for_reading() {
  if (!fs::is_regular_file(path_)) throw core::InputError("there is no database " + path_.string());
  bool empty = false;
  const auto open = [&](const fs::path& path, int flags) {
    empty = has_no_tables(state_->database.emplace(path.string(), flags, busy_timeout_ms));
  };
  try {
    open(path_, SQLite::OPEN_READONLY);
  } catch (const SQLite::Exception& error) {
    constexpr int readonly = 8, cannot_open = 14;  // SQLITE_READONLY (of a journal that must be taken back), _CANTOPEN
    if (error.getErrorCode() != readonly && error.getErrorCode() != cannot_open) throw;
    state_->database.reset();
    state_->copy.emplace("hplcast-database");
    open(copied(path_, state_->copy->path()), SQLite::OPEN_READWRITE);
  }
  if (empty)
    throw EmptyDatabase(path_.string() +
                        " is empty: a sweep that was killed at once, or no database of a sweep\n  hint: `hplcast "
                        "sweep PLAN.yaml --database " +
                        path_.string() + "` makes its runs");
  check_version(*state_->database, kind, path_);
}

SweepDatabase::~SweepDatabase() = default;

void SweepDatabase::add_plan(const SweepPlan& plan, const std::string& text, const SweepRuns& runs) {
  guarded(path_, [&] {
    SQLite::Database& database = *state_->database;
    SQLite::Transaction transaction(database);
    execute(database, "INSERT OR IGNORE INTO plans VALUES (?, ?, ?)", core::sha256_hex(text), plan.name, text);
    for (const auto& one : runs.clusters)
      execute(database, "INSERT OR IGNORE INTO clusters VALUES (?, ?, ?)", one.first, one.second.name,
              core::written([&](std::ostream& out) { core::write_cluster(out, one.second); }));
    SQLite::Statement point(database, "INSERT OR IGNORE INTO points VALUES (?, ?)");
    for (const SweepPoint& entry : runs.points) {
      SQLite::bind(point, entry.run, factors_json(entry.factors));
      point.exec();
      point.reset();
    }
    for (const SkippedPoint& entry : runs.skipped)
      execute(database, "INSERT OR IGNORE INTO skipped VALUES (?, ?)", factors_json(entry.factors), entry.reason);
    transaction.commit();
  });
}

void SweepDatabase::add_result(const SweepRun& run, const core::Prediction& prediction) {
  guarded(path_, [&] {
    SQLite::Database& database = *state_->database;
    SQLite::Transaction transaction(database);
    execute(database, "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", run.id, run.model_sha256,
            static_cast<std::int64_t>(run.seed), run.mode, prediction.time_s, prediction.gflops,
            prediction_json(prediction));
    execute(database, "INSERT OR IGNORE INTO executions(run, wall_s, peak_pss_bytes) VALUES (?, ?, ?)", run.id,
            prediction.wall_s, prediction.peak_pss_bytes);
    execute(database, "DELETE FROM failures WHERE run = ?", run.id);
    transaction.commit();
  });
}

void SweepDatabase::add_failure(const FailedRun& failure) {
  guarded(path_, [&] {
    execute(*state_->database, "INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", failure.run, failure.message,
            failure.log);
  });
}

std::set<std::string> SweepDatabase::done() const {
  return guarded(path_, [&] { return ids(*state_->database, "SELECT id FROM runs"); });
}

std::set<std::string> SweepDatabase::failed() const {
  return guarded(path_, [&] { return ids(*state_->database, "SELECT run FROM failures"); });
}

SweepCounts SweepDatabase::counts() const {
  return guarded(path_, [&] {
    SQLite::Database& database = *state_->database;
    const auto count = [&](const char* sql) { return static_cast<std::size_t>(database.execAndGet(sql).getInt64()); };
    return SweepCounts{count("SELECT count(DISTINCT run) FROM points"), count("SELECT count(*) FROM runs"),
                       count("SELECT count(*) FROM failures"), count("SELECT count(*) FROM skipped")};
  });
}

std::vector<FailedRun> SweepDatabase::failures() const {
  return guarded(path_, [&] {
    return rows_of<FailedRun, 3>(*state_->database, "SELECT run, message, log FROM failures ORDER BY run");
  });
}

std::vector<SkippedPoint> SweepDatabase::skipped() const {
  return guarded(path_, [&] {
    std::vector<SkippedPoint> result;
    SQLite::Statement query(*state_->database, "SELECT factors, reason FROM skipped ORDER BY factors");
    while (query.executeStep())
      result.push_back({factors_of(query.getColumn(0).getString()), query.getColumn(1).getString()});
    return result;
  });
}

std::vector<std::string> SweepDatabase::plans() const {
  return guarded(path_, [&] { return texts_of(*state_->database, "SELECT text FROM plans ORDER BY sha256"); });
}

std::vector<SweepResult> SweepDatabase::results() const {
  return guarded(path_, [&] {
    std::vector<SweepResult> result;
    SQLite::Statement query(*state_->database,
                            "SELECT p.factors, r.prediction, e.wall_s, e.peak_pss_bytes FROM points p JOIN runs r ON "
                            "r.id = p.run JOIN executions e ON e.run = r.id ORDER BY p.run, p.factors");
    while (query.executeStep()) {
      SweepResult row{factors_of(query.getColumn(0).getString()),
                      core::read_prediction(core::TextStream(query.getColumn(1).getString()), path_.string())};
      row.prediction.wall_s = query.getColumn(2).getDouble();
      row.prediction.peak_pss_bytes = query.getColumn(3).getDouble();
      for (const auto& [number, unit] :
           {std::pair(row.prediction.wall_s, " s"), std::pair(row.prediction.peak_pss_bytes, " bytes")})
        if (!(number >= 0 && number <= 1e30))
          throw core::InputError(path_.string() + ": an execution that took " + core::shortest(number) + unit +
                                 "; expected a number from 0 to 1e30");
      result.push_back(std::move(row));
    }
    return result;
  });
}

bool is_sqlite_file(const fs::path& path, const std::string& application) {
  constexpr std::size_t length = 72, id = 68;
  std::string begin(length, '\0');
  if (std::error_code ignored; !fs::is_regular_file(path, ignored)) return false;  // a pipe is read once
  std::ifstream(path, std::ios::binary).read(begin.data(), length);
  return begin.rfind("SQLite format 3", 0) == 0 && begin.compare(id, application.size(), application) == 0;
}

std::string run_name(const core::Prediction& p) {
  std::string name = core::to_string(p.parameters) + " " + std::to_string(p.seed) + " " + p.mode;
  if (p.sampling) name += " " + std::to_string(p.sampling->windows.size()) + " " + core::shortest(p.sampling->share);
  return name;
}

std::vector<core::Prediction> predictions_of_one_cluster(const std::filesystem::path& path) {
  const SweepDatabase database(path, SweepDatabase::Access::read);
  std::map<std::string, core::Prediction> different;
  std::set<std::string> models;
  for (SweepResult& result : database.results()) {
    const core::Prediction& p = result.prediction;
    models.insert(p.model_sha256);
    different.emplace(run_name(p), p);
  }
  if (models.size() > 1)
    throw core::InputError(path.string() + " has predictions of " + std::to_string(models.size()) +
                           " clusters\n  hint: make a sweep of the real one");
  std::vector<core::Prediction> predictions;
  for (auto& [name, prediction] : different) predictions.push_back(std::move(prediction));
  return predictions;
}

void write_sweep_csv(std::ostream& out, const std::vector<SweepResult>& results) {
  const std::vector<std::string> names = other_factors(results);
  for (const core::HplField& field : core::hpl_fields()) out << field.name << ',';
  for (const std::string& name : names) out << core::csv_field(name) << ',';
  const bool energies = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.prediction.energy; });
  out << "seed,mode,cluster_name,model_sha256,time_s,error_95_s,gflops,wall_s,peak_pss_bytes"
      << (energies ? ",energy_j,mean_power_w,gflops_per_w" : "") << ",level_percent,low_gflops,high_gflops\n";
  std::vector<const SweepResult*> order;
  for (const SweepResult& result : results) order.push_back(&result);
  std::stable_sort(order.begin(), order.end(), [](const SweepResult* a, const SweepResult* b) {
    const auto key = [](const SweepResult& one) {
      return std::tuple(one.prediction.parameters, to_string(one.factors), one.prediction.seed);
    };
    return key(*a) < key(*b);
  });
  const auto numbers = [](std::initializer_list<double> all) { return core::joined(all, ",", core::shortest); };
  for (const SweepResult* result : order) {
    const core::Prediction& p = result->prediction;
    for (const core::HplField& field : core::hpl_fields()) out << field.get(p.parameters) << ',';
    for (const std::string& name : names) {
      const auto& all = result->factors;
      const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& one) { return one.factor == name; });
      out << (found == all.end() ? "" : core::csv_field(found->value)) << ',';
    }
    out << p.seed << ',' << core::csv_field(p.mode) << ',' << core::csv_field(p.cluster) << ','
        << core::csv_field(p.model_sha256) << ','
        << numbers({p.time_s, p.error_95_s, p.gflops, p.wall_s, p.peak_pss_bytes}) << ',';
    if (energies)
      out << (p.energy ? numbers({p.energy->energy_j, p.energy->mean_power_w, p.energy->gflops_per_w}) : ",,") << ',';
    out << (p.interval ? numbers({p.interval->level_percent, p.interval->low_gflops, p.interval->high_gflops}) : ",,")
        << '\n';
  }
}

}  // namespace hplcast::study
