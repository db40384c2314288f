#include "study/explain/explain_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hplcast/core/statistics.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Both sides of a message, by the clock of rank 0.
struct Sides {
  double sent_s = unknown, send_over_s = unknown;
  double wanted_s = unknown, received_s = unknown;
  double bytes = 0;
  bool isend = false, synchronous = false, panel = false, exchanged = false;
};

using SidesByMessage = std::unordered_map<MessageKey, Sides, MessageHash>;

void add_call(Sides& sides, const ActivityEvent& event, double begin_s, double end_s) {
  if (is(event.name, "wait")) {
    if (!event.sends) sides.received_s = end_s;
  } else if (event.sends) {
    sides.sent_s = begin_s;
    sides.send_over_s = end_s;
    sides.bytes = event.bytes;
    sides.panel = std::string_view(core::phase_names[event.phase]) == "broadcast";
    sides.isend = is(event.name, "isend") || is(event.name, "issend");
    sides.synchronous = is(event.name, "ssend") || is(event.name, "issend");
  } else {
    sides.wanted_s = begin_s;
    if (is(event.name, "recv")) sides.received_s = end_s;
    sides.exchanged = is(event.name, "irecv");
  }
}

SidesByMessage both_sides(const ObservedRanks& observed) {
  SidesByMessage messages;
  for (std::size_t i = 0; i < observed.ranks.size(); ++i) {
    const RankActivity& rank = observed.ranks[i];
    const auto at = [&](double time_s) { return observed.clocks[i].at_rank_0_s(rank.begin_s + time_s); };
    for (const ActivityEvent& event : rank.events) {
      if (!is_known(event) || is(event.name, "iprobe")) continue;
      add_call(messages[key_of(rank.rank, event)], event, at(event.begin_s), at(event.end_s));
    }
  }
  return messages;
}

/// The meaning of the model for one message (docs/internals/platform.md), had it come as it came in the run.
SeenMessage against(const core::NetworkModel& network, const Sides& sides, core::Scope scope) {
  const core::ScopeModel& model = network.scope(scope);
  const auto cost_s = [&](core::MessageCost which) { return std::max(0.0, model.cost(which).mean_s(sides.bytes)); };
  const core::Segment& segment = model.transfer(sides.panel).at(sides.bytes);
  const double wire_bytes = sides.bytes + core::smpi_envelope_bytes;
  const core::MessageFlow flow =
      core::message_flow(segment.mean_intercept_s() + segment.slope_s_per_byte * sides.bytes, 0,
                         segment.slope_s_per_byte, wire_bytes, core::link_limit(model, scope));
  const double transfer_s = flow.latency_s + wire_bytes / flow.bandwidth_bytes_per_s;
  const double bytes = sides.bytes;
  const bool detached = !sides.synchronous && bytes < static_cast<double>(network.values().detached_bytes);
  const bool eager = detached && bytes < static_cast<double>(network.values().async_small_bytes);
  SeenMessage message;
  message.scope = scope;
  message.bytes = bytes;
  message.sender_returns = detached;
  message.send_s = sides.send_over_s - sides.sent_s;
  message.send_model_s = cost_s(sides.isend ? core::MessageCost::isend : core::MessageCost::send);
  const double leaves_s = sides.sent_s + (detached || sides.isend ? message.send_model_s : 0);
  const double begins_s = eager ? leaves_s : std::max(leaves_s, sides.wanted_s);
  const double both_s = std::max(sides.sent_s, sides.wanted_s);
  const double there_s = begins_s + transfer_s;
  message.receiver_in_time = there_s > sides.wanted_s;
  message.real_s = sides.received_s - both_s;
  message.model_s = std::max(there_s, sides.wanted_s) + (detached ? cost_s(core::MessageCost::recv) : 0) +
                    (sides.exchanged ? model.exchange_cost_s(bytes) : 0) - both_s;
  message.bytes_s = std::min(transfer_s, std::max(0.0, segment.slope_s_per_byte) * bytes);
  message.latency_s = transfer_s - message.bytes_s;
  return message;
}

constexpr int size_classes = 32;
constexpr double class_factor = 4;

std::size_t class_of(double bytes) {
  if (!(bytes >= 1)) return 0;
  return static_cast<std::size_t>(std::min(std::ilogb(bytes) / 2, size_classes - 1));
}

constexpr double most_medians = 10;

/// The sum of what values have beyond ten medians.
double beyond_usual(const std::vector<double>& values) {
  const double most = most_medians * median(values);
  double sum = 0;
  for (const double value : values) sum += std::max(0.0, value - most);
  return sum;
}

/// A stall of one must not count as the level of all: values are cut at ten medians.
double cut_mean(std::vector<double> values) {
  const double most = most_medians * median(values);
  for (double& value : values) value = std::min(value, most);
  return core::mean(values);
}

