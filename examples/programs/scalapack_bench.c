/* Times one routine of ScaLAPACK in double precision: the same source for real runs and for simulations.
 *
 *     scalapack_bench getrf|potrf|geqrf|gemm N NB P Q [check]
 *
 * check: after getrf also solves for N right hand sides, and prints what the pivots and the solutions come to, to the last
 * digit: the same in real runs and in simulations with --numerics run. The time has that in it.
 * Prints "time S", and the CPU time of the first rank, which other programs do not stretch (with several ranks it has the
 * waiting in it). Linked with libscalapack.a of get-scalapack. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hplcast/region.h"

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int go_on);
int numroc_(const int* n, const int* nb, const int* process, const int* source, const int* processes);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* row, const int* column,
               const int* context, const int* lld, int* info);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc, int* pivots, int* info);
void pdgetrs_(const char* trans, const int* n, const int* columns, const double* a, const int* ia, const int* ja,
              const int* desca, const int* pivots, double* b, const int* ib, const int* jb, const int* descb, int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desc, int* info);
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc, double* tau, double* work,
              const int* length, int* info);
void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desca, const double* b, const int* ib, const int* jb,
             const int* descb, const double* beta, double* c, const int* ic, const int* jc, const int* descc);

struct matrix {
  int n, rows, columns, row, column, process_rows, process_columns, nb;
  int desc[9];
  double* values;
};

static struct matrix new_matrix(int n, int nb, int context) {
  const int zero = 0;
  struct matrix a = {.n = n, .nb = nb};
  Cblacs_gridinfo(context, &a.process_rows, &a.process_columns, &a.row, &a.column);
  a.rows = numroc_(&n, &nb, &a.row, &zero, &a.process_rows);
  a.columns = numroc_(&n, &nb, &a.column, &zero, &a.process_columns);
  const int lld = a.rows > 1 ? a.rows : 1;
  int info = 0;
  descinit_(a.desc, &n, &n, &nb, &nb, &zero, &zero, &context, &lld, &info);
  a.values = malloc(((size_t)lld * (size_t)a.columns + 1) * sizeof(double));
  if (info != 0 || a.values == NULL) {
    fprintf(stderr, "scalapack_bench: no matrix of order %d (descinit: %d)\n", n, info);
    exit(3);
  }
  return a;
}

/* Random numbers; `definite`: with a diagonal that makes the matrix positive definite, and pivots unnecessary. */
static void fill(struct matrix* a, int definite) {
  HPLCAST_REGION_BEGIN("fill", a->rows, a->columns, 1)
  unsigned long state = 12345 + 977 * (unsigned long)(a->row * a->process_columns + a->column);
  for (size_t i = 0; i < (size_t)a->rows * (size_t)a->columns; ++i) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    a->values[i] = (double)(state >> 33) / 2147483648.0 - 0.5;
  }
  HPLCAST_REGION_END("fill")
  /* QR does nothing with a column of zeros, which a region that is not executed leaves: one number in each. */
  for (int j = 0; j < a->columns && a->rows > 0; ++j)
    a->values[(size_t)(j + 1) * (size_t)a->rows - 1] = 1 + (double)((31 * j + 17 * a->row) % 101) / 101;
  for (int j = 0; definite && j < a->columns; ++j) {
    const int global = ((j / a->nb) * a->process_columns + a->column) * a->nb + j % a->nb;
    if ((global / a->nb) % a->process_rows != a->row) continue;
    const int i = (global / a->nb) / a->process_rows * a->nb + global % a->nb;
    a->values[(size_t)j * (size_t)a->rows + (size_t)i] = a->n;
  }
}

