#include "smpi-models/program/program_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hplcast::smpi_models {
namespace {

using Part = ProgramTimes::Part;

class TimesOfTwoRanks : public ::testing::Test {
 protected:
  TimesOfTwoRanks() {
    for (const int rank : {0, 1}) {
      activity_.add_rank(rank, "host");
      times_.add_rank();
    }
  }
  static core::ObservationSettings with_phases() {
    core::ObservationSettings settings;
    settings.phases = true;
    return settings;
  }
  PhaseTime of(const std::string& name, std::size_t rank, double end_s) const {
    for (const NamedTimes& part : times_.until(end_s))
      if (part.name == name) return part.ranks[rank];
    return {};
  }

  Activity activity_{with_phases()};
  ProgramTimes times_{activity_};
};

TEST_F(TimesOfTwoRanks, BelongToWhatEndedThem) {
  times_.code(0, Part::routine, "dgemm", {1, 1, 1}, 1, 3);
  times_.enter(0, "MPI_Recv", 3);
  times_.leave(0, 4, 8);
  times_.code(0, Part::region, "loop", {}, 8, 9);
  times_.code(1, Part::rest, "the rest", {}, 0, 10);
  EXPECT_EQ(of("other", 0, 10).elapsed_s, 1) << "before its first call";
  EXPECT_EQ(of("dgemm", 0, 10).kernels_s, 2);
  EXPECT_EQ(of("MPI_Recv", 0, 10).elapsed_s, 5);
  EXPECT_EQ(of("MPI_Recv", 0, 10).waiting_s, 4);
  EXPECT_EQ(of("MPI_Recv", 0, 10).messages_s, 1);
  EXPECT_EQ(of("region loop", 0, 10).elapsed_s, 1);
  EXPECT_EQ(of("ended", 0, 10).waiting_s, 1) << "until the last rank ends";
  EXPECT_EQ(of("the rest", 1, 10).elapsed_s, 10);
}

TEST_F(TimesOfTwoRanks, KeepDetoursApart) {
  times_.code(0, Part::routine, "dgemm", {1, 1, 1}, {0, 0}, {3, 1});
  times_.enter(0, "MPI_Send", {3, 1});
  times_.leave(0, 0, {4, 1.25});
  EXPECT_EQ(of("dgemm", 0, 4).elapsed_s, 3);
  EXPECT_EQ(of("dgemm", 0, 4).kernels_s, 2);
  EXPECT_EQ(of("dgemm", 0, 4).detours_s, 1);
  EXPECT_EQ(of("MPI_Send", 0, 4).messages_s, 0.75);
}

TEST_F(TimesOfTwoRanks, ARoutineInsideOfAnMpiCallIsNotTheCall) {
  times_.enter(0, "MPI_Reduce", 0);
  times_.code(0, Part::routine, "daxpy", {1, 1, 1}, 2, 3);
  times_.leave(0, 0, 4);
  EXPECT_EQ(of("daxpy", 0, 4).elapsed_s, 1) << "an operation of the program";
  EXPECT_EQ(of("MPI_Reduce", 0, 4).elapsed_s, 3);
}

TEST(ProgramPanels, RanksBeginAWindowAsFarApartAsTheyWereInTheOneBefore) {
  ProgramPanels panels("4:8");
  const std::size_t ranks = 3;
  for (std::size_t rank = 0; rank < ranks; ++rank) panels.add_rank();
  constexpr long all = 300, round = 4;
  std::vector<long> next(ranks);
  int windows = 0;
  long before = -1;
  for (double now_s = 0; next[0] < all; ++now_s) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double apart_s = 0.1 * static_cast<double>(rank);
      const auto [panel, wait_s] = panels.come(rank, next[rank], all, round, now_s + apart_s);
      const bool is_second = before != -1 && next[rank] == before + 1;
      EXPECT_NEAR(wait_s, is_second ? apart_s : 0, 1e-12) << panel << " of rank " << rank;
      if (rank + 1 == ranks) before = panel != next[rank] ? panel : -1;
      windows += rank == 0 && panel != next[rank] ? 1 : 0;
      next[rank] = panel + 1;
    }
  }
  EXPECT_GT(windows, 3);
}

}  // namespace
}  // namespace hplcast::smpi_models
