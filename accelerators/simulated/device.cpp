#include "accelerators/simulated/device.hpp"

#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::accelerators {

namespace {

std::string gigabytes(double bytes) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3g", bytes / 1e9);
  return text.data();
}

/// A host that looks at a flag in a way that nobody sees never gets on: told after so much CPU time, twice, in which it
/// has not looked, and the simulation stood still.
constexpr time_t patience_s = 15;
volatile double simulated_s = -1;
volatile long looks = 0, looks_before = 0;

void tell_of_unseen_spin(int) {
  if (hplcast_simulated_s() != simulated_s || looks != looks_before) {
    simulated_s = hplcast_simulated_s();
    looks_before = looks;
    return;
  }
  constexpr char text[] =
      "hplcast: a kernel waits for the host to answer its flag, and the host has computed for 30 s without looking at "
      "it; expected __hip_atomic_load (hip/hip_runtime.h): a plain load is not seen\n";
  if (write(2, text, sizeof text - 1) < 0) std::_Exit(6);
  std::_Exit(3);
}

/// While a kernel waits for the host.
void watch_for_unseen_spin(bool watch) {
  const time_t period_s = watch ? patience_s : 0;
  const itimerval timer{{period_s, 0}, {period_s, 0}};
  if (watch) std::signal(SIGVTALRM, tell_of_unseen_spin);
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

}  // namespace

void stop(const std::string& what) {
  const int rank = hplcast_world_rank();
  hplcast_stop(("rank " + std::to_string(rank) + " " + what).c_str());
  std::abort();
}

Device& device() {
  static auto* const one = new Device();
  return *one;
}

InFunction::InFunction(const char* name) {
  hplcast_enter_mpi(name);
}

InFunction::~InFunction() {
  hplcast_after_mpi();
}

Device::Device()
    : costs_(*hplcast_accelerator_here()), executes_(hplcast_accelerator_executes() != 0), clocks_(costs_) {}

// --- streams and events ----------------------------------------------------------------------------------------------

int Device::number_of(hipStream_t stream) const {
  const auto number = static_cast<int>(reinterpret_cast<std::intptr_t>(stream));
  if (clocks_.has_stream(number)) return number;
  stop("uses a stream of HIP that does not exist (" + std::to_string(number) + "): not created, or destroyed");
}

int Device::number_of(hipEvent_t event) const {
  const auto number = static_cast<int>(reinterpret_cast<std::intptr_t>(event)) - 1;
  if (clocks_.has_event(number)) return number;
  stop("uses an event of HIP that does not exist (" + std::to_string(number) + "): not created, or destroyed");
}

void Device::require_own() {
  if (number_.value_or(chosen) != chosen)
    stop("works with accelerator " + std::to_string(chosen) + " (hipSetDevice) beside its own, " +
         std::to_string(*number_) + "; expected a rank for each accelerator");
  number_ = chosen;
}

void Device::require_no_handshake(std::optional<int> stream, const char* what) const {
  if (flags_.empty()) return;
  const int before = clocks_.handshake_before(stream);
  if (before < 0) return;
  stop(std::string(what) + " behind a kernel of stream " + std::to_string(before) +
       " that waits for the host to answer its flag; expected that the host answers all of them first");
}

hipStream_t Device::make_stream(bool waits_for_null) {
  return reinterpret_cast<hipStream_t>(static_cast<std::intptr_t>(clocks_.make_stream(waits_for_null)));
}

void Device::end_stream(hipStream_t stream) {
  if (stream == nullptr) stop("destroys the null stream of HIP");
  synchronise(stream);
  clocks_.end_stream(number_of(stream));
}

hipEvent_t Device::make_event() {
  return reinterpret_cast<hipEvent_t>(static_cast<std::intptr_t>(clocks_.make_event() + 1));
}

void Device::end_event(hipEvent_t event) {
  clocks_.end_event(number_of(event));
}

void Device::record(hipEvent_t event, hipStream_t stream) {
  require_no_handshake(number_of(stream), "records an event");
  hplcast_wait_until(clocks_.record(now_s(), number_of(event), number_of(stream)));
}

void Device::wait(hipStream_t stream, hipEvent_t event) {
  require_no_handshake(number_of(stream), "queues work");
  hplcast_wait_until(clocks_.wait(now_s(), number_of(stream), number_of(event)));
}

