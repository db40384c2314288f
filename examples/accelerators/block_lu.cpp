/* LU with partial pivoting on accelerators, and the solution of Ax = b: HIP, rocBLAS and MPI.
 *
 *     block_lu N NB P Q [SPLIT [INNER]] [check]
 *
 * Right-looking, blocks dealt out in turn to P x Q ranks, each with an accelerator. Look-ahead: the owner of the next
 * panel updates and factors it first, while the others update. Split update: the rows of SPLIT of the columns (part 2)
 * are exchanged while the others (part 1) are updated, and those of part 1 while part 2 is. b is column N of A. */
#include <mpi.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "device.hpp"
#include "hplcast/region.h"
#include "kernels.hpp"

namespace {

/// Local blocks of process `me` of `all` before block `block`.
int before(int block, int me, int all) {
  return (block + all - 1 - me) / all;
}

constexpr double one = 1, minus_one = -1, zero = 0;

/// A factored panel: the triangles of its diagonal block, and what is below them in the local rows; which rows go
/// where.
struct Panel {
  double *top, *below;                                            ///< on the device, one behind the other
  std::vector<int> pivots;                                        ///< rows of the matrix
  int *order, *sources, *moved, *places, *lists;                  ///< on the device; `lists`: on the host
  std::vector<int> counts, offsets, moved_counts, moved_offsets;  ///< of each rank of the column: rows of U, rows moved
};

/// Columns that are updated together.
struct Part {
  int first = 0, columns = 0;
  double *rows, *u, *moved_out, *moved_in;
};

/// The pivot search between the ranks of a column: value, row, the row itself, and the row that it is swapped with.
/// Equal values (all are, where kernels are only modelled) have the winner that a hash says.
void larger_pivot(void* in, void* both, int*, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const int NB = (bytes / static_cast<int>(sizeof(double)) - 2) / 2;
  const double* a = static_cast<const double*>(in);
  double* b = static_cast<double*>(both);
  const auto hash = [](double row) { return static_cast<unsigned>(row) * 2654435761u; };
  const auto is_larger = [&] {
    if (b[1] < 0 || std::fabs(a[0]) != std::fabs(b[0])) return b[1] < 0 || std::fabs(a[0]) > std::fabs(b[0]);
    return hash(a[1]) > hash(b[1]);
  };
  if (a[1] >= 0 && is_larger()) std::copy(a, a + 2 + NB, b);
  for (int i = 2 + NB; i < 2 + 2 * NB; ++i) b[i] += a[i];
}

class BlockLu {
 public:
  BlockLu(int N, int NB, int P, int Q, double split, int inner);
  void fill_matrix();
  void factor();
  void solve();
  double residual() const;
  double update_flop() const { return flop_; }  ///< of dgemm, of this rank

 private:
  bool has_row(int block) const { return block % P == row_; }
  bool has_column(int block) const { return block % Q == column_; }
  double* at(int i, int j) const { return a_ + static_cast<std::size_t>(j) * rows_ + i; }
  int row_behind(int block) const { return before(block + 1, row_, P) * NB; }  ///< local
  int column_behind(int block) const { return std::min(before(block + 1, column_, Q) * NB, columns_); }

  void cut(int block, Part& ahead, Part& left, Part& right) const;
  void find_pivot(int block, int k, Panel& panel);
  void factor_panel(int block, Panel& panel);
  void begin(int block);
  void broadcast(int block, Panel& panel);
  void list_rows(int block, Panel& panel);
  void pack(int block, const Panel& panel, Part& part);
  void exchange(int block, const Panel& panel, Part& part);
  void update(int block, const Panel& panel, const Part& part);

  int N, NB, P, Q, inner_, blocks_;
  int row_, column_, rows_, columns_, split_;
  MPI_Comm in_row_, in_column_;
  MPI_Datatype pivot_type_;
  MPI_Op pivot_op_;
  hipStream_t stream_;
  hipEvent_t factored_, packed_left_, packed_right_;
  rocblas_handle blas_;
  double *a_, *pivot_rows_, *mine_, *best_;  ///< the last two: of the host
  double flop_ = 0;
  std::vector<double> x_;
  Panel panels_[2];
  Part ahead_, left_, right_;
};

BlockLu::BlockLu(int N_, int NB_, int P_, int Q_, double split, int inner)
    : N(N_), NB(NB_), P(P_), Q(Q_), inner_(inner), blocks_(N / NB) {
  int rank = 0, devices = 0, local = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  row_ = rank / Q;
  column_ = rank % Q;
  MPI_Comm_split(MPI_COMM_WORLD, row_, column_, &in_row_);
  MPI_Comm_split(MPI_COMM_WORLD, column_, row_, &in_column_);
  MPI_Comm on_host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &on_host);
  MPI_Comm_rank(on_host, &local);
  MPI_Type_contiguous(2 + 2 * NB, MPI_DOUBLE, &pivot_type_);
  MPI_Type_commit(&pivot_type_);
  MPI_Op_create(larger_pivot, 1, &pivot_op_);

