/* Put before the sources of HPL that wait for a panel in loops: tells the runtime which calls of HPL_bcast those are.
 * HPL_pdgesv0, K1 and K2 call it in such loops only. HPL_pdupdateXX probes between chunks of nb columns, and goes on probing when
 * all n columns (nq0 of them so far) are done, or when there were none; before that it goes on with its work after each call. Its
 * nq0 is read before HPL sets it: these sources are compiled with -ftrivial-auto-var-init=zero. */
#ifndef HPLCAST_POLLING_LOOPS_H
#define HPLCAST_POLLING_LOOPS_H
#ifdef HPLCAST_SIMULATED /* the real HPL is compiled from the same files */

#include "hpl.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

static int bcast_in(int loop, HPL_T_panel* panel, int* flag) {
  int status;
  hplcast_polling_loop(loop);
  status = HPL_bcast(panel, flag);
  /* Left for good only with the panel: the next call of a loop has to know that this one found nothing. */
  if (!loop || *flag == HPL_SUCCESS) hplcast_polling_loop(0);
  return status;
}

#ifdef HPLCAST_LOOPS_OF_PDUPDATE
#define HPL_bcast(panel, flag) bcast_in(n <= nq0 || jb <= 0, panel, flag)
#else
#define HPL_bcast(panel, flag) bcast_in(1, panel, flag)
#endif

#endif
#endif
