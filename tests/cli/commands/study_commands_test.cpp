// predict, run-real, compare, report, emit and assemble as a user meets them: exit codes, messages, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/prediction.hpp"
#include "tests/cli/commands/study_commands_fixture.hpp"

namespace hplcast::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(StudyCommands, PredictNamesWhatIsWrongWithItsOptions) {
  expect({"predict", example_cluster}, 2, "give -N or an HPL.dat");
  expect({"predict", example_cluster, "-N", "many"}, 2, "-N");
  expect({"predict", example_cluster, "-N", "100", "--bcast", "7ring"}, 2, "--bcast");
  expect({"predict", example_cluster, "-N", "100", "--noise", "loud"}, 2, "--noise");
  expect({"predict", example_cluster, "-N", "100", "--timeout", "soon"}, 2, "is not a duration");
}

TEST_F(StudyCommands, PredictNamesWhatIsWrongWithItsInput) {
  expect({"predict", "nowhere.json", "-N", "100"}, 3, "nowhere.json");
  expect({"predict", file("v99.json", "{\"schema_version\": 99}"), "-N", "100"}, 3, "found version 99");
  expect({"predict", file("broken.json", "{\n\"a\": "), "-N", "100"}, 3, "broken.json:2");
  expect({"predict", example_cluster, "-N", "0"}, 3, "`N` is 0");
  expect({"predict", example_cluster, "-N", "1000", "-P", "40", "-Q", "40"}, 3, "1600 ranks; expected at most 1024");
  expect({"predict", example_cluster, "-N", "1000000"}, 3, "--force");
  expect({"predict", example_cluster, "--hpl-dat", file("HPL.dat", "title\n")}, 3,
         "HPL.dat:1, field `N`: a count of 0");
  expect({"predict", example_cluster, "-N", "100", "-o", programs_.folder().string()}, 3, "it is a folder");
}

TEST_F(StudyCommands, PredictSaysThatProbesGrow) {
  std::ifstream in(example_cluster);
  core::ClusterModel cluster = core::read_cluster(in, example_cluster);
  core::NetworkModel::Values network = cluster.network.values();
  network.growing_probes = true;
  cluster.network = core::NetworkModel::make(network);
  std::ostringstream text;
  core::write_cluster(text, cluster);
  const std::string path = file("growing.json", text.str());
  expect({"predict", path, "-N", "100", "--estimate"}, 0, "note: growing_probes is on in " + path);
  const auto off = run_hplcast_words({"predict", path, "-N", "100", "--estimate", "--growing-probes", "off"});
  EXPECT_THAT(off.output, Not(HasSubstr("growing_probes is on")));
}

TEST_F(StudyCommands, PredictExitsWithSixIfTheSimulatorFails) {
  const auto xhpl = programs_.script("xhpl", "true").string();
  expect({"predict", example_cluster, "-N", "100", "--xhpl", xhpl, "--smpirun",
          programs_.script("smpirun", "echo no luck; exit 1").string(), "-o", "out.json"},
         6, "no luck");
  EXPECT_FALSE(std::filesystem::exists(programs_.folder() / "out.json"));
  const auto run_real =
      run_hplcast_words({"run-real", file("one.csv", "N\n100\n"), "--xhpl", xhpl, "--control", "off", "--mpirun",
                         programs_.script("mpirun", "echo no luck; exit 1").string(), "-o", "runs.csv"},
                        programs_.folder().string());
  EXPECT_EQ(run_real.status, 6);
  EXPECT_THAT(run_real.output, StartsWith("hplcast run-real: the real run of N=100 "));
  EXPECT_THAT(run_real.output, HasSubstr("/runs.csv.d/0001-N100-NB128-1x1-r1/HPL.out\n  it said: no luck"));
  expect({"predict", example_cluster, "-N", "100", "--xhpl", xhpl, "--smpirun", "no-such-smpirun"}, 6,
         "no-such-smpirun");
  expect({"predict", example_cluster, "-N", "100", "--xhpl", "no-such-xhpl"}, 3, "no-such-xhpl");
}

