#include "channel_numbers.h"

#include <string.h>

typedef struct {
  int peer; /* of the other side + 1, below 0 for receives; 0: a free place */
  int tag;
  uint32_t next;
} channel;

enum { bits = 16, places = 1 << bits, places_used_most = places / 4 * 3 };
static channel channels[places];
static int used;

void channel_numbers_clear(void) {
  memset(channels, 0, sizeof channels);
  used = 0;
}

uint32_t channel_number(int peer, int tag, int sends) {
  if (peer < 0) return NO_NUMBER;
  const int side = sends ? peer + 1 : -peer - 1;
  /* Multiplicative hashing (Knuth, volume 3, 6.4), then the next free place. */
  uint32_t place = ((uint32_t)side * 0x9e3779b1u ^ (uint32_t)tag * 0x85ebca6bu) * 0x9e3779b1u >> (32 - bits);
  while (channels[place].peer != 0) {
    channel* found = &channels[place];
    if (found->peer == side && found->tag == tag) return found->next++;
    place = (place + 1) % places;
  }
  if (used == places_used_most) return NO_NUMBER;
  ++used;
  channels[place] = (channel){side, tag, 1};
  return 0;
}
