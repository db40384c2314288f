// What is around a command: closed streams, limits, links, folders with blanks, folders that are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Surroundings : public ::testing::Test {
 protected:
  /// A line for a shell, where $H is hplcast, $C a cluster.json, and $B a folder with observed.csv.
  Outcome shell(const std::string& line) const {
    core::Command command;
    command.program = "/bin/bash";
    command.arguments = {"-c", line};
    // Words without blanks, wherever the project is.
    command.environment = {{"H", "hplcast"},
                           {"C", inputs_.path() / "examples/dahu-like.json"},
                           {"B", inputs_.path() / "tests/cli/bad_inputs/base"},
                           {"PATH", HPLCAST_BINARY_DIR "/bin:" + std::string(std::getenv("PATH"))}};
    command.directory = folder_.path();
    command.timeout_s = 60;
    return core::run(command);
  }
  std::string text(const std::string& file) const { return core::read_text(folder_.path() / file); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename());
    return names;
  }

  void SetUp() override {
    for (const char* folder : {"examples", "tests"})
      fs::create_symlink(fs::path(HPLCAST_SOURCE_DIR) / folder, inputs_.path() / folder);
  }

  core::TemporaryFolder folder_{"hplcast-surroundings-test"}, inputs_{"hplcast-surroundings-inputs"};
};

TEST_F(Surroundings, StreamsMayBeClosed) {
  ASSERT_EQ(shell("$H emit $C --platform usual.xml").status, 0);
  EXPECT_EQ(shell("$H emit $C --platform a.xml <&-").status, 0);
  EXPECT_EQ(shell("$H emit $C --platform b.xml <&- 2>&-").status, 0);
  EXPECT_EQ(shell("$H emit $C --platform c.xml <&- >&- 2>&-").status, 0);
  for (const char* file : {"a.xml", "b.xml", "c.xml"}) EXPECT_EQ(text(file), text("usual.xml")) << file;
  EXPECT_EQ(shell("$H check-cluster $C --json >&-").status, 3) << "the result cannot be written";
}

TEST_F(Surroundings, APipeIsReadOnce) {
  const std::string inputs = "P=$B/observed-prediction.json; ";
  for (const char* line : {"$H compare $B/observed.csv - < $P", "$H compare $B/observed.csv <(cat $P)",
                           "cat $P | $H compare $B/observed.csv --predicted /dev/stdin",
                           "cat $P | $H report /dev/stdin $B/observed.csv -o report.html",
                           "cat $B/observed.csv | $H report $P /dev/stdin -o report.html", "$H check-cluster <(cat $C)",
                           "$H check-cluster - < $C"}) {
    const Outcome outcome = shell("set -o pipefail; " + inputs + line);
    EXPECT_EQ(outcome.status, 0) << line << '\n' << outcome.output;
  }
  EXPECT_THAT(shell(inputs + "$H compare - < $P").output, HasSubstr("there are no real runs"));
}

TEST_F(Surroundings, TheStandardOutputMayBeAFileThatHasMore) {
  const Outcome outcome = shell(
      "(echo first; $H emit $C --platform /dev/stdout 2>/dev/null; echo last) > f; head -n 1 f; tail -n 1 f; wc -l < "
      "f");
  EXPECT_THAT(outcome.output, ContainsRegex("^first\nlast\n[0-9][0-9]+\n"));
  // No second output, though tables would go there.
  EXPECT_EQ(shell("set -o pipefail; $H transform $C --scale-dgemm 2 -o /dev/stdout | grep -c schema_version").status,
            0);
}

TEST_F(Surroundings, SeveralPredictionsIntoWhatIsOpenAreOneDocument) {
  const Outcome outcome =
      shell("$H predict $C -N 100 -P 1 -Q 1 --seed 1,2,3 -o /dev/fd/5 5> f && $H report f -o r.html");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// Hours of simulation ended with "there is no folder" alone.
TEST_F(Surroundings, AResultIsPrintedThoughTheFolderOfItsFileHasGone) {
  const Outcome outcome = shell(
      "mkdir out; printf '#!/bin/sh\\nrm -rf \"%s\"\\nexec %s \"$@\"\\n' \"$PWD/out\" \"$(command -v smpirun)\" > w; "
      "chmod +x w; $H predict $C -N 200 -P 1 -Q 2 --smpirun ./w -o out/p.json");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("cannot write out/p.json"), HasSubstr("Gflop/s predicted")));
}