TEST_F(StudyCommands, FailuresBeginWithOneLineAndVerboseShowsTheOutputBefore) {
  std::vector<std::string> arguments = {"predict",   example_cluster,
                                        "-N",        "100",
                                        "--xhpl",    programs_.script("xhpl", "true").string(),
                                        "--smpirun", programs_.script("smpirun", "echo no luck; exit 1").string()};
  const auto predict = [&] { return run_hplcast_words(arguments, programs_.folder().string()); };
  const std::string one_line = "hplcast predict: the simulation of N=100 NB=128";
  EXPECT_THAT(predict().output, StartsWith(one_line));
  arguments.push_back("--quiet");
  EXPECT_THAT(predict().output, StartsWith(one_line));
  arguments.back() = "--verbose";
  const std::string shown = predict().output;
  EXPECT_THAT(shown, StartsWith("==> the simulation of N=100"));
  EXPECT_THAT(shown, HasSubstr(one_line));
  EXPECT_LT(shown.find("\nno luck\n"), shown.find(one_line));
  arguments.push_back("--quiet");
  EXPECT_EQ(predict().status, 2);
}

TEST_F(StudyCommands, QuietLeavesResultsWarningsAndErrors) {
  const std::string works = study::testing::print_hpl_result("2.00", "9.0") + study::testing::good_statistics;
  std::vector<std::string> arguments = {"predict",   example_cluster,
                                        "--hpl-dat", file("two.csv", "N\n100\n200\n"),
                                        "--xhpl",    programs_.script("xhpl", "true").string(),
                                        "--smpirun", programs_.script("smpirun", works).string()};
  const std::string told = run_hplcast_words(arguments).output;
  EXPECT_THAT(told, AllOf(HasSubstr("Best: N=200"), HasSubstr("hplcast predict: N=100"), HasSubstr("warning: ")));
  arguments.push_back("--quiet");
  const std::string quiet = run_hplcast_words(arguments).output;
  EXPECT_THAT(quiet, AllOf(HasSubstr("Gflop/s"), HasSubstr("warning: 28.6 % of the 14 calls of dgemm")));
  EXPECT_THAT(quiet, AllOf(Not(HasSubstr("Best")), Not(HasSubstr("hplcast predict: N=100"))));
}

TEST_F(StudyCommands, PredictKeepsWhatEndedAndResumes) {
  const std::string count = "echo run >> \"$RUNS\"\n";
  const std::string works = count + study::testing::print_hpl_result("2.00", "9.0") + study::testing::good_statistics;
  const std::string fails = "[ $(sed -n 6p HPL.dat | cut -d' ' -f1) = 300 ] && exit 1\n" + works;
  const auto record = programs_.folder() / "runs";
  ::setenv("RUNS", record.c_str(), 1);
  std::vector<std::string> arguments = {"predict",   example_cluster,
                                        "--hpl-dat", file("some.csv", "N\n100\n200\n300\n"),
                                        "--xhpl",    programs_.script("xhpl", "true").string(),
                                        "-o",        "out.json",
                                        "--smpirun", programs_.script("smpirun", fails).string()};
  expect(arguments, 6, "2 of 3 predictions are in out.json; the same command with --resume makes the others");
  arguments.back() = programs_.script("smpirun-that-works", works).string();
  arguments.push_back("--resume");
  expect(arguments, 0, "2 of 3 predictions are in out.json already");
  EXPECT_EQ(text_of("runs"), "run\nrun\nrun\n");
  std::ifstream in(programs_.folder() / "out.json");
  const auto predictions = core::read_predictions(in, "out.json");
  ASSERT_EQ(predictions.size(), 3U);
  EXPECT_EQ(predictions[2].parameters.N, 300);
  arguments.insert(arguments.end(), {"--seed", "7"});
  expect(arguments, 3, "are not among those asked for");
}

