#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

/// Where the two ends of a message are: on one host, or on two.
enum class Scope { local, remote };
HPLCAST_ENUM_NAMES(Scope, "scope", "local", "remote");

/// The costs of a message. send, isend, recv: time that the calling rank spends in the call (SMPI's os,
/// ois, or). transfer: time of one message in the network, from which SMPI's latency and bandwidth factors follow.
enum class MessageCost { send, isend, recv, transfer };
inline constexpr int message_cost_count = 4;
inline constexpr std::array<const char*, message_cost_count> message_cost_names = {"send", "isend", "recv", "transfer"};

/// duration = intercept + slope * size for min_bytes <= size < min_bytes of the next segment.
struct Segment {
  double min_bytes = 0;
  double intercept_s = 0;
  double slope_s_per_byte = 0;
  double sd_s = 0;                      ///< N1 noise: half-normal around the line; 0: none
  std::vector<MixtureMode> modes = {};  ///< N' noise: the intercept is drawn from these (mean and sd in s); empty: none
  /// Relative noise: log(duration / expected duration) is drawn from these; the expectation of the ratio is 1. Empty:
  /// none. Excludes `sd_s` and `modes`.
  std::vector<MixtureMode> log_modes = {};

  bool has_noise() const noexcept { return sd_s > 0 || !modes.empty() || !log_modes.empty(); }
  double mean_intercept_s() const noexcept;  ///< that of `modes`, if there are any
};

/// Standard deviation over mean of exp(x), x drawn from a mixture of normal laws. 0 for no modes.
double relative_sd(const std::vector<MixtureMode>& log_modes) noexcept;

/// The modes with `spread` times their distances and widths, moved so that exp(x) has expectation 1; none for 0.
std::vector<MixtureMode> with_spread(std::vector<MixtureMode> log_modes, double spread);

/// Durations as a function of the message size, segment by segment.
class SegmentedLaw {
 public:
  SegmentedLaw() = default;
  /// @throws DomainError if there is no segment, the first does not start at 0, starts do not ascend, a value is not
  /// finite, or relative noise has another expectation than 1 (to 1e-6) or noise of another kind beside it.
  static SegmentedLaw make(std::vector<Segment> segments);

  const Segment& at(double size_bytes) const noexcept;
  /// Expected duration in s.
  double mean_s(double size_bytes) const noexcept;
  /// A duration in s, never negative. A mode's intercept is half-normal of its mean and sd (Cornebize 2021).
  double sample_s(double size_bytes, const Draw& draw) const noexcept;
  /// No sample is less.
  double least_s(double size_bytes) const noexcept;
  const std::vector<Segment>& segments() const noexcept { return segments_; }

 private:
  std::vector<Segment> segments_{Segment{}};
};

/// Total bandwidth of several messages at once. Scope remote: through the link of a host, per direction; scope local:
/// inside a host.
struct LinkCapacity {
  /// measured: the plateau with an increasing number of pairs of ranks; published: the bandwidth of a published
  /// platform; given: by the user.
  enum class Origin { measured, published, given };
  double bytes_per_s = 0;
  double low_bytes_per_s = 0, high_bytes_per_s = 0;  ///< 95 % interval of a measured one; both 0: not known
  Origin origin = Origin::given;
};
HPLCAST_ENUM_NAMES(LinkCapacity::Origin, "origin", "measured", "published", "given");

/// The costs of one scope.
struct ScopeModel {
  std::array<SegmentedLaw, message_cost_count> costs;
  std::optional<SegmentedLaw> panels;    ///< transfer of columns of a matrix that an MPI datatype describes, as HPL
                                         ///< sends its panels; absent: as of other messages
  double bandwidth_bytes_per_s = 0;      ///< of a single flow of long messages
  std::optional<LinkCapacity> capacity;  ///< absent: not measured, see link_bytes_per_s()
  double latency_s = 0;                  ///< of the whole route
  double max_bytes = 0;                  ///< largest size measured; 0: not known
  double first_use_s_per_byte = 0;       ///< by which a message that waits for its receiver takes longer where it goes
                                         ///< to memory that no message has been in before
  double exchange_s = 0;                 ///< by which a message takes longer that MPI_Irecv and MPI_Wait receive around
                                         ///< an MPI_Send, as each of HPL's exchanges does it
  double exchange_s_per_byte = 0;        ///< the same per byte
  bool half_duplex = false;              ///< opposite rendezvous messages between two ranks are serialised: the second
                                         ///< begins when the first has ended
  std::vector<std::string> notes;

  /// Bandwidth of the link of a host: the capacity or, where that is not known, the bandwidth of a single flow.
  double link_bytes_per_s() const noexcept { return capacity ? capacity->bytes_per_s : bandwidth_bytes_per_s; }

  const SegmentedLaw& cost(MessageCost which) const { return costs[static_cast<std::size_t>(which)]; }
  SegmentedLaw& cost(MessageCost which) { return costs[static_cast<std::size_t>(which)]; }
  double exchange_cost_s(double size_bytes) const noexcept { return exchange_s + exchange_s_per_byte * size_bytes; }
  const SegmentedLaw& transfer(bool of_panel) const {
    return of_panel && panels ? *panels : cost(MessageCost::transfer);
  }
};

/// A card of each host, with a link of its own to the network.
struct Rail {
  double link_share = 1;             ///< its bandwidth in that of the network between hosts; above 0, at most 1000
  std::optional<double> rate_share;  ///< of the rate of a message alone; nothing: that of the link
  double extra_latency_s = 0;        ///< of a message, for each of its ends there
};

