/* What the environment says of the activities to keep (docs/formats/activity.md). */
#ifndef HPLCAST_INSTRUMENT_SETTINGS_H
#define HPLCAST_INSTRUMENT_SETTINGS_H

#include <stdint.h>

typedef struct {
  const char* prefix; /* HPLCAST_ACTIVITY; null: nothing is kept */
  int on;
  int rank;
  uint64_t events;             /* HPLCAST_ACTIVITY_EVENTS */
  int traced;                  /* HPLCAST_TRACE_RANKS has this rank: kernels and phases are events, too */
  int first_panel, last_panel; /* HPLCAST_TRACE_PANELS: of these only, and none is thinned. -1: not set */
} activity_settings;

const activity_settings* settings(void);

/* Reads the environment. Ends the program with a message and status 3 for what it cannot read. */
void settings_read(int rank);

/* Whether a kernel or phase in this panel (below 0: in none) is an event. */
int settings_trace(int panel);

/* The number in a variable, from 1 to `most`; `otherwise` if it is not set. `expected`: for the message. */
uint64_t settings_number(const char* name, long most, const char* expected, uint64_t otherwise);

/* "xhpl-instrumented: error: WHAT, found 'FOUND'" on stderr; ends the program with status 3. */
void settings_refuse(const char* what, const char* found);

#endif
