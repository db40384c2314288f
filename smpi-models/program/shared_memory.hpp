#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace hplcast::smpi_models {

/// Large allocations that share their pages: each is a row of views of one block, but for its begin and end, so
/// that memory does not grow with them. The block holds the number 1 in double precision at first: a content on which
/// factorisations do not stop. Sizes are rounded up to multiples of 64 KiB.
class SharedMemory {
 public:
  /// Smaller ones are never shared.
  static constexpr std::size_t least_shared_bytes = std::size_t{1} << 18;

  /// Allocations of at least `least_bytes` share; 0: none.
  explicit SharedMemory(std::size_t least_bytes) : least_bytes_(least_bytes) {}

  /// Null if it is too small to share, or the system has no more maps. It may hold what was left in one that was
  /// released.
  void* allocate(std::size_t bytes);
  /// Whether others write there, too.
  bool shares(const void* address) const;
  /// 0 for memory that is not shared.
  std::size_t size_of(const void* memory) const;
  void release(void* memory);

 private:
  /// A file in memory of that many bytes; -1 if there is none.
  int block(std::size_t bytes);

  std::size_t least_bytes_;
  std::map<std::size_t, int> blocks_;  // by size
  std::map<const char*, std::size_t> sizes_;
  /// The last ones that were released, with their sizes: programs ask for the same again, on all ranks. To map memory
  /// takes longer than to use it.
  std::deque<std::pair<std::size_t, void*>> released_;
};

/// Shared memory of the simulation (share_above_bytes of its settings), made at the first allocation, which may come
/// before there are ranks.
SharedMemory& shared_memory();

}  // namespace hplcast::smpi_models
