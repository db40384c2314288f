#include "smpi-models/observe/activity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hplcast/core/files.hpp"
#include "smpi-models/observe/statistics.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::smpi_models {
namespace {

/// A message from rank 0 to rank 1, as each of them has it.
MpiCall to_1(hplcast_mpi operation) {
  return {operation, 1, 5, 100, nullptr};
}
MpiCall from_0(hplcast_mpi operation) {
  return {operation, 0, 5, 100, nullptr};
}

core::ObservationSettings with_phases() {
  core::ObservationSettings settings;
  settings.phases = true;
  return settings;
}

/// Two ranks on two hosts.
class TwoRanks : public ::testing::Test {
 protected:
  explicit TwoRanks(core::ObservationSettings settings = with_phases()) : activity(std::move(settings)) {
    activity.add_rank(0, "left");
    activity.add_rank(1, "right");
  }
  void call(int rank, hplcast_mpi operation, double begin_s, double end_s) {
    activity.call_begin(rank, rank == 0 ? to_1(operation) : from_0(operation), begin_s);
    activity.call_end(rank, nullptr, true, end_s);
  }
  PhaseTime time(hplcast_phase phase, std::size_t rank) const { return activity.phase_times()[phase].ranks[rank]; }

  Activity activity;
};

TEST_F(TwoRanks, TimeCountsForTheInnermostPhase) {
  activity.phase_begin(0, HPLCAST_PHASE_UPDATE, 1);
  activity.phase_begin(0, HPLCAST_PHASE_SWAP, 3);
  activity.kernel(0, core::KernelId::dlaswp01T, {1, 1, 1}, {3, 3.5});
  activity.phase_end(0, 4);
  activity.phase_end(0, 10);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_UPDATE, 0).elapsed_s, 8);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_SWAP, 0).elapsed_s, 1);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_SWAP, 0).kernels_s, 0.5);
  EXPECT_EQ(time(HPLCAST_PHASE_SWAP, 1).elapsed_s, 0);
}

TEST_F(TwoRanks, AReceiverWaitsUntilTheSenderComes) {
  activity.phase_begin(1, HPLCAST_PHASE_SWAP, 0);
  activity.call_begin(1, from_0(HPLCAST_MPI_RECV), 1);
  call(0, HPLCAST_MPI_SEND, 3, 3.25);
  activity.call_end(1, nullptr, true, 3.5);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_SWAP, 1).waiting_s, 2);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_SWAP, 1).messages_s, 0.5);
}

TEST_F(TwoRanks, ASenderWaitsUntilTheReceiverComes) {
  activity.phase_begin(0, HPLCAST_PHASE_BROADCAST, 0);
  activity.call_begin(0, to_1(HPLCAST_MPI_SSEND), 1);
  activity.call_begin(1, from_0(HPLCAST_MPI_RECV), 4);
  activity.call_end(0, nullptr, true, 5);
  activity.call_end(1, nullptr, true, 5);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_BROADCAST, 0).waiting_s, 3);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_BROADCAST, 0).messages_s, 1);
}

TEST_F(TwoRanks, MessagesOfAChannelAreMatchedInOrder) {
  activity.phase_begin(1, HPLCAST_PHASE_SWAP, 0);
  call(0, HPLCAST_MPI_SEND, 1, 1.5);
  call(0, HPLCAST_MPI_SEND, 8, 8.5);
  call(1, HPLCAST_MPI_RECV, 2, 3);  // the first: it was there
  call(1, HPLCAST_MPI_RECV, 7, 9);  // the second: sent 1 s later
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_SWAP, 1).waiting_s, 1);
}

TEST_F(TwoRanks, AWaitIsForTheMessageOfItsRequest) {
  const int request = 0;
  activity.phase_begin(1, HPLCAST_PHASE_SWAP, 0);
  activity.call_begin(1, from_0(HPLCAST_MPI_IRECV), 1);
  activity.call_end(1, &request, true, 1);
  activity.call_begin(1, {HPLCAST_MPI_WAIT, -1, 0, 0, &request}, 2);
  const auto blocked = activity.blocked();
  ASSERT_EQ(blocked.size(), 1U);
  EXPECT_EQ(blocked[0].operation, "wait");
  EXPECT_EQ(blocked[0].source, 0);
  EXPECT_EQ(blocked[0].phase, "swap");
  EXPECT_EQ(blocked[0].since_s, 2);
  call(0, HPLCAST_MPI_SEND, 4, 4.5);
  activity.call_end(1, nullptr, true, 5);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_SWAP, 1).waiting_s, 2);
  EXPECT_TRUE(activity.blocked().empty());
}

TEST_F(TwoRanks, ProbesThatFindNothingAreWaiting) {
  activity.phase_begin(1, HPLCAST_PHASE_BROADCAST, 0);
  activity.call_begin(1, from_0(HPLCAST_MPI_IPROBE), 1);
  activity.call_end(1, nullptr, false, 2);
  // This one sleeps until there is something to find.
  activity.call_begin(1, from_0(HPLCAST_MPI_IPROBE), 2);
  call(0, HPLCAST_MPI_SEND, 5, 5.25);
  activity.call_end(1, nullptr, true, 5.5);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_BROADCAST, 1).waiting_s, 4);
  EXPECT_DOUBLE_EQ(time(HPLCAST_PHASE_BROADCAST, 1).messages_s, 0.5);
}

