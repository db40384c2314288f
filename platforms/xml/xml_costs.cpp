#include "platforms/xml/xml_costs.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/platforms/platform_xml.hpp"

namespace hplcast::platforms {

namespace {

using core::MessageCost;
using core::printed;
using core::ScopeModel;
using core::Segment;
using core::shortest;
using core::time_text;

/// SimGrid reads bounds with stoi().
constexpr double bound_limit = 2147483648.0;

/// SimGrid starts a segment strictly above its bound, ours starts at min_bytes; sizes are whole bytes.
double xml_bound(const Segment& segment, double envelope_bytes) {
  return segment.min_bytes == 0 ? 0 : std::ceil(segment.min_bytes) + envelope_bytes - 1;
}

/// Duration of a message of no bytes but its envelope, so that slope * wire bytes + this is the whole transfer.
double intercept_on_wire_s(const Segment& segment) {
  return segment.mean_intercept_s() - core::smpi_envelope_bytes * segment.slope_s_per_byte;
}

std::string join(const std::string& list, const std::string& item) {
  return list.empty() ? item : list + ";" + item;
}

std::string overhead(const core::SegmentedLaw& law) {
  std::string list;
  for (const Segment& segment : law.segments()) {
    const double bound = xml_bound(segment, 0);
    if (bound >= bound_limit) break;
    list = join(
        list, shortest(bound) + ":" + shortest(segment.mean_intercept_s()) + ":" + shortest(segment.slope_s_per_byte));
  }
  return list;
}

/// Whether factors say a segment of the transfer exactly.
bool is_carried(const Segment& segment) {
  return segment.slope_s_per_byte >= 0 && intercept_on_wire_s(segment) >= 0;
}

/// The flow that stands for a segment: exact where is_carried(), else exact at one size of the segment only.
core::MessageFlow representative_flow(const core::ScopeModel& scope, std::size_t index) {
  const std::vector<Segment>& segments = scope.cost(MessageCost::transfer).segments();
  const Segment& segment = segments[index];
  // A flow faster than the link gets a factor above 1: right alone, too fast beside others.
  const core::LinkLimit link{scope.link_bytes_per_s(), false};
  if (is_carried(segment)) {
    const double fastest = core::message_flow(0, 0, 0, 1, link).bandwidth_bytes_per_s;
    const double rate = segment.slope_s_per_byte > 0 ? std::min(1 / segment.slope_s_per_byte, fastest) : fastest;
    return {intercept_on_wire_s(segment), rate};
  }
  const double begin = std::max(1.0, segment.min_bytes);
  const double end = index + 1 < segments.size() ? segments[index + 1].min_bytes : std::max(scope.max_bytes, 2 * begin);
  const double size = std::sqrt(begin * end);
  return core::message_flow(scope.cost(MessageCost::transfer).mean_s(size), 0, segment.slope_s_per_byte,
                            size + core::smpi_envelope_bytes, link);
}

}  // namespace

XmlCosts xml_costs(const core::ScopeModel& scope) {
  XmlCosts costs;
  costs.os = overhead(scope.cost(MessageCost::send));
  costs.ois = overhead(scope.cost(MessageCost::isend));
  costs.overhead_recv = overhead(scope.cost(MessageCost::recv));
  const std::vector<Segment>& segments = scope.cost(MessageCost::transfer).segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double bound = xml_bound(segments[i], core::smpi_envelope_bytes);
    if (bound >= bound_limit) break;
    const core::MessageFlow flow = representative_flow(scope, i);
    costs.bw_factor =
        join(costs.bw_factor, shortest(bound) + ":" + shortest(flow.bandwidth_bytes_per_s / scope.link_bytes_per_s()));
    costs.lat_factor = join(costs.lat_factor, shortest(bound) + ":" + shortest(flow.latency_s / scope.latency_s));
  }
  return costs;
}

namespace {

/// "bound:value[:value];...": the values above each bound. One value alone is that of all sizes.
std::map<double, std::array<double, 2>> read_list(const std::string& list, double below_all) {
  std::map<double, std::array<double, 2>> values = {{0, {below_all, 0}}};
  for (std::string item : core::split(list, ';')) {
    if (item.find(':') == std::string::npos) item = "0:" + item;
    std::array<double, 3> read{};
    std::size_t count = 0;
    for (const std::string& number : core::split(item, ':')) {
      double value = 0;
      if (!core::parse_double(number, value) || !(value >= 0))
        throw core::DomainError("`" + item + "` of \"" + list + "\"", number, "numbers from 0: bound:value[:value]");
      if (count < read.size()) read[count++] = value;
    }
    values[read[0]] = {read[1], read[2]};
  }
  return values;
}

core::SegmentedLaw read_overheads(const std::string& list) {
  std::vector<Segment> segments;
  for (const auto& [bound, values] : read_list(list, 0))
    segments.push_back({bound > 0 ? bound + 1 : 0, values[0], values[1]});
  return core::SegmentedLaw::make(std::move(segments));
}

}  // namespace

