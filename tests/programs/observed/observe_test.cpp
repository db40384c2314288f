// From a real run to a prediction: what the observer counts, and what is fitted to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/fit/program_fit.hpp"
#include "hplcast/study/program_run.hpp"
#include "tests/programs/program_cluster.hpp"

namespace hplcast {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;

const std::string solver = HPLCAST_BINARY_DIR "/tests/programs_solver";

calibration::ObserveRequest request_of(int ranks, std::vector<std::string> arguments) {
  calibration::ObserveRequest request;
  request.launch.ranks = ranks;
  request.launch.bind = false;
  request.launch.oversubscribe = true;
  request.program = solver;
  request.arguments = std::move(arguments);
  request.observer = HPLCAST_BINARY_DIR "/lib/libhplcast-observe.so";
  request.archive = HPLCAST_BINARY_DIR "/tests/observed_solver.zip";
  request.timeout_s = 120;
  return request;
}

fit::ProgramObservation read(const calibration::ObserveRequest& request) {
  fit::ProgramObservation observation;
  const auto files = calibration::read_archive(request.archive);
  for (int rank = 0; rank < request.launch.ranks; ++rank) {
    const std::string start = "rank-" + std::to_string(rank);
    std::istringstream calls(files.at(start + ".calls.csv")), times(files.at(start + ".times.csv"));
    fit::read_observed_rank({calls, "calls"}, {times, "times"}, observation);
  }
  return observation;
}

TEST(Observe, CountsTheCallsThatTheProgramMakes) {
  const calibration::ObserveRequest request = request_of(2, {"200", "5"});
  EXPECT_THAT(calibration::observe_program(request), HasSubstr("on 2 ranks"));
  const fit::ProgramObservation seen = read(request);
  EXPECT_EQ(seen.rests.size(), 2u);
  EXPECT_EQ(seen.routines.at("dgemm").calls, 10);
  EXPECT_EQ(seen.routines.at("dgemm").flop, 10 * 2 * 200 * 100 * 200.0);
  EXPECT_EQ(seen.routines.at("dtrsm/R").calls, 10);
  // Short ones, "dgemv/N" by CBLAS by rows, transposed.
  for (const auto& [name, calls] : {std::pair("dgemv/N", 10), {"dcopy/strided", 10}, {"idamax", 2}})
    EXPECT_EQ(seen.routines.at(name).calls, calls) << name;
  EXPECT_EQ(seen.regions.at("fill").calls, 2);
  EXPECT_EQ(seen.mpi.at("MPI_Barrier").calls, 2 * 6);
  for (const fit::ObservedCall& call : seen.calls.at("dtrsm/R")) {
    EXPECT_EQ(call.shape.m, 200);
    EXPECT_EQ(call.shape.n, 100);
    EXPECT_EQ(call.shape.k, 100) << "the order of the triangle, on the right";
  }
  double routines_s = 0;
  for (const auto& [name, sum] : seen.routines) routines_s += sum.time_s;
  // All of the time outside of MPI, to the resolution of the clocks.
  EXPECT_NEAR(routines_s + seen.regions.at("fill").time_s + seen.rest_s, seen.executed_s,
              0.02 * seen.executed_s + 1e-4);
}

TEST(Observe, SeesLapackAndNotWhatItCalls) {
  calibration::ObserveRequest request = request_of(1, {"200", "3"});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_lapack";
  calibration::observe_program(request);
  const fit::ProgramObservation seen = read(request);
  EXPECT_EQ(seen.routines.at("dgesv").calls, 3);
  EXPECT_EQ(seen.routines.at("dgeqrf").calls, 3) << "without that which asks for the size of its memory";
  EXPECT_EQ(seen.routines.size(), 2u);
  EXPECT_EQ(seen.calls.at("dgesv").front().shape.k, 200 + 3 * 2);
}

TEST(Observe, SeesRegionsOfFortran) {
  calibration::ObserveRequest request = request_of(1, {});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_regions";
  calibration::observe_program(request);
  const fit::ProgramObservation seen = read(request);
  for (const char* name : {"work", "plain", "real", "long"}) EXPECT_EQ(seen.regions.at(name).calls, 1) << name;
  EXPECT_EQ(seen.calls.at("region:real")[0].shape, (core::KernelShape{2.5, 3, 4}));
  EXPECT_TRUE(seen.inside.empty());
}

TEST(Observe, StopsAtRegionsThatItCouldNotWrite) {
  calibration::ObserveRequest request = request_of(1, {});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_regions";
  for (const auto& [what, words] : {std::pair("name", "region a,b is longer than 63 letters, or has a comma"),
                                    {"size", "region below begins with sizes -1, 1, 1; expected numbers from 0"}}) {
    request.arguments = {what};
    try {
      calibration::observe_program(request);
      ADD_FAILURE() << what;
    } catch (const core::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
}

TEST(Observe, CountsTheCodeOfRegionsOnceAndInNoStretch) {
  calibration::ObserveRequest request = request_of(1, {"1500", "all", "long", "regions"});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_stretches";
  calibration::observe_program(request);
  const fit::ProgramObservation seen = read(request);
  const double outer_s = seen.regions.at("outer").time_s;
  EXPECT_NEAR(outer_s + seen.rest_s, seen.executed_s, 1e-6) << "no routines, and the inner region is in the outer one";
  std::istringstream in(calibration::read_archive(request.archive).at("rank-0.stretches.csv"));
  core::CsvReader rows(in, "stretches.csv");
  std::map<std::string, double> last_s;
  double sum_s = 0;
  while (rows.next()) sum_s += last_s[std::string(rows.text(0))] = rows.number(1);
  EXPECT_NEAR(sum_s, seen.rest_s, 1e-3 * seen.rest_s + 1e-6) << "four digits each";
  // Six loops like those before and behind it; the speed of a core varies.
  const double much_less_s = outer_s / 60;
  EXPECT_NEAR(last_s.at("MPI_Scan"), 0, much_less_s) << "all since the call before it is in the regions";
  EXPECT_GT(last_s.at("MPI_Reduce"), much_less_s) << "called in the regions, and a loop before them";
  EXPECT_GT(last_s.at("MPI_Exscan"), much_less_s) << "nothing is taken off behind the regions";
  EXPECT_LT(seen.regions.at("inner").time_s, outer_s);
  EXPECT_EQ(seen.inside.at("outer").calls, 2) << "MPI_Reduce, in the inner one, and MPI_Scan";
  EXPECT_EQ(seen.inside.at("inner").calls, 1);
}

TEST(Observe, CountsRegionsBeforeMpiAndNoneOfWhichItSawAPart) {
  calibration::ObserveRequest request = request_of(1, {"1500", "all", "long", "regions", "paused"});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_stretches";
  calibration::observe_program(request);
  const fit::ProgramObservation seen = read(request);
  EXPECT_EQ(seen.regions.at("whole").calls, 2);
  EXPECT_EQ(seen.regions.at("early").calls, 1);
  // The same loops; the speed of a core varies.
  EXPECT_NEAR(seen.regions.at("early").time_s / seen.regions.at("whole").time_s, 0.5, 0.2);
  for (const char* name : {"cut", "late", "interrupted"}) {
    EXPECT_EQ(seen.regions.at(name).calls, 0) << name << ": without all of its time a call has none";
    EXPECT_EQ(seen.calls.count("region:" + std::string(name)), 0u) << name;
  }
}

TEST(Observe, KeepsBoundedSamplesThatStandForAllCalls) {
  const calibration::ObserveRequest request = request_of(1, {"20", "3000"});
  calibration::observe_program(request);
  const fit::ProgramObservation seen = read(request);
  const auto& calls = seen.calls.at("dgemm");
  EXPECT_EQ(calls.size(), 192u);
  double stands_for = 0;
  for (const fit::ObservedCall& call : calls) stands_for += call.calls;
  EXPECT_NEAR(stands_for, seen.routines.at("dgemm").calls, 1e-3);
  EXPECT_EQ(seen.routines.at("dgemm").calls, 3000);
}

TEST(Observe, ItsOwnWorkIsNotTheProgram) {
  // Between calls the program does next to nothing: 0.03 and 0.08 us per call. With two reads of CPU time per long
  // call, less what these take in a loop, it was 0.6 to 0.8 us for the longer ones.
  for (const auto& [n, most_s] : {std::pair("20", 0.2e-6), {"80", 0.3e-6}}) {
    double least_s = 1;
    for (int i = 0; i < 2; ++i) {
      const calibration::ObserveRequest request = request_of(1, {n, "3000"});
      calibration::observe_program(request);
      least_s = std::min(least_s, read(request).rest_s / (4 * 3000));
    }
    EXPECT_LT(least_s, most_s) << n;
  }
}

TEST(Observe, TakesOffWhatOtherProgramsHad) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  const auto dgemm_s = [](int ranks) {
    const calibration::ObserveRequest request = request_of(ranks, {"500", "20"});
    calibration::observe_program(request);
    return read(request).routines.at("dgemm").time_s / ranks;
  };
  const double alone_s = dgemm_s(1);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const double together_s = dgemm_s(2);
  sched_setaffinity(0, sizeof before, &before);
  // By the wall it is twice as long; the speed of a core varies by a quarter here.
  EXPECT_LT(together_s, 1.5 * alone_s);
}

TEST(Observe, MeasuresLongerVectorsWhenTheRunIsOver) {
  calibration::ObserveRequest request = request_of(2, {});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_swaps";
  request.reach_bytes = 8 << 20;
  calibration::observe_program(request);
  const auto files = calibration::read_archive(request.archive);
  for (const char* name : {"rank-0.reach.csv", "rank-1.reach.csv"}) {
    std::istringstream reach(files.at(name));
    fit::ProgramObservation seen;
    fit::read_reach({reach, name}, seen);
    // The program swaps rows of 300 elements, 300 apart; strides are up to eight times that, and memory is bounded.
    double longest = 0, farthest = 0;
    for (const fit::ObservedCall& one : seen.reach.at("dswap/strided")) {
      longest = std::max(longest, one.shape.n);
      farthest = std::max(farthest, one.shape.k);
      EXPECT_LE(one.shape.n * one.shape.k * 8, 8 << 20);
    }
    EXPECT_EQ(longest, 900);
    EXPECT_EQ(farthest, 2400);
    // It has no rows whose elements are whole or half pages apart, but a larger matrix may.
    for (const auto& [name_of_strides, remainder] : {std::pair("dswap/aliased", 0), {"dswap/half-aliased", 256}}) {
      ASSERT_THAT(seen.reach, Contains(Key(name_of_strides)));
      for (const fit::ObservedCall& one : seen.reach.at(name_of_strides))
        EXPECT_EQ(std::fmod(one.shape.k, 512), remainder) << name_of_strides;
    }
    for (const fit::ObservedCall& one : seen.reach.at("dswap/strided")) EXPECT_NE(std::fmod(one.shape.k, 256), 0);
    double farthest_bytes = 0;
    for (const fit::ObservedCall& one : seen.reach.at("MPI_Pack/strided")) {
      farthest_bytes = std::max(farthest_bytes, one.shape.k);
      EXPECT_EQ(one.shape.m, 8) << "bytes of a block";
      EXPECT_EQ(std::fmod(one.shape.k, 8), 0);
      EXPECT_NE(std::fmod(one.shape.k, 2048), 0);
    }
    EXPECT_EQ(farthest_bytes, 8 * 2400);
    EXPECT_THAT(seen.reach, Contains(Key("MPI_Pack/aliased")));
  }
  const fit::ProgramObservation seen = read(request);
  EXPECT_EQ(seen.routines.at("MPI_Pack/strided").calls, 2 * 300);
  for (const fit::ObservedCall& one : seen.calls.at("MPI_Pack/strided"))
    EXPECT_EQ(one.shape, (core::KernelShape{8, 300, 2400})) << "bytes of a block, blocks, bytes between them";
  // Of 2 ranks, as routines: they send nothing.
  EXPECT_EQ(seen.routines.at("MPI_Type_vector").calls, 2);
  ASSERT_EQ(seen.calls.at("MPI_Pack").size(), 2U) << "not the layout of a type that was freed";
  EXPECT_EQ(seen.calls.at("MPI_Pack")[0].shape.n, 300 * 8) << "bytes";
  EXPECT_EQ(seen.mpi.count("MPI_Pack"), 0U);
  request.reach_bytes = 0;
  calibration::observe_program(request);
  EXPECT_EQ(calibration::read_archive(request.archive).count("rank-0.reach.csv"), 0u);
}

// Blocks of 24 bytes, 4096 bytes apart: 450 of them fill the memory, behind which a page cannot be read.
TEST(Observe, MeasuresPacksOfBlocksThatDoNotDivideTheirDistance) {
  calibration::ObserveRequest request = request_of(1, {"3"});
  request.program = HPLCAST_BINARY_DIR "/tests/programs_swaps";
  request.reach_bytes = 450 * 4096;
  calibration::observe_program(request);
  std::istringstream reach(calibration::read_archive(request.archive).at("rank-0.reach.csv"));
  fit::ProgramObservation seen;
  fit::read_reach({reach, "rank-0.reach.csv"}, seen);
  double longest = 0;
  for (const fit::ObservedCall& one : seen.reach.at("MPI_Pack/aliased"))
    if (one.shape.k == 4096) longest = std::max(longest, one.shape.n);
  EXPECT_EQ(longest, 450);
}

TEST(Observe, MeasuresWiderProductsWhenTheRunIsOver) {
  calibration::ObserveRequest request = request_of(1, {"200", "100"});  // 200 x 100 x 200
  request.reach_bytes = 8 << 20;
  calibration::observe_program(request);
  std::istringstream reach(calibration::read_archive(request.archive).at("rank-0.reach.csv"));
  fit::ProgramObservation seen;
  fit::read_reach({reach, "rank-0.reach.csv"}, seen);
  std::set<double> rows;
  for (const fit::ObservedCall& one : seen.reach.at("dgemm")) {
    rows.insert(one.shape.m);
    EXPECT_EQ(one.shape.n, one.shape.m / 2);
    EXPECT_EQ(one.shape.k, 200);
    const double flop = 2 * one.shape.m * one.shape.n * one.shape.k, most_flop_per_s = 1e12;
    EXPECT_GT(one.duration_s, flop / most_flop_per_s) << "they were computed";
  }
  EXPECT_EQ(rows, (std::set<double>{300, 400, 600, 800})) << "1200 x 600, 1200 x 200 and 200 x 600 do not fit";
}

TEST(Observe, LeadsToAPredictionOfTheSameRun) {
  const calibration::ObserveRequest observed = request_of(1, {"400", "20"});
  calibration::observe_program(observed);
  const fit::ProgramObservation seen = read(observed);
  study::ProgramRunRequest request;
  request.cluster = tests::program_cluster();
  request.cluster.program = fit::fit_program(seen).program;
  request.ranks = 1;
  request.program = solver + "-smpi";
  request.arguments = {"400", "20"};
  request.noise = false;
  const study::ProgramRun run = study::run_program(request);
  for (const auto& [name, sum] : seen.routines) {
    EXPECT_EQ(run.routines.at(name).calls, sum.calls) << name;
    EXPECT_TRUE(run.routines.at(name).has_model) << name;
  }
  // Fits keep totals; the sample of each routine has all of its calls here, and sizes are inside of what was observed.
  // The first one touches buffers of BLAS for the first time, and the core is cold in the first ones.
  double usual_s = 0, calls = 0;
  for (const fit::ObservedCall& one : seen.calls.at("dgemm")) {
    if (one.faults > 0 || one.cold) continue;
    usual_s += one.calls * one.duration_s;
    calls += one.calls;
  }
  EXPECT_LT(calls, seen.routines.at("dgemm").calls);
  EXPECT_GT(calls, 0.5 * seen.routines.at("dgemm").calls);
  const double expected_s = usual_s / calls * seen.routines.at("dgemm").calls;
  EXPECT_NEAR(run.routines.at("dgemm").time_s, expected_s, 1e-3 * expected_s);
  EXPECT_EQ(run.routines.at("dgemm").outside_range, 0);
}

TEST(Observe, IsFoundInAFolderWithABlank) {
  const core::TemporaryFolder folder("hplcast observe");
  calibration::ObserveRequest request = request_of(1, {"100", "2"});
  request.observer = folder.path() / "libhplcast-observe.so";
  std::filesystem::copy_file(HPLCAST_BINARY_DIR "/lib/libhplcast-observe.so", request.observer);
  EXPECT_NO_THROW(calibration::observe_program(request));
  EXPECT_EQ(read(request).routines.at("dgemm").calls, 2);
}

TEST(Observe, TellsOfProgramsInWhichItSeesNothing) {
  calibration::ObserveRequest request = request_of(1, {});
  request.program = "/bin/true";
  try {
    calibration::observe_program(request);
    FAIL() << "expected an error";
  } catch (const core::ExternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("0 of 1 ranks were observed"));
  }
}

TEST(Observe, KeepsWhatAProgramThatFailsHasPrinted) {
  calibration::ObserveRequest request = request_of(1, {"-c", "echo no luck; exit 3"});
  request.program = "/bin/sh";
  request.archive = HPLCAST_BINARY_DIR "/tests/observed_failure.zip";
  try {
    calibration::observe_program(request);
    FAIL() << "it ended with 3";
  } catch (const core::Error& error) {
    const std::string text = error.what(), before = "its output is in ";
    const std::size_t begin = text.find(before) + before.size();
    const std::filesystem::path output = text.substr(begin, text.find('\n', begin) - begin);
    EXPECT_THAT(core::read_text(output), HasSubstr("no luck")) << text;
    if (output.filename() == "program.out") std::filesystem::remove_all(output.parent_path());
  }
}

TEST(Observe, TellsOfProgramsThatFail) {
  calibration::ObserveRequest request = request_of(1, {});
  request.program = "/bin/false";
  try {
    calibration::observe_program(request);
    FAIL() << "expected an error";
  } catch (const core::ExternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the observed run of false"));
  }
}

TEST(ObservedArchive, IsRefusedWithoutAllItsRanksOrOfAnotherVersion) {
  const auto refusal = [](const std::string& description, int ranks) {
    std::map<std::string, std::string> files = {{"program.json", description}};
    for (int rank = 0; rank < ranks; ++rank) files["rank-" + std::to_string(rank) + ".times.csv"] = "what";
    try {
      calibration::read_observed_run(files, "a.zip");
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string two_ranks =
      R"({"schema_version": 1, "program": "/x/solver", "arguments": ["100", "3"], "ranks": 2})";
  EXPECT_EQ(refusal(two_ranks, 2), "none");
  EXPECT_THAT(refusal(two_ranks, 1), testing::HasSubstr("of 1 ranks in it; expected 2"));
  EXPECT_THAT(refusal(R"({"schema_version": 99, "ranks": 2})", 2), testing::HasSubstr("found 99; expected 1"));
  EXPECT_THAT(refusal("{", 2), testing::HasSubstr("a.zip:program.json"));
  EXPECT_THAT(refusal(R"({"schema_version": 1, "program": "solver", "ranks": 2})", 2), testing::HasSubstr("arguments"));
}

TEST(ObservedArchive, SaysWhatRan) {
  const std::string description =
      R"({"schema_version": 1, "program": "/x/solver", "arguments": ["100", "3"], "ranks": 1})";
  const auto run = calibration::read_observed_run({{"program.json", description}, {"rank-0.times.csv", ""}}, "a.zip");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->program, "/x/solver");
  EXPECT_EQ(run->arguments, (std::vector<std::string>{"100", "3"}));
  EXPECT_EQ(run->ranks, 1);
  EXPECT_FALSE(calibration::read_observed_run({{"rank-0.times.csv", ""}}, "a.zip"));
}

}  // namespace
}  // namespace hplcast