/// A trace of rank 0 alone.
class Traced : public TwoRanks {
 protected:
  Traced() : TwoRanks(settings()) {}
  static core::ObservationSettings settings() {
    core::ObservationSettings result;
    result.trace = HPLCAST_BINARY_DIR "/tests/activity.trace.json";
    result.trace_ranks = core::IndexRange{0, 0};
    return result;
  }
  /// The events that are no names of ranks.
  std::vector<nlohmann::json> events() {
    activity.finish();
    std::vector<nlohmann::json> result;
    core::read_file(settings().trace, [&](std::istream& in, const std::string&) {
      const auto trace = nlohmann::json::parse(in);
      for (const auto& event : trace.at("traceEvents")) {
        if (event.at("ph") == "X") result.push_back(event);
      }
    });
    return result;
  }
};

TEST_F(Traced, KernelsThatFollowEachOtherToRoundingAreAllThere) {
  activity.phase_begin(0, HPLCAST_PHASE_FACTORISATION, 0);
  for (int i = 0; i < 3; ++i) {
    const double begin_s = i * 0.1 - i * 1e-17;  // before the end of the last one, by its rounding
    activity.kernel(0, core::KernelId::dgemv, {1, 1, 1}, {begin_s, begin_s + 0.1 + 1e-16});
  }
  activity.phase_end(0, 1);
  EXPECT_EQ(events().size(), 4U);
}

TEST_F(Traced, EventsHaveMicrosecondsAndSizes) {
  activity.phase_begin(0, HPLCAST_PHASE_UPDATE, 1);
  activity.kernel(0, core::KernelId::dgemm, {10, 20, 30}, {1, 3});
  activity.kernel(1, core::KernelId::dgemm, {10, 20, 30}, {1, 3});
  call(0, HPLCAST_MPI_SEND, 3, 3.5);
  activity.phase_end(0, 4);
  const auto all = events();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].at("name"), "dgemm");
  EXPECT_EQ(all[0].at("ts"), 1e6);
  EXPECT_EQ(all[0].at("dur"), 2e6);
  EXPECT_EQ(all[0].at("args").at("k"), 30);
  EXPECT_EQ(all[1].at("args").at("peer"), 1);
  EXPECT_EQ(all[2].at("name"), "update");
}

TEST_F(Traced, KernelsThatAreGatheredForLaterAreLeftOut) {
  activity.phase_begin(0, HPLCAST_PHASE_FACTORISATION, 1);
  activity.kernel(0, core::KernelId::dgemv, {1, 1, 1}, {1, 2});
  activity.kernel(0, core::KernelId::dgemv, {1, 1, 1}, {1, 1.5});  // the clock stood still: its time is not known
  activity.kernel(0, core::KernelId::dgemv, {1, 1, 1}, {3, 4});
  activity.phase_end(0, 5);
  activity.kernel(0, core::KernelId::dgemm, {1, 1, 1}, {5, 6});
  const auto all = events();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].at("name"), "factorisation");
  EXPECT_EQ(all[2].at("name"), "dgemm");
}

TEST_F(Traced, APollingLoopIsOneEvent) {
  for (int i = 0; i < 5; ++i) {
    activity.call_begin(0, {HPLCAST_MPI_IPROBE, 1, 9, 0, nullptr}, i);
    activity.call_end(0, nullptr, i == 4, i + 1);
  }
  const auto all = events();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("dur"), 5e6);
  EXPECT_EQ(all[0].at("args").at("peer"), 1);
}

TEST(Activity, DetoursAreNeitherWorkNorMessagesNorWaiting) {
  core::ObservationSettings settings;
  settings.phases = true;
  Activity activity(settings);
  for (const int rank : {0, 1}) activity.add_rank(rank, "host");
  // Rank 1 works 2 s with a detour of 1 s in it; then it wants a message at 3 s, which is sent at 5 s and arrives at
  // 6 s in a detour that ends at 7 s.
  activity.phase_begin(1, HPLCAST_PHASE_UPDATE, 0);
  activity.kernel(1, core::KernelId::dgemm, {1, 1, 1}, {0, 3}, 1);
  activity.call_begin(1, {HPLCAST_MPI_RECV, 0, 7, 8, nullptr}, {3, 1});
  activity.call_begin(0, {HPLCAST_MPI_SEND, 1, 7, 8, nullptr}, 5);
  activity.call_end(0, nullptr, false, 5);
  activity.call_end(1, nullptr, false, {7, 2});
  activity.phase_end(1, {7, 2});
  const PhaseTime time = activity.phase_times()[HPLCAST_PHASE_UPDATE].ranks[1];
  EXPECT_EQ(time.elapsed_s, 7);
  EXPECT_EQ(time.kernels_s, 2);
  EXPECT_EQ(time.waiting_s, 2);
  EXPECT_EQ(time.messages_s, 1);
  EXPECT_EQ(time.detours_s, 2);
}

TEST(ProgressFile, HoldsTheLatestFraction) {
  const core::TemporaryFolder folder("hplcast-test");
  const auto path = folder.path() / "progress";
  ProgressFile file(path.string());
  file.update(0.25, 1.5);
  file.update(0.5, 3);  // too soon after the first
  const std::optional<core::SimulationProgress> progress = core::read_progress(path);
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->fraction, 0.25);
  EXPECT_EQ(progress->simulated_s, 1.5);
}

}  // namespace
}  // namespace hplcast::smpi_models
