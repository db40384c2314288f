// Campaigns that are killed or interrupted, or lose a rank: they stop whole, and go on later.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <random>

#include "hplcast/calibration/archive.hpp"
#include "tests/cli/campaign/calibrate_fixture.hpp"
#include "tests/support/asked.hpp"

namespace hplcast::test {
namespace {

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
  const long kills = asked("HPLCAST_KILLS", 2);
  std::mt19937 random(4);  // of the moments; how far a run has come by then depends on the machine
  write("tiny.yaml", tiny_campaign);
  const fs::path campaign = folder_ / "tiny.campaign", archive = folder_ / "tiny.zip";
  // The control measurement, which the campaign that is killed does not make, is more than half of the whole one.
  const auto whole = WholeCampaign::instance().took / 2;
  const std::size_t kernel_rows = kernel_rows_of(WholeCampaign::instance().files());

  long ranks_killed = 0, calibrates_killed = 0, finished = 0;
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
    fs::remove(archive);  // calibrate does not write over one
    kept.clear();
  }
  ASSERT_EQ(Running(folder_, fs::exists(campaign)).wait(), 0) << text_of(folder_ / "calibrate.log");
  expect_whole(calibration::read_archive(archive), kernel_rows);
  RecordProperty("ranks_killed", static_cast<int>(ranks_killed));
  RecordProperty("campaigns_finished", static_cast<int>(finished + 1));
}

TEST_F(Calibrate, StopsEverythingWhenInterruptedAndGoesOnLater) {
  write("tiny.yaml", tiny_campaign);
  const Running running(folder_, false);
  std::vector<pid_t> ranks;
  for (int tenths = 0; tenths < 300 && ranks.empty(); ++tenths) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ranks = running.ranks();
  }
  EXPECT_FALSE(ranks.empty());
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
control: false
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

TEST_F(Calibrate, RestoresTheSettingsOfTheHostHoweverItEnds) {
  const fs::path file = "/sys/kernel/mm/transparent_hugepage/enabled";
  const std::string before = text_of(file);
  if (before.empty() || ::access(file.c_str(), W_OK) != 0 || !(std::ofstream(file) << "madvise" << std::flush))
    GTEST_SKIP() << "skipped: huge pages cannot be set here: " << file;
  const std::string changed = before.find("[never]") != std::string::npos ? "always" : "never";
  std::ofstream(file) << before.substr(before.find('[') + 1, before.find(']') - before.find('[') - 1);
  ASSERT_EQ(text_of(file), before);
  std::string yaml = tiny_campaign.substr(0, tiny_campaign.find("  - kernels"));
  yaml.insert(yaml.find("steps:"), "require: {huge_pages: " + changed + "}\nset: {huge_pages: " + changed + "}\n");
  const auto within_5_s = [&](const std::function<bool()>& holds) {
    for (int hundredths = 0; hundredths < 500 && !holds(); ++hundredths)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return holds();
  };
  // As this machine, and by a process that the launcher starts on each of a list of hosts.
  for (const auto& [hosts, end] : {std::pair("", 0),
                                   {"", SIGINT},
                                   {"", SIGKILL},
                                   {"hosts: [localhost]\n", 0},
                                   {"hosts: [localhost]\n", SIGINT},
                                   {"hosts: [localhost]\n", SIGKILL}}) {
    write("tiny.yaml", hosts + yaml);
    fs::remove_all(folder_ / "tiny.campaign");
    fs::remove(folder_ / "tiny.zip");
    const Running running(folder_, false);
    EXPECT_TRUE(within_5_s([&] { return text_of(file).find("[" + changed + "]") != std::string::npos; })) << end;
    if (end == SIGINT) running.interrupt();
    if (end == SIGKILL) running.kill_calibrate();
    EXPECT_EQ(running.wait(), end == 0 ? 0 : end == SIGINT ? 130 : 137) << text_of(folder_ / "calibrate.log");
    EXPECT_TRUE(within_5_s([&] { return text_of(file) == before; })) << end << ": " << text_of(file);
  }
}

