#include "activity.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "observing.h"

#include "hplcast/core/environment.h"

enum { default_events = 100000, most_events = 10000000 };
static activity_settings values = {NULL, 0, 0, default_events, 0, -1, -1};

const activity_settings* settings(void) {
  return &values;
}

int settings_trace(int panel) {
  return values.traced &&
         (panel < 0 || values.first_panel < 0 || (panel >= values.first_panel && panel <= values.last_panel));
}

void settings_refuse(const char* what, const char* found) {
  (void)fprintf(stderr, "xhpl-instrumented: error: %s, found '%s'\n", what, found);
  (void)PMPI_Abort(MPI_COMM_WORLD, 3);
}

/* "3-17"; returns 0 if the variable is not set. */
static int read_range(const char* name, const char* expected, int* first, int* last) {
  const char* text = getenv(name);
  if (text == NULL || *text == '\0') return 0;
  char rest = 0;
  if (sscanf(text, "%d-%d%c", first, last, &rest) != 2 || *first < 0 || *last < *first) settings_refuse(expected, text);
  return 1;
}

uint64_t settings_number(const char* name, long most, const char* expected, uint64_t otherwise) {
  const char* text = getenv(name);
  if (text == NULL) return otherwise;
  char* end = NULL;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < 1 || value > most) settings_refuse(expected, text);
  return (uint64_t)value;
}

void settings_read(int rank) {
  int first_rank = 0;
  int last_rank = INT_MAX;
  values.rank = rank;
  values.prefix = getenv(HPLCAST_VARIABLE_ACTIVITY);
  if (values.prefix == NULL || *values.prefix == '\0') return;
  values.on = 1;
  values.events = settings_number(
      HPLCAST_VARIABLE_ACTIVITY_EVENTS, most_events,
      HPLCAST_VARIABLE_ACTIVITY_EVENTS " must be a number of events per rank from 1 to 10000000", default_events);
  values.traced =
      read_range(HPLCAST_VARIABLE_TRACE_RANKS, HPLCAST_VARIABLE_TRACE_RANKS " must be first-last, such as 0-31",
                 &first_rank, &last_rank) &&
      rank >= first_rank && rank <= last_rank;
  (void)read_range(HPLCAST_VARIABLE_TRACE_PANELS, HPLCAST_VARIABLE_TRACE_PANELS " must be first-last, such as 0-9",
                   &values.first_panel, &values.last_panel);
}

int settings_write_file(const char* prefix, const char* suffix, const char* too_long, void (*write)(FILE*)) {
  output_file output;
  const int open = output_open(&output, "%s-%d%s", prefix, values.rank, suffix);
  if (open) write(output.file);
  if (open && output_close(&output)) return 1;
  if (strlen(output.path) + 1 == sizeof output.path)
    (void)fprintf(stderr, "xhpl-instrumented: error: %s: %s\n", too_long, prefix);
  else
    (void)fprintf(stderr, "xhpl-instrumented: error: cannot write %s: %s\n", output.path, strerror(errno));
  return 0;
}
