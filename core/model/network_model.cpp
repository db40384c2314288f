#include "hplcast/core/network_model.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

/// Expectation of exp(factor x).
double mean_of_exp(const std::vector<MixtureMode>& log_modes, double factor) noexcept {
  double mean = 0;
  for (const MixtureMode& mode : log_modes) {
    const double sd = factor * mode.sd;
    mean += mode.probability * std::exp(factor * mode.mean + sd * sd / 2);
  }
  return mean;
}

void check_relative_noise(const Segment& segment) {
  if (segment.log_modes.empty()) return;
  if (segment.sd_s > 0 || !segment.modes.empty())
    throw DomainError("log_mixture", "beside sd_s or mixture", "noise of one kind per segment");
  const double mean = mean_of_exp(segment.log_modes, 1);
  if (!(std::abs(mean - 1) <= 1e-6))
    throw DomainError("log_mixture", mean, "modes of log(duration / expected), whose ratio has the expectation 1");
}

}  // namespace

double relative_sd(const std::vector<MixtureMode>& log_modes) noexcept {
  if (log_modes.empty()) return 0;
  const double mean = mean_of_exp(log_modes, 1);
  return std::sqrt(std::max(0.0, mean_of_exp(log_modes, 2) / (mean * mean) - 1));
}

std::vector<MixtureMode> with_spread(std::vector<MixtureMode> log_modes, double spread) {
  if (spread == 0) return {};
  for (MixtureMode& mode : log_modes) {
    mode.mean *= spread;
    mode.sd *= spread;
  }
  const double shift = std::log(mean_of_exp(log_modes, 1));
  for (MixtureMode& mode : log_modes) mode.mean -= shift;
  return log_modes;
}

SegmentedLaw SegmentedLaw::make(std::vector<Segment> segments) {
  if (segments.empty()) throw DomainError("segments", "empty", "at least one segment");
  if (segments.front().min_bytes != 0)
    throw DomainError("min_bytes of the first segment", segments.front().min_bytes, "0");
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    if (!std::isfinite(s.min_bytes) || !std::isfinite(s.intercept_s) || !std::isfinite(s.slope_s_per_byte) ||
        !(s.sd_s >= 0)) {
      throw DomainError("segment at " + std::to_string(s.min_bytes) + " bytes", "not finite",
                        "finite numbers, sd_s >= 0");
    }
    check_relative_noise(s);
    if (i > 0 && !(segments[i - 1].min_bytes < s.min_bytes))
      throw DomainError("min_bytes", s.min_bytes, "ascending starts of the segments");
  }
  SegmentedLaw law;
  law.segments_ = std::move(segments);
  return law;
}

const Segment& SegmentedLaw::at(double size_bytes) const noexcept {
  const auto after = std::upper_bound(segments_.begin() + 1, segments_.end(), size_bytes,
                                      [](double size, const Segment& s) { return size < s.min_bytes; });
  return *std::prev(after);
}

double SegmentedLaw::mean_s(double size_bytes) const noexcept {
  const Segment& s = at(size_bytes);
  double intercept = s.intercept_s;
  if (!s.modes.empty()) {
    intercept = 0;
    for (const MixtureMode& mode : s.modes) intercept += mode.probability * mode.mean;
  }
  return std::max(0.0, intercept + s.slope_s_per_byte * size_bytes);
}

double SegmentedLaw::sample_s(double size_bytes, const Draw& draw) const noexcept {
  const Segment& s = at(size_bytes);
  if (!s.log_modes.empty()) {
    const MixtureMode& mode = pick_mode(s.log_modes, draw.uniform);
    return mean_s(size_bytes) * std::exp(mode.mean + mode.sd * draw.normal);
  }
  double intercept = s.intercept_s;
  if (!s.modes.empty()) {
    const MixtureMode& mode = pick_mode(s.modes, draw.uniform);
    intercept = half_normal(mode.mean, mode.sd, draw.normal);
  } else if (s.sd_s > 0) {
    intercept = half_normal(s.intercept_s, s.sd_s, draw.normal);
  }
  return std::max(0.0, intercept + s.slope_s_per_byte * size_bytes);
}

