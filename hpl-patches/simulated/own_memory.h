/* Memory for HPL in place of malloc's: of its matrix, its panels, and the workspace of its row swap and final solve.
 *
 * This is put before the sources of HPL with the technique "KIND memory" of replaced_functions.txt; HPLCAST_MEMORY is
 * the kind. Programs without HPLCAST_OWN_MEMORY compile the same sources as they are. */
#ifndef HPLCAST_OWN_MEMORY_H
#define HPLCAST_OWN_MEMORY_H

#include "hpl.h" /* first: SimGrid's headers use malloc */
#include "hplcast/smpi_models/hplcast_smpi.h"

void* hplcast_matrix_malloc(size_t bytes);
void hplcast_matrix_free(void* memory);
void* hplcast_panel_malloc(size_t bytes);
void hplcast_panel_free(void* memory);
void* hplcast_workspace_malloc(size_t bytes);
void hplcast_workspace_free(void* memory);

/* The type of panels, which HPL describes by one that lists their columns; of 8 bytes. */
#define PANEL_TYPE MPI_REAL8

/* True for uncommitted memory that is never read; writing would commit it. */
int hplcast_without_content(const void* address);

/* Sets the content of the message of `bytes` bytes at `data`: the pivots of a panel; all of any other message. */
void hplcast_find_content(const void* data, size_t bytes, hplcast_message* message);

/* Before the first panel of a factorisation: of the whole matrix, or of a window, where panels have come before. */
void hplcast_panel_memory_begins(int whole);
/* After its last panel. */
void hplcast_panel_memory_ends(void);

/* Bytes of a message of `bytes` at `address` that go where no message has been: each byte of a panel is new once. */
double hplcast_take_new_bytes(const void* address, double bytes);

/* Moves the panel that begins in row *row, of a matrix that has *rows rows from there on, to where the window is
 * (panels.c); before its memory is asked for. */
void hplcast_place_panel(const HPL_T_pmat* matrix, int* row, int* rows);

#if defined HPLCAST_OWN_MEMORY && defined HPLCAST_MEMORY
#define HPLCAST_JOINED(kind, function) hplcast_##kind##_##function
#define HPLCAST_OF_KIND(kind, function) HPLCAST_JOINED(kind, function)
#define malloc(bytes) HPLCAST_OF_KIND(HPLCAST_MEMORY, malloc)(bytes)
#define free(memory) HPLCAST_OF_KIND(HPLCAST_MEMORY, free)(memory)
#endif

#endif