ScopeModel scope_of(const XmlCosts& costs, double link_bytes_per_s, double latency_s, double window_bytes) {
  ScopeModel scope;
  scope.cost(MessageCost::send) = read_overheads(costs.os);
  scope.cost(MessageCost::isend) = read_overheads(costs.ois);
  scope.cost(MessageCost::recv) = read_overheads(costs.overhead_recv);
  const auto rates = read_list(costs.bw_factor, 1), latencies = read_list(costs.lat_factor, 1);
  std::map<double, Segment> segments;  // SimGrid sees messages with their envelope
  for (const auto* list : {&rates, &latencies})
    for (const auto& [bound, values] : *list) {
      const double message_s = latency_s * std::prev(latencies.upper_bound(bound))->second[0];
      double rate = link_bytes_per_s * std::prev(rates.upper_bound(bound))->second[0];
      if (window_bytes > 0 && message_s > 0) rate = std::min(rate, window_bytes / (2 * message_s));
      if (!(rate > 0)) throw core::DomainError("bandwidth factor", 0, "more than 0");
      const double begin = bound < core::smpi_envelope_bytes ? 0 : bound + 1 - core::smpi_envelope_bytes;
      segments[begin] = {begin, message_s + core::smpi_envelope_bytes / rate, 1 / rate};
    }
  std::vector<Segment> all;
  for (const auto& [begin, segment] : segments) all.push_back(segment);
  scope.bandwidth_bytes_per_s = 1 / all.back().slope_s_per_byte;
  scope.cost(MessageCost::transfer) = core::SegmentedLaw::make(std::move(all));
  scope.latency_s = latency_s > 0 ? latency_s : 1e-9;  // something that factors refer to
  return scope;
}