TEST_F(StudyCommands, PredictResumesWhereEachSeedHasADayOfItsOwn) {
  std::ifstream in(example_cluster);
  core::ClusterModel cluster = core::read_cluster(in, example_cluster);
  cluster.uncertainty.emplace().between_days = core::EstimatedSd{0.05, 2};
  cluster.uncertainty->days = 3;
  std::ostringstream text;
  core::write_cluster(text, cluster);
  const std::string works = study::testing::print_hpl_result("2.00", "9.0") + study::testing::good_statistics;
  std::vector<std::string> arguments = {"predict",   file("days.json", text.str()),
                                        "-N",        "100",
                                        "--day",     "random",
                                        "--seed",    "1,2",
                                        "--xhpl",    programs_.script("xhpl", "true").string(),
                                        "--smpirun", programs_.script("smpirun", works).string(),
                                        "-o",        "out.json"};
  expect(arguments, 0, "mean of 2 seeds");
  arguments.push_back("--resume");
  expect(arguments, 0, "2 of 2 predictions are in out.json already");
}

TEST_F(StudyCommands, PredictGivesTheSameWithSeveralJobs) {
  const std::string works = study::testing::print_hpl_result("2.00", "9.0") + study::testing::good_statistics;
  const auto predicted = [&](const std::string& jobs, const std::string& output) {
    expect({"predict", example_cluster, "--hpl-dat", file("four.csv", "N,BCAST\n100,0\n200,1\n400,2\n300,3\n"),
            "--jobs", jobs, "--xhpl", programs_.script("xhpl", "true").string(), "--smpirun",
            programs_.script("smpirun", works).string(), "-o", output},
           0, "Best: N=400");
    std::ifstream in(programs_.folder() / output);
    std::vector<core::Prediction> all = core::read_predictions(in, output);
    std::ostringstream text;
    for (core::Prediction& one : all) one.wall_s = one.peak_pss_bytes = 0;
    core::write_predictions(text, all);
    return text.str();
  };
  EXPECT_EQ(predicted("1", "one.json"), predicted("3", "three.json"));
}

TEST_F(StudyCommands, AnEstimateRefusesWhatARunRefusesAndIsJsonIfAskedFor) {
  expect({"predict", example_cluster, "-N", "1000000", "--estimate"}, 3, "--force");
  expect({"predict", example_cluster, "-N", "1000", "--estimate", "--json"}, 0, "\"simulations\": 1");
  const std::string results = file("results.json", "results");
  expect({"predict", example_cluster, "-N", "1000", "--estimate", "-o", results}, 0, "1 simulation, ");
  EXPECT_EQ(text_of("results.json"), "results") << "an estimate is no result";
}

TEST_F(StudyCommands, AnEstimateIsOfSoManySimulationsAtATime) {
  const auto needs = [&](const std::string& jobs) {
    expect(
        {"predict", example_cluster, "-N", "1000", "--seed", "1,2", "--estimate", "--json", "-o", jobs, "--jobs", jobs},
        0, "");
    return nlohmann::json::parse(text_of(jobs));
  };
  const auto one = needs("1"), two = needs("2");
  for (const char* time : {"wall_s", "most_wall_s"})
    EXPECT_DOUBLE_EQ(2 * two[time].get<double>(), one[time].get<double>()) << time;
  EXPECT_DOUBLE_EQ(two["memory_bytes"].get<double>(), 2 * one["memory_bytes"].get<double>());
  EXPECT_EQ(two["simulated_messages"], one["simulated_messages"]);
}

TEST_F(StudyCommands, AnEstimateRefusesMissingPrograms) {
  expect({"predict", example_cluster, "-N", "100", "--estimate", "--xhpl", "no-such-xhpl"}, 3, "no-such-xhpl");
  expect({"predict", example_cluster, "-N", "100", "--estimate", "--smpirun", "no-such-smpirun"}, 6, "no-such-smpirun");
}

