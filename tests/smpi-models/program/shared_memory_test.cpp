#include "smpi-models/program/shared_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace hplcast::smpi_models {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

TEST(SharedMemory, HoldsOnesOfWhichBeginAndEndAreItsOwn) {
  SharedMemory memory(256 * kib);
  for (const std::size_t bytes : {256 * kib, mib - 8, mib, mib + 8, 5 * mib + 64 * kib + 8}) {
    auto* const one = static_cast<char*>(memory.allocate(bytes));
    auto* const other = static_cast<char*>(memory.allocate(bytes));
    ASSERT_NE(one, nullptr) << bytes;
    ASSERT_NE(other, nullptr) << bytes;
    EXPECT_GE(memory.size_of(one), bytes);
    for (std::size_t at = 0; at + sizeof(double) <= bytes; at += sizeof(double)) {
      double& number = *reinterpret_cast<double*>(one + at);
      ASSERT_EQ(number, 1) << at << " of " << bytes;
      number = 2;
      const bool is_shared = memory.shares(one + at);
      ASSERT_EQ(*reinterpret_cast<double*>(other + at), is_shared ? 2 : 1) << at << " of " << bytes;
      number = 1;
      if (at < 64 * kib || at + 64 * kib >= bytes) {
        ASSERT_FALSE(is_shared) << at << " of " << bytes;
      }
    }
    memory.release(one);
    memory.release(other);
  }
}

TEST(SharedMemory, ServesAgainForALittleLess) {
  SharedMemory memory(256 * kib);
  void* const panel = memory.allocate(mib);
  memory.release(panel);
  EXPECT_EQ(memory.size_of(panel), 0U);
  EXPECT_EQ(memory.allocate(mib - 63 * kib), panel);
  void* const narrower = memory.allocate(mib - 65 * kib);
  EXPECT_NE(narrower, panel);
  memory.release(panel);
  memory.release(narrower);
}

// Panels of the steps before, which nothing asks for again, do not keep those of today from being kept.
TEST(SharedMemory, KeepsWhatWasReleasedLast) {
  SharedMemory memory(256 * kib);
  std::vector<void*> wide;
  for (int i = 0; i < 300; ++i) wide.push_back(memory.allocate(mib));
  for (void* const one : wide) memory.release(one);
  void* const narrow = memory.allocate(512 * kib);
  memory.release(narrow);
  EXPECT_EQ(memory.allocate(512 * kib), narrow);
  memory.release(narrow);
}

TEST(SharedMemory, SharesNothingBelowTheLeastSize) {
  SharedMemory memory(mib);
  EXPECT_EQ(memory.allocate(mib - 1), nullptr);
  EXPECT_EQ(SharedMemory(0).allocate(mib), nullptr);
}

}  // namespace
}  // namespace hplcast::smpi_models