  HIP(hipGetDeviceCount(&devices));
  HIP(hipSetDevice(local % devices));
  HIP(hipStreamCreate(&stream_));
  for (hipEvent_t* event : {&factored_, &packed_left_, &packed_right_}) HIP(hipEventCreate(event));
  BLAS(rocblas_create_handle(&blas_));
  BLAS(rocblas_set_stream(blas_, stream_));

  rows_ = before(blocks_, row_, P) * NB;
  columns_ = before(blocks_, column_, Q) * NB + (has_column(blocks_) ? 1 : 0);
  split_ = P == 1 ? columns_ : static_cast<int>(split * columns_ / NB) * NB;
  const std::size_t block = static_cast<std::size_t>(NB) * NB;
  a_ = on_device<double>(static_cast<std::size_t>(rows_) * columns_);
  pivot_rows_ = on_device<double>(2 * static_cast<std::size_t>(NB));
  mine_ = pinned<double>(2 + 2 * static_cast<std::size_t>(NB));
  best_ = pinned<double>(2 + 2 * static_cast<std::size_t>(NB));
  for (Panel& panel : panels_) {
    panel.top = on_device<double>(block + static_cast<std::size_t>(rows_) * NB);
    panel.below = panel.top + block;
    panel.pivots.resize(NB);
    panel.order = on_device<int>(4 * static_cast<std::size_t>(NB));
    panel.sources = panel.order + NB;
    panel.moved = panel.sources + NB;
    panel.places = panel.moved + NB;
    panel.lists = pinned<int>(4 * static_cast<std::size_t>(NB));
  }
  for (Part* part : {&ahead_, &left_, &right_}) {
    const int widest = part == &ahead_ ? NB : part == &right_ ? split_ : columns_ - split_;
    const std::size_t size = static_cast<std::size_t>(std::max(widest, 1)) * NB;
    for (double** memory : {&part->rows, &part->u, &part->moved_out, &part->moved_in})
      *memory = on_device<double>(size);
  }
}

void BlockLu::fill_matrix() {
  if (rows_ > 0 && columns_ > 0)
    hipLaunchKernelGGL(fill, grid_of(rows_, columns_), dim3(64), 0, stream_, rows_, columns_, a_, N, NB, row_, P,
                       column_, Q);
  HIP(hipDeviceSynchronize());
}

/// The columns behind a panel: those of the next one, where they are, and two parts of the others.
void BlockLu::cut(int block, Part& ahead, Part& left, Part& right) const {
  int first = column_behind(block);
  ahead.first = first;
  ahead.columns = block + 1 < blocks_ && has_column(block + 1) ? NB : 0;
  first += ahead.columns;
  right.columns = std::min(columns_ - first, split_);
  right.first = columns_ - right.columns;
  left.first = first;
  left.columns = right.first - first;
}

