#include <algorithm>
#include <cmath>
#include <istream>
#include <set>

#include "core/base/json_fields.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

using detail::Node;

/// Sizes are whole bytes: "strictly above min_size" is "from min_size + 1 on". The first segment has all sizes.
double first_byte(double min_size) {
  return min_size > 0 ? min_size + 1 : 0;
}

/// os, ois or or.
SegmentedLaw overheads_from(const Node& list) {
  return list.made([&] {
    std::vector<Segment> segments;
    for (const Node& one : list.elements())
      segments.push_back({first_byte(one.at("min_size").number()), one.at("intercept_s").number(),
                          one.at("slope_s_per_byte").number()});
    return SegmentedLaw::make(std::move(segments));
  });
}

/// Factors by min_size.
std::map<double, double> factors_from(const Node& list) {
  std::map<double, double> factors;
  for (const Node& one : list.elements()) {
    const double factor = one.at("factor").number();
    if (!(factor >= 0) || !std::isfinite(factor)) one.at("factor").fail("expected a number >= 0");
    if (!factors.emplace(one.at("min_size").number(), factor).second) one.at("min_size").fail("there twice");
  }
  if (factors.empty() || factors.begin()->first != 0) list.fail("expected a first segment with min_size 0");
  return factors;
}

double factor_at(const std::map<double, double>& factors, double min_size) {
  return std::prev(factors.upper_bound(min_size))->second;
}

struct Link {
  double bandwidth_bytes_per_s;
  double latency_s;
};

/// Time in the network: latency times its factor, then the bytes at bandwidth times its factor.
SegmentedLaw transfer_from(const Node& bandwidth_list, const Node& latency_list, const Link& link) {
  const std::map<double, double> bandwidth = factors_from(bandwidth_list);
  const std::map<double, double> latency = factors_from(latency_list);
  std::set<double> starts;
  for (const auto& [min_size, factor] : bandwidth) {
    if (factor == 0) bandwidth_list.fail("a factor of 0 lets no message through");
    starts.insert(min_size);
  }
  for (const auto& [min_size, factor] : latency) starts.insert(min_size);
  std::vector<Segment> segments;
  for (const double start : starts)
    segments.push_back({first_byte(start), link.latency_s * factor_at(latency, start),
                        1 / (link.bandwidth_bytes_per_s * factor_at(bandwidth, start))});
  return bandwidth_list.made([&] { return SegmentedLaw::make(std::move(segments)); });
}

ScopeModel scope_from(const Node& calibration, const Link& link, const char* bandwidth_factor,
                      const char* latency_factor) {
  ScopeModel scope;
  scope.bandwidth_bytes_per_s = link.bandwidth_bytes_per_s;
  // A link without latency has all its factors times zero; ours needs some latency that the factors refer to.
  constexpr double any_latency_s = 1e-9;
  scope.latency_s = link.latency_s > 0 ? link.latency_s : any_latency_s;
  scope.cost(MessageCost::send) = overheads_from(calibration.at("os"));
  scope.cost(MessageCost::isend) = overheads_from(calibration.at("ois"));
  scope.cost(MessageCost::recv) = overheads_from(calibration.at("or"));
  scope.cost(MessageCost::transfer) =
      transfer_from(calibration.at(bandwidth_factor), calibration.at(latency_factor), link);
  return scope;
}

NetworkModel network_from(const Node& entry) {
  const Node calibration = entry.at("calibration");
  const Node platform = entry.at("platform");
  return entry.made([&] {
    NetworkModel::Values values{};
    const Link remote{platform.at("link_bandwidth_Bps").number(), platform.at("route_latency_s").number()};
    values.remote = scope_from(calibration, remote, "bw_factor", "lat_factor");
    values.remote->capacity = LinkCapacity{remote.bandwidth_bytes_per_s, 0, 0, LinkCapacity::Origin::published};
    // Without a loopback SimGrid sends messages of a host to itself through the links of its route.
    const bool loopback = platform.has("loopback_bandwidth_Bps");
    const Link local =
        loopback ? Link{platform.at("loopback_bandwidth_Bps").number(), platform.at("loopback_latency_s").number()}
                 : remote;
    const bool own = calibration.has("loopback_bw_factor");
    values.local = scope_from(calibration, local, own ? "loopback_bw_factor" : "bw_factor",
                              own ? "loopback_lat_factor" : "lat_factor");
    values.async_small_bytes = calibration.at("async_small_thresh").integer<std::uint64_t>();
    values.detached_bytes = calibration.at("send_is_detached_thresh").integer<std::uint64_t>();
    values.iprobe_s = calibration.number_or("iprobe_s", 0);
    values.growing_probes = true;  // the published simulations left it at SimGrid's default
    values.test_s = calibration.number_or("test_s", 0);
    values.wtime_s = calibration.number_or("wtime_s", 0);
    return NetworkModel::make(std::move(values));
  });
}

