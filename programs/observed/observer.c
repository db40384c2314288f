/* libhplcast-observe.so: preloaded into the ranks of a real program (`hplcast observe`). Times the calls of BLAS that
 * the program makes, and the CPU time of what is neither BLAS nor MPI. Writes CSV files per rank
 * (docs/formats/observation.md) into HPLCAST_OBSERVE_DIR when MPI_Finalize is called, or at exit, then what reach.c
 * measures. Only the thread that loaded us is observed, by a clock of its own (below). */
#define _GNU_SOURCE
#include "observed_calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hplcast/core/environment.h"
#include "observing.h"

/* Asking for page faults takes about 0.5 us: of calls of fewer flop they are not known. */
static const double long_flop = 1e5;

static __thread int is_observed_thread;
/* After a while without long calls, the first milliseconds of these take up to twice as long, whatever their operands:
 * the vector units are cold (an EPYC: docs/measurements/programs.md). */
static const int64_t warms_ns = 5000000, cools_ns = 10000000;
static int64_t warm_ns;      /* CPU time in long calls since the last such while */
static int64_t long_call_ns; /* when the last one ended */

static int depth;          /* of calls of routines and MPI */
static int paused, pauses; /* MPI_Pcontrol(0): now, and how often until now */
static int written;
static pid_t observed_process;
static int64_t executing_from; /* when the program went on, in ns of the clock */
static int64_t executed_ns;    /* without MPI; routines and regions are part of it */
static int64_t wall_from;
static uint64_t foreign_calls;
static struct hplcast_observed* routines;
static struct hplcast_mpi_observed* functions;
static uint64_t random_state = 1;

struct region {
  char name[64];
  double m, n, k;              /* of the last begin */
  double from_s;               /* code_s() at the last begin */
  int open;                    /* the outermost 1, those in it more */
  int pauses;                  /* until it began; -1: it began in one */
  struct hplcast_observed all; /* of its calls */
  double routines_s;           /* inside of it; while it is open less the time of all routines before it began */
  uint64_t mpi_calls;          /* the same of calls of MPI */
};
enum { MOST_REGIONS = 256 };
static struct region regions[MOST_REGIONS];
static int region_count, open_regions;
static double routines_s;
static uint64_t mpi_calls;                 /* of functions that are not local */
static double regions_s, outermost_from_s; /* of regions that are in no other; of the one that is open */

/* The time of the program's own code before a call of MPI, since the one before it. */
struct stretch {
  const char* function;
  float time_s;
};
static struct stretch* stretches;
static size_t stretch_count, stretch_room;
static double stretch_from_s; /* own_s() at its begin */
static int has_polled;        /* just before, at polled_s */
static double polled_s;

/* --- the clock ---------------------------------------------------------------------------------------------------- */

/* It shows the CPU time of the thread without that of observing, for which it stops. The system's own is not read for
 * it each time: that takes 0.6 us in a loop, and 4 between calls of BLAS, more than many of these (measured on an EPYC;
 * the wall's takes 0.02). So it goes by the wall, from which is taken off what other programs had, by the system's CPU
 * time: after intervals so long that the thread may have lost its core meanwhile. */
static int64_t now_ns;       /* where it stands */
static int64_t goes_from_ns; /* the wall's, since it goes on */
static int64_t stops_ns;     /* what stopping it and going on takes of what is observed */
static int64_t checked_wall_ns, checked_cpu_ns;
static uint64_t interruptions;
static const int64_t may_be_off_ns = 200000, check_ns = 10000000;

/* What other programs had of the time since the last check. */
static int64_t check_clock(int64_t wall_ns) {
  const int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), checked_ns = wall_ns - checked_wall_ns;
  const int64_t others_ns = checked_ns - (cpu_ns - checked_cpu_ns);
  checked_cpu_ns = cpu_ns;
  checked_wall_ns = goes_from_ns = clock_ns(CLOCK_MONOTONIC);   /* it may have been off since wall_ns */
  const int has_been_off = others_ns > 50000 + checked_ns / 50; /* else interrupts, and clocks that do not agree */
  interruptions += (uint64_t)has_been_off;
  return has_been_off ? others_ns : 0;
}

