#include "hplcast/calibration/measure_mpi.hpp"

#include <algorithm>
#include <ostream>
#include <thread>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/errors.hpp"
#include "messages.hpp"

namespace hplcast::calibration {

namespace {

/// What rank 0 tells the peer before each row.
enum Step : int { step_stop = 0, step_row = 1, step_warm_up = 2 };

constexpr double polled_delay_s = 5e-5;  // polling loops turn at least this long: dozens of polls
constexpr int clock_reads = 1000;

/// Rank 0's side of every operation: returns the duration in s.
class Initiator {
 public:
  Initiator(int peer, RotatingBuffer& outgoing, RotatingBuffer& incoming)
      : peer_(peer), out_(outgoing), in_(incoming) {}

  double run(const MpiCall& call) {
    receive_signal(peer_, tag_ready);
    spin_s(settle_s);
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
    receive(answer, bytes, peer_, tag_answer);
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
    spin_s(round_trip_s + 2 * settle_s);
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

  int peer_;
  RotatingBuffer& out_;
  RotatingBuffer& in_;
};

/// The peer's side.
class Responder {
 public:
  Responder(RotatingBuffer& outgoing, RotatingBuffer& incoming) : out_(outgoing), in_(incoming) {}

  void run(const MpiCall& call) {
    send_signal(0, tag_ready);
    const long bytes = call.size_bytes;
    switch (call.operation) {
      case MpiOperation::recv:
        echo(bytes);
        receive_signal(0, tag_go);
        send(out_.next(bytes), bytes, 0, tag_data);
        break;
      case MpiOperation::send:
      case MpiOperation::isend:
        receive(in_.next(bytes), bytes, 0, tag_data);
        break;
      case MpiOperation::pingpong:
        echo(bytes);
        break;
      case MpiOperation::iprobe:
      case MpiOperation::test:
        spin_s(polled_delay_s);
        send(out_.next(bytes), bytes, 0, tag_data);
        break;
      case MpiOperation::wtime:
        break;
      case MpiOperation::send_unmatched:
        std::this_thread::sleep_for(std::chrono::duration<double>(late_receiver_s));
        receive(in_.next(bytes), bytes, 0, tag_data);
        break;
    }
  }

 private:
  void echo(long bytes) {
    void* const answer = out_.next(bytes);
    receive(in_.next(bytes), bytes, 0, tag_data);
    send(answer, bytes, 0, tag_answer);
  }

  RotatingBuffer& out_;
  RotatingBuffer& in_;
};

/// Rank 0: leads all peers through the design.
class Leader {
 public:
  Leader(const World& world, const MpiDesign& design, const std::vector<MpiPeer>& peers,
         const MpiMeasureOptions& options)
      : world_(world),
        design_(design),
        peers_(peers),
        options_(options),
        outgoing_(max_bytes(design), options.seed),
        incoming_(max_bytes(design), options.seed + 1) {}

  std::vector<MpiRow> run() {
    const double warm_up_end_s = now_s() + options_.warm_up_s;
    while (now_s() < warm_up_end_s) {
      for (const MpiPeer& peer : peers_) warm_up(peer);
    }
    start_s_ = now_s();
    std::vector<MpiRow> rows;
    rows.reserve(design_.size() * peers_.size());
    for (std::size_t row = 0; row < design_.size(); ++row) {
      if (options_.budget_s > 0 && now_s() - start_s_ > options_.budget_s) break;
      for (const MpiPeer& peer : peers_) rows.push_back(measured(row, peer));
      if (options_.progress) options_.progress(static_cast<double>(row + 1) / static_cast<double>(design_.size()));
    }
    for (const MpiPeer& peer : peers_) tell(peer, step_stop, 0);
    return rows;
  }

 private:
  static void tell(const MpiPeer& peer, Step step, std::size_t row) {
    const unsigned long long message[2] = {static_cast<unsigned long long>(step), row};
    MPI_Send(message, 2, MPI_UNSIGNED_LONG_LONG, peer.rank, tag_step, MPI_COMM_WORLD);
  }

  void warm_up(const MpiPeer& peer) {
    tell(peer, step_warm_up, 0);
    Initiator(peer.rank, outgoing_, incoming_).run(MpiCall{MpiOperation::pingpong, 1, 0});
  }

