// Messages of programs that do not go through SMPI: what arrives is what was sent, at the time at which SMPI has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <regex>

#include "hplcast/core/errors.hpp"
#include "tests/programs/program_runs.hpp"

namespace hplcast::study {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Six ranks on two hosts.
ProgramRunRequest request_of(const std::string& program, bool direct, std::vector<std::string> arguments = {}) {
  ProgramRunRequest request = tests::program_request(program, 6, std::move(arguments));
  core::RegionModel wait;
  wait.mode = core::RegionMode::model;
  wait.model = tests::exact_model({{1, 0, 0}}, {1e-3});
  request.cluster.program->regions["wait"] = wait;
  request.direct_messages = direct;
  return request;
}

struct Part {
  int wrong;
  double time_s;
};

std::map<std::string, Part> parts_of(const std::string& output) {
  std::map<std::string, Part> parts;
  static const std::regex line(R"(([a-z_0-9 ]+): wrong (\d+), ([0-9.]+) s)");
  for (std::sregex_iterator i(output.begin(), output.end(), line), end; i != end; ++i)
    parts[(*i)[1]] = {std::stoi((*i)[2]), std::stod((*i)[3])};
  return parts;
}

TEST(ProgramMessages, ArriveAsTheyWereSent) {
  const std::map<std::string, Part> parts = parts_of(run_program(request_of("messages-smpi", true)).output);
  EXPECT_EQ(parts.size(), 15u);
  for (const auto& [name, part] : parts) EXPECT_EQ(part.wrong, 0) << name;
}

TEST(ProgramMessages, DoAsMpiSaysWhereSmpiDoesNot) {
  EXPECT_THAT(run_program(request_of("standard-smpi", true)).output, HasSubstr("wrong 0\n"));
}

TEST(ProgramMessages, TakeTheTimeThatTheyTakeBySmpi) {
  // SMPI 3.32 deadlocks if a persistent send is started again, or a request is freed early.
  ProgramRunRequest request = request_of("messages-smpi", true, {"not_persistent"});
  // All on one host: where messages share a link, SMPI's get another part of it.
  request.cluster.hosts = core::Hosts::make({"n-[1-2]", 6, 1, {}, 0});
  const ProgramRun direct = run_program(request);
  request.direct_messages = false;
  const ProgramRun smpi = run_program(request);
  const std::map<std::string, Part> times = parts_of(smpi.output);
  EXPECT_EQ(times.size(), 13u);
  for (const auto& [name, part] : parts_of(direct.output)) {
    if (name == "polling") continue;     // failed polls grow by rank, in SMPI for all ranks together
    if (name == "collective") continue;  // of requests of both kinds, ours are waited for first
    // What is printed.
    EXPECT_NEAR(part.time_s, times.at(name).time_s, 1.5e-9) << name;
  }
  EXPECT_EQ(direct.messages, smpi.messages);
  EXPECT_EQ(direct.message_bytes, smpi.message_bytes);
}

// Whoever is woken may have freed its requests before the one that wakes it goes on.
TEST(ProgramMessages, OfACrowdThatWaitsForSeveralComeWhenTheyComeBySmpi) {
  for (const int ranks_per_host : {4, 16}) {
    ProgramRunRequest request = request_of("odd-smpi", true, {"crowd"});
    request.ranks = 16;
    request.cluster.hosts = core::Hosts::make({"n-[1-4]", ranks_per_host, 1, {}, 0});
    const ProgramRun direct = run_program(request);
    EXPECT_THAT(direct.output, Not(HasSubstr("in round"))) << ranks_per_host;
    EXPECT_EQ(direct.messages, 16 * 16 * 30);
    if (ranks_per_host < 16) continue;  // where messages share a link, SMPI's get another part of it
    request.direct_messages = false;
    const ProgramRun smpi = run_program(request);
    EXPECT_NEAR(direct.time_s, smpi.time_s, 1e-9 * smpi.time_s);
  }
}

/// On one rank per host.
std::map<std::string, Part> collectives_of(int ranks, bool fast, const core::Topology& topology = {},
                                           const std::string& mpi = "ompi") {
  ProgramRunRequest request = request_of("collectives-smpi", true);
  request.collectives = mpi;
  request.ranks = ranks;
  request.cluster.hosts = core::Hosts::make({"n-[1-16]", 1, 1, {}, 0});
  // With thresholds of 64,000 bytes both, SMPI 3.32 deadlocks in MPI_Gather of 24 kB, with its own messages alone, too.
  core::NetworkModel::Values network = request.cluster.network.values();
  network.async_small_bytes = 4096;
  network.detached_bytes = 65536;
  network.topology = topology;
  request.cluster.network = core::NetworkModel::make(network);
  request.fast = fast;
  return parts_of(run_program(request).output);
}

TEST(ProgramMessages, OfCollectiveOperationsAreThoseOfExactModeInFastMode) {
  for (const int ranks : {4, 5, 8, 9}) {
    const std::map<std::string, Part> exact = collectives_of(ranks, false), fast = collectives_of(ranks, true);
    EXPECT_EQ(exact.size(), 17u * 4 * 2);
    ASSERT_EQ(fast.size(), exact.size());
    double exact_s = 0, fast_s = 0;
    for (const auto& [name, part] : fast) {
      SCOPED_TRACE(name + ", " + std::to_string(ranks) + " ranks");
      EXPECT_EQ(part.wrong, 0);
      EXPECT_EQ(exact.at(name).wrong, 0);
      exact_s += exact.at(name).time_s;
      fast_s += part.time_s;
      // Messages of some ranks to one share its link in exact mode only: where no others are, times are the same.
      const bool is_short = name.find("of 1 ") != std::string::npos || name.find("of 100 ") != std::string::npos;
      if (is_short && name.find("allreduce") == 0) EXPECT_NEAR(part.time_s, exact.at(name).time_s, 1e-3 * part.time_s);
    }
    constexpr double asked_for = 0.01;
    EXPECT_NEAR(fast_s / exact_s, 1, asked_for);
    // Several at once to one host: by SMPI they would share its link in fast mode, too.
    const std::string crowded = "reduce first of 100 on halves";
    if (ranks == 8) EXPECT_LT(fast.at(crowded).time_s, 0.99 * exact.at(crowded).time_s);
  }
}

// Their algorithms wait for any of several messages: fast mode ended by signal 11. Intel MPI's MPI_Bcast of 8 bytes
// left messages for the next one: wrong values in fast mode, signal 6 in exact mode.
TEST(ProgramMessages, OfTheAlgorithmsOfOtherMpisAreThoseOfExactModeInFastMode) {
  for (const char* mpi : {"mpich", "impi", "mvapich2"}) {
    SCOPED_TRACE(mpi);
    const std::map<std::string, Part> exact = collectives_of(8, false, {}, mpi),
                                      fast = collectives_of(8, true, {}, mpi);
    EXPECT_EQ(exact.size(), 17u * 4 * 2) << mpi;
    ASSERT_EQ(fast.size(), exact.size()) << mpi;
    double exact_s = 0, fast_s = 0;
    for (const auto& [name, part] : fast) {
      EXPECT_EQ(part.wrong, 0) << mpi << ", " << name;
      exact_s += exact.at(name).time_s;
      fast_s += part.time_s;
    }
    EXPECT_NEAR(fast_s / exact_s, 1, 0.01) << mpi;
  }
}

// A message that takes nothing of the links in fast mode has the latency of its route all the same.
TEST(ProgramMessages, OfFastModeTakeLongerOverSeveralSwitches) {
  const core::FatTree tree{{4, 4}, {1, 2}, {1, 1}};
  const std::map<std::string, Part> exact = collectives_of(8, false, tree), fast = collectives_of(8, true, tree);
  const std::map<std::string, Part> flat = collectives_of(8, true);
  const std::string name = "allreduce of 1 on all";
  ASSERT_EQ(exact.count(name), 1u);
  EXPECT_NEAR(fast.at(name).time_s, exact.at(name).time_s, 1e-3 * exact.at(name).time_s);
  EXPECT_GT(fast.at(name).time_s, 1.05 * flat.at(name).time_s);
}

// SMPI looks who shares a host for MPI_Allgatherv, where something of ours waits for messages, too. It has algorithms
// that divide by the bytes of nothing.
TEST(ProgramMessages, MayBeBesideCollectiveOperationsOfUnevenParts) {
  for (const int ranks : {2, 3, 8}) {
    ProgramRunRequest request = request_of("odd-smpi", true, {"uneven"});
    request.ranks = ranks;
    request.cluster.hosts = core::Hosts::make({"n-[1-4]", 2, 1, {}, 0});
    const std::string output = run_program(request).output;
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_THAT(output, HasSubstr("rank " + std::to_string(rank) + ": wrong 0, nothing takes 0.000000")) << ranks;
  }
}

/// On hosts of one core.
ProgramRunRequest choices_of(int ranks, std::vector<std::string> arguments) {
  ProgramRunRequest request = request_of("choices-smpi", true, std::move(arguments));
  request.ranks = ranks;
  request.cluster.hosts = core::Hosts::make({"n-[1-65]", 1, 1, {}, 0});
  return request;
}

// Its "pair" needs a power of two: Alltoall and Alltoallv ended by signal 6. Gathers of 160 kB deadlocked on 3 ranks,
// and a reduction of which a rank gets nothing was wrong on 5.
TEST(ProgramMessages, OfCollectiveOperationsArriveWhereSmpiChoosesAnAlgorithmThatFails) {
  for (const bool fast : {false, true}) {
    for (const auto& [ranks, group, count] : {std::array{7, 3, 40000}, {5, 5, 150000}, {65, 65, 10}}) {
      ProgramRunRequest request = choices_of(ranks, {"choices", std::to_string(group), std::to_string(count)});
      request.fast = fast;
      EXPECT_THAT(run_program(request).output, HasSubstr("wrong 0\n")) << ranks << " ranks, fast " << fast;
    }
  }
  for (const char* mpi : {"mpich", "impi"}) {
    ProgramRunRequest request = choices_of(9, {"choices", "9", "9000"});  // blocks of 32 KiB and more
    request.collectives = mpi;
    EXPECT_THAT(run_program(request).output, HasSubstr("wrong 0\n")) << mpi;
  }
}

// Algorithms of Intel MPI and MVAPICH2 combine in another order: thousands of values were wrong.
TEST(ProgramMessages, OfReductionsAreCombinedInTheOrderOfTheRanksWhereThatCounts) {
  for (const auto& [mpi, ranks] : std::map<std::string, int>{{"ompi", 7}, {"mpich", 7}, {"impi", 4}, {"mvapich2", 7}}) {
    ProgramRunRequest request = choices_of(ranks, {"orders", ranks == 4 ? "150000" : "2500"});
    request.collectives = mpi;
    EXPECT_THAT(run_program(request).output, HasSubstr("wrong 0\n")) << mpi;
    // On one host MPI_Reduce in place ended by signal 11.
    request.cluster.hosts = core::Hosts::make({"n-1", ranks, 1, {}, 0});
    EXPECT_THAT(run_program(request).output, HasSubstr("wrong 0\n")) << mpi;
  }
}

// Fast mode waited for those of SMPI in the order of the ranks: up to 40 % too long.
TEST(ProgramMessages, OfCollectiveOperationsAreTakenAsTheyArriveInExactAndFastMode) {
  ProgramRunRequest request = choices_of(7, {"arrivals"});
  const std::map<std::string, Part> exact = parts_of(run_program(request).output);
  request.fast = true;
  const std::map<std::string, Part> fast = parts_of(run_program(request).output);
  EXPECT_EQ(exact.size(), 2u);
  ASSERT_EQ(fast.size(), exact.size());
  for (const auto& [round, part] : exact) EXPECT_NEAR(fast.at(round).time_s / part.time_s, 1, 0.01) << round;
}

// By SimGrid's Lazy the longest message of such a round is up to a fifth off.
TEST(ProgramMessages, ThatMeetShareLinksAlikeInExactAndFastMode) {
  ProgramRunRequest request = choices_of(8, {"meetings"});
  core::ScopeModel scope;
  scope.bandwidth_bytes_per_s = 1e9;
  scope.latency_s = 1e-5;
  scope.max_bytes = 1e9;
  scope.cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-5, 1e-9}});
  core::NetworkModel::Values network = request.cluster.network.values();
  network.local = scope;
  network.remote = scope;
  request.cluster.network = core::NetworkModel::make(network);
  const std::map<std::string, Part> exact = parts_of(run_program(request).output);
  request.fast = true;
  const std::map<std::string, Part> fast = parts_of(run_program(request).output);
  EXPECT_EQ(exact.size(), 60u);
  ASSERT_EQ(fast.size(), exact.size());
  // The barrier before and the reduction after a round take nothing of the links in fast mode: up to 8e-5.
  for (const auto& [round, part] : exact) EXPECT_NEAR(fast.at(round).time_s / part.time_s, 1, 2e-4) << round;
}

