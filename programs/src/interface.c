/* A program that was linked for another version of the runtime is told, in place of going wrong. */
#include "hplcast/smpi_models/hplcast_smpi.h"

/* The linker is asked for this name, so that the file is linked. */
const int hplcast_interface_of_program = HPLCAST_INTERFACE;

__attribute__((constructor)) static void require_interface(void) {
  hplcast_require_interface(hplcast_interface_of_program);
}
