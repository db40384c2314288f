/* What the simulated HIP and rocBLAS (accelerators/) ask the runtime for, on behalf of the calling rank: the
 * accelerator of its host as cluster.json has it, durations of kernels, its own time, and the memory of its device. As
 * in hplcast_smpi.h nothing here returns an error: a call that cannot be served ends the simulation. */
#ifndef HPLCAST_ACCELERATOR_H
#define HPLCAST_ACCELERATOR_H

#include <stddef.h>

#include "hplcast/smpi_models/c_declarations.h"

HPLCAST_BEGIN_C

typedef enum hplcast_direction { HPLCAST_TO_DEVICE, HPLCAST_FROM_DEVICE, HPLCAST_WITHIN_DEVICE } hplcast_direction;
enum { HPLCAST_DIRECTIONS = 3 };

struct hplcast_copy_costs {
  double latency_s, bytes_per_s, pageable_bytes_per_s;
};

/* core::AcceleratorModel has the meaning of each. */
struct hplcast_accelerator {
  const char* name;
  int per_host, compute_units;
  double memory_bytes;
  double launch_s, start_s, gap_s, record_s, sync_s, flag_s;
  struct hplcast_copy_costs copies[HPLCAST_DIRECTIONS];
};

/* core::HandshakeModel; `pivot` is -1 without one. */
struct hplcast_handshake {
  int flag, columns, pivot;
  double column_s, column_s_per_row, update_s_per_element;
};

/* A kernel of cluster.json. `sizes`: places of the arguments m, n, k, or -1. */
struct hplcast_accelerator_kernel {
  int number;
  int sizes[3];
  int has_handshake;
  struct hplcast_handshake handshake;
};

/* Those of the rank's host. Ends the simulation where cluster.json has none, or the host has more ranks than
 * accelerators. */
const struct hplcast_accelerator* hplcast_accelerator_here(void);
/* Whether kernels are executed, too: then the device's memory is real. */
int hplcast_accelerator_executes(void);
/* The kernel of that name, or of `base` ("dgemm" for "dgemm/NT"). Ends the simulation where cluster.json has neither.
 */
struct hplcast_accelerator_kernel hplcast_accelerator_find(const char* name, const char* base);
/* Draws and counts the duration of a call; a size <= 0 is a call without work, which takes none. */
double hplcast_accelerator_call(int kernel, double m, double n, double k, double flop);
/* Counts a call whose duration was not drawn. */
void hplcast_accelerator_took(int kernel, double duration_s);
void hplcast_accelerator_copied(hplcast_direction direction, double bytes, double duration_s);
void hplcast_accelerator_overlapped(double duration_s);
/* For the trace, which has a row per stream: work of these sizes (a copy: n bytes) was done there. */
void hplcast_accelerator_ran(int stream, const char* what, double m, double n, double k, double begin_s, double end_s);

/* False when the program has ended, and its static objects free what they have. */
int hplcast_is_in_rank(void);
/* The own time of the rank: the simulated clock, and what it has pending. */
double hplcast_own_s(void);
/* The simulated clock: goes on whenever anything does. */
double hplcast_simulated_s(void);
/* The rank waits until then; nothing if that is over. */
void hplcast_wait_until(double date_s);

/* Memory of the rank's device: address space. Content is kept where copies and messages of up to 64 KiB write it;
 * they, and longer ones that cover it, take it along. Null: it does not fit. */
void* hplcast_device_allocate(size_t bytes);
/* 0 if nothing that was allocated, and not yet freed, begins there. */
int hplcast_device_free(void* memory);
/* Bytes of the device from there to the end of its allocation; 0 for memory of the host. */
size_t hplcast_device_bytes_from(const void* address);
double hplcast_device_used_bytes(void);
/* memcpy(), where both, one or none is memory of a device: a row of a copy of `whole_bytes`. */
void hplcast_device_copy(void* to, const void* from, size_t bytes, size_t whole_bytes);

HPLCAST_END_C

#endif