void Device::synchronise(hipStream_t stream) {
  require_no_handshake(number_of(stream), "waits for ever: it synchronises");
  hplcast_wait_until(clocks_.synchronise(now_s(), number_of(stream)));
}

void Device::synchronise_event(hipEvent_t event) {
  hplcast_wait_until(clocks_.synchronise_event(now_s(), number_of(event)));
}

void Device::synchronise_all() {
  require_no_handshake(std::nullopt, "waits for ever: it synchronises");
  hplcast_wait_until(clocks_.synchronise_all(now_s()));
}

namespace {
/// A look takes the host time also where cluster.json says that it is free: loops of looks have to end.
double look_s(const hplcast_accelerator& costs) {
  constexpr double least_s = 1e-7;
  return std::max(costs.sync_s, least_s);
}
}  // namespace

bool Device::is_done(hipStream_t stream) {
  const int number = number_of(stream);
  require_no_handshake(number, "asks again and again for the end of work");
  hplcast_wait_until(now_s() + look_s(costs_));
  return clocks_.is_done(now_s(), number);
}

bool Device::is_event_done(hipEvent_t event) {
  hplcast_wait_until(now_s() + look_s(costs_));
  return clocks_.is_event_done(now_s(), number_of(event));
}

hipError_t Device::elapsed(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  const int first = number_of(begin), last = number_of(end);
  if (!clocks_.is_recorded(first) || !clocks_.is_recorded(last)) return hipErrorInvalidHandle;
  for (const hipEvent_t one : {begin, end})
    if (!clocks_.is_event_done(now_s(), number_of(one)) && !is_event_done(one)) return hipErrorNotReady;
  *milliseconds = static_cast<float>(clocks_.elapsed_s(first, last) * 1e3);
  return hipSuccess;
}

// --- memory ----------------------------------------------------------------------------------------------------------

void* Device::allocate(std::size_t bytes) {
  require_own();
  if (void* const memory = hplcast_device_allocate(bytes)) return memory;
  const double wanted = hplcast_device_used_bytes() + static_cast<double>(bytes);
  std::fprintf(stderr, "hplcast: note: rank %d: hipMalloc of %s GB does not fit: %s of %s GB\n", hplcast_world_rank(),
               gigabytes(static_cast<double>(bytes)).c_str(), gigabytes(wanted).c_str(),
               gigabytes(costs_.memory_bytes).c_str());
  return nullptr;
}

void Device::release(void* memory) {
  if (memory == nullptr) return;
  synchronise_all();
  if (hplcast_device_free(memory) != 0) return;
  const bool is_inside = hplcast_device_bytes_from(memory) > 0;
  stop(std::string("frees (hipFree) what is no allocation of its accelerator") +
       (is_inside ? ": an address inside of one" : ": it was never allocated there, or is freed twice"));
}

void* Device::allocate_pinned(std::size_t bytes) {
  void* const memory = std::calloc(std::max<std::size_t>(bytes, 1), 1);
  if (memory != nullptr) pin(memory, bytes);
  return memory;
}

void Device::release_pinned(void* memory) {
  if (memory == nullptr) return;
  unpin(memory);
  std::free(memory);
}

void Device::pin(void* memory, std::size_t bytes) {
  pinned_[static_cast<const char*>(memory)] = std::max<std::size_t>(bytes, 1);
}

void Device::unpin(void* memory) {
  if (pinned_.erase(static_cast<const char*>(memory)) == 0)
    stop("frees (hipHostFree, hipHostUnregister) memory that is not pinned: never allocated so, or freed twice");
}

bool Device::is_pinned(const void* memory) const {
  const char* const at = static_cast<const char*>(memory);
  const auto next = pinned_.upper_bound(at);
  return next != pinned_.begin() && at < std::prev(next)->first + std::prev(next)->second;
}

