/* A simulated MPI program on cores that detours take away now and then, or whose frequency changes. Numbers are printed as hexadecimal floats, one
 * line a fact: "rank what number...". The first argument says what to do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

/* Pieces of work given on the command line: when each ends. */
static void work(int rank, int count, char** texts) {
  int i;
  for (i = 0; i < count; ++i) {
    hplcast_delay(strtod(texts[i], NULL));
    printf("%d end %a\n", rank, hplcast_clock_s());
  }
}

/* Barriers that cost nothing (a split does not, and waits for all), `work_s` of work between them: the time after every
 * `chunk` of them. */
static void barriers(int rank, int count, int chunk, double work_s) {
  int i;
  for (i = 1; i <= count; ++i) {
    hplcast_delay(work_s);
    hplcast_split(hplcast_world(), -1, 0);
    if (rank == 0 && i % chunk == 0) printf("0 chunk %a\n", hplcast_clock_s());
  }
}

/* Rank 0 sends `bytes` at `time_s`, rank 1 waits for them: when rank 0 goes on, and when rank 1. */
static void message(int rank, double bytes, double time_s) {
  hplcast_message message;
  memset(&message, 0, sizeof message);
  message.channel.destination = 1;
  message.channel.tag = 5;
  message.bytes = bytes;
  if (rank == 0) {
    hplcast_delay(time_s);
    hplcast_send(&message, 0);
    printf("0 sent %a\n", hplcast_clock_s());
  } else if (rank == 1) {
    hplcast_wait(hplcast_irecv(&message));
    printf("1 received %a\n", hplcast_clock_s());
  }
}

/* Calls of dgemm with an m of each of these, all of it timed: when each ends. */
static void kernels(int rank, int count, char** texts) {
  int i;
  hplcast_timed_part(1, hplcast_clock_s());
  for (i = 0; i < count; ++i) {
    hplcast_kernel_call(HPLCAST_DGEMM, strtod(texts[i], NULL), 1, 1);
    printf("%d end %a\n", rank, hplcast_clock_s());
  }
  hplcast_timed_part(0, hplcast_clock_s());
}

/* `count` times: rank 0 works for `work_s`, rank 1 waits for its message, works as long, and sends one back. */
static void turns(int rank, int count, double work_s) {
  hplcast_message message;
  int i;
  memset(&message, 0, sizeof message);
  message.channel.tag = 5;
  message.bytes = 100;
  hplcast_timed_part(1, hplcast_clock_s());
  for (i = 0; i < 2 * count; ++i) {
    message.channel.source = i % 2;
    message.channel.destination = 1 - i % 2;
    if (rank == i % 2) {
      hplcast_kernel_call(HPLCAST_DGEMM, work_s, 1, 1);
      hplcast_send(&message, 0);
    } else if (rank < 2) {
      hplcast_wait(hplcast_irecv(&message));
    }
  }
  printf("%d end %a\n", rank, hplcast_clock_s());
  hplcast_timed_part(0, hplcast_clock_s());
}

int main(int argc, char* argv[]) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "work") == 0) work(rank, argc - 2, argv + 2);
  if (argc > 4 && strcmp(argv[1], "barriers") == 0)
    barriers(rank, atoi(argv[2]), atoi(argv[3]), strtod(argv[4], NULL));
  if (argc > 3 && strcmp(argv[1], "message") == 0) message(rank, strtod(argv[2], NULL), strtod(argv[3], NULL));
  if (argc > 1 && strcmp(argv[1], "kernels") == 0) kernels(rank, argc - 2, argv + 2);
  if (argc > 3 && strcmp(argv[1], "turns") == 0) turns(rank, atoi(argv[2]), strtod(argv[3], NULL));
  hplcast_flush();
  MPI_Finalize();
  return 0;
}