static void stop_clock(void) {
  const int64_t wall_ns = clock_ns(CLOCK_MONOTONIC), elapsed_ns = wall_ns - goes_from_ns;
  int64_t own_ns = elapsed_ns - stops_ns;
  goes_from_ns = wall_ns;
  if (elapsed_ns > may_be_off_ns)
    own_ns -= check_clock(wall_ns);
  else if (wall_ns - checked_wall_ns > check_ns)
    check_clock(wall_ns);
  if (own_ns > 0) now_ns += own_ns;
}

static void start_clock(void) {
  const int64_t wall_ns = clock_ns(CLOCK_MONOTONIC), stopped_ns = wall_ns - goes_from_ns;
  goes_from_ns = wall_ns;
  if (stopped_ns > may_be_off_ns) check_clock(wall_ns);
}

/* Of this thread. */
static long page_faults(void) {
  struct rusage use;
  return getrusage(RUSAGE_THREAD, &use) == 0 ? use.ru_minflt + use.ru_majflt : 0;
}

static void stop(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("hplcast observe: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(3);
}

void* hplcast_real_function(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function == NULL) stop("the program calls %s, which no library has that is loaded after the observer", name);
  return function;
}

struct hplcast_timing hplcast_timing_begin(double work_flop) {
  struct hplcast_timing timing = {-1, work_flop > long_flop, 0};
  if (!is_observed_thread) {
    __atomic_fetch_add(&foreign_calls, 1, __ATOMIC_RELAXED);
    return timing;
  }
  if (depth++ > 0 || paused) return timing;
  stop_clock();
  timing.begin_ns = now_ns;
  if (timing.is_long) {
    timing.faults = page_faults();
    start_clock();
  }
  return timing;
}

/* In the sample of its class. */
static void keep(struct hplcast_observed* routine, double m, double n, double k, double duration_s, long faults) {
  const int cold = warm_ns < warms_ns;
  struct hplcast_class** const class = &routine->classes[size_class(m * n * k, 1, HPLCAST_CLASSES)];
  if (*class == NULL) *class = calloc(1, sizeof **class);
  struct hplcast_class* const kept = *class;
  if (kept == NULL) stop("no memory for the calls of %s", routine->name);
  const uint64_t place = place_in_sample(kept->calls++, HPLCAST_SAMPLES, &random_state);
  if (place < HPLCAST_SAMPLES)
    kept->samples[place] =
        (struct hplcast_sample){(float)m, (float)n, (float)k, (float)duration_s, (float)faults, cold};
}

/* The one of this name that counts, now among `routines`. */
static struct hplcast_observed* first_of(struct hplcast_observed* routine) {
  if (routine->first != NULL) return routine->first;
  struct hplcast_observed* one = routines;
  while (one != NULL && strcmp(one->name, routine->name) != 0) one = one->next;
  if (one == NULL) {
    routine->next = routines;
    one = routines = routine;
  }
  return routine->first = one;
}

void hplcast_timing_end(const struct hplcast_timing* timing, struct hplcast_observed* routine, double m, double n,
                        double k, double flop) {
  if (!is_observed_thread) return;
  --depth;
  if (timing->begin_ns < 0) return;
  stop_clock();
  if (timing->is_long) {
    warm_ns = now_ns - timing->begin_ns + (timing->begin_ns - long_call_ns > cools_ns ? 0 : warm_ns);
    long_call_ns = now_ns;
  }
  if (m > 0 && n > 0 && k > 0) {
    const double duration_s = (double)(now_ns > timing->begin_ns ? now_ns - timing->begin_ns : 1) * 1e-9;
    routine = first_of(routine);
    ++routine->calls;
    routine->time_s += duration_s;
    routine->flop += flop;
    routines_s += duration_s;
    keep(routine, m, n, k, duration_s, timing->is_long ? page_faults() - timing->faults : 0);
  }
  start_clock();
}

/* --- datatypes ---------------------------------------------------------------------------------------------------- */

/* Constructors are watched, because what MPI_Type_get_envelope tells differs between MPI libraries. */
static struct layout {
  long type;
  int blocks; /* 0: of something else than elements without gaps */
  long block_bytes, stride_bytes;
} layouts[256]; /* at a time; types beyond that are not known */
static int layout_count;

static struct layout* layout_of(long type) {
  for (int i = 0; i < layout_count; ++i)
    if (layouts[i].type == type) return &layouts[i];
  return NULL;
}

long hplcast_handle_at(long address) {
  static int are_addresses = -1;
  if (are_addresses < 0) are_addresses = dlsym(RTLD_NEXT, "ompi_mpi_byte") != NULL;
  return are_addresses ? *(const long*)address : *(const int*)address;
}

