#include "hip/hip_runtime_api.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "accelerators/fake/device.hpp"
#include "accelerators/launch/kernels.hpp"

// HIP on a Device. A stream's closures have copies of all that a call was given.

namespace hplcast::accelerators::fake {

namespace {

Device& device() {
  return Device::instance();
}

void copy_now(const Rectangle& one, Direction direction) {
  const std::lock_guard<std::mutex> lock(device().engine(direction));
  for (std::size_t i = 0; i < one.height; ++i)
    std::memmove(static_cast<char*>(one.to) + i * one.to_pitch, static_cast<const char*>(one.from) + i * one.from_pitch,
                 one.width);
}

/// The arguments of a launch, which the program may change after it.
class Arguments {
 public:
  Arguments(const Kernel& kernel, void** given) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      values_.emplace_back(parameter_bytes(kernel.parameters[i]));
      std::memcpy(values_.back().data(), given[i], values_.back().size());
    }
  }
  void call(const Kernel& kernel) {
    std::vector<void*> places;
    for (auto& value : values_) places.push_back(value.data());
    kernel.invoke(kernel.function, places.data());
  }

 private:
  std::vector<std::vector<char>> values_;
};

}  // namespace

}  // namespace hplcast::accelerators::fake

namespace hplcast::accelerators {

using namespace fake;

/// Waits also for memory that is not pinned, as real ones do more often than not.
hipError_t copy(const char*, const Rectangle& one, hipMemcpyKind kind, hipStream_t handle, bool waits) {
  const auto stream = device().stream(handle);
  if (!stream) return noted(hipErrorInvalidHandle);
  const bool to_device = device().is_device(one.to), from_device = device().is_device(one.from);
  const bool fits = kind == hipMemcpyDefault || (kind == hipMemcpyHostToHost && !to_device && !from_device) ||
                    (kind == hipMemcpyHostToDevice && to_device && !from_device) ||
                    (kind == hipMemcpyDeviceToHost && !to_device && from_device) ||
                    (kind == hipMemcpyDeviceToDevice && to_device && from_device);
  if (!fits) return noted(hipErrorInvalidMemcpyDirection);
  if (std::min(one.to_pitch, one.from_pitch) < one.width) return noted(hipErrorInvalidValue);
  if (one.width == 0 || one.height == 0) return hipSuccess;
  const Direction direction = !to_device    ? Direction::from_device
                              : from_device ? Direction::within_device
                                            : Direction::to_device;
  const bool is_pageable =
      (!to_device && !device().is_pinned(one.to)) || (!from_device && !device().is_pinned(one.from));
  static constexpr const char* names[][2] = {
      {"to_device", "to_device_pageable"}, {"from_device", "from_device_pageable"}, {"within_device", "within_device"}};
  const auto bytes = static_cast<long>(one.width * one.height);
  const Place place = device().push(stream, [one, direction] { copy_now(one, direction); },
                                    {names[static_cast<int>(direction)][is_pageable], 1, bytes, 1});
  if (waits || is_pageable) place.wait();
  return hipSuccess;
}

hipError_t fill(const char*, void* memory, int value, std::size_t bytes, hipStream_t handle, bool waits) {
  const auto stream = device().stream(handle);
  if (!stream) return noted(hipErrorInvalidHandle);
  if (!device().is_device(memory) && !device().is_pinned(memory)) return noted(hipErrorInvalidValue);
  const Place place = device().push(stream, [=] { std::memset(memory, value, bytes); });
  if (waits) place.wait();
  return hipSuccess;
}

hipError_t launch(const char*, const void* address, dim3 grid, dim3 block, void** given, std::size_t shared_bytes,
                  hipStream_t handle) {
  const auto stream = device().stream(handle);
  if (!stream) return noted(hipErrorInvalidHandle);
  const Kernel* const kernel = find_kernel(address);
  const auto refuse = [&](const std::string& why, hipError_t error) {
    std::fprintf(stderr, "fake accelerator: kernel %s: %s\n",
                 kernel == nullptr ? "without a name" : kernel->name.c_str(), why.c_str());
    return noted(error);
  };
  if (const std::string why = launch_problem(grid, block, shared_bytes); !why.empty())
    return refuse(why, hipErrorInvalidConfiguration);
  if (kernel == nullptr || kernel->invoke == nullptr)
    return refuse("no function of the host does its work; hint: HPLCAST_HOST_KERNEL(kernel, function)",
                  hipErrorInvalidDeviceFunction);
  if (kernel->parameters.find('?') != std::string::npos)
    return refuse("an argument that is neither a number nor a pointer", hipErrorInvalidValue);
  Work what{kernel->name.c_str(), 1, 1, 1};  // sizes: its first whole numbers
  long* const sizes[] = {&what.m, &what.n, &what.k};
  std::size_t found = 0;
  for (std::size_t i = 0; i < kernel->parameters.size() && found < std::size(sizes); ++i)
    if (std::strchr("iulm", kernel->parameters[i]) != nullptr)
      *sizes[found++] = static_cast<long>(number_of(*kernel, static_cast<int>(i), given));
  device().push(
      stream, [kernel, arguments = Arguments(*kernel, given)]() mutable { arguments.call(*kernel); }, what);
  return hipSuccess;
}

}  // namespace hplcast::accelerators

