#include "calibration/measure/mpi_exchange.hpp"

#include "hplcast/calibration/clock.hpp"

namespace hplcast::calibration {

namespace {

constexpr double polled_delay_s = 5e-5;  // polling loops turn at least this long: dozens of polls
constexpr int clock_reads = 1000;

/// Receives a message that is on its way.
void await(Waiting waiting, void* data, long bytes, int from, int tag) {
  if (waiting == Waiting::polling) {
    for (int flag = 0; flag == 0;) MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  receive(data, bytes, from, tag);
}

/// A message to and one from the other rank, as HPL_sdrv and the rolls of HPL's row swaps do it.
void both_ways(void* out, void* in, long bytes, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(in, static_cast<int>(bytes), MPI_BYTE, peer, tag_answer, MPI_COMM_WORLD, &request);
  send(out, bytes, peer, tag_answer);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// The initiator's side of every operation.
class Initiator {
 public:
  Initiator(int peer, Waiting waiting, ExchangeBuffers& buffers, const std::function<double()>& start)
      : peer_(peer), waiting_(waiting), out_(buffers.outgoing), in_(buffers.incoming), start_(start) {}

  double run(const MpiCall& call) {
    receive_signal(peer_, tag_ready);
    spin_until(now_s() + settle_s);
    switch (call.operation) {
      case MpiOperation::recv:
        return recv(call.size_bytes);
      case MpiOperation::isend:
        return isend(call.size_bytes);
      case MpiOperation::send:
      case MpiOperation::send_unmatched:
        return plain_send(call.size_bytes);
      case MpiOperation::pingpong:
        return pingpong(call.size_bytes);
      case MpiOperation::iprobe:
        return iprobe(call.size_bytes);
      case MpiOperation::test:
        return test(call.size_bytes);
      case MpiOperation::wtime:
        return wtime();
      case MpiOperation::exchange:
        return exchange(call.size_bytes);
      case MpiOperation::one_way:
        return one_way(call.size_bytes);
    }
    return 0;
  }

 private:
  double plain_send(long bytes) {
    void* const data = out_.next(bytes);
    const double begin_s = now_s();
    send(data, bytes, peer_, tag_data);
    return now_s() - begin_s;
  }

  double pingpong(long bytes) {
    void* const data = out_.next(bytes);
    void* const answer = in_.next(bytes);
    const double begin_s = now_s();
    send(data, bytes, peer_, tag_data);
    await(waiting_, answer, bytes, peer_, tag_answer);
    return now_s() - begin_s;
  }

  double isend(long bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    void* const data = out_.next(bytes);
    const double begin_s = now_s();
    MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer_, tag_data, MPI_COMM_WORLD, &request);
    const double end_s = now_s();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return end_s - begin_s;
  }

  /// A round trip tells how long the message needs; then it is asked for, and has twice that time to arrive.
  double recv(long bytes) {
    const double round_trip_s = pingpong(bytes);
    send_signal(peer_, tag_go);
    spin_until(now_s() + round_trip_s + 2 * settle_s);
    void* const data = in_.next(bytes);
    const double begin_s = now_s();
    receive(data, bytes, peer_, tag_data);
    return now_s() - begin_s;
  }

  double iprobe(long bytes) {
    int flag = 0;
    long polls = 0;
    const double begin_s = now_s();
    for (; flag == 0; ++polls) MPI_Iprobe(peer_, tag_data, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    const double duration_s = (now_s() - begin_s) / static_cast<double>(polls);
    receive(in_.next(bytes), bytes, peer_, tag_data);
    return duration_s;
  }

  double test(long bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(in_.next(bytes), static_cast<int>(bytes), MPI_BYTE, peer_, tag_data, MPI_COMM_WORLD, &request);
    int flag = 0;
    long polls = 0;
    const double begin_s = now_s();
    for (; flag == 0; ++polls) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return (now_s() - begin_s) / static_cast<double>(polls);
  }

  static double wtime() {
    const double begin_s = now_s();
    for (int i = 0; i < clock_reads; ++i) (void)MPI_Wtime();
    return (now_s() - begin_s) / clock_reads;
  }

  /// The message before makes the responder come later, as whoever receives rows before a roll does.
  double exchange(long bytes) {
    void* const first = out_.next(bytes);
    void* const second = out_.next(bytes);
    void* const answer = in_.next(bytes);
    const double begin_s = now_s();
    send(first, bytes, peer_, tag_data);
    both_ways(second, answer, bytes, peer_);
    return now_s() - begin_s;
  }

  double one_way(long bytes) {
    void* const data = out_.next(bytes);
    const double begin_s = start_ ? start_() : now_s();
    send(data, bytes, peer_, tag_data);
    receive_signal(peer_, tag_answer);
    return now_s() - begin_s;
  }

  int peer_;
  Waiting waiting_;
  RotatingBuffer& out_;
  RotatingBuffer& in_;
  const std::function<double()>& start_;
};

/// The responder's side.
class Responder {
 public:
  Responder(int peer, Waiting waiting, ExchangeBuffers& buffers)
      : peer_(peer), waiting_(waiting), out_(buffers.outgoing), in_(buffers.incoming) {}

  void run(const MpiCall& call) {
    send_signal(peer_, tag_ready);
    const long bytes = call.size_bytes;
    switch (call.operation) {
      case MpiOperation::recv:
        echo(bytes);
        receive_signal(peer_, tag_go);
        send(out_.next(bytes), bytes, peer_, tag_data);
        break;
      case MpiOperation::send:
      case MpiOperation::isend:
        await(waiting_, in_.next(bytes), bytes, peer_, tag_data);
        break;
      case MpiOperation::pingpong:
        echo(bytes);
        break;
      case MpiOperation::iprobe:
      case MpiOperation::test:
        spin_until(now_s() + polled_delay_s);
        send(out_.next(bytes), bytes, peer_, tag_data);
        break;
      case MpiOperation::wtime:
        break;
      case MpiOperation::exchange:
        receive(in_.next(bytes), bytes, peer_, tag_data);
        both_ways(out_.next(bytes), in_.next(bytes), bytes, peer_);
        break;
      case MpiOperation::one_way:
        await(waiting_, in_.next(bytes), bytes, peer_, tag_data);
        send_signal(peer_, tag_answer);
        break;
      case MpiOperation::send_unmatched:
        sleep_s(late_receiver_s);
        receive(in_.next(bytes), bytes, peer_, tag_data);
        break;
    }
  }

 private:
  void echo(long bytes) {
    void* const answer = out_.next(bytes);
    await(waiting_, in_.next(bytes), bytes, peer_, tag_data);
    send(answer, bytes, peer_, tag_answer);
  }

  int peer_;
  Waiting waiting_;
  RotatingBuffer& out_;
  RotatingBuffer& in_;
};

}  // namespace

double initiate(const MpiCall& call, int responder, Waiting waiting, ExchangeBuffers& buffers,
                const std::function<double()>& start) {
  return Initiator(responder, waiting, buffers, start).run(call);
}

void respond(const MpiCall& call, int initiator, Waiting waiting, ExchangeBuffers& buffers) {
  Responder(initiator, waiting, buffers).run(call);
}

namespace {

/// For the news to reach everybody: some messages within a host, and one after the other.
constexpr double notice_s = 2e-5, notice_per_rank_s = 5e-6;

}  // namespace

double wait_for_common_start(const std::vector<int>& ranks, int own_rank) {
  double start_s = 0;
  if (own_rank == ranks.front()) {
    for (const int rank : ranks)
      if (rank != own_rank) receive_signal(rank, tag_together);
    start_s = now_s() + notice_s + notice_per_rank_s * static_cast<double>(ranks.size());
    for (const int rank : ranks)
      if (rank != own_rank) send(&start_s, sizeof start_s, rank, tag_start);
  } else {
    send_signal(ranks.front(), tag_together);
    receive(&start_s, sizeof start_s, ranks.front(), tag_start);
  }
  while (now_s() < start_s) {
  }
  return start_s;
}

}  // namespace hplcast::calibration
