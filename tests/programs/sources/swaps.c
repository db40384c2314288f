/* Swaps rows of a matrix of order n, and packs them: for a real run that is observed. */
#include <mpi.h>
#include <stdlib.h>

void dswap_(const int* n, double* x, const int* incx, double* y, const int* incy);

void cblas_dswap(int n, double* x, int incx, double* y, int incy);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = 300;
  double* const a = calloc((size_t)n * (size_t)n, sizeof *a);
  for (int i = 1; a != NULL && i < n; ++i) i % 2 ? dswap_(&n, a, &n, a + i, &n) : cblas_dswap(n, a, n, a + i, n);
  if (a != NULL) { /* a row, packed */
    MPI_Datatype row;
    char* const packed = malloc((size_t)n * sizeof *a);
    int place = 0;
    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    for (int i = 0; i < n; ++i) {
      place = 0;
      MPI_Pack(a + i, 1, row, packed, n * (int)sizeof *a, &place, MPI_COMM_WORLD);
    }
    MPI_Type_free(&row);
    place = 0;
    MPI_Type_contiguous(n, MPI_DOUBLE, &row); /* perhaps where the vector was */
    MPI_Type_commit(&row);
    MPI_Pack(a, 1, row, packed, n * (int)sizeof *a, &place, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    free(packed);
  }
  free(a);
  MPI_Finalize();
  return 0;
}
