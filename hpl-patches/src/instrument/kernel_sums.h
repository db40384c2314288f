/* Exact sums of the calls of each kernel, by classes of size (shape_sums.h), and a few calls of each class as a uniform
 * sample. Memory is fixed, and touched before the run. */
#ifndef HPLCAST_INSTRUMENT_KERNEL_SUMS_H
#define HPLCAST_INSTRUMENT_KERNEL_SUMS_H

#include <stdio.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* Forgets all; samples of at most `samples` calls per class from here on. */
void kernel_sums_clear(int samples);

void kernel_sums_add(hplcast_kernel kernel, int m, int n, int k, double time_s);

/* The lines `calls` and `sample` (docs/formats/activity.md). */
void kernel_sums_write(FILE* file, const char* const* kernel_names);

#endif
