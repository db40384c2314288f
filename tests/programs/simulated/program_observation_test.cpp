// What is seen of a simulated program beside its result: times by routine and MPI function, traces, energy, detours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/programs/program_runs.hpp"

namespace hplcast::study {
namespace {

using testing::HasSubstr;
using tests::number_after;
using tests::program_request;
using tests::solver_s;

// Sums of thousands of differences of dates below 1 s, which SimGrid resolves to 1e-12 s.
constexpr double rounding_s = 1e-9;

/// [rank][name] = elapsed_s
std::map<int, std::map<std::string, double>> read_phases(const std::filesystem::path& path) {
  std::map<int, std::map<std::string, double>> times;
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    core::CsvReader reader(in, name);
    const std::size_t rank = reader.column("rank"), phase = reader.column("phase"), time = reader.column("elapsed_s");
    while (reader.next())
      times[static_cast<int>(reader.number(rank))][std::string(reader.text(phase))] = reader.number(time);
  });
  return times;
}

const core::PhaseSummary& phase_of(const ProgramRun& run, const std::string& name) {
  for (const core::PhaseSummary& phase : run.phases)
    if (phase.name == name) return phase;
  throw std::runtime_error("no phase " + name);
}

class ProgramObservation : public ::testing::Test {
 protected:
  core::TemporaryFolder folder_{"hplcast-observation-test"};
};

TEST_F(ProgramObservation, TimesOfEachRankAddUpToTheTimeOfTheRun) {
  ProgramRunRequest request = program_request("solver-smpi", 4, {"100", "3"});
  request.cluster.program->regions["fill"] = {core::RegionMode::skip, 1, {}, 1, 0.002};
  request.observation.phases = true;
  request.observation.phases_csv = folder_.path() / "phases.csv";
  const ProgramRun run = run_program(request);
  const auto ranks = read_phases(request.observation.phases_csv);
  ASSERT_EQ(ranks.size(), 4u);
  for (const auto& [rank, parts] : ranks) {
    double sum_s = 0;
    for (const auto& [name, time_s] : parts) sum_s += time_s;
    EXPECT_NEAR(sum_s, run.time_s, rounding_s) << "rank " << rank;
    EXPECT_NEAR(parts.at("dgemm"), 3 * 1e-10 * 100 * 50 * 100, rounding_s);
    EXPECT_NEAR(parts.at("region fill"), 0.002, rounding_s);
    EXPECT_GT(parts.at("MPI_Barrier"), 0);
    EXPECT_GT(parts.at("MPI_Allreduce"), 0);
  }
  EXPECT_NEAR(4 * phase_of(run, "dtrsm/R").elapsed_s, run.routines.at("dtrsm/R").time_s, rounding_s);
  EXPECT_NEAR(phase_of(run, "dtrsm/R").kernels_s, phase_of(run, "dtrsm/R").elapsed_s, rounding_s);
  EXPECT_EQ(phase_of(run, "MPI_Barrier").kernels_s, 0);
}

TEST_F(ProgramObservation, DrawsTheTimesOfRegionsPerRank) {
  const auto drawn_s = [this](const char* calls_of_rank_0, const char* size) {
    ProgramRunRequest request = program_request("odd-smpi", 2, {"draws", calls_of_rank_0, size});
    const auto second = core::Polynomial::make({{0, 0, 0}}, {1});
    core::RegionModel& region = request.cluster.program->regions["work"];
    region.mode = core::RegionMode::model;
    region.model = core::KernelModel::make(
        "M1", core::PiecewiseLaw(core::DurationLaw::make(second, second, core::NoiseFamily::half_normal)));
    request.observation.phases_csv = folder_.path() / "phases.csv";
    EXPECT_EQ(run_program(request).regions.at("work").calls, std::stod(calls_of_rank_0) + 3);
    return read_phases(request.observation.phases_csv).at(1)["region work"];
  };
  EXPECT_NEAR(drawn_s("1", "1"), drawn_s("5", "1"), rounding_s) << "of rank 1, whatever rank 0 calls";
  EXPECT_EQ(drawn_s("1", "0"), 0) << "without work";
}

TEST(TimePicture, HasTheSharesOfAllRanksTheLargestAbove) {
  ProgramRun run;
  run.command = "solver 100";
  run.ranks = 4;
  run.time_s = run.simulated_s = 1;
  run.routines["dgemm"].time_s = 1;
  run.routines["dscal"].time_s = 0.01;  // below half a percent
  run.rest_s = 0.4;
  const std::string svg = time_picture(run);
  EXPECT_THAT(svg, HasSubstr("solver 100, 4 ranks: 1.00 s"));
  std::size_t at = 0;
  for (const char* text : {">MPI and waiting<", ">dgemm<", ">the rest of the program<"}) {
    ASSERT_NE(svg.find(text), std::string::npos) << text;
    EXPECT_GT(svg.find(text), std::exchange(at, svg.find(text))) << text;
  }
  for (const char* text : {">65 %<", ">25 %<", ">10 %<"}) EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, testing::Not(HasSubstr("dscal")));
}

