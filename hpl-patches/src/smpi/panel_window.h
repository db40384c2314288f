#ifndef HPLCAST_HPL_PANEL_WINDOW_H
#define HPLCAST_HPL_PANEL_WINDOW_H

#include "hpl.h"

/* The number in the window, from 0, of the panel of HPL's factorisation that begins in row `row` of the matrix. */
int hplcast_panel_in_window(int row, int nb);

/* Moves the panel that begins in row *row, of a matrix that has *rows rows from there on, to where the window is. */
void hplcast_place_panel(const HPL_T_pmat* matrix, int* row, int* rows);

#endif
