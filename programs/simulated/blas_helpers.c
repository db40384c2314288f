/* What else a BLAS has: functions that take no time worth a model, and are executed. Weak, because LAPACK brings some
 * of them, too. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_program.h"

__attribute__((weak)) int lsame_(const char* one, const char* other) {
  return toupper((unsigned char)*one) == toupper((unsigned char)*other);
}

__attribute__((weak)) void xerbla_(const char* routine, const int* argument, size_t length) {
  char message[100];
  const int shown = length < 32 ? (int)length : 32;
  snprintf(message, sizeof message, "argument %d of %.*s has an illegal value", *argument, shown, routine);
  hplcast_stop(message);
}

__attribute__((weak)) double dcabs1_(const double* z) {
  return fabs(z[0]) + fabs(z[1]);
}

__attribute__((weak)) float scabs1_(const float* z) {
  return fabsf(z[0]) + fabsf(z[1]);
}
