/* Sizes of calls that both the modelled and the observed routines tell. */
#ifndef HPLCAST_STRIDES_H
#define HPLCAST_STRIDES_H

/* The larger distance of elements; 1: they are neighbours. */
static inline double hplcast_stride(int one, int other) {
  const int distance = one < 0 ? -one : one, other_distance = other < 0 ? -other : other;
  const int larger = distance > other_distance ? distance : other_distance;
  return larger < 1 ? 1 : (double)larger;
}

#endif
