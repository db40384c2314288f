/* A program whose results depend on what is computed: LU with partial pivoting and the solution, on each rank for itself,
 * by routines of BLAS alone. Compiled for real MPI and for simulations. Arguments: N, contents of the matrix (random, nan
 * or ones). Prints pivots, the solution and a residual. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/region.h"

int idamax_(const int* n, const double* x, const int* incx);
void dswap_(const int* n, double* x, const int* incx, double* y, const int* incy);
void dscal_(const int* n, const double* alpha, double* x, const int* incx);
void dger_(const int* m, const int* n, const double* alpha, const double* x, const int* incx, const double* y, const int* incy,
           double* a, const int* lda);
void dtrsv_(const char* uplo, const char* trans, const char* diag, const int* n, const double* a, const int* lda, double* x,
            const int* incx);
void dgemv_(const char* trans, const int* m, const int* n, const double* alpha, const double* a, const int* lda, const double* x,
            const int* incx, const double* beta, double* y, const int* incy);
double dnrm2_(const int* n, const double* x, const int* incx);
double _Complex zdotc_(const int* n, const double _Complex* x, const int* incx, const double _Complex* y, const int* incy);
enum { row_major = 101 };
size_t cblas_idamax(int n, const double* x, int incx);
float cblas_sdot(int n, const float* x, int incx, const float* y, int incy);

static void fill(double* values, size_t count, unsigned long state, const char* contents) {
  HPLCAST_REGION_BEGIN("fill", count, 1, 1)
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    values[i] = (double)(state >> 33) / 2147483648.0 - 0.5;
    if (strcmp(contents, "nan") == 0) values[i] = NAN;
    if (strcmp(contents, "ones") == 0) values[i] = 1;
  }
  HPLCAST_REGION_END("fill")
}

/* dgetf2 and dgetrs; @return info */
static int solve(int n, double* a, double* b, unsigned long* pivots) {
  const int one = 1;
  int info = 0;
  for (int j = 0; j < n; ++j) {
    const int below = n - j, right = n - j - 1;
    double* const column = a + (size_t)j * (size_t)n + j;
    const int pivot = j + idamax_(&below, column, &one) - 1;
    *pivots = *pivots * 31 + (unsigned long)pivot;
    if (column[pivot - j] == 0) {
      if (info == 0) info = j + 1;
      continue;
    }
    dswap_(&n, a + j, &n, a + pivot, &n);
    const double kept = b[j], factor = 1 / column[0], minus = -1;
    b[j] = b[pivot];
    b[pivot] = kept;
    if (right == 0) continue;
    dscal_(&right, &factor, column + 1, &one);
    dger_(&right, &right, &minus, column + 1, &one, column + n, &n, column + n + 1, &n);
  }
  dtrsv_("L", "N", "U", &n, a, &n, b, &one);
  dtrsv_("U", "N", "N", &n, a, &n, b, &one);
  return info;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = argc > 1 ? atoi(argv[1]) : 100, one = 1;
  const char* const contents = argc > 2 ? argv[2] : "random";
  const size_t elements = (size_t)n * (size_t)n;
  double *const a = malloc(elements * sizeof *a), *const kept = malloc(elements * sizeof *kept);
  double *const b = malloc((size_t)n * sizeof *b), *const x = malloc((size_t)n * sizeof *x);
  fill(a, elements, 1000 + (unsigned long)rank, contents);
  fill(b, (size_t)n, 7, "random");
  memcpy(kept, a, elements * sizeof *a);
  memcpy(x, b, (size_t)n * sizeof *x);
  unsigned long pivots = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  const int info = solve(n, a, x, &pivots);
  MPI_Barrier(MPI_COMM_WORLD);
  const double elapsed_s = MPI_Wtime() - begin_s, plus = 1, minus = -1;
  dgemv_("N", &n, &n, &plus, kept, &n, x, &one, &minus, b, &one);
  double mine[2] = {dnrm2_(&n, b, &one), dnrm2_(&n, x, &one)}, sums[2];
  MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const float s[3] = {1, 2, 3};
  const double _Complex z[2] = {1 + 2 * I, 3};
  const double _Complex dot = zdotc_(&one, z, &one, z + 1, &one);
  if (rank == 0) {
    printf("elapsed %.12g s\n", elapsed_s);
    printf("info %d pivots %lx residual %.17g solution %.17g x0 %.17g\n", info, pivots, sums[0], sums[1], x[0]);
    printf("cblas %zu %g complex %g %g\n", cblas_idamax(n, kept, 1), (double)cblas_sdot(3, s, 1, s, 1), creal(dot), cimag(dot));
  }
  free(a);
  free(kept);
  free(b);
  free(x);
  MPI_Finalize();
  return 0;
}
