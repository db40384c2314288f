/* Factorisations of a simulated program that stop because of what is in their matrix: told, and the simulation ends. They
 * would be over in no time, and the program often does not look at `info`. */
#ifndef HPLCAST_INFO_CHECK_H
#define HPLCAST_INFO_CHECK_H

#include <stdio.h>

#include "hplcast/smpi_models/hplcast_program.h"

static inline void hplcast_check_info(const char* name, const int* info) {
  char message[300];
  if (*info <= 0 || hplcast_numerics()) return; /* below 0: a wrong argument; with numerics: as in a real run */
  snprintf(message, sizeof message,
           "%s gave info = %d: what is in the simulated matrix stopped it, and its time would not be that of a real run; "
           "fill the matrix with numbers that do not (0 does), or with --share-above in a region that is skipped",
           name, *info);
  hplcast_stop(message);
}

#endif
