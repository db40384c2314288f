/* MPI functions of a simulated program: the pending delay of the rank is spent before SMPI sees the call. The linker
 * turns calls of NAME into __wrap_NAME (--wrap). No function of MPI has arguments other than integers and addresses, so
 * one shape does for all: what is more than a function takes is not looked at (calling conventions of x86-64 and
 * AArch64). */
#ifndef HPLCAST_MPI_WRAP_H
#define HPLCAST_MPI_WRAP_H

#include <mpi.h>

#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_program_messages.h"

/* The longest: mpi_get_accumulate_ with 13, mpi_dist_graph_create_adjacent_ with 11. `before` and `after`: statements. */
#define HPLCAST_WRAP(NAME, before, after)                                                                            \
  extern long __real_##NAME(long, long, long, long, long, long, long, long, long, long, long, long, long, long)      \
      __attribute__((weak));                                                                                         \
  long __wrap_##NAME(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, \
                     long m, long n) {                                                                               \
    before;                                                                                                          \
    const long result = __real_##NAME(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                     \
    after;                                                                                                           \
    hplcast_after_mpi();                                                                                             \
    return result;                                                                                                   \
  }

#define HPLCAST_WRAP_MPI(NAME) HPLCAST_WRAP(NAME, hplcast_before_mpi(#NAME), )
#define HPLCAST_WRAP_LOCAL(NAME) HPLCAST_WRAP(NAME, hplcast_enter_mpi(#NAME), )
#define HPLCAST_WRAP_REFUSED(NAME) HPLCAST_WRAP(NAME, hplcast_refuse(#NAME); hplcast_before_mpi(#NAME), )
/* `child`: the argument that is the new communicator. */
#define HPLCAST_WRAP_CREATING_C(NAME, child)                           \
  HPLCAST_WRAP(NAME, const MPI_Comm parent = (MPI_Comm)a; hplcast_before_mpi(#NAME), \
               if (hplcast_messages()) hplcast_communicator_made(parent, *(MPI_Comm*)child))
#define HPLCAST_WRAP_CREATING_FORTRAN(NAME, child)                                     \
  HPLCAST_WRAP(NAME, const MPI_Comm parent = MPI_Comm_f2c(*(MPI_Fint*)a); hplcast_before_mpi(#NAME), \
               if (hplcast_messages()) hplcast_communicator_made(parent, MPI_Comm_f2c(*(MPI_Fint*)child)))

/* Functions whose requests or communicators would be SMPI's, where messages are not. */
void hplcast_refuse(const char* name);

#endif
