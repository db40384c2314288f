// hplcast calibrate and fit cluster as a user meets them: whole campaigns, killed ones, bad ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "../support/run_hplcast.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Some seconds: everything small, in several pieces. No thresholds, which take five seconds.
const std::string tiny_campaign = R"(name: tiny
warm_up: 0
chunk: 100ms
steps:
  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, options: [--footprint, 1MB, --warm-up, 10ms]}
  - kernels:
      runs:
        - {N: 60, NB: 16, P: 1, Q: 1}
        - {N: 60, NB: 16, P: 1, Q: 2}
  - mpi: {max_bytes: 4KiB, count: 12, repetitions: 2, operations: [send, isend, recv, pingpong, iprobe, test, wtime]}
)";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream in(text);
  std::string line;
  for (std::getline(in, line); std::getline(in, line);) lines.insert(line);  // without the header
  return lines;
}

core::Command shell_command(const std::string& line) {
  core::Command command;
  command.program = "/bin/sh";
  command.arguments = {"-c", line};
  return command;
}

class Calibrate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("hplcast_calibrate_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Outcome run(const std::vector<std::string>& arguments) const {
    return run_hplcast_words(arguments, folder_.string());
  }

  void expect(const std::vector<std::string>& arguments, int status, const std::string& message) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(message));
  }
  void expect_campaign(const std::string& yaml, int status, const std::string& message) const {
    write("bad.yaml", yaml);
    fs::remove_all(folder_ / "bad.campaign");
    expect({"calibrate", "bad.yaml", "-o", "bad.zip"}, status, message);
    EXPECT_FALSE(fs::exists(folder_ / "bad.zip"));
  }

  fs::path folder_;
};

/// How often each row of a design was measured, by rank.
std::map<std::pair<long long, long long>, int> times_measured(const std::string& csv_text) {
  std::map<std::pair<long long, long long>, int> times;
  std::istringstream in(csv_text);
  core::CsvReader csv(in, "measurements");
  while (csv.next()) ++times[{csv.integer(csv.column("rank")), csv.integer(csv.column("order"))}];
  return times;
}

/// Every row of the designs once on every rank that measures it, and all calls of HPL.
void expect_whole(const std::map<std::string, std::string>& files, std::size_t kernel_rows) {
  const std::size_t dgemm_rows = lines_of(files.at("designs/01-dgemm.csv")).size();
  const std::size_t mpi_rows = lines_of(files.at("designs/03-mpi.csv")).size();
  const auto dgemm = times_measured(files.at("measurements/01-dgemm.csv"));
  const auto mpi = times_measured(files.at("measurements/03-mpi.csv"));
  EXPECT_EQ(dgemm.size(), 2 * dgemm_rows);
  EXPECT_EQ(mpi.size(), mpi_rows);
  for (const auto* times : {&dgemm, &mpi}) {
    for (const auto& [row, count] : *times) EXPECT_EQ(count, 1) << "rank " << row.first << ", row " << row.second;
  }
  EXPECT_EQ(lines_of(files.at("measurements/02-kernels.csv")).size(), kernel_rows);
}

/// Rows of the calls that HPL makes in the tiny campaign: the same in every run.
std::size_t kernel_rows_of(const std::map<std::string, std::string>& files) {
  return lines_of(files.at("measurements/02-kernels.csv")).size();
}