TEST_F(StudyCommands, ADashIsTheStandardInputAndOutput) {
  const auto shell = [&](const std::string& line) {
    core::Command command;
    command.program = "/bin/sh";
    command.arguments = {"-c", line};
    command.directory = programs_.folder();
    command.environment = {{"hplcast", HPLCAST_BINARY_DIR "/bin/hplcast"}, {"cluster", example_cluster}};
    return core::run(command);
  };
  const auto piped = shell(
      "\"$hplcast\" transform \"$cluster\" --scale-dgemm 2 -o - | \"$hplcast\" predict - -N 1000 --estimate --json -o "
      "- "
      "2>&1");
  EXPECT_EQ(piped.status, 0) << piped.output;
  EXPECT_THAT(piped.output, HasSubstr("\"simulations\": 1"));
  prediction_file();
  real_file();
  const auto compared = shell("\"$hplcast\" compare - --predicted prediction.json -o - < real.csv 2> /dev/null");
  EXPECT_THAT(compared.output, StartsWith("{"));
  EXPECT_THAT(shell("\"$hplcast\" compare - --predicted - < real.csv").output,
              HasSubstr("`-` can be given for one input only"));
  EXPECT_THAT(shell("\"$hplcast\" emit \"$cluster\" --hostfile - --ranks 1").output, "node-1\n");
  EXPECT_EQ(shell("touch ./-; \"$hplcast\" transform - --scale-dgemm 2 -o ./- < \"$cluster\" && rm ./-").status, 0);
  EXPECT_FALSE(std::filesystem::exists(programs_.folder() / "-"));
  expect({"run-real", file("one.csv", "N\n100\n"), "-o", "-"}, 2, "found `-`, the standard output");
}

TEST_F(StudyCommands, AnHplDatThatHplReadsInAnotherWayIsToldOf) {
  core::HplParameters parameters;
  parameters.N = 5000;
  std::ostringstream text;
  core::write_hpl_dat(text, parameters, false);
  std::string dat = text.str();
  dat.replace(dat.find("5000 Ns"), 4, "1e5");
  expect({"predict", example_cluster, "--hpl-dat", file("HPL.dat", dat), "--estimate"}, 0,
         "HPL reads 1 as value 1 of 1, not 1e5");
}

TEST_F(StudyCommands, ConfigurationsAreASecondArgumentAnHplDatACsvOrAnOutput) {
  const std::string twice = file("HPL.out",
                                 "T/V N NB P Q Time Gflops\nWR11C2R4  1000  128  1  2  1.25  8.0\n"
                                 "WR11C2R4  1000  128  1  2  1.26  7.9\nWR11C2R4  2000  128  1  2  1.25  8.0\n");
  expect({"predict", example_cluster, twice, "--estimate"}, 0, "2 simulations");
  expect({"predict", example_cluster, file("runs.csv", "N\n1000\n2000\n3000\n"), "--estimate"}, 0, "3 simulations");
  expect({"predict", example_cluster, twice, "-N", "1000", "--estimate"}, 2, "excludes");
  expect({"emit", example_cluster, twice, "--run", (programs_.folder() / "runs").string()}, 0, "");
  EXPECT_TRUE(std::filesystem::exists(programs_.folder() / "runs/2/HPL.dat"));
}

TEST_F(StudyCommands, CompareTakesRealRunsAndPredictionsInAnyOrder) {
  const std::string real = file("one.out", "[node1:7] a word of MPI\nWR11C2C4  1000  128  1  1  1.25  8.0\n");
  const auto as_ever = run_hplcast_words({"compare", real, "--predicted", prediction_file(), "--json"});
  ASSERT_EQ(as_ever.status, 0) << as_ever.output;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"compare", real, prediction_file(), "--json"},
                                                {"compare", prediction_file(), real, "--json"}})
    EXPECT_EQ(run_hplcast_words(words).output, as_ever.output);
  expect({"compare", real}, 2, "there are no predictions");
  expect({"compare", prediction_file()}, 2, "there are no real runs");
}