/* All ranks; the first one prints. */
static void check(const struct matrix* a, const struct matrix* b, const int* pivots) {
  const int one = 1;
  int info = 0, rank;
  pdgetrs_("N", &a->n, &a->n, a->values, &one, &one, a->desc, pivots, b->values, &one, &one, b->desc, &info);
  unsigned long hash = 0, all = 0;
  for (int i = 0; i < a->rows; ++i) hash = hash * 31 + (unsigned long)pivots[i];
  for (size_t i = 0; i < (size_t)b->rows * (size_t)b->columns; ++i) {
    unsigned long bits;
    memcpy(&bits, &b->values[i], sizeof bits);
    hash = hash * 31 + bits;
  }
  MPI_Allreduce(&hash, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("check: info %d, first solution %.17g, pivots and solutions %lx\n", info, b->values[0], all);
}

/* `b` has values: right hand sides to check getrf with. */
static int factor(const char* what, struct matrix* a, struct matrix* b, struct matrix* c) {
  const int one = 1;
  int info = 0;
  if (strcmp(what, "getrf") == 0) {
    int* const pivots = malloc((size_t)(a->rows + a->nb) * sizeof *pivots);
    pdgetrf_(&a->n, &a->n, a->values, &one, &one, a->desc, pivots, &info);
    if (b->values != NULL) check(a, b, pivots);
    free(pivots);
  } else if (strcmp(what, "potrf") == 0) {
    pdpotrf_("L", &a->n, a->values, &one, &one, a->desc, &info);
  } else if (strcmp(what, "geqrf") == 0) {
    double* const tau = malloc((size_t)(a->columns + a->nb) * sizeof *tau);
    const int length = a->nb * (a->rows + a->columns + 2 * a->nb);
    double* const work = malloc((size_t)length * sizeof *work);
    pdgeqrf_(&a->n, &a->n, a->values, &one, &one, a->desc, tau, work, &length, &info);
    free(work);
    free(tau);
  } else {
    const double alpha = 1;
    pdgemm_("N", "N", &a->n, &a->n, &a->n, &alpha, a->values, &one, &one, a->desc, b->values, &one, &one, b->desc, &alpha,
            c->values, &one, &one, c->desc);
  }
  return info;
}

static double cpu_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const routines[] = {"getrf", "potrf", "geqrf", "gemm"};
  int known = 0;
  const int checks = argc == 7 && strcmp(argv[1], "getrf") == 0 && strcmp(argv[6], "check") == 0;
  for (size_t i = 0; (argc == 6 || checks) && i < sizeof routines / sizeof *routines; ++i) known |= strcmp(argv[1], routines[i]) == 0;
  if (!known) {
    fprintf(stderr, "usage: scalapack_bench getrf|potrf|geqrf|gemm N NB P Q, or getrf N NB P Q check\n");
    exit(2);
  }
  const int n = atoi(argv[2]), nb = atoi(argv[3]);
  int context, rank;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row-major", atoi(argv[4]), atoi(argv[5]));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct matrix a = new_matrix(n, nb, context), b = {0}, c = {0};
  fill(&a, strcmp(argv[1], "potrf") == 0);
  if (strcmp(argv[1], "gemm") == 0) {
    b = new_matrix(n, nb, context);
    c = new_matrix(n, nb, context);
    fill(&b, 0);
    fill(&c, 0);
  }
  if (checks) {
    b = new_matrix(n, nb, context);
    fill(&b, 1);  /* another matrix than a */
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime(), begin_cpu_s = cpu_s();
  const int info = factor(argv[1], &a, &b, &c);
  MPI_Barrier(MPI_COMM_WORLD);
  const double time_s = MPI_Wtime() - begin_s, used_s = cpu_s() - begin_cpu_s;
  if (info != 0) {
    fprintf(stderr, "scalapack_bench: %s failed with info = %d\n", argv[1], info);
    exit(1);
  }
  if (rank == 0) printf("time %.6f s, cpu %.6f s for %s N=%d NB=%d %sx%s\n", time_s, used_s, argv[1], n, nb, argv[4], argv[5]);
  free(a.values);
  free(b.values);
  free(c.values);
  Cblacs_gridexit(context);
  Cblacs_exit(1);
  MPI_Finalize();
  return 0;
}