/// Row `k` of the panel's diagonal block: the largest element of the column, wherever it is.
void BlockLu::find_pivot(int block, int k, Panel& panel) {
  const bool is_top = has_row(block);
  const int column = column_behind(block - 1), begin = row_behind(block - 1) + (is_top ? k : 0), rows = rows_ - begin;
  std::memset(mine_, 0, (2 + 2 * static_cast<std::size_t>(NB)) * sizeof(double));
  mine_[1] = -1;  // no row
  if (rows > 0) {
    rocblas_int found = 0;
    BLAS(rocblas_idamax(blas_, rows, at(begin, column + k), 1, &found));
    const int place = begin + std::max(found, 1) - 1;
    BLAS(rocblas_dcopy(blas_, NB, at(place, column), rows_, pivot_rows_, 1));
    if (is_top) BLAS(rocblas_dcopy(blas_, NB, at(begin, column), rows_, pivot_rows_ + NB, 1));
    fetch(mine_ + 2, pivot_rows_, (is_top ? 2 : 1) * static_cast<std::size_t>(NB), stream_);
    mine_[0] = mine_[2 + k];
    mine_[1] = static_cast<double>(global_of(place, NB, row_, P));
  }
  if (rows <= 0) HIP(hipStreamSynchronize(stream_));  // which has copied from best_ since
  MPI_Allreduce(mine_, best_, 1, pivot_type_, pivot_op_, in_column_);
  const int pivot = static_cast<int>(best_[1]), top = block * NB + k;
  panel.pivots[k] = pivot;
  HIP(hipMemcpyAsync(pivot_rows_, best_ + 2, 2 * sizeof(double) * NB, hipMemcpyHostToDevice, stream_));
  BLAS(rocblas_dcopy(blas_, NB, pivot_rows_, 1, panel.top + k, NB));
  if (pivot != top && has_row(pivot / NB))
    BLAS(rocblas_dcopy(blas_, NB, pivot_rows_ + NB, 1, at(pivot / NB / P * NB + pivot % NB, column), rows_));
}

/// Leaves of some columns, each of which are a search, a scaling and a product of vectors; then dtrsm and dgemm for the
/// columns right of the leaf. The diagonal block is in panel.top, in all ranks of the column.
void BlockLu::factor_panel(int block, Panel& panel) {
  const bool is_top = has_row(block);
  const int column = column_behind(block - 1), first = row_behind(block - 1);
  for (int leaf = 0; leaf < NB; leaf += inner_) {
    const int end = std::min(leaf + inner_, NB);
    for (int k = leaf; k < end; ++k) {
      find_pivot(block, k, panel);
      const int begin = first + (is_top ? k + 1 : 0), rows = rows_ - begin;
      const double pivot = best_[2 + k], inverse = pivot == 0 ? 0 : 1 / pivot;
      if (rows <= 0) continue;
      BLAS(rocblas_dscal(blas_, rows, &inverse, at(begin, column + k), 1));
      if (k + 1 < end)
        BLAS(rocblas_dger(blas_, rows, end - k - 1, &minus_one, at(begin, column + k), 1,
                          panel.top + k + static_cast<std::size_t>(k + 1) * NB, NB, at(begin, column + k + 1), rows_));
    }
    if (end == NB) break;
    double* const right = panel.top + leaf + static_cast<std::size_t>(end) * NB;
    BLAS(rocblas_dtrsm(blas_, rocblas_side_left, rocblas_fill_lower, rocblas_operation_none, rocblas_diagonal_unit,
                       end - leaf, NB - end, &one, panel.top + leaf + static_cast<std::size_t>(leaf) * NB, NB, right,
                       NB));
    const int begin = first + (is_top ? end : 0);
    if (rows_ > begin)
      BLAS(rocblas_dgemm(blas_, rocblas_operation_none, rocblas_operation_none, rows_ - begin, NB - end, end - leaf,
                         &minus_one, at(begin, column + leaf), rows_, right, NB, &one, at(begin, column + end), rows_));
  }
  const int below = row_behind(block), rows = rows_ - below;
  if (rows > 0)
    hipLaunchKernelGGL(copy_block, grid_of(rows, NB), dim3(64), 0, stream_, rows, NB, at(below, column), rows_,
                       panel.below, rows);
  if (is_top)
    hipLaunchKernelGGL(copy_block, grid_of(NB, NB), dim3(64), 0, stream_, NB, NB, panel.top, NB, at(first, column),
                       rows_);
  HIP(hipEventRecord(factored_, stream_));
}

/// Along the rows, from the memory of one accelerator to that of the next.
void BlockLu::broadcast(int block, Panel& panel) {
  const int owner = block % Q, count = NB * (NB + rows_ - row_behind(block));
  if (column_ == owner) HIP(hipEventSynchronize(factored_));
  const int next = (column_ + 1) % Q, last = (column_ + Q - 1) % Q;
  if (column_ != owner) {
    MPI_Recv(panel.pivots.data(), NB, MPI_INT, last, 0, in_row_, MPI_STATUS_IGNORE);
    MPI_Recv(panel.top, count, MPI_DOUBLE, last, 1, in_row_, MPI_STATUS_IGNORE);
  }
  if (next != owner) {
    MPI_Send(panel.pivots.data(), NB, MPI_INT, next, 0, in_row_);
    MPI_Send(panel.top, count, MPI_DOUBLE, next, 1, in_row_);
  }
  list_rows(block, panel);
}

