#include "platforms/xml/xml_costs.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/network_model.hpp"

namespace hplcast::platforms {

namespace {

using core::MessageCost;
using core::Segment;
using core::shortest;

/// SimGrid reads bounds with stoi().
constexpr double bound_limit = 2147483648.0;

/// SimGrid starts a segment strictly above its bound, ours starts at min_bytes; sizes are whole bytes.
double xml_bound(const Segment& segment, double envelope_bytes) {
  return segment.min_bytes == 0 ? 0 : std::ceil(segment.min_bytes) + envelope_bytes - 1;
}

double mean_intercept_s(const Segment& segment) {
  if (segment.modes.empty()) return segment.intercept_s;
  double mean = 0;
  for (const core::MixtureMode& mode : segment.modes) mean += mode.probability * mode.mean;
  return mean;
}

/// Duration of a message of no bytes but its envelope, so that slope * wire bytes + this is the whole transfer.
double intercept_on_wire_s(const Segment& segment) {
  return mean_intercept_s(segment) - core::smpi_envelope_bytes * segment.slope_s_per_byte;
}

std::string join(const std::string& list, const std::string& item) {
  return list.empty() ? item : list + ";" + item;
}

std::string overhead(const core::SegmentedLaw& law) {
  std::string list;
  for (const Segment& segment : law.segments()) {
    const double bound = xml_bound(segment, 0);
    if (bound >= bound_limit) break;
    list = join(list,
                shortest(bound) + ":" + shortest(mean_intercept_s(segment)) + ":" + shortest(segment.slope_s_per_byte));
  }
  return list;
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

bool is_carried(const Segment& segment) {
  return segment.slope_s_per_byte >= 0 && intercept_on_wire_s(segment) >= 0;
}

bool has_xml_bound(const Segment& segment) {
  return segment.min_bytes + core::smpi_envelope_bytes <= bound_limit;
}

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

std::vector<XmlFactor> bandwidth_factors(const core::ScopeModel& scope) {
  std::vector<XmlFactor> factors;
  const std::vector<Segment>& segments = scope.cost(MessageCost::transfer).segments();
  constexpr double short_message_bytes = 1024;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    factors.push_back({segments[i].min_bytes,
                       representative_flow(scope, i).bandwidth_bytes_per_s / scope.link_bytes_per_s(),
                       i + 1 < segments.size() && segments[i + 1].min_bytes <= short_message_bytes});
  }
  return factors;
}

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

}  // namespace hplcast::platforms
