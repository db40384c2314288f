/* Clocks and allocations of a simulated program. The linker turns calls of NAME into __wrap_NAME. Without mpi.h, which
 * may have a malloc of its own. */
#define _GNU_SOURCE
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "hplcast/smpi_models/hplcast_program.h"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "modelled_calls.h"

/* --- clocks ------------------------------------------------------------------------------------------------------- */

/* All show simulated time, and each read costs what MPI_Wtime does, so that loops that wait for a tick end. This one is
 * the time since the begin of the simulation. */
extern double __real_MPI_Wtime(void) __attribute__((weak));

static double now_s(void) {
  hplcast_before_mpi("clock");
  const double now_s = __real_MPI_Wtime();
  hplcast_after_mpi();
  return now_s;
}

/* The one that ends a stretch of code, because the observer sees it, too. */
double __wrap_MPI_Wtime(void) {
  const struct hplcast_frame frame = {__builtin_frame_address(0), __builtin_return_address(0)};
  hplcast_comes_to("MPI_Wtime", frame, hplcast_instruction_counter());
  return now_s();
}

/* Another name of a function of this file. */
#define ALSO(NAME, function) extern __typeof__(function) NAME __attribute__((alias(#function)));
ALSO(__wrap_mpi_wtime_, __wrap_MPI_Wtime)
ALSO(__wrap_omp_get_wtime, now_s)
ALSO(__wrap_omp_get_wtime_, now_s)

static int64_t now_ns(void) {
  return (int64_t)(now_s() * 1e9);
}

int __wrap_gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  const int64_t us = now_ns() / 1000;
  if (now != NULL) *now = (struct timeval){us / 1000000, us % 1000000};
  return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec* now) {
  (void)clock;
  const int64_t ns = now_ns();
  if (now != NULL) *now = (struct timespec){ns / 1000000000, ns % 1000000000};
  return 0;
}

ALSO(__wrap_smpi_gettimeofday, __wrap_gettimeofday)
ALSO(__wrap_smpi_clock_gettime, __wrap_clock_gettime)