using namespace hplcast::accelerators::fake;
using hplcast::accelerators::noted;

extern "C" {

// --- devices ---

hipError_t hipInit(unsigned) {
  return hipSuccess;
}
hipError_t hipGetDeviceCount(int* count) {
  *count = device().count();
  return *count > 0 ? hipSuccess : noted(hipErrorNoDevice);
}
hipError_t hipSetDevice(int number) {
  return number >= 0 && number < device().count() ? hipSuccess : noted(hipErrorInvalidDevice);
}
hipError_t hipGetDevice(int* number) {
  *number = 0;
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int number) {
  if (number < 0 || number >= device().count()) return noted(hipErrorInvalidDevice);
  *properties = hplcast::accelerators::properties_of("fake accelerator", device().capacity_bytes(), 1);
  return hipSuccess;
}
hipError_t hipDeviceSynchronize() {
  device().wait_for_all();
  return hipSuccess;
}
hipError_t hipMemGetInfo(std::size_t* available, std::size_t* total) {
  *total = device().capacity_bytes();
  *available = *total - device().used_bytes();
  return hipSuccess;
}

// --- memory ---

hipError_t hipMalloc(void** memory, std::size_t bytes) {
  *memory = bytes == 0 ? nullptr : device().allocate(bytes);
  return bytes == 0 || *memory != nullptr ? hipSuccess : noted(hipErrorOutOfMemory);
}
hipError_t hipFree(void* memory) {
  return memory == nullptr || device().free(memory) ? hipSuccess : noted(hipErrorInvalidValue);
}
hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned) {
  *memory = device().allocate_pinned(bytes);
  return *memory != nullptr ? hipSuccess : noted(hipErrorOutOfMemory);
}
hipError_t hipHostFree(void* memory) {
  return memory == nullptr || device().free_pinned(memory) ? hipSuccess : noted(hipErrorInvalidValue);
}
hipError_t hipHostRegister(void* memory, std::size_t bytes, unsigned) {
  device().pin(memory, bytes);
  return hipSuccess;
}
hipError_t hipHostUnregister(void* memory) {
  return device().unpin(memory) ? hipSuccess : noted(hipErrorInvalidValue);
}
hipError_t hipHostGetDevicePointer(void** on_device, void* memory, unsigned) {
  *on_device = memory;
  return device().is_pinned(memory) ? hipSuccess : noted(hipErrorInvalidValue);
}

// --- streams and events ---

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  *stream = device().add_stream((flags & hipStreamNonBlocking) == 0);
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return device().end_stream(stream) ? hipSuccess : noted(hipErrorInvalidHandle);
}
hipError_t hipStreamSynchronize(hipStream_t handle) {
  const auto stream = device().stream(handle);
  if (!stream) return noted(hipErrorInvalidHandle);
  if (handle == nullptr)
    device().push(stream, [] {}).wait();  // it waits for the others
  else
    stream->wait(stream->queued());
  return hipSuccess;
}
hipError_t hipStreamQuery(hipStream_t handle) {
  const auto stream = device().stream(handle);
  if (!stream) return noted(hipErrorInvalidHandle);
  return stream->is_over(stream->queued()) ? hipSuccess : hipErrorNotReady;
}
hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned) {
  const auto stream = device().stream(handle);
  const Event* const event = device().event(event_handle);
  if (!stream || event == nullptr) return noted(hipErrorInvalidHandle);
  device().push(stream, [place = event->place] { place.wait(); });
  return hipSuccess;
}
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  *event = device().add_event();
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  return device().end_event(event) ? hipSuccess : noted(hipErrorInvalidHandle);
}
hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream_handle) {
  const auto stream = device().stream(stream_handle);
  Event* const event = device().event(handle);
  if (!stream || event == nullptr) return noted(hipErrorInvalidHandle);
  const auto when = std::make_shared<std::chrono::steady_clock::time_point>();
  event->place = device().push(stream, [when] { *when = std::chrono::steady_clock::now(); });
  event->when = when;
  return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t handle) {
  const Event* const event = device().event(handle);
  if (event == nullptr) return noted(hipErrorInvalidHandle);
  event->place.wait();
  return hipSuccess;
}
hipError_t hipEventQuery(hipEvent_t handle) {
  const Event* const event = device().event(handle);
  if (event == nullptr) return noted(hipErrorInvalidHandle);
  return event->place.is_over() ? hipSuccess : hipErrorNotReady;
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  const Event *const first = device().event(begin), *const second = device().event(end);
  if (first == nullptr || second == nullptr || !first->when || !second->when) return noted(hipErrorInvalidHandle);
  if (!first->place.is_over() || !second->place.is_over()) return hipErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*second->when - *first->when).count();
  return hipSuccess;
}

// --- flags ---

// Memory is the same for all threads here.
void hplcastBeforeLoad(const volatile void*, std::size_t) {
  std::this_thread::yield();
}
void hplcastAfterStore(const volatile void*, std::size_t) {}

}  // extern "C"
