#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "hip/hip_runtime_api.h"

/// An accelerator that is none: a thread of the CPU for each stream, memory of the host. Each process has its own.
/// Kernels of several streams run at once; copies of one direction come one after the other.
namespace hplcast::accelerators::fake {

class Stream;

/// Work of a stream that others wait for: what was queued until then.
struct Place {
  std::shared_ptr<Stream> stream;  ///< null: nothing
  std::uint64_t number = 0;

  void wait() const;
  bool is_over() const;
};

/// Does its work in the order in which it was queued.
class Stream {
 public:
  explicit Stream(bool waits) : waits_for_null(waits), worker_([this] { run(); }) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Returns the number of what is queued.
  std::uint64_t push(std::function<void()> work);
  std::uint64_t queued() const;
  void wait(std::uint64_t number) const;
  bool is_over(std::uint64_t number) const;

  const bool waits_for_null;

 private:
  void run();

  static constexpr std::uint64_t none_awaited = UINT64_MAX;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  mutable std::condition_variable reached_;
  std::deque<std::function<void()>> work_;
  std::uint64_t queued_ = 0, done_ = 0;
  mutable std::uint64_t awaited_ = none_awaited;  ///< the least that somebody waits for
  bool ends_ = false;
  std::thread worker_;  ///< the last: it uses the others
};

/// The end of what was queued before it was recorded.
struct Event {
  Place place;
  std::shared_ptr<std::chrono::steady_clock::time_point> when;
};

/// A kernel or copy by the name and the sizes that cluster.json has, for HPLCAST_FAKE_CALLS; null: neither.
struct Work {
  const char* kernel = nullptr;
  long m = 1, n = 1, k = 1;
};

enum class Direction { to_device, from_device, within_device };

/// Calls come from any thread of the program.
class Device {
 public:
  static Device& instance();

  int count() const { return count_; }
  std::size_t capacity_bytes() const { return capacity_bytes_; }
  std::size_t used_bytes() const { return used_bytes_; }

  /// Null: it does not fit, which the standard error says.
  void* allocate(std::size_t bytes);
  void* allocate_pinned(std::size_t bytes);
  /// Waits for all work, as hipFree() does. False if nothing that is in use begins there.
  bool free(void* memory);
  bool free_pinned(void* memory);
  void pin(void* memory, std::size_t bytes);
  bool unpin(void* memory) { return remove(pinned_, memory) > 0; }
  bool is_device(const void* memory) const { return is_in(device_, memory); }
  bool is_pinned(const void* memory) const { return is_in(pinned_, memory); }

  /// Null for a handle that is not one.
  std::shared_ptr<Stream> stream(hipStream_t handle);
  hipStream_t add_stream(bool waits_for_null);
  bool end_stream(hipStream_t handle);
  Event* event(hipEvent_t handle);
  hipEvent_t add_event();
  bool end_event(hipEvent_t handle);

  /// Queues work: behind that of the null stream, or, on that one, behind all others.
  Place push(const std::shared_ptr<Stream>& stream, std::function<void()> work, const Work& what = {});
  void wait_for_all();
  std::mutex& engine(Direction direction) { return engines_[static_cast<int>(direction)]; }

 private:
  Device();
  using Blocks = std::map<std::uintptr_t, std::size_t>;
  bool is_in(const Blocks& blocks, const void* memory) const;
  std::size_t remove(Blocks& blocks, void* memory);

  mutable std::mutex mutex_;
  int count_ = 1;
  bool keeps_calls_ = false;
  std::size_t capacity_bytes_ = 0, used_bytes_ = 0;
  Blocks device_, pinned_;
  std::map<hipStream_t, std::shared_ptr<Stream>> streams_;  ///< the null stream is null's
  std::map<hipEvent_t, std::unique_ptr<Event>> events_;
  std::uintptr_t handles_ = 0;  ///< that were given
  std::mutex engines_[3];
};

}  // namespace hplcast::accelerators::fake
