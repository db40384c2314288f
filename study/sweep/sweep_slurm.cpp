// Sweeps as Slurm job arrays. The sweep writes chunks of runs into a folder beside the database, array tasks leave a
// file for each run that has ended, and the sweep moves them into the database: only it writes there.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"
#include "study/compare/parameters_json.hpp"
#include "study/sweep/sweep_executor.hpp"

namespace hplcast::core {

static void to_json(nlohmann::json& json, const WindowRule& rule) {
  json = to_string(rule);
}
static void from_json(const nlohmann::json& json, WindowRule& rule) {
  rule = WindowRule::from(json);
}

}  // namespace hplcast::core

namespace hplcast::study {

// JSON of chunks: its keys are the names of members.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SweepRun, id, model_sha256, parameters, seed, mode, windows, target_error, energy,
                                   levels)

namespace {

template <typename Use>
void for_each_log(const fs::path& folder, const Use& use) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (core::begins_with(name, "task-") && core::ends_with(name, ".log")) use(entry.path());
  }
}

/// Lines that the tasks of Slurm jobs write into their logs, shown as `--verbose` shows the output of programs
/// (core::show_output()), while they run.
class TaskLogs {
 public:
  /// `folder`: that of the logs, task-NUMBER.log. What is in them now is old.
  explicit TaskLogs(fs::path folder) : folder_(std::move(folder)) {
    for_each_log(folder_, [&](const fs::path& log) {
      std::error_code error;
      const std::uintmax_t bytes = fs::file_size(log, error);
      shown_bytes_[log] = error ? 0 : bytes;
    });
  }

  /// Shows the whole lines that have come since the last call. Does nothing without --verbose.
  void show() {
    if (!core::output_is_shown()) return;
    for_each_log(folder_, [&](const fs::path& log) {
      std::ifstream in(log, std::ios::binary);
      in.seekg(static_cast<std::streamoff>(shown_bytes_[log]));
      const std::string text(std::istreambuf_iterator<char>(in), {});
      const std::size_t end = text.rfind('\n');
      if (end == std::string::npos) return;
      shown_bytes_[log] += end + 1;
      core::show_text("Slurm " + log.stem().string(), text.substr(0, end + 1));
    });
  }

 private:
  fs::path folder_;
  std::map<fs::path, std::uintmax_t> shown_bytes_;
};

/// Slurm's default MaxArraySize is 1001.
constexpr std::size_t most_chunks = 1000;
constexpr int tasks_per_job = 4;    ///< so that tasks that end early make room for others
constexpr int attempts = 2;         ///< a killed task is started once more
constexpr double patience_s = 120;  ///< with a controller that does not answer

fs::path folder_of(const fs::path& database) {
  return fs::absolute(database.string() + ".slurm");
}

/// Names the jobs of one database: how they are found again after the sweep was killed.
std::string job_name(const fs::path& database) {
  return "hplcast-" + core::sha256_hex(fs::weakly_canonical(fs::absolute(database)).string()).substr(0, 12);
}

/// Its output is the jobs, without the warnings that all commands of Slurm print about slurm.conf.
core::CommandResult squeue(const std::string& name, const std::string& format, bool despite_interrupts = false) {
  core::Command command{"squeue", {"--noheader", "--format=" + format, "--name=" + name}};
  command.despite_interrupts = despite_interrupts;
  core::CommandResult result = core::run(command);
  std::string jobs;
  for (const std::string& line : core::split(result.output, '\n'))
    if (result.status != 0 || line.find_first_of("0123456789") == 0) jobs += line + '\n';
  result.output = jobs;
  return result;
}

/// The result of a task. Phases of a prediction have an order.
Json outcome_json(const SweepOutcome& outcome) {
  if (!outcome.prediction) return {{"failure", outcome.failure.message}, {"log", outcome.failure.log}};
  const auto write = [&](std::ostream& out) { core::write_prediction(out, *outcome.prediction); };
  return {{"prediction", core::parse_json<Json>(core::written(write))}};
}

template <typename Content>
Content read_json(const fs::path& path) {
  return core::parse_json<Content>(core::read_from(path, core::read_json_text));
}

template <typename Content>
void write_json(const fs::path& path, const Content& json) {
  core::write_file(path, [&](std::ostream& out) { out << core::json_text(json) << '\n'; });
}

/// Empty files of tasks that met a full disk: there may be room for a name still.
std::vector<fs::path> full_disk_marks(const fs::path& folder) {
  std::vector<fs::path> marks;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".disk-full") marks.push_back(entry.path());
  std::sort(marks.begin(), marks.end());
  return marks;
}

class SlurmSweep {
 public:
  SlurmSweep(const SweepExecution& execution, int jobs, const SlurmOptions& options)
      : execution_(execution),
        jobs_(jobs),
        options_(options),
        folder_(folder_of(execution.database)),
        name_(job_name(execution.database)),
        logs_(folder_) {
    for (const SweepTask& task : execution.tasks) missing_.emplace(task.run->id, &task);
  }

