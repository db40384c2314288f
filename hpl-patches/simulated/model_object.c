/* Compiled into the simulated program when a model.h is given (gcc -include, which takes any name): hands its tables to
   the library before main starts. */
#include "hplcast/smpi_models/hplcast_smpi.h"

__attribute__((constructor)) static void register_model(void) {
  hplcast_register_model(&hplcast_model);
}
