/* Numbers of messages on their channels: both ends count, so that a message can be found again on the other side. */
#ifndef HPLCAST_INSTRUMENT_CHANNEL_NUMBERS_H
#define HPLCAST_INSTRUMENT_CHANNEL_NUMBERS_H

#include <stdint.h>

#define NO_NUMBER UINT32_MAX

/* Forgets all. */
void channel_numbers_clear(void);

/* The number, from 0, of the next message to (`sends`) or from a rank, by its tag. NO_NUMBER for a peer below 0, and
 * for a channel that finds no place: there are 49,000 (HPL uses about 1000 tags per neighbour). */
uint32_t channel_number(int peer, int tag, int sends);

#endif
