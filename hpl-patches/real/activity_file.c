/* PREFIX-RANK.activity: one line per fact, the kind of which stands first (docs/formats/activity.md). */
#include <inttypes.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include "hplcast/core/environment.h"

#include "activity.h"

#define HPLCAST_NAME(NAME, name, ...) #name,
static const char* const phase_names[] = {HPLCAST_PHASES(HPLCAST_NAME)};
static const char* const mpi_names[] = {HPLCAST_MPI_OPERATIONS(HPLCAST_NAME)};

static uint64_t run_id; /* the same on all ranks of a run, and no others */
static int ranks;

/* Mean seconds that it takes to keep one of each, measured before the run. */
static struct { double kernel_s, call_s, phase_s; } cost;

/* The very functions that keep events during the run are called, and what they kept is forgotten. Caches are warm here,
 * so the true cost is somewhat higher. */
static void measure_cost(void) {
  enum { calls = 10000, tags = 64 };
  activity_rehearse_begin();
  const double begin_s = clock_now_s();
  for (int i = 0; i < calls; ++i) {
    const double kernel_begin_s = clock_now_s();
    activity_kernel(HPLCAST_DGEMM, 1, 1, 1, 2, kernel_begin_s, clock_now_s());
  }
  const double kernels_s = clock_now_s();
  for (int i = 0; i < calls; ++i) {
    hplcast_call_begin(HPLCAST_MPI_SEND, 0, i % tags, 8, NULL);
    hplcast_call_end(NULL, 1);
  }
  const double calls_s = clock_now_s();
  for (int i = 0; i < calls; ++i) {
    hplcast_phase_begin(HPLCAST_PHASE_UPDATE);
    hplcast_phase_end();
  }
  cost.phase_s = (clock_now_s() - calls_s) / calls;
  cost.call_s = (calls_s - kernels_s) / calls;
  cost.kernel_s = (kernels_s - begin_s) / calls;
  activity_rehearse_end();
}

void activity_start(int rank) {
  settings_read(rank);
  if (!settings()->on) return;
  if (!events_take_memory()) settings_refuse("not enough memory for HPLCAST_ACTIVITY_EVENTS", "that many events");
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  run_id = ((uint64_t)now.tv_sec << 30 | (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 44;
  (void)PMPI_Bcast(&run_id, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  (void)PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  clock_start();
  measure_cost();
  clock_compare();
}

static void write_header(FILE* file, const activity_sums* sums) {
  char host[256] = "";
  (void)gethostname(host, sizeof host - 1);
  (void)fprintf(file, "hplcast-activity,2\nrun,%016" PRIx64 "\nrank,%d,%d\nhost,%s,%d\n", run_id, settings()->rank,
                ranks, host, clock_rank_of_host());
  (void)fprintf(file, "timed,%d,%.9f,%.9f\nhpl,%d,%d,%d,%d\n", sums->runs, sums->begin_s, sums->end_s, sums->n,
                sums->nb, sums->p, sums->q);
  (void)fprintf(file, "cpu,%d,%d\n", sums->core < 0 ? -1 : trace_cpu_of_core(sums->core), sums->core);
}

static void write_sum(FILE* file, const char* kind, const char* phase, const char* name, const call_sum* sum) {
  if (sum->calls == 0) return;
  (void)fprintf(file, "%s,%s,%s,%" PRIu64 ",%.9f,%.17g\n", kind, phase, name, sum->calls, sum->time_s, sum->amount);
}

static void write_sums(FILE* file, const activity_sums* sums) {
  for (int phase = 0; phase < HPLCAST_PHASE_COUNT; ++phase) {
    (void)fprintf(file, "phase,%s,%.9f\n", phase_names[phase], sums->elapsed_s[phase]);
    for (int i = 0; i < HPLCAST_KERNEL_COUNT; ++i)
      write_sum(file, "kernel", phase_names[phase], kernel_names[i], &sums->kernels[phase][i]);
    for (int i = 0; i < HPLCAST_MPI_COUNT; ++i)
      write_sum(file, "mpi", phase_names[phase], mpi_names[i], &sums->calls[phase][i]);
    write_sum(file, "empty", phase_names[phase], "iprobe", &sums->empty_probes[phase]);
  }
}

/* Of a polling loop nothing counts: its time is waiting anyway. */
static double overhead_s(const activity_sums* sums) {
  double kernels = 0;
  double calls = 0;
  for (int phase = 0; phase < HPLCAST_PHASE_COUNT; ++phase) {
    for (int i = 0; i < HPLCAST_KERNEL_COUNT; ++i) kernels += (double)sums->kernels[phase][i].calls;
    for (int i = 0; i < HPLCAST_MPI_COUNT; ++i) calls += (double)sums->calls[phase][i].calls;
    calls -= (double)sums->empty_probes[phase].calls;
  }
  return kernels * cost.kernel_s + calls * cost.call_s + (double)sums->phases * cost.phase_s + events()->thinning_s;
}

static void write_event(FILE* file, const event* one, double origin_s) {
  const double begin_s = one->begin_s - origin_s;
  const double end_s = one->end_s - origin_s;
  switch ((event_kind)one->kind) {
    case EVENT_PHASE:
      (void)fprintf(file, "P,%.9f,%.9f,%d,%s\n", begin_s, end_s, one->panel, phase_names[one->name]);
      break;
    case EVENT_KERNEL:
      (void)fprintf(file, "K,%.9f,%.9f,%d,%s,%d,%d,%d\n", begin_s, end_s, one->panel, kernel_names[one->name], one->a,
                    one->b, one->c);
      break;
    case EVENT_CALL:
      (void)fprintf(file, "M,%.9f,%.9f,%d,%s,%s,%d,%d,%.0f,%s,%" PRIu32 "\n", begin_s, end_s, one->panel,
                    mpi_names[one->name], phase_names[one->phase], one->a, one->b, one->bytes,
                    one->sends ? "out" : "in", one->number);
      break;
  }
}

static void write_all(FILE* file) {
  const activity_sums* sums = activity_sums_of_rank();
  const event_list* kept = events();
  write_header(file, sums);
  write_sums(file, sums);
  kernel_sums_write(file);
  clock_write(file);
  (void)fprintf(file, "overhead,%.9f\n", overhead_s(sums));
  (void)fprintf(file, "events,%" PRIu64 ",%d,%" PRIu64 "\n", kept->size, kept->stride, kept->lost);
  for (uint64_t i = 0; i < kept->size; ++i) write_event(file, &kept->all[i], sums->begin_s);
  (void)fprintf(file, "end\n");
}

int activity_write(void) {
  if (!settings()->on) return 1;
  activity_release();
  clock_compare();
  return settings_write_file(settings()->prefix, ".activity", HPLCAST_VARIABLE_ACTIVITY " is too long a path",
                             write_all);
}
