#ifndef HPLCAST_HPL_PANEL_WINDOW_H
#define HPLCAST_HPL_PANEL_WINDOW_H

#include "hpl.h"

/* The number in the window, from 0, of the panel of HPL's factorisation that begins in row `row` of the matrix. */
int hplcast_panel_in_window(int row, int nb);

/* Moves the panel that begins in row *row, of a matrix that has *rows rows from there on, to where the window is. */
void hplcast_place_panel(const HPL_T_pmat* matrix, int* row, int* rows);

#endif

#ifndef HPLCAST_HPL_SHARED_PANEL_H
#define HPLCAST_HPL_SHARED_PANEL_H

#include <stddef.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* Gives back the memory of panels that no rank uses at the moment. At the end of a run: the next has other sizes. */
void hplcast_drop_idle_panels(void);

/* True for uncommitted memory that is never read; writing would commit it. */
int hplcast_without_content(const void* address);

/* Sets the content of the message of `bytes` bytes at `data`: the pivots of a panel; all of any other message. */
void hplcast_find_content(const void* data, size_t bytes, hplcast_message* message);

#endif
