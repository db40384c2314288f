/* HIP for the code of kernels and their launches. Two ways to compile it:
 *  - clang in its HIP mode, host side only (hplcast-hipcc): takes kernel<<<grid, block>>>(...) as it is. The code of a
 *    kernel is checked and not kept.
 *  - any C++ compiler, which knows hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) only.
 * Kernels are called by their names. Where they are executed, and not modelled, a function of the host does their work:
 *     HPLCAST_HOST_KERNEL(kernel, function);      // at namespace scope, below both
 * Its parameters are those of the kernel; it is called once for the whole grid, when the stream comes to the launch. */
#ifndef HPLCAST_HIP_RUNTIME_H
#define HPLCAST_HIP_RUNTIME_H

#include "hip/hip_runtime_api.h"

#ifdef __cplusplus

#include <algorithm> /* this and <cstdlib> before math.h, for the host only */
#include <cstdlib>
#include <limits>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#ifdef __HIP__
#pragma clang force_cuda_host_device begin /* kernels call the C library, too */
#endif
#include <assert.h>
#include <math.h>
#ifdef __HIP__
#pragma clang force_cuda_host_device end
#endif

#ifdef __HIP__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__ static
#define HIP_DYNAMIC_SHARED(type, name) static type name[1];
#define __constant__
#define __launch_bounds__(...)
#endif
#ifndef __forceinline__
#define __forceinline__ inline
#endif

/* --- what kernels are written with: they compile, and nobody calls them ------------------------------------------ */

#define HPLCAST_VECTOR(name, of, ...)                           \
  struct name {                                                 \
    of __VA_ARGS__;                                             \
  };                                                            \
  template <typename... Parts>                                  \
  __host__ __device__ inline name make_##name(Parts... parts) { \
    return {static_cast<of>(parts)...};                         \
  }
#define HPLCAST_VECTORS(name, of)      \
  HPLCAST_VECTOR(name##2, of, x, y)    \
  HPLCAST_VECTOR(name##3, of, x, y, z) \
  HPLCAST_VECTOR(name##4, of, x, y, z, w)
HPLCAST_VECTORS(int, int)
HPLCAST_VECTORS(uint, uint32_t)
HPLCAST_VECTORS(float, float)
HPLCAST_VECTORS(double, double)
__device__ static const uint3 threadIdx __attribute__((unused)) = {0, 0, 0};
__device__ static const uint3 blockIdx __attribute__((unused)) = {0, 0, 0};
__device__ static const uint3 blockDim __attribute__((unused)) = {1, 1, 1};
__device__ static const uint3 gridDim __attribute__((unused)) = {1, 1, 1};
__device__ static const int warpSize __attribute__((unused)) = 64;
#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

__device__ inline void __syncthreads() {}
#define __syncwarp(...) __syncthreads()
__device__ inline void __threadfence() {}
__device__ inline void __threadfence_block() {}
__device__ inline void __threadfence_system() {}
#define HPLCAST_SHUFFLE(name)                                                  \
  template <typename T>                                                        \
  __device__ T name(T value, int, int = warpSize) {                            \
    return value;                                                              \
  }                                                                            \
  template <typename T>                                                        \
  __device__ T name##_sync(unsigned long long, T value, int, int = warpSize) { \
    return value;                                                              \
  }
HPLCAST_SHUFFLE(__shfl)
HPLCAST_SHUFFLE(__shfl_xor)
HPLCAST_SHUFFLE(__shfl_down)
HPLCAST_SHUFFLE(__shfl_up)
#define HPLCAST_ATOMIC(name, result)                       \
  template <typename T, typename Value>                    \
  __device__ T name(T* address, Value given) {             \
    const T old = *address, value = static_cast<T>(given); \
    *address = static_cast<T>(result);                     \
    return old;                                            \
  }
HPLCAST_ATOMIC(atomicAdd, old + value)
HPLCAST_ATOMIC(unsafeAtomicAdd, old + value)
HPLCAST_ATOMIC(atomicSub, old - value)
HPLCAST_ATOMIC(atomicMax, old < value ? value : old)
HPLCAST_ATOMIC(atomicMin, value < old ? value : old)
HPLCAST_ATOMIC(atomicExch, value)
HPLCAST_ATOMIC(atomicAnd, (old & value))
HPLCAST_ATOMIC(atomicOr, old | value)
HPLCAST_ATOMIC(atomicXor, old ^ value)
HPLCAST_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
HPLCAST_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
template <typename T, typename Expected, typename Value>
__device__ T atomicCAS(T* address, Expected expected, Value value) {
  return *address == static_cast<T>(expected) ? atomicExch(address, value) : *address;
}
#define __ldg(address) (*(address))
#define __any(predicate) ((predicate) != 0)
#define __any_sync(mask, predicate) __any(predicate)
#define __all(predicate) __any(predicate)
#define __all_sync(mask, predicate) __any(predicate)
#define __ballot(predicate) ((predicate) != 0 ? 1ull : 0)
#define __ballot_sync(mask, predicate) __ballot(predicate)
#define __popc __builtin_popcount
#define __popcll __builtin_popcountll
#define __ffs __builtin_ffs
#define __ffsll __builtin_ffsll
#define __clz __builtin_clz
#define __clzll __builtin_clzll
#define __fdividef(x, y) (static_cast<float>(x) / (y))
#define __fma_rn fma
__device__ inline long long clock64() {
  return 0;
}
__device__ inline double rsqrt(double x) {
  return 1 / sqrt(x);
}
__device__ inline float rsqrtf(float x) {
  return 1 / sqrtf(x);
}
template <typename A, typename B>
__host__ __device__ std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}
template <typename A, typename B>
__host__ __device__ std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}