TEST_F(StudyCommands, CompareSaysWhatIsAssumedAndInWhatTheNearestDiffers) {
  const std::string w_line = "WR11C2C4  1000  128  1  1  1.25  8.0\n";
  expect({"compare", file("cut.out", w_line), "--predicted", prediction_file()}, 0,
         "does not say all parameters of 1 run; assumed: SWAP=1 L1=0 U=0 EQUIL=1 ALIGN=8");
  const std::string header =
      "SWAP   : Mix (threshold = 64)\nL1     : transposed form\nU      : transposed form\n"
      "EQUIL  : yes\nALIGN  : 8 double precision words\n";
  const std::string mix = file("mix.out", header + w_line);
  expect({"compare", mix, "--predicted", prediction_file()}, 3, "the nearest prediction differs: SWAP is 2, not 1");
  const std::string roll = file("roll.out", "SWAP   : Spread-roll (long)" + header.substr(header.find('\n')) + w_line);
  const std::string other = file("other.out", "SWAP   : Spread-roll (long)" + header.substr(header.find('\n')) +
                                                  "WR11C2C4  1000  128  1  1  1.00  10.0\n");
  const auto both = run_hplcast_words({"compare", roll, other, "--predicted", prediction_file()});
  EXPECT_THAT(both.output, HasSubstr("22.2 %"));  // the spread: 2 of 9
  EXPECT_THAT(both.output, Not(HasSubstr("assumed")));
}

TEST_F(StudyCommands, PredictLeavesNoProcessAndNoFileWhenInterrupted) {
  const auto record = programs_.folder() / "pid";
  const auto temporary = programs_.folder() / "temporary";
  std::filesystem::create_directory(temporary);
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = {"predict",   example_cluster,
                       "-N",        "100",
                       "--xhpl",    programs_.script("xhpl", "true").string(),
                       "--smpirun", programs_.script("smpirun", "echo $$ > \"$RECORD\"; sleep 60").string(),
                       "-o",        "out.json"};
  command.directory = programs_.folder();
  command.environment = {{"RECORD", record.string()}, {"TMPDIR", temporary.string()}};
  command.timeout_s = 30;
  command.while_running = [&](int pid) {
    if (std::filesystem::exists(record)) ::kill(pid, SIGINT);
  };
  const core::CommandResult result = core::run(command);
  EXPECT_EQ(result.status, 130) << result.output;
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(std::filesystem::exists("/proc/" + text_of("pid").substr(0, text_of("pid").find('\n'))));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  EXPECT_FALSE(std::filesystem::exists(programs_.folder() / "out.json"));
}

TEST_F(StudyCommands, RunRealRefusesWhatThisMachineCannotRun) {
  const auto xhpl = programs_.script("xhpl", "true").string();
  expect({"run-real", file("huge.csv", "N,P,Q\n100,1000,1000\n"), "--xhpl", xhpl, "-o", "runs.csv"}, 3,
         "the cores of this machine");
  expect({"run-real", file("large.csv", "N\n100000000\n"), "--xhpl", xhpl, "-o", "runs.csv"}, 3, "free memory");
  expect({"run-real", file("wrong.csv", "NB,P\n1,2\n"), "--xhpl", xhpl, "-o", "runs.csv"}, 3, "wrong.csv");
  expect({"run-real", file("one.csv", "N\n100\n"), "--xhpl", xhpl}, 2, "--output");
  EXPECT_FALSE(std::filesystem::exists(programs_.folder() / "runs.csv"));
}

TEST_F(StudyCommands, CompareReadsTheOutputsOfAnArchiveOrAFolder) {
  const std::filesystem::path runs = programs_.folder() / "runs";
  for (const auto& [name, time_s] : {std::pair("a", "1.25"), {"b", "1.00"}}) {
    std::filesystem::create_directories(runs / name);
    std::ofstream(runs / name / "HPL.out") << "WR11C2C4  1000  128  1  1  " << time_s << "  8.0\n";
    std::ofstream(runs / name / "HPL.dat") << "not an output\n";
  }
  core::Command tar;
  tar.program = "tar";
  tar.arguments = {"czf", "runs.tar.gz", "-C", "runs", "a", "b"};
  tar.directory = programs_.folder();
  ASSERT_EQ(core::run(tar).status, 0);
  prediction_file();
  for (const char* input : {"runs", "runs.tar.gz"})
    expect({"compare", input, "--predicted", "prediction.json", "--json"}, 0, "\"real_runs\": 2");
  std::filesystem::remove_all(runs / "a");
  std::filesystem::remove(runs / "b" / "HPL.out");
  expect({"compare", "runs", "--predicted", "prediction.json"}, 3, "no output of HPL in it");
  expect({"compare", file("broken.zip", "no archive"), "--predicted", "prediction.json"}, 3, "broken.zip");
}

