#include "hplcast/calibration/dgemm_arena.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::calibration {

namespace {

constexpr std::size_t generations = 2;       // HPL keeps DEPTH + 1 panels: two with a look-ahead of one
constexpr std::size_t doubles_per_line = 8;  // 64 B
constexpr std::size_t doubles_per_page = 512;

std::size_t product(long a, long b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

std::size_t padded(std::size_t rows) {
  const std::size_t aligned = (rows + doubles_per_line - 1) / doubles_per_line * doubles_per_line;
  return aligned % doubles_per_page == 0 ? aligned + doubles_per_line : aligned;
}

}  // namespace

double ArenaSizes::bytes() const noexcept {
  const double matrix = static_cast<double>(leading_dimension) * static_cast<double>(columns);
  const double others = static_cast<double>(generations * (panel + row_block) + l1);
  return sizeof(double) * (matrix + others);
}

ArenaSizes arena_sizes(const DgemmDesign& design, double footprint_bytes) {
  ArenaSizes sizes;
  long rows = 1, columns = 1, l1_rows = 1, l1_columns = 1;
  for (const DgemmCall& call : design) {
    const DgemmShape& shape = call.shape;
    const bool panel = call.role == DgemmRole::panel;
    const bool b_above_c = !panel && !call.transposed;
    rows = std::max(rows, b_above_c ? shape.m + shape.k : shape.m);
    columns = std::max(columns, panel ? shape.n + shape.k : shape.n);
    if (panel) {
      l1_rows = std::max(l1_rows, shape.n);
      l1_columns = std::max(l1_columns, shape.k);
    } else {
      sizes.panel = std::max(sizes.panel, product(shape.m, shape.k));
      if (call.transposed) sizes.row_block = std::max(sizes.row_block, product(shape.n, shape.k));
    }
  }
  sizes.leading_dimension = padded(static_cast<std::size_t>(rows));
  const double column_bytes = sizeof(double) * static_cast<double>(sizes.leading_dimension);
  sizes.columns = std::max(static_cast<std::size_t>(columns),
                           static_cast<std::size_t>(std::ceil(std::max(0.0, footprint_bytes) / column_bytes)));
  sizes.l1_leading_dimension = static_cast<std::size_t>(l1_rows);
  sizes.l1 = product(l1_rows, l1_columns);
  return sizes;
}

DgemmArena::DgemmArena(const ArenaSizes& sizes, const Content& content, std::uint64_t seed)
    : sizes_(sizes),
      matrix_(sizes.leading_dimension * sizes.columns),
      panels_(generations * sizes.panel),
      row_blocks_(generations * sizes.row_block),
      l1_(sizes.l1) {
  std::uint64_t stream = seed;
  for (std::vector<double>* buffer : {&matrix_, &panels_, &row_blocks_, &l1_}) {
    fill(buffer->data(), buffer->size(), content, stream++);
  }
}

DgemmOperands DgemmArena::next(const DgemmCall& call) {
  ++calls_;
  return call.role == DgemmRole::panel ? next_panel(call) : next_update(call);
}

DgemmOperands DgemmArena::next_update(const DgemmCall& call) {
  const DgemmShape& shape = call.shape;
  const std::size_t generation = calls_ % generations;
  DgemmOperands operands;
  operands.transposed = call.transposed;
  operands.a = panels_.data() + generation * sizes_.panel;
  operands.lda = static_cast<int>(shape.m);
  operands.ldc = static_cast<int>(sizes_.leading_dimension);
  if (call.transposed) {
    operands.b = row_blocks_.data() + generation * sizes_.row_block;
    operands.ldb = static_cast<int>(shape.n);
    operands.c = block(shape.m, shape.n);
  } else {
    double* const first = block(shape.m + shape.k, shape.n);
    operands.b = first;
    operands.ldb = operands.ldc;
    operands.c = first + shape.k;
  }
  return operands;
}

DgemmOperands DgemmArena::next_panel(const DgemmCall& call) {
  const DgemmShape& shape = call.shape;
  double* const first = block(shape.m, shape.k + shape.n);
  DgemmOperands operands;
  operands.transposed = true;
  operands.a = first;
  operands.b = l1_.data();
  operands.c = first + static_cast<std::size_t>(shape.k) * sizes_.leading_dimension;
  operands.lda = operands.ldc = static_cast<int>(sizes_.leading_dimension);
  operands.ldb = static_cast<int>(sizes_.l1_leading_dimension);
  return operands;
}

double* DgemmArena::block(long rows, long columns) {
  const std::size_t width = static_cast<std::size_t>(columns);
  if (next_column_ + width > sizes_.columns) next_column_ = 0;
  const std::size_t column = next_column_;
  next_column_ += width;
  // The trailing matrix of HPL ends at the last row.
  const std::size_t free_rows = sizes_.leading_dimension - static_cast<std::size_t>(rows);
  const std::size_t row = free_rows / doubles_per_line * doubles_per_line;
  return matrix_.data() + column * sizes_.leading_dimension + row;
}

}  // namespace hplcast::calibration