#ifdef __HIP__
__device__ int abs(int);
extern "C" __device__ int printf(const char* format, ...);
extern "C" __device__ void abort();
extern "C" __device__ void* memset(void* to, int value, size_t bytes);
extern "C" __device__ void* memcpy(void* to, const void* from, size_t bytes);
__device__ int __hip_move_dpp(int source, int dpp, int rows, int banks, bool bounded);
#endif

/* --- launches ----------------------------------------------------------------------------------------------------- */

#ifdef __HIP__
/* kernel<<<grid, block, shared_bytes, stream>>>(...) is a call of the first, and of the others in the function that the
 * compiler makes of the kernel. */
extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                 hipStream_t stream = nullptr);
extern "C" hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream);
#endif

namespace hplcast_accelerator {

template <typename... Parameters>
const char* type_of(void (*)(Parameters...)) {
  return typeid(void(Parameters...)).name();
}

template <typename... Parameters, std::size_t... places>
hipError_t launch(const void* kernel, std::tuple<Parameters...>& values, std::index_sequence<places...>, dim3 grid,
                  dim3 block, std::size_t shared_bytes, hipStream_t stream) {
  void* arguments[] = {static_cast<void*>(&std::get<places>(values))..., nullptr};
  return hipLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

/* hipLaunchKernelGGL */
template <typename... Parameters, typename... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            hipStream_t stream, Arguments... arguments) {
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  const void* const address = reinterpret_cast<const void*>(kernel);
  hplcastNameKernel(address, name, type_of(kernel));
  (void)launch(address, values, std::index_sequence_for<Parameters...>(), grid, block, shared_bytes, stream);
}

template <typename... Parameters, std::size_t... places>
void call(void (*function)(Parameters...), void** arguments, std::index_sequence<places...>) {
  function(*static_cast<Parameters*>(arguments[places])...);
}
template <typename... Parameters>
void invoke(void (*function)(), void** arguments) {
  call(reinterpret_cast<void (*)(Parameters...)>(function), arguments, std::index_sequence_for<Parameters...>());
}
template <typename... Parameters>
int on_host(const char* name, void (*kernel)(Parameters...), void (*function)(Parameters...)) {
  return hplcastHostKernel(reinterpret_cast<const void*>(kernel), name, type_of(kernel),
                           reinterpret_cast<void (*)()>(function), invoke<Parameters...>);
}

/* Memory that host and kernels both look at. */
template <typename T>
T load(const T* address, int order) {
  T value;
  hplcastBeforeLoad(address, sizeof(T));
  __atomic_load(address, &value, order);
  return value;
}
template <typename T, typename Value>
void store(T* address, Value value, int order) {
  T stored = static_cast<T>(value);
  __atomic_store(address, &stored, order);
  hplcastAfterStore(address, sizeof(T));
}

}  // namespace hplcast_accelerator

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  ::hplcast_accelerator::launch(#kernel, kernel, grid, block, shared_bytes, stream, ##__VA_ARGS__)

#define HPLCAST_JOINED_(a, b) a##b
#define HPLCAST_JOINED(a, b) HPLCAST_JOINED_(a, b)
#define HPLCAST_HOST_KERNEL(kernel, function)                                               \
  __attribute__((unused)) static const int HPLCAST_JOINED(hplcast_host_kernel_, __LINE__) = \
      ::hplcast_accelerator::on_host(#kernel, kernel, function)

/* Atomics of HIP's host code: a load of a flag that a running kernel sets is when the host learns of it. */
#define __hip_atomic_load(address, order, scope) ::hplcast_accelerator::load(address, order)
#define __hip_atomic_store(address, value, order, scope) ::hplcast_accelerator::store(address, value, order)
#ifndef __HIP_MEMORY_SCOPE_SYSTEM
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif

#endif

#endif
