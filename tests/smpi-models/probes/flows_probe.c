/* A simulated MPI program that does with hplcast's direct messages what a file says, and prints when each message was
 * received. The argument is the path of the file; each line of it is a call of one rank,
 *
 *   rank time_s irecv source tag bytes
 *   rank time_s send|ssend|isend|issend destination tag bytes
 *   rank time_s wait
 *
 * in the order in which the rank makes its calls: at time_s, or as soon as it has come to it. `wait` waits for all that
 * irecv, isend and issend have begun, in that order. Messages of odd tags are sent ahead of the simulated clock, as
 * what nobody probes for may be. Printed: "rank received tag time" with a hexadecimal float, and "rank late time_s", if
 * a message is begun later than the file says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

typedef struct {
  hplcast_request* request;
  int tag;
  int receives;
} begun;

typedef struct {
  int rank;
  begun* open; /* requests that were not waited for */
  size_t count, room;
} caller;

static void keep(caller* me, hplcast_request* request, int tag, int receives) {
  if (me->count == me->room) {
    me->room = 2 * me->room + 8;
    me->open = realloc(me->open, me->room * sizeof *me->open);
    if (me->open == NULL) exit(1);
  }
  me->open[me->count].request = request;
  me->open[me->count].tag = tag;
  me->open[me->count].receives = receives;
  ++me->count;
}

static void wait_for_all(caller* me) {
  size_t i;
  for (i = 0; i < me->count; ++i) {
    hplcast_wait(me->open[i].request);
    if (me->open[i].receives) printf("%d received %d %a\n", me->rank, me->open[i].tag, hplcast_clock_s());
  }
  me->count = 0;
}

static void begin(caller* me, const char* what, int peer, int tag, double bytes) {
  hplcast_message message = {{me->rank, peer, tag, 0}, bytes, NULL, 0, 0, tag % 2 == 0, 0, 0, 0};
  if (strcmp(what, "irecv") == 0) {
    message.channel.source = peer;
    message.channel.destination = me->rank;
    keep(me, hplcast_irecv(&message), tag, 1);
  } else if (what[0] == 'i') {
    keep(me, hplcast_isend(&message, strcmp(what, "issend") == 0), tag, 0);
  } else {
    hplcast_send(&message, strcmp(what, "ssend") == 0);
  }
}

/* Clocks are sums of delays. */
static const double rounding_s = 1e-9;

/* `call`: a line without its rank. 0: it is not one. */
static int make(caller* me, const char* call) {
  char what[8];
  int peer, tag;
  double time_s, bytes, now_s;
  const int words = sscanf(call, "%lf %7s %d %d %lf", &time_s, what, &peer, &tag, &bytes);
  if (words < 2) return 0;
  now_s = hplcast_clock_s();
  hplcast_delay(time_s - now_s);
  if (strcmp(what, "wait") == 0) {
    wait_for_all(me);
    return 1;
  }
  if (words < 5) return 0;
  if (now_s > time_s + rounding_s) printf("%d late %a\n", me->rank, time_s);
  begin(me, what, peer, tag, bytes);
  return 1;
}

int main(int argc, char** argv) {
  caller me = {0, NULL, 0, 0};
  char line[200];
  FILE* file;
  int status = 0;
  MPI_Init(&argc, &argv);
  me.rank = hplcast_world_rank();
  file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (file == NULL || !hplcast_direct_messages()) {
    fprintf(stderr, "flows_probe: needs a file of calls and the platform library\n");
    return 2;
  }
  while (status == 0 && fgets(line, sizeof line, file) != NULL) {
    char* call;
    if (strtol(line, &call, 10) != me.rank) continue;
    if (!make(&me, call)) {
      fprintf(stderr, "flows_probe: what does `%s` mean?\n", line);
      status = 2;
    }
  }
  fclose(file);
  free(me.open);
  hplcast_flush();
  MPI_Finalize();
  return status;
}
