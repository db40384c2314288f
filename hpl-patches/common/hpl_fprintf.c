/* HPL_fprintf, with one line more after each result.
 *
 * HPL prints its time with two decimals and its rate with four or five digits, fewer than a comparison of a prediction
 * with a measurement needs. The W line's arguments have all digits, so they are printed again, alike by the real and
 * the simulated program: hplcast: time_s=12.345678901 gflops=4.3210987654
 * The real one says when the timed part ended, too, for whoever measures power: ended_unix_s=1795364610.366798
 * xhpl-instrumented also has the seconds in kernels, mean over the ranks: kernels_s=10.123456789 */
#ifndef HPLCAST_SIMULATED
#define _POSIX_C_SOURCE 199309L /* clock_gettime, in C99 */
#endif
#include <stdarg.h>
#include <string.h>
#ifndef HPLCAST_SIMULATED
#include <time.h>
#endif

#include "hpl.h"
#include "wrap.h"
#ifdef HPLCAST_INSTRUMENTED
#include "activity.h"
#endif
#ifdef HPLCAST_SIMULATED
#include "hplcast/smpi_models/hplcast_smpi.h"
#endif

static void print_exact_result(FILE* stream, va_list arguments) {
  /* Order, depth, topology, rfact, ndiv, pfact, nbmin, N, NB, P, Q: eleven values of int, whatever their format. */
  for (int i = 0; i < 11; ++i) (void)va_arg(arguments, int);
  const double time_s = va_arg(arguments, double);
  const double gflops = va_arg(arguments, double);
  (void)fprintf(stream, "hplcast: time_s=%.12g gflops=%.12g", time_s, gflops);
#ifdef HPLCAST_SIMULATED
  (void)fprintf(stream, "\n");
  hplcast_report_time(time_s);
#else
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  (void)fprintf(stream, " ended_unix_s=%lld.%06ld", (long long)now.tv_sec, now.tv_nsec / 1000);
#ifdef HPLCAST_INSTRUMENTED
  if (trace_kernels_s() > 0) (void)fprintf(stream, " kernels_s=%.12g", trace_kernels_s());
#endif
  (void)fprintf(stream, "\n");
#endif
}

WRAP(void, HPL_fprintf, FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vfprintf(stream, format, arguments);
  va_end(arguments);
  if (strncmp(format, "W%c%1d%c%c%1d%c%1d", 18) == 0) {
    va_start(arguments, format);
    print_exact_result(stream, arguments);
    va_end(arguments);
  }
  (void)fflush(stream);
}