namespace {

void check_scope(const char* name, const ScopeModel& scope) {
  const auto require = [&](bool fine, const char* field, double value, const char* expected) {
    if (!fine) throw DomainError(std::string(name) + "." + field, value, expected);
  };
  require(scope.bandwidth_bytes_per_s > 0 && std::isfinite(scope.bandwidth_bytes_per_s), "bandwidth_bytes_per_s",
          scope.bandwidth_bytes_per_s, "a positive number");
  require(scope.latency_s > 0 && std::isfinite(scope.latency_s), "latency_s", scope.latency_s, "a positive number");
  require(scope.first_use_s_per_byte >= 0 && std::isfinite(scope.first_use_s_per_byte), "first_use_s_per_byte",
          scope.first_use_s_per_byte, "a number >= 0");
  if (!scope.capacity) return;
  const LinkCapacity& capacity = *scope.capacity;
  require(capacity.bytes_per_s > 0 && std::isfinite(capacity.bytes_per_s), "capacity.bytes_per_s", capacity.bytes_per_s,
          "a positive number");
  const bool no_interval = capacity.low_bytes_per_s == 0 && capacity.high_bytes_per_s == 0;
  require(
      no_interval || (capacity.low_bytes_per_s > 0 && capacity.low_bytes_per_s <= capacity.bytes_per_s &&
                      capacity.bytes_per_s <= capacity.high_bytes_per_s && std::isfinite(capacity.high_bytes_per_s)),
      "capacity.interval_bytes_per_s", capacity.low_bytes_per_s, "[low, high] around capacity.bytes_per_s");
}

}  // namespace

NetworkModel NetworkModel::make(Values values) {
  check_scope("local", values.local);
  if (values.remote) check_scope("remote", *values.remote);
  if (values.detached_bytes < values.async_small_bytes) {
    throw DomainError("detached_bytes", values.detached_bytes,
                      "at least async_small_bytes (" + std::to_string(values.async_small_bytes) + ")");
  }
  for (const double cost : {values.iprobe_s, values.test_s, values.wtime_s}) {
    if (!(cost >= 0) || !std::isfinite(cost)) throw DomainError("iprobe_s, test_s or wtime_s", cost, "a number >= 0");
  }
  (void)topology_from(kind_of(values.topology), parameters_of(values.topology));  // its numbers are checked there
  check_routes(values.topology);
  NetworkModel model;
  model.values_ = std::move(values);
  return model;
}

namespace {

/// SMPI reads thresholds into an int and compares sizes cast to int.
constexpr std::uint64_t max_threshold_bytes = 2147483647;

/// A loop that polls with calls of cost 0 never ends in a simulation.
constexpr double min_poll_s = 1e-7;

std::string threshold(std::uint64_t bytes) {
  return std::to_string(std::min(bytes, max_threshold_bytes));
}

}  // namespace

MessageFlow message_flow(double mean_s, double noise_s, double slope_s_per_byte, double wire_bytes,
                         const LinkLimit& link) noexcept {
  const double fastest = 1e6 * link.bytes_per_s;
  const double limit = link.is_shared ? link.bytes_per_s : fastest;
  const double rate = slope_s_per_byte > 0 ? std::min(1 / slope_s_per_byte, limit) : limit;
  const double duration_s = std::max(mean_s, wire_bytes / limit) + noise_s;
  const double latency = duration_s - wire_bytes / rate;
  if (latency >= 0) return {latency, rate};
  return {0, duration_s > 0 ? std::min(wire_bytes / duration_s, fastest) : fastest};
}

LinkLimit link_limit(const ScopeModel& scope, Scope which) noexcept {
  return {scope.link_bytes_per_s(), which == Scope::remote || scope.capacity.has_value()};
}

double host_link_latency_s(const NetworkModel& network) noexcept {
  const Backbone* backbone = backbone_of(network.values().topology);
  const double backbone_s = backbone == nullptr ? 0 : backbone->latency_s;
  return std::max(0.0, network.scope(Scope::remote).latency_s - backbone_s) / 2;
}

std::vector<std::pair<std::string, std::string>> smpi_settings(const NetworkModel& network) {
  const NetworkModel::Values& values = network.values();
  return {{"smpi/async-small-thresh", threshold(values.async_small_bytes)},
          {"smpi/send-is-detached-thresh", threshold(values.detached_bytes)},
          {"smpi/iprobe", shortest(std::max(values.iprobe_s, min_poll_s))},
          {"smpi/test", shortest(std::max(values.test_s, min_poll_s))},
          {"smpi/wtime", shortest(values.wtime_s)},
          // For platform.xml. A flow gets a share of a link in proportion to 1 / (latency + sum over links of weight-S
          // / bandwidth). With this value the denominator is 1 for the usual route of two links, which is what SimGrid
          // takes for flows without latency, so that all share alike. With 0 it is some 1e-6: flows without latency
          // starve, and the solver loses itself in rounding.
          {"network/weight-S", shortest(network.scope(Scope::remote).link_bytes_per_s() / 2)},
          {"network/crosstraffic", "0"},
          // The window limits a flow to gamma / (2 latency): no such limit was measured.
          {"network/TCP-gamma", "1e+18"}};
}

}  // namespace hplcast::core
