#include "sending_numbers.hpp"

#include <algorithm>

namespace hplcast::smpi_models {

SendingNumbers::Cell& SendingNumbers::cell_of(std::uint32_t destination, std::uint32_t tag) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // Knuth's multiplicative hashing
  const std::uint64_t hash = ((static_cast<std::uint64_t>(destination) << 32) | tag) * golden;
  std::size_t place = (hash >> 32) & (cells_.size() - 1);
  while (cells_[place].count > 0 && !(cells_[place].destination == destination && cells_[place].tag == tag))
    place = (place + 1) & (cells_.size() - 1);
  return cells_[place];
}

std::uint32_t SendingNumbers::next(std::uint32_t destination, std::uint32_t tag) {
  if (2 * used_ >= cells_.size()) {
    std::vector<Cell> before(std::max<std::size_t>(16, 2 * cells_.size()));
    before.swap(cells_);
    for (const Cell& one : before)
      if (one.count > 0) cell_of(one.destination, one.tag) = one;
  }
  Cell& cell = cell_of(destination, tag);
  if (cell.count == 0) {
    ++used_;
    cell = {destination, tag, 0};
  }
  return cell.count++;
}

}  // namespace hplcast::smpi_models
