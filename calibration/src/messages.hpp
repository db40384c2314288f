#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hplcast/calibration/content.hpp"

// Small helpers of the programs that measure MPI: blocking messages of bytes in MPI_COMM_WORLD, and their buffers.
namespace hplcast::calibration {

enum Tag : int {
  tag_ready = 10,
  tag_go,
  tag_data,
  tag_answer,
  tag_step,
  tag_stop,
  tag_together,
  tag_start,
  tag_never_sent
};

/// The peer needs this long in s from its handshake into its receive.
inline constexpr double settle_s = 5e-6;

inline void send(const void* data, long bytes, int to, int tag) {
  MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

inline void receive(void* data, long bytes, int from, int tag) {
  MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

inline void send_signal(int to, int tag) {
  send(nullptr, 0, to, tag);
}
inline void receive_signal(int from, int tag) {
  receive(nullptr, 0, from, tag);
}

/// Message buffers that move through a large piece of memory with random contents.
class RotatingBuffer {
 public:
  RotatingBuffer(long largest_bytes, std::uint64_t seed)
      : memory_((std::max(smallest_bytes, 2 * static_cast<std::size_t>(largest_bytes)) + alignment_bytes) /
                sizeof(double)) {
    fill(memory_.data(), memory_.size(), Content::random(), seed);
  }
  void* next(long bytes) {
    const std::size_t size = static_cast<std::size_t>(bytes);
    if (offset_ + size > memory_.size() * sizeof(double)) offset_ = 0;
    char* const place = reinterpret_cast<char*>(memory_.data()) + offset_;
    offset_ += (size / alignment_bytes + 1) * alignment_bytes;
    return place;
  }
  static constexpr std::size_t smallest_bytes = 32U << 20;  // more than the caches of one core

 private:
  static constexpr std::size_t alignment_bytes = 64;
  std::vector<double> memory_;
  std::size_t offset_ = 0;
};

}  // namespace hplcast::calibration