TEST_F(StudyCommands, ComparePrintsATableAndItsLimitExitsWithFive) {
  expect({"compare", real_file(), "--predicted", prediction_file()}, 0, "+25.0 %");
  expect({"compare", real_file(), "--predicted", prediction_file(), "--max-error", "0.26"}, 0, "+25.0 %");
  expect({"compare", real_file(), "--predicted", prediction_file(), "--max-error", "0.24"}, 5, "25.0 %");
}

TEST_F(StudyCommands, CompareShowsWhatVaries) {
  const std::string real =
      file("real.csv", "N,NB,P,Q,PFACT,time_s,gflops\n1000,128,1,1,0,1.25,8\n1000,128,1,1,2,1.25,8\n");
  const auto both = run_hplcast_words({"compare", real, "--predicted", prediction_file({0, 2})});
  EXPECT_THAT(both.output, HasSubstr("PxQ  PFACT  runs")) << "and no other";
}

TEST_F(StudyCommands, CompareWritesJson) {
  expect({"compare", real_file(), "--predicted", prediction_file(), "--json"}, 0, "\"error\": 0.25");
  expect({"compare", real_file(), "--predicted", prediction_file(), "--worst", "worst.csv"}, 0, "+25.0 %");
  EXPECT_THAT(text_of("worst.csv"), StartsWith("N,NB,P,Q,"));
  EXPECT_THAT(text_of("worst.csv"), HasSubstr("\n1000,128,1,1,"));
  expect({"compare", real_file(), "--predicted", prediction_file(), "-o", "compare.json"}, 0, "+25.0 %");
  EXPECT_THAT(text_of("compare.json"), HasSubstr("\"mean_abs_error\": 0.25"));
}

TEST_F(StudyCommands, CompareNamesWhatIsWrongWithItsInput) {
  expect({"compare", file("no-time.csv", "N,NB,P,Q\n1,1,1,1\n"), "--predicted", prediction_file()}, 3, "time_s");
  expect({"compare", file("nan.csv", "N,NB,P,Q,time_s\n1000,128,1,1,nan\n"), "--predicted", prediction_file()}, 3,
         "nan.csv:2, field `time_s`");
  expect({"compare", file("negative.csv", "N,NB,P,Q,time_s\n1000,128,1,1,-1\n"), "--predicted", prediction_file()}, 3,
         "negative.csv:2, field `time_s`");
  expect({"compare", file("other.csv", "N,NB,P,Q,time_s\n2000,128,1,1,1\n"), "--predicted", prediction_file()}, 3,
         "no configuration is both run and predicted");
  expect({"compare", real_file(), "--predicted", real_file()}, 3, "not JSON");
}

TEST_F(StudyCommands, ReportMakesOnePageOfFilesOrAFolder) {
  prediction_file();
  real_file();
  file("measurements.csv", "kernel,m,n,k,duration_s\ndgemm,1,1,1,1\n");
  expect({"report", ".", "-o", "report.html"}, 0, "1 prediction, 1 real run");
  EXPECT_THAT(text_of("report.html"), HasSubstr("25.0 %"));
  expect({"report", "prediction.json", "measurements.csv", "-o", "other.html"}, 3, "measurements.csv");
  expect({"report", "real.csv", "-o", "other.html"}, 3, "no predictions");
  EXPECT_FALSE(std::filesystem::exists(programs_.folder() / "other.html"));
}