namespace {

hplcast_direction direction_of(const char* function, hipMemcpyKind kind, bool to_device, bool from_device) {
  static const std::array names = {"hipMemcpyHostToHost", "hipMemcpyHostToDevice", "hipMemcpyDeviceToHost",
                                   "hipMemcpyDeviceToDevice"};
  const int found = (to_device ? 1 : 0) + (from_device ? 2 : 0);
  if (kind != hipMemcpyDefault && static_cast<int>(kind) != found)
    stop(std::string("calls ") + function + " with " + (kind >= 0 && kind < 4 ? names[kind] : "an unknown kind") +
         ", and its addresses are those of " + names[static_cast<std::size_t>(found)]);
  if (found == 3) return HPLCAST_WITHIN_DEVICE;
  return found == 1 ? HPLCAST_TO_DEVICE : HPLCAST_FROM_DEVICE;  // within the host: at that rate
}

/// Ends the simulation where `bytes` from there leave an allocation, or there is no memory.
void require_room(const char* function, const void* memory, std::size_t bytes) {
  if (memory == nullptr) stop(std::string("calls ") + function + " with a null pointer");
  const std::size_t room = hplcast_device_bytes_from(memory);
  if (room > 0 && bytes > room)
    stop(std::string("calls ") + function + " with " + std::to_string(bytes) +
         " bytes of the device where its allocation has " + std::to_string(room));
}

}  // namespace

void Device::copy(const char* function, const Rectangle& one, hipMemcpyKind kind, hipStream_t stream, bool waits) {
  const std::size_t bytes = one.width * one.height;
  if (bytes == 0) return;
  if (const std::size_t pitch = std::min(one.to_pitch, one.from_pitch); pitch < one.width)
    stop(std::string("calls ") + function + " with rows of " + std::to_string(one.width) + " bytes, and a pitch of " +
         std::to_string(pitch) + "; expected at least as much: it is in bytes, too");
  require_room(function, one.to, one.to_pitch * (one.height - 1) + one.width);
  require_room(function, one.from, one.from_pitch * (one.height - 1) + one.width);
  const bool to_device = hplcast_device_bytes_from(one.to) > 0, from_device = hplcast_device_bytes_from(one.from) > 0;
  const bool within_host = !to_device && !from_device;
  const hplcast_direction direction = direction_of(function, kind, to_device, from_device);
  const int number = number_of(stream);
  require_no_handshake(number, "queues a copy");
  const bool is_pageable = (!to_device && !is_pinned(one.to)) || (!from_device && !is_pinned(one.from));
  const double duration_s = clocks_.copy_s(direction, static_cast<double>(bytes), is_pageable);
  if (!within_host) hplcast_accelerator_copied(direction, static_cast<double>(bytes), duration_s);
  hplcast_wait_until(clocks_.copy(now_s(), number, direction, duration_s, waits || is_pageable || within_host));
  static const std::array names = {"copy to device", "copy from device", "copy within device"};
  tell(number, duration_s, within_host ? "copy within host" : names[direction], {1, static_cast<double>(bytes), 1});
  for (std::size_t i = 0; i < one.height; ++i)
    hplcast_device_copy(static_cast<char*>(one.to) + i * one.to_pitch,
                        static_cast<const char*>(one.from) + i * one.from_pitch, one.width, bytes);
}

void Device::fill(void* memory, int value, std::size_t bytes, hipStream_t stream) {
  if (bytes == 0) return;
  require_room("hipMemset", memory, bytes);
  const int number = number_of(stream);
  require_no_handshake(number, "queues a fill");
  const double duration_s = clocks_.copy_s(HPLCAST_WITHIN_DEVICE, static_cast<double>(bytes), false);
  hplcast_wait_until(clocks_.copy(now_s(), number, HPLCAST_WITHIN_DEVICE, duration_s, false));
  constexpr std::size_t most = 65536;  // what is longer has no content, and nothing of it is read
  if (executes_ || hplcast_device_bytes_from(memory) == 0)
    std::memset(memory, value, bytes);
  else
    hplcast_device_copy(memory, std::string(std::min(bytes, most), static_cast<char>(value)).data(), bytes, bytes);
}

// --- kernels ---------------------------------------------------------------------------------------------------------

const hplcast_accelerator_kernel& Device::model_of(const std::string& name, const std::string& base) {
  const auto known = models_.find(name);
  if (known != models_.end()) return known->second;
  return models_.emplace(name, hplcast_accelerator_find(name.c_str(), base.c_str())).first->second;
}

void Device::launch(int stream, double duration_s, const char* what, const std::array<double, 3>& sizes) {
  hplcast_wait_until(clocks_.launch(now_s(), stream, duration_s));
  tell(stream, duration_s, what, sizes);
}

