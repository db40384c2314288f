/* Kernels of block_lu.cpp, and what does their work where there is no accelerator but a CPU (HPLCAST_HOST_KERNEL).
 * Sizes come first: they are what the time of a kernel goes with. */
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

/// Element (i, j) of the matrix, in [-0.5, 0.5): the same on all grids.
__host__ __device__ inline double element(long i, long j, long N) {
  std::uint64_t bits =
      (static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(N + 1) + static_cast<std::uint64_t>(j) + 1) *
      0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

/// The place of local row or column `local` of process `me` of `all`.
__host__ __device__ inline long global_of(int local, int NB, int me, int all) {
  return (static_cast<long>(local) / NB * all + me) * NB + local % NB;
}

__global__ void fill(int rows, int columns, double* a, int N, int NB, int row, int P, int column, int Q) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), j = static_cast<int>(blockIdx.y);
  if (i < rows && j < columns)
    a[static_cast<long>(j) * rows + i] = element(global_of(i, NB, row, P), global_of(j, NB, column, Q), N);
}

/// packed[i][j] = a(places[i], j): rows one after the other.
__global__ void pack_rows(int rows, int columns, const double* a, int lda, const int* places, double* packed) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = static_cast<int>(blockIdx.y);
  if (i < rows && j < columns) packed[static_cast<long>(i) * columns + j] = a[static_cast<long>(j) * lda + places[i]];
}

/// a(places[i], j) = packed[i][j].
__global__ void unpack_rows(int rows, int columns, double* a, int lda, const int* places, const double* packed) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = static_cast<int>(blockIdx.y);
  if (i < rows && j < columns) a[static_cast<long>(j) * lda + places[i]] = packed[static_cast<long>(i) * columns + j];
}

/// The same within a block: rows of U, in their order.
__global__ void order_rows(int rows, int columns, double* u, int ldu, const int* places, const double* packed) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = static_cast<int>(blockIdx.y);
  if (i < rows && j < columns) u[static_cast<long>(j) * ldu + places[i]] = packed[static_cast<long>(i) * columns + j];
}

__global__ void copy_block(int rows, int columns, const double* from, int ld_from, double* to, int ld_to) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), j = static_cast<int>(blockIdx.y);
  if (i < rows && j < columns) to[static_cast<long>(j) * ld_to + i] = from[static_cast<long>(j) * ld_from + i];
}

#ifdef HPLCAST_ACCELERATOR
inline void fill_on_host(int rows, int columns, double* a, int N, int NB, int row, int P, int column, int Q) {
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      a[static_cast<long>(j) * rows + i] = element(global_of(i, NB, row, P), global_of(j, NB, column, Q), N);
}
inline void pack_on_host(int rows, int columns, const double* a, int lda, const int* places, double* packed) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      packed[static_cast<long>(i) * columns + j] = a[static_cast<long>(j) * lda + places[i]];
}
inline void unpack_on_host(int rows, int columns, double* a, int lda, const int* places, const double* packed) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      a[static_cast<long>(j) * lda + places[i]] = packed[static_cast<long>(i) * columns + j];
}
inline void copy_on_host(int rows, int columns, const double* from, int ld_from, double* to, int ld_to) {
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) to[static_cast<long>(j) * ld_to + i] = from[static_cast<long>(j) * ld_from + i];
}
HPLCAST_HOST_KERNEL(fill, fill_on_host);
HPLCAST_HOST_KERNEL(pack_rows, pack_on_host);
HPLCAST_HOST_KERNEL(unpack_rows, unpack_on_host);
HPLCAST_HOST_KERNEL(order_rows, unpack_on_host);
HPLCAST_HOST_KERNEL(copy_block, copy_on_host);
#endif

/// Blocks of 64 threads along `x`, one along `y`: none is empty.
inline dim3 grid_of(int x, int y) {
  return dim3(static_cast<unsigned>((x + 63) / 64), static_cast<unsigned>(y));
}