/// Messages of one class of size.
struct SizeClass {
  std::vector<double> real_s, model_s;
  std::vector<double> latency_s, bytes_s;  ///< what the model has for these parts

  void add(const SeenMessage& message) {
    real_s.push_back(message.real_s);
    model_s.push_back(message.model_s);
    latency_s.push_back(message.latency_s);
    bytes_s.push_back(message.bytes_s);
  }
  double count() const { return static_cast<double>(real_s.size()); }
  double mean_model_s(const NetworkFactors& by) const {
    return core::mean(model_s) + (by.latency - 1) * core::mean(latency_s) + (by.bandwidth - 1) * core::mean(bytes_s);
  }
  /// Beyond the model with these factors, of most messages: those that shared a link with others, or were held up, are
  /// longer.
  double usual_excess_s(const NetworkFactors& by) const {
    std::vector<double> excess_s(real_s.size());
    for (std::size_t i = 0; i < excess_s.size(); ++i)
      excess_s[i] = real_s[i] - model_s[i] - (by.latency - 1) * latency_s[i] - (by.bandwidth - 1) * bytes_s[i];
    return median(std::move(excess_s));
  }
};

struct ScopeSums {
  std::array<SizeClass, size_classes> sizes;
  std::vector<double> call_s;
  double call_model_s = 0;
  double call_ratio() const { return cut_mean(call_s) * static_cast<double>(call_s.size()) / call_model_s; }
};

std::map<core::Scope, ScopeSums> sums_of(const std::vector<SeenMessage>& messages) {
  std::map<core::Scope, ScopeSums> scopes;
  for (const SeenMessage& message : messages) {
    ScopeSums& scope = scopes[message.scope];
    if (message.receiver_in_time) scope.sizes[class_of(message.bytes)].add(message);
    if (message.sender_returns) {
      scope.call_s.push_back(message.send_s);
      scope.call_model_s += message.send_model_s;
    }
  }
  return scopes;
}

/// Least squares of the differences of the classes on the parts of the model.
struct Normal {
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  void add(double weight, double a, double b, double y) {
    aa += weight * a * a;
    ab += weight * a * b;
    bb += weight * b * b;
    ay += weight * a * y;
    by += weight * b * y;
  }
  /// Changes of both, relative to them; of one alone where the messages do not tell them apart.
  std::pair<double, double> solve() const {
    constexpr double nearly_singular = 1e-3;
    const double determinant = aa * bb - ab * ab;
    if (determinant > nearly_singular * aa * bb) {
      const double a = (ay * bb - by * ab) / determinant;
      const double b = (by * aa - ay * ab) / determinant;
      return {a, b};
    }
    if (aa >= bb) return {aa > 0 ? ay / aa : 0, 0};
    return {0, by / bb};
  }
};

/// Means of the messages of one class of size, in a simulation with the factors of a finding.
struct ClassMeans {
  double n = 0, model_s = 0;
  double latency_s = 0, bytes_s = 0;  ///< what latency and bytes take of it
};

/// Flows that share a link take longer than the model of a single one, the more so the slower the link is: what a
/// simulation takes beyond the model counts for the bytes. `by`: the factors that this simulation had.
ClassMeans means_of(const SizeClass& real, const SizeClass& simulated, const NetworkFactors& by) {
  ClassMeans means;
  means.n = real.count();
  means.latency_s = by.latency * core::mean(real.latency_s);
  means.bytes_s = by.bandwidth * core::mean(real.bytes_s);
  means.model_s = real.mean_model_s(by);
  if (simulated.real_s.empty()) return means;
  const double sharing_s = simulated.usual_excess_s(by);
  means.model_s += sharing_s;
  means.bytes_s += std::max(0.0, sharing_s);
  return means;
}

constexpr double least_factor = 0.01;  // nothing becomes free

/// Factors with which a simulation would come nearer to the run. `by`: those that `simulated` had. What messages
/// usually take is the mean of the model and the median of what they take beyond it, which is right if this does not
/// go with their sizes: so it is taken from the model as fitted, not as it was.
NetworkFactors fitted(const ScopeSums& real, const ScopeSums& simulated, const NetworkFactors& by) {
  constexpr int most_rounds = 20;
  constexpr double settled = 1e-4, shortest_s = 1e-9;
  std::vector<std::pair<const SizeClass*, ClassMeans>> classes;
  for (std::size_t i = 0; i < size_classes; ++i)
    if (!real.sizes[i].real_s.empty())
      classes.emplace_back(&real.sizes[i], means_of(real.sizes[i], simulated.sizes[i], by));
  NetworkFactors factors = by;
  for (int round = 0; round < most_rounds; ++round) {
    Normal equations;
    for (const auto& [one, means] : classes) {
      const double usual_s = one->mean_model_s(factors) + one->usual_excess_s(factors);
      // Relative differences, so that each message counts; relative to the run, which a wrong model does not change.
      const double scale_s = std::max(shortest_s, usual_s);
      equations.add(means.n / (scale_s * scale_s), means.latency_s, means.bytes_s, usual_s - means.model_s);
    }
    const auto [latency, bandwidth] = equations.solve();
    const NetworkFactors before = factors;
    factors.latency = by.latency * std::max(least_factor, 1 + latency);
    factors.bandwidth = by.bandwidth * std::max(least_factor, 1 + bandwidth);
    const double change =
        std::max(std::abs(factors.latency / before.latency - 1), std::abs(factors.bandwidth / before.bandwidth - 1));
    if (change < settled) break;
  }
  return factors;
}