TEST_F(Calibrate, MeasuresACampaignAndItsArchiveIsEnoughElsewhere) {
  write("tiny.yaml", tiny_campaign);
  const Outcome outcome = run({"calibrate", "tiny.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("01-dgemm: about"));
  const auto files = calibration::read_archive(folder_ / "tiny.zip");
  expect_whole(files, kernel_rows_of(files));
  for (const char* file :
       {"campaign.yaml", "log.txt", "log.jsonl", "surroundings/hosts.json", "surroundings/checks.txt",
        "surroundings/launcher.txt", "surroundings/01-dgemm.json", "monitoring/01-dgemm.csv"}) {
    EXPECT_EQ(files.count(file), 1U) << file;
  }
  EXPECT_EQ(files.at("campaign.yaml"), tiny_campaign);
  EXPECT_THAT(files.at("log.jsonl"), HasSubstr("\"status\":0"));
  EXPECT_EQ(files.count("measurements/01-dgemm.000000.csv"), 0U) << "pieces are joined";
  // Again: nothing is measured, and another format holds the same.
  ASSERT_EQ(run({"calibrate", "tiny.yaml", "--resume", "-o", "tiny.tar.zst"}).status, 0);
  EXPECT_EQ(calibration::read_archive(folder_ / "tiny.tar.zst").at("measurements/03-mpi.csv"),
            files.at("measurements/03-mpi.csv"));

  ASSERT_EQ(run({"fit", "cluster", "tiny.zip", "--quiet", "-o", "here.json"}).status, 0);
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::create_directories(elsewhere);
  fs::copy_file(folder_ / "tiny.zip", elsewhere / "renamed.zip");
  fs::remove_all(folder_ / "tiny.campaign");
  const Outcome fitted = run_hplcast_words({"fit", "cluster", "renamed.zip", "-o", "there.json"}, elsewhere.string());
  ASSERT_EQ(fitted.status, 0) << fitted.output;
  EXPECT_EQ(text_of(folder_ / "here.json"), text_of(elsewhere / "there.json"));
  std::ifstream in(elsewhere / "there.json");
  const core::ClusterModel cluster = core::read_cluster(in, "there.json");
  EXPECT_EQ(cluster.hosts.total_cores(), 2);
  EXPECT_EQ(cluster.kernels.count("dgemm"), 1U);
  EXPECT_THAT(cluster.provenance, HasSubstr("quality_flags"));
}

/// A calibrate in the background, with the processes that it has started.
class Running {
 public:
  Running(const fs::path& folder, bool resume) {
    const std::string log = (folder / "calibrate.log").string();
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (::chdir(folder.c_str()) != 0 || std::freopen(log.c_str(), "a", stderr) == nullptr) ::_exit(99);
    const char* const program = HPLCAST_BINARY_DIR "/bin/hplcast";
    ::execl(program, "hplcast", "calibrate", "tiny.yaml", resume ? "--resume" : static_cast<char*>(nullptr), nullptr);
    ::_exit(98);
  }

  void kill_calibrate() const { ::kill(pid_, SIGKILL); }

  void interrupt() const { ::kill(pid_, SIGINT); }

  /// The measuring programs that it has started, and that run now.
  std::vector<pid_t> ranks() const {
    std::vector<pid_t> ranks;
    for (const pid_t process : descendants(pid_)) {
      std::error_code error;
      const std::string program = fs::read_symlink("/proc/" + std::to_string(process) + "/exe", error).filename();
      if (!error && (program.rfind("hplcast-measure", 0) == 0 || program == "xhpl-instrumented"))
        ranks.push_back(process);
    }
    return ranks;
  }

  /// Kills one of them; false if there is none.
  bool kill_rank(std::mt19937& random) const {
    const std::vector<pid_t> all = ranks();
    return !all.empty() && ::kill(all[random() % all.size()], SIGKILL) == 0;
  }

  /// Exit status, or 128 + signal.
  int wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  static std::vector<pid_t> descendants(pid_t parent) {
    std::multimap<pid_t, pid_t> children;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string stat = text_of(entry.path() / "stat");
      const std::size_t after_name = stat.rfind(')');
      if (after_name == std::string::npos) continue;
      std::istringstream words(stat.substr(after_name + 1));
      std::string state;
      pid_t of = 0;
      if (words >> state >> of) children.emplace(of, static_cast<pid_t>(std::stol(name)));
    }
    std::vector<pid_t> all{parent};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto range = children.equal_range(all[i]);
      for (auto it = range.first; it != range.second; ++it) all.push_back(it->second);
    }
    all.erase(all.begin());
    return all;
  }

  pid_t pid_ = -1;
};

/// Rows that are measured for good: of whole pieces and whole steps.
std::map<std::string, std::set<std::string>> rows_kept(const fs::path& campaign) {
  std::map<std::string, std::set<std::string>> rows;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(campaign / "measurements", none)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".csv") continue;
    const auto lines = lines_of(text_of(entry.path()));
    rows[name.substr(0, name.find('.'))].insert(lines.begin(), lines.end());
  }
  return rows;
}

