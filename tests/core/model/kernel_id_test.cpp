#include "hplcast/core/kernel_shape.hpp"

#include <gtest/gtest.h>

namespace hplcast::core {
namespace {

TEST(KernelId, GoesToItsNameAndBack) {
  EXPECT_STREQ(to_string(KernelId::dgemm), "dgemm");
  EXPECT_STREQ(to_string(KernelId::dlocswpT), "dlocswpT");
  for (const char* name : kernel_names) {
    ASSERT_TRUE(kernel_from_name(name)) << name;
    EXPECT_STREQ(to_string(*kernel_from_name(name)), name);
  }
  EXPECT_FALSE(kernel_from_name("zgemm"));
}

TEST(KernelSizes, AreThoseThatTheKernelHas) {
  const auto sizes = [](KernelId id) { return kernel_sizes[static_cast<std::size_t>(id)]; };
  EXPECT_EQ(sizes(KernelId::dtrsm), "mnk");
  EXPECT_EQ(sizes(KernelId::dlaswp10N), "mn");
  EXPECT_EQ(sizes(KernelId::idamax), "n");
}

TEST(KernelFlop, CountsMultiplicationsAndAdditions) {
  EXPECT_EQ(kernel_flop(KernelId::dgemm, {3, 4, 5}), 120);
  EXPECT_EQ(kernel_flop(KernelId::dtrsm, {3, 4, 3}), 36);
  EXPECT_EQ(kernel_flop(KernelId::dgemv, {3, 4, 1}), 24);
  EXPECT_EQ(kernel_flop(KernelId::dtrsv, {1, 4, 1}), 16);
  EXPECT_EQ(kernel_flop(KernelId::daxpy, {1, 4, 1}), 8);
  EXPECT_EQ(kernel_flop(KernelId::dscal, {1, 4, 1}), 4);
  EXPECT_EQ(kernel_flop(KernelId::dlacpy, {3, 4, 1}), 0);
}

}  // namespace
}  // namespace hplcast::core
