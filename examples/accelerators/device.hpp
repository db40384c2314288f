/* What block_lu.cpp needs of HIP and rocBLAS beside its kernels: the end of the program where one refuses, memory, and
 * what the host gets of it. */
#pragma once

#include <hip/hip_runtime.h>
#include <mpi.h>
#include <rocblas/rocblas.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

[[noreturn]] inline void stop(const char* what, int line, int code) {
  std::fprintf(stderr, "block_lu: line %d: %s (%d)\n", line, what, code);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
#define HIP(call) \
  if (const hipError_t code_ = (call); code_ != hipSuccess) stop(hipGetErrorString(code_), __LINE__, code_)
#define BLAS(call)                                                          \
  if (const rocblas_status code_ = (call); code_ != rocblas_status_success) \
  stop(rocblas_status_to_string(code_), __LINE__, code_)

template <typename T>
T* on_device(std::size_t count) {
  T* memory = nullptr;
  HIP(hipMalloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T)));
  return memory;
}
template <typename T>
T* pinned(std::size_t count) {
  T* memory = nullptr;
  HIP(hipHostMalloc(&memory, count * sizeof(T)));
  std::memset(memory, 0, count * sizeof(T));
  return memory;
}

/// The host waits for it.
inline void fetch(double* to, const double* on_device, std::size_t count, hipStream_t stream) {
  HIP(hipMemcpyAsync(to, on_device, count * sizeof(double), hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
}
