#include "hplcast/study/real_runs.hpp"
#include "tests/support/text_of.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/fake_programs.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

const std::string passed_line = "echo '||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.004 ...... PASSED'\n";

class RunReal : public ::testing::Test {
 protected:
  RealRunRequest request(const std::string& mpirun_body) {
    RealRunRequest result;
    for (const long long N : {100, 200, 300}) {
      result.configurations.emplace_back();
      result.configurations.back().N = N;
    }
    result.repetitions = 2;
    result.results = programs_.folder() / "runs.csv";
    result.launch.mpirun =
        programs_.script("mpirun", "echo run >> \"" + log().string() + "\"\n" + mpirun_body).string();
    result.xhpl = programs_.script("xhpl", "exit 99");
    return result;
  }
  RealRunRequest working_request() { return request(testing::print_hpl_result("1.50", "2.5") + passed_line); }

  std::filesystem::path log() const { return programs_.folder() / "log"; }
  std::size_t runs_started() const {
    const std::string text = test::text_of(log());
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// (N, repetition) to the number of rows.
  std::map<std::pair<long long, long long>, int> rows() const {
    std::ifstream in(programs_.folder() / "runs.csv");
    core::CsvReader csv(in, "runs.csv");
    std::map<std::pair<long long, long long>, int> result;
    while (csv.next()) ++result[{csv.integer(csv.column("N")), csv.integer(csv.column("repetition"))}];
    return result;
  }

  testing::FakePrograms programs_;
};

TEST_F(RunReal, MakesEveryRepetitionOfEveryConfigurationOnce) {
  const auto summary = run_real(working_request());
  EXPECT_EQ(summary.made, 6U);
  EXPECT_EQ(rows().size(), 6U);
  std::ifstream in(programs_.folder() / "runs.csv");
  for (const auto& run : core::read_hpl_csv(in, "runs.csv", {})) {
    EXPECT_EQ(run.time_s, 1.5);
    EXPECT_TRUE(run.residual_passed);
  }
}

TEST_F(RunReal, StartsAgainWhereItWasStopped) {
  // The fourth run fails: three stay in the file.
  auto failing = request("test $(wc -l < \"" + log().string() + "\") -lt 4 || { echo broken; exit 5; }\n" +
                         testing::print_hpl_result("1.50", "2.5"));
  EXPECT_THAT(error_in([&] { run_real(failing); }), HasSubstr("broken"));
  EXPECT_EQ(rows().size(), 3U);
  const auto summary = run_real(working_request());
  EXPECT_EQ(summary.found, 3U);
  EXPECT_EQ(summary.made, 3U);
  EXPECT_EQ(rows().size(), 6U);
  EXPECT_EQ(runs_started(), 7U);
  EXPECT_EQ(run_real(working_request()).made, 0U);
}

TEST_F(RunReal, ASessionThatMadeNoRunLeavesNoColumnsBehind) {
  auto failing = request("echo no such host; exit 5\n");
  failing.launch.threads = 2;
  failing.launch.oversubscribe = true;
  EXPECT_THAT(error_in([&] { run_real(failing); }), HasSubstr("no such host"));
  EXPECT_EQ(run_real(working_request()).made, 6U);
  EXPECT_EQ(rows().size(), 6U);
}

TEST_F(RunReal, MoreRepetitionsAddToWhatThereIs) {
  run_real(working_request());
  auto more = working_request();
  more.repetitions = 3;
  EXPECT_EQ(run_real(more).made, 3U);
}

TEST_F(RunReal, HalfARowOfAMachineThatWentDownIsMadeAgain) {
  run_real(working_request());
  const auto size = std::filesystem::file_size(programs_.folder() / "runs.csv");
  std::filesystem::resize_file(programs_.folder() / "runs.csv", size - 9);
  EXPECT_EQ(run_real(working_request()).made, 1U);
  EXPECT_EQ(rows().size(), 6U);
}

/// An mpirun that measures a control, 10 ms, 11 ms, 12 ms ..., or runs HPL. A control has one rank.
const std::string control_or_hpl =
    "case \"$*\" in *--control*)\n"
    "  for last; do :; done\n"
    "  n=$(grep -c control \"$0.controls\" 2>/dev/null); echo control >> \"$0.controls\"\n"
    "  { echo rank,host,core,start_s,shape,calls,wall_s,cpu_s,sd_s,round_trip_s\n"
    "    echo 0,h,0,1,640x640x640,18,0.01${n:-0},0.009,0.0001,0; } > \"$last\"\n"
    "  exit 0;;\n"
    "esac\n";

TEST_F(RunReal, MeasuresTheControlBeforeAndAfterEachRun) {
  auto asked = request(control_or_hpl + testing::print_hpl_result("1.50", "2.5") + passed_line);
  asked.control = programs_.script("measure", "exit 99");
  EXPECT_TRUE(run_real(asked).has_control);
  std::ifstream in(asked.results);
  const auto runs = core::read_hpl_csv(in, "runs.csv", {});
  ASSERT_EQ(runs.size(), 6U);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_TRUE(runs[i].control);
    // The control after a run is the one before the next run.
    EXPECT_DOUBLE_EQ(runs[i].control->low_s, 0.01 + 0.001 * static_cast<double>(i));
    EXPECT_DOUBLE_EQ(runs[i].control->high_s, 0.011 + 0.001 * static_cast<double>(i));
    EXPECT_EQ(runs[i].control->cpu_s, 0.009);
  }
  // The same file cannot go on without.
  asked.control.clear();
  asked.repetitions = 3;
  EXPECT_THAT(error_in([&] { run_real(asked); }), HasSubstr("has the control of its runs"));
}

