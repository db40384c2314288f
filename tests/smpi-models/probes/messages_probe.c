/* A simulated MPI program that plays a schedule of messages: with MPI through SMPI, or, if the platform and
 * settings allow it, with the messages of hplcast_smpi.h. The file "schedule-R" has the actions of rank R, one
 * a line: "at_s what peer tag bytes request". An action begins at its time, or after the one before it. For each one a
 * line "rank returned number time" tells when the call returned, as a hexadecimal float. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

enum { max_requests = 64, max_bytes = 1 << 21 };

typedef struct {
  double at_s;
  char what[16];
  int peer, tag, bytes, request;
} action;

typedef struct {
  MPI_Request of_mpi;
  hplcast_request* of_hplcast;
  unsigned char* data;
  action begun_by;
} request;

typedef struct {
  int rank, direct, probed;
  unsigned char* data; /* of messages that are sent or received with blocking */
  request requests[max_requests];
} player;

static void fail(const char* what, const action* a) {
  fprintf(stderr, "schedule: %s: %s %d %d %d\n", what, a->what, a->peer, a->tag, a->bytes);
  exit(2);
}

/* The first byte of a message tells which one it is. */
static unsigned char mark(const action* a) {
  return (unsigned char)((a->tag * 31 + a->bytes) % 251 + 1);
}

static void check_mark(const unsigned char* data, const action* a) {
  if (a->bytes > 0 && data[0] != mark(a)) fail("received another message", a);
}

static int sends(const action* a) {
  return strstr(a->what, "send") != NULL;
}

static int is_synchronous(const action* a) {
  return strstr(a->what, "ssend") != NULL;
}

static hplcast_message message(const player* p, const action* a, unsigned char* data) {
  hplcast_message result;
  memset(&result, 0, sizeof result);
  result.channel.source = sends(a) ? p->rank : a->peer;
  result.channel.destination = sends(a) ? a->peer : p->rank;
  result.channel.tag = a->tag;
  result.bytes = a->bytes;
  result.content = data;
  result.content_bytes = a->bytes > 0;
  result.probed = p->probed;
  return result;
}

static void play_send(player* p, const action* a) {
  p->data[0] = mark(a);
  if (p->direct) {
    const hplcast_message out = message(p, a, p->data);
    hplcast_send(&out, is_synchronous(a));
  } else if (is_synchronous(a)) {
    MPI_Ssend(p->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD);
  } else {
    MPI_Send(p->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD);
  }
}

