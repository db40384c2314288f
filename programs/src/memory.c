/* Allocations of a simulated program: large ones are views of one block that all ranks share (hplcast_share()), if
 * HPLCAST_SHARE_ABOVE asks for it. Not those of calloc: zeros were asked for, and pages that nobody writes cost nothing.
 * The linker turns calls of NAME into __wrap_NAME. */
#include <stddef.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_program.h"

extern void* __real_malloc(size_t size);
extern void* __real_realloc(void* old, size_t size);
extern void __real_free(void* memory);

void* __wrap_malloc(size_t size) {
  void* const shared = hplcast_share(size);
  return shared != NULL ? shared : __real_malloc(size);
}

void* __wrap_realloc(void* old, size_t size) {
  const size_t old_size = hplcast_shared_size(old);
  if (old_size == 0) return __real_realloc(old, size);
  void* const memory = __wrap_malloc(size);
  if (memory == NULL) return NULL;
  if (hplcast_shared_size(memory) == 0) memcpy(memory, old, size < old_size ? size : old_size);
  hplcast_unshare(old);
  return memory;
}

void __wrap_free(void* memory) {
  if (hplcast_shared_size(memory) == 0) {
    __real_free(memory);
  } else {
    hplcast_unshare(memory);
  }
}
