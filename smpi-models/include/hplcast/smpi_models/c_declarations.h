/* Around what the runtime declares in C: it has the names of C in C++, too, and programs see it. */
#ifndef HPLCAST_C_DECLARATIONS_H
#define HPLCAST_C_DECLARATIONS_H

#ifdef __cplusplus
#define HPLCAST_BEGIN_C \
  extern "C" {          \
  _Pragma("GCC visibility push(default)")
#define HPLCAST_END_C           \
  _Pragma("GCC visibility pop") \
  }
#else
#define HPLCAST_BEGIN_C _Pragma("GCC visibility push(default)")
#define HPLCAST_END_C _Pragma("GCC visibility pop")
#endif

#endif
