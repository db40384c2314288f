/* CUDA's runtime and cuBLAS as other names of HIP and rocBLAS, for programs that are compiled with hplcast-hipcc: those
 * of accelerators/cuda_names.txt. What is not there is not in HIP's headers either, and does not compile. cublas_v2.h
 * and the others that programs include are this file (accelerators/CMakeLists.txt). */
#ifndef HPLCAST_CUDA_RUNTIME_H
#define HPLCAST_CUDA_RUNTIME_H

#include "hip/hip_runtime.h"
#include "rocblas/rocblas.h"

#include <cuda_names.h>

typedef hipError_t cudaError_t;
typedef hipMemcpyKind cudaMemcpyKind;
typedef hipStream_t cudaStream_t;
typedef hipEvent_t cudaEvent_t;

typedef rocblas_handle cublasHandle_t;
typedef rocblas_status cublasStatus_t;
typedef rocblas_operation cublasOperation_t;
typedef rocblas_fill cublasFillMode_t;
typedef rocblas_diagonal cublasDiagType_t;
typedef rocblas_side cublasSideMode_t;
typedef rocblas_pointer_mode cublasPointerMode_t;

#endif
