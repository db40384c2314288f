/* A program that SMPI's own compiler links, without hplcast. Of what it calls only exit makes it need libsimgrid: mpi.h of
   SMPI declares weak functions. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  exit(EXIT_SUCCESS);
}
