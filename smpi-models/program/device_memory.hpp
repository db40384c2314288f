#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace hplcast::smpi_models {

/// Content at a distance from the begin of a range.
struct ContentPiece {
  std::size_t offset;
  std::vector<char> bytes;
};

/// Memory of simulated accelerators, of all ranks: reserved address space, of which no page is used until something is
/// kept there. Content is kept where small pieces of it are copied, such as lists of pivots and lengths of messages,
/// which steer a program; what is long (matrices) has none. Reading what has no content gives zeros.
class DeviceMemory {
 public:
  static constexpr std::size_t kept_bytes = std::size_t{1} << 16;  ///< longer copies are not kept

  /// Null: no address space.
  void* allocate(std::size_t bytes);
  /// Bytes of an allocation that begins there, which is freed; 0: none does.
  std::size_t release(void* memory);
  /// Bytes from there to the end of its allocation; 0 outside of all.
  std::size_t bytes_from(const void* address) const;
  /// From now on it is memory like any other, with all of its content: kernels are executed.
  void become_real() { is_real_ = true; }
  /// Whether it lies here, and is not real.
  bool has(const void* address) const { return !is_real_ && bytes_from(address) > 0; }

  /// memcpy(), where one side, both or none lie here; of rows of a copy, all of which have `whole_bytes`.
  void copy(void* to, const void* from, std::size_t bytes, std::size_t whole_bytes);
  /// Pieces that are kept in a range, and the other way round: those that were kept there before are gone.
  std::vector<ContentPiece> content(const void* from, std::size_t bytes) const;
  void put(void* to, std::size_t bytes, const std::vector<ContentPiece>& pieces);

 private:
  void forget(const char* from, const char* to);
  void keep(const char* from, const char* to);

  bool is_real_ = false;
  std::map<const char*, std::size_t> sizes_;
  const char *begin_ = nullptr, *end_ = nullptr;  // of all that ever were: most memory of hosts is far away
  std::map<const char*, const char*> kept_;       // begins to ends, none of which overlap
};

/// The one of the simulation: ranks send each other what is in it.
DeviceMemory& device_memory();

}  // namespace hplcast::smpi_models
