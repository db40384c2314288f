// Kernels as their launches tell them: names, parameters, values of arguments.
#include "accelerators/launch/kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "hip/hip_runtime.h"

extern "C" void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*,
                                      int*);

namespace hplcast::accelerators {
namespace {

void scale(int n, const double* x, double factor, std::uint64_t stride) {
  (void)n, (void)x, (void)factor, (void)stride;
}

TEST(Kernels, OfAPlainCompilerHaveTheirNameAndParameters) {
  hplcastNameKernel(reinterpret_cast<const void*>(scale), "scale", hplcast_accelerator::type_of(scale));
  const Kernel* const kernel = find_kernel(reinterpret_cast<const void*>(scale));
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->name, "scale");
  EXPECT_EQ(kernel->parameters, "ipdm");
}

TEST(Kernels, OfACompilerOfHipAreDemangled) {
  static const char handles[4] = {};
  const auto named = [&](int i, const char* mangled) {
    __hipRegisterFunction(nullptr, &handles[i], nullptr, mangled, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
    return *find_kernel(&handles[i]);
  };
  // pack(int, double const*, long)
  EXPECT_EQ(named(0, "_Z4packiPKdl").name, "pack");
  EXPECT_EQ(named(0, "_Z4packiPKdl").parameters, "ipl");
  // void inner::pack<1024>(int, unsigned int)
  EXPECT_EQ(named(1, "_ZN5inner4packILi1024EEEvij").name, "pack");
  EXPECT_EQ(named(1, "_ZN5inner4packILi1024EEEvij").parameters, "iu");
  // (anonymous namespace)::pack(pair<int, int>, float)
  EXPECT_EQ(named(2, "_ZN12_GLOBAL__N_14packESt4pairIiiEf").name, "pack");
  EXPECT_EQ(named(2, "_ZN12_GLOBAL__N_14packESt4pairIiiEf").parameters, "?f");
  EXPECT_EQ(named(3, "_Z5emptyv").parameters, "");
}

TEST(Kernels, TellNumbersAndPointersAmongTheirArguments) {
  hplcastNameKernel(reinterpret_cast<const void*>(scale), "scale", hplcast_accelerator::type_of(scale));
  const Kernel& kernel = *find_kernel(reinterpret_cast<const void*>(scale));
  int n = 1000;
  const double* x = reinterpret_cast<const double*>(0x1000);
  double factor = 0.5;
  std::uint64_t stride = std::uint64_t{1} << 40;
  void* arguments[] = {&n, &x, &factor, &stride};
  EXPECT_EQ(number_of(kernel, 0, arguments), 1000);
  EXPECT_EQ(number_of(kernel, 2, arguments), 0.5);
  EXPECT_EQ(number_of(kernel, 3, arguments), 1099511627776.0);
  EXPECT_EQ(pointer_of(kernel, 1, arguments), x);
  EXPECT_THROW(number_of(kernel, 1, arguments), std::invalid_argument);
  EXPECT_THROW(pointer_of(kernel, 0, arguments), std::invalid_argument);
  try {
    number_of(kernel, 4, arguments);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "kernel scale has no argument 4; it has 4, counted from 0");
  }
}

double scaled = 0;
void scale_on_host(int n, const double* x, double factor, std::uint64_t stride) {
  (void)x, (void)stride;
  scaled = n * factor;
}
HPLCAST_HOST_KERNEL(scale, scale_on_host);

TEST(Kernels, AreExecutedByTheirFunctionOfTheHost) {
  const Kernel& kernel = *find_kernel(reinterpret_cast<const void*>(scale));
  int n = 10;
  const double* x = nullptr;
  double factor = 3;
  std::uint64_t stride = 1;
  void* arguments[] = {&n, &x, &factor, &stride};
  kernel.invoke(kernel.function, arguments);
  EXPECT_EQ(scaled, 30);
}

TEST(Kernels, HaveNoLaunchesOfImpossibleShapes) {
  EXPECT_EQ(launch_problem(dim3(10, 2), dim3(32, 32), 1 << 16), "");
  EXPECT_THAT(launch_problem(dim3(0), dim3(64), 0), testing::HasSubstr("a grid of 0 x 1 x 1 blocks"));
  EXPECT_EQ(launch_problem(dim3(1), dim3(64, 32), 0), "a block of 64 x 32 x 1 threads; expected at most 1024");
  // The product of these is 2^64.
  EXPECT_THAT(launch_problem(dim3(1), dim3(1 << 22, 1 << 21, 1 << 21), 0), testing::HasSubstr("expected at most 1024"));
  EXPECT_THAT(launch_problem(dim3(static_cast<unsigned>(-1)), dim3(64), 0),
              testing::HasSubstr("a grid of 4294967295 x 1 x 1 blocks; expected at most 2147483647"));
  EXPECT_EQ(launch_problem(dim3(1), dim3(64), 65537), "65537 bytes of shared memory; expected at most 65536");
}

}  // namespace
}  // namespace hplcast::accelerators
