/* HPLCAST_REGION_BEGIN and HPLCAST_REGION_END for the Fortran of the NAS benchmarks (get-nas), which writes
 *
 *       if (nasbeg('pairs'//char(0), m, n, k)) then
 *         ...
 *       end if
 *       call nasend('pairs'//char(0))
 *
 * with `logical nasbeg`, true: execute what is in between. */
#include "hplcast/region.h"

int nasbeg_(const char* name, const int* m, const int* n, const int* k) {
  return hplcast_region_begins(name, *m, *n, *k);
}

void nasend_(const char* name) {
  hplcast_region_ends(name);
}
