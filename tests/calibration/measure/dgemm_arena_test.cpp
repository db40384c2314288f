#include "hplcast/calibration/measure_dgemm.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hplcast::calibration {
namespace {

DgemmDesign mixed_design(bool aliased = false) {
  DgemmDesignOptions options;
  options.max_size = 300;
  options.nb = 32;
  options.count = aliased ? 6 : 200;
  options.aliased = aliased;
  options.repetitions = 1;
  return make_dgemm_design(options);
}

/// Reads every element of a column-major block: the sanitizer build finds what lies outside.
double sum(const double* data, int leading, long rows, long columns) {
  double total = 0;
  for (long j = 0; j < columns; ++j) {
    for (long i = 0; i < rows; ++i) total += data[j * leading + i];
  }
  return total;
}

bool overlap(const double* a, int lda, long rows_a, long columns_a, const double* b, int ldb, long rows_b,
             long columns_b) {
  std::set<const double*> elements;
  for (long j = 0; j < columns_a; ++j) {
    for (long i = 0; i < rows_a; ++i) elements.insert(a + j * lda + i);
  }
  for (long j = 0; j < columns_b; ++j) {
    for (long i = 0; i < rows_b; ++i) {
      if (elements.count(b + j * ldb + i) != 0) return true;
    }
  }
  return false;
}

TEST(DgemmArena, OperandsLieInsideTheBuffersAndNeverOverlap) {
  const DgemmDesign aliased = mixed_design(true), unaliased = mixed_design();
  DgemmArena arena(arena_sizes(unaliased, 0), Content::constant(0.25), 1);
  DgemmArena arena_of_aliased(arena_sizes(aliased, 0), Content::constant(0.25), 1);
  for (std::size_t i = 0; i < aliased.size() + unaliased.size(); ++i) {
    const DgemmCall& call = i < aliased.size() ? aliased[i] : unaliased[i - aliased.size()];
    const auto [m, n, k] = call.shape;
    const DgemmOperands at = (i < aliased.size() ? arena_of_aliased : arena).next(call);
    if (call.role == DgemmRole::aliased) {
      EXPECT_EQ(at.ldc % 512, call.repetition == 0 ? 0 : 8);
    }
    const long b_rows = at.transposed ? n : k, b_columns = at.transposed ? k : n;
    EXPECT_EQ(sum(at.a, at.lda, m, k), 0.25 * static_cast<double>(m * k));
    EXPECT_EQ(sum(at.b, at.ldb, b_rows, b_columns), 0.25 * static_cast<double>(n * k));
    EXPECT_EQ(sum(at.c, at.ldc, m, n), 0.25 * static_cast<double>(m * n));
    EXPECT_GE(at.lda, m);
    EXPECT_GE(at.ldb, b_rows);
    EXPECT_GE(at.ldc, m);
    EXPECT_FALSE(overlap(at.a, at.lda, m, k, at.c, at.ldc, m, n));
    EXPECT_FALSE(overlap(at.b, at.ldb, b_rows, b_columns, at.c, at.ldc, m, n));
  }
}

TEST(DgemmArena, SuccessiveCallsHaveOtherPlaces) {
  DgemmDesign design(4);
  for (DgemmCall& call : design) call.shape = {64, 64, 16};
  DgemmArena arena(arena_sizes(design, 1e6), Content::random(), 1);
  std::set<double*> places;
  for (const DgemmCall& call : design) places.insert(arena.next(call).c);
  EXPECT_EQ(places.size(), 4u);
}

TEST(DgemmArena, LeadingDimensionAvoidsWholePages) {
  for (const long m : {1L, 8L, 512L, 1000L, 1024L, 4096L}) {
    DgemmCall call;
    call.shape = {m, 1, 1};
    const std::size_t leading = arena_sizes({call}, 0).leading_dimension;
    EXPECT_GE(leading, static_cast<std::size_t>(m));
    EXPECT_EQ(leading % 8, 0u);
    EXPECT_NE(leading % 512, 0u);
  }
}

TEST(DgemmArena, FootprintIsAMinimum) {
  DgemmCall call;
  call.shape = {100, 100, 10};
  EXPECT_GE(arena_sizes({call}, 1e7).bytes(), 1e7);
  EXPECT_LT(arena_sizes({call}, 1e7).bytes(), 1.1e7);
  EXPECT_LT(arena_sizes({call}, 0).bytes(), 1.2e5);  // 104 * 100 + 2 * (1000 + 1000) doubles
}

}  // namespace
}  // namespace hplcast::calibration
