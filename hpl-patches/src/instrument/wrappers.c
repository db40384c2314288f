/* Times every kernel call of an otherwise unchanged HPL. */
#include "kernels.h"
#include "trace.h"
#include "wrap.h"

#define TIME_KERNEL(NAME, name, function, parameters, arguments, m_, n_, k_) \
  __typeof__(function) __real_##function, __wrap_##function;                 \
  void __wrap_##function parameters {                                        \
    const double start_s = trace_begin();                                    \
    __real_##function arguments;                                             \
    trace_end(HPLCAST_##NAME, m_, n_, k_, start_s);                          \
  }

HPLCAST_BLAS_KERNELS(TIME_KERNEL)
HPLCAST_COPY_KERNELS(TIME_KERNEL)
TIME_KERNEL(DCOPY, dcopy, cblas_dcopy, (const int n, const double* x, const int incx, double* y, const int incy),
            (n, x, incx, y, incy), 1, n, 1)
TIME_KERNEL(DLOCSWPN, dlocswpN, HPL_dlocswpN, (HPL_T_panel * panel, const int ii, const int jj, double* work),
            (panel, ii, jj, work), 1, panel->jb, 1)
TIME_KERNEL(DLOCSWPT, dlocswpT, HPL_dlocswpT, (HPL_T_panel * panel, const int ii, const int jj, double* work),
            (panel, ii, jj, work), 1, panel->jb, 1)

WRAP(CBLAS_INDEX, cblas_idamax, const int n, const double* x, const int incx) {
  const double start_s = trace_begin();
  const CBLAS_INDEX index = __real_cblas_idamax(n, x, incx);
  trace_end(HPLCAST_IDAMAX, 1, n, 1, start_s);
  return index;
}

WRAP(void, HPL_pdgesv, HPL_T_grid* grid, HPL_T_palg* algorithm, HPL_T_pmat* matrix) {
  trace_resume();
  __real_HPL_pdgesv(grid, algorithm, matrix);
  trace_pause();
}

WRAP(int, MPI_Init, int* argc, char*** argv) {
  const int status = __real_MPI_Init(argc, argv);
  int rank = 0;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  trace_start(rank);
  return status;
}

WRAP(int, MPI_Finalize, void) {
  if (!trace_write()) (void)MPI_Abort(MPI_COMM_WORLD, 3);
  return __real_MPI_Finalize();
}