bool holds(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

TEST_F(Calibrate, FinishesWithEveryRowOnceHoweverOftenItIsKilled) {
  constexpr int kills = 20;
  std::mt19937 random(4);  // of the moments; how far a run has come by then depends on the machine
  write("tiny.yaml", tiny_campaign);
  const fs::path campaign = folder_ / "tiny.campaign", archive = folder_ / "tiny.zip";
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Running(folder_, false).wait(), 0) << text_of(folder_ / "calibrate.log");
  const auto whole = std::chrono::steady_clock::now() - begin;
  const std::size_t kernel_rows = kernel_rows_of(calibration::read_archive(archive));
  fs::remove_all(campaign);
  fs::remove(archive);  // calibrate does not write over one

  int ranks_killed = 0, calibrates_killed = 0, finished = 0;
  std::map<std::string, std::set<std::string>> kept;
  while (ranks_killed + calibrates_killed < kills) {
    const Running running(folder_, fs::exists(campaign));
    std::this_thread::sleep_for(whole * std::uniform_real_distribution<>(0.05, 0.4)(random));
    const bool rank = ranks_killed < calibrates_killed;
    const bool killed = rank ? running.kill_rank(random) : (running.kill_calibrate(), true);
    const int status = running.wait();
    if (killed) ++(rank ? ranks_killed : calibrates_killed);
    ASSERT_TRUE(status == 0 || status == 6 || status == 128 + SIGKILL) << status << text_of(folder_ / "calibrate.log");
    for (const auto& [step, rows] : rows_kept(campaign)) {
      ASSERT_TRUE(holds(rows, kept[step])) << step << " lost rows";
      kept[step] = rows;
    }
    if (status != 0) continue;
    ++finished;
    expect_whole(calibration::read_archive(archive), kernel_rows);
    fs::remove_all(campaign);
    fs::remove(archive);
    kept.clear();
  }
  ASSERT_EQ(Running(folder_, fs::exists(campaign)).wait(), 0) << text_of(folder_ / "calibrate.log");
  expect_whole(calibration::read_archive(archive), kernel_rows);
  RecordProperty("ranks_killed", ranks_killed);
  RecordProperty("campaigns_finished", finished + 1);
}

