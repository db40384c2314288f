/* The families of noise, how the durations of a kernel scatter: the one list of them, for C and C++. What each means is
 * said at DurationLaw (kernel_model.hpp).
 *
 * HPLCAST_NOISE_FAMILIES(X) expands X(NAME, name, text) for each: HPLCAST_NOISE_NAME in C, core::NoiseFamily::name, and
 * `text` in cluster.json and in options. The order is that of the numbers in C. */
#ifndef HPLCAST_NOISE_LIST_H
#define HPLCAST_NOISE_LIST_H

#define HPLCAST_NOISE_FAMILIES(X)            \
  X(NONE, none, "none")                      \
  X(HALF_NORMAL, half_normal, "half-normal") \
  X(NORMAL, normal, "normal")                \
  X(LOG_NORMAL, log_normal, "log-normal")    \
  X(MIXTURE, mixture, "mixture")

#endif
