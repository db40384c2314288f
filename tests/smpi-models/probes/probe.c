/* A simulated MPI program that shows what the runtime does. Numbers are printed as hexadecimal floats, one line a fact:
 * "rank what number...". The first argument says what to do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

#ifdef PROBE_MODEL_H
#include PROBE_MODEL_H
#ifdef __GNUC__
__attribute__((constructor))
#endif
static void
use_model(void) {
  hplcast_register_model(&hplcast_model);
}
#endif

/* Delays given on the command line, spent one by one, then as one: their sum is the same. */
static void delays(int rank, int count, char** texts) {
  double start = hplcast_clock_s();
  int i;
  for (i = 0; i < count; ++i) {
    double before = hplcast_clock_s();
    hplcast_delay(strtod(texts[i], NULL));
    printf("%d one %a\n", rank, hplcast_clock_s() - before);
  }
  printf("%d each %a\n", rank, hplcast_clock_s() - start);
  start = hplcast_clock_s();
  for (i = 0; i < count; ++i) hplcast_delay(strtod(texts[i], NULL));
  printf("%d together %a\n", rank, hplcast_clock_s() - start);
}

/* Ten calls of some kernels: the time of each call. */
static void kernels(int rank) {
  int call;
  for (call = 0; call < 10; ++call) {
    double before = hplcast_clock_s();
    hplcast_kernel_call(HPLCAST_DGEMM, 100 + 10 * call, 200, 64);
    printf("%d dgemm %a\n", rank, hplcast_clock_s() - before);
    before = hplcast_clock_s();
    hplcast_kernel_call(HPLCAST_DSCAL, 1, 1000 * (call + 1), 1);
    printf("%d dscal %a\n", rank, hplcast_clock_s() - before);
  }
  hplcast_kernel_call(HPLCAST_DGEMM, 0, 200, 64);
  hplcast_kernel_call(HPLCAST_DSWAP, 1, 10, 1);
}

static void pivots(int rank, int count, int rows) {
  int i;
  for (i = 0; i < count; ++i) {
    int row;
    double largest = hplcast_pivot(rows, &row);
    printf("%d pivot %a %d\n", rank, largest, row);
  }
}

static void wait_until(double time_s) {
  hplcast_delay(time_s - hplcast_clock_s());
}

/* One message of each size from rank 0 to `peer`, every 10 s, blocking and not: the time until it has been received. */
static void messages(int rank, int peer, int count, char** texts) {
  double start = 10;
  int i, blocking;
  for (i = 0; i < count; ++i) {
    const long size = strtol(texts[i], NULL, 10);
    char* buffer = malloc((size_t)size);
    memset(buffer, 0, (size_t)size);
    for (blocking = 0; blocking < 2; ++blocking, start += 10) {
      MPI_Request request;
      wait_until(start);
      hplcast_flush();
      if (rank == 0 && blocking) MPI_Send(buffer, (int)size, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
      if (rank == 0 && !blocking) {
        MPI_Isend(buffer, (int)size, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
        printf("0 isend %ld %a\n", size, hplcast_clock_s() - start);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      if (rank == peer) {
        MPI_Recv(buffer, (int)size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d %s %ld %a\n", peer, blocking ? "blocking" : "nonblocking", size, hplcast_clock_s() - start);
      }
    }
    free(buffer);
  }
}

/* Rank i of the first half sends texts[i] bytes to rank i of the second half, all at 10 s: the time until it is
 * received. */
static void together(int rank, int count, char** texts) {
  const int half = count;
  const long size = strtol(texts[rank % half], NULL, 10);
  char* buffer = malloc((size_t)size);
  memset(buffer, 0, (size_t)size);
  wait_until(10);
  hplcast_flush();
  if (rank < half) {
    MPI_Send(buffer, (int)size, MPI_BYTE, rank + half, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer, (int)size, MPI_BYTE, rank - half, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d together %ld %a\n", rank, size, hplcast_clock_s() - 10);
  }
  free(buffer);
}

/* Rank 0 sends to rank 1 after `after_s`, rank 1 polls: the time at which it finds the message, and the number of
 * probes. */
static void polling(int rank, double after_s) {
  hplcast_channel channel = {0, 1, 5, 0};
  char data = 0;
  if (rank == 0 && after_s < 0) {
    return; /* nobody sends */
  } else if (rank == 0) {
    hplcast_delay(after_s);
    hplcast_flush();
    hplcast_message_sent(&channel);
    MPI_Send(&data, 1, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
  } else if (rank == 1) {
    int found = 0, probes = 0;
    hplcast_polling_loop(HPLCAST_LOOP_ONLY_PROBES, 0);
    while (!found) {
      hplcast_probe_begin(&channel);
      MPI_Iprobe(0, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      hplcast_probe_end(found);
      ++probes;
    }
    hplcast_polling_loop(HPLCAST_LOOP_NONE, 0);
    printf("1 found %a %d\n", hplcast_clock_s(), probes);
    hplcast_message_taken(&channel);
    MPI_Recv(&data, 1, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Rank 0 sends to rank 1 after `after_s`. Rank 1 probes between pieces of work of `piece_s`: the time at which it finds
 * the message, and the number of probes. With `leaves` it sends one itself after its first probe. */
static void working(int rank, double after_s, double piece_s, int leaves) {
  hplcast_message message;
  memset(&message, 0, sizeof message);
  message.channel.source = 0;
  message.channel.destination = 1;
  message.channel.tag = 5;
  message.bytes = 1;
  message.probed = 1;
  if (rank == 0) {
    hplcast_delay(after_s);
    hplcast_send(&message, 0);
  } else if (rank == 1) {
    int probes = 1;
    hplcast_polling_loop(HPLCAST_LOOP_WORKS_BETWEEN, 0);
    while (!hplcast_probe(&message.channel)) {
      if (leaves) {
        const hplcast_channel back = {1, 0, 6, 0};
        message.channel = back;
        hplcast_send(&message, 0);
      }
      hplcast_delay(piece_s);
      ++probes;
    }
    hplcast_polling_loop(HPLCAST_LOOP_NONE, 0);
    printf("1 found %a %d\n", hplcast_clock_s(), probes);
    hplcast_wait(hplcast_irecv(&message));
  }
}

int main(int argc, char** argv) {
  int rank; /* no globals: the ranks share them without privatisation */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) return 2;
  if (strcmp(argv[1], "delays") == 0) delays(rank, argc - 2, argv + 2);
  if (strcmp(argv[1], "kernels") == 0) kernels(rank);
  if (strcmp(argv[1], "pivots") == 0) pivots(rank, atoi(argv[2]), atoi(argv[3]));
  if (strcmp(argv[1], "messages") == 0) messages(rank, atoi(argv[2]), argc - 3, argv + 3);
  if (strcmp(argv[1], "together") == 0) together(rank, argc - 2, argv + 2);
  if (strcmp(argv[1], "polling") == 0) polling(rank, atof(argv[2]));
  if (strcmp(argv[1], "working") == 0) working(rank, atof(argv[2]), atof(argv[3]), argc > 4);
  if (rank == 0) {
    hplcast_count_message(HPLCAST_MPI_ISEND, 100);
    hplcast_count_message(HPLCAST_MPI_ISEND, 1e12);
    hplcast_report_time(hplcast_clock_s());
  }
  hplcast_flush();
  MPI_Finalize();
  return 0;
}
