#include "smpi-models/program/program_times.hpp"

#include <gtest/gtest.h>

namespace hplcast::smpi_models {
namespace {

CollectiveWaits::Call call(Meets meets, bool is_root = false, int context = 0) {
  return {context, 3, meets, is_root};
}

TEST(CollectiveWaits, AllWaitForTheLastOne) {
  CollectiveWaits waits;
  waits.enter(0, call(Meets::all), 1);
  waits.enter(1, call(Meets::all), 4);
  waits.enter(2, call(Meets::all), 2);
  EXPECT_EQ(waits.leave(0, 5), 3);
  EXPECT_EQ(waits.leave(1, 5), 0);
  EXPECT_EQ(waits.leave(2, 3.5), 1.5) << "not longer than it was there";
}

TEST(CollectiveWaits, TheRootIsWaitedForOrWaits) {
  CollectiveWaits waits;
  for (const Meets meets : {Meets::from, Meets::to}) {
    waits.enter(0, call(meets), 1);
    waits.enter(1, call(meets, true), 2);
    EXPECT_EQ(waits.leave(0, 6), meets == Meets::from ? 1 : 0);
    waits.enter(2, call(meets), 5);
    EXPECT_EQ(waits.leave(2, 6), 0);
    EXPECT_EQ(waits.leave(1, 6), meets == Meets::from ? 0 : 3);
  }
}

TEST(CollectiveWaits, CallsOfOneCommunicatorAreInOneOrder) {
  CollectiveWaits waits;
  waits.enter(0, call(Meets::from, true), 0);  // does not wait for anybody, and comes again
  EXPECT_EQ(waits.leave(0, 1), 0);
  waits.enter(0, call(Meets::from, true), 10);
  EXPECT_EQ(waits.leave(0, 11), 0);
  waits.enter(1, call(Meets::all, false, 7), 2);  // of another communicator
  EXPECT_EQ(waits.leave(1, 3), 0);
  waits.enter(1, call(Meets::from), 4);
  EXPECT_EQ(waits.leave(1, 5), 0) << "the root had come to its first call long ago";
  waits.enter(1, call(Meets::from), 6);
  EXPECT_EQ(waits.leave(1, 12), 4);
  EXPECT_EQ(waits.leave(2, 12), 0) << "it has entered nothing";
}

}  // namespace
}  // namespace hplcast::smpi_models
