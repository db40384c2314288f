#pragma once

#include <cstddef>
#include <functional>

#include "rocblas/rocblas.h"

struct _rocblas_handle {
  hipStream_t stream = nullptr;
  rocblas_pointer_mode mode = rocblas_pointer_mode_host;
  rocblas_atomics_mode atomics = rocblas_atomics_allowed;
};

/// The library behind the functions of rocBLAS (functions.cpp).
namespace hplcast::accelerators {

/// A routine: by its name in cluster.json; sizes and flop as in programs/routines.txt.
struct RocblasCall {
  const char *function, *name;  ///< "rocblas_dgemm", "dgemm/NT"
  bool is_sound;                ///< not: rocBLAS refuses its sizes
  double m, n, k, flop;

  static const char* base(const char* function) { return function + sizeof "rocblas_" - 1; }
};

/// At the first call of a program that uses rocBLAS.
void begin_rocblas();
/// Whether there is none, if that does not end the program. `function`: of rocBLAS, which is called with it.
bool lacks_handle(rocblas_handle handle, const char* function);
/// A function of CBLAS.
void* cblas_function(const char* name);
/// `work`: on the stream of the handle.
rocblas_status queue(rocblas_handle handle, const RocblasCall& call, std::function<void()> work);
/// The same of work with a result; `modelled` says the result where no work is done.
using Result = std::function<void(void* result)>;
rocblas_status reduce(rocblas_handle handle, const RocblasCall& call, void* result, std::size_t bytes, Result work,
                      Result modelled);
/// The place of the largest of n elements of unknown value, from 1.
rocblas_int modelled_pivot(rocblas_int n);

}  // namespace hplcast::accelerators
