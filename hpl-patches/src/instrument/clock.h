/* The clock of a rank, and how far the clocks of other hosts are from that of rank 0. */
#ifndef HPLCAST_INSTRUMENT_CLOCK_H
#define HPLCAST_INSTRUMENT_CLOCK_H

#include <stdio.h>

/* Seconds of this host's monotonic clock, which all ranks on it share. HPLCAST_TEST_CLOCK=OFFSET_S,DRIFT (tests only)
 * moves it on all ranks but 0, as if each were on a host of its own. */
double clock_now_s(void);

/* Finds the first rank of each host. All ranks call it once, after MPI_Init. */
void clock_start(void);

/* Rank 0 exchanges messages with the first rank of each other host, and keeps the exchange with the least round trip.
 * All ranks call it, twice: before and after what is timed. */
void clock_compare(void);

/* The first rank on the host of this one. */
int clock_rank_of_host(void);

/* Rank 0: lines clock,RANK,TIME_S,OFFSET_S,HALF_ROUND_TRIP_S: the clock of RANK was OFFSET_S ahead of ours, give or
 * take half of the round trip, when it showed TIME_S. */
void clock_write(FILE* file);

#endif
