/* Activities of the ranks of a simulated program: for traces, tables of phases, progress, and the message of a deadlock
 * (docs/use/traces.md). Every function returns at once if no such setting is on (`observation` in
 * docs/formats/simulation-settings.md); none costs simulated time. */
#ifndef HPLCAST_ACTIVITY_H
#define HPLCAST_ACTIVITY_H

#include "hplcast/smpi_models/hplcast_smpi.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Parts of HPL: HPLCAST_PHASE_FACTORISATION and so on. */
#define HPLCAST_PHASE_NUMBER(NAME, name) HPLCAST_PHASE_##NAME,
typedef enum { HPLCAST_PHASES(HPLCAST_PHASE_NUMBER) HPLCAST_PHASE_COUNT } hplcast_phase;
#undef HPLCAST_PHASE_NUMBER

/* The calling rank enters a phase, and leaves the one it entered last. Phases nest; time counts for the innermost. */
void hplcast_phase_begin(hplcast_phase phase);
void hplcast_phase_end(void);

/* The calling rank enters an MPI call, and leaves it. `peer` is the rank in MPI_COMM_WORLD of the other side, -1 if it
 * is not known; `request` is that of MPI_Wait on entry, and the one that MPI_Isend or MPI_Irecv made on return, else
 * null. `found` is 0 for a MPI_Iprobe that found nothing. */
void hplcast_call_begin(hplcast_mpi operation, int peer, int tag, double bytes, const void* request);
void hplcast_call_end(const void* request, int found);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
