#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "calibration/measure/mpi_exchange.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/measure_mpi.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::calibration {

namespace {

constexpr int warm_up_messages = 100;  // Open MPI sets up its fast paths after some dozens
// On a busy machine the order to the peer may take longer than its absence. It is doubled after so many times, and the
// search given up after so many in one probe.
constexpr int late_orders_to_double = 3;
constexpr int late_orders_to_give_up = 20;
constexpr double longest_absence_s = 0.5;
constexpr long panel_bytes = 1 << 20;  // HPL probes for panels
constexpr int panels_of_memory = 4;    // so many of these go to new memory, and then to the same memory again
constexpr double flush_s = 100e-6;     // rank 0 stays inside MPI so long, for its order to leave
constexpr char original = 0x55;
constexpr char overwritten = 0x2a;

enum class Probe : int { stop, warm_up, polling_receiver, sleeping_receiver, overwrite, late, new_memory };

struct Order {
  Probe probe = Probe::stop;
  long bytes = 0;
  double absence_s = 0;
};

void tell(int peer, const Order& order) {
  send(&order, sizeof order, peer, tag_step);
}

/// Makes MPI work for a while without posting a receive.
void stay_in_mpi(int peer, double duration_s) {
  const double end_s = now_s() + duration_s;
  int flag = 0;
  while (now_s() < end_s) MPI_Iprobe(peer, tag_never_sent, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/// Rank 0's side of the probes with one peer.
class Prober {
 public:
  Prober(int peer, const ThresholdOptions& options)
      : peer_(peer),
        options_(options),
        buffer_(static_cast<std::size_t>(options.max_bytes)),
        absence_s_(options.absence_s) {
    for (int i = 0; i < warm_up_messages; ++i) {
      tell(peer_, {Probe::warm_up, 1, 0});
      send(buffer_.data(), 1, peer_, tag_data);
      receive(buffer_.data(), 1, peer_, tag_answer);
    }
  }
  ~Prober() { tell(peer_, {}); }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  /// On a busy machine any call may take long, but nothing returns before the receiver comes by accident: one early
  /// return proves the mode.
  FirstSize search(Probe probe) {
    const auto passes = [&](long bytes) {
      int late_orders = 0;
      for (int i = 0; i < options_.repetitions; ++i)
        if (is_early(probe, bytes, late_orders)) return true;
      return false;
    };
    return first_size_without(passes, options_.max_bytes);
  }

  /// Whether the peer's first MPI_Iprobe after an absence does not find what was sent in its first half.
  bool probes_are_late() {
    const long bytes = std::min(options_.max_bytes, panel_bytes);
    int late = 0, late_orders = 0;
    for (int i = 0; i < options_.repetitions; ++i)
      if (!is_early(Probe::late, bytes, late_orders)) ++late;
    return 2 * late > options_.repetitions;
  }

  /// ScopeThresholds::first_use_s_per_byte.
  double first_use_s_per_byte() {
    const long bytes = std::min(options_.max_bytes, panel_bytes);
    std::vector<double> longer_s;
    for (int i = 0; i < options_.repetitions; ++i) {
      tell(peer_, {Probe::new_memory, bytes, 0});
      for (int message = 0; message < 2 * panels_of_memory; ++message) {
        receive_signal(peer_, tag_ready);
        send(buffer_.data(), bytes, peer_, tag_data);
      }
      longer_s.push_back(0);
      receive(&longer_s.back(), sizeof(double), peer_, tag_answer);
    }
    const auto shorter = std::count_if(longer_s.begin(), longer_s.end(), [](double longer) { return longer <= 0; });
    if (shorter > static_cast<long>(longer_s.size()) / 5) return 0;
    return core::median(longer_s) / static_cast<double>(bytes);
  }

 private:
  /// Whether a send of which the order came in time was early, or what the peer says of it.
  bool is_early(Probe probe, long bytes, int& late_orders) {
    const bool is_judged = probe == Probe::overwrite || probe == Probe::late;
    for (;;) {
      const std::optional<bool> early = is_judged ? judged_send(probe, bytes) : plain_send(probe, bytes);
      if (early) return *early;
      be_patient(++late_orders);
    }
  }

  void be_patient(int late) {
    if (late % late_orders_to_double == 0 && absence_s_ < longest_absence_s) absence_s_ *= 2;
    if (late < late_orders_to_give_up) return;
    throw core::Error(core::ExitCode::external_failure, "messages to the peer take longer than its absence of " +
                                                            std::to_string(absence_s_) +
                                                            " s\n  hint: stop other programs");
  }

  /// Whether the receiver cannot have come since `begin_s`, when rank 0 sent it the order to stay away.
  bool before_receiver(double begin_s) const { return now_s() - begin_s < 0.5 * absence_s_; }

  /// A short message may still be in the sender's queues when MPI_Send returns, and leaves them only when the sender is
  /// inside MPI (Open MPI's vader with pending fragments). So neither side goes away before the other has answered.
  double order(Probe probe, long bytes) {
    tell(peer_, {probe, bytes, absence_s_});
    receive_signal(peer_, tag_ready);
    const double begin_s = now_s();
    send_signal(peer_, tag_go);
    stay_in_mpi(peer_, flush_s);
    return begin_s;
  }

  /// Whether it was early; nothing if the order to the peer came late.
  std::optional<bool> plain_send(Probe probe, long bytes) {
    const double begin_s = order(probe, bytes);
    const bool in_time = now_s() - begin_s < 0.3 * absence_s_;
    send(buffer_.data(), bytes, peer_, tag_data);
    if (before_receiver(begin_s)) return true;
    return in_time ? std::optional<bool>(false) : std::nullopt;
  }

  /// A send of which the peer says whether it is as it was sent, or found at once. MPI forbids to touch the buffer
  /// before the wait. That is the point: only a message that was copied stays what it was.
  std::optional<bool> judged_send(Probe probe, long bytes) {
    std::memset(buffer_.data(), original, static_cast<std::size_t>(bytes));
    const double begin_s = order(probe, bytes);
    // The peer must have left MPI before: else it lets the message in with the order, and finds it at its first probe.
    if (probe == Probe::late) sleep_s(0.25 * absence_s_);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag_data, MPI_COMM_WORLD, &request);
    std::memset(buffer_.data(), overwritten, static_cast<std::size_t>(bytes));
    const bool in_time = before_receiver(begin_s);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    char verdict = 0;
    receive(&verdict, 1, peer_, tag_answer);
    return in_time ? std::optional<bool>(verdict != 0) : std::nullopt;
  }

  int peer_;
  const ThresholdOptions& options_;
  std::vector<char> buffer_;
  double absence_s_ = 0;
};

/// Receives messages into memory, one after the other: the median of their times.
double receiving_s(char* memory, long bytes) {
  std::vector<double> times_s;
  for (int message = 0; message < panels_of_memory; ++message) {
    send_signal(0, tag_ready);
    const double begin_s = now_s();
    receive(memory + message * bytes, bytes, 0, tag_data);
    times_s.push_back(now_s() - begin_s);
  }
  return core::median(times_s);
}

/// The peer's side of all probes.
void follow(const ThresholdOptions& options) {
  std::vector<char> buffer(static_cast<std::size_t>(options.max_bytes));
  std::vector<std::unique_ptr<char[]>> new_memory;  // kept: what is freed is not new when it is given out again
  for (;;) {
    Order order;
    receive(&order, sizeof order, 0, tag_step);
    if (order.probe == Probe::stop) return;
    if (order.probe == Probe::warm_up) {
      receive(buffer.data(), order.bytes, 0, tag_data);
      send(buffer.data(), order.bytes, 0, tag_answer);
      continue;
    }
    if (order.probe == Probe::new_memory) {
      new_memory.emplace_back(new char[static_cast<std::size_t>(panels_of_memory * order.bytes)]);
      const double first_s = receiving_s(new_memory.back().get(), order.bytes);
      const double longer_s = first_s - receiving_s(new_memory.back().get(), order.bytes);
      send(&longer_s, sizeof longer_s, 0, tag_answer);
      continue;
    }
    send_signal(0, tag_ready);
    receive_signal(0, tag_go);
    if (order.probe == Probe::polling_receiver) stay_in_mpi(0, order.absence_s);
    const bool judges = order.probe == Probe::overwrite || order.probe == Probe::late;
    if (order.probe == Probe::sleeping_receiver || judges) sleep_s(order.absence_s);
    int is_good = 0;
    if (order.probe == Probe::late) MPI_Iprobe(0, tag_data, MPI_COMM_WORLD, &is_good, MPI_STATUS_IGNORE);
    receive(buffer.data(), order.bytes, 0, tag_data);
    if (order.probe == Probe::overwrite) {
      const auto end = buffer.begin() + order.bytes;
      is_good = std::all_of(buffer.begin(), end, [](char byte) { return byte == original; }) ? 1 : 0;
    }
    if (judges) {
      const char verdict = is_good != 0 ? 1 : 0;
      send(&verdict, 1, 0, tag_answer);
    }
  }
}

nlohmann::ordered_json json_of(const FirstSize& size) {
  return size ? nlohmann::ordered_json(*size) : nlohmann::ordered_json();
}

}  // namespace

void validate(const ThresholdOptions& options) {
  core::require(options.max_bytes >= 1 && options.max_bytes <= (1L << 30), "max bytes", options.max_bytes, "1 to 2^30");
  if (!(options.absence_s >= 1e-3)) throw core::DomainError("absence", options.absence_s, "at least 1 ms");
  if (options.repetitions < 1) throw core::DomainError("repetitions", options.repetitions, "at least 1");
}

FirstSize first_size_without(const std::function<bool(long)>& holds, long max_bytes) {
  if (max_bytes < 1) throw core::DomainError("largest size", max_bytes, "at least 1");
  if (!holds(1)) return 0;
  if (max_bytes == 1 || holds(max_bytes)) return std::nullopt;
  long with = 1, without = max_bytes;
  while (without - with > 1) {
    const long middle = with + (without - with) / 2;
    (holds(middle) ? with : without) = middle;
  }
  return without;
}

std::vector<std::string> notes_on(const ScopeThresholds& thresholds) {
  std::vector<std::string> notes;
  if (thresholds.copied == 0) notes.push_back("there is no eager mode: MPI_Isend copies not even one byte");
  if (thresholds.detached == 0) notes.push_back("MPI_Send always waits for the receiver");
  if (!thresholds.detached) {
    notes.push_back("there is no rendezvous up to " + std::to_string(thresholds.max_bytes) + " bytes");
  } else if (*thresholds.detached > 0 && (!thresholds.copied || *thresholds.copied >= *thresholds.detached)) {
    notes.push_back("there is no detached mode of its own: messages for which MPI_Send does not wait are copied");
  }
  if (thresholds.unattended != thresholds.detached)
    notes.push_back("from " + std::to_string(thresholds.unattended.value_or(thresholds.max_bytes)) +
                    " bytes on, MPI_Send waits until the receiver enters MPI, whether it receives or not");
  if (thresholds.late_probes) notes.push_back("MPI_Iprobe finds a message only at the second call after it has come");
  return notes;
}

void write_json(std::ostream& out, const std::vector<ScopeThresholds>& thresholds) {
  nlohmann::ordered_json json;
  json["thresholds"] = nlohmann::ordered_json::array();
  for (const ScopeThresholds& one : thresholds)
    json["thresholds"].push_back({{"scope", one.scope},
                                  {"host", one.host},
                                  {"peer", one.peer},
                                  {"max_bytes", one.max_bytes},
                                  {"async_small_bytes", json_of(one.copied)},
                                  {"detached_bytes", json_of(one.detached)},
                                  {"unattended_bytes", json_of(one.unattended)},
                                  {"late_probes", one.late_probes},
                                  {"first_use_s_per_byte", one.first_use_s_per_byte},
                                  {"notes", notes_on(one)}});
  out << core::json_text(json, 2) << '\n';
}

std::vector<ScopeThresholds> measure_thresholds(const World& world, const std::vector<MpiPair>& peers,
                                                const ThresholdOptions& options) {
  validate(options);
  std::vector<ScopeThresholds> found;
  for (const MpiPair& peer : peers) {
    if (world.rank() == peer.responder) follow(options);
    if (world.rank() != 0) continue;
    Prober prober(peer.responder, options);
    ScopeThresholds thresholds;
    thresholds.scope = peer.scope;
    thresholds.host = world.host();
    thresholds.peer = world.hosts()[static_cast<std::size_t>(peer.responder)];
    thresholds.max_bytes = options.max_bytes;
    thresholds.copied = prober.search(Probe::overwrite);
    thresholds.detached = prober.search(Probe::polling_receiver);
    thresholds.unattended = prober.search(Probe::sleeping_receiver);
    thresholds.late_probes = prober.probes_are_late();
    thresholds.first_use_s_per_byte = prober.first_use_s_per_byte();
    found.push_back(thresholds);
  }
  world.sleep_until_all_arrive();
  return found;
}

}  // namespace hplcast::calibration