namespace {

/// Bandwidth factor of a segment of the transfer, relative to the scope's link.
struct XmlFactor {
  double min_bytes = 0;
  double factor = 1;
  bool only_short_messages = false;  ///< of less than 1 KiB, which fill no link
};

std::vector<XmlFactor> bandwidth_factors(const core::ScopeModel& scope) {
  std::vector<XmlFactor> factors;
  const std::vector<Segment>& segments = scope.cost(MessageCost::transfer).segments();
  constexpr double short_message_bytes = 1024;
  for (std::size_t i = 0; i < segments.size(); ++i)
    factors.push_back({segments[i].min_bytes,
                       representative_flow(scope, i).bandwidth_bytes_per_s / scope.link_bytes_per_s(),
                       i + 1 < segments.size() && segments[i + 1].min_bytes <= short_message_bytes});
  return factors;
}

/// The time in s that a message takes alone on the link of a scope with the factors of this or another scope.
double xml_transfer_s(const core::ScopeModel& link, const core::ScopeModel& factors, double size_bytes) {
  const std::vector<Segment>& segments = factors.cost(MessageCost::transfer).segments();
  std::size_t index = segments.size() - 1;
  while (index > 0 && segments[index].min_bytes > size_bytes) --index;
  const core::MessageFlow flow = representative_flow(factors, index);
  const double latency_factor = flow.latency_s / factors.latency_s;
  const double bandwidth_factor = flow.bandwidth_bytes_per_s / factors.link_bytes_per_s();
  return link.latency_s * latency_factor +
         (size_bytes + core::smpi_envelope_bytes) / (link.link_bytes_per_s() * bandwidth_factor);
}

/// Sizes at which two laws may differ most: the ends of all their segments up to what was measured.
std::vector<double> sizes_of(const ScopeModel& a, const ScopeModel& b, MessageCost cost) {
  std::vector<double> sizes;
  const double longest = std::max({a.max_bytes, b.max_bytes, 1.0});
  for (const ScopeModel* scope : {&a, &b}) {
    for (const Segment& segment : scope->cost(cost).segments()) {
      sizes.push_back(std::max(1.0, segment.min_bytes));
      sizes.push_back(std::max(1.0, segment.min_bytes - 1));
    }
    if (scope->max_bytes == 0) sizes.push_back(2 * sizes.back());
  }
  sizes.push_back(longest);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// " (5.1 us in place of 3.2 us at 4096 bytes)", where both differ most in relation to the larger one.
std::string worst(const std::vector<double>& sizes, const std::function<double(double)>& exported_s,
                  const std::function<double(double)>& model_s) {
  double largest = -1, worst_bytes = 0;
  for (const double size : sizes) {
    const double exported = exported_s(size), model = model_s(size);
    const double difference = std::abs(exported - model) / std::max({exported, model, 1e-12});
    if (difference <= largest) continue;
    largest = difference;
    worst_bytes = size;
  }
  return " (at " + shortest(worst_bytes) + (worst_bytes == 1 ? " byte " : " bytes ") +
         time_text(exported_s(worst_bytes)) + " in place of " + time_text(model_s(worst_bytes)) + ")";
}

/// Standard deviation of messages that take `mean_s` in the mean.
double sd_s(const Segment& segment, double mean_s) {
  if (!segment.log_modes.empty()) return mean_s * core::relative_sd(segment.log_modes);
  if (segment.modes.empty()) return segment.sd_s;
  const double mean = segment.mean_intercept_s();
  double second = 0;
  for (const core::MixtureMode& mode : segment.modes)
    second += mode.probability * (mode.mean * mode.mean + mode.sd * mode.sd);
  return std::sqrt(std::max(0.0, second - mean * mean));
}

/// A message that is faster alone than its link carries.
std::vector<std::string> faster_than_link(const ScopeModel& scope, core::Scope which) {
  std::vector<std::string> losses;
  if (!core::link_limit(scope, which).is_shared) return losses;
  constexpr double rounding = 1e-6;
  for (const XmlFactor& one : bandwidth_factors(scope)) {
    if (one.factor <= 1 + rounding || one.only_short_messages) continue;
    losses.push_back(std::string(core::to_string(which)) + " transfer from " + shortest(one.min_bytes) +
                     " bytes: a single message is faster than its link (bandwidth factor " +
                     printed("%.3g", one.factor) +
                     "); platform.xml lets it, the platform library keeps it to the link");
  }
  return losses;
}

std::vector<double> ends_of(const ScopeModel& scope, MessageCost cost, std::size_t index) {
  const std::vector<Segment>& segments = scope.cost(cost).segments();
  const double begin = std::max(1.0, segments[index].min_bytes);
  return {begin,
          index + 1 < segments.size() ? segments[index + 1].min_bytes - 1 : std::max(scope.max_bytes, 2 * begin)};
}

std::vector<std::string> segment_losses(const ScopeModel& scope, MessageCost cost, const std::string& name) {
  std::vector<std::string> losses;
  const std::vector<Segment>& segments = scope.cost(cost).segments();
  const auto model_s = [&](double size) { return scope.cost(cost).mean_s(size); };
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const std::string where = name + " " + core::message_cost_names[static_cast<std::size_t>(cost)] + " from " +
                              shortest(segment.min_bytes) + " bytes: ";
    if (segment.min_bytes + core::smpi_envelope_bytes > bound_limit) {
      losses.push_back(where + "SimGrid's bounds end at 2^31, the segment below goes on instead");
      continue;
    }
    if (segment.has_noise()) {
      const double size = std::max(1.0, segment.min_bytes), mean = model_s(size), sd = sd_s(segment, mean);
      losses.push_back(where + "noise is left out, every message takes its expected time (standard deviation " +
                       time_text(sd) + (mean > 0 ? ", " + printed("%.2g", 100 * sd / mean) + " %" : std::string()) +
                       " of a message of " + shortest(size) + (size == 1 ? " byte)" : " bytes)"));
    }
    if (cost == MessageCost::transfer && !is_carried(segment))
      losses.push_back(
          where +
          "a line that starts below zero or falls becomes one through zero, right in the middle of the segment" +
          worst(
              ends_of(scope, cost, i), [&](double size) { return xml_transfer_s(scope, scope, size); }, model_s));
  }
  return losses;
}

}  // namespace

