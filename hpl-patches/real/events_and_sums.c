#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "observing.h"

static event_list list;

int events_take_memory(void) {
  const uint64_t bytes = settings()->events * sizeof(event);
  list.all = malloc(bytes);
  if (list.all == NULL) return 0;
  memset(list.all, 0, bytes);
  events_clear();
  return 1;
}

void events_clear(void) {
  list.size = list.lost = 0;
  list.stride = 1;
  list.thinning_s = 0;
}

const event_list* events(void) {
  return &list;
}

static int stays(int panel) {
  return panel < 0 || panel % list.stride == 0 || (panel >= settings()->first_panel && panel <= settings()->last_panel);
}

static void thin(void) {
  enum { most_stride = 1 << 20 };
  const double begin_s = clock_now_s();
  while (list.size == settings()->events && list.stride < most_stride) {
    list.stride *= 2;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list.size; ++i)
      if (stays(list.all[i].panel)) list.all[kept++] = list.all[i];
    list.size = kept;
  }
  list.thinning_s += clock_now_s() - begin_s;
}

void events_add(const event* one) {
  if (!stays(one->panel)) return;
  if (list.size == settings()->events) {
    thin();
    if (!stays(one->panel)) return;
  }
  if (list.size < settings()->events)
    list.all[list.size++] = *one;
  else
    ++list.lost;
}

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

#define POWER(x, exponent) ((exponent) == 0 ? 1.0 : (exponent) == 1 ? (x) : (x) * (x))
#define ADD_SUM(a, b, c) *sum++ += POWER(x, a) * POWER(y, b) * POWER(z, c);

void kernel_sums_add(hplcast_kernel kernel, int m, int n, int k, double time_s) {
  const double x = m;
  const double y = n;
  const double z = k;
  class_sums* one = &classes[kernel][size_class(x * y * z, 2, HPLCAST_SHAPE_CLASS_COUNT)];
  const uint64_t place = place_in_sample(one->calls++, samples_of_class, &one->random);
  if (place < samples_of_class) one->samples[place] = (sampled_call){time_s, m, n, k};
  one->time_s += time_s;
  double* sum = one->sums;
  HPLCAST_SHAPE_SUMS(ADD_SUM)
}

void kernel_sums_write(FILE* file) {
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
