/* MPI functions of a simulated program: the pending delay of the rank is spent before SMPI sees the call. The linker
 * turns calls of NAME into __wrap_NAME (--wrap). */
#ifndef HPLCAST_MPI_WRAP_H
#define HPLCAST_MPI_WRAP_H

#include <mpi.h>

#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "modelled_calls.h"

#define HPLCAST_DECLARE_REAL(NAME) extern long __real_##NAME HPLCAST_TYPES __attribute__((weak))

/* The program comes to a function of MPI that ends a stretch of its code. In Fortran's wrappers of functions that C's
 * do, HPLCAST_COMES_FROM_FORTRAN goes before. */
#define HPLCAST_COMES                                                                                        \
  hplcast_comes_to(HPLCAST_LABEL, hplcast_frame_of(__builtin_frame_address(0), __builtin_return_address(0)), \
                   hplcast_instruction_counter())
static inline struct hplcast_frame hplcast_frame_of(const void* frame, const void* site) {
  const struct hplcast_frame here = {frame, site}, in_fortran = hplcast_frame_in_fortran;
  hplcast_frame_in_fortran = (struct hplcast_frame){NULL, NULL};
  return in_fortran.site != NULL ? in_fortran : here;
}

/* HPLCAST_LABEL: the name of the function in C. `before` and `after`: statements. */
#define HPLCAST_WRAP(NAME, before, after)                \
  HPLCAST_DECLARE_REAL(NAME);                            \
  long __wrap_##NAME HPLCAST_PARAMETERS {                \
    before;                                              \
    const long result = __real_##NAME HPLCAST_ARGUMENTS; \
    after;                                               \
    hplcast_after_mpi();                                 \
    return result;                                       \
  }

#define HPLCAST_WRAP_MPI(NAME) HPLCAST_WRAP(NAME, HPLCAST_COMES; hplcast_before_mpi(HPLCAST_LABEL), )
#define HPLCAST_WRAP_LOCAL(NAME) HPLCAST_WRAP(NAME, hplcast_enter_mpi(HPLCAST_LABEL), )
#define HPLCAST_ITSELF \
  { HPLCAST_LABEL, HPLCAST_LABEL, -1 }
#define HPLCAST_WRAP_WORK(NAME)                                              \
  HPLCAST_WRAP(NAME, static struct hplcast_variant variant = HPLCAST_ITSELF; \
               hplcast_enter_mpi(HPLCAST_LABEL), hplcast_spend_if_known(&variant))
#define HPLCAST_WRAP_PACK(NAME, count, type) \
  HPLCAST_WRAP(NAME, hplcast_enter_mpi(HPLCAST_LABEL), hplcast_spend_packing(HPLCAST_LABEL, count, type))
#define HPLCAST_TYPE_C(argument) ((MPI_Datatype)(argument))
#define HPLCAST_TYPE_FORTRAN(argument) MPI_Type_f2c(HPLCAST_INT_FORTRAN(argument))
/* Where messages are not SMPI's, it is the runtime's. */
#define HPLCAST_WRAP_OURS(NAME)                                                                      \
  long hplcast_##NAME HPLCAST_TYPES;                                                                 \
  HPLCAST_WRAP(NAME, HPLCAST_COMES; if (hplcast_messages()) return hplcast_##NAME HPLCAST_ARGUMENTS; \
               hplcast_before_mpi(HPLCAST_LABEL), )
#define HPLCAST_WRAP_OURS_LOCALLY(NAME)                                               \
  long hplcast_##NAME HPLCAST_TYPES;                                                  \
  HPLCAST_WRAP(NAME, if (hplcast_messages()) return hplcast_##NAME HPLCAST_ARGUMENTS; \
               hplcast_enter_mpi(HPLCAST_LABEL), )
#define HPLCAST_WRAP_REFUSED(NAME) \
  HPLCAST_WRAP(NAME, HPLCAST_COMES; hplcast_refuse(HPLCAST_LABEL); hplcast_before_mpi(HPLCAST_LABEL), )

/* SMPI combines in another order than MPI_Scan and its kin have to. */
#define HPLCAST_WRAP_SCANS(NAME, operation)                                          \
  HPLCAST_WRAP(NAME, HPLCAST_COMES; hplcast_warn_of_order(HPLCAST_LABEL, operation); \
               hplcast_before_mpi(HPLCAST_LABEL), )
#define HPLCAST_OP_C(argument) ((MPI_Op)(argument))
#define HPLCAST_OP_FORTRAN(argument) MPI_Op_f2c(HPLCAST_INT_FORTRAN(argument))
static inline void hplcast_warn_of_order(const char* function, MPI_Op operation) {
  int commutes = 1;
  PMPI_Op_commutative(operation, &commutes);
  if (!commutes) hplcast_warn_of_scan(function);
}

/* An argument as the communicator that it is, or the place of a new one. */
#define HPLCAST_COMM_C(argument) ((MPI_Comm)(argument))
#define HPLCAST_COMM_FORTRAN(argument) MPI_Comm_f2c(HPLCAST_INT_FORTRAN(argument))
#define HPLCAST_NEW_COMM_C(argument) (*(MPI_Comm*)(argument))
#define HPLCAST_NEW_COMM_FORTRAN(argument) MPI_Comm_f2c(HPLCAST_INT_FORTRAN(argument))

/* `root`: -1 where everybody waits for the last one. `alone`: statements before it is called. */
#define HPLCAST_WRAP_COLLECTIVE(NAME, meets, root, communicator, alone) \
  HPLCAST_WRAP(NAME, HPLCAST_COMES; hplcast_before_collective(HPLCAST_LABEL, meets, root, communicator); alone, )
#define HPLCAST_WRAP_CREATING(NAME, of, made)                   \
  HPLCAST_WRAP(NAME, HPLCAST_COMES; const MPI_Comm parent = of; \
               hplcast_before_mpi(HPLCAST_LABEL), hplcast_communicator_made(parent, made))
/* `call`: what does the same on a communicator of one rank: SMPI's reduction of Open MPI sends to rank -1 there, or
 * gives no results, and those of Intel MPI wait for ever. */
#define HPLCAST_ALONE(communicator, call)    \
  if (hplcast_ranks_of(communicator) == 1) { \
    const long alone_result = call;          \
    hplcast_after_mpi();                     \
    return alone_result;                     \
  }
/* As Open MPI does it; SMPI's algorithms divide by the bytes. `error`: in Fortran. */
static inline int hplcast_ends_at_once(int elements, MPI_Fint* error) {
  if (elements != 0) return 0;
  if (error != NULL) *error = MPI_SUCCESS;
  hplcast_after_mpi();
  return 1;
}
HPLCAST_DECLARE_REAL(MPI_Scan);
HPLCAST_DECLARE_REAL(mpi_scan_);
HPLCAST_DECLARE_REAL(MPI_Gather);
HPLCAST_DECLARE_REAL(mpi_gather_);
HPLCAST_DECLARE_REAL(MPI_Gatherv);
HPLCAST_DECLARE_REAL(mpi_gatherv_);
static const MPI_Fint hplcast_root = 0; /* in Fortran */

static inline int hplcast_ranks_of(MPI_Comm communicator) {
  int ranks = 0;
  return PMPI_Comm_size(communicator, &ranks) == MPI_SUCCESS ? ranks : 0;
}
static inline int hplcast_most(const int* counts, MPI_Comm communicator) {
  int most = 0;
  for (int i = hplcast_ranks_of(communicator) - 1; i >= 0; --i) most = counts[i] > most ? counts[i] : most;
  return most;
}

#endif
