#ifndef HPLCAST_HPL_SHARED_PANEL_H
#define HPLCAST_HPL_SHARED_PANEL_H

/* Gives back the memory of panels that no rank uses at the moment. At the end of a run: the next has other sizes. */
void hplcast_drop_idle_panels(void);

#endif
