/* What ranks of HPL do, for C and C++: the one list of its phases, and of the MPI operations that are told apart. Enums
 * (hplcast_activity.h, hplcast_smpi.h), names in statistics, tables and traces, of simulated and of real runs, follow
 * from it. X(NAME, name): HPLCAST_PHASE_NAME or HPLCAST_MPI_NAME in C; the name in files. */
#ifndef HPLCAST_ACTIVITY_LIST_H
#define HPLCAST_ACTIVITY_LIST_H

/* clang-format off */
#define HPLCAST_PHASES(X)                                                             \
  X(OTHER, other) /* the rest, from the beginning of HPL_pdgesv to its end */         \
  X(FACTORISATION, factorisation)                                                     \
  X(BROADCAST, broadcast)                                                             \
  X(SWAP, swap)                                                                       \
  X(UPDATE, update)                                                                   \
  X(SOLVE, solve)

#define HPLCAST_MPI_OPERATIONS(X)                                                     \
  X(SEND, send)                                                                       \
  X(SSEND, ssend)                                                                     \
  X(ISEND, isend)                                                                     \
  X(ISSEND, issend)                                                                   \
  X(RECV, recv)                                                                       \
  X(IRECV, irecv)                                                                     \
  X(SENDRECV, sendrecv) /* bytes: of the message sent */                              \
  X(IPROBE, iprobe)                                                                   \
  X(TEST, test)                                                                       \
  X(WAIT, wait)                                                                       \
  X(COLLECTIVE, collective)
/* clang-format on */

#endif
