// Kernels of hplcast-measure-accelerator: HIP, compiled by hipcc where ROCm is; else the accelerator is the fake one,
// whose streams are threads of the CPU.
#pragma once

#include <hip/hip_runtime.h>

// Kernels walk over their sizes by all threads of the grid: a single one does the whole work, too, as on the fake
// accelerator, whose grid is one thread.

__global__ void nothing(int) {}

__device__ inline unsigned long long thread_number() {
  return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int threads_in_row() {
  return static_cast<int>(gridDim.x * blockDim.x);
}

__global__ void fill_random(double* a, unsigned long long count, double scale, unsigned long long seed) {
  for (unsigned long long i = thread_number(); i < count; i += static_cast<unsigned long long>(threads_in_row())) {
    unsigned long long bits = (i + 1 + seed * 0x2545f4914f6cdd1dULL) * 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    a[i] = scale * (static_cast<double>((bits ^ (bits >> 31)) >> 11) / 9007199254740992.0 - 0.5);
  }
}

/// packed[i][j] = a(places[i], j): rows one after the other, as the swaps of HPL gather them; or the other way.
__global__ void move_rows(int rows, int columns, double* a, int lda, const int* places, double* packed, bool gathers) {
  for (int i = static_cast<int>(blockIdx.y); i < rows; i += static_cast<int>(gridDim.y))
    for (int j = static_cast<int>(thread_number()); j < columns; j += threads_in_row()) {
      double &inside = a[static_cast<long>(j) * lda + places[i]], &outside = packed[static_cast<long>(i) * columns + j];
      gathers ? outside = inside : inside = outside;
    }
}

__global__ void copy_block(int rows, int columns, const double* from, int ld_from, double* to, int ld_to) {
  for (int j = static_cast<int>(blockIdx.y); j < columns; j += static_cast<int>(gridDim.y))
    for (int i = static_cast<int>(thread_number()); i < rows; i += threads_in_row())
      to[static_cast<long>(j) * ld_to + i] = from[static_cast<long>(j) * ld_from + i];
}

/// Clears the flag as often as the host sets it; gives up when nothing comes.
__global__ void answer_flag(int* flag, int turns) {
  constexpr long most_looks = 200000000;
  for (int turn = 0; turn < turns; ++turn) {
    for (long look = 0; look < most_looks; ++look)
      if (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 0) break;
    __hip_atomic_store(flag, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  }
}

#ifdef HPLCAST_ACCELERATOR
constexpr bool is_fake = true;
HPLCAST_HOST_KERNEL(nothing, nothing);
HPLCAST_HOST_KERNEL(fill_random, fill_random);
HPLCAST_HOST_KERNEL(move_rows, move_rows);
HPLCAST_HOST_KERNEL(copy_block, copy_block);
HPLCAST_HOST_KERNEL(answer_flag, answer_flag);
#else
constexpr bool is_fake = false;
#endif
