// The rows that a panel swaps are found out once for all ranks (row_swap_indices.c): as HPL's own functions do it.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "hplcast/core/random_stream.hpp"
#include "row_swaps.h"

namespace hplcast {
namespace {

template <typename Numbers>
std::vector<int> all(const Numbers& numbers, int count) {
  return {std::begin(numbers), std::begin(numbers) + count};
}

void expect_same(int rows, int row, int nb, int first_row, int columns, std::vector<double> pivots) {
  SCOPED_TRACE(testing::Message() << rows << " process rows, row " << row << ", NB " << nb << ", from " << first_row);
  row_swaps hpls, ours;
  find_row_swaps(1, rows, row, nb, first_row, columns, pivots.data(), &hpls);
  find_row_swaps(0, rows, row, nb, first_row, columns, pivots.data(), &ours);
  EXPECT_EQ(ours.length, hpls.length);
  EXPECT_EQ(all(ours.counts, rows), all(hpls.counts, rows));
  EXPECT_EQ(ours.own, hpls.own);
  for (int i = 0; i < 3; ++i) {
    const int count = i == 0 ? rows + 1 : rows;
    EXPECT_EQ(all(ours.order[i], count), all(hpls.order[i], count)) << i;
    EXPECT_EQ(all(ours.order_for_long[i], count), all(hpls.order_for_long[i], count)) << i;
  }
}

TEST(RowSwaps, AreThoseOfHplForAllPanelsAndProcessRows) {
  core::RandomStream random({1, core::stream_design, 0, 0, 0});
  for (const int rows : {1, 2, 3, 7, 16}) {
    for (const int nb : {1, 5, 32}) {
      constexpr int panels = 20;
      const int size = panels * nb - nb / 2;  // the last panel is narrower
      for (int panel = 0; panel < panels; ++panel) {
        const int first_row = panel * nb;
        const int columns = std::min(nb, size - first_row);
        std::vector<double> pivots;
        for (int i = first_row; i < first_row + columns; ++i)
          pivots.push_back(i + static_cast<double>(random.below(static_cast<std::uint64_t>(size - i))));
        for (int row = 0; row < rows; ++row) expect_same(rows, row, nb, first_row, columns, pivots);
      }
    }
  }
}

TEST(RowSwaps, OfTheSamePanelWithOtherPivotsAreOthers) {
  for (const double pivot : {0.0, 5.0, 9.0}) expect_same(4, 1, 2, 0, 2, {pivot, 1});  // as in the next run of a HPL.dat
  expect_same(2, 1, 2, 0, 2, {9, 1});                                                 // or on another grid
}

}  // namespace
}  // namespace hplcast
