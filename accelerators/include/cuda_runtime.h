/* CUDA's runtime and cuBLAS as other names of HIP and rocBLAS, for programs that are compiled with hplcast-hipcc. What
 * is not here is not in HIP's headers either, and does not compile. cublas_v2.h and the others that programs include
 * are this file (accelerators/CMakeLists.txt). Names are those of CUDA 12 (https://docs.nvidia.com/cuda). */
#ifndef HPLCAST_CUDA_RUNTIME_H
#define HPLCAST_CUDA_RUNTIME_H

#include "hip/hip_runtime.h"
#include "rocblas/rocblas.h"

/* --- the runtime ---------------------------------------------------------------------------------------------------
 */

typedef hipError_t cudaError_t;
typedef hipMemcpyKind cudaMemcpyKind;
typedef hipStream_t cudaStream_t;
typedef hipEvent_t cudaEvent_t;
#define cudaDeviceProp hipDeviceProp_t

#define cudaSuccess hipSuccess
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorInvalidConfiguration hipErrorInvalidConfiguration
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaErrorInvalidDevice hipErrorInvalidDevice
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorCooperativeLaunchTooLarge hipErrorCooperativeLaunchTooLarge
#define cudaErrorUnknown hipErrorUnknown
#define cudaMemcpyHostToHost hipMemcpyHostToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaStreamDefault hipStreamDefault
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaEventDefault hipEventDefault
#define cudaEventBlockingSync hipEventBlockingSync
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaHostAllocWriteCombined hipHostMallocWriteCombined
#define cudaHostRegisterDefault hipHostRegisterDefault
#define cudaHostRegisterPortable hipHostRegisterPortable
#define cudaHostRegisterMapped hipHostRegisterMapped

#define cudaGetDeviceCount hipGetDeviceCount
#define cudaSetDevice hipSetDevice
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDeviceReset hipDeviceReset
#define cudaMemGetInfo hipMemGetInfo
#define cudaGetLastError hipGetLastError
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaGetErrorString hipGetErrorString
#define cudaGetErrorName hipGetErrorName
#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaMallocHost hipHostMalloc
#define cudaHostAlloc hipHostMalloc
#define cudaFreeHost hipHostFree
#define cudaHostRegister hipHostRegister
#define cudaHostUnregister hipHostUnregister
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpy2D hipMemcpy2D
#define cudaMemcpy2DAsync hipMemcpy2DAsync
#define cudaMemset hipMemset
#define cudaMemsetAsync hipMemsetAsync
#define cudaStreamCreate hipStreamCreate
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamQuery hipStreamQuery
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaEventCreate hipEventCreate
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaEventQuery hipEventQuery
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaLaunchKernel hipLaunchKernel
#define cudaLaunchCooperativeKernel hipLaunchCooperativeKernel

#ifdef __cplusplus
/* Of kernels, which compile and are not called. */
__device__ inline void __syncwarp(unsigned = 0xffffffffu) {}
template <typename T>
__device__ T __ldg(const T* address) {
  return *address;
}
#endif

/* --- cuBLAS --------------------------------------------------------------------------------------------------------
 */

typedef rocblas_handle cublasHandle_t;
typedef rocblas_status cublasStatus_t;
typedef rocblas_operation cublasOperation_t;
typedef rocblas_fill cublasFillMode_t;
typedef rocblas_diagonal cublasDiagType_t;
typedef rocblas_side cublasSideMode_t;
typedef rocblas_pointer_mode cublasPointerMode_t;

#define CUBLAS_STATUS_SUCCESS rocblas_status_success
#define CUBLAS_STATUS_NOT_INITIALIZED rocblas_status_invalid_handle
#define CUBLAS_STATUS_ALLOC_FAILED rocblas_status_memory_error
#define CUBLAS_STATUS_INVALID_VALUE rocblas_status_invalid_value
#define CUBLAS_STATUS_INTERNAL_ERROR rocblas_status_internal_error
#define CUBLAS_STATUS_NOT_SUPPORTED rocblas_status_not_implemented
#define CUBLAS_OP_N rocblas_operation_none
#define CUBLAS_OP_T rocblas_operation_transpose
#define CUBLAS_OP_C rocblas_operation_conjugate_transpose
#define CUBLAS_FILL_MODE_LOWER rocblas_fill_lower
#define CUBLAS_FILL_MODE_UPPER rocblas_fill_upper
#define CUBLAS_DIAG_NON_UNIT rocblas_diagonal_non_unit
#define CUBLAS_DIAG_UNIT rocblas_diagonal_unit
#define CUBLAS_SIDE_LEFT rocblas_side_left
#define CUBLAS_SIDE_RIGHT rocblas_side_right
#define CUBLAS_POINTER_MODE_HOST rocblas_pointer_mode_host
#define CUBLAS_POINTER_MODE_DEVICE rocblas_pointer_mode_device

#define cublasGetStatusString rocblas_status_to_string
#define cublasCreate rocblas_create_handle
#define cublasDestroy rocblas_destroy_handle
#define cublasSetStream rocblas_set_stream
#define cublasGetStream rocblas_get_stream
#define cublasSetPointerMode rocblas_set_pointer_mode
#define cublasGetPointerMode rocblas_get_pointer_mode
#define cublasDgemm rocblas_dgemm
#define cublasDtrsm rocblas_dtrsm
#define cublasDtrsv rocblas_dtrsv
#define cublasDgemv rocblas_dgemv
#define cublasDger rocblas_dger
#define cublasDcopy rocblas_dcopy
#define cublasDswap rocblas_dswap
#define cublasDaxpy rocblas_daxpy
#define cublasDscal rocblas_dscal
#define cublasDdot rocblas_ddot
#define cublasDnrm2 rocblas_dnrm2
#define cublasDasum rocblas_dasum
#define cublasIdamax rocblas_idamax

#endif