TEST_F(Calibrate, StopsEverythingWhenInterruptedAndGoesOnLater) {
  write("tiny.yaml", tiny_campaign);
  const Running running(folder_, false);
  for (int tenths = 0; tenths < 300 && running.ranks().empty(); ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::vector<pid_t> ranks = running.ranks();
  running.interrupt();
  EXPECT_EQ(running.wait(), 130);
  EXPECT_THAT(text_of(folder_ / "calibrate.log"), HasSubstr("continue with --resume"));
  for (const pid_t rank : ranks) {
    const std::string status = text_of("/proc/" + std::to_string(rank) + "/status");
    EXPECT_TRUE(status.empty() || status.find("State:\tZ") != std::string::npos) << status;
  }
  EXPECT_EQ(run({"calibrate", "tiny.yaml", "--resume"}).status, 0);
}

TEST_F(Calibrate, SaysWhichRankOnWhichHostInWhichRowsWasLost) {
  write("tiny.yaml", R"(name: tiny
warm_up: 0
steps:
  - mpi: {max_bytes: 1KiB, count: 100, repetitions: 20, operations: [send_unmatched]}
)");
  const Running running(folder_, false);
  std::mt19937 random(1);
  const auto is_measuring = [&] {
    return text_of(folder_ / "tiny.campaign" / "work" / "position").find_first_of("123456789") != std::string::npos;
  };
  for (int tenths = 0; tenths < 300 && !is_measuring(); ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_TRUE(running.kill_rank(random));
  EXPECT_EQ(running.wait(), 6);
  const std::string log = text_of(folder_ / "calibrate.log");
  EXPECT_THAT(log, HasSubstr("step 01-mpi, rows 0:"));
  EXPECT_THAT(log, HasSubstr("in row "));
  EXPECT_THAT(log, HasSubstr("on node "));
  EXPECT_THAT(log, HasSubstr("continue with --resume"));
}

TEST_F(Calibrate, MarksOversubscribedMeasurements) {
  const int ranks = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  const std::string yaml = "name: crowd\nwarm_up: 0\nranks_per_host: " + std::to_string(ranks) +
                           "\nsteps:\n  - dgemm: {nb: 16, max_size: 60, count: 20, options: [--footprint, 1MB]}\n";
  expect_campaign(yaml, 3, "allow_oversubscription");
  write("crowd.yaml", "allow_oversubscription: true\n" + yaml);
  const Outcome outcome = run({"calibrate", "crowd.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(calibration::read_archive(folder_ / "crowd.zip").at("surroundings/01-dgemm.json"),
              HasSubstr("\"oversubscribed\": true"));
  const Outcome fit = run({"fit", "cluster", "crowd.zip", "--quiet"});
  EXPECT_EQ(fit.status, 4) << fit.output;  // several ranks, and no network
}

/// Two pairs at once inside this machine, whatever its cores: what comes out is worth nothing, but comes out.
TEST_F(Calibrate, MeasuresWhatSeveralPairsGetTogether) {
  write("pairs.yaml",
        "name: pairs\nwarm_up: 0\nranks_per_host: 4\nallow_oversubscription: true\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 60, count: 20, options: [--footprint, 1MB]}\n"
        "  - mpi: {max_bytes: 64KiB, count: 8, repetitions: 3, operations: [send, recv, pingpong]}\n"
        "  - saturation: {max_bytes: 1MiB, min_bytes: 256KiB, count: 3, repetitions: 4, options: "
        "[--warm-up-calls, \"1\"]}\n");
  const Outcome outcome = run({"calibrate", "pairs.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto files = calibration::read_archive(folder_ / "pairs.zip");
  EXPECT_EQ(lines_of(files.at("designs/03-saturation.csv")).size(), 24U);
  EXPECT_EQ(lines_of(files.at("measurements/03-saturation.csv")).size(), 12U + 2 * 12U);
  const Outcome fitted = run({"fit", "cluster", "pairs.zip", "-o", "pairs.json"});
  ASSERT_EQ(fitted.status, 0) << fitted.output;
  std::ifstream in(folder_ / "pairs.json");
  const core::ScopeModel local = core::read_cluster(in, "pairs.json").network.scope(core::Scope::local);
  ASSERT_TRUE(local.capacity) << fitted.output;
  EXPECT_EQ(local.capacity->origin, core::LinkCapacity::Origin::measured);
  EXPECT_GT(local.capacity->low_bytes_per_s, 0);
  EXPECT_THAT(fitted.output, HasSubstr("network: local: capacity "));
  EXPECT_THAT(fitted.output, HasSubstr("one pair alone gets"));
}

TEST_F(Calibrate, LeavesTheSaturationOutWhereThereAreTooFewRanks) {
  write("few.yaml",
        "name: few\nwarm_up: 0\nranks_per_host: 2\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 60, count: 20, options: [--footprint, 1MB]}\n"
        "  - saturation: {}\n"
        "  - mpi: {max_bytes: 64KiB, count: 8, repetitions: 3, operations: [send, recv, pingpong]}\n");
  const Outcome outcome = run({"calibrate", "few.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("02-saturation is left out: two pairs of ranks at once need four ranks on the "
                                        "host, and there are 2"));
  EXPECT_THAT(outcome.output, HasSubstr("03-mpi: about"));
  ASSERT_EQ(run({"fit", "cluster", "few.zip", "--quiet", "-o", "few.json"}).status, 0);
  EXPECT_THAT(text_of(folder_ / "few.json"), HasSubstr("capacity: the capacity for several messages inside a host"));
  expect_campaign("name: a\nranks_per_host: 2\nsteps:\n  - saturation: {}\n", 3, "nothing to measure");
}

TEST_F(Calibrate, SaysWhatIsWrongWithACampaignFile) {
  const std::string pairs = "name: a\nranks_per_host: 4\nallow_oversubscription: true\nsteps:\n  - saturation: ";
  expect_campaign(pairs + "{pairs: [1, 3]}\n", 3, "there are ranks for at most 2 pairs at once");
  expect_campaign(pairs + "{pairs: [0, 1]}\n", 3, "`pairs` is 0");
  expect_campaign(pairs + "{pairs: []}\n", 3, "numbers of pairs");
  expect_campaign(pairs + "{max_bytes: 3GiB}\n", 3, "max bytes");

  expect({"calibrate", "missing.yaml"}, 3, "missing.yaml");
  expect_campaign("name: [", 3, "bad.yaml:1");
  expect_campaign("steps:\n  - dgemm: {}\n", 3, "expected a name");
  expect_campaign("name: a\n", 3, "steps");
  expect_campaign("name: a\nstep: 1\nsteps:\n  - dgemm: {count: 20}\n", 3, "bad.yaml:2, field `step`");
  expect_campaign("name: a\nsteps:\n  - dgemm: {size: 7}\n", 3, "unknown key");
  expect_campaign("name: a\nsteps:\n  - dgemm: {max_size: many}\n", 3, "steps[0].dgemm.max_size");
  expect_campaign("name: a\nsteps:\n  - dgemm: {max_size: -4}\n", 3, "max");
  expect_campaign("name: a\nsteps:\n  - fft: {}\n", 3, "unknown step");
  expect_campaign("name: a\nsteps:\n  - kernels: {}\n", 3, "runs");
  expect_campaign("name: a\nwarm_up: soon\nsteps:\n  - dgemm: {count: 20}\n", 3, "warm_up");
  expect_campaign("name: a\nduration: 1s\nsteps:\n  - thresholds: {}\n  - dgemm: {count: 20}\n", 3, "duration");
  write("good.yaml", tiny_campaign);
  expect({"calibrate", "good.yaml", "-o", "good.rar"}, 3, ".zip, .tar.zst or .tar.gz");
  expect({"calibrate", "good.yaml", "--folder", "/proc/campaign"}, 3, "/proc/campaign");
  write("occupied/letter.txt", "Dear Ada");
  expect({"calibrate", "good.yaml", "--folder", "occupied"}, 3, "something else than a campaign");
}

TEST_F(Calibrate, SaysWhenTheMachineCannotMeasure) {
  const std::string steps = "steps:\n  - dgemm: {nb: 16, max_size: 60, count: 20";
  expect_campaign("name: bad\nwarm_up: 0\n" + steps + ", options: [--footprint, 1000TB]}\n", 3, "are available on");
  expect_campaign("name: bad\nhosts: [no-such-host.invalid]\n" + steps + "}\n", 6,
                  "looking at the hosts no-such-host.invalid");
  expect_campaign("name: bad\nhosts: [localhost]\nranks_per_host: 4096\n" + steps + "}\n", 6, "looking at the hosts");
  expect_campaign("name: bad\nlauncher: no-such-mpirun\n" + steps + "}\n", 6, "no-such-mpirun");
}

TEST_F(Calibrate, RefusesAnotherCampaignAndAClockThatWasSetBack) {
  write("tiny.yaml",
        "name: tiny\nwarm_up: 0\nsteps:\n  - dgemm: {nb: 16, max_size: 60, count: 20, options: [--footprint, 1MB]}\n");
  ASSERT_EQ(run({"calibrate", "tiny.yaml"}).status, 0);
  expect({"calibrate", "tiny.yaml"}, 3, "--resume continues it");
  write("tiny.campaign/latest", "1e11\n");
  expect({"calibrate", "tiny.yaml", "--resume"}, 3, "the clock of this host has been set back");
  write("tiny.yaml", "name: tiny\nwarm_up: 1s\nsteps:\n  - dgemm: {nb: 16, max_size: 60, count: 20}\n");
  expect({"calibrate", "tiny.yaml", "--resume"}, 3, "differs from the campaign given");
}

TEST_F(Calibrate, StartsRanksWithSrunInASlurmJob) {
  // Slurm itself is not needed: this srun understands what hplcast tells the real one.
  write("bin/srun", R"(#!/bin/sh
echo "$@" >>srun.log
[ "$1" != --version ] || exit 0
ranks=$2
shift 2
while [ "${1#-}" != "$1" ]; do shift; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec mpirun -np "$ranks" --bind-to core "$@"
)");
  fs::permissions(folder_ / "bin" / "srun", fs::perms::owner_all);
  write("tiny.yaml",
        "name: tiny\nwarm_up: 0\nranks_per_host: 2\n" + tiny_campaign.substr(tiny_campaign.find("steps:")));
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = {"calibrate", "tiny.yaml"};
  command.directory = folder_;
  command.environment = {{"SLURM_JOB_NUM_NODES", "1"},
                         {"PATH", (folder_ / "bin").string() + ":" + std::getenv("PATH")}};
  const core::CommandResult result = core::run(command);
  ASSERT_EQ(result.status, 0) << result.output;
  const auto files = calibration::read_archive(folder_ / "tiny.zip");
  expect_whole(files, kernel_rows_of(files));
  EXPECT_THAT(text_of(folder_ / "srun.log"), HasSubstr("2 --cpu-bind=cores"));
}

/// A Slurm of one node on this machine, as long as it lives.
class LocalSlurm {
 public:
  LocalSlurm() : started_(call("start")) {}
  ~LocalSlurm() { call("stop"); }
  LocalSlurm(const LocalSlurm&) = delete;
  LocalSlurm& operator=(const LocalSlurm&) = delete;

  /// Why there is none; empty: it runs.
  std::string problem() const { return started_.status == 0 ? "" : started_.output; }
  core::CommandResult run(const fs::path& directory, const std::string& line) const {
    core::Command command = shell_command(line);
    command.directory = directory;
    command.environment = {{"SLURM_CONF", (folder_.path() / "slurm.conf").string()}};
    command.timeout_s = 120;
    return core::run(command);
  }

 private:
  core::CommandResult call(const std::string& what) const {
    return core::run(
        shell_command(HPLCAST_SOURCE_DIR "/tests/study/local_slurm " + what + " " + folder_.path().string()));
  }

  core::TemporaryFolder folder_{"hplcast-slurm"};  // short: paths of sockets are
  core::CommandResult started_;
};

TEST_F(Calibrate, RunsInAJobOfSlurm) {
  const LocalSlurm slurm;
  if (!slurm.problem().empty()) GTEST_SKIP() << slurm.problem();
  if (slurm.run(folder_, "srun --mpi=list").output.find("pmix") == std::string::npos)
    GTEST_SKIP() << "skipped: this Slurm cannot start ranks of Open MPI (no PMIx)";
  write("tiny.yaml", "name: tiny\nwarm_up: 0\nranks_per_host: 2\nlauncher_options: [--mpi=pmix]\n" +
                         tiny_campaign.substr(tiny_campaign.find("steps:")));
  const core::CommandResult result =
      slurm.run(folder_, "salloc --quiet --nodes=1 --ntasks=2 " HPLCAST_BINARY_DIR "/bin/hplcast calibrate tiny.yaml");
  ASSERT_EQ(result.status, 0) << result.output;
  const auto files = calibration::read_archive(folder_ / "tiny.zip");
  expect_whole(files, kernel_rows_of(files));
  EXPECT_THAT(files.at("log.txt"), HasSubstr("srun -n 2"));
}

TEST_F(Calibrate, SaysThatTheDiskIsFull) {
  const fs::path disk = folder_ / "disk";
  fs::create_directories(disk);
  const auto shell = [](const std::string& line) { return core::run(shell_command(line)).status; };
  if (shell("mount -t tmpfs -o size=64k tmpfs '" + disk.string() + "'") != 0)
    GTEST_SKIP() << "skipped: no right to mount a small disk";
  write("tiny.yaml", tiny_campaign);
  const Outcome outcome = run({"calibrate", "tiny.yaml", "--folder", "disk/campaign"});
  const bool kept = fs::exists(disk / "campaign" / "campaign.yaml");
  EXPECT_EQ(shell("umount '" + disk.string() + "'"), 0);
  EXPECT_EQ(outcome.status, 3) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("No space left on device"));
  EXPECT_TRUE(kept);
}

TEST_F(Calibrate, FitClusterSaysWhatIsWrongWithAnArchive) {
  expect({"fit", "cluster", "missing.zip"}, 3, "missing.zip");
  write("text.zip", "this is no archive");
  expect({"fit", "cluster", "text.zip"}, 3, "text.zip");
  write("folder/letter.txt", "Dear Ada");
  expect({"fit", "cluster", "folder"}, 3, "is no campaign");
}

}  // namespace
}  // namespace hplcast::test
