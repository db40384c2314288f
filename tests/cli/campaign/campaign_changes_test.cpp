// What calibrate looks at before it measures, what may be changed afterwards, and steps that measure nothing.
#include "hplcast/calibration/archive.hpp"
#include "tests/cli/campaign/calibrate_fixture.hpp"

namespace hplcast::test {
namespace {

const std::string head = "name: small\nwarm_up: 0\ncontrol: false\nranks_per_host: 2\nsteps:\n";
const std::string dgemm = "  - dgemm: {nb: 16, max_size: 60, count: 20, alone: false, options: [--footprint, 1MB]}\n";
const std::string mpi =
    "  - mpi: {max_bytes: 64KiB, count: 8, repetitions: 3, operations: [send, recv, pingpong], background: none}\n";
const std::string wrong_mpi =
    "  - mpi: {max_bytes: 64KiB, count: 8, background: none, options: [--warmup-calls, \"1\"]}\n";

class CampaignChanges : public Calibrate {
 protected:
  bool measured(const std::string& file) const { return fs::exists(folder_ / "small.campaign/measurements" / file); }
};

TEST_F(CampaignChanges, WrongStepsAreFoundBeforeAnythingIsMeasured) {
  struct WrongStep {
    std::string step, words;
    int status = 3;
  };
  const std::vector<WrongStep> wrong = {
      {wrong_mpi, "--warmup-calls"},
      {"  - mpi: {max_bytes: 64KiB, count: 8, scope: remote}\n", "remote"},
      {"  - kernels: {runs: [{N: 60, NB: 16, P: 2, Q: 2}]}\n", "needs 4 ranks; expected at most 2"},
      {"  - kernels: {runs: [{N: 60, NB: 16, P: 1, Q: 2}], options: [--program, /nowhere/xhpl]}\n", "/nowhere/xhpl", 6},
      {"  - dgemm: {max_size: 60, count: 20, alone: false, options: [--threads, none]}\n", "--threads"}};
  for (const auto& [step, words, status] : wrong) {
    write("small.yaml", head + dgemm + step);
    fs::remove_all(folder_ / "small.campaign");
    const Outcome outcome = run({"calibrate", "small.yaml"});
    EXPECT_EQ(outcome.status, status) << step << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(words)) << step;
    EXPECT_FALSE(measured("01-dgemm.csv")) << step;
    if (status == 6) {
      EXPECT_THAT(text_of(folder_ / "small.campaign/designs/02-kernels-aliased.csv"),
                  ::testing::StartsWith("N,NB,P,Q,ALIGN\n60,16,1,2,1536\n60,16,1,2,72\n60,16,1,2,3072\n"));
    }
  }
}

TEST_F(CampaignChanges, AStepThatWasNotMeasuredMayBeChangedAndOthersMayNot) {
  write("small.yaml", head + dgemm);
  ASSERT_EQ(run({"calibrate", "small.yaml"}).status, 0);
  const std::string rows = text_of(folder_ / "small.campaign/measurements/01-dgemm.csv");
  fs::remove(folder_ / "small.zip");
  write("small.yaml", head + dgemm + wrong_mpi);
  expect({"calibrate", "small.yaml", "--resume"}, 3, "--warmup-calls");
  EXPECT_EQ(text_of(folder_ / "small.campaign/measurements/01-dgemm.csv"), rows);

  write("other.yaml",
        head + "  - dgemm: {nb: 32, max_size: 60, count: 20, alone: false, options: [--footprint, 1MB]}\n" + mpi);
  expect({"calibrate", "other.yaml", "--resume", "--folder", "small.campaign"}, 3,
         "step 01-dgemm has been measured, and its sizes, counts or seed would be others");
  write("other.yaml",
        head + "  - dgemm: {nb: 16, max_size: 60, count: 20, alone: false, options: [--footprint, 2MB]}\n" + mpi);
  expect({"calibrate", "other.yaml", "--resume", "--folder", "small.campaign"}, 3, "its options would be others");
  write("other.yaml", head + mpi);
  expect({"calibrate", "other.yaml", "--resume", "--folder", "small.campaign"}, 3, "01-dgemm");
  write("other.yaml", "bind: false\n" + head + dgemm);
  expect({"calibrate", "other.yaml", "--resume", "--folder", "small.campaign"}, 3, "`bind` would be another");

  write("small.yaml", "# mended\n" + head + dgemm + mpi);
  const Outcome outcome = run({"calibrate", "small.yaml", "--resume"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the campaign file has changed; what has been measured stays"));
  const auto files = calibration::read_archive(folder_ / "small.zip");
  EXPECT_EQ(files.at("measurements/01-dgemm.csv"), rows);
  EXPECT_EQ(files.count("measurements/02-mpi.csv"), 1U);
  EXPECT_EQ(files.at("campaign.yaml").substr(0, 8), "# mended");
}

TEST_F(CampaignChanges, AnOlderFolderGoesOnWithTheSameFileOnly) {
  write("small.yaml", head + dgemm);
  ASSERT_EQ(run({"calibrate", "small.yaml"}).status, 0);
  fs::remove(folder_ / "small.campaign/steps.json");
  write("other.yaml", head + dgemm + mpi);
  expect({"calibrate", "other.yaml", "--resume", "--folder", "small.campaign"}, 3, "differs from the campaign given");
  EXPECT_EQ(run({"calibrate", "small.yaml", "--resume", "-o", "again.zip"}).status, 0);
  EXPECT_TRUE(fs::exists(folder_ / "small.campaign/steps.json"));
}

TEST_F(CampaignChanges, AStepWhoseCallsAllFailIsAnErrorAndMayBeChanged) {
  write("small.yaml", head + dgemm);
  ASSERT_EQ(run({"calibrate", "small.yaml"}).status, 0);
  // As if the second step had just been measured, in one piece, with failed calls only.
  write("small.yaml", head + dgemm + "  - mpi: {max_bytes: 64KiB, count: 8, operations: [send], background: none}\n");
  write("small.campaign/measurements/02-mpi.000000.csv",
        "order,rank,peer_rank,pairs,operation,scope,size_bytes,duration_s,start_s,host,peer,background,error\n"
        "0,0,1,1,send,local,1,0,0,a,a,none,the clock did not advance\n");
  write("small.campaign/steps.json", "{\"launch\": {}, \"steps\": {}}\n");
  expect({"calibrate", "small.yaml", "--resume", "-o", "b.zip"}, 3,
         "step 02-mpi has measured nothing: all 1 calls failed, the last one because: the clock did not advance");
  EXPECT_FALSE(measured("02-mpi.csv"));
  EXPECT_FALSE(measured("02-mpi.000000.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "b.zip"));
  EXPECT_EQ(run({"calibrate", "small.yaml", "--resume", "-o", "b.zip"}).status, 0);
}

}  // namespace
}  // namespace hplcast::test
