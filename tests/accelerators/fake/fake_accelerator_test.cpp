// HIP and rocBLAS on threads of the CPU: order, contents and what is refused, as HIP's manual has them.
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> open_gate{0};

__global__ void add(int count, double* to, double value) {
  if (threadIdx.x == 0 && count > 0) to[0] += value;
}
void add_on_host(int count, double* to, double value) {
  for (int i = 0; i < count; ++i) to[i] += value;
}
HPLCAST_HOST_KERNEL(add, add_on_host);

/// Takes until the test opens the gate.
__global__ void hold(int) {}
void hold_on_host(int gate) {
  while (open_gate < gate) std::this_thread::yield();
}
HPLCAST_HOST_KERNEL(hold, hold_on_host);

int policy_of_stream = -1;
__global__ void tell_policy(int) {}
void tell_policy_on_host(int) {
  policy_of_stream = sched_getscheduler(0);
}
HPLCAST_HOST_KERNEL(tell_policy, tell_policy_on_host);

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
/// Takes `s` seconds.
__global__ void last(double) {}
void last_on_host(double s) {
  const double end_s = seconds(CLOCK_MONOTONIC) + s;
  while (seconds(CLOCK_MONOTONIC) < end_s) {
  }
}
HPLCAST_HOST_KERNEL(last, last_on_host);

__global__ void orphan(int) {}

double* on_device(std::size_t count) {
  double* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, count * sizeof(double)), hipSuccess);
  return memory;
}