TEST_F(ProgramObservation, PutsTimesIntoGroupsThatAddUpToTheSame) {
  ProgramRunRequest request = program_request("solver-smpi", 4, {"100", "3"});
  request.cluster.program->regions["fill"] = {core::RegionMode::skip, 1, {}, 1, 0.002};
  request.observation.phases = true;
  request.phases_by_group = true;
  const ProgramRun run = run_program(request);
  EXPECT_NEAR(4 * phase_of(run, "routines").elapsed_s, run.routines_s(), rounding_s);
  EXPECT_NEAR(4 * phase_of(run, "regions").elapsed_s, run.regions_s(), rounding_s);
  EXPECT_GT(phase_of(run, "MPI").waiting_s, 0);
  double sum_s = 0;
  for (const core::PhaseSummary& phase : run.phases) sum_s += phase.elapsed_s;
  EXPECT_NEAR(sum_s, run.time_s, rounding_s);
}

TEST_F(ProgramObservation, TellsWaitingForOthersFromMessages) {
  ProgramRunRequest request = program_request("odd-smpi", 2, {"waits"});
  request.cluster.program->regions["work"] = {core::RegionMode::skip, 1, {}, 1, 1};
  request.observation.phases = true;
  request.observation.energy = true;
  core::PowerModel::Values power;
  power.states = {{"default", 50}, {"messages", 20}, {"blocked", 10}, {"polling", 5}};
  request.cluster.power = core::PowerModel::make(power);
  const ProgramRun run = run_program(request);
  // Means over two ranks, of which one waits for a second of work.
  for (const char* function :
       {"MPI_Recv", "MPI_Probe", "MPI_Waitall", "MPI_Waitany", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce"}) {
    EXPECT_NEAR(phase_of(run, function).waiting_s, 0.5, 1e-4) << function;
    EXPECT_LT(phase_of(run, function).messages_s, 1e-4) << function;
  }
  double blocked_s = 0;
  for (const core::StateEnergy& state : run.energy->states)
    if (state.name == "blocked") blocked_s = state.time_s;
  EXPECT_NEAR(blocked_s, 7 * 0.5, 1e-3);
}

TEST_F(ProgramObservation, ChangesNoDigitOfTheResult) {
  ProgramRunRequest request = program_request("solver-smpi", 4, {"100", "3"});
  request.cluster.program->rest_s_per_call = 1e-5;
  request.rest = RestMode::model;
  const ProgramRun plain = run_program(request);
  request.observation.phases = true;
  request.observation.energy = true;
  request.observation.trace = folder_.path() / "trace.json";
  const ProgramRun observed = run_program(request);
  EXPECT_EQ(observed.time_s, plain.time_s);
  EXPECT_EQ(observed.output, plain.output);
  EXPECT_NEAR(phase_of(observed, "the rest").elapsed_s * 4, observed.rest_s, rounding_s);
}

TEST_F(ProgramObservation, TracesRoutinesRegionsAndMpiCallsOfTheRanksAskedFor) {
  ProgramRunRequest request = program_request("solver-smpi", 4, {"100", "3"});
  request.observation.trace = folder_.path() / "trace.json";
  request.observation.trace_ranks = "1-2";
  request.cluster.program->regions["fill"] = {core::RegionMode::skip, 1, {}, 1, 0.002};
  const ProgramRun run = run_program(request);
  std::ifstream in(request.observation.trace);
  const auto trace = nlohmann::json::parse(in);
  std::map<std::string, int> events;
  std::set<int> ranks;
  double dgemm_us = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ranks.insert(event.at("tid").get<int>());
    ++events[event.at("cat").get<std::string>() + " " + event.at("name").get<std::string>()];
    EXPECT_LE(event.at("ts").get<double>() + event.at("dur").get<double>(), 1e6 * run.time_s + 1e-3);
    if (event.at("name") != "dgemm") continue;
    EXPECT_EQ(event.at("args").at("n"), 50);
    dgemm_us += event.at("dur").get<double>();
  }
  EXPECT_THAT(ranks, testing::ElementsAre(1, 2));
  EXPECT_EQ(events["kernel dgemm"], 2 * 3);
  EXPECT_EQ(events["region fill"], 2);
  EXPECT_EQ(events["mpi MPI_Barrier"], 2 * 4);
  EXPECT_NEAR(dgemm_us, 2 * 3 * 50, 0.01) << "a trace has nanoseconds";
}

TEST_F(ProgramObservation, TracesWhereMessagesGo) {
  ProgramRunRequest request = program_request("odd-smpi", 2, {"messages"});
  request.observation.trace = folder_.path() / "trace.json";
  run_program(request);
  std::ifstream in(request.observation.trace);
  std::map<std::string, double> bytes;
  const auto trace = nlohmann::json::parse(in);
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X" || (event.at("name") != "MPI_Send" && event.at("name") != "MPI_Recv")) continue;
    bytes[event.at("name").get<std::string>()] += event.at("args").at("bytes").get<double>();
    EXPECT_EQ(event.at("args").at("peer").get<int>(), 1 - event.at("tid").get<int>());
    EXPECT_EQ(event.at("args").at("tag"), 0);
  }
  EXPECT_EQ(bytes.at("MPI_Recv"), 1111111);
}