void Device::tell(int stream, double duration_s, const char* what, const std::array<double, 3>& sizes) {
  if (const double overlap_s = clocks_.take_overlap_s(); overlap_s > 0) hplcast_accelerator_overlapped(overlap_s);
  const double ended_s = clocks_.ended_s(stream);
  hplcast_accelerator_ran(stream, what, sizes[0], sizes[1], sizes[2], ended_s - duration_s, ended_s);
}

void Device::launch(const void* address, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                    hipStream_t stream) {
  require_own();
  spins_ = 0;
  const Kernel* const kernel = find_kernel(address);
  if (kernel == nullptr)
    stop(
        "launches a kernel whose name is not known; expected hipLaunchKernelGGL, or a file that hplcast-hipcc "
        "compiled");
  if (const std::string problem = launch_problem(grid, block, shared_bytes); !problem.empty())
    stop("launches kernel " + kernel->name + " in an impossible shape: " + problem);
  const int number = number_of(stream);
  require_no_handshake(number, ("queues kernel " + kernel->name).c_str());
  const hplcast_accelerator_kernel& model = model_of(kernel->name, kernel->name);
  try {
    if (model.has_handshake != 0) return launch_handshake(*kernel, model, arguments, number);
    std::array<double, 3> sizes{1, 1, 1};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (model.sizes[i] >= 0) sizes[i] = accelerators::number_of(*kernel, model.sizes[i], arguments);
    const double duration_s = hplcast_accelerator_call(model.number, sizes[0], sizes[1], sizes[2], 0);
    launch(number, duration_s, kernel->name.c_str(), sizes);
  } catch (const std::invalid_argument& error) {
    stop(std::string("launches a kernel with other arguments than accelerators.kernels of cluster.json says: ") +
         error.what());
  }
  if (!executes_) return;
  require_function(*kernel);
  kernel->invoke(kernel->function, arguments);
}

void Device::require_function(const Kernel& kernel) const {
  if (kernel.function == nullptr)
    stop("executes kernel " + kernel.name +
         ", and knows no function of the host that does its work; expected one in the program: HPLCAST_HOST_KERNEL(" +
         kernel.name + ", function);");
}

void Device::launch(const Routine& routine, hipStream_t stream, const std::function<void()>& execute) {
  require_own();
  spins_ = 0;
  const int number = number_of(stream);
  require_no_handshake(number, routine.name);
  const hplcast_accelerator_kernel& model = model_of(routine.name, routine.base);
  const double duration_s = hplcast_accelerator_call(model.number, routine.m, routine.n, routine.k, routine.flop);
  launch(number, duration_s, routine.name, {routine.m, routine.n, routine.k});
  if (executes_) execute();
}

void Device::fetch(hipStream_t stream, std::size_t bytes) {
  const double duration_s = clocks_.copy_s(HPLCAST_FROM_DEVICE, static_cast<double>(bytes), false);
  hplcast_accelerator_copied(HPLCAST_FROM_DEVICE, static_cast<double>(bytes), duration_s);
  hplcast_wait_until(clocks_.copy(now_s(), number_of(stream), HPLCAST_FROM_DEVICE, duration_s, true));
}

// --- flags -----------------------------------------------------------------------------------------------------------

/// A kernel that talks with the host while it runs, executed: a coroutine. It runs at its launch, and at each answer,
/// up to where it waits for the next one.
class Device::Body {
 public:
  Body(const Kernel& kernel, void** arguments, const void* flag) : kernel_(kernel), arguments_(arguments), flag_(flag) {
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = stack_bytes;
    own_.uc_link = &host_;
    makecontext(&own_, enter, 0);
  }
  /// False: it is over. The arguments of the launch are needed the first time.
  bool run() {
    running = this;
    swapcontext(&host_, &own_);
    running = nullptr;
    return !is_over_;
  }
  /// From within: comes back with the host's answer. False: it does not wait for one there.
  bool wait(const volatile void* address) {
    if (address != flag_) return false;
    if (*static_cast<const volatile int*>(address) != 0) swapcontext(&own_, &host_);
    return true;
  }

  static Body* running;

 private:
  static void enter() {
    Body& body = *running;
    body.kernel_.invoke(body.kernel_.function, body.arguments_);
    body.is_over_ = true;
  }

  static constexpr std::size_t stack_bytes = std::size_t{1} << 20;
  const Kernel& kernel_;
  void** const arguments_;
  const void* const flag_;
  bool is_over_ = false;
  std::unique_ptr<char[]> stack_{new char[stack_bytes]};
  ucontext_t own_{}, host_{};
};

