/* Times every kernel call of an otherwise unchanged HPL, keeps a sample of them, and tells how long they took in a run.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hplcast/core/environment.h"

#include "activity.h"
#include "kernels.h"
#include "observing.h"
#include "wrap.h"

typedef struct {
  double start_s; /* since trace_start */
  double duration_s;
  int m, n, k, core;
} row;

typedef struct {
  row* rows; /* a uniform sample of the calls so far, of min(calls, rows_max) rows */
  uint64_t calls;
  double total_s;
  double flop;
  uint64_t random; /* state of this kernel's generator */
} kernel_rows;

static const double clock_resolution_s = 1e-9; /* of struct timespec, and of the digits that are written */
enum { default_rows_max = 20000, most_rows = 1000000, empty_rows_max = 100, clock_reads = 10000 };

#define HPLCAST_NAME(NAME, name, ...) #name,
const char* const kernel_names[] = {HPLCAST_KERNELS(HPLCAST_NAME)};

/* One process is one rank here, so file scope is the scope of a rank. */
static kernel_rows trace[HPLCAST_KERNEL_COUNT];
static kernel_rows empty[HPLCAST_KERNEL_COUNT]; /* calls without work: some BLAS start their threads for nothing */
static const char* prefix;
static uint64_t rows_max = default_rows_max;
static int running;
static int depth; /* of kernels in kernels */
static double origin_s;
static double clock_total_s;    /* of `clock_reads` pairs of readings */
static double kernels_of_run_s; /* in kernels of this rank, in the run of HPL that was begun last */
static double mean_of_ranks_s;  /* the same, mean over the ranks, when it has ended */

static void measure_clock(void) {
  for (int i = 0; i < clock_reads; ++i) {
    const double start_s = clock_now_s();
    clock_total_s += clock_now_s() - start_s;
  }
}

/* A core that was idle a moment ago may keep all threads of a BLAS for a second, so that each waits for the time slice of
 * the others: they are to find it busy, as in a run that lasts. */
static void keep_busy_for_threads(void) {
  const double busy_s = 0.2;
  const char* threads = getenv("OMP_NUM_THREADS");
  if (threads == NULL || strtol(threads, NULL, 10) < 2) return;
  for (const double end_s = clock_now_s() + busy_s; clock_now_s() < end_s;) {
  }
}

void trace_start(void) {
  const int rank = settings()->rank;
  prefix = getenv(HPLCAST_VARIABLE_KERNEL_TRACE);
  if (prefix == NULL || *prefix == '\0') {
    prefix = NULL;
    return;
  }
  rows_max = settings_number(HPLCAST_VARIABLE_KERNEL_TRACE_MAX, most_rows,
                             HPLCAST_VARIABLE_KERNEL_TRACE_MAX " must be a number of rows per kernel from 1 to 1000000",
                             rows_max);
  for (int i = 0; i < HPLCAST_KERNEL_COUNT; ++i) {
    trace[i].rows = malloc(rows_max * sizeof(row));
    empty[i].rows = calloc(empty_rows_max, sizeof(row));
    if (trace[i].rows == NULL || empty[i].rows == NULL)
      settings_refuse("not enough memory for HPLCAST_KERNEL_TRACE_MAX rows", kernel_names[i]);
    /* Touched now, so that no page is taken in while HPL is timed. */
    memset(trace[i].rows, 0, rows_max * sizeof(row));
    empty[i].random = trace[i].random = (uint64_t)rank * HPLCAST_KERNEL_COUNT + (uint64_t)i;
  }
  measure_clock();
  keep_busy_for_threads();
  origin_s = clock_now_s();
}

void trace_run(int begins) {
  running = begins;
  if (begins) kernels_of_run_s = 0;
}

/* Seconds of the clock, or a negative number where the call that begins is not to be kept: tracing is off, or the call
 * is made by another kernel, whose duration already has it. An end_call belongs to each begin_call. */
static double begin_call(void) {
  if (depth++ > 0 || !running) return -1.0;
  return clock_now_s();
}

#define HPLCAST_FLOP(NAME, name, function, call, sizes, flop, touches) \
  case HPLCAST_##NAME:                                                 \
    return flop;
static double flop_of(hplcast_kernel kernel, double m, double n, double k) {
  switch (kernel) {
    HPLCAST_KERNELS(HPLCAST_FLOP)
    case HPLCAST_KERNEL_COUNT:
      break;
  }
  return 0;
}

static void add_row(kernel_rows* rows, uint64_t most, const row* one) {
  rows->total_s += one->duration_s;
  const uint64_t place = place_in_sample(rows->calls++, most, &rows->random);
  if (place < most) rows->rows[place] = *one;
}

/* Keeps the call that began at `start_s`. */
static void end_call(hplcast_kernel kernel, int m, int n, int k, double start_s) {
  --depth;
  if (start_s < 0.0) return;
  const double measured_s = clock_now_s() - start_s;
  /* Where the clock is coarser than the kernel is fast: a duration is never 0, readers refuse that. */
  const double duration_s = measured_s < clock_resolution_s ? clock_resolution_s : measured_s;
  kernels_of_run_s += duration_s;
  row one = {start_s - origin_s, duration_s, m, n, k, prefix == NULL ? -1 : sched_getcpu()};
  if (m <= 0 || n <= 0 || k <= 0) {
    activity_empty_call(kernel, duration_s);
    one.m = one.n = one.k = 1; /* readers of traces refuse 0 */
    if (prefix != NULL) add_row(&empty[kernel], empty_rows_max, &one);
    return;
  }
  const double flop = flop_of(kernel, m, n, k);
  activity_kernel(kernel, m, n, k, flop, start_s, start_s + duration_s);
  if (prefix == NULL) return;
  trace[kernel].flop += flop;
  add_row(&trace[kernel], rows_max, &one);
}

