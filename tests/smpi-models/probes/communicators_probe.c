/* Splits communicators, with SMPI and with the runtime, and prints "rank name equal ..." for each: equal is 1 if both
 * have the same ranks in the same order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "hplcast/smpi_models/hplcast_smpi.h"

static int same(MPI_Comm theirs, const hplcast_communicator* ours) {
  int size, rank, i, equal;
  int *numbers, *world_ranks;
  MPI_Group group, world;
  if (theirs == MPI_COMM_NULL || ours == NULL) return theirs == MPI_COMM_NULL && ours == NULL;
  MPI_Comm_size(theirs, &size);
  MPI_Comm_rank(theirs, &rank);
  if (size != ours->size || rank != hplcast_rank_in(ours)) return 0;
  numbers = malloc((size_t)size * sizeof *numbers);
  world_ranks = malloc((size_t)size * sizeof *world_ranks);
  for (i = 0; i < size; ++i) numbers[i] = i;
  MPI_Comm_group(theirs, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, size, numbers, world, world_ranks);
  for (i = 0, equal = 1; i < size; ++i) equal = equal && world_ranks[i] == ours->world_ranks[i];
  free(numbers);
  free(world_ranks);
  return equal;
}

typedef struct {
  MPI_Comm theirs;
  const hplcast_communicator* ours;
} both;

static both split(const char* name, int rank, both whole, int color, int key) {
  both part;
  MPI_Comm_split(whole.theirs, color, key, &part.theirs);
  part.ours = hplcast_split(whole.ours, color == MPI_UNDEFINED ? -1 : color, key);
  printf("%d %s %d\n", rank, name, same(part.theirs, part.ours));
  return part;
}

int main(int argc, char** argv) {
  int rank, size, repeat;
  both world, half, line;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  world.theirs = MPI_COMM_WORLD;
  world.ours = hplcast_world();
  printf("%d world %d\n", rank, same(world.theirs, world.ours));
  /* The last rank is in no part; the others are in two, in reverse order; within these, in threes of equal keys. */
  half = split("halves", rank, world, rank == size - 1 ? MPI_UNDEFINED : rank % 2, -rank);
  if (half.ours != NULL) {
    line = split("threes", rank, half, hplcast_rank_in(half.ours) / 3, 7);
    hplcast_free(line.ours);
    hplcast_free(half.ours);
  }
  for (repeat = 0; repeat < 3; ++repeat) { /* nothing is left of the time before */
    line = split("again", rank, world, (rank + repeat) % 3, rank);
    hplcast_free(line.ours);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* Ranks come one second after each other. */
  hplcast_delay(1000 + rank - hplcast_clock_s());
  line.ours = hplcast_split(world.ours, 0, rank);
  printf("%d leaves %a\n", rank, hplcast_clock_s());
  MPI_Finalize();
  return 0;
}
