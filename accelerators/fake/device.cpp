#include "accelerators/fake/device.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/environment.h"

namespace hplcast::accelerators::fake {

namespace {

constexpr int no_number = 0xff;  ///< bytes of NaN: nobody counts on zeros

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Calls are kept in memory, and written when the program ends.
struct Call {
  Work what;
  double duration_s, start_s, core_s;
};
struct Calls {
  std::mutex mutex;
  std::vector<Call> all;
};
Calls& calls() {
  static auto* const one = new Calls();
  return *one;
}

void write_calls() {
  const std::string path =
      std::string(std::getenv(HPLCAST_VARIABLE_FAKE_CALLS)) + "-" + std::to_string(getpid()) + ".csv";
  const std::lock_guard<std::mutex> lock(calls().mutex);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return std::perror(path.c_str());
  std::fputs("kernel,m,n,k,duration_s,start_s,core_s\n", file);
  for (const Call& one : calls().all)
    std::fprintf(file, "%s,%ld,%ld,%ld,%.9g,%.9f,%.9g\n", one.what.kernel, one.what.m, one.what.n, one.what.k,
                 one.duration_s, one.start_s, one.core_s);
  if (std::fclose(file) != 0) std::perror(path.c_str());
}

/// The clock of a thread's own time is a system call (0.6 us here): it is read outside of the duration, and its own
/// time is at most the duration.
std::function<void()> timed(const Work& what, std::function<void()> work) {
  return [what, work = std::move(work)] {
    const double begin_s = seconds(CLOCK_THREAD_CPUTIME_ID), start_s = seconds(CLOCK_MONOTONIC);
    work();
    const double duration_s = seconds(CLOCK_MONOTONIC) - start_s, core_s = seconds(CLOCK_THREAD_CPUTIME_ID) - begin_s;
    const std::lock_guard<std::mutex> lock(calls().mutex);
    calls().all.push_back({what, duration_s, start_s, std::min(core_s, duration_s)});
  };
}

}  // namespace

void Place::wait() const {
  if (stream) stream->wait(number);
}

bool Place::is_over() const {
  return !stream || stream->is_over(number);
}

Stream::~Stream() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  arrived_.notify_one();
  worker_.join();
}

std::uint64_t Stream::push(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  work_.push_back(std::move(work));
  if (work_.size() == 1) arrived_.notify_one();
  return ++queued_;
}

std::uint64_t Stream::queued() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queued_;
}

void Stream::wait(std::uint64_t number) const {
  std::unique_lock<std::mutex> lock(mutex_);
  while (done_ < number) {
    awaited_ = std::min(awaited_, number);
    reached_.wait(lock);
  }
}

bool Stream::is_over(std::uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return done_ >= number;
}

void Stream::run() {
  // A rank that is bound to a core has it as if nobody worked there: else it loses it at each launch, which wakes us,
  // once it has yielded while it waited for messages (11 us in place of 0.2). Others would starve us on a busy machine.
  const sched_param none{};
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) == 1)
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return ends_ || !work_.empty(); });
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    if (++done_ < awaited_) continue;
    awaited_ = none_awaited;  // those who wait for more say so again
    reached_.notify_all();
  }
}

Device& Device::instance() {
  static auto* const device = new Device();  // never ended: threads of the program may outlive static objects
  return *device;
}

Device::Device() {
  const auto number = [](const char* variable, double otherwise) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) return otherwise;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end != text && *end == '\0' && value >= 0) return value;
    std::fprintf(stderr, "fake accelerator: %s=%s; expected a number of at least 0\n", variable, text);
    std::exit(2);
  };
  count_ = static_cast<int>(number(HPLCAST_VARIABLE_FAKE_ACCELERATORS, 1));
  constexpr double default_bytes = 16.0 * (1 << 30);
  capacity_bytes_ = static_cast<std::size_t>(number(HPLCAST_VARIABLE_FAKE_MEMORY, default_bytes));
  streams_[nullptr] = std::make_shared<Stream>(true);
  keeps_calls_ = std::getenv(HPLCAST_VARIABLE_FAKE_CALLS) != nullptr;
  if (keeps_calls_) std::atexit(write_calls);
}

