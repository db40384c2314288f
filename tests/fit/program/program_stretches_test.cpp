// The code between two calls of MPI: times of a real run and counts of a simulated one become models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/fit/program_fit.hpp"

namespace hplcast::fit {
namespace {

using testing::HasSubstr;

CountedRun counted(const std::string& rows) {
  std::istringstream in("rank,function,site,instructions\n" + rows);
  return read_counts({in, "counts.csv"});
}

void read_times(const std::string& rows, const CountedRun& run, std::size_t rank, ProgramObservation& seen) {
  std::istringstream in("function,time_s\n" + rows);
  read_stretches({in, "rank-" + std::to_string(rank) + ".stretches.csv"}, run, rank, seen);
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "it went well";
}

/// Runs in which a rank executes some instructions before each of its barriers, and that takes `time_s`.
ProgramObservation barriers(const std::vector<double>& all_instructions, const std::function<double(double)>& time_s) {
  std::string rows = "0,MPI_Init,main+10,5\n", times = "MPI_Init,1\n";
  double sum_s = 0;
  for (const double instructions : all_instructions) {
    rows += "0,MPI_Barrier,solve_+40," + core::shortest(instructions) + "\n";
    times += "MPI_Barrier," + core::shortest(time_s(core::stretch_size(instructions))) + "\n";
    sum_s += time_s(core::stretch_size(instructions));
  }
  ProgramObservation seen;
  seen.executed_s = sum_s;
  read_times(times, counted(rows), 0, seen);
  return seen;
}

const std::string loop = "MPI_Barrier in solve_+40 > MPI_Barrier in solve_+40";

double predicted_s(const ProgramFit& fit, const std::string& name, double instructions) {
  const core::KernelShape shape{core::stretch_size(instructions), 1, 1};
  return fit.program.regions.at(name).model.cluster_law().at(shape).mean_s(shape);
}

TEST(ProgramStretches, TakeTheTimePerInstructionThatWasObserved) {
  const auto truth = [](double size) { return 2e-9 * size; };
  const ProgramFit fit = fit_program(barriers({1e3, 1e3, 1e5, 1e11, 1e11}, truth));
  for (const double instructions : {10.0, 1e3, 3e4, 1e6, 1e11, 1e13})
    EXPECT_NEAR(predicted_s(fit, loop, instructions) / truth(core::stretch_size(instructions)), 1, 1e-9)
        << instructions;
  EXPECT_EQ(fit.program.regions.at(loop).calls, 4) << "the first one is after MPI_Init";
}

// Operands that leave a cache: the time per instruction grows by a quarter for each factor of 16. The power between two
// nodes is in lines of a factor of 2, whose chords are off by less than 0.6 % of it.
TEST(ProgramStretches, FollowATimePerInstructionThatGrowsWithTheSize) {
  const auto truth = [](double size) { return 2e-9 * size * std::pow(size / 1e4, std::log(1.25) / std::log(16.0)); };
  const ProgramFit fit = fit_program(barriers({1e4, 1e4, 1.6e5, 2.56e6}, truth));
  for (const double instructions : {1e4, 2e4, 5e4, 1.6e5, 7e5, 2.56e6})
    EXPECT_NEAR(predicted_s(fit, loop, instructions) / truth(core::stretch_size(instructions)), 1, 6e-3)
        << instructions;
}

// HPL's swaps in a matrix that leaves the caches. A line through all sizes would take 0.57 of the time for twice as
// many instructions.
TEST(ProgramStretches, GrowOnAsTheyGrew) {
  const auto truth = [](double size) { return 1e-9 * std::pow(size, 1.6); };
  const ProgramFit fit = fit_program(barriers({1e4, 1e4, 2e4, 4e4}, truth));
  EXPECT_NEAR(predicted_s(fit, loop, 8e4) / truth(8e4), 0.77, 0.01) << "on in a straight line";
  const auto step = [](double size) { return 1e-9 * size * (size > 3e4 ? 3 : 1); };
  const ProgramFit once = fit_program(barriers({1e4, 1e4, 2e4, 4e4}, step));
  EXPECT_LT(predicted_s(once, loop, 8e4) / step(8e4), 1) << "one step is no growth";
}

TEST(ProgramStretches, KeepAConstantBesideATimePerInstruction) {
  const auto truth = [](double size) { return 1e-4 + 1e-9 * size; };
  const ProgramFit fit = fit_program(barriers({100, 100, 1e6}, truth));
  EXPECT_NEAR(predicted_s(fit, loop, 5e5), truth(5e5 + 1), 1e-10);
}

// The same run varies by 5 %: a constant of two sizes that are off by 4 and -3 % would be 7 % of the smaller one, and
// make a run of four times the larger one 5 % too short.
TEST(ProgramStretches, ExtrapolateByTheTimePerInstructionWhereAConstantIsNoise) {
  const auto noisy = [](double size) { return 1e-9 * size * (size < 2e6 ? 1.04 : 0.97); };
  const ProgramFit fit = fit_program(barriers({1e6, 1e6, 4e6}, noisy));
  EXPECT_NEAR(predicted_s(fit, loop, 1.6e7) / 1.6e-2, 1, 0.02);
}

// Noise is no law: where more instructions took less time, both take the mean of both, so that the sum stays.
TEST(ProgramStretches, NeverTakeLessTimeForMoreInstructions) {
  const auto noisy = [](double size) { return size < 3e3 ? 3e-6 : size < 5e3 ? 2e-6 : 8e-6; };
  const ProgramFit fit = fit_program(barriers({2e3, 2e3, 4e3, 8e3}, noisy));
  double before_s = 0;
  for (double instructions = 1e3; instructions < 1e4; instructions *= 1.1) {
    EXPECT_GE(predicted_s(fit, loop, instructions), before_s) << instructions;
    before_s = predicted_s(fit, loop, instructions);
  }
  EXPECT_NEAR(predicted_s(fit, loop, 3e3), 2.5e-6, 1e-12);
}

/// 40 sizes, and one of 25,000 instructions; or three beyond 19,000.
std::vector<double> panels(std::vector<double> longest) {
  std::vector<double> instructions;
  for (int i = 0; i < 40; ++i) instructions.push_back(1000 + 400 * i);
  instructions.insert(instructions.end(), longest.begin(), longest.end());
  return instructions;
}

// The first panel of a factorisation uses memory for the first time: it is the longest, and took 100, or 4 times as
// long.
TEST(ProgramStretches, DoNotExtrapolateWhatHappensOnce) {
  const auto truth = [](double size) { return 1e-6 + 4e-10 * size; };
  for (const double once_s : {1e-3, 4.4e-5}) {
    const auto once = [&](double size) { return size > 24000 ? once_s : truth(size); };
    const ProgramFit fit = fit_program(barriers(panels({25000}), once));
    for (const double size : {3000.0, 20000.0, 25000.0, 1e5})
      EXPECT_NEAR(predicted_s(fit, loop, size) / truth(size + 1), 1, 0.01) << size << ' ' << once_s;
  }
}

// Operands that no cache holds take 3 times as long, in all sizes from there on. Classes of neighbouring sizes are one
// node (there are 12), so that within one of them the time is off by up to 10 %.
TEST(ProgramStretches, KeepAStepThatSeveralSizesShow) {
  const auto truth = [](double size) { return 4e-10 * size * (size > 20000 ? 3 : 1); };
  const ProgramFit fit = fit_program(barriers(panels({21000, 25000, 30000}), truth));
  EXPECT_NEAR(predicted_s(fit, loop, 3000) / truth(3001), 1, 0.01);
  for (const double size : {25000.0, 30000.0}) EXPECT_NEAR(predicted_s(fit, loop, size) / truth(size + 1), 1, 0.1);
}

// Another program had the CPU during one call, or during one of three repetitions.
TEST(ProgramStretches, LeaveOutCallsThatWereDisturbed) {
  const CountedRun run =
      counted("0,MPI_Init,main+1,1\n0,MPI_Barrier,f+2,999\n0,MPI_Barrier,f+2,999\n0,MPI_Barrier,f+2,999\n");
  ProgramObservation seen;
  seen.executed_s = 1;
  for (const char* times : {"0.1\nMPI_Barrier,0.1\nMPI_Barrier,9\n", "0.3\nMPI_Barrier,0.3\nMPI_Barrier,0.3\n",
                            "0.1\nMPI_Barrier,0.1\nMPI_Barrier,0.1\n"}) {
    seen.stretches.runs.push_back("counts.csv");
    read_times(std::string("MPI_Init,0\nMPI_Barrier,") + times, run, 0, seen);
  }
  EXPECT_NEAR(predicted_s(fit_program(seen), "MPI_Barrier in f+2 > MPI_Barrier in f+2", 999), 0.1, 1e-12);
}

// Calls that differ from each other in one repetition as in the other are a law that instructions do not tell. Where
// they do not, they scatter: 0.9 and 1.1 of the mean have a standard deviation of 0.1 sqrt(2), because two calls that
// differ by 0.2 are taken for draws on their own. A repetition that is slower as a whole is none of both.
TEST(ProgramStretches, ScatterByWhatTheSameCallTookInAnotherRun) {
  const CountedRun run = counted(
      "0,MPI_Init,main+1,1\n0,MPI_Barrier,f+2,999\n0,MPI_Barrier,f+2,999\n0,MPI_Barrier,f+2,999\n0,MPI_Barrier,f+2,"
      "999\n0,MPI_Barrier,f+2,999\n");
  const auto scatter = [&](const std::vector<const char*>& runs) {
    ProgramObservation seen;
    seen.executed_s = 1;
    for (const char* times : runs) {
      seen.stretches.runs.push_back("counts.csv");
      read_times(std::string("MPI_Init,0\nMPI_Barrier,5\n") + times, run, 0, seen);
    }
    const ProgramFit fit = fit_program(seen);
    const core::KernelShape shape{core::stretch_size(999), 1, 1};
    const core::DurationLaw& law =
        fit.program.regions.at("MPI_Barrier in f+2 > MPI_Barrier in f+2").model.cluster_law().at(shape);
    return law.sd_s(shape) / law.mean_s(shape);
  };
  const char *const up = "MPI_Barrier,9\nMPI_Barrier,11\nMPI_Barrier,9\nMPI_Barrier,11\n",
                    *const down = "MPI_Barrier,11\nMPI_Barrier,9\nMPI_Barrier,11\nMPI_Barrier,9\n",
                    *const slow = "MPI_Barrier,18\nMPI_Barrier,22\nMPI_Barrier,18\nMPI_Barrier,22\n";
  EXPECT_NEAR(scatter({up, down}), 0.1 * std::sqrt(2), 1e-9);
  EXPECT_EQ(scatter({up, slow}), 0);
  EXPECT_EQ(scatter({up}), 0) << "one run does not tell";
}

TEST(ProgramStretches, FallBackToTheFunctionsAndThenToAll) {
  const CountedRun run = counted(
      "0,MPI_Init,main+10,1\n0,MPI_Send,left_+8,999\n0,MPI_Send,left_+99,999\n"
      "1,MPI_Init,main+10,1\n1,MPI_Send,right_+8,999\n1,MPI_Recv,right_+20,999\n");
  ProgramObservation seen;
  seen.executed_s = 1;
  read_times("MPI_Init,0\nMPI_Send,0.1\nMPI_Send,0.2\n", run, 0, seen);
  read_times("MPI_Init,0\nMPI_Send,0.3\nMPI_Recv,0.6\n", run, 1, seen);
  const ProgramFit fit = fit_program(seen);
  EXPECT_NEAR(predicted_s(fit, "MPI_Init in main+10 > MPI_Send in left_+8", 999), 0.1, 1e-12);
  EXPECT_NEAR(predicted_s(fit, "MPI_Send in left_ > MPI_Send in left_", 999), 0.2, 1e-12);
  EXPECT_NEAR(predicted_s(fit, "any > any", 999), (0.1 + 0.2 + 0.3 + 0.6) / 4, 1e-12);
}

TEST(ProgramStretches, AreRefusedWhereTheRunsMadeOtherCalls) {
  const CountedRun run = counted("0,MPI_Init,main+1,1\n0,MPI_Send,main+2,1\n0,MPI_Finalize,main+3,1\n");
  ProgramObservation seen;
  const auto message = [&](const std::string& times, std::size_t rank) {
    return message_of([&] { read_times(times, run, rank, seen); });
  };
  EXPECT_THAT(message("MPI_Init,0\nMPI_Recv,0\n", 0),
              HasSubstr("rank-0.stretches.csv: call 2 of MPI is MPI_Recv, but it is MPI_Send in counts.csv, rank 0"));
  EXPECT_THAT(message("MPI_Init,0\nMPI_Send,0\n", 0), HasSubstr("2 calls of MPI, but there are 3"));
  EXPECT_THAT(message("MPI_Init,0\nMPI_Send,0\nMPI_Finalize,0\nMPI_Send,0\n", 0),
              HasSubstr("call 4 of MPI is MPI_Send, but there is none"));
  EXPECT_THAT(message("MPI_Init,0\n", 1), HasSubstr("rank 1, but there is none in counts.csv"));
  EXPECT_THAT(message_of([] { counted(""); }), HasSubstr("expected what `hplcast run --count` wrote"));
  EXPECT_THAT(message_of([] { counted("-1,MPI_Init,main,3\n"); }), HasSubstr("expected at least 0"));
}

TEST(ProgramFit, FindsHowMuchLongerMessagesTakeBesideWaiting) {
  const auto factor = [](double real_s, std::vector<double> other_s) {
    return message_factor({{"a", {{"MPI_Send", {{real_s}, 1, 3}}}, 20}, {"b", {{"MPI_Send", {other_s, 2, 4}}}, 20}});
  };
  EXPECT_DOUBLE_EQ(*factor(4, {6}), 1) << "as simulated";
  EXPECT_DOUBLE_EQ(*factor(5, {8}), 2) << "5 = 3 + 2, 8 = 4 + 2 * 2";
  EXPECT_DOUBLE_EQ(*factor(5, {8, 8, 60}), 2) << "the usual one";
  EXPECT_DOUBLE_EQ(*factor(2, {2}), 1 / 3.0);
  EXPECT_DOUBLE_EQ(*factor(40, {40}), 3);
  EXPECT_THROW(factor(80, {80}), core::DomainError);
  EXPECT_FALSE(message_factor({{"a", {{"MPI_Send", {{5}, 0.1, 3}}}, 20}})) << "half a percent of the run";
}

// NAS CG of 1400 and 14000 rows on two ranks, ms of both (medians of three runs, and simulated): ranks of the large one
// waited longer than simulated for each other, those of the small one hardly at all.
TEST(ProgramFit, TakesFromRunsThatDoNotWaitWhatMessagesTake) {
  EXPECT_NEAR(*message_factor({{"small", {{"MPI_Send", {{11}, 19.3, 3.4}}}, 60},
                               {"large", {{"MPI_Send", {{88}, 38, 62.5}}}, 1000}}),
              (11 - 3.4) / 19.3, 0.02);
}

// ScaLAPACK's Cholesky of 1500 on 1x2, ms of both ranks: receivers wait for a rank that began later, or was disturbed,
// which the simulation does not have. Senders wait for nobody: their 2.5 of 5.3 ms are what a message takes.
TEST(ProgramFit, TakesFromFunctionsThatDoNotWaitWhatMessagesTake) {
  const std::map<std::string, MessageTimes::Function> functions = {
      {"MPI_Send", {{2.5}, 5.3, 0}}, {"MPI_Recv", {{10, 12.4}, 5.3, 6}}, {"MPI_Barrier", {{0.3}, 0.01, 0.3}}};
  EXPECT_NEAR(*message_factor({{"potrf", functions, 60}}), 2.5 / 5.3, 0.03);
  // Nor does a loop that asks: how often is its own affair.
  std::map<std::string, MessageTimes::Function> asking = functions;
  asking["MPI_Iprobe"] = {{1}, 0.1, 0};
  EXPECT_NEAR(*message_factor({{"potrf", asking, 60}}), *message_factor({{"potrf", functions, 60}}), 0.01);
}

}  // namespace
}  // namespace hplcast::fit