int hplcast_size_c(long type) {
  static int (*real)(long, int*);
  int size = 0;
  if (!real) *(void**)&real = hplcast_real_function("MPI_Type_size");
  return real(type, &size) == 0 ? size : 0;
}

int hplcast_size_fortran(long type) {
  static void (*real)(long, int*, int*);
  int size = 0, error = 0;
  if (!real) *(void**)&real = hplcast_real_function("mpi_type_size_");
  real(type, &size, &error);
  return error == 0 ? size : 0;
}

void hplcast_vector_made(long type, int blocks, int length, long distance, int in_elements, long of, int size) {
  const struct layout* const element = layout_of(of);
  struct layout* place = layout_of(type);
  if (place == NULL && layout_count < (int)(sizeof layouts / sizeof *layouts)) place = &layouts[layout_count++];
  if (place != NULL)
    *place =
        (struct layout){type, element == NULL ? blocks : 0, (long)length * size, distance * (in_elements ? size : 1)};
}

void hplcast_type_freed(long type) {
  struct layout* const place = layout_of(type);
  if (place != NULL) *place = layouts[--layout_count];
}

struct hplcast_packing hplcast_packing_of(int count, long type, int size) {
  enum { CACHE_LINE_BYTES = 64 };
  const struct layout* const vector = layout_of(type);
  const struct hplcast_packing by_bytes = {1, (double)count * size, 1, HPLCAST_UNIT_STRIDE};
  if (vector == NULL || vector->blocks < 2 || vector->block_bytes >= CACHE_LINE_BYTES) return by_bytes;
  if (vector->stride_bytes == vector->block_bytes) return by_bytes;
  const long distance = vector->stride_bytes < 0 ? -vector->stride_bytes : vector->stride_bytes;
  return (struct hplcast_packing){(double)vector->block_bytes, (double)count * vector->blocks, (double)distance,
                                  hplcast_stride_class((int)distance, (int)distance, 1)};
}

/* --- stretches ---------------------------------------------------------------------------------------------------- */

/* The time until now of code that is neither MPI nor a routine. */
static double code_s(void) {
  return (double)(executed_ns + (paused ? 0 : now_ns - executing_from)) * 1e-9 - routines_s;
}

/* Nor in a region. */
static double own_s(void) {
  return (open_regions > 0 ? outermost_from_s : code_s()) - regions_s;
}

/* The program comes to a function of MPI, or a clock; its time is in executed_ns. */
static void end_stretch(const char* function, int polls) {
  const double now_s = own_s(), time_s = now_s - stretch_from_s;
  /* Loops that ask again and again take as long as it takes, and are no work. */
  const double shortest_work_s = 5e-7;
  if (polls) {
    if (has_polled && now_s - polled_s < shortest_work_s) stretch_from_s += now_s - polled_s;
    has_polled = 1;
    polled_s = now_s;
    return;
  }
  has_polled = 0;
  stretch_from_s = now_s;
  if (stretch_count == stretch_room) {
    const size_t room = stretch_room > 0 ? 2 * stretch_room : 4096;
    struct stretch* const more = realloc(stretches, room * sizeof *stretches);
    if (more == NULL) stop("no memory for the times between %zu calls of MPI", room);
    stretches = more;
    stretch_room = room;
  }
  stretches[stretch_count++] = (struct stretch){function, (float)time_s};
}

/* What the program has executed until now. */
static void count_executed(void) {
  stop_clock();
  if (!paused) executed_ns += now_ns - executing_from;
  executing_from = now_ns;
}

int hplcast_mpi_begin(const struct hplcast_mpi_observed* function) {
  if (!is_observed_thread || depth++ > 0) return 0;
  count_executed();
  if (!paused && function->kind != HPLCAST_LOCAL) end_stretch(function->name, function->kind == HPLCAST_POLLS);
  return 1;
}

