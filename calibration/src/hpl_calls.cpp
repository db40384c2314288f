#include "hplcast/calibration/hpl_calls.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

constexpr long double_bytes = 8;

void validate(const HplGrid& grid) {
  const auto require = [](bool condition, const char* name, long value, const char* constraint) {
    if (!condition) throw core::DomainError(name, static_cast<double>(value), constraint);
  };
  require(grid.N >= 1 && grid.N <= 2147483647L, "N", grid.N, "1 to 2^31 - 1");
  require(grid.NB >= 1 && grid.NB <= grid.N, "NB", grid.NB, "1 to N");
  require(grid.P >= 1, "P", grid.P, "at least 1");
  require(grid.Q >= 1, "Q", grid.Q, "at least 1");
}

/// First, middle and last process.
std::set<int> some_of(int count) {
  return {0, count / 2, count - 1};
}

/// One panel as a process sees it: width, local rows below it and local columns right of it.
struct PanelView {
  long width = 0, rows = 0, columns = 0;
};

void for_each_panel(const HplGrid& grid, const std::function<void(const PanelView&)>& each) {
  const long columns = grid.N + 1;  // HPL keeps the right-hand side as the last column
  for (long first = 0; first < grid.N; first += grid.NB) {
    const long width = std::min<long>(grid.NB, grid.N - first);
    const long next = first + width;
    for (const int p : some_of(grid.P)) {
      const long rows = local_rows(grid.N, grid.NB, p, grid.P) - local_rows(next, grid.NB, p, grid.P);
      for (const int q : some_of(grid.Q)) {
        each({width, rows, local_rows(columns, grid.NB, q, grid.Q) - local_rows(next, grid.NB, q, grid.Q)});
      }
    }
  }
}

}  // namespace

long local_rows(long rows, long block, int index, int count) noexcept {
  const long blocks = rows / block;
  const long mine = blocks / count + (index < blocks % count ? 1 : 0);
  return mine * block + (index == blocks % count ? rows % block : 0);
}

std::vector<DgemmShape> hpl_update_shapes(const HplGrid& grid) {
  validate(grid);
  std::set<DgemmShape> shapes;
  for_each_panel(grid, [&](const PanelView& panel) {
    if (panel.rows > 0 && panel.columns > 0) shapes.insert({panel.rows, panel.columns, panel.width});
  });
  return std::vector<DgemmShape>(shapes.begin(), shapes.end());
}

std::vector<long> hpl_message_bytes(const HplGrid& grid) {
  validate(grid);
  std::set<long> sizes;
  const auto add = [&](long doubles) {
    if (doubles > 0) sizes.insert(double_bytes * doubles);
  };
  for_each_panel(grid, [&](const PanelView& panel) {
    if (grid.P > 1) {
      add(panel.width + 4);
      add(2 * panel.width + 4);
      add(panel.width);
      for (long rows = panel.width; rows > 0; rows /= 2) add(rows * panel.columns);
      add(panel.width * panel.columns / grid.P);
    }
    if (grid.Q > 1) {
      const long length = panel.rows * panel.width + panel.width * panel.width + panel.width + 1;
      add(length);
      add(length / grid.Q);
      add(panel.width);
    }
  });
  return std::vector<long>(sizes.begin(), sizes.end());
}

}  // namespace hplcast::calibration