/// Changes the factors so that a simulation with them would come nearer to the run.
void fit(NetworkFinding& finding, const ScopeSums& real, const ScopeSums& simulated) {
  const NetworkFactors factors = fitted(real, simulated, finding);
  finding.latency = factors.latency;
  finding.bandwidth = factors.bandwidth;
  if (real.call_s.empty() || !(real.call_model_s > 0)) return;
  const double modelled = simulated.call_s.empty() ? 0 : simulated.call_ratio();  // also 0 where most are free
  finding.calls *= std::max(least_factor, real.call_ratio() / (modelled > 0 ? modelled : finding.calls));
}

void add_sizes(NetworkFinding& finding, const ScopeSums& real, const ScopeSums& simulated, core::Scope scope) {
  for (std::size_t i = 0; i < size_classes; ++i) {
    const SizeClass &one = real.sizes[i], &other = simulated.sizes[i];
    if (one.real_s.empty()) continue;
    const ClassMeans means = means_of(one, other, finding);
    finding.latency_s += means.n * means.latency_s;
    finding.bytes_s += means.n * means.bytes_s;
    finding.held_up_s += beyond_usual(one.real_s);
    MessageDifference difference;
    difference.scope = scope;
    difference.least_bytes = i == 0 ? 0 : std::pow(class_factor, static_cast<double>(i));
    difference.most_bytes = std::pow(class_factor, static_cast<double>(i + 1));
    difference.messages = means.n;
    difference.model_s = difference.usual_model_s = one.mean_model_s({});
    difference.real_s = cut_mean(one.real_s);
    difference.usual_real_s = difference.model_s + one.usual_excess_s({});
    if (!other.real_s.empty()) {
      difference.model_s += cut_mean(other.real_s) - other.mean_model_s({});
      difference.usual_model_s += other.usual_excess_s({});
    }
    finding.sizes.push_back(difference);
  }
  finding.calls_s = real.call_model_s;
}

}  // namespace

std::vector<SeenMessage> seen_messages(const ObservedRanks& observed, const core::NetworkModel& network,
                                       const std::vector<RankPlace>& places) {
  std::vector<SeenMessage> seen;
  for (const auto& [key, sides] : both_sides(observed)) {
    const bool whole = sides.sent_s <= sides.send_over_s && sides.wanted_s <= sides.received_s;  // all are known
    if (!whole || std::max(sides.sent_s, sides.wanted_s) > sides.received_s) continue;
    const core::Scope scope =
        places[static_cast<std::size_t>(key.source)].host == places[static_cast<std::size_t>(key.destination)].host
            ? core::Scope::local
            : core::Scope::remote;
    seen.push_back(against(network, sides, scope));
  }
  return seen;
}

std::map<core::Scope, NetworkFinding> network_findings(const std::vector<SeenMessage>& messages,
                                                       const std::vector<SeenMessage>& simulated, double share) {
  std::map<core::Scope, ScopeSums> of_simulation = sums_of(simulated);
  std::map<core::Scope, NetworkFinding> findings;
  for (const auto& [scope, sums] : sums_of(messages)) {
    NetworkFinding& finding = findings[scope];
    add_sizes(finding, sums, of_simulation[scope], scope);
    fit(finding, sums, of_simulation[scope]);
    for (double* sum : {&finding.latency_s, &finding.bytes_s, &finding.calls_s, &finding.held_up_s}) *sum *= share;
    for (MessageDifference& sizes : finding.sizes) sizes.messages *= share;
  }
  return findings;
}

void refine(std::map<core::Scope, NetworkFinding>& findings, const std::vector<SeenMessage>& messages,
            const std::vector<SeenMessage>& simulated) {
  const std::map<core::Scope, ScopeSums> real = sums_of(messages);
  for (const auto& [scope, sums] : sums_of(simulated))
    if (const auto found = findings.find(scope); found != findings.end()) fit(found->second, real.at(scope), sums);
}

}  // namespace hplcast::study