Device::Body* Device::Body::running = nullptr;

bool Device::looks_in_kernel(const volatile void* address) {
  if (Body::running == nullptr) return false;
  if (address != nullptr && !Body::running->wait(address)) count_spin();
  return true;
}

void Device::go_on(const Flag& flag, bool expects_flag) {
  if (!flag.body || flag.body->run() == expects_flag) return;
  stop("executes kernel " + flag.name + ", which sets its flag " + (expects_flag ? "less" : "more") +
       " often than the " + std::to_string(static_cast<long>(flag.columns)) +
       " times that `columns` of its handshake in cluster.json says");
}

void Device::launch_handshake(const Kernel& kernel, const hplcast_accelerator_kernel& model, void** arguments,
                              int stream) {
  if (executes_) require_function(kernel);
  const hplcast_handshake& costs = model.handshake;
  const double rows = model.sizes[0] < 0 ? 1 : accelerators::number_of(kernel, model.sizes[0], arguments);
  const double columns = accelerators::number_of(kernel, costs.columns, arguments);
  void* const flag = pointer_of(kernel, costs.flag, arguments);
  double* const pivot = costs.pivot < 0 ? nullptr : static_cast<double*>(pointer_of(kernel, costs.pivot, arguments));
  hplcast_accelerator_call(model.number, 0, 0, 0, 0);
  if (!(columns >= 1) || !(rows >= 1)) return launch(stream, 0, kernel.name.c_str(), {rows, columns, 1});
  if (!is_pinned(flag) || (pivot != nullptr && !is_pinned(pivot)))
    stop("launches kernel " + kernel.name +
         " with a flag or a row that is not in pinned memory of the host (hipHostMalloc)");
  hplcast_wait_until(clocks_.launch_handshake(now_s(), stream, {rows, static_cast<int>(columns), costs}));
  if (flags_.empty()) watch_for_unseen_spin(true);
  Flag& one = flags_[flag] = {stream, model.number, rows, columns, pivot, false, kernel.name, nullptr};
  if (executes_) one.body = std::make_shared<Body>(kernel, arguments, flag);
  go_on(one, true);
}

void Device::count_spin() {
  constexpr long most = 100000000;
  if (++spins_ > most)
    stop(
        "has looked at memory 100,000,000 times that no running kernel writes; a spin on a flag ends if it is that of a"
        " kernel with a handshake in cluster.json");
}

void Device::before_load(const void* address) {
  Flag& flag = flags_.find(address)->second;
  spins_ = 0;
  if (flag.is_shown) {
    if (*static_cast<const int*>(address) == 0)
      stop("clears the flag of kernel " + flag.name +
           " by a plain store, which is not seen; expected __hip_atomic_store (hip/hip_runtime.h)");
    return;
  }
  flag.is_shown = true;
  looks = looks + 1;
  hplcast_wait_until(clocks_.shown_s(flag.stream));
  if (flag.body) return;
  if (flag.pivot != nullptr) {
    int row = 0;
    const double largest = hplcast_pivot(static_cast<int>(flag.rows), &row);
    flag.pivot[0] = largest;
    flag.pivot[1] = row;
  }
  const int set = 1;
  std::memcpy(const_cast<void*>(address), &set, sizeof set);
}

void Device::after_store(const void* address) {
  const auto found = flags_.find(address);
  Flag& flag = found->second;
  int value = 0;
  std::memcpy(&value, address, sizeof value);
  if (value != 0) return;
  if (!flag.is_shown) {
    if (flag.body)
      stop("clears the flag of kernel " + flag.name +
           " that it has not looked at; expected __hip_atomic_load (hip/hip_runtime.h): a plain load is not seen");
    return;
  }
  flag.is_shown = false;
  const bool is_last = clocks_.clear(now_s(), flag.stream);
  go_on(flag, !is_last);
  if (!is_last) return;
  const double duration_s = clocks_.handshake_s(flag.stream);
  hplcast_accelerator_took(flag.kernel, duration_s);
  tell(flag.stream, duration_s, flag.name.c_str(), {flag.rows, flag.columns, 1});
  flags_.erase(found);
  if (flags_.empty()) watch_for_unseen_spin(false);
}

}  // namespace hplcast::accelerators
