/* Functions of MPI that are ours in a simulated program, and its interface. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* --- MPI_Abort ---------------------------------------------------------------------------------------------------- */

/* Ends the simulation as a failure. SMPI would end the ranks, and all that was counted until then would look like a
 * run. The linker turns calls of NAME into __wrap_NAME. */
int __wrap_MPI_Abort(MPI_Comm communicator, int code) {
  int rank = -1;
  (void)communicator;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fflush(NULL);
  fprintf(stderr, "hplcast: rank %d called MPI_Abort with code %d\n", rank, code);
  _exit(code > 0 && code < 126 ? code : 1);
}

/* --- functions that SMPI 3.32 lacks, and programs call ------------------------------------------------------------ */

/* Weak: a SimGrid that has them keeps its own. */

/* BLACS asks for types of Fortran by their sizes. */
#pragma weak MPI_Type_match_size
int MPI_Type_match_size(int typeclass, int size, MPI_Datatype* type) {
  const MPI_Datatype integers[] = {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T};
  const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE};
  const MPI_Datatype complexes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};
  const MPI_Datatype* list = typeclass == MPI_TYPECLASS_INTEGER ? integers
                             : typeclass == MPI_TYPECLASS_REAL  ? reals
                                                                : complexes;
  const int first = typeclass == MPI_TYPECLASS_INTEGER ? 1 : typeclass == MPI_TYPECLASS_REAL ? 4 : 8;
  const int count = typeclass == MPI_TYPECLASS_INTEGER ? 4 : 2;
  for (int i = 0; i < count; ++i) {
    if (size != first << i) continue;
    *type = list[i];
    return MPI_SUCCESS;
  }
  return MPI_ERR_ARG;
}

/* Tells observers where to look; the simulation looks everywhere. */
#pragma weak MPI_Pcontrol
int MPI_Pcontrol(const int level, ...) {
  (void)level;
  return MPI_SUCCESS;
}

#pragma weak mpi_pcontrol_
void mpi_pcontrol_(const int* level) {
  (void)level;
}

/* --- the interface ------------------------------------------------------------------------------------------------ */

/* A program that was linked for another version of the runtime is told, in place of going wrong. The linker is asked
 * for this name, so that the file is linked. */
const int hplcast_interface_of_program = HPLCAST_INTERFACE;

__attribute__((constructor)) static void require_interface(void) {
  hplcast_require_interface(hplcast_interface_of_program);
}
