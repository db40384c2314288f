// Programs without marks: what a simulated program counts, and the time that the code between its calls of MPI takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/programs/program_runs.hpp"

namespace hplcast::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

struct CountedCall {
  std::string function, site;
  double instructions;
};

const fs::path folder = fs::path(HPLCAST_BINARY_DIR) / "tests";

ProgramRunRequest request_of(int n, int ranks = 2) {
  return tests::program_request("stretches-smpi", ranks, {std::to_string(n)});
}

/// By rank.
std::map<long long, std::vector<CountedCall>> counted(ProgramRunRequest request) {
  request.counts = folder / "stretches.csv";
  run_program(request);
  std::istringstream in(core::read_text(request.counts));
  core::CsvReader rows(in, "stretches.csv");
  std::map<long long, std::vector<CountedCall>> calls;
  while (rows.next())
    calls[rows.integer(0)].push_back({std::string(rows.text(1)), std::string(rows.text(2)), rows.number(3)});
  return calls;
}

/// `each_s` per instruction, for everything.
core::RegionModel model_of(double each_s) {
  core::RegionModel region;
  region.mode = core::RegionMode::model;
  region.model = tests::exact_model({{1, 0, 0}}, {each_s});
  return region;
}

/// Of all calls of that function.
std::vector<double> before(const std::string& function, const std::vector<CountedCall>& calls) {
  std::vector<double> found;
  for (const CountedCall& one : calls)
    if (one.function == function) found.push_back(one.instructions);
  return found;
}

/// Of a step of the loops.
double per_step(const std::vector<CountedCall>& calls, int n) {
  return before("MPI_Allreduce", calls).at(0) / n / n;
}

// A loop takes as many instructions per step, and a few around it.
TEST(Stretches, CountTheStepsOfLoopsBetweenCalls) {
  const auto calls = counted(request_of(200)), twice = counted(request_of(400));
  ASSERT_EQ(calls.size(), 2u);
  const std::vector<double> reduced = before("MPI_Allreduce", calls.at(0));
  ASSERT_EQ(reduced.size(), 3u);
  for (const double instructions : reduced) EXPECT_EQ(instructions, reduced.front());
  EXPECT_NEAR(before("MPI_Allreduce", twice.at(0)).front() / reduced.front(), 4, 0.01);
  EXPECT_NEAR(calls.at(0).back().instructions, 4 << 20, 5000) << "memory that is freed, in pages";
  EXPECT_EQ(calls.at(0).front().function, "MPI_Init");
  EXPECT_EQ(calls.at(0).back().function, "MPI_Finalize");
  for (const CountedCall& one : calls.at(0)) EXPECT_THAT(one.function, Not(HasSubstr("Iprobe"))) << "a loop that asks";
}

// Two loops of one basic block per step.
TEST(Stretches, CountInstructionsOfBlocks) {
#ifdef __x86_64__
  const auto calls = counted(tests::program_request("stretches-smpi", 2, {"200", "all", "long"}));
  const double step = per_step(calls.at(0), 200), ten_times = before("MPI_Alltoall", calls.at(0)).at(0) / 200 / 200;
  EXPECT_GT(step, 3);
  EXPECT_LT(step, 12) << "a number is made of i, and added in memory";
  EXPECT_GT(ten_times, 30);
  EXPECT_LT(ten_times, 50) << "ten are added in memory";
#else
  GTEST_SKIP() << "skipped: instructions are counted on x86-64 only, elsewhere blocks";
#endif
}

TEST(Stretches, AreWithoutTheCodeOfRegionsThatCallMpi) {
  ProgramRunRequest request = tests::program_request("stretches-smpi", 2, {"200", "all", "long", "regions"});
  const auto counts = counted(request);
  const std::vector<CountedCall>& calls = counts.at(0);
  const double steps = before("MPI_Allreduce", calls).at(0), around_a_loop = 100;
  EXPECT_NEAR(before("MPI_Reduce", calls).at(0), steps, around_a_loop) << "in the regions";
  EXPECT_LT(before("MPI_Scan", calls).at(0), around_a_loop) << "in the outer one";
  EXPECT_NEAR(before("MPI_Exscan", calls).at(0), steps, around_a_loop) << "after both";
  // Also where the region is executed and has a time of its own.
  request.rest = RestMode::counted;
  request.numerics = true;
  request.cluster.program->regions["any > any"] = model_of(1e-8);
  request.cluster.program->regions["outer"] = {core::RegionMode::skip, 1, {}, 1, 0.002};
  double instructions = 0;
  for (const auto& [rank, all] : counts)
    for (const CountedCall& one : all) instructions += one.instructions + 1;
  const ProgramRun run = run_program(request);
  EXPECT_NEAR(run.regions.at("stretches by mean").time_s, 1e-8 * instructions, 1e-15 * instructions);
  EXPECT_NEAR(run.regions.at("outer").time_s, 2 * 0.002, 1e-12);
}

// C++'s delete calls free where the linker does not see it.
TEST(Stretches, CountPagesThatDeleteGivesBack) {
  const auto calls = counted(tests::program_request("deletes-smpi", 1));
  ASSERT_EQ(calls.at(0).size(), 7u) << "MPI_Init, five barriers, MPI_Finalize";
  for (std::size_t i = 2; i < 6; ++i) EXPECT_NEAR(calls.at(0)[i].instructions, 4 << 20, 5000) << i;
  EXPECT_NEAR(calls.at(0)[6].instructions, 0, 100);
}

