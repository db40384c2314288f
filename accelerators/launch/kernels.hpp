#pragma once

#include <cstddef>
#include <string>

#include "hip/hip_runtime_api.h"

namespace hplcast::accelerators {

/// A kernel of the program, as its launches tell it.
struct Kernel {
  std::string name;       ///< without namespaces, template arguments and parameters: "pack_rows"
  bool is_known = false;  ///< its type has been told
  /// A letter per parameter: i, u int and unsigned; l, m of 64 bits; s, t of 16; c, h of 8; b bool; f float; d double;
  /// p a pointer; ? anything else, whose size is not known.
  std::string parameters;
  void (*function)() = nullptr;  ///< HPLCAST_HOST_KERNEL; null: none
  void (*invoke)(void (*function)(), void** arguments) = nullptr;
};

/// The kernel of a launch: null for an address of which nothing was told.
const Kernel* find_kernel(const void* address);

/// Bytes of a parameter by its letter; 0: not known.
std::size_t parameter_bytes(char letter) noexcept;

/// The value of an argument, an integer or a floating-point number. @throws std::invalid_argument for a place that is
/// no parameter, or no number: says so.
double number_of(const Kernel& kernel, int place, void** arguments);
/// The same of a pointer.
void* pointer_of(const Kernel& kernel, int place, void** arguments);

/// "a launch of no threads" ...: why this grid of these blocks is impossible; empty if it is not.
std::string launch_problem(dim3 grid, dim3 block, std::size_t shared_bytes);

/// Rows of `width` bytes, each so far behind the one before.
struct Rectangle {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, width, height;
};

// Behind those functions of HIP that end alike. `function`: the one that the program has called; `waits`: its host
// does.
hipError_t copy(const char* function, const Rectangle& one, hipMemcpyKind kind, hipStream_t stream, bool waits);
hipError_t fill(const char* function, void* memory, int value, std::size_t bytes, hipStream_t stream, bool waits);
hipError_t launch(const char* function, const void* kernel, dim3 grid, dim3 block, void** arguments,
                  std::size_t shared_bytes, hipStream_t stream);

/// Remembers an error for hipGetLastError(), but for hipErrorNotReady.
hipError_t noted(hipError_t error);

/// Properties in which both accelerators are alike.
hipDeviceProp_t properties_of(const char* name, std::size_t memory_bytes, int compute_units);

}  // namespace hplcast::accelerators
