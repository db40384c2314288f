/* A program that solves systems by LAPACK, compiled for real MPI and for simulations. Arguments: N, repetitions. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* pivots, double* b, const int* ldb, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork, int* info);

static double* random_values(size_t count) {
  double* const values = malloc(count * sizeof *values);
  unsigned long state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    values[i] = (double)(state >> 33) / 2147483648.0 - 0.5;
  }
  return values;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 100, repetitions = argc > 2 ? atoi(argv[2]) : 1, nrhs = 2, query = -1;
  const size_t elements = (size_t)n * (size_t)n;
  double *const kept = random_values(elements), *const a = malloc(elements * sizeof *a), *const b = random_values(2 * (size_t)n);
  double* const tau = malloc((size_t)n * sizeof *tau);
  int* const pivots = malloc((size_t)n * sizeof *pivots);
  double length = 0, elapsed_s = 0, sum = 0;
  int info = 0, failed = 0;
  dgeqrf_(&n, &n, a, &n, tau, &length, &query, &info);
  const int lwork = (int)length;
  double* const work = malloc((size_t)lwork * sizeof *work);
  for (int i = 0; i < repetitions; ++i) {
    memcpy(a, kept, elements * sizeof *a);
    const double begin_s = MPI_Wtime();
    dgesv_(&n, &nrhs, a, &n, pivots, b, &n, &info);
    failed |= info;
    elapsed_s += MPI_Wtime() - begin_s;
    memcpy(a, kept, elements * sizeof *a);
    dgeqrf_(&n, &n, a, &n, tau, work, &lwork, &info);
    failed |= info;
  }
  for (int i = 0; i < n; ++i) sum += fabs(b[i]);
  printf("elapsed %.12g s\nsum %.12g, last pivot %d, info %d, work %d\n", elapsed_s, sum, pivots[n - 1], failed, lwork >= n);
  free(kept);
  free(a);
  free(b);
  free(tau);
  free(pivots);
  free(work);
  MPI_Finalize();
  return 0;
}
