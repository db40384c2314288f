/* Put before the sources of HPL that wait for a panel in loops: tells the runtime which calls of HPL_bcast those are.
 * HPL_pdgesv0, K1 and K2 call it in such loops only. HPL_pdupdateXX, which has n columns to update, calls it first before its row
 * swap; then after each chunk of nb columns, nq0 of them done so far, with nothing but kernels in between; and on and on when all
 * are done, or when there were none. Its nq0 is read before HPL sets it: these sources are compiled with
 * -ftrivial-auto-var-init=zero. */
#ifndef HPLCAST_POLLING_LOOPS_H
#define HPLCAST_POLLING_LOOPS_H
#ifdef HPLCAST_SIMULATED /* the real HPL is compiled from the same files */

#include "hpl.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

static int bcast_in(hplcast_loop loop, int pieces, HPL_T_panel* panel, int* flag) {
  int status;
  hplcast_polling_loop(loop, pieces);
  status = HPL_bcast(panel, flag);
  /* Left for good only with the panel: the next call of a loop has to know that this one found nothing. */
  if (loop == HPLCAST_LOOP_NONE || *flag == HPL_SUCCESS) hplcast_polling_loop(HPLCAST_LOOP_NONE, 0);
  return status;
}

#ifdef HPLCAST_LOOPS_OF_PDUPDATE
#define LOOP_OF_PDUPDATE \
  (n <= nq0 || jb <= 0 ? HPLCAST_LOOP_ONLY_PROBES : nq0 > 0 ? HPLCAST_LOOP_WORKS_BETWEEN : HPLCAST_LOOP_NONE)
/* The last chunk may be a narrow one, the others are alike. */
#define CHUNKS_OF_PDUPDATE (jb > 0 && (n - nq0) % nb == 0 ? (n - nq0) / nb : 0)
/* The first chunk begins after the row swap, if there is one. */
#define THEN_A_NEW_PIECE(swap) (swap, hplcast_polling_loop(HPLCAST_LOOP_NONE, 0))
#define HPL_pdlaswp00N(...) THEN_A_NEW_PIECE(HPL_pdlaswp00N(__VA_ARGS__))
#define HPL_pdlaswp00T(...) THEN_A_NEW_PIECE(HPL_pdlaswp00T(__VA_ARGS__))
#define HPL_pdlaswp01N(...) THEN_A_NEW_PIECE(HPL_pdlaswp01N(__VA_ARGS__))
#define HPL_pdlaswp01T(...) THEN_A_NEW_PIECE(HPL_pdlaswp01T(__VA_ARGS__))
#define HPL_bcast(panel, flag) bcast_in(LOOP_OF_PDUPDATE, CHUNKS_OF_PDUPDATE, panel, flag)
#else
#define HPL_bcast(panel, flag) bcast_in(HPLCAST_LOOP_ONLY_PROBES, 0, panel, flag)
#endif

#endif
#endif