TEST(Stretches, KnowTheirCallsByPlaceAndCallersOnAllRanks) {
  const auto calls = counted(request_of(200));
  const auto barriers = [&](long long rank) {
    std::vector<std::string> sites;
    for (const CountedCall& one : calls.at(rank))
      if (one.function == "MPI_Barrier") sites.push_back(one.site);
    return sites;
  };
  EXPECT_EQ(barriers(0), barriers(1)) << "of copies of one program at other addresses";
  EXPECT_NE(barriers(0)[1], barriers(0)[2]) << "two calls of one function";
  EXPECT_EQ(barriers(0).size(), 1u + 6u + 20u);
  EXPECT_NE(barriers(0)[7], barriers(0)[8]) << "the first depth of the recursion has another caller than the second";
  EXPECT_EQ(barriers(0)[20], barriers(0)[21]) << "the depths far from it do not differ";
}

TEST(Stretches, TakeTheTimeOfWhatTheyExecute) {
  const double each_s = 1e-8;
  ProgramRunRequest request = request_of(300);
  request.rest = RestMode::counted;
  request.cluster.program->regions["any > any"] = model_of(each_s);
  const ProgramRun run = run_program(request);
  double instructions = 0;
  for (const auto& [rank, calls] : counted(request_of(300)))
    for (const CountedCall& one : calls) instructions += one.instructions + 1;
  const core::RoutineUse& use = run.regions.at("stretches by mean");
  EXPECT_NEAR(use.time_s, each_s * instructions, 1e-9 * each_s * instructions);
  // Between the two reads of the clock 3 (n + n^2) steps, 10 per depth of the recursion, and messages of microseconds.
  const double steps = (3 * (300 + 300 * 300) + 10 * 30 * 31 / 2.0) * per_step(counted(request_of(300)).at(0), 300);
  EXPECT_NEAR(tests::number_after(run.output, "elapsed "), each_s * steps, 0.05 * each_s * steps);
  EXPECT_THAT(doubts(run, request.cluster),
              ElementsAre(HasSubstr("100 % of the time is of code between calls"), HasSubstr("observed routines")));
}

// Two ranks that execute the same wait for each other where they scatter: the later one of two normal numbers is 0.56
// standard deviations above their mean (here 0.3 of it), of eight seeds to 0.05 or so.
TEST(Stretches, ScatterSoThatRanksWaitForEachOther) {
  ProgramRunRequest request = request_of(300);
  request.rest = RestMode::counted;
  request.noise = false;
  core::RegionModel& region = request.cluster.program->regions["any > any"] = model_of(1e-8);
  const double even_s = run_program(request).time_s;
  const auto each = [](double time_s) { return core::Polynomial::make({{1, 0, 0}}, {time_s}); };
  region.model = core::KernelModel::make(
      "M1", core::PiecewiseLaw(core::DurationLaw::make(each(1e-8), each(3e-9), core::NoiseFamily::log_normal)));
  EXPECT_EQ(run_program(request).time_s, even_s) << "without noise";
  request.noise = true;
  double sum_s = 0;
  for (request.seed = 1; request.seed <= 8; ++request.seed) sum_s += run_program(request).time_s;
  EXPECT_NEAR(sum_s / 8 / even_s, 1 + 0.56 * 0.3, 0.12);
}

TEST(Stretches, TakeTheModelOfTheirTwoCallsBeforeThatOfOthers) {
  ProgramRunRequest request = request_of(100);
  const auto calls = counted(request);
  request.rest = RestMode::counted;
  auto& regions = request.cluster.program->regions;
  regions["any > any"] = model_of(1e-9);
  regions["MPI_Barrier in recurse > MPI_Barrier in recurse"] = model_of(1e-9);
  const auto name = [](const CountedCall& one) { return core::call_site_name(one.function, one.site); };
  const std::vector<CountedCall>& first = calls.at(0);
  for (std::size_t i = 1; i < first.size(); ++i)
    if (first[i].function == "MPI_Allreduce")
      regions[core::stretch_name(name(first[i - 1]), name(first[i]), core::StretchLevel::site)] = model_of(5e-9);
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.regions.at("stretches").calls, 2 * 3);
  EXPECT_NEAR(run.regions.at("stretches").time_s, 2 * 3 * 5e-9 * per_step(first, 100) * 100 * 100, 1e-6);
}

TEST(Stretches, NeedNoSymbols) {
  const fs::path stripped = folder / "programs_stretches_stripped-smpi";
  fs::copy_file(folder / "programs_stretches-smpi", stripped, fs::copy_options::overwrite_existing);
  ASSERT_EQ(std::system(("strip '" + stripped.string() + "'").c_str()), 0);
  ProgramRunRequest request = request_of(100);
  const auto calls = counted(request);
  request.program = stripped;
  const auto of_stripped = counted(request);
  ASSERT_EQ(of_stripped.at(0).size(), calls.at(0).size());
  for (std::size_t i = 0; i < calls.at(0).size(); ++i) EXPECT_EQ(of_stripped.at(0)[i].site, calls.at(0)[i].site) << i;
}

TEST(Stretches, AreRefusedForAProgramThatDoesNotCountOrHasNoModels) {
  const auto message = [](const ProgramRunRequest& request) {
    try {
      run_program(request);
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string("it ended well");
  };
  ProgramRunRequest request = tests::program_request("solver-smpi", 1, {"100", "3"});
  request.counts = folder / "none.csv";
  EXPECT_THAT(message(request), HasSubstr("the program does not count what it executes"));
  EXPECT_FALSE(fs::exists(request.counts));
  ProgramRunRequest without = request_of(100);
  without.rest = RestMode::counted;
  EXPECT_THAT(message(without), HasSubstr("has no models of code between calls of MPI"));
}

}  // namespace
}  // namespace hplcast::study
