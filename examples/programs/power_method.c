/* The power method: the largest eigenvalue of a symmetric matrix of order n. Each rank has some rows of the matrix; in
 * each iteration it multiplies them with the vector (dgemv), and all ranks get the new vector (MPI_Allgatherv).
 * docs/start/own-program.md predicts it.
 *
 *     mpirun -np 2 ./power_method 2000 */
#include <cblas.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int first_row(int n, int rank, int ranks) { return (int)((long)n * rank / ranks); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = argc > 1 ? atoi(argv[1]) : 1000, iterations = 100;
  if (n < ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  const int first = first_row(n, rank, ranks), rows = first_row(n, rank + 1, ranks) - first;

  double* matrix = malloc(sizeof(double) * rows * n);
  double *vector = malloc(sizeof(double) * n), *product = malloc(sizeof(double) * rows);
  int *counts = malloc(sizeof(int) * ranks), *begins = malloc(sizeof(int) * ranks);
  if (!matrix || !vector || !product || !counts || !begins) MPI_Abort(MPI_COMM_WORLD, 6);
  for (int i = 0; i < ranks; ++i) {
    begins[i] = first_row(n, i, ranks);
    counts[i] = first_row(n, i + 1, ranks) - begins[i];
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) matrix[(size_t)i * n + j] = 1.0 / (1 + first + i + j); /* Hilbert's */
  for (int j = 0; j < n; ++j) vector[j] = 1;

  double norm = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, n, 1, matrix, n, vector, 1, 0, product, 1);
    MPI_Allgatherv(product, rows, MPI_DOUBLE, vector, counts, begins, MPI_DOUBLE, MPI_COMM_WORLD);
    norm = cblas_dnrm2(n, vector, 1);
    cblas_dscal(n, 1 / norm, vector, 1);
  }
  const double time = MPI_Wtime() - begin;
  if (rank == 0) printf("n=%d ranks=%d eigenvalue %.6f time %.6f s\n", n, ranks, norm, time);
  MPI_Finalize();
  return 0;
}
