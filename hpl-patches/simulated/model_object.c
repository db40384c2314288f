/* Compiled into the simulated program when a model.h is given: hands its tables to the library before main starts. */
#include "hplcast/smpi_models/hplcast_smpi.h"

#include HPLCAST_MODEL_H

__attribute__((constructor)) static void register_model(void) { hplcast_register_model(&hplcast_model); }