bool Device::is_in(const Blocks& blocks, const void* memory) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return false;
  --after;
  return address < after->first + after->second;
}

void* Device::allocate(std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  void* memory = used_bytes_ + bytes > capacity_bytes_ ? nullptr : std::malloc(bytes);
  if (memory == nullptr) {
    std::fprintf(
        stderr,
        "fake accelerator: hipMalloc of %zu bytes does not fit: %.4g of %.4g GB would be in use; hint: a smaller "
        "problem, or more in %s\n",
        bytes, static_cast<double>(used_bytes_ + bytes) / 1e9, static_cast<double>(capacity_bytes_) / 1e9,
        HPLCAST_VARIABLE_FAKE_MEMORY);
    return nullptr;
  }
  std::memset(memory, no_number, bytes);  // an accelerator has its memory from the start, not at the first touch
  used_bytes_ += bytes;
  device_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  return memory;
}

void* Device::allocate_pinned(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory != nullptr) pin(std::memset(memory, no_number, bytes), bytes);
  return memory;
}

void Device::pin(void* memory, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  pinned_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
}

std::size_t Device::remove(Blocks& blocks, void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == blocks.end()) {
    std::fprintf(stderr, "fake accelerator: memory at %p is freed, where nothing begins that is in use; freed twice?\n",
                 memory);
    return 0;
  }
  const std::size_t bytes = found->second;
  blocks.erase(found);
  return bytes == 0 ? 1 : bytes;
}

bool Device::free(void* memory) {
  wait_for_all();
  const std::size_t bytes = remove(device_, memory);
  if (bytes == 0) return false;
  used_bytes_ -= std::min(bytes, used_bytes_);
  std::free(memory);
  return true;
}

bool Device::free_pinned(void* memory) {
  wait_for_all();
  if (remove(pinned_, memory) == 0) return false;
  std::free(memory);
  return true;
}

std::shared_ptr<Stream> Device::stream(hipStream_t handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second;
}

hipStream_t Device::add_stream(bool waits_for_null) {
  auto stream = std::make_shared<Stream>(waits_for_null);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto handle = reinterpret_cast<hipStream_t>(++handles_);
  streams_[handle] = std::move(stream);
  return handle;
}

bool Device::end_stream(hipStream_t handle) {
  const std::shared_ptr<Stream> ended = stream(handle);  // ends its thread when the mutex is free again
  const std::lock_guard<std::mutex> lock(mutex_);
  return handle != nullptr && streams_.erase(handle) > 0;
}

Event* Device::event(hipEvent_t handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

hipEvent_t Device::add_event() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto handle = reinterpret_cast<hipEvent_t>(++handles_);
  events_[handle] = std::make_unique<Event>();
  return handle;
}

bool Device::end_event(hipEvent_t handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return events_.erase(handle) > 0;
}

Place Device::push(const std::shared_ptr<Stream>& stream, std::function<void()> work, const Work& what) {
  if (keeps_calls_ && what.kernel != nullptr) work = timed(what, std::move(work));
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::shared_ptr<Stream>& null = streams_[nullptr];
  std::vector<Place> before;
  const auto add = [&](const std::shared_ptr<Stream>& other) {
    const Place place{other, other->queued()};
    if (other != stream && other->waits_for_null && !place.is_over()) before.push_back(place);
  };
  if (stream == null) {
    for (const auto& one : streams_) add(one.second);
  } else if (stream->waits_for_null) {
    add(null);
  }
  if (before.empty()) return {stream, stream->push(std::move(work))};
  return {stream, stream->push([before, work] {
            for (const Place& place : before) place.wait();
            work();
          })};
}

void Device::wait_for_all() {
  std::vector<Place> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& one : streams_) all.push_back({one.second, one.second->queued()});
  }
  for (const Place& place : all) place.wait();
}

}  // namespace hplcast::accelerators::fake