/* All ranks call it when HPL's time is over, before its result is printed. */
WRAP(void, HPL_ptimer_combine, MPI_Comm comm, const HPL_T_PTIME_OP operation, const HPL_T_PTIME kind, const int n,
     const int first, double* times) {
  int ranks = 1;
  __real_HPL_ptimer_combine(comm, operation, kind, n, first, times);
  (void)PMPI_Comm_size(comm, &ranks);
  (void)PMPI_Allreduce(&kernels_of_run_s, &mean_of_ranks_s, 1, MPI_DOUBLE, MPI_SUM, comm);
  mean_of_ranks_s /= ranks;
}

double trace_kernels_s(void) {
  return mean_of_ranks_s;
}

static int by_start(const void* left, const void* right) {
  const double difference = ((const row*)left)->start_s - ((const row*)right)->start_s;
  return (difference > 0.0) - (difference < 0.0);
}

int trace_cpu_of_core(int core) {
  char path[96];
  int cpu = -1;
  (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", core);
  FILE* file = fopen(path, "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%d", &cpu) != 1) cpu = -1;
  (void)fclose(file);
  return cpu;
}

/* `suffix`: of the kernels' names. */
static void write_kernels(FILE* file, kernel_rows* kernels, uint64_t most, const char* suffix) {
  char host[256] = "";
  int known_core = -1;
  int known_cpu = -1;
  (void)gethostname(host, sizeof host - 1);
  for (int i = 0; i < HPLCAST_KERNEL_COUNT; ++i) {
    const uint64_t count = kernels[i].calls < most ? kernels[i].calls : most;
    qsort(kernels[i].rows, count, sizeof(row), by_start);
    for (const row* r = kernels[i].rows; r != kernels[i].rows + count; ++r) {
      if (r->core != known_core) known_cpu = trace_cpu_of_core(known_core = r->core);
      (void)fprintf(file, "%s%s,%d,%d,%d,%.9f,%.9f,%s,%d,%d,hpl\n", kernel_names[i], suffix, r->m, r->n, r->k,
                    r->duration_s, r->start_s, host, known_cpu, r->core);
    }
  }
}

static void write_rows(FILE* file) {
  (void)fprintf(file, "kernel,m,n,k,duration_s,start_s,host,cpu,core,content\n");
  write_kernels(file, trace, rows_max, "");
  write_kernels(file, empty, empty_rows_max, HPLCAST_EMPTY_CALLS);
}

static void write_totals(FILE* file) {
  (void)fprintf(file, "kernel,calls,total_s,flop\n");
  (void)fprintf(file, "clock,%d,%.9f,0\n", clock_reads, clock_total_s);
  for (int i = 0; i < 2 * HPLCAST_KERNEL_COUNT; ++i) {
    const int is_empty = i >= HPLCAST_KERNEL_COUNT;
    const kernel_rows* of = is_empty ? &empty[i - HPLCAST_KERNEL_COUNT] : &trace[i];
    if (is_empty && of->calls == 0) continue;
    (void)fprintf(file, "%s%s,%llu,%.9f,%.17g\n", kernel_names[i % HPLCAST_KERNEL_COUNT],
                  is_empty ? HPLCAST_EMPTY_CALLS : "", (unsigned long long)of->calls, of->total_s, of->flop);
  }
}

int trace_write(void) {
  if (prefix == NULL) return 1;
  const char* too_long = HPLCAST_VARIABLE_KERNEL_TRACE " is too long a path";
  return settings_write_file(prefix, ".csv", too_long, write_rows) &&
         settings_write_file(prefix, ".totals.csv", too_long, write_totals);
}

#define TIME_CALL(NAME, function, result, parameters, arguments, m_, n_, k_) \
  __typeof__(function) __real_##function, __wrap_##function;                 \
  HPLCAST_TYPE_OF_##result __wrap_##function parameters {                    \
    const double start_s = begin_call();                                     \
    KEEP_##result __real_##function arguments;                               \
    end_call(HPLCAST_##NAME, m_, n_, k_, start_s);                           \
    RETURN_##result;                                                         \
  }
#define KEEP_NOTHING
#define RETURN_NOTHING
#define KEEP_INDEX const CBLAS_INDEX result =
#define RETURN_INDEX return result
#define TIME_KERNEL(NAME, name, function, call, ...) HPLCAST_EXPAND(TIME_CALL, NAME, function, HPLCAST_CALL_##call)

HPLCAST_KERNELS(TIME_KERNEL)

WRAP(int, MPI_Init, int* argc, char*** argv) {
  const int status = __real_MPI_Init(argc, argv);
  int rank = 0;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  activity_start(rank);
  trace_start();
  return status;
}

WRAP(int, MPI_Finalize, void) {
  if (!trace_write() || !activity_write()) (void)MPI_Abort(MPI_COMM_WORLD, 3);
  return __real_MPI_Finalize();
}
