// hplcast calibrate and fit cluster as a user meets them: whole campaigns, and bad ones.
#include <unistd.h>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/prediction.hpp"
#include "tests/cli/campaign/calibrate_fixture.hpp"

namespace hplcast::test {
namespace {

TEST_F(Calibrate, MeasuresACampaignAndItsArchiveIsEnoughElsewhere) {
  const WholeCampaign& whole = WholeCampaign::instance();
  ASSERT_EQ(whole.outcome.status, 0) << whole.outcome.output;
  EXPECT_THAT(whole.outcome.output, HasSubstr("01-dgemm: about"));
  const auto files = whole.files();
  expect_whole(files, kernel_rows_of(files));
  for (const char* file :
       {"campaign.yaml", "log.txt", "log.jsonl", "surroundings/hosts.json", "surroundings/checks.txt",
        "surroundings/launcher.txt", "surroundings/01-dgemm.json", "monitoring/01-dgemm.csv"}) {
    EXPECT_EQ(files.count(file), 1U) << file;
  }
  EXPECT_EQ(files.at("campaign.yaml"), whole.yaml());
  EXPECT_THAT(files.at("log.jsonl"), HasSubstr("\"status\":0"));
  EXPECT_EQ(files.count("measurements/01-dgemm.000000.csv"), 0U) << "pieces are joined";
  EXPECT_EQ(files.count("work/control.csv"), 0U) << "nobody needs it afterwards";
  // Again: nothing is measured, and another format holds the same.
  const std::string again = (folder_ / "tiny.tar.zst").string();
  ASSERT_EQ(run_hplcast_words({"calibrate", "tiny.yaml", "--resume", "-o", again}, whole.folder().string()).status, 0);
  EXPECT_EQ(calibration::read_archive(again).at("measurements/03-mpi.csv"), files.at("measurements/03-mpi.csv"));

  const std::string here = (folder_ / "here.json").string();
  ASSERT_EQ(run_hplcast_words({"fit", "cluster", "tiny.zip", "--quiet", "--force", "-o", here}, whole.folder().string())
                .status,
            0);
  fs::copy_file(whole.folder() / "tiny.zip", folder_ / "renamed.zip");
  const Outcome fitted = run({"fit", "cluster", "renamed.zip", "--force", "-o", "there.json"});
  ASSERT_EQ(fitted.status, 0) << fitted.output;
  EXPECT_EQ(text_of(here), text_of(folder_ / "there.json"));
  std::ifstream in(folder_ / "there.json");
  const core::ClusterModel cluster = core::read_cluster(in, "there.json");
  EXPECT_EQ(cluster.hosts.total_cores(), 2);
  EXPECT_EQ(cluster.kernels.count("dgemm"), 1U);
  EXPECT_THAT(cluster.provenance, HasSubstr("quality_flags"));
}

TEST_F(Calibrate, ControlsOfTheCampaignAndOfRealRunsDivideTheErrorOfAPrediction) {
  const WholeCampaign& whole = WholeCampaign::instance();
  ASSERT_EQ(whole.outcome.status, 0) << whole.outcome.output;
  const auto files = whole.files();
  std::istringstream rows(files.at("control.csv"));
  const std::vector<core::ControlRows> controls = core::read_controls(rows, "control.csv");
  std::size_t pieces = 0;
  std::istringstream log(files.at("log.jsonl"));
  for (std::string line; std::getline(log, line);)
    pieces += line.find("\"what\":\"step ") == std::string::npos ? 0U : 1U;
  ASSERT_GT(pieces, 3U);
  ASSERT_EQ(controls.size(), pieces + 1) << "before the first piece and after each";
  for (std::size_t i = 0; i < controls.size(); ++i) {
    ASSERT_EQ(controls[i].size(), 2U);
    EXPECT_GT(controls[i][0].round_trip_s, 0);
    EXPECT_EQ(controls[i][1].round_trip_s, 0);
    if (i > 0) {
      EXPECT_GT(controls[i][0].start_s, controls[i - 1][0].start_s);
    }
  }
  // Calls of HPL count their time from the start of the campaign, as all others do.
  std::istringstream kernels(files.at("measurements/02-kernels.csv"));
  core::read_kernel_csv(kernels, "02-kernels.csv", "", [&](const core::KernelMeasurement& row) {
    EXPECT_GT(row.start_s, controls.front()[0].start_s);
    EXPECT_LT(row.start_s, controls.back()[0].start_s);
  });
  const std::string archive = (whole.folder() / "tiny.zip").string();
  ASSERT_EQ(run({"fit", "cluster", archive, "--force", "-o", "cluster.json"}).status, 0);
  core::Prediction predicted;
  std::ifstream in(folder_ / "cluster.json");
  predicted.control = core::control_of(core::read_cluster(in, "cluster.json"));
  ASSERT_TRUE(predicted.control);
  EXPECT_EQ(predicted.control->shape, "640x640x640");

  write("runs.csv", "N,NB,P,Q\n200,16,1,2\n");
  const Outcome real = run({"run-real", "runs.csv", "--repetitions", "2", "-o", "real.csv"});
  ASSERT_EQ(real.status, 0) << real.output;
  std::ifstream table(folder_ / "real.csv");
  const std::vector<core::HplRun> runs = core::read_hpl_csv(table, "real.csv", {});
  ASSERT_EQ(runs.size(), 2U);
  for (const core::HplRun& one : runs) ASSERT_TRUE(one.control);
  EXPECT_THAT(text_of(folder_ / "real.csv.d/surroundings/hosts.json"), HasSubstr("\"settings\""));
  predicted.parameters = runs.front().parameters;
  predicted.time_s = predicted.gflops = 1;
  predicted.mode = "exact";
  predicted.kernels["dgemm"].time_s = 1;
  std::ofstream json(folder_ / "predicted.json");
  core::write_prediction(json, predicted);
  json.close();
  const Outcome compared = run({"compare", "real.csv", "--predicted", "predicted.json"});
  ASSERT_EQ(compared.status, 0) << compared.output;
  EXPECT_THAT(compared.output, HasSubstr("machine changed"));
  EXPECT_THAT(compared.output, HasSubstr("|corrected error|: median"));
  ASSERT_EQ(run({"run-real", "runs.csv", "--repetitions", "1", "--control", "off", "-o", "plain.csv"}).status, 0);
  EXPECT_THAT(text_of(folder_ / "plain.csv"), testing::Not(HasSubstr("control")));
  EXPECT_THAT(run({"compare", "plain.csv", "--predicted", "predicted.json"}).output,
              HasSubstr("the real runs have no control measurement"));
}

TEST_F(Calibrate, MarksOversubscribedMeasurements) {
  const int ranks = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  const std::string yaml =
      "name: crowd\nwarm_up: 0\ncontrol: false\nranks_per_host: " + std::to_string(ranks) +
      "\nsteps:\n  - dgemm: {nb: 16, max_size: 60, count: 20, alone: false, options: [--footprint, 1MB]}\n";
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
        "name: pairs\nwarm_up: 0\ncontrol: false\nranks_per_host: 4\nallow_oversubscription: true\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 60, count: 20, alone: false, options: [--footprint, 1MB]}\n"
        "  - mpi: {max_bytes: 64KiB, count: 8, repetitions: 3, operations: [send, recv, pingpong], background: none}\n"
        "  - saturation: {max_bytes: 1MiB, min_bytes: 256KiB, count: 3, repetitions: 4, options: "
        "[--warm-up-calls, \"1\"]}\n");
  const Outcome outcome = run({"calibrate", "pairs.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto files = calibration::read_archive(folder_ / "pairs.zip");
  EXPECT_EQ(lines_of(files.at("designs/03-saturation.csv")).size(), 24U);
  EXPECT_EQ(lines_of(files.at("measurements/03-saturation.csv")).size(), 12U + 2 * 12U);
  // Fewer than 30 calls of dgemm: unusable, whatever the machine.
  const Outcome fitted = run({"fit", "cluster", "pairs.zip", "--verbose", "-o", "pairs.json"});
  ASSERT_EQ(fitted.status, 4) << fitted.output;
  EXPECT_THAT(fitted.output, HasSubstr("the model is unusable, though it was written"));
  const Outcome summary = run({"fit", "cluster", "pairs.zip", "--force", "-o", "forced.json"});
  EXPECT_EQ(summary.status, 0);
  EXPECT_THAT(summary.output, HasSubstr("error of a mean"));
  EXPECT_THAT(summary.output, HasSubstr(" x 16  "));
  EXPECT_THAT(summary.output, HasSubstr("messages, local"));
  const auto lines = lines_of(summary.output);
  EXPECT_LE(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.find("warning:") == std::string::npos; }),
            12)
      << summary.output;
  EXPECT_EQ(text_of(folder_ / "forced.json"), text_of(folder_ / "pairs.json"));
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
        "name: few\nwarm_up: 0\ncontrol: false\nranks_per_host: 2\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 60, count: 20, options: [--footprint, 1MB]}\n"
        "  - saturation: {}\n"
        "  - pairs: {}\n"
        "  - mpi: {max_bytes: 64KiB, count: 8, repetitions: 3, operations: [send, recv, pingpong]}\n");
  const Outcome outcome = run({"calibrate", "few.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  // Without `background` messages are measured as in HPL, and every second repetition idle: 24 calls each.
  const auto files = calibration::read_archive(folder_ / "few.zip");
  EXPECT_EQ(lines_of(files.at("designs/04-mpi.csv")).size(), 2 * 24U);
  EXPECT_EQ(lines_of(files.at("designs/04-mpi-idle.csv")).size(), 24U);
  EXPECT_THAT(files.at("measurements/04-mpi.csv"), HasSubstr(",dgemm+iprobe,"));
  EXPECT_THAT(files.at("measurements/04-mpi-idle.csv"), ::testing::Not(HasSubstr(",dgemm+iprobe,")));
  EXPECT_THAT(outcome.output, HasSubstr("02-saturation is left out: two pairs of ranks at once need four ranks on the "
                                        "host, and there are 2"));
  EXPECT_THAT(outcome.output, HasSubstr("03-pairs is left out: all pairs need three hosts, and there is 1"));
  EXPECT_THAT(outcome.output, HasSubstr("04-mpi: about"));
  ASSERT_EQ(run({"fit", "cluster", "few.zip", "--quiet", "--force", "-o", "few.json"}).status, 0);
  // dgemm by one rank while the other sleeps, and computes: at least 36 shapes.
  const auto alone = times_measured(files.at("measurements/01-dgemm-alone.csv"));
  EXPECT_GE(alone.size(), 36U);
  EXPECT_EQ(alone.rbegin()->first.first, 0) << "rank 0 only";
  EXPECT_THAT(text_of(folder_ / "few.json"), HasSubstr("\"standard_error\""));
  EXPECT_FALSE(fs::exists(folder_ / "few.campaign" / "control.csv"));
  EXPECT_THAT(text_of(folder_ / "few.json"), HasSubstr("capacity: the capacity for several messages inside a host"));
  expect_campaign("name: a\nranks_per_host: 2\nsteps:\n  - saturation: {}\n", 3, "nothing to measure");
}

TEST_F(Calibrate, RanksOfSeveralThreadsAreMeasuredRunAndPredictedAsSuch) {
  const int cores = static_cast<int>(calibration::Topology::of_this_machine().cores().size());
  if (cores < 2) GTEST_SKIP() << "skipped: this machine has one core";
  const std::string reference = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3";  // has no threads of its own
  const std::string blas = fs::exists(reference) ? reference : "libopenblas.so.0";
  write("threads.yaml", "name: threads\nwarm_up: 0\nthreads_per_rank: 2\nranks_per_host: 1\nblas: " + blas +
                            "\nsteps:\n"
                            "  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, alone: false, options: "
                            "[--footprint, 1MB, --warm-up, 10ms]}\n"
                            "  - kernels: {runs: [{N: 200, NB: 32, P: 1, Q: 1}], aliased: false}\n");
  ASSERT_EQ(run({"calibrate", "threads.yaml"}).status, 0);
  ASSERT_EQ(run({"fit", "cluster", "threads.zip", "--quiet", "--force", "-o", "threads.json"}).status, 0);
  std::ifstream in(folder_ / "threads.json");
  const core::Hosts::Values hosts = core::read_cluster(in, "threads.json").hosts.values();
  EXPECT_EQ(hosts.cores, 1);
  EXPECT_EQ(hosts.threads_per_rank, 2);
  write("runs.csv", "N,NB,P,Q\n300,32,1,1\n");
  ASSERT_EQ(
      run({"run-real", "runs.csv", "--threads", "2", "--blas", blas, "--repetitions", "1", "-o", "real.csv"}).status,
      0);
  EXPECT_THAT(text_of(folder_ / "real.csv"), HasSubstr(",oversubscribed,threads_per_rank,blas,control_shape"));
  EXPECT_EQ(run({"run-real", "runs.csv", "--repetitions", "1", "-o", "real.csv"}).status, 3) << "another kind of runs";
  ASSERT_EQ(run({"run-real", "runs.csv", "--repetitions", "1", "--control", "off", "-o", "one.csv"}).status, 0);
  ASSERT_EQ(run({"predict", "threads.json", "runs.csv", "-o", "predicted.json"}).status, 0);
  EXPECT_THAT(text_of(folder_ / "predicted.json"), HasSubstr("\"threads_per_rank\": 2"));
  const std::string warning = "threads per rank, predicted with 2";
  const std::string alike = run({"compare", "real.csv", "predicted.json"}).output;
  EXPECT_THAT(alike, Not(HasSubstr(warning)));
  EXPECT_THAT(alike, Not(HasSubstr("predicted from kernels measured with")));
  if (blas == reference) {
    EXPECT_THAT(run({"compare", "one.csv", "predicted.json"}).output,
                HasSubstr("predicted from kernels measured with libblas.so.3"));
  }
  EXPECT_THAT(run({"compare", "one.csv", "predicted.json"}).output, HasSubstr("run with 1 " + warning));
  const std::string many = std::to_string(cores + 1);
  EXPECT_THAT(run({"run-real", "runs.csv", "--threads", many, "-o", "many.csv"}).output, HasSubstr("ranks of " + many));
  expect_campaign("name: a\nthreads_per_rank: " + many + "\nsteps:\n  - dgemm: {}\n", 3, "threads_per_rank");
  expect_campaign("name: a\nsteps:\n  - pairs: {bytes: 1KiB}\n", 3, "64 KiB to 2 GiB");
  expect_campaign("name: a\nsteps:\n  - pairs: {repetitions: 0}\n", 3, "1 to 100000");
  expect_campaign("name: a\nthreads_per_rank: l2\nsteps:\n  - dgemm: {}\n", 3, "l3, numa, socket or host");
  expect_campaign("name: a\nthreads_per_rank: 0\nsteps:\n  - dgemm: {}\n", 3, "at least 1");
}

TEST_F(Calibrate, StudiesADetectorOfDetoursBesideTheRest) {
  write("detours.yaml",
        "name: detours\nwarm_up: 0\ncontrol: false\nranks_per_host: 2\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 60, count: 20, alone: false, options: [--footprint, 1MB]}\n"
        "  - mpi: {max_bytes: 64KiB, count: 8, repetitions: 3, operations: [send, recv, pingpong], background: none}\n"
        "  - detours: {levels: [10%, 5%], runs: 2, warm_up: 1, run_time: 50ms, period: 10ms, operation: allreduce}\n");
  const Outcome outcome = run({"calibrate", "detours.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto files = calibration::read_archive(folder_ / "detours.zip");
  EXPECT_EQ(lines_of(files.at("measurements/03-detours.csv")).size(), 1U + 2 * 3U);
  // Its rows have an operation, as those of messages do, and are none.
  ASSERT_EQ(run({"fit", "cluster", "detours.zip", "--quiet", "--force", "-o", "detours.json"}).status, 0);
  EXPECT_THAT(text_of(folder_ / "detours.json"), testing::Not(HasSubstr("\"allreduce\"")));
  expect_campaign("name: a\nranks_per_host: 1\nsteps:\n  - detours: {}\n", 3, "nothing to measure");
}

TEST_F(Calibrate, PowerIsMeasuredAndFittedWithTheRest) {
  write("root/sys/class/hwmon/hwmon0/name", "power_meter\n");
  write("root/sys/class/hwmon/hwmon0/power1_input", "215000000\n");
  const std::string root = (folder_ / "root").string();
  write("power.yaml",
        "name: power\nwarm_up: 0\ncontrol: false\nranks_per_host: 2\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, alone: false, options: [--footprint, 1MB, --warm-up, "
        "10ms]}\n"
        "  - mpi: {max_bytes: 4KiB, count: 12, repetitions: 2, operations: [send, recv, pingpong], background: none}\n"
        "  - power: {states: [dgemm], piece: 1s, warm_up: 0, period: 50ms, set_aside: 200ms, set_aside_end: "
        "100ms, repetitions: 2, options: [--root, " +
            root + "]}\n");
  const Outcome outcome = run({"calibrate", "power.yaml"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto files = calibration::read_archive(folder_ / "power.zip");
  EXPECT_GT(lines_of(files.at("measurements/03-power.csv")).size(), 3U * 2 * 10) << "three pieces, twice, 20 rows each";
  const Outcome fit = run({"fit", "cluster", "power.zip", "--force", "-o", "power.json"});
  ASSERT_EQ(fit.status, 0) << fit.output;
  EXPECT_THAT(fit.output, HasSubstr("  215.0 ("));
  EXPECT_THAT(text_of(folder_ / "power.json"), HasSubstr("\"power_meter power1\""));
  expect_campaign("name: a\nranks_per_host: 1\nsteps:\n  - power: {options: [--root, " + root + "/nothing]}\n", 3,
                  "nothing");
}

TEST_F(Calibrate, SaysWhatIsWrongWithACampaignFile) {
  const std::string detours = "name: a\nranks_per_host: 2\nsteps:\n  - detours: ";
  expect_campaign(detours + "{levels: [0.3]}\n", 3, "percent sign");
  expect_campaign(detours + "{levels: []}\n", 3, "at least one");
  expect_campaign(detours + "{runs: 1}\n", 3, "at least 2 of each level");
  expect_campaign(detours + "{level: 1%}\n", 3, "did you mean `levels`");
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
  expect_campaign(
      "name: bad\nwarm_up: 0\nsteps:\n  - dgemm: {nb: 16, max_size: 100000000, count: 20, rate: 1e15, alone: false}\n",
      3, "the largest call is row");
  expect_campaign("name: bad\nhosts: [no-such-host.invalid]\n" + steps + "}\n", 6,
                  "looking at the hosts no-such-host.invalid");
  expect_campaign("name: bad\nhosts: [localhost]\nranks_per_host: 4096\n" + steps + "}\n", 6, "looking at the hosts");
  expect_campaign("name: bad\nlauncher: no-such-mpirun\n" + steps + "}\n", 6, "no-such-mpirun");
}

TEST_F(Calibrate, RefusesAnotherCampaignAndAClockThatWasSetBack) {
  write("tiny.yaml",
        "name: tiny\nwarm_up: 0\ncontrol: false\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 60, count: 20, alone: false, options: [--footprint, 1MB]}\n");
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
  write("tiny.yaml", "name: tiny\nwarm_up: 0\ncontrol: false\nranks_per_host: 2\n" +
                         tiny_campaign.substr(tiny_campaign.find("steps:")));
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = {"calibrate", "tiny.yaml"};
  command.directory = folder_;
  command.environment = {{"SLURM_JOB_NODELIST", "n1"},
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
        shell_command(HPLCAST_SOURCE_DIR "/tests/support/local_slurm " + what + " " + folder_.path().string()));
  }

  core::TemporaryFolder folder_{"hplcast-slurm"};  // short: paths of sockets are
  core::CommandResult started_;
};

TEST_F(Calibrate, RunsInAJobOfSlurm) {
  const LocalSlurm slurm;
  if (!slurm.problem().empty()) GTEST_SKIP() << slurm.problem();
  if (slurm.run(folder_, "srun --mpi=list").output.find("pmix") == std::string::npos)
    GTEST_SKIP() << "skipped: this Slurm cannot start ranks of Open MPI (no PMIx)";
  write("tiny.yaml", "name: tiny\nwarm_up: 0\ncontrol: false\nranks_per_host: 2\nlauncher_options: [--mpi=pmix]\n" +
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
  write("tiny.yaml", tiny_campaign.substr(0, tiny_campaign.find("  - kernels")));
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
