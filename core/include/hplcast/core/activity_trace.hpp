#pragma once

#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hplcast/core/activity_list.h"
#include "hplcast/core/kernel_shape.hpp"

namespace hplcast::core {

#define HPLCAST_ACTIVITY_NAME(NAME, name) #name,

/// Names of the phases of HPL, in the order of hplcast_phase, as they stand in statistics, tables and traces.
inline constexpr std::array phase_names = {HPLCAST_PHASES(HPLCAST_ACTIVITY_NAME)};

/// Names of MPI operations, in the order of hplcast_mpi.
inline constexpr std::array mpi_names = {HPLCAST_MPI_OPERATIONS(HPLCAST_ACTIVITY_NAME)};

#undef HPLCAST_ACTIVITY_NAME

/// A piece of the time of one rank.
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};

/// A message in a trace; a rank of -1 is not known.
struct TracedMessage {
  int peer = -1;
  int tag = 0;
  double bytes = 0;
  double waited_s = 0;  ///< part of the span in which the other side was not there yet
};

/// Events as Chrome's JSON, which Perfetto and chrome://tracing open: hosts are processes, ranks are threads. Written
/// as it comes, to PATH.part, which becomes PATH at the end: the size of a trace has no limit but the disk's.
class TraceFile {
 public:
  /// Events outside of `kept` are left out. @throws Error if the file cannot be written.
  explicit TraceFile(const std::string& path, TimeSpan kept = {0, std::numeric_limits<double>::infinity()});

  void name_rank(int rank, int host, const std::string& host_name) {
    name_row(rank, host, host_name, "rank " + std::to_string(rank));
  }
  /// The same for rows that are not one per rank: a thread `row` in a process of that number and name.
  void name_row(int row, int process, const std::string& process_name, const std::string& row_name);
  void phase(int rank, const char* name, TimeSpan span);
  /// A kernel of HPL, or a routine of another program, whose names are free.
  void routine(int rank, const std::string& name, const KernelShape& shape, TimeSpan span);
  void region(int rank, const std::string& name, TimeSpan span);
  /// An MPI call of which only this is known.
  void call(int rank, const std::string& function, double waited_s, TimeSpan span);
  void message(int rank, const char* operation, const TracedMessage& message, TimeSpan span);
  /// A curve of its own, not of a rank: from `time_s` on it has `value`.
  void counter(const char* name, double time_s, double value);

  /// Ends the file. @throws Error if the disk is full.
  void close();

 private:
  void event(const char* category, const std::string& name, int rank, TimeSpan span, const std::string& arguments = "");

  struct Closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  TimeSpan kept_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::vector<char> buffer_;
  std::vector<int> host_of_rank_;
  bool first_ = true;
};

}  // namespace hplcast::core
