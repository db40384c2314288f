/* Memory for HPL in place of malloc's: of its matrix, its panels, and the workspace of its row swap and final solve.
 *
 * This is put before the sources of HPL with the technique "KIND memory" of replaced_functions.txt; HPLCAST_MEMORY is
 * the kind. Programs without HPLCAST_OWN_MEMORY compile the same sources as they are. */
#ifndef HPLCAST_OWN_MEMORY_H
#define HPLCAST_OWN_MEMORY_H

#include "hpl.h" /* first: SimGrid's headers use malloc */

void* hplcast_matrix_malloc(size_t bytes);
void hplcast_matrix_free(void* memory);
void* hplcast_panel_malloc(size_t bytes);
void hplcast_panel_free(void* memory);
void* hplcast_workspace_malloc(size_t bytes);
void hplcast_workspace_free(void* memory);

#if defined HPLCAST_OWN_MEMORY && defined HPLCAST_MEMORY
#define HPLCAST_JOINED(kind, function) hplcast_##kind##_##function
#define HPLCAST_OF_KIND(kind, function) HPLCAST_JOINED(kind, function)
#define malloc(bytes) HPLCAST_OF_KIND(HPLCAST_MEMORY, malloc)(bytes)
#define free(memory) HPLCAST_OF_KIND(HPLCAST_MEMORY, free)(memory)
#endif

#endif
