/* Makes HPC Challenge's copy of HPL a program of its own: its main, and what the rest of HPC Challenge would have
 * provided. */
#include <string.h>

#include "hpl.h"
#include "wrap.h"

/* What HPC Challenge hands over to be filled in is not looked at here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int HPL_main(int argc, char** argv, HPL_RuntimeData* result, int* failure);

/* HPC Challenge reads hpccinf.txt and appends to hpccoutf.txt; HPL reads HPL.dat and, with 6 in it, writes to stdout.
 */
WRAP(FILE*, fopen, const char* path, const char* mode) {
  if (strcmp(path, "hpccinf.txt") == 0) return __real_fopen("HPL.dat", mode);
  if (strcmp(path, "hpccoutf.txt") == 0) return stdout;
  return __real_fopen(path, mode);
}

/* Called by every rank when the input is wrong; HPC Challenge would go on with values of its own, HPL stops. */
int HPCC_Defaults(HPL_T_test* test, int* ns, int* n, int* nbs, int* nb, HPL_T_ORDER* order, int* grids, int* p, int* q,
                  int* pfacts, HPL_T_FACT* pfact, int* nbmins, int* nbmin, int* ndivs, int* ndiv, int* rfacts,
                  HPL_T_FACT* rfact, int* topologies, HPL_T_TOP* topology, int* depths, int* depth, HPL_T_SWAP* swap,
                  int* swap_threshold, int* l1_transposed, int* u_transposed, int* equilibration, int* alignment,
                  MPI_Comm comm) {
  int rank = 0;
  (void)MPI_Comm_rank(comm, &rank);
  if (rank == 0) HPL_pwarn(stderr, __LINE__, "HPL_pdinfo", "%s", "Illegal input in file HPL.dat. Exiting ...");
  (void)MPI_Finalize();
  exit(1);
}

int main(int argc, char** argv) {
  HPL_RuntimeData result;
  int failure = 0;
  memset(&result, 0, sizeof result);
  (void)MPI_Init(&argc, &argv);
  (void)HPL_main(argc, argv, &result, &failure);
  (void)MPI_Finalize();
  return 0;
}