/// Costs of a card for ranks of a CPU that is not near it.
struct RailReach {
  int cpu = 0, rail = 0;
  double extra_latency_s = 0;  ///< of a message, for each of its ends there
  double rate_share = 1;       ///< of its rate; in (0, 1]
};

/// Several cards per host, or one that is near some of its CPUs. What the network says is said of one message over a
/// card of share 1 between CPUs that reach it at no cost.
struct Rails {
  enum class Use {
    bound,   ///< each rank has a card, by its CPU
    striped  ///< long messages go over all cards at once, in parts that take as long as each other
  };
  std::vector<Rail> cards;
  std::vector<std::vector<int>> near;  ///< cards of each CPU, which its ranks take in turn
  std::vector<RailReach> far = {};     ///< nothing: at no cost
  Use use = Use::bound;
  double striped_from_bytes = 0;  ///< shorter messages take the card of their rank

  /// One end of a message: a rank on this CPU, over its card.
  struct End {
    int cpu = 0, card = 0;
  };
  /// The card of the `nth` rank on a CPU, from 0.
  int card_of(int cpu, int nth) const {
    const std::vector<int>& own = near.at(static_cast<std::size_t>(cpu));
    return own[static_cast<std::size_t>(nth) % own.size()];
  }
  bool is_striped(double size_bytes) const { return use == Use::striped && size_bytes >= striped_from_bytes; }
  double share_of(int card) const { return cards[static_cast<std::size_t>(card)].link_share; }
  /// Part of a striped message.
  double part_of(int card) const;
  /// A message alone: later by `extra_latency_s`, at `rate` times the rate of the network, over links that have
  /// `link_share` times the bandwidth of its links.
  struct Way {
    double extra_latency_s = 0, rate = 1, link_share = 1;
  };
  Way way(const End& from, const End& to, double size_bytes) const;
  /// For people: which CPU has which card, and what it costs.
  std::string text(double link_bytes_per_s) const;
};
HPLCAST_ENUM_NAMES(Rails::Use, "use of rails", "bound", "striped");

/// `count` cards like the one that there is, each near as many of the `cpus` CPUs, or each CPU near as many of them.
/// @throws DomainError if neither number is a multiple of the other.
Rails equal_rails(int count, int cpus);

/// The network of a cluster as MPI programs see it.
class NetworkModel {
 public:
  struct Values {
    ScopeModel local;
    std::optional<ScopeModel> remote;              ///< absent for a machine of one host
    std::uint64_t async_small_bytes = 0;           ///< below: MPI_Send is eager, the message leaves at once
    std::uint64_t detached_bytes = 0;              ///< below: MPI_Send returns without waiting for the receiver
    double iprobe_s = 0, test_s = 0, wtime_s = 0;  ///< cost of one call
    bool growing_probes = false;  ///< a probe costs iprobe_s times 1 + the probes of all ranks that failed since one
                                  ///< found something: SimGrid's default, which published platforms were used with
    bool late_probes = false;     ///< MPI_Iprobe finds only what had come before the rank's last probe, receive or
                                  ///< send that waited: it looks first, and lets messages in afterwards (Open MPI)
    Topology topology;
    std::optional<Rails> rails = {};  ///< nothing: one card, as near to all CPUs
  };
  NetworkModel() = default;
  /// @throws DomainError for negative costs, bandwidths and capacities that are not positive, detached_bytes <
  /// async_small_bytes, a topology whose numbers are not of its form, or rails that nobody uses or that are not there.
  static NetworkModel make(Values values);

  const Values& values() const noexcept { return values_; }
  const ScopeModel& scope(Scope which) const noexcept {
    return which == Scope::remote && values_.remote ? *values_.remote : values_.local;
  }

 private:
  Values values_;
};

/// Bytes that SMPI 3.32 adds to every message on its way through the network (tag, destination, communicator).
inline constexpr double smpi_envelope_bytes = 16;

/// A message as SimGrid moves it: nothing for `latency_s`, then all bytes at up to `bandwidth_bytes_per_s`.
struct MessageFlow {
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;
};

/// The limit of a link, in bytes/s.
struct LinkLimit {
  double bytes_per_s = 0;
  bool is_shared = false;  ///< false: as much for every flow, however many there are
};

/// The flow of `wire_bytes` > 0 (envelope included) that takes `mean_s` + `noise_s` >= 0 in an empty network.
///
/// Its rate is 1 / slope: several such flows go on side by side until they fill the link, as on the measured machine.
/// It is that of the link where the line says more, and where the slope is not positive; the time that the bytes do not
/// take at that rate is latency. A shared link is never faster on average than it can: a message takes at least
/// `wire_bytes` / capacity. If the rate alone would make the message longer than it is (a line that starts below zero,
/// noise), the rate gives way; by noise it can exceed that of the link, which then carries these bytes for less.
/// It never exceeds a million times that of the link.
MessageFlow message_flow(double mean_s, double noise_s, double slope_s_per_byte, double wire_bytes,
                         const LinkLimit& link) noexcept;

/// The link that the messages of a scope cross.
LinkLimit link_limit(const ScopeModel& scope, Scope which) noexcept;

/// Latency in s of the link that joins a host to its switch: two of them and a backbone, if there is one, have together
/// the latency of the route that was measured.
double host_link_latency_s(const NetworkModel& network) noexcept;

/// SimGrid settings (name, value) that a network model asks for and that hold for all messages: thresholds, cost of
/// probes (and whether it grows) and clock reads, plain max-min sharing without background traffic or TCP window.
std::vector<std::pair<std::string, std::string>> smpi_settings(const NetworkModel& network);

}  // namespace hplcast::core