TEST_F(Surroundings, ReportSaysWhatIsGivenTwice) {
  const std::string inputs =
      "cp $B/observed.csv real.csv; "
      "cp $B/observed-prediction.json p.json; F=$(pwd); $H report $F -o r.html ";
  EXPECT_THAT(shell(inputs).output, Not(HasSubstr("twice")));
  EXPECT_THAT(shell(inputs + "$F/real.csv").output, HasSubstr("/real.csv is given twice"));
}

TEST_F(Surroundings, AByteOrderMarkDoesNotCount) {
  for (const std::string file : {"observed.csv", "observed-prediction.json"})
    ASSERT_EQ(shell("(printf '\\xEF\\xBB\\xBF'; cat $B/" + file + ") > " + file).status, 0);
  for (const char* line : {"$H compare observed.csv observed-prediction.json", "$H report . -o report.html",
                           "(printf '\\xEF\\xBB\\xBF# runs\\n'; cat $B/observed.csv) > noted.csv; "
                           "$H compare noted.csv observed-prediction.json"}) {
    const Outcome outcome = shell(line);
    EXPECT_EQ(outcome.status, 0) << line << '\n' << outcome.output;
  }
}

TEST_F(Surroundings, ALimitOfFileSizesIsAnErrorAndNotASignal) {
  const Outcome outcome = shell("ulimit -f 1; $H transform $C --scale-dgemm 2 -o t.json");
  EXPECT_EQ(outcome.status, 3) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("cannot write t.json: File too large"));
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(shell("ulimit -f 1; $H transform $C --scale-dgemm 2 > t.json").status, 3);
}

TEST_F(Surroundings, NoFolderIsInvented) {
  for (const char* line :
       {"$H transform $C --scale-dgemm 2 -o none/t.json", "$H emit $C --platform none/p.xml",
        "$H predict $C -N 100 -o none/p.json", "$H predict $C -N 100 --keep none/of/these",
        "$H design dgemm -o none/d.csv", "$H tune $C --grid 1x1 -N 100 --budget 1 -o none/HPL.dat"}) {
    const Outcome outcome = shell(line);
    EXPECT_EQ(outcome.status, 3) << line << '\n' << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("there is no folder")) << line;
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Surroundings, ASymbolicLinkAndAModeAreKept) {
  const Outcome outcome = shell(
      "mkdir real; echo old > real/t.json; chmod 640 real/t.json; ln -s real/t.json link.json; umask 022;"
      "$H transform $C --scale-dgemm 2 -o link.json && $H transform $C --scale-dgemm 2 -o usual.json &&"
      "cmp real/t.json usual.json && test -L link.json && stat -c %a real/t.json usual.json");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("640\n644\n"));
}

TEST_F(Surroundings, BlanksInFoldersDoNotMatter) {
  if (!fs::exists(HPLCAST_BINARY_DIR "/bin/xhpl-smpi")) GTEST_SKIP() << "skipped: no xhpl-smpi was built";
  const Outcome outcome = shell(
      "mkdir 'a b' 'tmp of mine'; cp $C 'a b/c d.json'; export TMPDIR=\"$PWD/tmp of mine\";"
      "$H predict 'a b/c d.json' -N 300 -P 2 -Q 2 --json -o 'a b/p.json' && rmdir 'tmp of mine'");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_F(Surroundings, TheSimulatedHplTellsHowItIsStarted) {
  if (!fs::exists(HPLCAST_BINARY_DIR "/bin/xhpl-smpi")) GTEST_SKIP() << "skipped: no xhpl-smpi was built";
  for (const char* program : {"xhpl-smpi", "xhpl-smpi-real"}) {
    const Outcome outcome = shell(program);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("smpirun"));
    EXPECT_THAT(outcome.output, HasSubstr("hplcast predict"));
  }
}

TEST_F(Surroundings, TuneWritesNoHplDatForASizeThatItsBudgetDoesNotReach) {
  if (!fs::exists(HPLCAST_BINARY_DIR "/bin/xhpl-smpi")) GTEST_SKIP() << "skipped: no xhpl-smpi was built";
  const Outcome outcome = shell(
      "$H tune $C --grid 8x8 -N 200000 --nb 64,256 --depth 1 --bcast 0 --swap 1 --mode exact --budget 4 -o "
      "HPL.dat "
      "--json > tune.json");
  EXPECT_EQ(outcome.status, 5) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("no recommendation for N=200000 (HPL.dat is not written): "));
  EXPECT_THAT(outcome.output, ContainsRegex("hint: `--budget [0-9]+(s|min|h)` is expected to do"));
  EXPECT_FALSE(fs::exists(folder_.path() / "HPL.dat"));
  EXPECT_THAT(text("tune.json"), AllOf(HasSubstr("\"decided\": false"), HasSubstr("\"enough_budget_s\": ")));
}

}  // namespace
}  // namespace hplcast::test