std::vector<std::string> xml_cost_losses(const ScopeModel& scope, core::Scope which) {
  const std::string name = core::to_string(which);
  std::vector<std::string> losses = faster_than_link(scope, which);
  if (scope.half_duplex)
    losses.push_back(name +
                     " half_duplex: messages in both directions overlap (two that meet take half of their time)");
  if (scope.first_use_s_per_byte > 0)
    losses.push_back(name + " first_use_s_per_byte: memory that is new to messages costs nothing");
  if (scope.exchange_cost_s(1) > 0)
    losses.push_back(name + " exchange_s: exchanges take no longer than messages in both directions at once");
  for (std::size_t i = 0; i < core::message_cost_count; ++i)
    for (std::string& loss : segment_losses(scope, static_cast<MessageCost>(i), name))
      losses.push_back(std::move(loss));
  return losses;
}

std::vector<std::string> xml_scope_losses(const ScopeModel& local, const ScopeModel& remote) {
  std::vector<std::string> losses;
  const XmlCosts remote_costs = xml_costs(remote), local_costs = xml_costs(local);
  const auto add = [&](const char* what, MessageCost cost, const std::function<double(double)>& exported_s) {
    losses.push_back(
        std::string("local ") + what + ": platform.xml has one list for all messages, that of remote ones is used" +
        worst(sizes_of(local, remote, cost), exported_s, [&](double size) { return local.cost(cost).mean_s(size); }));
  };
  const auto add_call = [&](const char* what, MessageCost cost, const std::string XmlCosts::*list) {
    if (remote_costs.*list != local_costs.*list)
      add(what, cost, [&](double size) { return remote.cost(cost).mean_s(size); });
  };
  add_call("send", MessageCost::send, &XmlCosts::os);
  add_call("isend", MessageCost::isend, &XmlCosts::ois);
  add_call("recv", MessageCost::recv, &XmlCosts::overhead_recv);
  const bool bandwidths = remote_costs.bw_factor != local_costs.bw_factor;
  const bool latencies = remote_costs.lat_factor != local_costs.lat_factor;
  if (bandwidths || latencies)
    add(bandwidths && latencies ? "bandwidth and latency factors"
        : bandwidths            ? "bandwidth factors"
                                : "latency factors",
        MessageCost::transfer, [&](double size) { return xml_transfer_s(local, remote, size); });
  return losses;
}

namespace {

/// A factor nearer to 1 is within what is known of a bandwidth.
constexpr double no_loss = 0.98;

std::optional<SharingLoss> loss_of(const core::ScopeModel& scope, core::Scope which, int matters_from_ranks) {
  const std::vector<XmlFactor> factors = bandwidth_factors(scope);
  SharingLoss loss;
  loss.scope = which;
  loss.matters_from_ranks = matters_from_ranks;
  for (const XmlFactor& one : factors) {
    if (scope.max_bytes > 0 && one.min_bytes > scope.max_bytes) break;
    loss.longest_factor = one.factor;
    if (one.only_short_messages || one.factor >= loss.least_factor) continue;
    loss.least_factor = one.factor;
    loss.least_from_bytes = one.min_bytes;
  }
  if (loss.least_factor >= no_loss) return std::nullopt;
  return loss;
}

}  // namespace

std::vector<SharingLoss> sharing_losses(const core::ClusterModel& cluster) {
  const core::NetworkModel::Values& network = cluster.network.values();
  const int cores = cluster.hosts.most_cores();
  const bool hosts_share = core::has_shared_links(network.topology) || core::backbone_of(network.topology) != nullptr;
  const int remote_from = hosts_share ? 1 : 2;
  std::vector<SharingLoss> losses;
  const auto add = [&](const std::optional<SharingLoss>& loss) {
    if (loss && cores >= loss->matters_from_ranks) losses.push_back(*loss);
  };
  if (network.remote && cluster.hosts.count() > 1) add(loss_of(*network.remote, core::Scope::remote, remote_from));
  if (network.local.capacity) add(loss_of(network.local, core::Scope::local, 2));
  return losses;
}

std::string to_string(const SharingLoss& loss) {
  const std::string factors =
      printed("f is %.2g at least (messages from %s bytes on), %.2g for the longest", loss.least_factor,
              core::shortest(loss.least_from_bytes).c_str(), loss.longest_factor);
  return std::string(core::to_string(loss.scope)) +
         " messages that share a link: a flow of bandwidth factor f takes 1/f of it for each byte, so that all "
         "have a total of f of its bandwidth; " +
         factors + "; matters from " + std::to_string(loss.matters_from_ranks) +
         (loss.matters_from_ranks == 1 ? " rank" : " ranks") + " per host on";
}

}  // namespace hplcast::platforms