std::vector<MixtureMode> modes_from(const Node& list) {
  std::vector<MixtureMode> modes;
  double sum = 0;
  for (const Node& one : list.elements()) {
    modes.push_back({one.at("probability").number(), one.at("mean_s").number(), one.at("sd_s").number()});
    if (!(modes.back().probability >= 0)) one.at("probability").fail("expected a number >= 0");
    sum += modes.back().probability;
  }
  constexpr double printed_digits = 1e-5;  // probabilities are printed with seven
  if (!(std::abs(sum - 1) <= printed_digits)) list.fail("probabilities add up to " + std::to_string(sum) + ", not 1");
  for (MixtureMode& mode : modes) mode.probability /= sum;
  return modes;
}

/// The mixtures of one operation, then what `old` says above them.
SegmentedLaw mixture_over(const SegmentedLaw& old, const Node& list) {
  return list.made([&] {
    std::vector<Segment> segments;
    double end = 0;
    for (const Node& one : list.elements()) {
      end = one.number_or("max_size", HUGE_VAL);
      segments.push_back({one.at("min_size").number(), 0, one.at("slope_s_per_byte").number(), 0,
                          modes_from(one.at("intercept_modes"))});
    }
    if (std::isfinite(end)) {
      Segment rest = old.at(end + 1);
      rest.min_bytes = end;
      segments.push_back(rest);
      for (const Segment& segment : old.segments())
        if (segment.min_bytes > end + 1) segments.push_back(segment);
    }
    return SegmentedLaw::make(std::move(segments));
  });
}

/// The latency of long messages between hosts: a field transfer_latency_at_and_above_BYTES_bytes with modes.
SegmentedLaw long_transfers(const SegmentedLaw& old, const Node& root) {
  const std::string begin = "transfer_latency_at_and_above_";
  for (const auto& [key, value] : root.object().items()) {
    double limit = 0;
    const std::size_t end = key.rfind("_bytes");
    if (key.compare(0, begin.size(), begin) != 0 || end == std::string::npos || end < begin.size() ||
        !parse_double(key.substr(begin.size(), end - begin.size()), limit)) {
      continue;
    }
    const std::vector<MixtureMode> modes = modes_from(root.at(key.c_str()));
    std::vector<Segment> segments = old.segments();
    auto first = std::find_if(segments.begin(), segments.end(), [&](const Segment& s) { return s.min_bytes >= limit; });
    if (first == segments.end() || first->min_bytes > first_byte(limit)) {  // it is inside of a segment
      first = segments.insert(first, old.at(limit));
      first->min_bytes = limit;
    }
    for (; first != segments.end(); ++first) first->modes = modes;
    return SegmentedLaw::make(std::move(segments));
  }
  return old;
}

}  // namespace

NetworkModel read_network_table(std::istream& in, const std::string& name, const std::string& network_id) {
  const detail::Json json = detail::parse_json(in, name);
  const Node root(json, name);
  std::vector<std::string> ids;
  for (const Node& one : root.elements()) {
    ids.push_back(one.at("id").text());
    if (ids.back() == network_id) return network_from(one);
  }
  root.fail("no network `" + network_id + "`; expected one of " + comma_separated(ids));
}

NetworkModel with_mixtures(const NetworkModel& network, std::istream& in, const std::string& name) {
  const detail::Json json = detail::parse_json(in, name);
  const Node root(json, name);
  const Node operations = root.at("operations");
  NetworkModel::Values values = network.values();
  const auto replace = [&](ScopeModel& scope) {
    for (const auto& [which, key] :
         {std::pair(MessageCost::send, "os"), {MessageCost::isend, "ois"}, {MessageCost::recv, "or"}})
      if (operations.has(key)) scope.cost(which) = mixture_over(scope.cost(which), operations.at(key));
  };
  replace(values.local);
  if (values.remote) {
    replace(*values.remote);
    SegmentedLaw& transfer = values.remote->cost(MessageCost::transfer);
    transfer = long_transfers(transfer, root);
  }
  return NetworkModel::make(std::move(values));
}

}  // namespace hplcast::core
