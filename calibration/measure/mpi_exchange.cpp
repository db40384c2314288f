#include "calibration/measure/mpi_exchange.hpp"

#include "hplcast/calibration/clock.hpp"

namespace hplcast::calibration {

namespace {

constexpr double settle_s = 5e-6;        // the peer needs this long from its handshake into its receive
constexpr double polled_delay_s = 5e-5;  // polling loops turn at least this long: dozens of polls
constexpr int clock_reads = 1000;
// For the news of a common start to reach everybody: some messages within a host, and one after the other.
constexpr double notice_s = 2e-5, notice_per_rank_s = 5e-6;

template <typename Work>
double timed(Work work) {
  const double begin_s = now_s();
  work();
  return now_s() - begin_s;
}

/// Mean time of asking until the flag is set.
template <typename Ask>
double polled(Ask ask) {
  int flag = 0;
  long polls = 0;
  const double begin_s = now_s();
  for (; flag == 0; ++polls) ask(&flag);
  return (now_s() - begin_s) / static_cast<double>(polls);
}

class Side {
 public:
  Side(const MpiCall& call, int peer, Waiting waiting, ExchangeBuffers& buffers)
      : operation_(call.operation), bytes_(call.size_bytes), peer_(peer), waiting_(waiting), buffers_(buffers) {}

  double initiate(const std::function<double()>& start) {
    receive_signal(peer_, tag_ready);
    spin_until(now_s() + settle_s);
    switch (operation_) {
      case MpiOperation::recv:
        return recv();
      case MpiOperation::isend:
        return isend();
      case MpiOperation::send:
      case MpiOperation::send_unmatched: {
        void* const data = out();
        return timed([&] { give(data, tag_data); });
      }
      case MpiOperation::pingpong:
        return pingpong();
      case MpiOperation::iprobe: {
        const double each_s =
            polled([&](int* flag) { MPI_Iprobe(peer_, tag_data, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE); });
        take(in(), tag_data);
        return each_s;
      }
      case MpiOperation::test: {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(in(), static_cast<int>(bytes_), MPI_BYTE, peer_, tag_data, MPI_COMM_WORLD, &request);
        return polled([&](int* flag) { MPI_Test(&request, flag, MPI_STATUS_IGNORE); });
      }
      case MpiOperation::wtime:
        return timed([] {
                 for (int i = 0; i < clock_reads; ++i) (void)MPI_Wtime();
               }) /
               clock_reads;
      case MpiOperation::exchange:
        return exchange();
      case MpiOperation::one_way:
        return one_way(start);
    }
    return 0;
  }

  void respond() {
    send_signal(peer_, tag_ready);
    switch (operation_) {
      case MpiOperation::recv:
        echo();
        receive_signal(peer_, tag_go);
        give(out(), tag_data);
        break;
      case MpiOperation::send:
      case MpiOperation::isend:
        await(in(), tag_data);
        break;
      case MpiOperation::pingpong:
        echo();
        break;
      case MpiOperation::iprobe:
      case MpiOperation::test:
        spin_until(now_s() + polled_delay_s);
        give(out(), tag_data);
        break;
      case MpiOperation::wtime:
        break;
      case MpiOperation::exchange:
        take(in(), tag_data);
        both_ways(out(), in());
        break;
      case MpiOperation::one_way:
        await(in(), tag_data);
        send_signal(peer_, tag_answer);
        break;
      case MpiOperation::send_unmatched:
        sleep_s(late_receiver_s);
        take(in(), tag_data);
        break;
    }
  }

 private:
  void* out() { return buffers_.outgoing.next(bytes_); }
  void* in() { return buffers_.incoming.next(bytes_); }
  void give(const void* data, int tag) const { send(data, bytes_, peer_, tag); }
  void take(void* data, int tag) const { receive(data, bytes_, peer_, tag); }

  /// Receives a message that is on its way.
  void await(void* data, int tag) const {
    if (waiting_ == Waiting::polling) {
      for (int flag = 0; flag == 0;) MPI_Iprobe(peer_, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    take(data, tag);
  }

  /// A message to and one from the other rank, as HPL_sdrv and the rolls of HPL's row swaps do it.
  void both_ways(const void* sent, void* received) const {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received, static_cast<int>(bytes_), MPI_BYTE, peer_, tag_answer, MPI_COMM_WORLD, &request);
    give(sent, tag_answer);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  double pingpong() {
    void* const data = out();
    void* const answer = in();
    return timed([&] {
      give(data, tag_data);
      await(answer, tag_answer);
    });
  }

  void echo() {
    void* const answer = out();
    await(in(), tag_data);
    give(answer, tag_answer);
  }

  double isend() {
    MPI_Request request = MPI_REQUEST_NULL;
    void* const data = out();
    const double duration_s =
        timed([&] { MPI_Isend(data, static_cast<int>(bytes_), MPI_BYTE, peer_, tag_data, MPI_COMM_WORLD, &request); });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return duration_s;
  }

  /// A round trip tells how long the message needs; then it is asked for, and has twice that time to arrive.
  double recv() {
    const double round_trip_s = pingpong();
    send_signal(peer_, tag_go);
    spin_until(now_s() + round_trip_s + 2 * settle_s);
    void* const data = in();
    return timed([&] { take(data, tag_data); });
  }

  /// The message before makes the responder come later, as whoever receives rows before a roll does.
  double exchange() {
    void* const first = out();
    void* const second = out();
    void* const answer = in();
    return timed([&] {
      give(first, tag_data);
      both_ways(second, answer);
    });
  }

  double one_way(const std::function<double()>& start) {
    void* const data = out();
    const double begin_s = start ? start() : now_s();
    give(data, tag_data);
    receive_signal(peer_, tag_answer);
    return now_s() - begin_s;
  }

  MpiOperation operation_;
  long bytes_;
  int peer_;
  Waiting waiting_;
  ExchangeBuffers& buffers_;
};

}  // namespace

double initiate(const MpiCall& call, int responder, Waiting waiting, ExchangeBuffers& buffers,
                const std::function<double()>& start) {
  return Side(call, responder, waiting, buffers).initiate(start);
}

void respond(const MpiCall& call, int initiator, Waiting waiting, ExchangeBuffers& buffers) {
  Side(call, initiator, waiting, buffers).respond();
}

void use_buffers(int peer, bool begins, ExchangeBuffers& buffers) {
  constexpr long piece_bytes = 1 << 20;
  const auto all = [&](RotatingBuffer& buffer, const std::function<void(void*)>& pass) {
    for (std::size_t passed = 0; passed < buffer.bytes(); passed += piece_bytes) pass(buffer.next(piece_bytes));
  };
  const auto give = [&] { all(buffers.outgoing, [&](void* data) { send(data, piece_bytes, peer, tag_data); }); };
  const auto take = [&] { all(buffers.incoming, [&](void* data) { receive(data, piece_bytes, peer, tag_data); }); };
  if (begins) give();
  take();
  if (!begins) give();
}

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
  spin_until(start_s);
  return start_s;
}

}  // namespace hplcast::calibration