TEST_F(StudyCommands, ReportLeavesOutFilesOfAFolderThatAreNoPredictionsAndNoRuns) {
  prediction_file();
  real_file();
  file("study.csv", "N,NB,P,Q,seed,model_sha256,time_s\n1000,128,1,1,1,ab,1\n");  // of `sweep export`
  file("job.out", "WARNING: no device\n");
  file("begun.csv", "N,NB,P,Q,time_s\n");  // of `run-real` before its first run has ended
  file("jobs.csv", "cluster,node,cpu,jobid,start_time,dgemm_gflops\ndemo,node-1,0,1000,1736146800,30\n");
  expect({"history", "import", "jobs.csv", "--database", "watch.db"}, 0, "1 row of 1 job");
  expect({"report", ".", "-o", "report.html"}, 0, "1 prediction, 1 real run");
  expect({"report", "prediction.json", "watch.db"}, 3, "not a database of hplcast sweep");
  expect({"report", "prediction.json", "study.csv"}, 3, "study.csv: neither predictions");
  expect({"compare", "study.csv", "--predicted", "prediction.json"}, 3, "give the database of the sweep");
}

TEST_F(StudyCommands, EmitWritesWhatIsAskedFor) {
  expect({"emit", example_cluster, "--platform", "platform.xml", "--hostfile", "hostfile", "--model-h", "model.h",
          "--ranks", "3"},
         0, "");
  EXPECT_EQ(text_of("hostfile"), "node-1\nnode-1\nnode-1\n");
  EXPECT_THAT(text_of("platform.xml"), HasSubstr("<platform version=\"4.1\">"));
  EXPECT_THAT(text_of("model.h"), HasSubstr("HPLCAST_DGEMM"));
  expect({"emit", example_cluster}, 2, "nothing to emit");
  expect({"emit", example_cluster, "--hostfile", "hostfile", "--ranks", "2000"}, 3, "1024");
}

TEST_F(StudyCommands, AssembleJoinsTheFittedParts) {
  std::ifstream in(example_cluster);
  const core::ClusterModel cluster = core::read_cluster(in, example_cluster);
  // dgemm from one file, everything else from another.
  std::string others;
  for (const auto& [name, model] : cluster.kernels) {
    if (name != "dgemm") others += (others.empty() ? "\"" : ", \"") + name + "\": " + core::kernel_model_json(model);
  }
  file("dgemm.json", "{\"dgemm\": " + core::kernel_model_json(cluster.kernels.at("dgemm")) + "}");
  file("others.json", "{" + others + "}");
  file("network.json", core::network_model_json(cluster.network));
  file("provenance.json", cluster.provenance);
  const std::vector<std::string> assemble = {"assemble",    "--name",        "dahu-like",    "--hosts",
                                             "node-[1-32]", "--cores",       "32",           "--cpus",
                                             "2",           "--rank-to-cpu", "cyclic",       "--memory",
                                             "200GB",       "--network-fit", "network.json", "--kernel-fits",
                                             "dgemm.json",  "others.json"};
  auto arguments = assemble;
  arguments.insert(arguments.end(), {"--provenance", "provenance.json", "-o", "cluster.json"});
  expect(arguments, 0, "");
  std::ifstream written(programs_.folder() / "cluster.json");
  auto expected = cluster;
  expected.power.reset();  // power has no part of its own
  EXPECT_EQ(core::cluster_sha256(core::read_cluster(written, "cluster.json")), core::cluster_sha256(expected));

  arguments = assemble;
  arguments.push_back("dgemm.json");
  expect(arguments, 3, "the kernel dgemm is in another file, too");
  file("provenance.json", "not JSON");
  arguments = assemble;
  arguments.insert(arguments.end(), {"--provenance", "provenance.json"});
  expect(arguments, 3, "provenance.json");
}

TEST_F(StudyCommands, AssembleNamesWhatIsWrong) {
  const std::vector<std::string> parts = {"--kernel-fits", file("kernels.json", "{}"), "--network-fit",
                                          file("network.json", "{}")};
  const auto assemble = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"assemble", "--name", "x"});
    more.insert(more.end(), parts.begin(), parts.end());
    return more;
  };
  expect(assemble({}), 3, "network.json");
  expect(assemble({"--cores", "3", "--cpus", "2"}), 3, "cores");
  expect(assemble({"--rank-to-cpu", "0,one"}), 2, "--rank-to-cpu");
  expect(assemble({"--memory", "lots"}), 2, "is not a size");
}

