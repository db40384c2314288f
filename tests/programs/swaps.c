/* Swaps rows of a matrix of order n: for a real run that is observed. */
#include <mpi.h>
#include <stdlib.h>

void dswap_(const int* n, double* x, const int* incx, double* y, const int* incy);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = 300;
  double* const a = calloc((size_t)n * (size_t)n, sizeof *a);
  for (int i = 1; a != NULL && i < n; ++i) dswap_(&n, a, &n, a + i, &n);
  free(a);
  MPI_Finalize();
  return 0;
}
