// Of C++: its clocks, and exceptions that ranks handle while others handle theirs.
#include <mpi.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

static_assert(__cplusplus >= 201703L, "as the compiler's own, where SMPI's asks for C++11");

template <typename Clock>
static double slept_s() {
  const auto begin = Clock::now();
  usleep(500000);
  std::this_thread::sleep_until(Clock::now() + std::chrono::milliseconds(250));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

static void tell_clocks() {
  std::printf("steady %.9g system %.9g high %.9g\n", slept_s<std::chrono::steady_clock>(),
              slept_s<std::chrono::system_clock>(), slept_s<std::chrono::high_resolution_clock>());
  timespec begin{}, end{};
  const timespec length{0, 125000000};
  timespec_get(&begin, TIME_UTC);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += 2;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr);
  timespec_get(&end, TIME_UTC);
  std::printf("nanosleep %.9g\n",
              static_cast<double>(end.tv_sec - begin.tv_sec) + 1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec));
  rusage use_before{}, use{};
  tms ticks_before{}, ticks{};
  getrusage(RUSAGE_SELF, &use_before);
  const clock_t at_first = times(&ticks_before);
  const timespec thousand{1000, 0};
  thrd_sleep(&thousand, nullptr);
  getrusage(RUSAGE_SELF, &use);
  const clock_t at_last = times(&ticks);
  std::printf("rusage %ld stime %ld memory %d times %ld utime %ld\n",
              static_cast<long>(use.ru_utime.tv_sec - use_before.ru_utime.tv_sec),
              static_cast<long>(use.ru_stime.tv_sec + use.ru_stime.tv_usec), use.ru_maxrss > 0,
              static_cast<long>(at_last - at_first), static_cast<long>(ticks.tms_utime - ticks_before.tms_utime));
}

// How often a handler does not have the exception that its rank threw.
static int mixed_up(int rank) {
  int count = 0;
  for (int step = 0; step < 20; ++step) {
    const std::string text = "step " + std::to_string(step) + " of rank " + std::to_string(rank) + ", in some words";
    try {
      try {
        throw std::runtime_error(text);
      } catch (const std::exception& error) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (error.what() != text) ++count;
        throw;
      }
    } catch (const std::exception& error) {
      if (error.what() != text) ++count;
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) tell_clocks();
  int count = mixed_up(rank);
  MPI_Reduce(&count, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("mixed up %d\n", all);
  MPI_Finalize();
  return 0;
}
