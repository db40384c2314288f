#include "smpi-models/program/device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hplcast::smpi_models {

void* DeviceMemory::allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const char* const begin = static_cast<const char*>(memory);
  sizes_.emplace(begin, bytes);
  begin_ = begin_ == nullptr ? begin : std::min(begin_, begin);
  end_ = std::max(end_, begin + bytes);
  return memory;
}

std::size_t DeviceMemory::release(void* memory) {
  const auto found = sizes_.find(static_cast<const char*>(memory));
  if (found == sizes_.end()) return 0;
  const std::size_t bytes = found->second;
  forget(found->first, found->first + bytes);
  sizes_.erase(found);
  munmap(memory, bytes);
  return bytes;
}

std::size_t DeviceMemory::bytes_from(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  if (at < begin_ || at >= end_) return 0;
  const auto next = sizes_.upper_bound(at);
  if (next == sizes_.begin()) return 0;
  const auto& [begin, bytes] = *std::prev(next);
  const auto offset = static_cast<std::size_t>(at - begin);
  return offset < bytes ? bytes - offset : 0;
}

void DeviceMemory::forget(const char* from, const char* to) {
  auto next = kept_.lower_bound(from);
  if (next != kept_.begin()) {
    const auto before = std::prev(next);
    const char* const end = before->second;
    if (end > from) before->second = from;
    if (end > to) kept_.emplace(to, end);
  }
  while (next != kept_.end() && next->first < to) {
    const char* const end = next->second;
    next = kept_.erase(next);
    if (end > to) kept_.emplace(to, end);
  }
}

void DeviceMemory::keep(const char* from, const char* to) {
  forget(from, to);
  if (from < to) kept_.emplace(from, to);
}

std::vector<ContentPiece> DeviceMemory::content(const void* from, std::size_t bytes) const {
  const char* const begin = static_cast<const char*>(from);
  const char* const end = begin + bytes;
  std::vector<ContentPiece> pieces;
  auto one = kept_.upper_bound(begin);
  if (one != kept_.begin()) --one;
  for (; one != kept_.end() && one->first < end; ++one) {
    const char* const first = std::max(begin, one->first);
    const char* const last = std::min(end, one->second);
    if (first < last) pieces.push_back({static_cast<std::size_t>(first - begin), std::vector<char>(first, last)});
  }
  return pieces;
}

void DeviceMemory::put(void* to, std::size_t bytes, const std::vector<ContentPiece>& pieces) {
  char* const begin = static_cast<char*>(to);
  const bool is_here = has(to);
  for (const ContentPiece& gone : content(to, bytes)) std::memset(begin + gone.offset, 0, gone.bytes.size());
  if (is_here) forget(begin, begin + bytes);
  for (const ContentPiece& piece : pieces) {
    if (piece.offset >= bytes) continue;
    const std::size_t fits = std::min(piece.bytes.size(), bytes - piece.offset);
    std::memcpy(begin + piece.offset, piece.bytes.data(), fits);
    if (is_here) keep(begin + piece.offset, begin + piece.offset + fits);
  }
}

void DeviceMemory::copy(void* to, const void* from, std::size_t bytes, std::size_t whole_bytes) {
  if (bytes == 0) return;  // from or to nowhere
  const bool to_here = has(to), from_here = has(from);
  if (!to_here && !from_here) {
    std::memmove(to, from, bytes);
  } else if ((to_here && from_here) || whole_bytes > kept_bytes) {
    put(to, bytes, content(from, bytes));
  } else {
    std::memcpy(to, from, bytes);
    if (to_here) keep(static_cast<const char*>(to), static_cast<const char*>(to) + bytes);
  }
}

DeviceMemory& device_memory() {
  static auto* const memory = new DeviceMemory();
  return *memory;
}

}  // namespace hplcast::smpi_models
