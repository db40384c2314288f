/* What the generated routines of a simulated program (modelled_routines.c) are made of. */
#ifndef HPLCAST_MODELLED_CALLS_H
#define HPLCAST_MODELLED_CALLS_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "call_shapes.h"
#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

/* A routine as the models know it; `number` is asked for at its first call. */
struct hplcast_variant {
  const char* name;
  const char* base;
  int number;
};

static inline int hplcast_number_of(struct hplcast_variant* variant) {
  if (variant->number < 0) variant->number = hplcast_routine(variant->name, variant->base);
  return variant->number;
}

static inline void hplcast_spend(struct hplcast_variant* variant, double m, double n, double k, double flop,
                                 int executed) {
  hplcast_routine_call(hplcast_number_of(variant), m, n, k, flop, executed);
}

/* Of a function of MPI, which is not benched: takes time only if it has a model. */
static inline void hplcast_spend_if_known(struct hplcast_variant* variant) {
  if (hplcast_routine_has_model(hplcast_number_of(variant))) hplcast_spend(variant, 1, 1, 1, 0, 0);
}

/* What the rank's code has executed, where it was compiled with --count (counted_instructions.c); null: without. */
extern uint64_t hplcast_instructions __attribute__((weak));
static inline const uint64_t* hplcast_instruction_counter(void) {
  return &hplcast_instructions;
}

/* Where Fortran's code called a function that the wrapper of C does for both; null: C's code calls it. */
extern struct hplcast_frame hplcast_frame_in_fortran;
#define HPLCAST_COMES_FROM_FORTRAN                          \
  hplcast_frame_in_fortran = (struct hplcast_frame) {       \
    __builtin_frame_address(0), __builtin_return_address(0) \
  }

/* BLAS counts from the other end where an increment is negative. */
static inline char* hplcast_first(void* x, size_t size, int n, int inc) {
  return (char*)x + (inc < 0 ? (ptrdiff_t)(1 - n) * inc * (ptrdiff_t)size : 0);
}

/* Moving what means nothing is left out. */
static inline int hplcast_both_shared(const void* x, const void* y) {
  return hplcast_is_shared(x) && hplcast_is_shared(y);
}

static inline void HPLCAST_COPY(size_t size, int n, void* x, int incx, void* y, int incy) {
  if (n <= 0 || hplcast_both_shared(x, y)) return;
  if (incx == 1 && incy == 1) {
    memmove(y, x, (size_t)n * size);
    return;
  }
  char *from = hplcast_first(x, size, n, incx), *to = hplcast_first(y, size, n, incy);
  for (int i = 0; i < n; ++i, from += (ptrdiff_t)size * incx, to += (ptrdiff_t)size * incy) memcpy(to, from, size);
}

static inline void HPLCAST_SWAP(size_t size, int n, void* x, int incx, void* y, int incy) {
  if (n <= 0 || hplcast_both_shared(x, y)) return;
  char *one = hplcast_first(x, size, n, incx), *other = hplcast_first(y, size, n, incy);
  for (int i = 0; i < n; ++i, one += (ptrdiff_t)size * incx, other += (ptrdiff_t)size * incy) {
    char kept[16]; /* the longest element: double complex */
    memcpy(kept, one, size);
    memcpy(one, other, size);
    memcpy(other, kept, size);
  }
}

/* Index, from 0, of a drawn largest element, whose value (`parts` of `real`: 2 in complex arrays) is stored there; -1
 * where there is none. */
#define HPLCAST_DEFINE_DRAW(real)                                             \
  static inline int hplcast_draw_##real(int parts, int n, void* x, int inc) { \
    int index = 0;                                                            \
    if (n < 1 || inc < 1) return -1;                                          \
    real* element = (real*)x;                                                 \
    const real value = (real)hplcast_pivot(n, &index);                        \
    element += (ptrdiff_t)index * inc * parts;                                \
    element[0] = value;                                                       \
    if (parts == 2) element[1] = 0;                                           \
    return index;                                                             \
  }
HPLCAST_DEFINE_DRAW(float)
HPLCAST_DEFINE_DRAW(double)

/* Factorisations of a simulated program that stop because of what is in their matrix: told, and the simulation ends.
 * They would be over in no time, and the program often does not look at `info`. */
static inline void hplcast_check_info(const char* name, const int* info) {
  char message[300];
  if (*info <= 0 || hplcast_numerics()) return; /* below 0: a wrong argument; with numerics: as in a real run */
  snprintf(
      message, sizeof message,
      "%s gave info = %d: what is in the simulated matrix stopped it, and its time would not be that of a real run; "
      "fill the matrix with numbers that do not (0 does), or with --share-above in a region that is skipped",
      name, *info);
  hplcast_stop(message);
}

#endif