int __wrap_timespec_get(struct timespec* now, int base) {
  return __wrap_clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

/* std::chrono's, in ns, by their mangled names: they are in a shared library, whose calls of clock_gettime the linker
 * cannot turn. */
ALSO(__wrap__ZNSt6chrono3_V212steady_clock3nowEv, now_ns)
ALSO(__wrap__ZNSt6chrono3_V212system_clock3nowEv, now_ns)

time_t __wrap_time(time_t* result) {
  const time_t now = (time_t)now_s();
  if (result != NULL) *result = now;
  return now;
}

clock_t __wrap_clock(void) {
  return (clock_t)(now_s() * CLOCKS_PER_SEC);
}

/* A rank has its core for itself: all time is the program's. */
extern int __real_getrusage(int who, struct rusage* use);

int __wrap_getrusage(int who, struct rusage* use) {
  const int result = __real_getrusage(who, use);
  if (result != 0 || who == RUSAGE_CHILDREN) return result;
  use->ru_stime = (struct timeval){0, 0};
  return __wrap_gettimeofday(&use->ru_utime, NULL);
}

/* Weak: a name that a program may have for something of its own. */
__attribute__((weak)) clock_t times(struct tms* use) {
  const clock_t ticks = (clock_t)(now_s() * (double)sysconf(_SC_CLK_TCK));
  if (use != NULL) *use = (struct tms){ticks, 0, 0, 0};
  return ticks;
}

unsigned __wrap_sleep(unsigned seconds) {
  hplcast_delay(seconds);
  return 0;
}

int __wrap_usleep(useconds_t microseconds) {
  hplcast_delay(1e-6 * (double)microseconds);
  return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec* wanted, struct timespec* left) {
  (void)clock;
  const double wanted_s = (double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec;
  const double until_now_s = (flags & TIMER_ABSTIME) != 0 ? now_s() : 0;
  if (wanted_s > until_now_s) hplcast_delay(wanted_s - until_now_s);
  if (left != NULL) *left = (struct timespec){0, 0};
  return 0;
}

int __wrap_nanosleep(const struct timespec* wanted, struct timespec* left) {
  return __wrap_clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}

/* Without files to wait for they sleep, too. */
extern __typeof__(select) __real_select;
extern __typeof__(poll) __real_poll;

int __wrap_select(int files, fd_set* in, fd_set* out, fd_set* failed, struct timeval* time) {
  if (in != NULL || out != NULL || failed != NULL || time == NULL) return __real_select(files, in, out, failed, time);
  hplcast_delay((double)time->tv_sec + 1e-6 * (double)time->tv_usec);
  *time = (struct timeval){0, 0};  // what is left of it, as on Linux
  return 0;
}

int __wrap_poll(struct pollfd* files, nfds_t count, int ms) {
  if (count > 0 || ms < 0) return __real_poll(files, count, ms);
  hplcast_delay(1e-3 * ms);
  return 0;
}

ALSO(__wrap_thrd_sleep, __wrap_nanosleep)
ALSO(__wrap_smpi_sleep, __wrap_sleep)
ALSO(__wrap_smpi_usleep, __wrap_usleep)
ALSO(__wrap_smpi_nanosleep, __wrap_nanosleep)

/* gfortran's. sleep(), system_clock(count, rate, maximum) and cpu_time() by the size of their arguments. */

void __wrap__gfortran_sleep_i4_sub(const int32_t* seconds) {
  hplcast_delay(*seconds);
}

void __wrap__gfortran_sleep_i8_sub(const int64_t* seconds) {
  hplcast_delay((double)*seconds);
}

void __wrap__gfortran_system_clock_4(int32_t* count, int32_t* rate, int32_t* maximum) {
  if (count != NULL) *count = (int32_t)(now_s() * 1e3);
  if (rate != NULL) *rate = 1000;
  if (maximum != NULL) *maximum = INT32_MAX;
}

void __wrap__gfortran_system_clock_8(int64_t* count, int64_t* rate, int64_t* maximum) {
  if (count != NULL) *count = now_ns();
  if (rate != NULL) *rate = 1000000000;
  if (maximum != NULL) *maximum = INT64_MAX;
}

void __wrap__gfortran_cpu_time_4(float* time_s) {
  *time_s = (float)now_s();
}

void __wrap__gfortran_cpu_time_8(double* time_s) {
  *time_s = now_s();
}

ALSO(__wrap__gfortran_second_sub, __wrap__gfortran_cpu_time_4)
ALSO(__wrap__gfortran_mclock, __wrap_clock)
ALSO(__wrap__gfortran_mclock8, __wrap_clock)

float __wrap__gfortran_second(void) {
  return (float)now_s();
}

/* The time of day, less another one: of the day before, where that is later. */
float __wrap__gfortran_secnds(const float* since_s) {
  const float day_s = 86400, time_s = (float)fmod(now_s(), day_s), other_s = fmodf(*since_s, day_s);
  return time_s < other_s ? time_s - other_s + day_s : time_s - other_s;
}

int64_t __wrap__gfortran_time8_func(void) {
  return __wrap_time(NULL);
}
ALSO(__wrap__gfortran_time_func, __wrap__gfortran_time8_func)

/* An array (libgfortran.h, since GCC 9). */
struct fortran_array {
  char* first;
  size_t offset, element_bytes;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span, stride, lower, upper;
};

/* The program's time since `since_s`, and as elements that of it and the system's. */
static float elapsed(const struct fortran_array* parts, double now_s, double since_s) {
  float* const part_s = (float*)parts->first;
  part_s[0] = (float)(now_s - since_s);
  part_s[parts->stride] = 0;
  return part_s[0];
}

float __wrap__gfortran_etime(const struct fortran_array* parts) {
  return elapsed(parts, now_s(), 0);
}

float __wrap__gfortran_dtime(const struct fortran_array* parts) {
  static double last_s;
  const double since_s = last_s;
  return elapsed(parts, last_s = now_s(), since_s);
}

void __wrap__gfortran_etime_sub(const struct fortran_array* parts, float* time_s) {
  *time_s = __wrap__gfortran_etime(parts);
}

void __wrap__gfortran_dtime_sub(const struct fortran_array* parts, float* time_s) {
  *time_s = __wrap__gfortran_dtime(parts);
}

static void put_text(char* to, int length, const char* text, int characters) {
  for (int i = 0; to != NULL && i < length; ++i) to[i] = i < characters ? text[i] : ' ';
}

void __wrap__gfortran_date_and_time(char* date, char* hour, char* zone, const struct fortran_array* values,
                                    int date_length, int hour_length, int zone_length) {
  const int64_t ns = now_ns();
  const time_t now_s = ns / 1000000000;
  const int ms = (int)(ns / 1000000 % 1000);
  char text[64];
  struct tm now;
  gmtime_r(&now_s, &now);
  strftime(text, sizeof text, "%Y%m%d%H%M%S", &now);
  snprintf(text + 14, sizeof text - 14, ".%03d+0000", ms);
  put_text(date, date_length, text, 8);
  put_text(hour, hour_length, text + 8, 10);
  put_text(zone, zone_length, text + 18, 5);
  const int64_t all[] = {now.tm_year + 1900, now.tm_mon + 1, now.tm_mday, 0, now.tm_hour, now.tm_min, now.tm_sec, ms};
  for (int i = 0; values != NULL && i < 8; ++i) /* integers of 2 to 8 bytes */
    memcpy(values->first + i * values->stride * (ptrdiff_t)values->element_bytes, &all[i], values->element_bytes);
}

/* --- allocations -------------------------------------------------------------------------------------------------- */

/* Large ones are views of one block that all ranks share (hplcast_share()), if share_above_bytes of the settings asks
 * for it. Not those of calloc: zeros were asked for, and pages that nobody writes cost nothing. */
extern void* __real_malloc(size_t size);
extern void* __real_realloc(void* old, size_t size);
extern void __real_free(void* memory);

void* __wrap_malloc(size_t size) {
  void* const shared = hplcast_share(size);
  return shared != NULL ? shared : __real_malloc(size);
}

void* __wrap_realloc(void* old, size_t size) {
  const size_t old_size = hplcast_shared_size(old);
  if (old_size == 0) return __real_realloc(old, size);
  void* const memory = __wrap_malloc(size);
  if (memory == NULL) return NULL;
  if (hplcast_shared_size(memory) == 0) memcpy(memory, old, size < old_size ? size : old_size);
  hplcast_unshare(old);
  return memory;
}

/* Pages that go back to the system (glibc: of large allocations) take time that the code around does not tell: 0.8 us,
 * about as many instructions as bytes. */
static void count_pages(size_t bytes) {
  enum { LEAST_BYTES = 131072 };
  if (&hplcast_instructions != NULL && bytes >= LEAST_BYTES) hplcast_instructions += bytes;
}

void __wrap_free(void* memory) {
  const size_t shared = hplcast_shared_size(memory);
  count_pages(shared > 0 ? shared : malloc_usable_size(memory));
  shared == 0 ? __real_free(memory) : hplcast_unshare(memory);
}

/* C++'s delete is in a shared library, whose calls of free the linker cannot turn; these are the program's calls of
 * it. A delete of the program's own frees what only it knows, and is not counted. Weak: programs in C have none. */
extern const char __ehdr_start[], _end[] __attribute__((visibility("hidden"))); /* of the program */
typedef void deletes(void*, size_t, size_t);
extern deletes __real__ZdlPv __attribute__((weak));

static int is_of_program(deletes* function) {
  return (const char*)function >= __ehdr_start && (const char*)function < _end;
}

static void delete_by(deletes* real, void* memory, size_t first, size_t second) {
  if (!is_of_program(__real__ZdlPv) && !is_of_program(real)) count_pages(malloc_usable_size(memory));
  real(memory, first, second);
}

/* By their mangled names. They take none, one or both of size and alignment, in registers, which all may be given. */
#define DELETE(NAME)                                              \
  extern deletes __real_##NAME __attribute__((weak));             \
  void __wrap_##NAME(void* memory, size_t first, size_t second) { \
    delete_by(__real_##NAME, memory, first, second);              \
  }
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
