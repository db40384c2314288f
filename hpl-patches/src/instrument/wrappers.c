/* Times every kernel call of an otherwise unchanged HPL. */
#include "activity.h"
#include "kernels.h"
#include "trace.h"
#include "wrap.h"

#define TIME_CALL(NAME, function, result, parameters, arguments, m_, n_, k_) \
  __typeof__(function) __real_##function, __wrap_##function;                 \
  HPLCAST_TYPE_OF_##result __wrap_##function parameters {                    \
    const double start_s = trace_begin();                                    \
    KEEP_##result __real_##function arguments;                               \
    trace_end(HPLCAST_##NAME, m_, n_, k_, start_s);                          \
    RETURN_##result;                                                         \
  }
#define KEEP_NOTHING
#define RETURN_NOTHING
#define KEEP_INDEX const CBLAS_INDEX result =
#define RETURN_INDEX return result
#define TIME_KERNEL(NAME, name, function, call, ...) HPLCAST_EXPAND(TIME_CALL, NAME, function, HPLCAST_CALL_##call)

HPLCAST_KERNELS(TIME_KERNEL)

WRAP(int, MPI_Init, int* argc, char*** argv) {
  const int status = __real_MPI_Init(argc, argv);
  int rank = 0;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  activity_start(rank);
  trace_start(rank);
  return status;
}

WRAP(int, MPI_Finalize, void) {
  if (!trace_write() || !activity_write()) (void)MPI_Abort(MPI_COMM_WORLD, 3);
  return __real_MPI_Finalize();
}