TEST_F(RunReal, KeepsTheTimeInKernelsThatTheProgramTells) {
  auto asked =
      request(control_or_hpl + testing::print_hpl_result("1.50", "2.5") +
              "echo 'hplcast: time_s=1.5 gflops=2.5 ended_unix_s=1795364610.3 kernels_s=7.25'\n" + passed_line);
  asked.control = programs_.script("measure", "exit 99");
  run_real(asked);
  const auto first_runs = core::read_from(asked.results, core::read_hpl_csv, core::HplParameters());
  EXPECT_EQ(first_runs.front().kernels_s, 7.25);
  // A file of a session before goes on without the column.
  std::string text = core::read_text(asked.results);
  for (const std::string& column : {std::string(",kernels_s"), std::string(",7.25")})
    for (std::size_t at = text.find(column); at != std::string::npos; at = text.find(column))
      text.erase(at, column.size());
  core::write_file(asked.results, [&](std::ostream& out) { out << text; });
  asked.repetitions = 3;
  EXPECT_EQ(run_real(asked).made, 3U);
  const auto runs = core::read_from(asked.results, core::read_hpl_csv, core::HplParameters());
  EXPECT_EQ(runs.size(), 9U);
  EXPECT_TRUE(runs.back().control);
  EXPECT_FALSE(runs.back().kernels_s);
}

TEST_F(RunReal, AFileOfAnOlderSessionGoesOnWithoutControls) {
  run_real(working_request());
  auto asked = request(control_or_hpl + testing::print_hpl_result("1.50", "2.5") + passed_line);
  asked.control = programs_.script("measure", "exit 99");
  asked.repetitions = 3;
  const auto summary = run_real(asked);
  EXPECT_EQ(summary.made, 3U);
  EXPECT_FALSE(summary.has_control);
  EXPECT_EQ(rows().size(), 9U);
}

TEST_F(RunReal, AFileBegunWithoutControlsGoesOnWithTheSameProgram) {
  const std::string path = std::getenv("PATH");
  programs_.script("xhpl-instrumented", "exit 99");
  setenv("PATH", (programs_.folder().string() + ":" + path).c_str(), 1);
  auto asked = request("echo \"$*\" >> \"$0.words\"\n" + control_or_hpl + testing::print_hpl_result("1.50", "2.5") +
                       passed_line);
  asked.xhpl.clear();
  run_real(asked);
  asked.control = programs_.script("measure", "exit 99");
  asked.repetitions = 3;
  EXPECT_EQ(run_real(asked).made, 3U);
  setenv("PATH", path.c_str(), 1);
  const std::string words = test::text_of(programs_.folder() / "mpirun.words");
  EXPECT_THAT(words, HasSubstr("/xhpl"));
  EXPECT_THAT(words, ::testing::Not(HasSubstr("xhpl-instrumented")));
}

TEST_F(RunReal, AControlThatFailsEndsTheSession) {
  auto asked = request("case \"$*\" in *--control*) echo no cores left; exit 5;; esac\n");
  asked.control = programs_.script("measure", "exit 99");
  EXPECT_THAT(error_in([&] { run_real(asked); }),
              ::testing::AllOf(HasSubstr("the control measurement"), HasSubstr("no cores left")));
  EXPECT_TRUE(rows().empty());
}

