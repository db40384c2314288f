/* MPI_Abort of a simulated program ends the simulation as a failure. SMPI would end the ranks, and all that was counted
 * until then would look like a run. The linker turns calls of NAME into __wrap_NAME. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void end(int code) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fflush(NULL);
  fprintf(stderr, "hplcast: rank %d called MPI_Abort with code %d\n", rank, code);
  _exit(code > 0 && code < 126 ? code : 1);
}

int __wrap_MPI_Abort(MPI_Comm communicator, int code) {
  (void)communicator;
  end(code);
  return MPI_SUCCESS;
}

void __wrap_mpi_abort_(const int* communicator, const int* code, int* error) {
  (void)communicator;
  (void)error;
  end(*code);
}
