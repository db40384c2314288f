#pragma once

#include <functional>

#include "hplcast/calibration/mpi_design.hpp"
#include "messages.hpp"

namespace hplcast::calibration {

/// How a rank waits for a message.
enum class Waiting {
  blocking,  ///< in MPI_Recv
  polling,   ///< with MPI_Iprobe until it is there, then MPI_Recv
};

/// The two buffers of a rank.
struct ExchangeBuffers {
  RotatingBuffer outgoing, incoming;
  ExchangeBuffers(long largest_bytes, std::uint64_t seed)
      : outgoing(largest_bytes, seed), incoming(largest_bytes, seed + 1) {}
};

/// The side that has the clock: makes one call of a design with a responder. Returns the duration in s. `start`, if
/// there is one, is called when both sides are ready for a one_way message, and returns the moment on the clock of
/// now_s() that its duration counts from.
double initiate(const MpiCall& call, int responder, Waiting waiting, ExchangeBuffers& buffers,
                const std::function<double()>& start = {});

/// The other side of that call.
void respond(const MpiCall& call, int initiator, Waiting waiting, ExchangeBuffers& buffers);

}  // namespace hplcast::calibration
