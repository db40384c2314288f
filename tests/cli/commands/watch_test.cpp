// The scripts of examples/watch with small campaigns of this machine, and a Slurm that runs jobs at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Watch : public ::testing::Test {
 protected:
  Watch() {
    write("tiny.yaml",
          "name: tiny\nwarm_up: 0\ncontrol: false\nmonitoring: false\nsteps:\n"
          "  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, alone: false, options: [--footprint, 1MB, "
          "--warm-up, 10ms]}\n");
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
    fs::permissions(folder_.path() / name, fs::perms::owner_all);
  }

  core::CommandResult run(const std::string& line) {
    core::Command command;
    command.program = "/bin/bash";
    command.arguments = {"-c", "PATH=\"" + folder_.path().string() + ":" HPLCAST_BINARY_DIR "/bin:$PATH\"; " + line};
    command.directory = folder_.path();
    command.timeout_s = 200;
    return core::run(command);
  }

  core::TemporaryFolder folder_{"hplcast-watch"};
  std::string scripts_ = "\"" HPLCAST_SOURCE_DIR "\"/examples/watch";
};

TEST_F(Watch, MeasuresAddsAndChecksAMachine) {
  for (const char* missing : {"10", "9"}) {
    const auto outcome = run(scripts_ + "/watch.sh history tiny.yaml");
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(": added"));
    EXPECT_THAT(outcome.output, HasSubstr(std::string("needs ") + missing + " more campaigns"));
    EXPECT_THAT(outcome.output, HasSubstr("nothing found"));
    run("sleep 1");  // campaigns have names of one second
  }
  write("broken.yaml",
        "name: broken\nwarm_up: 0\ncontrol: false\nsteps:\n  - dgemm: {nb: 16, max_size: 120, count: 40, alone: false, "
        "options: "
        "[--no-such-option]}\n");
  const auto failed = run(scripts_ + "/watch.sh history broken.yaml");
  EXPECT_EQ(failed.status, 5) << failed.output;
  EXPECT_THAT(failed.output, HasSubstr("was to measure on"));
}

TEST_F(Watch, MeasuresAClusterThroughSlurm) {
  // Jobs of node "down" do nothing; those of the others run here, at once.
  write("sinfo", "#!/bin/sh\nhostname\necho down\n");
  write("sbatch",
        "#!/bin/bash\nnode= wrap= output=/dev/null\nwhile [ $# -gt 0 ]; do case $1 in --nodelist) node=$2; shift;;\n"
        "--wrap) wrap=$2; shift;; --output) output=$2; shift;; esac; shift; done\n"
        "[ \"$node\" = down ] || bash -c \"$wrap\" >\"$output\" 2>&1\necho 7\n");
  const auto outcome = run("mkdir \"its' own\"; WATCH_CAMPAIGN=$PWD/tiny.yaml " + scripts_ +
                           "/slurm.sh \"its' own\" batch; cat */*/check.log");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(".zip: added"));
  EXPECT_THAT(outcome.output, HasSubstr("no campaign has measured host `down`"));
  EXPECT_THAT(outcome.output, HasSubstr("needs 10 more campaigns"));
}

/// An hplcast whose campaigns are made up: an hour apart, dgemm at half its speed in those that are called slow.
constexpr const char* made_up = R"sh(#!/bin/bash
[ "$1" = calibrate ] || exec ")sh" HPLCAST_BINARY_DIR R"sh(/bin/hplcast" "$@"
out=${!#} number=$(cat number 2>/dev/null || echo 0)
echo $((number + 1)) >number
mkdir -p "$out"/{designs,measurements,surroundings}
echo 'name: a' >"$out/campaign.yaml"
echo 'm,n,k' >"$out/designs/01-dgemm.csv"
echo $((1700000000 + 3600 * number)) >"$out/start"
cp "$out/start" "$out/latest"
speed=$((100 + number % 3))
case $out in */slow*) speed=50 ;; esac
echo '{"machines":[{"host":"a","cores":1}],"software":{},"ranks":[{"rank":0,"host":"a","cpu":0,"core":0}]}' \
  >"$out/surroundings/hosts.json"
awk -v speed=$speed 'BEGIN { print "kernel,m,n,k,duration_s,start_s,host,cpu,content"
  for (m = 100; m <= 400; m += 100) for (k = 16; k <= 128; k *= 2)
    printf "dgemm,%d,200,%d,%.9g,0,a,0,random\n", m, k, 1e-7 * m * 200 * k / speed }' >"$out/measurements/01-dgemm.csv"
)sh";

TEST_F(Watch, TrialFindsTheBusyCoreAndNothingBefore) {
  write("hplcast", made_up);
  const auto outcome = run(scripts_ + "/trial.sh trial");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("nothing found"));  // after six quiet campaigns
  EXPECT_THAT(outcome.output, HasSubstr("a CPU 0"));        // after two more
  EXPECT_THAT(outcome.output, HasSubstr("1 finding"));
  const auto quiet = run(scripts_ + "/trial.sh quiet 8 0");
  EXPECT_EQ(quiet.status, 1) << quiet.output;
  EXPECT_THAT(quiet.output, HasSubstr("the busy core was not found"));
}

}  // namespace
}  // namespace hplcast
