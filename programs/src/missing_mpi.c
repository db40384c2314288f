/* Functions of MPI that SMPI 3.32 lacks, and programs call. Weak: a SimGrid that has them keeps its own. */
#include <mpi.h>

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
