#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "accelerators/clock/stream_clocks.hpp"
#include "accelerators/launch/kernels.hpp"
#include "hip/hip_runtime_api.h"

namespace hplcast::accelerators {

/// "hplcast: rank 3 ...": ends the simulation.
[[noreturn]] void stop(const std::string& what);

/// The accelerator of a simulated rank. Each rank runs a copy of the program, and of this: there is one per rank.
///
/// Streams and events are handles to small numbers, which all ranks count alike. What the host does takes its own time;
/// what streams do, their clocks. In executed runs work is done when the host asks for it, in the host's order, which
/// is one of the orders that streams and events allow.
class Device {
 public:
  /// Ends the simulation where the rank has no accelerator.
  Device();

  const hplcast_accelerator& costs() const { return costs_; }
  int chosen = 0;  ///< by hipSetDevice()
  bool executes() const { return executes_; }

  hipStream_t make_stream(bool waits_for_null);
  void end_stream(hipStream_t stream);
  hipEvent_t make_event();
  void end_event(hipEvent_t event);
  void record(hipEvent_t event, hipStream_t stream);
  void wait(hipStream_t stream, hipEvent_t event);
  void synchronise(hipStream_t stream);
  void synchronise_event(hipEvent_t event);
  void synchronise_all();
  /// A look that costs the host time; whether all is over.
  bool is_done(hipStream_t stream);
  bool is_event_done(hipEvent_t event);
  hipError_t elapsed(float* milliseconds, hipEvent_t begin, hipEvent_t end);

  void* allocate(std::size_t bytes);
  void release(void* memory);
  void* allocate_pinned(std::size_t bytes);
  void release_pinned(void* memory);
  void pin(void* memory, std::size_t bytes);
  void unpin(void* memory);
  bool is_pinned(const void* memory) const;

  /// A copy by `function` of HIP; ends the simulation where memory is not as `kind` says.
  void copy(const char* function, const Rectangle& one, hipMemcpyKind kind, hipStream_t stream, bool waits);
  void fill(void* memory, int value, std::size_t bytes, hipStream_t stream);

  void launch(const void* address, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
              hipStream_t stream);
  /// A routine of BLAS: its sizes, and what executes it.
  struct Routine {
    const char* name;
    const char* base;
    double m, n, k, flop;
  };
  void launch(const Routine& routine, hipStream_t stream, const std::function<void()>& execute);
  /// A result of one that the host waits for.
  void fetch(hipStream_t stream, std::size_t bytes);

  /// Whether a running kernel sets it, and waits until it is cleared.
  bool is_flag(const void* address) const { return flags_.count(address) > 0; }
  /// The host looks at memory that is no such flag.
  void count_spin();
  /// hplcastBeforeLoad(), hplcastAfterStore(), of such flags.
  void before_load(const void* address);
  void after_store(const void* address);
  /// Whether it is an executed kernel that looks, not the host: it goes on when the host has answered. Null: it stores.
  bool looks_in_kernel(const volatile void* address);

 private:
  class Body;
  struct Flag {
    int stream;
    int kernel;
    double rows, columns;
    double* pivot;
    bool is_shown;
    std::string name;
    std::shared_ptr<Body> body;  ///< null: is not executed
  };

  /// Ends the simulation for a handle that is none.
  int number_of(hipStream_t stream) const;
  int number_of(hipEvent_t event) const;
  /// Ends it where a rank works with a second accelerator, which would share all with the first one.
  void require_own();
  /// Ends it where new work of this stream, or a wait for it (nothing: for all), would come behind a kernel that waits
  /// for the host.
  void require_no_handshake(std::optional<int> stream, const char* what) const;
  double now_s() const { return hplcast_own_s(); }
  void launch(int stream, double duration_s, const char* what, const std::array<double, 3>& sizes);
  /// The trace, of the last work of a stream.
  void tell(int stream, double duration_s, const char* what, const std::array<double, 3>& sizes);
  /// Ends the simulation where no function of the host does the kernel's work.
  void require_function(const Kernel& kernel) const;
  void launch_handshake(const Kernel& kernel, const hplcast_accelerator_kernel& model, void** arguments, int stream);
  /// Executes a kernel up to its next flag, which must be there exactly if `expects_flag`.
  void go_on(const Flag& flag, bool expects_flag);
  const hplcast_accelerator_kernel& model_of(const std::string& name, const std::string& base);

  const hplcast_accelerator& costs_;
  bool executes_;
  StreamClocks clocks_;
  std::optional<int> number_;  ///< of the accelerator that it works with
  std::map<const char*, std::size_t> pinned_;
  std::map<const void*, Flag> flags_;  ///< of running handshakes
  std::map<std::string, hplcast_accelerator_kernel> models_;
  long spins_ = 0;  ///< loads of unknown flags, and looks at work that never ends, in a row
};

/// Made when the rank calls HIP first.
Device& device();

/// Around each function of HIP and rocBLAS: the rank is in it, as in one of MPI.
class InFunction {
 public:
  explicit InFunction(const char* name);
  ~InFunction();
  InFunction(const InFunction&) = delete;
  InFunction& operator=(const InFunction&) = delete;
};

}  // namespace hplcast::accelerators
