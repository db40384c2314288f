#include "calibration/measure/mpi_exchange.hpp"

#include <array>

#include "hplcast/calibration/clock.hpp"

namespace hplcast::calibration {

namespace {

constexpr double settle_s = 5e-6;        // the peer needs this long from its handshake into its receive
constexpr double polled_delay_s = 5e-5;  // polling loops turn at least this long: dozens of polls
constexpr int clock_reads = 1000;
constexpr int panel_gap = static_cast<int>(BuffersInTurn::room_bytes / panel_row_bytes);  // rows between columns
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

/// Columns of a matrix, as HPL_packL of HPL 2.3 describes a panel.
class PanelType {
 public:
  PanelType(double* matrix, long bytes, int gap) {
    const int rows = static_cast<int>(bytes / panel_row_bytes);
    std::array<int, panel_columns> lengths;
    std::array<MPI_Aint, panel_columns> places;
    std::array<MPI_Datatype, panel_columns> types;
    lengths.fill(rows);
    types.fill(MPI_DOUBLE);
    for (std::size_t column = 0; column < places.size(); ++column)
      MPI_Get_address(matrix + column * static_cast<std::size_t>(rows + gap), &places[column]);
    MPI_Type_create_struct(panel_columns, lengths.data(), places.data(), types.data(), &type_);
    MPI_Type_commit(&type_);
  }
  PanelType(const PanelType&) = delete;
  PanelType& operator=(const PanelType&) = delete;
  ~PanelType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

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
      case MpiOperation::panel:
        return panel(true);
      case MpiOperation::one_way:
        return one_way(start);
    }
    return 0;
  }

  void respond() {
    send_signal(peer_, tag_ready);
    switch (operation_) {
      case MpiOperation::recv: {
        echo();
        void* const data = out();
        receive_signal(peer_, tag_go);
        give(data, tag_data);
        break;
      }
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
      case MpiOperation::exchange: {
        void* const answer = out();
        take(in(), tag_data);
        both_ways(answer, in());
        break;
      }
      case MpiOperation::panel:
        panel(false);
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
  void* out() { return buffers_.outgoing.written(bytes_); }
  void* in() { return buffers_.incoming.next(); }
  void give(const void* data, int tag) const { send(data, bytes_, peer_, tag); }
  void take(void* data, int tag) const { receive(data, bytes_, peer_, tag); }

  void wait_for_message(int tag) const {
    if (waiting_ == Waiting::polling) {
      for (int flag = 0; flag == 0;) MPI_Iprobe(peer_, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
  }

  /// Receives a message that is on its way.
  void await(void* data, int tag) const {
    wait_for_message(tag);
    take(data, tag);
  }

  /// A round trip of panels: from columns that are farther apart than they are long, into some that are not.
  double panel(bool begins) {
    const PanelType from(static_cast<double*>(out()), bytes_, panel_gap), to(static_cast<double*>(in()), bytes_, 0);
    const auto give_panel = [&] { MPI_Send(MPI_BOTTOM, 1, from.get(), peer_, tag_data, MPI_COMM_WORLD); };
    return timed([&] {
      if (begins) give_panel();
      wait_for_message(tag_data);
      MPI_Recv(MPI_BOTTOM, 1, to.get(), peer_, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!begins) give_panel();
    });
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

void use_buffers(int peer, bool begins, long largest_bytes, ExchangeBuffers& buffers) {
  for (int i = 0; i < 4; ++i) {  // two of each side, in turn
    if (begins == (i % 2 == 0))
      send(buffers.outgoing.next(), largest_bytes, peer, tag_data);
    else
      receive(buffers.incoming.next(), largest_bytes, peer, tag_data);
  }
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
