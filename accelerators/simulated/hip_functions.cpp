// HIP for a simulated rank: what the functions of hip_runtime_api.h do with its Device.

#include <cstdio>

#include "accelerators/simulated/device.hpp"
#include "hip/hip_runtime_api.h"

using hplcast::accelerators::device;
using hplcast::accelerators::Device;
using hplcast::accelerators::InFunction;
using hplcast::accelerators::noted;
using hplcast::accelerators::stop;

namespace {

/// A function of HIP that always succeeds, or ends the simulation. Static objects of the program call it too late.
template <typename Body>
hipError_t in(const char* function, const Body& body) {
  if (hplcast_is_in_rank() == 0) return hipErrorDeinitialized;
  const InFunction here(function);
  body();
  return hipSuccess;
}
#define HPLCAST_HIP_FUNCTION(function, parameters, ...) \
  hipError_t function parameters {                      \
    return in(#function, [&] { __VA_ARGS__; });         \
  }

bool is_device(int number) {
  return number >= 0 && number < device().costs().per_host;
}

}  // namespace

namespace hplcast::accelerators {

hipError_t copy(const char* function, const Rectangle& one, hipMemcpyKind kind, hipStream_t stream, bool waits) {
  return in(function, [&] { device().copy(function, one, kind, stream, waits); });
}
hipError_t fill(const char* function, void* memory, int value, std::size_t bytes, hipStream_t stream, bool) {
  return in(function, [&] { device().fill(memory, value, bytes, stream); });
}
hipError_t launch(const char* function, const void* kernel, dim3 grid, dim3 block, void** arguments,
                  std::size_t shared_bytes, hipStream_t stream) {
  return in(function, [&] { device().launch(kernel, grid, block, arguments, shared_bytes, stream); });
}

}  // namespace hplcast::accelerators

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

HPLCAST_HIP_FUNCTION(hipInit, (unsigned), device())
HPLCAST_HIP_FUNCTION(hipGetDeviceCount, (int* count), *count = device().costs().per_host)

hipError_t hipSetDevice(int number) {
  const InFunction here("hipSetDevice");
  if (!is_device(number)) return noted(hipErrorInvalidDevice);
  device().chosen = number;
  return hipSuccess;
}

HPLCAST_HIP_FUNCTION(hipGetDevice, (int* number), *number = device().chosen)

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int number) {
  const InFunction here("hipGetDeviceProperties");
  if (!is_device(number)) return noted(hipErrorInvalidDevice);
  const hplcast_accelerator& costs = device().costs();
  *properties = hplcast::accelerators::properties_of(costs.name, static_cast<std::size_t>(costs.memory_bytes),
                                                     costs.compute_units);
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "simulated");
  properties->pciBusID = number + 1;
  return hipSuccess;
}

HPLCAST_HIP_FUNCTION(hipDeviceSynchronize, (), device().synchronise_all())

HPLCAST_HIP_FUNCTION(hipMemGetInfo, (std::size_t * available, std::size_t* total),
                     *total = static_cast<std::size_t>(device().costs().memory_bytes);
                     *available = *total - static_cast<std::size_t>(hplcast_device_used_bytes()))

// --- memory ----------------------------------------------------------------------------------------------------------

hipError_t hipMalloc(void** memory, std::size_t bytes) {
  const InFunction here("hipMalloc");
  *memory = bytes > 0 ? device().allocate(bytes) : nullptr;
  return *memory == nullptr && bytes > 0 ? noted(hipErrorOutOfMemory) : hipSuccess;
}

HPLCAST_HIP_FUNCTION(hipFree, (void* memory), device().release(memory))

hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
  const InFunction here("hipHostMalloc");
  *memory = device().allocate_pinned(bytes);
  return *memory == nullptr ? noted(hipErrorOutOfMemory) : hipSuccess;
}

HPLCAST_HIP_FUNCTION(hipHostFree, (void* memory), device().release_pinned(memory))
HPLCAST_HIP_FUNCTION(hipHostRegister, (void* memory, std::size_t bytes, unsigned), device().pin(memory, bytes))
HPLCAST_HIP_FUNCTION(hipHostUnregister, (void* memory), device().unpin(memory))
HPLCAST_HIP_FUNCTION(hipHostGetDevicePointer, (void** on_device, void* host, unsigned),
                     if (!device().is_pinned(host)) stop("calls hipHostGetDevicePointer for memory that is not pinned");
                     *on_device = host)

// --- streams and events ----------------------------------------------------------------------------------------------

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return in("hipStreamCreate", [&] { *stream = device().make_stream((flags & hipStreamNonBlocking) == 0); });
}

HPLCAST_HIP_FUNCTION(hipStreamDestroy, (hipStream_t stream), device().end_stream(stream))
HPLCAST_HIP_FUNCTION(hipStreamSynchronize, (hipStream_t stream), device().synchronise(stream))

hipError_t hipStreamQuery(hipStream_t stream) {
  const InFunction here("hipStreamQuery");
  return device().is_done(stream) ? hipSuccess : hipErrorNotReady;
}

HPLCAST_HIP_FUNCTION(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned), device().wait(stream, event))

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  return in("hipEventCreate", [&] { *event = device().make_event(); });
}

HPLCAST_HIP_FUNCTION(hipEventDestroy, (hipEvent_t event), device().end_event(event))
HPLCAST_HIP_FUNCTION(hipEventRecord, (hipEvent_t event, hipStream_t stream), device().record(event, stream))
HPLCAST_HIP_FUNCTION(hipEventSynchronize, (hipEvent_t event), device().synchronise_event(event))

hipError_t hipEventQuery(hipEvent_t event) {
  const InFunction here("hipEventQuery");
  return device().is_event_done(event) ? hipSuccess : hipErrorNotReady;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  const InFunction here("hipEventElapsedTime");
  return noted(device().elapsed(milliseconds, begin, end));
}

// --- flags -----------------------------------------------------------------------------------------------------------

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
