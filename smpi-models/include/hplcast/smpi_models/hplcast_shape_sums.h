/* The sums of sizes of kernels that real runs keep, for hpl-patches: see core/shape_sums.h. */
#ifndef HPLCAST_SMPI_MODELS_SHAPE_SUMS_H
#define HPLCAST_SMPI_MODELS_SHAPE_SUMS_H

#include "hplcast/core/activity_list.h"

#endif
