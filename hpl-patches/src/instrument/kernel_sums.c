#include "kernel_sums.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_shape_sums.h"
#include "random.h"

typedef struct {
  double time_s;
  int m, n, k;
} sampled_call;

enum { most_samples = 16 };

typedef struct {
  uint64_t calls;
  double time_s;
  double sums[HPLCAST_SHAPE_SUM_COUNT];
  uint64_t random; /* state of its generator */
  sampled_call samples[most_samples];
} class_sums;

static class_sums classes[HPLCAST_KERNEL_COUNT][HPLCAST_SHAPE_CLASS_COUNT];
static uint64_t samples_of_class;

void kernel_sums_clear(int samples) {
  memset(classes, 0, sizeof classes);
  samples_of_class = samples < 1 ? 1 : samples > most_samples ? most_samples : (uint64_t)samples;
  for (int kernel = 0; kernel < HPLCAST_KERNEL_COUNT; ++kernel)
    for (int i = 0; i < HPLCAST_SHAPE_CLASS_COUNT; ++i)
      classes[kernel][i].random = (uint64_t)(kernel * HPLCAST_SHAPE_CLASS_COUNT + i);
}

/* floor(log4(m n k)): from the exponent of a double, which is exact for powers of two. */
static int class_of(double product) {
  uint64_t bits;
  memcpy(&bits, &product, sizeof bits);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  const int found = exponent < 0 ? 0 : exponent / 2;
  return found < HPLCAST_SHAPE_CLASS_COUNT ? found : HPLCAST_SHAPE_CLASS_COUNT - 1;
}

#define POWER(x, exponent) ((exponent) == 0 ? 1.0 : (exponent) == 1 ? (x) : (x) * (x))
#define ADD_SUM(a, b, c) *sum++ += POWER(x, a) * POWER(y, b) * POWER(z, c);

void kernel_sums_add(hplcast_kernel kernel, int m, int n, int k, double time_s) {
  const double x = m;
  const double y = n;
  const double z = k;
  class_sums* one = &classes[kernel][class_of(x * y * z)];
  ++one->calls;
  one->time_s += time_s;
  double* sum = one->sums;
  HPLCAST_SHAPE_SUMS(ADD_SUM)
  uint64_t place = one->calls - 1;
  if (place >= samples_of_class) place = next_random(&one->random) % one->calls;
  if (place < samples_of_class) one->samples[place] = (sampled_call){time_s, m, n, k};
}

void kernel_sums_write(FILE* file, const char* const* kernel_names) {
  for (int kernel = 0; kernel < HPLCAST_KERNEL_COUNT; ++kernel) {
    for (int i = 0; i < HPLCAST_SHAPE_CLASS_COUNT; ++i) {
      const class_sums* one = &classes[kernel][i];
      if (one->calls == 0) continue;
      (void)fprintf(file, "calls,%s,%d,%" PRIu64 ",%.9f", kernel_names[kernel], i, one->calls, one->time_s);
      for (int sum = 0; sum < HPLCAST_SHAPE_SUM_COUNT; ++sum) (void)fprintf(file, ",%.17g", one->sums[sum]);
      (void)fprintf(file, "\n");
      for (uint64_t j = 0; j < samples_of_class && j < one->calls; ++j) {
        const sampled_call* call = &one->samples[j];
        (void)fprintf(file, "sample,%s,%.9f,%d,%d,%d\n", kernel_names[kernel], call->time_s, call->m, call->n, call->k);
      }
    }
  }
}
