#pragma once

#include <mpi.h>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/mpi_design.hpp"

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

/// Two pieces of memory in turn, with random contents: HPL has a buffer for the panel at work and one for the next.
class BuffersInTurn {
 public:
  BuffersInTurn(long largest_bytes, std::uint64_t seed)
      : words_((static_cast<std::size_t>(largest_bytes) + room_bytes) / sizeof(double)), memory_(2 * words_) {
    fill(memory_.data(), memory_.size(), Content::random(), seed);
  }
  double* next() {
    turn_ = 1 - turn_;
    return memory_.data() + turn_ * words_;
  }
  static constexpr std::size_t room_bytes = 8192;  ///< beyond the largest message: for gaps between columns
  /// A panel has just been factored and copied when it is sent: it lies in the sender's caches, as far as it fits.
  double* written(long bytes) {
    double* const data = next();
    std::transform(data, data + static_cast<std::size_t>(bytes) / sizeof(double), data, std::negate<>());
    return data;
  }

 private:
  std::size_t words_ = 0, turn_ = 0;
  std::vector<double> memory_;
};

/// How a rank waits for a message.
enum class Waiting {
  blocking,  ///< in MPI_Recv
  polling,   ///< with MPI_Iprobe until it is there, then MPI_Recv
};

/// The two buffers of a rank.
struct ExchangeBuffers {
  BuffersInTurn outgoing, incoming;
};

/// The side that has the clock: makes one call of a design with a responder. Returns the duration in s. `start`, if
/// there is one, is called when both sides are ready for a one_way message, and returns the moment on the clock of
/// now_s() that its duration counts from.
double initiate(const MpiCall& call, int responder, Waiting waiting, ExchangeBuffers& buffers,
                const std::function<double()>& start = {});

/// The other side of that call.
void respond(const MpiCall& call, int initiator, Waiting waiting, ExchangeBuffers& buffers);

/// All of the outgoing buffers of each side go into the incoming ones of the other. The first message into a piece of
/// memory costs more than those that follow: a network card registers its pages, the kernel maps them for a copy from
/// process to process. HPL uses the same memory for one panel after the other.
void use_buffers(int peer, bool begins, long largest_bytes, ExchangeBuffers& buffers);

/// Ranks of one host, which share its clock, agree on a moment at which all of them begin. The first one waits until
/// all are ready and names it. Returns at that moment, or as soon as this rank has heard of it, with the moment on the
/// clock of now_s().
double wait_for_common_start(const std::vector<int>& ranks, int own_rank);

}  // namespace hplcast::calibration