TEST(ProgramMessages, AreFoundByTheSecondProbeWhereProbesAreLate) {
  ProgramRunRequest request = request_of("messages-smpi", true, {"late"});
  EXPECT_THAT(run_program(request).output, HasSubstr("probes find 1, 1"));
  core::NetworkModel::Values network = request.cluster.network.values();
  network.late_probes = true;
  request.cluster.network = core::NetworkModel::make(network);
  EXPECT_THAT(run_program(request).output, HasSubstr("probes find 0, 1"));
}

TEST(ProgramMessages, OfFortranArriveAsTheyWereSent) {
  for (const bool direct : {true, false})
    EXPECT_THAT(run_program(request_of("fortran_messages-smpi", direct)).output, HasSubstr("wrong 0")) << direct;
}

// Zeros would stop factorisations.
TEST(ProgramMessages, OfSharedMemoryArriveAsOnes) {
  ProgramRunRequest request = request_of("odd-smpi", true, {"shared"});
  request.ranks = 2;
  request.share_above_bytes = 1 << 20;
  EXPECT_THAT(run_program(request).output, HasSubstr("received 1 to 1\nreceived 1 to 1\n"));
}

TEST(ProgramMessages, RefuseWhatCannotBeServed) {
  const auto message_of = [](const std::vector<std::string>& what) -> std::string {
    try {
      const std::string program = what.front() == "send" ? "choices-smpi" : "messages-smpi";
      run_program(request_of(program, true, what));
    } catch (const core::Error& error) {
      return error.what();
    }
    return "it ended well";
  };
  EXPECT_THAT(message_of({"too_long"}),
              HasSubstr("rank 1 received a message of 160 bytes with tag 5; expected at most 80"));
  EXPECT_THAT(message_of({"no_rank"}), HasSubstr("names rank 6 in a communicator of 6"));
  EXPECT_THAT(message_of({"cancel"}), HasSubstr("MPI_Cancel is not among the functions"));
  EXPECT_THAT(message_of({"send", "-1000", "3"}), HasSubstr("rank 0 sends -1000 elements with the tag 3; expected"));
  EXPECT_THAT(message_of({"send", "4", "-5"}), HasSubstr("rank 0 sends 4 elements with the tag -5; expected"));
}

}  // namespace
}  // namespace hplcast::study