  MpiRow measured(std::size_t row, const MpiPeer& peer) {
    tell(peer, step_row, row);
    MpiRow result;
    result.order = row;
    core::MpiMeasurement& measurement = result.measurement;
    measurement.start_s = now_s() - start_s_;
    measurement.duration_s = Initiator(peer.rank, outgoing_, incoming_).run(design_[row]);
    measurement.operation = to_string(design_[row].operation);
    measurement.scope = options_.scope_name.empty() ? peer.scope : options_.scope_name;
    measurement.size_bytes = static_cast<double>(design_[row].size_bytes);
    measurement.host = world_.host();
    measurement.peer = world_.hosts()[static_cast<std::size_t>(peer.rank)];
    measurement.background = "none";
    if (!(measurement.duration_s > 0)) measurement.error = "the clock did not advance";
    return result;
  }

  const World& world_;
  const MpiDesign& design_;
  const std::vector<MpiPeer>& peers_;
  const MpiMeasureOptions& options_;
  RotatingBuffer outgoing_, incoming_;
  double start_s_ = 0;
};

/// A peer: does what rank 0 tells.
void follow(const MpiDesign& design, std::uint64_t seed) {
  RotatingBuffer outgoing(max_bytes(design), seed + 2), incoming(max_bytes(design), seed + 3);
  Responder responder(outgoing, incoming);
  for (;;) {
    unsigned long long message[2] = {step_stop, 0};
    MPI_Recv(message, 2, MPI_UNSIGNED_LONG_LONG, 0, tag_step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (message[0] == step_stop) return;
    responder.run(message[0] == step_warm_up ? MpiCall{MpiOperation::pingpong, 1, 0} : design[message[1]]);
  }
}

void require_memory(const World& world, const MpiDesign& design) {
  const double needed =
      4.0 * std::max(static_cast<double>(max_bytes(design)), 0.5 * static_cast<double>(RotatingBuffer::smallest_bytes));
  const double available = available_memory_bytes() / std::min(2, world.local_size());
  if (needed <= available) return;
  throw core::Error(core::ExitCode::bad_input, "messages of " + std::to_string(max_bytes(design)) +
                                                   " bytes need buffers of four times that; " + world.host() +
                                                   " has too little memory\n  hint: lower --max-bytes of the design");
}

}  // namespace

std::vector<MpiPeer> choose_peers(const std::vector<std::string>& hosts, PeerChoice choice) {
  MpiPeer local{-1, "local"}, remote{-1, "remote"};
  for (std::size_t rank = hosts.size(); rank-- > 1;) {
    (hosts[rank] == hosts[0] ? local : remote).rank = static_cast<int>(rank);
  }
  std::vector<MpiPeer> peers;
  for (const MpiPeer& peer : {local, remote}) {
    const bool required = choice == PeerChoice::both || (choice == PeerChoice::local && peer.scope == "local") ||
                          (choice == PeerChoice::remote && peer.scope == "remote");
    if (peer.rank > 0 && (required || choice == PeerChoice::any)) peers.push_back(peer);
    if (peer.rank < 0 && required) {
      throw core::Error(core::ExitCode::bad_input, "there is no " + peer.scope + " rank to measure with from " +
                                                       hosts[0] +
                                                       "\n  hint: start two ranks on one host for local, on two hosts "
                                                       "for remote measurements");
    }
  }
  if (peers.empty()) {
    throw core::Error(core::ExitCode::bad_input,
                      "messages need two ranks\n  hint: mpirun -np 2 hplcast-measure-mpi ...");
  }
  return peers;
}

std::vector<MpiRow> measure_mpi(const World& world, const MpiDesign& design, const std::vector<MpiPeer>& peers,
                                const MpiMeasureOptions& options) {
  if (design.empty()) throw core::DomainError("rows of the design", 0.0, "at least 1");
  require_memory(world, design);
  world.barrier();
  std::vector<MpiRow> rows;
  const bool is_peer =
      std::any_of(peers.begin(), peers.end(), [&](const MpiPeer& p) { return p.rank == world.rank(); });
  if (world.rank() == 0) {
    rows = Leader(world, design, peers, options).run();
  } else if (is_peer) {
    follow(design, options.seed);
  }
  world.sleep_until_all_arrive();
  return rows;
}

void write_mpi_header(std::ostream& out) {
  out << "order," << core::mpi_csv_header << '\n';
}

void write_mpi_rows(std::ostream& out, const std::vector<MpiRow>& rows) {
  for (const MpiRow& row : rows) {
    out << row.order << ',';
    core::write_row(out, row.measurement);
  }
}

}  // namespace hplcast::calibration
