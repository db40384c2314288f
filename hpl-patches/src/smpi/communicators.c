/* HPL's communicators are those of the runtime, which one object serves for all of their ranks. Messages in them go
 * between ranks of MPI_COMM_WORLD (mpi_calls.c). */
#include <mpi.h>

#include "channels.h"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "wrap.h"

WRAP(int, MPI_Comm_split, MPI_Comm comm, int color, int key, MPI_Comm* part) {
  hplcast_count_message(HPLCAST_MPI_COLLECTIVE, 0);
  *part = (MPI_Comm)hplcast_split(communicator_of(comm), color == MPI_UNDEFINED ? -1 : color, key);
  if (*part == NULL) *part = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

WRAP(int, MPI_Comm_rank, MPI_Comm comm, int* rank) {
  *rank = hplcast_rank_in(communicator_of(comm));
  return MPI_SUCCESS;
}

WRAP(int, MPI_Comm_size, MPI_Comm comm, int* size) {
  *size = communicator_of(comm)->size;
  return MPI_SUCCESS;
}

WRAP(int, MPI_Comm_free, MPI_Comm* comm) {
  hplcast_free(communicator_of(*comm));
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
