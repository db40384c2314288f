#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hplcast/study/sweep_plan.hpp"

namespace hplcast::study {

/// A run that ended without a result.
struct FailedRun {
  std::string run;      ///< id
  std::string message;  ///< what went wrong
  std::string log;      ///< folder with what it left, relative to that of the database; empty: nothing
};

/// How many runs a database knows, and what became of them.
struct SweepCounts {
  std::size_t runs = 0;  ///< all that plans asked for
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;  ///< configurations that cannot be run
};

/// A configuration with one of its results.
struct SweepResult {
  Configuration factors;
  core::Prediction prediction;
};

/// There is nothing in a database: its sweep was killed at once.
struct EmptyDatabase : core::InputError {
  using core::InputError::InputError;
};

/// The results of sweeps in one SQLite file (docs/formats/sweep-database.md has its tables). Every call is one
/// transaction: after any stop the file holds whole results. All methods throw core::Error (bad_input) with what SQLite
/// says: full disk, not a database, locked.
class SweepDatabase {
 public:
  static constexpr int schema_version = 1;

  enum class Access { read, write };
  /// Access::write makes the file if it is missing, and locks it against other writers until destruction. Access::read
  /// changes nothing, and needs no right to write; also where a killed sweep has left half a transaction. @throws
  /// core::Error also for a database of another version or program, one that another sweep writes, a missing file to
  /// read.
  SweepDatabase(const std::filesystem::path& path, Access access);
  ~SweepDatabase();
  SweepDatabase(const SweepDatabase&) = delete;
  SweepDatabase& operator=(const SweepDatabase&) = delete;

  /// Adds what a plan asks for: clusters, runs, points, skipped configurations. What is there already stays as it is.
  void add_plan(const SweepPlan& plan, const std::string& text, const SweepRuns& runs);

  /// Keeps a result. A failure of the same run goes.
  void add_result(const SweepRun& run, const core::Prediction& prediction);
  void add_failure(const FailedRun& failure);

  /// Ids of runs with a result, and of those that failed.
  std::set<std::string> done() const;
  std::set<std::string> failed() const;

  SweepCounts counts() const;
  std::vector<FailedRun> failures() const;
  std::vector<SkippedPoint> skipped() const;
  /// The texts of the plans that were run into it.
  std::vector<std::string> plans() const;
  /// All points that have results, ordered by run and factors.
  std::vector<SweepResult> results() const;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  struct State;
  void open_for_reading();
  void open_for_writing();

  std::filesystem::path path_;  ///< behind symbolic links: one database, one lock
  std::unique_ptr<State> state_;
};

/// Whether a file begins like an SQLite database, of this application if one is given: those of sweeps are "hplc".
bool is_sqlite_file(const std::filesystem::path& path, const std::string& application = {});

/// Name of a simulation among those of one cluster: parameters, seed, mode, and the panels that were simulated.
std::string run_name(const core::Prediction& prediction);

/// The predictions of a database, each once, for comparing with real runs. @throws core::Error if they are of several
/// clusters: what would be compared?
std::vector<core::Prediction> predictions_of_one_cluster(const std::filesystem::path& path);

/// One row per point: factors, HPL parameters, seed, mode, model, time_s, gflops, wall_s. CSV.
void write_sweep_csv(std::ostream& out, const std::vector<SweepResult>& results);

}  // namespace hplcast::study