static void play_recv(player* p, const action* a) {
  p->data[0] = 0;
  if (p->direct) {
    const hplcast_message in = message(p, a, p->data);
    hplcast_wait(hplcast_irecv(&in));
  } else {
    MPI_Recv(p->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  check_mark(p->data, a);
}

static request* begin(player* p, const action* a) {
  request* r = &p->requests[a->request];
  if (a->request >= max_requests || r->data != NULL) fail("request in use", a);
  r->data = calloc((size_t)a->bytes + 1, 1);
  r->begun_by = *a;
  return r;
}

static void play_isend(player* p, const action* a) {
  request* r = begin(p, a);
  r->data[0] = mark(a);
  if (p->direct) {
    const hplcast_message out = message(p, a, r->data);
    r->of_hplcast = hplcast_isend(&out, is_synchronous(a));
  } else if (is_synchronous(a)) {
    MPI_Issend(r->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD, &r->of_mpi);
  } else {
    MPI_Isend(r->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD, &r->of_mpi);
  }
}

static void play_irecv(player* p, const action* a) {
  request* r = begin(p, a);
  if (p->direct) {
    const hplcast_message in = message(p, a, r->data);
    r->of_hplcast = hplcast_irecv(&in);
  } else {
    MPI_Irecv(r->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD, &r->of_mpi);
  }
}

static void play_wait(player* p, const action* a) {
  request* r = &p->requests[a->request];
  if (r->data == NULL) fail("no such request", a);
  if (p->direct)
    hplcast_wait(r->of_hplcast);
  else
    MPI_Wait(&r->of_mpi, MPI_STATUS_IGNORE);
  if (!sends(&r->begun_by)) check_mark(r->data, &r->begun_by);
  free(r->data);
  r->data = NULL;
}

/* "exsend": sends to the peer what it receives from it, `request` bytes of the same tag. */
static void play_exchange(player* p, const action* a) {
  action receive = *a;
  strcpy(receive.what, "recv");
  receive.bytes = a->request;
  unsigned char* const data = calloc((size_t)receive.bytes + 1, 1);
  p->data[0] = mark(a);
  if (p->direct) {
    const hplcast_message in = message(p, &receive, data), out = message(p, a, p->data);
    hplcast_request* const request = hplcast_irecv(&in);
    hplcast_send_within(&out, request);
    hplcast_wait(request);
  } else {
    MPI_Request request;
    MPI_Irecv(data, receive.bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD, &request);
    MPI_Send(p->data, a->bytes, MPI_BYTE, a->peer, a->tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  check_mark(data, &receive);
  free(data);
}

/* "probe": is a message there? What it found is told as a line "rank found number 0 or 1". */
static void play_probe(const player* p, const action* a, int number) {
  int found = 0;
  if (p->direct) {
    const hplcast_message wanted = message(p, a, NULL);
    found = hplcast_probe(&wanted.channel);
  } else {
    MPI_Iprobe(a->peer, a->tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  printf("%d found %d %d\n", p->rank, number, found);
}

static void play(player* p, const action* a, int number) {
  hplcast_delay(a->at_s - hplcast_clock_s());
  if (!p->direct) hplcast_flush();
  if (a->bytes < 0 || a->bytes > max_bytes || a->request < 0) fail("too large", a);
  if (strcmp(a->what, "send") == 0 || strcmp(a->what, "ssend") == 0)
    play_send(p, a);
  else if (strcmp(a->what, "isend") == 0 || strcmp(a->what, "issend") == 0)
    play_isend(p, a);
  else if (strcmp(a->what, "recv") == 0)
    play_recv(p, a);
  else if (strcmp(a->what, "irecv") == 0)
    play_irecv(p, a);
  else if (strcmp(a->what, "wait") == 0)
    play_wait(p, a);
  else if (strcmp(a->what, "probe") == 0)
    play_probe(p, a, number);
  else if (strcmp(a->what, "exsend") == 0)
    play_exchange(p, a);
  else if (strcmp(a->what, "join") == 0) /* broadcast `request`, whose root is the peer */
    hplcast_broadcast(a->request, a->peer, a->bytes);
  else
    fail("unknown action", a);
  printf("%d returned %d %a\n", p->rank, number, hplcast_clock_s());
}

/* Whether any rank probes. */
static int is_probed(int ranks) {
  int rank, found = 0;
  for (rank = 0; rank < ranks; ++rank) {
    char text[120];
    FILE* schedule;
    snprintf(text, sizeof text, "schedule-%d", rank);
    schedule = fopen(text, "r");
    if (schedule == NULL) continue;
    while (fgets(text, sizeof text, schedule) != NULL) found = found || strstr(text, " probe ") != NULL;
    fclose(schedule);
  }
  return found;
}

int main(int argc, char** argv) {
  player p; /* no globals: the ranks share them without privatisation */
  action a;
  char name[32];
  int number = 0, ranks;
  FILE* schedule;
  MPI_Init(&argc, &argv);
  memset(&p, 0, sizeof p);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  p.direct = hplcast_direct_messages();
  p.probed = is_probed(ranks);
  p.data = calloc(max_bytes, 1);
  if (p.rank == 0) printf("0 way %s\n", p.direct ? "direct" : "smpi");
  snprintf(name, sizeof name, "schedule-%d", p.rank);
  schedule = fopen(name, "r");
  if (schedule == NULL) return 2;
  while (fscanf(schedule, "%lf %15s %d %d %d %d", &a.at_s, a.what, &a.peer, &a.tag, &a.bytes, &a.request) == 6)
    play(&p, &a, number++);
  fclose(schedule);
  free(p.data);
  MPI_Barrier(MPI_COMM_WORLD); /* SMPI does not know the host of a rank that has ended: what would a receive cost? */
  MPI_Finalize();
  return 0;
}
