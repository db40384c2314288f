/* Definitions for the linker's --wrap, which leads all calls of `function` here; __real_function() is what it replaces.
 */
#ifndef HPLCAST_HPL_WRAP_H
#define HPLCAST_HPL_WRAP_H

/* The names with __real_ and __wrap_ are the linker's. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

/* WRAP(int, MPI_Abort, MPI_Comm comm, int status) { ... }: does not compile if HPL or MPI declares it otherwise. */
#define WRAP(result, function, ...)                          \
  __typeof__(function) __real_##function, __wrap_##function; \
  result __wrap_##function(__VA_ARGS__)

#endif
