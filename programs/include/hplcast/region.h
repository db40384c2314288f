/* Marks regions of a program, and the panels of its algorithm, for `hplcast observe` and for simulations
 * (docs/use/any-program.md). Without either of them the marks do nothing, and nothing has to be linked.
 *
 *     HPLCAST_REGION_BEGIN("stencil", nx, ny, 1)      sizes that its time depends on; 1: none, 0: no work
 *       for (...) ...                                  in a simulation not executed in the modes model and skip
 *     HPLCAST_REGION_END("stencil")
 *
 * Regions must not contain returns or jumps out of them, and must not overlap; they may be nested. What is not executed
 * calls neither BLAS nor MPI in a simulation.
 *
 *     panel = hplcast_panel(panel, panels, round);   before each panel, in all ranks
 *
 * gives the panel to go on with: the same, or in a simulation of windows (hplcast run --windows) a later one; `round`:
 * the number of panels after which the ranks take the same turns. */
#ifndef HPLCAST_REGION_H
#define HPLCAST_REGION_H

#define HPLCAST_REGION_BEGIN(name, m, n, k) if (hplcast_region_begins((name), (double)(m), (double)(n), (double)(k))) {
#define HPLCAST_REGION_END(name) \
  }                              \
  hplcast_region_ends(name);

#ifdef __cplusplus
extern "C" {
#endif

#ifdef HPLCAST_SIMULATED /* by hplcast-cc, hplcast-cxx */

int hplcast_region_begins(const char* name, double m, double n, double k);
void hplcast_region_ends(const char* name);
long hplcast_panel(long panel, long panels, long round);

#else

#include <dlfcn.h>

#ifndef RTLD_DEFAULT /* without _GNU_SOURCE */
#define RTLD_DEFAULT ((void*)0)
#endif

/* The observer is loaded before the program, or it is not there. */
static inline int hplcast_region_begins(const char* name, double m, double n, double k) {
  static void (*begin)(const char*, double, double, double);
  static int asked = 0;
  if (!asked) {
    *(void**)&begin = dlsym(RTLD_DEFAULT, "hplcast_observed_region_begin");
    asked = 1;
  }
  if (begin) begin(name, m, n, k);
  return 1;
}

static inline void hplcast_region_ends(const char* name) {
  static void (*end)(const char*);
  static int asked = 0;
  if (!asked) {
    *(void**)&end = dlsym(RTLD_DEFAULT, "hplcast_observed_region_end");
    asked = 1;
  }
  if (end) end(name);
}

static inline long hplcast_panel(long panel, long panels, long round) {
  (void)panels, (void)round;
  return panel;
}

#endif

#ifdef __cplusplus
}
#endif
#endif
