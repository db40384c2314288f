/* Put before every file of HPL: names of MPI-1 that HPL before 2.3 uses and MPI-3 took away. */
#ifndef HPLCAST_HPL_OLD_NAMES_H
#define HPLCAST_HPL_OLD_NAMES_H

#include <mpi.h>

#undef MPI_Address
#undef MPI_Type_struct
#define MPI_Address MPI_Get_address
#define MPI_Type_struct MPI_Type_create_struct

#endif
