/* What programs other than HPL call of the runtime: routines with free names, regions, pending delays before MPI calls.
 * The modelled BLAS, the wrapped MPI functions and hplcast/region.h (programs/) are its users. As in hplcast_smpi.h
 * nothing here returns an error: a call that cannot be served ends the simulation. */
#ifndef HPLCAST_PROGRAM_H
#define HPLCAST_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "hplcast/smpi_models/c_declarations.h"

HPLCAST_BEGIN_C

/* Number of the routine `name` ("dgemv/T"), for hplcast_routine_call(). A name that cluster.json does not have takes
 * the model of `base` ("dgemv") there, among the routines of the program or else among HPL's kernels. */
int hplcast_routine(const char* name, const char* base);

/* The calling rank spends the time of one call with the sizes m, n, k (1: it has no such size); a size <= 0 is no call.
 * `executed`: the program also executes it, so it takes no time of its model where executed code is benched. A routine
 * without a model takes no time and is counted as such. */
void hplcast_routine_call(int routine, double m, double n, double k, double flop, int executed);

/* Whether a routine has a model. */
int hplcast_routine_has_model(int routine);

/* As hplcast_routine_call(), of a routine that is made of others. One with a model takes its time, and is not executed;
 * or it is, because numerics are, and what it calls takes none until hplcast_lapack_end(). Without a model it is
 * executed, and what it calls takes its time. */
enum { HPLCAST_NOT_EXECUTED, HPLCAST_EXECUTED, HPLCAST_EXECUTED_FREE };
int hplcast_lapack_begin(int routine, double m, double n, double k, double flop);
void hplcast_lapack_end(void);

/* A region begins: not 0 if its code is to be executed (modes factor and bench). The region's time is spent at its end,
 * or here if it is not executed (modes model and skip). A region that cluster.json does not have is executed and takes
 * no time of its own. */
int hplcast_region_begins(const char* name, double m, double n, double k);
/* The region ends. Ends the simulation for another region than the one that began last. */
void hplcast_region_ends(const char* name);

/* The calling rank begins panel `panel` of `panels` (hplcast/region.h). */
long hplcast_panel(long panel, long panels, long round);

/* A wrapper of a function of MPI as the program calls it: its frame, which the compiler chains to those of its callers
 * (-fno-omit-frame-pointer), and the address in the program where it returns to. */
struct hplcast_frame {
  const void* frame;
  const void* site;
};

/* The calling rank comes to `function` of MPI, or to MPI_Wtime: the stretch of code since the last such call ends, and its
 * time is spent, where the settings say so (rest `counted`). `instructions`: what the rank has executed so far, in
 * the same place each time; null: the program does not count. Before hplcast_before_mpi(). Not for local functions.
 * Nothing outside of ranks. */
void hplcast_comes_to(const char* function, struct hplcast_frame from, const uint64_t* instructions);

/* Spends the pending delay of the calling rank in simulated time, and before it the benched time of the rest, if it is
 * benched; after the call the rest is benched again. Around every MPI call and clock read: `function` is its name,
 * which must live on, or "clock". Nothing outside of ranks. */
void hplcast_before_mpi(const char* function);
/* Likewise, but the delay stays pending: before calls that neither send nor wait nor tell a time. */
void hplcast_enter_mpi(const char* function);
void hplcast_after_mpi(void);

/* Whether routines are to be executed, too (--numerics run): then a routine calls that of a real BLAS between the other
 * two, so that it is not benched. */
int hplcast_numerics(void);
void hplcast_numerics_begin(void);
void hplcast_numerics_end(void);
/* The function of that name in a real BLAS, which is loaded at the first call. */
void* hplcast_real_routine(const char* name);

/* Ends the simulation with this message and exit code 3. */
void hplcast_stop(const char* message);

/* `size` bytes that all large allocations of all ranks share, filled with 1.0 at first; null if they are fewer than
 * share_above_bytes of the settings, or these say nothing. */
void* hplcast_share(size_t size);
/* Bytes of what hplcast_share() has given; 0 for any other address. */
size_t hplcast_shared_size(const void* memory);
void hplcast_unshare(void* memory);
/* Whether what is there is shared between ranks, so that it means nothing. */
int hplcast_is_shared(const void* address);

HPLCAST_END_C

#endif