void hplcast_mpi_end(int outermost, struct hplcast_mpi_observed* function) {
  if (!is_observed_thread) return;
  --depth;
  if (!outermost) return;
  stop_clock();
  if (!paused) {
    if (function->calls++ == 0) {
      function->next = functions;
      functions = function;
    }
    function->time_s += (double)(now_ns - executing_from) * 1e-9;
    mpi_calls += function->kind != HPLCAST_LOCAL;
  }
  executing_from = now_ns;
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

static struct region* region_of(const char* name) {
  for (int i = 0; i < region_count; ++i)
    if (strcmp(regions[i].name, name) == 0) return &regions[i];
  if (region_count == MOST_REGIONS) stop("more than %d regions; expected fewer names", MOST_REGIONS);
  if (strlen(name) >= sizeof regions[0].name || strpbrk(name, ",\"\r\n") != NULL)
    stop("the name of region %s is longer than 63 letters, or has a comma, a quote or a line break", name);
  struct region* const region = &regions[region_count++];
  region->all.name = strcpy(region->name, name);
  return region;
}

void hplcast_observed_region_begin(const char* name, double m, double n, double k) {
  if (!is_observed_thread) return;
  stop_clock();
  struct region* const region = region_of(name);
  if (region->open) stop("region %s begins inside of itself; expected HPLCAST_REGION_END first", name);
  const double largest = fmax(m, fmax(n, k)), most = 1e30;
  if (!(m >= 0 && n >= 0 && k >= 0 && largest <= most))
    stop("region %s begins with sizes %g, %g, %g; expected numbers from 0 to %g", name, m, n, k, most);
  region->open = ++open_regions;
  region->m = m;
  region->n = n;
  region->k = k;
  region->from_s = code_s();
  region->pauses = paused ? -1 : pauses;
  region->routines_s -= routines_s;
  region->mpi_calls -= mpi_calls;
  if (open_regions == 1) outermost_from_s = region->from_s;
  start_clock();
}

void hplcast_observed_region_end(const char* name) {
  if (!is_observed_thread) return;
  stop_clock();
  struct region* const region = region_of(name);
  if (!region->open) stop("region %s ends where it has not begun", name);
  for (int i = 0; i < region_count; ++i) {
    if (regions[i].open > region->open)
      stop("region %s ends before region %s, which began in it; expected regions that do not overlap", name,
           regions[i].name);
  }
  region->open = 0;
  region->routines_s += routines_s;
  region->mpi_calls += mpi_calls;
  const double time_s = fmax(0, code_s() - region->from_s);
  if (--open_regions == 0 && depth == 0) regions_s += time_s; /* in MPI or a routine it is a part of these */
  if (region->pauses == pauses) { /* all of it was observed; a part tells nothing of a call */
    ++region->all.calls;
    region->all.time_s += time_s;
    keep(&region->all, region->m, region->n, region->k, time_s, 0);
  }
  start_clock();
}

/* --- the files ---------------------------------------------------------------------------------------------------- */

static const char* rank_of_process(void) {
  const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (getenv(names[i]) != NULL) return getenv(names[i]);
  return "0";
}

static void open_file(output_file* output, const char* folder, const char* what) {
  if (!output_open(output, "%s/rank-%s.%s.csv", folder, rank_of_process(), what)) stop("cannot write %s", output->path);
}

static void write_calls(FILE* file, const char* kind, const struct hplcast_observed* routine) {
  for (int i = 0; i < HPLCAST_CLASSES; ++i) {
    const struct hplcast_class* const kept = routine->classes[i];
    const uint64_t samples = hplcast_samples_of(kept);
    for (uint64_t j = 0; j < samples; ++j) {
      const struct hplcast_sample* const one = &kept->samples[j];
      fprintf(file, "%s%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.0f,%d\n", kind, routine->name, one->m, one->n, one->k,
              one->duration_s, (double)kept->calls / (double)samples, one->faults, one->cold);
    }
  }
}

__attribute__((destructor)) void hplcast_write_observed(void) {
  const char* const folder = getenv(HPLCAST_VARIABLE_OBSERVE_DIR);
  /* Not of a launcher or a shell on the way to the program, nor of what the program starts. */
  const int seen = routines != NULL || functions != NULL || region_count > 0;
  if (written || folder == NULL || !seen || getpid() != observed_process) return;
  written = 1;
  count_executed();
  if (!paused) end_stretch("MPI_Finalize", 0);
  static output_file files[4];
  open_file(&files[0], folder, "calls");
  open_file(&files[1], folder, "times");
  FILE *const calls = files[0].file, *const times = files[1].file;
  fputs("routine,m,n,k,duration_s,calls,faults,cold\n", calls);
  fputs("what,name,calls,time_s,flop\n", times);
  for (const struct hplcast_observed* one = routines; one != NULL; one = one->next) {
    write_calls(calls, "", one);
    fprintf(times, "routine,%s,%llu,%.9g,%.9g\n", one->name, (unsigned long long)one->calls, one->time_s, one->flop);
  }
  for (int i = 0; i < region_count; ++i) {
    const struct hplcast_observed* const all = &regions[i].all;
    if (regions[i].open) fprintf(stderr, "hplcast observe: warning: region %s was never closed\n", all->name);
    write_calls(calls, "region:", all);
    fprintf(times, "region,%s,%llu,%.9g,0\n", all->name, (unsigned long long)all->calls, all->time_s);
    if (!regions[i].open && (regions[i].routines_s > 0 || regions[i].mpi_calls > 0))
      fprintf(times, "inside,%s,%llu,%.9g,0\n", all->name, (unsigned long long)regions[i].mpi_calls,
              regions[i].routines_s);
  }
  for (const struct hplcast_mpi_observed* one = functions; one != NULL; one = one->next)
    fprintf(times, "mpi,%s,%llu,%.9g,0\n", one->name, (unsigned long long)one->calls, one->time_s);
  const double total_s = (double)executed_ns * 1e-9, rest_s = code_s() - regions_s;
  const int64_t thread_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), process_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  fprintf(times, "total,,0,%.9g,0\nrest,,0,%.9g,0\n", total_s, rest_s > 0 ? rest_s : 0);
  fprintf(times, "wall,,0,%.9g,0\n", (double)(clock_ns(CLOCK_MONOTONIC) - wall_from) * 1e-9);
  fprintf(times, "preempted,,%llu,0,0\n", (unsigned long long)interruptions);
  fprintf(times, "threads,,%llu,%.9g,0\n", (unsigned long long)foreign_calls, (double)(process_ns - thread_ns) * 1e-9);
  open_file(&files[3], folder, "stretches");
  fputs("function,time_s\n", files[3].file);
  for (size_t i = 0; i < stretch_count; ++i)
    fprintf(files[3].file, "%s,%.4g\n", stretches[i].function, stretches[i].time_s);
  if (!output_close(&files[0]) || !output_close(&files[1]) || !output_close(&files[3]))
    stop("cannot write into %s", folder);
  const size_t reach_bytes = hplcast_memory_for_reach();
  if (reach_bytes == 0) return;
  open_file(&files[2], folder, "reach");
  fputs("routine,m,n,k,duration_s,calls\n", files[2].file);
  hplcast_write_reach(files[2].file, routines, total_s, reach_bytes);
  if (!output_close(&files[2])) stop("cannot write into %s", folder);
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

__attribute__((constructor)) static void begin(void) {
  is_observed_thread = 1;
  observed_process = getpid();
  checked_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  checked_wall_ns = wall_from = clock_ns(CLOCK_MONOTONIC);
  int64_t least_ns = INT64_MAX;
  for (int i = 0; i < 2000; ++i) { /* calls that do nothing, in twenties */
    static int64_t begin_ns;
    if (i % 20 == 0) begin_ns = now_ns;
    const struct hplcast_timing timing = hplcast_timing_begin(0);
    hplcast_timing_end(&timing, NULL, 0, 0, 0, 0);
    if (i % 20 == 19 && now_ns - begin_ns < least_ns) least_ns = now_ns - begin_ns;
  }
  stops_ns = least_ns / (2 * 20);
  executing_from = now_ns;
  start_clock();
}

/* Programs time their parts by it, so that what is between two reads must be told apart. */
#define HPLCAST_OBSERVE_CLOCK(NAME)                                            \
  double NAME(void) {                                                          \
    static double (*real)(void);                                               \
    if (!real) *(void**)&real = hplcast_real_function(#NAME);                  \
    static const struct hplcast_mpi_observed observed = {.name = "MPI_Wtime"}; \
    hplcast_mpi_begin(&observed);                                              \
    const double now_s = real();                                               \
    if (is_observed_thread) --depth;                                           \
    return now_s;                                                              \
  }
HPLCAST_OBSERVE_CLOCK(MPI_Wtime)
HPLCAST_OBSERVE_CLOCK(mpi_wtime_)

/* 0: what follows is not observed; any other level: it is again. */
int MPI_Pcontrol(const int level, ...) {
  count_executed();
  paused = level == 0;
  pauses += paused;
  start_clock();
  return 0;
}

void mpi_pcontrol_(const int* level) {
  MPI_Pcontrol(*level);
}