TEST_F(Calibrate, RunsACommandOfTheUserAmongItsPieces) {
  write("own.sh", "#!/bin/sh\necho 'a warning' >&2\necho 'size,GB/s'\necho \"$1,12.5\"\necho '64,13'\n");
  fs::permissions(folder_ / "own.sh", fs::perms::owner_all);
  const std::string dgemm = "steps:\n" + tiny_campaign.substr(tiny_campaign.find("  - dgemm"));
  const std::string one = dgemm.substr(0, dgemm.find("  - kernels"));
  const auto own = [&](const std::string& rest) {
    return "name: bad\nwarm_up: 0\ncontrol: false\n" + one + "  - own: {name: stream, " + rest + "}\n";
  };
  write("tiny.yaml", own("command: [./own.sh, 'a b'], repetitions: 3"));
  ASSERT_EQ(run({"calibrate", "tiny.yaml", "-o", "tiny.zip"}).status, 0);
  const auto files = calibration::read_archive(folder_ / "tiny.zip");
  std::istringstream in(files.at("measurements/02-own-stream.csv"));
  core::CsvReader rows(in, "rows");
  std::map<std::string, int> sizes, runs;
  while (rows.next()) {
    ++sizes[std::string(rows.text(rows.column("size")))];
    ++runs[std::string(rows.text(rows.column("run")))];
    EXPECT_GT(rows.number(rows.column("start_s")), 0);
  }
  EXPECT_EQ(sizes, (std::map<std::string, int>{{"a b", 3}, {"64", 3}}));
  EXPECT_EQ(runs, (std::map<std::string, int>{{"0", 2}, {"1", 2}, {"2", 2}}));
  EXPECT_THAT(run({"fit", "cluster", "tiny.zip", "-o", "x.json"}).output, ::testing::Not(HasSubstr("own-stream")));
}

TEST_F(Calibrate, RefusesCommandsThatPrintNoTable) {
  const auto expect_refused = [&](const std::string& command, int status, const std::string& message) {
    expect_campaign(
        "name: bad\nwarm_up: 0\ncontrol: false\nmonitoring: false\nsteps:\n  - own: {name: x, repetitions: 1, "
        "time_limit: 1s, command: [" +
            command + "]}\n",
        status, message);
  };
  expect_refused("./nowhere", 3, "there is no program ./nowhere");
  expect_refused("'true'", 3, "its standard output");
  expect_refused("echo, run", 3, "printed a column `run`");
  expect_refused("echo, 'a,b'", 3, "printed no rows");
  expect_refused("printf, 'a;b\\n1;2\\n'", 3, "printed `;` between its columns");
  expect_refused("'false'", 6, "step 01-own-x, run 0");
  expect_refused("'yes'", 3, "more than 64 MiB");
  expect_refused("sleep, '9'", 6, "did not end within 1 s");
}

TEST_F(Calibrate, MeasuresNothingOnAHostThatIsNotAsRequired) {
  const std::string steps = tiny_campaign.substr(tiny_campaign.find("steps:"));
  expect_campaign("name: bad\nwarm_up: 0\nrequire: {kernel_command_line: of another machine}\n" + steps, 3,
                  "required: of another machine");
  EXPECT_TRUE(fs::is_empty(folder_ / "bad.campaign" / "measurements"));
  expect({"doctor", "--campaign", "bad.yaml"}, 5, "required: kernel_command_line");
  expect_campaign("name: bad\nrequire: {gouvernor: performance}\n" + steps, 3, "bad.yaml:2, field `require`");
  expect_campaign("name: bad\nset: {microcode: 1}\n" + steps, 3, "no setting that can be changed");
  expect_campaign("name: bad\nset: {turbo: [1]}\n" + steps, 3, "found a map; expected a map of single values");
  expect_campaign("name: bad\nlimits: {heat: 80}\n" + steps, 3, "found `heat`");
  expect_campaign("name: bad\nmonitoring: false\nlimits: {power: 80}\n" + steps, 3, "which is off");
  expect_campaign("name: bad\nlimits: {load: none}\n" + steps, 3, "load is `none`");
  expect_campaign("name: bad\nhosts: [localhost]\nset: {reserved_huge_pages: -1}\n" + steps, 3,
                  "setting reserved_huge_pages: `value` is -1");
  expect_campaign("name: bad\nhosts: [no-such-host.invalid]\nset: {huge_pages: never}\n" + steps, 6,
                  "changing settings of the hosts failed");
}

}  // namespace
}  // namespace hplcast::test
