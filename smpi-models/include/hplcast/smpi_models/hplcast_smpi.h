/* The C side of hplcast's SMPI runtime: what a simulated program, its replaced kernels and model.h call.
 *
 * Parameters of kernels: a kernel has at most three sizes (m, n, k); what a kernel does not have is 1.
 * Nothing here throws or returns an error: a call that cannot be served ends the simulation with a message on stderr. */
#ifndef HPLCAST_SMPI_H
#define HPLCAST_SMPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels that HPL calls, in the order of hplcast::core::KernelId. */
typedef enum {
  HPLCAST_DGEMM, /* C(m,n) += A(m,k) B(k,n) */
  HPLCAST_DTRSM, /* m x n right-hand side; k is the order of the triangle (m if left, n if right) */
  HPLCAST_DGEMV, /* m x n matrix */
  HPLCAST_DGER,  /* m x n matrix */
  HPLCAST_DTRSV, /* n is the order of the triangle */
  HPLCAST_DAXPY, /* n elements, and so on below */
  HPLCAST_DSCAL,
  HPLCAST_DSWAP,
  HPLCAST_DCOPY,
  HPLCAST_IDAMAX,
  HPLCAST_DLACPY,  /* m x n */
  HPLCAST_DLATCPY, /* m x n */
  HPLCAST_DLASWP00N, /* m rows (indices), n columns */
  HPLCAST_DLASWP01N,
  HPLCAST_DLASWP01T,
  HPLCAST_DLASWP02N,
  HPLCAST_DLASWP03N,
  HPLCAST_DLASWP03T,
  HPLCAST_DLASWP04N,
  HPLCAST_DLASWP04T,
  HPLCAST_DLASWP05N,
  HPLCAST_DLASWP05T,
  HPLCAST_DLASWP06N,
  HPLCAST_DLASWP06T,
  HPLCAST_DLASWP10N,
  HPLCAST_DLOCSWPN, /* n columns of a panel: local swap and copies of the current row */
  HPLCAST_DLOCSWPT,
  HPLCAST_KERNEL_COUNT
} hplcast_kernel;

/* Lower-case name as in cluster.json, for example "dgemm". */
const char* hplcast_kernel_name(hplcast_kernel kernel);

/* The calling rank spends the time of one call of `kernel`: drawn from the model of its CPU, added to its pending delay. */
void hplcast_kernel_call(hplcast_kernel kernel, double m, double n, double k);

/* Adds `duration_s` seconds (>= 0) to the pending delay of the calling rank. */
void hplcast_delay(double duration_s);

/* Spends the pending delay of the calling rank in simulated time. Called before every MPI call and clock read. */
void hplcast_flush(void);

/* A number in (0, 1] for the pivot search over `rows` local candidates: the maximum of `rows` uniform numbers, and which of
 * them it is (0 <= *row < rows). From the seeded stream of this rank. */
double hplcast_pivot(int rows, int* row);

#ifdef __cplusplus
}
#endif
#endif
