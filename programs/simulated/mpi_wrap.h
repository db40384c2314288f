/* MPI functions of a simulated program: the pending delay of the rank is spent before SMPI sees the call. The linker
 * turns calls of NAME into __wrap_NAME (--wrap). HPLCAST_LABEL: the name of the function in C. */
#ifndef HPLCAST_MPI_WRAP_H
#define HPLCAST_MPI_WRAP_H

#include <mpi.h>

#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "modelled_calls.h"

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

/* SMPI combines in another order than MPI_Scan and its kin have to. */
static inline void hplcast_warn_of_order(const char* function, MPI_Op operation) {
  int commutes = 1;
  PMPI_Op_commutative(operation, &commutes);
  if (!commutes) hplcast_warn_of_scan(function);
}

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