TEST_F(StudyCommands, AssembleTakesPublishedCoefficients) {
  file("dgemm.csv",
       "model_id,node,cpu,cpu_id,mu_intercept,mu_mnk,mu_mn,mu_mk,mu_nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,"
       "sigma_nk\nold,1,0,2,0,5e-11,0,0,0,0,0,0,0,0\nnew,-1,-1,-1,0,6e-11,0,0,0,0,1e-12,0,0,0\n");
  file("kernels.csv",
       "kernel,duration,size,mu,sigma,full_model,simple_model\n"
       "dscal,size*coef,N,3e-10,1e-10,stochastic,mu only\ndlacpy,size*coef,M*N,4e-9,1e-9,stochastic,0\n");
  const std::string costs = R"([{"min_size": 0, "intercept_s": 1e-6, "slope_s_per_byte": 0}])";
  const std::string factors = R"([{"min_size": 0, "factor": 1}])";
  file("networks.json", R"([{"id": "fast", "calibration": {"os": )" + costs + R"(, "ois": )" + costs + R"(, "or": )" +
                            costs + R"(, "bw_factor": )" + factors + R"(, "lat_factor": )" + factors +
                            R"(, "async_small_thresh": 64, "send_is_detached_thresh": 64}, "platform":
                            {"link_bandwidth_Bps": 1e10, "route_latency_s": 1e-6}}])");
  const std::vector<std::string> hosts = {"assemble", "--hosts", "n-[1-2]", "--cores", "2"};
  const auto assemble = [&](std::vector<std::string> more) {
    more.insert(more.begin(), hosts.begin(), hosts.end());
    return more;
  };
  const std::vector<std::string> parts = {"--dgemm",     "dgemm.csv", "--model-id",    "new",          "--kernels",
                                          "kernels.csv", "--network", "networks.json", "--network-id", "fast"};
  auto arguments = assemble(parts);
  arguments.insert(arguments.end(), {"--kernel-set", "simple_model", "-o", "cluster.json"});
  expect(arguments, 0, "");
  std::ifstream written(programs_.folder() / "cluster.json");
  const core::ClusterModel cluster = core::read_cluster(written, "cluster.json");
  EXPECT_EQ(cluster.name, "n");
  EXPECT_EQ(cluster.kernels.size(), 2U);
  EXPECT_THAT(cluster.provenance, HasSubstr("simple_model"));

  EXPECT_EQ(cluster.network.scope(core::Scope::remote).capacity->origin, core::LinkCapacity::Origin::published);

  arguments = assemble(parts);
  arguments.insert(arguments.end(), {"--capacity", "100Gbps", "--local-capacity", "20GBps", "-o", "given.json"});
  expect(arguments, 0, "");
  std::ifstream with_given(programs_.folder() / "given.json");
  const core::NetworkModel given = core::read_cluster(with_given, "given.json").network;
  EXPECT_EQ(given.scope(core::Scope::remote).capacity->bytes_per_s, 12.5e9);
  EXPECT_EQ(given.scope(core::Scope::remote).capacity->origin, core::LinkCapacity::Origin::given);
  EXPECT_EQ(given.scope(core::Scope::local).capacity->bytes_per_s, 20e9);

  expect(assemble({"--capacity", "fast"}), 2, "fast");
  expect(assemble({"--dgemm", "dgemm.csv", "--network", "networks.json", "--network-id", "fast"}), 2, "--model-id");
  expect(assemble({"--kernels", "kernels.csv"}), 2, "no network");
  expect(assemble({"--network", "networks.json", "--network-id", "fast"}), 2, "no kernels");
  arguments = assemble(parts);
  std::replace(arguments.begin(), arguments.end(), std::string("fast"), std::string("slow"));
  expect(arguments, 3, "expected one of fast");
  std::replace(arguments.begin(), arguments.end(), std::string("new"), std::string("old"));
  expect(arguments, 3, "n-2");
}

}  // namespace
}  // namespace hplcast::test
