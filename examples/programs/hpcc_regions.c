/* Regions around those functions of HPL that move numbers only: copies and row swaps, loops of its own. The linker calls
 * these in their place (-Wl,--wrap). */
#include "hplcast/region.h"

/* All arguments are integers or pointers, so one shape does for all; rows and columns are the first ones. */
#define WRAP(NAME, ROWS, COLUMNS)                                                                                   \
  void __real_##NAME(long, long, long, long, long, long, long, long, long, long, long, long);                        \
  void __wrap_##NAME(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l); \
  void __wrap_##NAME(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l) { \
    if ((int)(ROWS) < 1 || (int)(COLUMNS) < 1) return; /* they do nothing then */                                    \
    HPLCAST_REGION_BEGIN(#NAME, (int)(ROWS), (int)(COLUMNS), 1)                                                      \
    __real_##NAME(a, b, c, d, e, f, g, h, i, j, k, l);                                                               \
    HPLCAST_REGION_END(#NAME)                                                                                        \
  }

WRAP(HPL_dlacpy, a, b)
WRAP(HPL_dlatcpy, a, b)
WRAP(HPL_dlaswp00N, a, b)
WRAP(HPL_dlaswp01N, a, b)
WRAP(HPL_dlaswp01T, a, b)
WRAP(HPL_dlaswp02N, a, b)
WRAP(HPL_dlaswp03N, a, b)
WRAP(HPL_dlaswp03T, a, b)
WRAP(HPL_dlaswp04N, b, c)
WRAP(HPL_dlaswp04T, b, c)
WRAP(HPL_dlaswp05N, a, b)
WRAP(HPL_dlaswp05T, a, b)
WRAP(HPL_dlaswp06N, a, b)
WRAP(HPL_dlaswp06T, a, b)
WRAP(HPL_dlaswp10N, a, b)