class FakeAccelerator : public testing::Test {
 protected:
  void SetUp() override {
    open_gate = 0;
    ASSERT_EQ(hipStreamCreate(&first_), hipSuccess);
    ASSERT_EQ(hipStreamCreate(&second_), hipSuccess);
    ASSERT_EQ(hipEventCreate(&event_), hipSuccess);
    number_ = on_device(1);
    ASSERT_EQ(hipMemset(number_, 0, sizeof(double)), hipSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(hipFree(number_), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(first_), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(second_), hipSuccess);
    EXPECT_EQ(hipEventDestroy(event_), hipSuccess);
    (void)hipGetLastError();
  }
  void hold_in(hipStream_t stream) { hipLaunchKernelGGL(hold, dim3(1), dim3(1), 0, stream, 1); }
  void add_in(hipStream_t stream, double value) {
    hipLaunchKernelGGL(add, dim3(1), dim3(1), 0, stream, 1, number_, value);
  }

  hipStream_t first_ = nullptr, second_ = nullptr;
  hipEvent_t event_ = nullptr;
  double* number_ = nullptr;
};

TEST_F(FakeAccelerator, AStreamDoesItsWorkInOrderAndTheHostDoesNotWait) {
  hold_in(first_);
  add_in(first_, 3);
  EXPECT_EQ(hipStreamQuery(first_), hipErrorNotReady);
  EXPECT_EQ(*number_, 0);
  open_gate = 1;
  EXPECT_EQ(hipStreamSynchronize(first_), hipSuccess);
  EXPECT_EQ(*number_, 3);
  EXPECT_EQ(hipStreamQuery(first_), hipSuccess);
}

TEST_F(FakeAccelerator, StreamsRunSideBySideAndWaitForEventsAsTheyWereRecorded) {
  hold_in(first_);
  EXPECT_EQ(hipEventRecord(event_, first_), hipSuccess);
  add_in(second_, 1);
  EXPECT_EQ(hipStreamSynchronize(second_), hipSuccess);  // not held up
  EXPECT_EQ(hipStreamWaitEvent(second_, event_), hipSuccess);
  add_in(second_, 1);
  EXPECT_EQ(hipEventQuery(event_), hipErrorNotReady);
  EXPECT_EQ(*number_, 1);
  open_gate = 1;
  EXPECT_EQ(hipEventSynchronize(event_), hipSuccess);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(*number_, 2);
}

TEST_F(FakeAccelerator, TheNullStreamWaitsForTheOthersAndTheyForIt) {
  hold_in(first_);
  add_in(nullptr, 1);
  add_in(second_, 1);
  hipStream_t aside = nullptr;
  EXPECT_EQ(hipStreamCreateWithFlags(&aside, hipStreamNonBlocking), hipSuccess);
  double* other = on_device(1);
  *other = 0;
  hipLaunchKernelGGL(add, dim3(1), dim3(1), 0, aside, 1, other, 5.0);
  EXPECT_EQ(hipStreamSynchronize(aside), hipSuccess);
  EXPECT_EQ(*other, 5);
  EXPECT_EQ(hipStreamQuery(second_), hipErrorNotReady);
  EXPECT_EQ(*number_, 0);
  open_gate = 1;
  EXPECT_EQ(hipStreamSynchronize(second_), hipSuccess);
  EXPECT_EQ(*number_, 2);
  EXPECT_EQ(hipFree(other), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(aside), hipSuccess);
}

TEST_F(FakeAccelerator, ArgumentsAndScalarsAreThoseOfTheTimeOfTheCall) {
  rocblas_handle handle = nullptr;
  ASSERT_EQ(rocblas_create_handle(&handle), rocblas_status_success);
  ASSERT_EQ(rocblas_set_stream(handle, first_), rocblas_status_success);
  double value = 2;
  hold_in(first_);
  add_in(first_, value);
  EXPECT_EQ(rocblas_dscal(handle, 1, &value, number_, 1), rocblas_status_success);
  value = 100;
  open_gate = 1;
  double sum = 0;
  EXPECT_EQ(rocblas_dasum(handle, 1, number_, 1, &sum), rocblas_status_success);  // waits
  EXPECT_EQ(sum, 4);
  rocblas_int place = 0;
  EXPECT_EQ(rocblas_idamax(handle, 1, number_, 1, &place), rocblas_status_success);
  EXPECT_EQ(place, 1);
  EXPECT_EQ(rocblas_dscal(handle, 1, &value, number_, 1), rocblas_status_success);
  EXPECT_EQ(rocblas_dgemm(handle, rocblas_operation_none, rocblas_operation_none, 4, 1, 1, &value, number_, 3, number_,
                          1, &value, number_, 4),
            rocblas_status_invalid_size);
  EXPECT_EQ(rocblas_destroy_handle(handle), rocblas_status_success);
}

TEST_F(FakeAccelerator, CopiesHaveDirectionsAndThoseOfMemoryThatIsNotPinnedWait) {
  double pageable = 7, *pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, sizeof(double)), hipSuccess);
  *pinned = 9;
  EXPECT_EQ(hipMemcpyAsync(number_, &pageable, sizeof pageable, hipMemcpyHostToDevice, first_), hipSuccess);
  EXPECT_EQ(*number_, 7);
  hold_in(first_);
  EXPECT_EQ(hipMemcpyAsync(number_, pinned, sizeof pageable, hipMemcpyHostToDevice, first_), hipSuccess);
  EXPECT_EQ(*number_, 7);
  open_gate = 1;
  EXPECT_EQ(hipMemcpy(&pageable, number_, sizeof pageable, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(pageable, 9);
  EXPECT_EQ(hipMemcpy(&pageable, number_, sizeof pageable, hipMemcpyHostToDevice), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);

  // Two columns of three, of which two rows are copied.
  double *matrix = on_device(6), *rows = on_device(4);
  for (int i = 0; i < 6; ++i) matrix[i] = i;
  EXPECT_EQ(hipMemcpy2D(rows, 16, matrix, 24, 16, 2, hipMemcpyDeviceToDevice), hipSuccess);
  EXPECT_EQ(std::vector<double>(rows, rows + 4), (std::vector<double>{0, 1, 3, 4}));
  EXPECT_EQ(hipMemcpy2D(rows, 2, matrix, 24, 16, 2, hipMemcpyDeviceToDevice), hipErrorInvalidValue) << "not bytes";
  EXPECT_EQ(hipFree(matrix), hipSuccess);
  EXPECT_EQ(hipFree(rows), hipSuccess);
}

TEST_F(FakeAccelerator, WhatNoAcceleratorDoesIsRefused) {
  double* memory = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(hipMalloc(&memory, std::size_t{1} << 50), hipErrorOutOfMemory);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(hipGetLastError(), hipErrorOutOfMemory);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(hipFree(&memory), hipErrorInvalidValue);
  double* twice = on_device(1);
  EXPECT_EQ(hipFree(twice), hipSuccess);
  EXPECT_EQ(hipFree(twice), hipErrorInvalidValue);
  hipLaunchKernelGGL(orphan, dim3(1), dim3(1), 0, first_, 1);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDeviceFunction);
  EXPECT_STREQ(hipGetErrorName(hipErrorCooperativeLaunchTooLarge), "hipErrorCooperativeLaunchTooLarge");
  hipLaunchKernelGGL(add, dim3(1), dim3(2048), 0, first_, 1, number_, 1.0);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  hipLaunchKernelGGL(add, dim3(0), dim3(1), 0, first_, 1, number_, 1.0);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipStreamSynchronize(reinterpret_cast<hipStream_t>(12345)), hipErrorInvalidHandle);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
  const std::string said = testing::internal::GetCapturedStderr();
  for (const char* part : {"does not fit", "of 17.18 GB", "freed twice", "orphan", "HPLCAST_HOST_KERNEL", "2048"})
    EXPECT_NE(said.find(part), std::string::npos) << part << " is not in: " << said;
}

