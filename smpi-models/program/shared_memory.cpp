#include "smpi-models/program/shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "smpi-models/session/c_boundary.hpp"
#include "smpi-models/session/session.hpp"

namespace hplcast::smpi_models {

namespace {

/// At most 256 views per allocation (the system allows 65,530 maps a process by default), of 1 to 64 MiB.
std::size_t block_bytes(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{1} << 20, most = std::size_t{1} << 26, views = 256;
  std::size_t block = least;
  while (block < most && block * views < bytes) block *= 2;
  return block;
}

/// Begin and end of each allocation are its own, at least so much: libraries keep what they steer by there. BLACS has
/// the requests of a message at the end of its buffer. A multiple of all sizes of pages.
constexpr std::size_t private_bytes = std::size_t{1} << 16;

/// Where the end that is its own begins: at least that much before the end that was asked for, which lies in the last
/// `private_bytes` of the rounded size.
std::size_t own_end(std::size_t rounded_bytes) {
  return rounded_bytes - 2 * private_bytes;
}

void fill_with_ones(char* memory, std::size_t bytes) {
  std::fill_n(reinterpret_cast<double*>(memory), bytes / sizeof(double), 1.0);
}

}  // namespace

int SharedMemory::block(std::size_t bytes) {
  const auto known = blocks_.find(bytes);
  if (known != blocks_.end()) return known->second;
  const int file = memfd_create("hplcast-shared", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return -1;
  void* const content = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (content == MAP_FAILED) return -1;
  fill_with_ones(static_cast<char*>(content), bytes);
  munmap(content, bytes);
  blocks_.emplace(bytes, file);
  return file;
}

void* SharedMemory::allocate(std::size_t bytes) {
  if (least_bytes_ == 0 || bytes < std::max(least_bytes_, least_shared_bytes)) return nullptr;
  // Panels get narrower from step to step: rounded, one serves as the next.
  bytes = (bytes + private_bytes - 1) / private_bytes * private_bytes;
  const auto is_of_size = [&](const auto& one) { return one.first == bytes; };
  if (const auto found = std::find_if(released_.rbegin(), released_.rend(), is_of_size); found != released_.rend()) {
    void* const again = found->second;
    released_.erase(std::next(found).base());
    sizes_.emplace(static_cast<const char*>(again), bytes);
    return again;
  }
  const std::size_t one = block_bytes(bytes);
  const int file = block(one);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  char* const whole = static_cast<char*>(memory);
  const std::size_t tail = own_end(bytes);
  for (std::size_t at = private_bytes; at < tail; at += one) {
    void* const view =
        mmap(whole + at, std::min(one, tail - at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    if (view != MAP_FAILED) continue;
    munmap(whole, bytes);
    return nullptr;
  }
  fill_with_ones(whole, private_bytes);
  fill_with_ones(whole + tail, bytes - tail);
  sizes_.emplace(whole, bytes);
  return whole;
}

bool SharedMemory::shares(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  auto next = sizes_.upper_bound(at);
  if (next == sizes_.begin()) return false;
  const auto& [begin, bytes] = *--next;
  return at >= begin + private_bytes && at < begin + own_end(bytes);
}

std::size_t SharedMemory::size_of(const void* memory) const {
  const auto found = sizes_.find(static_cast<const char*>(memory));
  return found == sizes_.end() ? 0 : found->second;
}

void SharedMemory::release(void* memory) {
  const auto found = sizes_.find(static_cast<const char*>(memory));
  if (found == sizes_.end()) return;
  released_.emplace_back(found->second, memory);
  sizes_.erase(found);
  constexpr std::size_t most_kept = 256;
  if (released_.size() <= most_kept) return;
  munmap(released_.front().second, released_.front().first);
  released_.pop_front();
}

SharedMemory& shared_memory() {
  std::optional<SharedMemory>& memory = session().shared_memory;
  if (!memory)
    memory.emplace(
        guarded([] { return session().settings().program.value_or(core::ProgramSettings()).share_above_bytes; }));
  return *memory;
}

}  // namespace hplcast::smpi_models
