#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hplcast::smpi_models {

/// How often a rank has sent something to each destination with each tag. HPL uses a thousand tags in turn: an open
/// hash table, for the memory of most of them is not in a cache any more.
class SendingNumbers {
 public:
  /// How often it was asked for this before.
  std::uint32_t next(std::uint32_t destination, std::uint32_t tag);

 private:
  struct Cell {
    std::uint32_t destination = 0, tag = 0, count = 0;
  };
  Cell& cell_of(std::uint32_t destination, std::uint32_t tag);

  std::vector<Cell> cells_;  ///< as many as a power of two; used ones have a count
  std::size_t used_ = 0;
};

}  // namespace hplcast::smpi_models