  void run() {
    // Jobs of a sweep that was killed: what they have made counts, what they were making is made again.
    cancel_slurm_jobs_of(execution_.database);
    std::error_code ignored;
    fs::create_directories(folder_ / "results", ignored);
    collect();
    for (int attempt = 1; attempt <= attempts && !missing_.empty(); ++attempt) {
      for (const fs::path& mark : full_disk_marks(folder_)) fs::remove(mark);
      submit();
      wait();
      stop_at_full_disk();
    }
    for (const auto& [id, task] : missing_) {
      SweepOutcome outcome;
      outcome.task = task;
      outcome.failure.run = id;
      outcome.failure.message = "its Slurm task ended without a result, " + std::to_string(attempts) + " times; see " +
                                folder_.string() + "/task-*.log";
      execution_.ended(outcome);
    }
    if (missing_.empty()) fs::remove_all(folder_, ignored);
  }

 private:
  /// As a sweep on this machine: runs that had no place for their files have not failed.
  void stop_at_full_disk() const {
    const std::vector<fs::path> marks = full_disk_marks(folder_);
    if (missing_.empty() || marks.empty()) return;
    throw core::StorageError("tasks of Slurm could not write their files, see " + folder_.string() + "/" +
                             marks.front().stem().string() +
                             ".log\n  hint: the runs that have ended are kept; with room on the disk the same command "
                             "goes on");
  }

  void submit() {
    std::vector<const SweepTask*> tasks;
    for (const SweepTask& task : execution_.tasks)
      if (missing_.count(task.run->id) > 0) tasks.push_back(&task);
    const std::size_t chunks = write_chunks(tasks);
    const SimulatorPrograms& programs = execution_.programs;
    write_json(folder_ / "settings.json", nlohmann::json{{"database", fs::absolute(execution_.database).string()},
                                                         {"timeout_s", execution_.timeout_s},
                                                         {"smpirun", programs.smpirun},
                                                         {"xhpl", programs.xhpl.string()},
                                                         {"platform_library", programs.platform_library.string()}});
    const fs::path hplcast = options_.hplcast.empty() ? core::own_executable() : options_.hplcast;
    core::write_file(folder_ / "task.sh", [&](std::ostream& out) {
      out << "#!/bin/sh\nexec " << core::shell_quoted(hplcast.string()) << " sweep worker "
          << core::shell_quoted(folder_.string()) << " --chunk \"$SLURM_ARRAY_TASK_ID\""
          << (core::output_is_shown() ? " --verbose\n" : "\n");
    });
    const std::string logs = core::all_replaced(folder_.string(), "%", "%%") + "/task-%a.log";  // Slurm fills in names
    core::Command sbatch{"sbatch",
                         {"--parsable", "--job-name=" + name_, "--chdir=" + folder_.string(), "--output=" + logs,
                          "--ntasks=1", "--cpus-per-task=1", "--open-mode=append",
                          "--array=0-" + std::to_string(chunks - 1) + "%" + std::to_string(jobs_)}};
    sbatch.purpose = "submitting the jobs";
    core::append(sbatch.arguments, options_.sbatch);
    sbatch.arguments.push_back((folder_ / "task.sh").string());
    core::run_checked(sbatch);
  }