TEST_F(FakeAccelerator, StreamsTakeTheOneCoreOfARankOnlyWhereItLeavesIt) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  const auto policy = [] {
    hipStream_t stream = nullptr;
    EXPECT_EQ(hipStreamCreate(&stream), hipSuccess);
    hipLaunchKernelGGL(tell_policy, dim3(1), dim3(1), 0, stream, 0);
    EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
    return policy_of_stream;
  };
  if (CPU_COUNT(&all) > 1) {
    EXPECT_EQ(policy(), SCHED_OTHER) << "it has other cores";
  }
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(policy(), SCHED_IDLE);
  EXPECT_NE(sched_getscheduler(0), SCHED_IDLE);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(FakeCalls, DurationsAreThoseOfTheWorkWithoutWhatItTakesToTimeIt) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a program of its own, whose end writes the calls
  const std::filesystem::path folder = HPLCAST_BINARY_DIR "/tests/fake-durations";
  constexpr double work_s = 3e-6, none_s = 0;
  constexpr int calls = 500;
  std::filesystem::create_directories(folder);
  ASSERT_EQ(setenv("HPLCAST_FAKE_CALLS", (folder / "calls").c_str(), 1), 0);
  const auto program = [&] {
    for (int i = 0; i < calls; ++i)
      for (const double s : {work_s, none_s}) hipLaunchKernelGGL(last, dim3(1), dim3(1), 0, nullptr, s);
    std::exit(hipDeviceSynchronize());
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  unsetenv("HPLCAST_FAKE_CALLS");
  // The least of many calls: what else the machine does only adds. The clock of a thread costs a system call.
  double clock_s = 1, least_s[2] = {1, 1};
  for (int i = 0; i < calls; ++i) {
    const double begin_s = seconds(CLOCK_MONOTONIC);
    seconds(CLOCK_THREAD_CPUTIME_ID);
    clock_s = std::min(clock_s, seconds(CLOCK_MONOTONIC) - begin_s);
  }
  int rows = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path());
    std::string line;
    for (std::getline(in, line); std::getline(in, line); ++rows) {
      double duration_s = 0, core_s = 0;
      ASSERT_EQ(std::sscanf(line.c_str(), "last,%*d,%*d,%*d,%lf,%*f,%lf", &duration_s, &core_s), 2) << line;
      least_s[rows % 2] = std::min(least_s[rows % 2], duration_s);
      EXPECT_LE(core_s, duration_s);
    }
  }
  std::filesystem::remove_all(folder);
  ASSERT_EQ(rows, 2 * calls);
  EXPECT_GE(least_s[0], work_s);
  EXPECT_LT(least_s[0], work_s + clock_s);
  EXPECT_LT(least_s[1], clock_s);
}

TEST_F(FakeAccelerator, EventsTellTheTimeBetweenThem) {
  hipEvent_t end = nullptr;
  ASSERT_EQ(hipEventCreate(&end), hipSuccess);
  float milliseconds = 0;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event_, end), hipErrorInvalidHandle);  // not recorded
  EXPECT_EQ(hipEventRecord(event_, first_), hipSuccess);
  hold_in(first_);
  EXPECT_EQ(hipEventRecord(end, first_), hipSuccess);
  EXPECT_EQ(hipEventSynchronize(event_), hipSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  open_gate = 1;
  EXPECT_EQ(hipEventSynchronize(end), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event_, end), hipSuccess);
  EXPECT_GE(milliseconds, 20);
  EXPECT_EQ(hipEventDestroy(end), hipSuccess);
}

}  // namespace
