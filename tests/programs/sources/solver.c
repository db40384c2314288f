/* A small program of BLAS and MPI, compiled for real MPI and for simulations: each rank makes known calls, and then all
 * meet. Arguments: N, repetitions. Prints what it measured with MPI_Wtime. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/region.h"

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dcopy_(const int* n, const double* x, const int* incx, double* y, const int* incy);
double ddot_(const int* n, const double* x, const int* incx, const double* y, const int* incy);
int idamax_(const int* n, const double* x, const int* incx);
enum { row_major = 101, no_trans = 111, trans = 112 };
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = argc > 1 ? atoi(argv[1]) : 100, repetitions = argc > 2 ? atoi(argv[2]) : 2, half = n / 2, one = 1, two = 2;
  const double factor = 0.5;
  const size_t elements = (size_t)n * (size_t)n;
  double* const a = malloc(elements * sizeof *a);
  double* const b = malloc(elements * sizeof *b);
  double* const c = malloc(elements * sizeof *c);
  HPLCAST_REGION_BEGIN("fill", n, n, 1)
  for (size_t i = 0; i < elements; ++i) a[i] = b[i] = c[i] = 1.0 / (double)(1 + i % 1000);
  HPLCAST_REGION_END("fill")
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    dgemm_("N", "T", &n, &half, &n, &factor, a, &n, b, &n, &factor, c, &n);
    dtrsm_("R", "U", "N", "U", &n, &half, &factor, a, &n, b, &n);
    cblas_dgemv(row_major, trans, n, half, factor, a, n, b, 1, factor, c, 1);
    dcopy_(&half, a, &two, c, &one);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const double elapsed_s = MPI_Wtime() - begin_s;
  double least = c[0], sum = 0;
  const int largest = idamax_(&n, a, &one);
  least = a[largest - 1] * 0 + (c[1] == a[2]);
  MPI_Allreduce(&least, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("elapsed %.12g s on %d ranks\n", elapsed_s, ranks);
    printf("index in range %d, copied on %g ranks, dot %g\n", largest >= 1 && largest <= n, sum, ddot_(&n, a, &one, a, &one) * 0);
  }
  free(a);
  free(b);
  free(c);
  MPI_Finalize();
  return 0;
}