/// What the swaps of a panel come to: rows of U from somewhere, rows of the diagonal block to somewhere.
void BlockLu::list_rows(int block, Panel& panel) {
  const int top = block * NB;
  std::map<int, int> content;  // of a row, if it is another one
  const auto in = [&](int row) { return content.count(row) != 0 ? content[row] : row; };
  for (int k = 0; k < NB; ++k) {
    const int upper = in(top + k), lower = in(panel.pivots[k]);
    content[top + k] = lower;
    content[panel.pivots[k]] = upper;
  }
  int* order = panel.lists;
  int *sources = order + NB, *moved = sources + NB, *places = moved + NB;
  const auto local = [&](int row) { return row / NB / P * NB + row % NB; };
  panel.counts.assign(P, 0);
  panel.moved_counts.assign(P, 0);
  panel.offsets.assign(P, 0);
  panel.moved_offsets.assign(P, 0);
  int rows = 0, rows_moved = 0, mine = 0, mine_moved = 0;
  for (int rank = 0; rank < P; ++rank) {
    panel.offsets[rank] = rows;
    panel.moved_offsets[rank] = rows_moved;
    for (int k = 0; k < NB; ++k) {
      const int source = in(top + k);
      if (source / NB % P != rank) continue;
      order[rows++] = k;
      if (rank == row_) sources[mine++] = local(source);
    }
    for (const auto& [row, source] : content) {
      if (row / NB == block || row / NB % P != rank) continue;
      moved[rows_moved++] = local(source);
      if (rank == row_) places[mine_moved++] = local(row);
    }
    panel.counts[rank] = rows - panel.offsets[rank];
    panel.moved_counts[rank] = rows_moved - panel.moved_offsets[rank];
  }
  HIP(hipMemcpyAsync(panel.order, panel.lists, 4 * sizeof(int) * NB, hipMemcpyHostToDevice, stream_));
}

void BlockLu::pack(int block, const Panel& panel, Part& part) {
  const int n = part.columns;
  if (n == 0) return;
  if (panel.counts[row_] > 0)
    hipLaunchKernelGGL(pack_rows, grid_of(n, panel.counts[row_]), dim3(64), 0, stream_, panel.counts[row_], n,
                       at(0, part.first), rows_, panel.sources,
                       part.rows + static_cast<std::size_t>(panel.offsets[row_]) * n);
  const int all_moved = panel.moved_offsets[P - 1] + panel.moved_counts[P - 1];
  if (has_row(block) && all_moved > 0)
    hipLaunchKernelGGL(pack_rows, grid_of(n, all_moved), dim3(64), 0, stream_, all_moved, n, at(0, part.first), rows_,
                       panel.moved, part.moved_out);
}