TEST_F(RunReal, TwoSessionsOnOneFileAreRefused) {
  const auto asked = working_request();
  const int other = open(asked.results.c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_THAT(error_in([&] { run_real(asked); }), HasSubstr("another session"));
  close(other);
}

TEST_F(RunReal, AForeignFileIsNotTouched) {
  const auto asked = working_request();
  std::ofstream(asked.results) << "my diary\nday one\n";
  EXPECT_THROW(run_real(asked), core::ParseError);
  EXPECT_EQ(test::text_of(asked.results), "my diary\nday one\n");
  std::ofstream(asked.results) << "one line without end";
  EXPECT_THROW(run_real(asked), core::ParseError);
  EXPECT_EQ(test::text_of(asked.results), "one line without end");
}

TEST_F(RunReal, AWrongResultIsMarked) {
  const auto summary =
      run_real(request(testing::print_hpl_result("1.50", "2.5") +
                       "echo '||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 9e9 ...... FAILED'\n"));
  EXPECT_EQ(summary.failed_residuals, 6U);
  EXPECT_THAT(test::text_of(programs_.folder() / "runs.csv"), HasSubstr(",failed,"));
}

TEST_F(RunReal, OutputWithoutAResultIsAnExternalError) {
  EXPECT_THROW(run_real(request("echo hello")), core::ExternalError);
}

TEST_F(RunReal, WhatCannotRunIsRefusedBeforeTheFirstRun) {
  auto asked = working_request();
  asked.configurations.back().N = 100000000;
  EXPECT_THAT(error_in([&] { run_real(asked); }), HasSubstr("fits the free memory"));
  asked = working_request();
  asked.configurations.back().P = 100000;
  EXPECT_THAT(error_in([&] { run_real(asked); }), HasSubstr("--oversubscribe"));
  EXPECT_FALSE(std::filesystem::exists(log()));
}

TEST_F(RunReal, OversubscribedRunsAreMarked) {
  auto asked = working_request();
  asked.launch.oversubscribe = true;
  asked.configurations.resize(1);
  asked.configurations.front().P = 1000;
  asked.repetitions = 1;
  run_real(asked);
  EXPECT_THAT(test::text_of(asked.results), HasSubstr(",1,1\n"));
}

TEST_F(RunReal, TakesTheTimeOfAShortRunFromItsRate) {
  run_real(request(testing::print_hpl_result("0.00", "1.25") + passed_line));
  std::ifstream in(programs_.folder() / "runs.csv");
  core::CsvReader csv(in, "runs.csv");
  while (csv.next()) {
    const double N = csv.number(csv.column("N"));
    EXPECT_NEAR(csv.number(csv.column("time_s")), (2 * N * N * N / 3 + 1.5 * N * N) / 1.25e9, 1e-9);
  }
}

TEST(PlanRealRuns, EveryRoundIsARandomOrderOfAllConfigurations) {
  RealRunRequest request;
  request.repetitions = 4;
  for (int i = 1; i <= 20; ++i) {
    request.configurations.emplace_back();
    request.configurations.back().N = i;
  }
  const auto plan = plan_real_runs(request);
  ASSERT_EQ(plan.size(), 80U);
  std::vector<std::vector<long long>> rounds(4);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(plan[i].repetition, static_cast<int>(i / 20) + 1);
    rounds[i / 20].push_back(plan[i].parameters.N);
  }
  EXPECT_NE(rounds[0], rounds[1]);
  for (auto& round : rounds) {
    EXPECT_FALSE(std::is_sorted(round.begin(), round.end()));
    std::sort(round.begin(), round.end());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(round[static_cast<std::size_t>(i)], i + 1);
  }
}

TEST(HostsIn, AHostfileMayHaveBlanksBeforeNames) {
  const testing::FakePrograms place;
  std::ofstream(place.folder() / "hosts") << "  n1 slots=2\n\tn2:4\n # a comment\nn1\n";
  EXPECT_EQ(hosts_in(place.folder() / "hosts"), 2);
}

TEST(PlanRealRuns, TheOrderDependsOnTheSeedAlone) {
  RealRunRequest request;
  request.configurations.resize(10);
  for (int i = 0; i < 10; ++i) request.configurations[static_cast<std::size_t>(i)].N = i + 1;
  const auto order = [&] {
    std::vector<long long> result;
    for (const auto& run : plan_real_runs(request)) result.push_back(run.parameters.N);
    return result;
  };
  const auto first = order();
  EXPECT_EQ(first, order());
  request.seed = 2;
  EXPECT_NE(first, order());
  request.repetitions = 0;
  EXPECT_THROW(plan_real_runs(request), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