TEST_F(ProgramObservation, ALoopThatAsksIsOneEvent) {
  ProgramRunRequest request = program_request("odd-smpi", 1, {"tick"});
  request.observation.trace = folder_.path() / "trace.json";
  run_program(request);
  EXPECT_LT(std::filesystem::file_size(request.observation.trace), 5000u);
}

TEST_F(ProgramObservation, TellsHowFarARunIs) {
  ProgramRunRequest request = program_request("solver-smpi", 4, {"100", "20000"});
  SimulationProgress last;
  request.on_progress = [&](const SimulationProgress& progress) {
    EXPECT_GE(progress.simulated_s, last.simulated_s);
    last = progress;
  };
  const ProgramRun run = run_program(request);
  EXPECT_GT(last.simulated_s, 0);
  EXPECT_LE(last.simulated_s, run.time_s);
  EXPECT_GT(last.messages, 0);
}

TEST_F(ProgramObservation, ARankThatOnlyComputesTakesThePowerOfItsCoreAndHost) {
  ProgramRunRequest request = program_request("solver-smpi", 1, {"400", "20"});
  core::PowerModel::Values power;
  power.idle = 100;
  power.awake = 30;
  power.states = {{"default", 50}, {"polling", 50}, {"blocked", 50}, {"messages", 50}};
  request.cluster.power = core::PowerModel::make(power);
  request.observation.energy = true;
  request.observation.power_trace = folder_.path() / "power.csv";
  request.observation.bin_s = 0.01;
  const ProgramRun run = run_program(request);
  ASSERT_TRUE(run.energy);
  EXPECT_NEAR(run.energy->energy_j, 180 * run.time_s, 1e-9 * 180 * run.time_s);
  double bins_j = 0;
  core::read_file(request.observation.power_trace, [&](std::istream& in, const std::string& name) {
    core::CsvReader reader(in, name);
    const std::size_t watts = reader.column("power_w"), duration = reader.column("duration_s");
    while (reader.next()) bins_j += reader.number(watts) * reader.number(duration);
  });
  EXPECT_NEAR(bins_j, run.energy->energy_j, 1e-9 * bins_j) << "power over time adds up to the energy";
}

TEST_F(ProgramObservation, StatesOfAllRanksAddUpToTheTimeOfTheRun) {
  ProgramRunRequest request = program_request("solver-smpi", 8, {"200", "3"});
  core::PowerModel::Values power;
  power.idle = 100;
  power.states = {{"default", 50}, {"messages", 20}, {"blocked", 10}, {"polling", 5}};
  request.cluster.power = core::PowerModel::make(power);
  request.observation.energy = true;
  const ProgramRun run = run_program(request);
  double states_s = 0, states_j = 0;
  for (const core::StateEnergy& state : run.energy->states) {
    states_s += state.time_s;
    states_j += state.energy_j;
  }
  EXPECT_NEAR(states_s, run.time_s, rounding_s);
  EXPECT_NEAR(run.energy->energy_j, 2 * 100 * run.time_s + states_j, 1e-9 * run.energy->energy_j) << "two hosts";
  EXPECT_GT(states_j, 8 * 3 * solver_s(200) * 50) << "all routines at 50 W, and the rest of the run";
  request.cluster.power.reset();
  try {
    run_program(request);
    FAIL() << "expected an error";
  } catch (const core::DomainError& error) {
    EXPECT_THAT(error.what(), HasSubstr("watts of its hosts"));
  }
}

TEST_F(ProgramObservation, DetoursTakeTheirShareOfARankThatComputes) {
  ProgramRunRequest request = program_request("solver-smpi", 1, {"400", "100"});
  const double work_s = 100 * solver_s(400);
  constexpr double period_s = 1e-3, duration_s = 1e-4;
  request.cluster.detours = {
      core::DetourSource::make({"agent", core::PeriodicDetours{0, 0.0}, period_s, core::ConstantDuration{duration_s}})};
  request.observation.phases = true;
  const ProgramRun run = run_program(request);
  const double expected_s = work_s / (1 - duration_s / period_s);
  // One detour more or less at the ends, and barriers of one rank.
  EXPECT_NEAR(number_after(run.output, "elapsed "), expected_s, 2 * duration_s);
  EXPECT_NEAR(run.detours_s, expected_s - work_s, 2 * duration_s);
  EXPECT_NEAR(phase_of(run, "dgemm").detours_s / phase_of(run, "dgemm").kernels_s, 1 / 0.9 - 1, 0.005);
  request.cluster.detours.clear();
  EXPECT_NEAR(number_after(run_program(request).output, "elapsed "), work_s, 1e-5);
}

TEST_F(ProgramObservation, TellsWhereRanksWaitInADeadlock) {
  try {
    run_program(program_request("odd-smpi", 2, {"deadlock"}));
    FAIL() << "expected an error";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("deadlock"));
    EXPECT_THAT(error.what(), HasSubstr("rank 0 waits in MPI_Recv"));
  }
}

}  // namespace
}  // namespace hplcast::study
