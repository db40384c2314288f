// HIP for a simulated rank: what the functions of hip_runtime_api.h do with its Device.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "accelerators/simulated/device.hpp"
#include "hip/hip_runtime_api.h"

using hplcast::accelerators::device;
using hplcast::accelerators::Device;
using hplcast::accelerators::InFunction;
using hplcast::accelerators::stop;

namespace {

hipError_t last_error = hipSuccess;

hipError_t noted(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

/// A function of HIP that always succeeds, or ends the simulation. Static objects of the program call it too late.
template <typename Body>
hipError_t in(const char* function, const Body& body) {
  if (hplcast_is_in_rank() == 0) return hipErrorDeinitialized;
  const InFunction here(function);
  body();
  return hipSuccess;
}

bool is_device(int number) {
  return number >= 0 && number < device().costs().per_host;
}

int chosen_device = 0;

}  // namespace

extern "C" {

#ifdef __x86_64__
/// The entry of the program, which is a library for SMPI (hplcast-hipcc names it to the linker): where it is started by
/// itself, nothing is there yet but the system's calls.
[[noreturn]] void hplcast_started_by_itself() {
  static constexpr char text[] =
      "hplcast: this program was compiled for simulation, and runs on no accelerator; expected `hplcast run PROGRAM "
      "--cluster cluster.json`\n";
  long call = 1;  // write
  asm volatile("syscall" : "+a"(call) : "D"(2L), "S"(text), "d"(sizeof text - 1) : "rcx", "r11", "memory");
  for (;;) {
    call = 60;  // exit
    asm volatile("syscall" : "+a"(call) : "D"(2L) : "rcx", "r11", "memory");
  }
}
#endif

// --- devices ---------------------------------------------------------------------------------------------------------

hipError_t hipInit(unsigned) {
  return in("hipInit", [] { device(); });
}

hipError_t hipGetDeviceCount(int* count) {
  return in("hipGetDeviceCount", [&] { *count = device().costs().per_host; });
}

hipError_t hipSetDevice(int number) {
  const InFunction here("hipSetDevice");
  if (!is_device(number)) return noted(hipErrorInvalidDevice);
  chosen_device = number;
  return hipSuccess;
}

hipError_t hipGetDevice(int* number) {
  return in("hipGetDevice", [&] { *number = chosen_device; });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int number) {
  const InFunction here("hipGetDeviceProperties");
  if (!is_device(number)) return noted(hipErrorInvalidDevice);
  const hplcast_accelerator& costs = device().costs();
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", costs.name);
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "simulated");
  properties->totalGlobalMem = static_cast<std::size_t>(costs.memory_bytes);
  properties->sharedMemPerBlock = std::size_t{1} << 16;
  properties->warpSize = 64;
  properties->maxThreadsPerBlock = 1024;
  for (int& most : properties->maxThreadsDim) most = 1024;
  for (int& most : properties->maxGridSize) most = 0x7fffffff;
  properties->multiProcessorCount = costs.compute_units;
  properties->cooperativeLaunch = 1;
  properties->canMapHostMemory = 1;
  properties->pciBusID = number + 1;
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  return in("hipDeviceSynchronize", [] { device().synchronise_all(); });
}

hipError_t hipMemGetInfo(std::size_t* available, std::size_t* total) {
  return in("hipMemGetInfo", [&] {
    *total = static_cast<std::size_t>(device().costs().memory_bytes);
    *available = *total - static_cast<std::size_t>(hplcast_device_used_bytes());
  });
}

hipError_t hipPeekAtLastError() {
  return last_error;
}

hipError_t hipGetLastError() {
  const hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

// --- memory ----------------------------------------------------------------------------------------------------------

hipError_t hipMalloc(void** memory, std::size_t bytes) {
  const InFunction here("hipMalloc");
  *memory = bytes > 0 ? device().allocate(bytes) : nullptr;
  return *memory == nullptr && bytes > 0 ? noted(hipErrorOutOfMemory) : hipSuccess;
}

hipError_t hipFree(void* memory) {
  return in("hipFree", [&] { device().release(memory); });
}

hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
  const InFunction here("hipHostMalloc");
  *memory = device().allocate_pinned(bytes);
  return *memory == nullptr ? noted(hipErrorOutOfMemory) : hipSuccess;
}

hipError_t hipHostFree(void* memory) {
  return in("hipHostFree", [&] { device().release_pinned(memory); });
}

hipError_t hipHostRegister(void* memory, std::size_t bytes, unsigned) {
  return in("hipHostRegister", [&] { device().pin(memory, bytes); });
}

hipError_t hipHostUnregister(void* memory) {
  return in("hipHostUnregister", [&] { device().unpin(memory); });
}

hipError_t hipHostGetDevicePointer(void** on_device, void* host, unsigned) {
  return in("hipHostGetDevicePointer", [&] {
    if (!device().is_pinned(host)) stop("calls hipHostGetDevicePointer for memory that is not pinned");
    *on_device = host;
  });
}

hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                            std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return in("hipMemcpy2DAsync", [&] {
    device().copy("hipMemcpy2DAsync", {to, to_pitch}, {const_cast<void*>(from), from_pitch}, width, height, kind,
                  stream, false);
  });
}

hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                       std::size_t height, hipMemcpyKind kind) {
  return in("hipMemcpy2D", [&] {
    device().copy("hipMemcpy2D", {to, to_pitch}, {const_cast<void*>(from), from_pitch}, width, height, kind, nullptr,
                  true);
  });
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return in("hipMemcpyAsync", [&] {
    device().copy("hipMemcpyAsync", {to, bytes}, {const_cast<void*>(from), bytes}, bytes, 1, kind, stream, false);
  });
}

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return in("hipMemcpy", [&] {
    device().copy("hipMemcpy", {to, bytes}, {const_cast<void*>(from), bytes}, bytes, 1, kind, nullptr, true);
  });
}

hipError_t hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t stream) {
  return in("hipMemsetAsync", [&] { device().fill(memory, value, bytes, stream); });
}

hipError_t hipMemset(void* memory, int value, std::size_t bytes) {
  return in("hipMemset", [&] { device().fill(memory, value, bytes, nullptr); });
}

// --- streams and events ----------------------------------------------------------------------------------------------

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return in("hipStreamCreate", [&] { *stream = device().make_stream((flags & hipStreamNonBlocking) == 0); });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return in("hipStreamDestroy", [&] { device().end_stream(stream); });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return in("hipStreamSynchronize", [&] { device().synchronise(stream); });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  const InFunction here("hipStreamQuery");
  return device().is_done(stream) ? hipSuccess : hipErrorNotReady;
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return in("hipStreamWaitEvent", [&] { device().wait(stream, event); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  return in("hipEventCreate", [&] { *event = device().make_event(); });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return in("hipEventDestroy", [&] { device().end_event(event); });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return in("hipEventRecord", [&] { device().record(event, stream); });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return in("hipEventSynchronize", [&] { device().synchronise_event(event); });
}

hipError_t hipEventQuery(hipEvent_t event) {
  const InFunction here("hipEventQuery");
  return device().is_event_done(event) ? hipSuccess : hipErrorNotReady;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  const InFunction here("hipEventElapsedTime");
  return noted(device().elapsed(milliseconds, begin, end));
}

// --- launches and flags ----------------------------------------------------------------------------------------------

hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                           hipStream_t stream) {
  return in("hipLaunchKernel", [&] { device().launch(kernel, grid, block, arguments, shared_bytes, stream); });
}

hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
  return in("hipLaunchCooperativeKernel",
            [&] { device().launch(kernel, grid, block, arguments, shared_bytes, stream); });
}

void hplcastBeforeLoad(const volatile void* address, std::size_t) {
  if (device().looks_in_kernel(address)) return;
  if (!device().is_flag(const_cast<const void*>(address))) return device().count_spin();
  const InFunction here("flag");
  device().before_load(const_cast<const void*>(address));
}

void hplcastAfterStore(const volatile void* address, std::size_t) {
  if (device().looks_in_kernel(nullptr) || !device().is_flag(const_cast<const void*>(address))) return;
  const InFunction here("flag");
  device().after_store(const_cast<const void*>(address));
}

}  // extern "C"