/// All ranks of a column get all rows of U, round a ring; those of the diagonal block go where pivots came from.
void BlockLu::exchange(int block, const Panel& panel, Part& part) {
  const int n = part.columns, top = block % P;
  if (n == 0 || P == 1) return;
  std::vector<MPI_Request> requests;
  for (int rank = 0; rank < P; ++rank) {
    const int count = panel.moved_counts[rank] * n;
    if (rank == top || count == 0 || (row_ != top && row_ != rank)) continue;
    requests.emplace_back();
    if (row_ == top)
      MPI_Isend(part.moved_out + static_cast<std::size_t>(panel.moved_offsets[rank]) * n, count, MPI_DOUBLE, rank, 2,
                in_column_, &requests.back());
    else
      MPI_Irecv(part.moved_in, count, MPI_DOUBLE, top, 2, in_column_, &requests.back());
  }
  for (int step = 0; step < P - 1; ++step) {
    const int sent = (row_ + P - step) % P, received = (row_ + 2 * P - step - 1) % P;
    MPI_Sendrecv(part.rows + static_cast<std::size_t>(panel.offsets[sent]) * n, panel.counts[sent] * n, MPI_DOUBLE,
                 (row_ + 1) % P, 3, part.rows + static_cast<std::size_t>(panel.offsets[received]) * n,
                 panel.counts[received] * n, MPI_DOUBLE, (row_ + P - 1) % P, 3, in_column_, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void BlockLu::update(int block, const Panel& panel, const Part& part) {
  const int n = part.columns, below = row_behind(block), rows = rows_ - below;
  if (n == 0) return;
  hipLaunchKernelGGL(order_rows, grid_of(n, NB), dim3(64), 0, stream_, NB, n, part.u, NB, panel.order, part.rows);
  if (panel.moved_counts[row_] > 0) {
    const double* from =
        has_row(block) ? part.moved_out + static_cast<std::size_t>(panel.moved_offsets[row_]) * n : part.moved_in;
    hipLaunchKernelGGL(unpack_rows, grid_of(n, panel.moved_counts[row_]), dim3(64), 0, stream_,
                       panel.moved_counts[row_], n, at(0, part.first), rows_, panel.places, from);
  }
  BLAS(rocblas_dtrsm(blas_, rocblas_side_left, rocblas_fill_lower, rocblas_operation_none, rocblas_diagonal_unit, NB, n,
                     &one, panel.top, NB, part.u, NB));
  if (has_row(block))
    hipLaunchKernelGGL(copy_block, grid_of(NB, n), dim3(64), 0, stream_, NB, n, part.u, NB,
                       at(row_behind(block - 1), part.first), rows_);
  if (rows == 0) return;
  BLAS(rocblas_dgemm(blas_, rocblas_operation_none, rocblas_operation_none, rows, n, NB, &minus_one, panel.below, rows,
                     part.u, NB, &one, at(below, part.first), rows_));
  flop_ += 2.0 * rows * n * NB;
}

/// Before the update by a panel that nobody has looked ahead to.
void BlockLu::begin(int block) {
  Panel& panel = panels_[block % 2];
  if (has_column(block)) factor_panel(block, panel);
  broadcast(block, panel);
  cut(block, ahead_, left_, right_);
  for (Part* part : {&ahead_, &right_}) pack(block, panel, *part);
  HIP(hipStreamSynchronize(stream_));
  for (Part* part : {&ahead_, &right_}) exchange(block, panel, *part);
}

/// A simulation may go on at a later panel, with whatever is in the matrix.
void BlockLu::factor() {
  for (int block = 0, ready = -1; block < blocks_; ++block) {
    block = static_cast<int>(hplcast_panel(block, blocks_, std::max(P, Q)));
    if (block != ready) begin(block);
    ready = block + 1;
    Panel &panel = panels_[block % 2], &next = panels_[(block + 1) % 2];
    const bool is_last = block + 1 == blocks_;
    pack(block, panel, left_);
    HIP(hipEventRecord(packed_left_, stream_));
    if (!is_last && has_column(block + 1)) {
      update(block, panel, ahead_);
      factor_panel(block + 1, next);
    }
    update(block, panel, right_);
    const Part left = left_;
    if (!is_last) {
      broadcast(block + 1, next);
      cut(block + 1, ahead_, left_, right_);
      pack(block + 1, next, right_);
      HIP(hipEventRecord(packed_right_, stream_));
    }
    HIP(hipEventSynchronize(packed_left_));
    Part now = left;
    exchange(block, panel, now);
    update(block, panel, now);
    if (!is_last) {
      HIP(hipEventSynchronize(packed_right_));
      exchange(block + 1, next, right_);
      pack(block + 1, next, ahead_);
      if (ahead_.columns > 0) HIP(hipStreamSynchronize(stream_));
      exchange(block + 1, next, ahead_);
    }
    HIP(hipDeviceSynchronize());
  }
}

/// Ux = y, where y is the last column now: block after block, from the last one.
void BlockLu::solve() {
  x_.assign(N, 0);
  const int y_column = before(blocks_, column_, Q) * NB;
  double *const device = on_device<double>(y_column + NB), *const sum = device + y_column;
  double *const part = pinned<double>(NB), *const block_x = pinned<double>(NB);
  for (int block = blocks_ - 1; block >= 0; --block) {
    const int first = row_behind(block - 1), behind = column_behind(block);
    if (has_row(block)) {
      std::fill(part, part + NB, 0);
      if (y_column > behind) {
        BLAS(rocblas_dgemv(blas_, rocblas_operation_none, NB, y_column - behind, &minus_one, at(first, behind), rows_,
                           device + behind, 1, &zero, sum, 1));
        fetch(part, sum, NB, stream_);
      }
      if (has_column(blocks_)) {
        fetch(block_x, at(first, y_column), NB, stream_);
        for (int i = 0; i < NB; ++i) part[i] += block_x[i];
      }
      MPI_Reduce(part, block_x, NB, MPI_DOUBLE, MPI_SUM, block % Q, in_row_);
      if (has_column(block)) {
        HIP(hipMemcpyAsync(sum, block_x, sizeof(double) * NB, hipMemcpyHostToDevice, stream_));
        BLAS(rocblas_dtrsv(blas_, rocblas_fill_upper, rocblas_operation_none, rocblas_diagonal_non_unit, NB,
                           at(first, column_behind(block - 1)), rows_, sum, 1));
        fetch(block_x, sum, NB, stream_);
      }
    }
    MPI_Bcast(block_x, NB, MPI_DOUBLE, block % P * Q + block % Q, MPI_COMM_WORLD);
    std::copy(block_x, block_x + NB, x_.begin() + static_cast<long>(block) * NB);
    if (has_column(block)) {
      HIP(hipMemcpyAsync(device + column_behind(block - 1), block_x, sizeof(double) * NB, hipMemcpyHostToDevice,
                         stream_));
      HIP(hipStreamSynchronize(stream_));
    }
  }
}

/// HPL's: ||Ax - b|| / (eps (||A|| ||x|| + ||b||) N), norms of the largest sum of a row; fine below 16.
double BlockLu::residual() const {
  std::vector<double> product(rows_), sum(rows_), all_product(rows_), all_sum(rows_);
  double norms[3] = {0, 0, 0}, largest[3] = {0, 0, 0};  // of A, Ax - b, b
  for (int i = 0; i < rows_; ++i)
    for (int j = 0; j < before(blocks_, column_, Q) * NB; ++j) {
      const long column = global_of(j, NB, column_, Q);
      const double value = element(global_of(i, NB, row_, P), column, N);
      product[i] += value * x_[column];
      sum[i] += std::fabs(value);
    }
  MPI_Allreduce(product.data(), all_product.data(), rows_, MPI_DOUBLE, MPI_SUM, in_row_);
  MPI_Allreduce(sum.data(), all_sum.data(), rows_, MPI_DOUBLE, MPI_SUM, in_row_);
  for (int i = 0; i < rows_; ++i) {
    const double b = element(global_of(i, NB, row_, P), N, N);
    norms[0] = std::max(norms[0], all_sum[i]);
    norms[1] = std::max(norms[1], std::isfinite(all_product[i]) ? std::fabs(all_product[i] - b) : HUGE_VAL);
    norms[2] = std::max(norms[2], std::fabs(b));
  }
  MPI_Allreduce(norms, largest, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  double x = 0;
  for (const double value : x_) x = std::max(x, std::fabs(value));
  return largest[1] / (DBL_EPSILON / 2 * (largest[0] * x + largest[2]) * N);
}

int run(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool checks = argc > 1 && std::strcmp(argv[argc - 1], "check") == 0;
  if (checks) --argc;
  const auto number = [&](int place, double otherwise) { return argc > place ? std::atof(argv[place]) : otherwise; };
  const int N = static_cast<int>(number(1, 0)), NB = static_cast<int>(number(2, 0)), P = static_cast<int>(number(3, 0)),
            Q = static_cast<int>(number(4, 0)), inner = static_cast<int>(number(6, 32));
  const double split = number(5, 0.3);
  if (N < 1 || NB < 1 || N % NB != 0 || P < 1 || Q < 1 || P * Q != ranks || !(split >= 0 && split <= 1) || inner < 1) {
    if (rank == 0)
      std::fprintf(stderr,
                   "usage: block_lu N NB P Q [SPLIT [INNER]] [check]: N a multiple of NB, P x Q ranks (%d here), "
                   "SPLIT from 0 to 1 (0.3), INNER columns of a leaf (32)\n",
                   ranks);
    return 2;
  }
  BlockLu lu(N, NB, P, Q, split, inner);
  lu.fill_matrix();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  lu.factor();
  lu.solve();
  double time = MPI_Wtime() - begin, longest = 0, flop = lu.update_flop(), all_flop = 0;
  MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&flop, &all_flop, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("N %d NB %d P %d Q %d time %.9g s rate %.6g Gflop/s dgemm %.17g flop\n", N, NB, P, Q, longest,
                (2.0 / 3 * N + 1.5) * N * N / longest / 1e9, all_flop);
  if (!checks) return 0;
  const double residual = lu.residual();
  if (rank == 0) std::printf("residual %.6g %s\n", residual, residual < 16 ? "PASSED" : "FAILED");
  return residual < 16 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