  /// Runs go round the chunks, the longest first: chunks then take about equally long.
  std::size_t write_chunks(const std::vector<const SweepTask*>& tasks) const {
    const std::size_t wanted = options_.chunk > 0 ? (tasks.size() + static_cast<std::size_t>(options_.chunk) - 1) /
                                                        static_cast<std::size_t>(options_.chunk)
                                                  : static_cast<std::size_t>(jobs_) * tasks_per_job;
    const std::size_t chunks = std::clamp<std::size_t>(std::min(wanted, tasks.size()), 1, most_chunks);
    std::vector<nlohmann::json> contents(chunks, nlohmann::json::array());
    std::map<std::string, const core::ClusterModel*> clusters;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      contents[i % chunks].push_back(*tasks[i]->run);
      clusters.emplace(tasks[i]->run->model_sha256, tasks[i]->cluster);
    }
    for (std::size_t i = 0; i < chunks; ++i)
      write_json(folder_ / ("chunk-" + std::to_string(i) + ".json"), contents[i]);
    for (const auto& one : clusters)
      core::write_file(folder_ / "clusters" / (one.first + ".json"),
                       [&](std::ostream& out) { core::write_cluster(out, *one.second); });
    return chunks;
  }

  void wait() {
    try {
      while (jobs_are_left()) {
        collect();
        pause();
      }
      collect();
    } catch (const core::Error& error) {
      try {
        cancel_slurm_jobs_of(execution_.database);
      } catch (const core::Error& of_cancelling) {
        throw core::Error(error.code(), std::string(error.what()) + "\n  " + of_cancelling.what());
      }
      throw;
    } catch (...) {
      cancel_slurm_jobs_of(execution_.database);
      throw;
    }
  }

  void pause() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.poll_s);
    while (std::chrono::steady_clock::now() < end) {
      execution_.tick();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  /// A controller that does not answer for a while ends no sweep.
  bool jobs_are_left() {
    const core::CommandResult result = squeue(name_, "%i");
    const auto now = std::chrono::steady_clock::now();
    if (result.status == 0) {
      last_answer_ = now;
      return !result.output.empty();
    }
    if (now - last_answer_ > std::chrono::duration<double>(patience_s))
      throw core::ExternalError("squeue", result.status, result.output);
    return true;
  }

  /// Moves what tasks have left into the database.
  void collect() {
    logs_.show();
    for (const auto& entry : fs::directory_iterator(folder_ / "results")) {
      if (entry.path().extension() != ".json") continue;  // one that is being written
      const auto task = missing_.find(entry.path().stem().string());
      if (task != missing_.end()) {
        const auto json = read_json<Json>(entry.path());
        SweepOutcome outcome;
        outcome.task = task->second;
        if (json.contains("prediction")) {
          outcome.prediction =
              core::read_prediction(core::TextStream(core::json_text(json["prediction"])), entry.path().string());
        } else {
          outcome.failure = {task->first, json.at("failure"), json.at("log")};
        }
        execution_.ended(outcome);
        missing_.erase(task);
      }
      std::error_code ignored;
      fs::remove(entry.path(), ignored);
    }
  }

  const SweepExecution& execution_;
  int jobs_;
  const SlurmOptions& options_;
  fs::path folder_;
  std::string name_;
  TaskLogs logs_;
  std::map<std::string, const SweepTask*> missing_;
  std::chrono::steady_clock::time_point last_answer_ = std::chrono::steady_clock::now();
};

}  // namespace

void execute_on_slurm(const SweepExecution& execution, int jobs, const SlurmOptions& options) {
  for (const char* program : {"sbatch", "squeue", "scancel"}) {
    if (!core::find_program(program).empty()) continue;
    throw core::InputError(std::string("there is no Slurm here: no ") + program +
                           " in PATH\n  hint: --executor local runs on this machine");
  }
  SlurmSweep(execution, jobs, options).run();
}

void run_sweep_chunk(const fs::path& folder, int chunk) try {
  const auto settings = read_json<nlohmann::json>(folder / "settings.json");
  SweepExecution execution;
  const auto text = [&](const char* key) { return settings.at(key).get<std::string>(); };
  execution.database = text("database");
  execution.timeout_s = settings.at("timeout_s").get<double>();
  execution.programs = {text("smpirun"), text("xhpl"), text("platform_library")};
  const core::TemporaryFolder work(work_prefix(execution.database), execution.database.parent_path());
  execution.work = work.path();
  std::map<std::string, core::ClusterModel> clusters;
  for (const SweepRun& run :
       read_json<nlohmann::json>(folder / ("chunk-" + std::to_string(chunk) + ".json")).get<std::vector<SweepRun>>()) {
    const fs::path result = folder / "results" / (run.id + ".json");
    if (fs::exists(result)) continue;
    if (clusters.count(run.model_sha256) == 0)
      clusters[run.model_sha256] =
          core::read_from(folder / "clusters" / (run.model_sha256 + ".json"), core::read_cluster);
    const SweepTask task{&run, &clusters.at(run.model_sha256)};
    const SweepOutcome outcome = run_task(task, execution, {});
    // Slurm ends a task by signals to all of its processes, the simulation first: no result, so that it is made again.
    if (!outcome.killed) write_json(result, outcome_json(outcome));
  }
} catch (const core::StorageError&) {
  std::ofstream(folder / ("task-" + std::to_string(chunk) + ".disk-full"));
  throw;
}

std::vector<std::string> slurm_jobs_of(const fs::path& database) {
  if (core::find_program("squeue").empty() || !fs::exists(folder_of(database))) return {};
  const core::CommandResult result = squeue(job_name(database), "%i %T %M");
  if (result.status != 0) return {"squeue does not answer: whether tasks run is not known"};
  return core::split(result.output, '\n');
}

void cancel_slurm_jobs_of(const fs::path& database) {
  core::Command scancel{"scancel", {"--name=" + job_name(database)}};
  scancel.despite_interrupts = true;
  scancel.purpose = "cancelling the jobs of " + database.string();
  core::run_checked(scancel);
  // Until tasks have gone: what they are writing must not be mistaken for the work of new ones.
  for (int i = 0; i < 100; ++i) {
    const core::CommandResult left = squeue(job_name(database), "%i", true);
    if (left.status != 0 || left.output.empty()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace hplcast::study
