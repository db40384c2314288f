#include "hplcast/core/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

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

double Segment::mean_intercept_s() const noexcept {
  if (modes.empty()) return intercept_s;
  double mean_s = 0;
  for (const MixtureMode& mode : modes) mean_s += mode.probability * mode.mean;
  return mean_s;
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
  return std::max(0.0, s.mean_intercept_s() + s.slope_s_per_byte * size_bytes);
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

double SegmentedLaw::least_s(double size_bytes) const noexcept {
  const Segment& s = at(size_bytes);
  double least_s = sample_s(size_bytes, {});  // a half-normal law is least at its peak
  for (const MixtureMode& mode : s.modes)
    least_s = std::min(least_s, std::max(0.0, half_normal(mode.mean, mode.sd, 0) + s.slope_s_per_byte * size_bytes));
  for (const MixtureMode& mode : s.log_modes)
    least_s = std::min(least_s, mean_s(size_bytes) * std::exp(mode.mean - largest_normal * mode.sd));
  return least_s;
}

namespace {

void check_scope(const char* name, const ScopeModel& scope) {
  const auto require = [&](bool fine, const char* field, double value, const char* expected) {
    if (!fine) throw DomainError(std::string(name) + "." + field, value, expected);
  };
  require(scope.bandwidth_bytes_per_s > 0 && std::isfinite(scope.bandwidth_bytes_per_s), "bandwidth_bytes_per_s",
          scope.bandwidth_bytes_per_s, "a positive number");
  require(scope.latency_s > 0 && std::isfinite(scope.latency_s), "latency_s", scope.latency_s, "a positive number");
  for (const auto& [field, value] : {std::pair("first_use_s_per_byte", scope.first_use_s_per_byte),
                                     {"exchange_s", scope.exchange_s},
                                     {"exchange_s_per_byte", scope.exchange_s_per_byte}})
    require(value >= 0 && std::isfinite(value), field, value, "a number >= 0");
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

void check_rails(const Rails& rails) {
  const int cards = static_cast<int>(rails.cards.size()), cpus = static_cast<int>(rails.near.size());
  const auto require = [](bool fine, const std::string& field, double value, const std::string& expected) {
    if (!fine) throw DomainError("rails." + field, value, expected);
  };
  const auto require_place = [&](const char* field, int number, int count) {
    require(number >= 0 && number < count, field, number, "0 to " + std::to_string(count - 1));
  };
  require(cards >= 1, "cards", cards, "at least 1");
  require(cpus >= 1, "near", cpus, "the cards of each CPU");
  require(rails.striped_from_bytes >= 0, "striped_from_bytes", rails.striped_from_bytes, "a number >= 0");
  std::vector<bool> used(rails.cards.size(), false);
  for (const std::vector<int>& own : rails.near) {
    require(!own.empty(), "near", 0, "at least one card of each CPU");
    for (const int card : own) {
      require_place("near", card, cards);
      used[static_cast<std::size_t>(card)] = true;
    }
  }
  for (int card = 0; card < cards; ++card) {
    const Rail& one = rails.cards[static_cast<std::size_t>(card)];
    require(one.link_share > 0 && one.link_share <= 1000, "cards.link_share", one.link_share,
            "a number above 0, at most 1000");
    require(!one.rate_share || (*one.rate_share > 0 && *one.rate_share <= 1000), "cards.rate_share",
            one.rate_share.value_or(0), "a number above 0, at most 1000");
    require(one.extra_latency_s >= 0 && std::isfinite(one.extra_latency_s), "cards.extra_latency_s",
            one.extra_latency_s, "a number >= 0");
    if (!used[static_cast<std::size_t>(card)] && rails.use == Rails::Use::bound)
      throw DomainError("rails.near", "card " + std::to_string(card) + " of no CPU",
                        "each card near a CPU: bound ranks would never use it", "as many cards per CPU, or striped");
  }
  for (auto one = rails.far.begin(); one != rails.far.end(); ++one) {
    require_place("far.cpu", one->cpu, cpus);
    require_place("far.rail", one->rail, cards);
    require(one->extra_latency_s >= 0 && std::isfinite(one->extra_latency_s), "far.extra_latency_s",
            one->extra_latency_s, "a number >= 0");
    require(one->rate_share > 0 && one->rate_share <= 1, "far.rate_share", one->rate_share,
            "a number above 0, at most 1");
    for (auto before = rails.far.begin(); before != one; ++before)
      require(before->cpu != one->cpu || before->rail != one->rail, "far.cpu", one->cpu, "each CPU and rail once");
  }
}

}  // namespace

double Rails::part_of(int card) const {
  double all = 0;
  for (const Rail& one : cards) all += one.link_share;
  return share_of(card) / all;
}

Rails::Way Rails::way(const End& from, const End& to, double size_bytes) const {
  const auto end = [&](int cpu, int card) {
    const Rail& by = cards[static_cast<std::size_t>(card)];
    Way result{by.extra_latency_s, by.rate_share.value_or(by.link_share), by.link_share};
    for (const RailReach& one : far) {
      if (one.cpu != cpu || one.rail != card) continue;
      result.extra_latency_s += one.extra_latency_s;
      result.rate *= one.rate_share;
    }
    return result;
  };
  const auto over = [&](int first, int second) {
    const Way out = end(from.cpu, first), in = end(to.cpu, second);
    return Way{out.extra_latency_s + in.extra_latency_s, std::min(out.rate, in.rate),
               std::min(out.link_share, in.link_share)};
  };
  if (!is_striped(size_bytes)) return over(from.card, to.card);
  Way all{0, std::numeric_limits<double>::infinity(), 0};
  for (int card = 0; card < static_cast<int>(cards.size()); ++card) {
    const Way one = over(card, card);
    all.extra_latency_s = std::max(all.extra_latency_s, one.extra_latency_s);
    all.rate = std::min(all.rate, one.rate / part_of(card));
    all.link_share += one.link_share;
  }
  return all;
}

std::string Rails::text(double link_bytes_per_s) const {
  std::string text = counted(cards.size(), "card");
  if (cards.size() > 1) text += std::string(", ") + to_string(use);
  for (std::size_t cpu = 0; cpu < near.size(); ++cpu) {
    text += (cpu == 0 ? ": CPU " : "; CPU ") + std::to_string(cpu) + " has";
    for (const int card : near[cpu])
      text += (card == near[cpu].front() ? " " : ", ") + std::to_string(card) + " of " +
              rate_text(link_bytes_per_s * share_of(card));
    for (const RailReach& one : far)
      if (one.cpu == static_cast<int>(cpu))
        text +=
            printed(" (far from %d: %.3g us, %.3g of the rate)", one.rail, 1e6 * one.extra_latency_s, one.rate_share);
  }
  return text;
}

Rails equal_rails(int count, int cpus) {
  const int few = std::min(count, cpus), many = std::max(count, cpus);
  if (few < 1 || many % few != 0)
    throw DomainError("rails", count, "as many for each of the " + std::to_string(cpus) + " CPUs of a host",
                      "rails of unequal count are written by hand: docs/formats/cluster-json.md#rails");
  Rails rails;
  rails.cards.resize(static_cast<std::size_t>(count));
  rails.near.resize(static_cast<std::size_t>(cpus));
  for (int i = 0; i < many; ++i) rails.near[static_cast<std::size_t>(i * cpus / many)].push_back(i * count / many);
  return rails;
}

NetworkModel NetworkModel::make(Values values) {
  check_scope("local", values.local);
  if (values.remote) check_scope("remote", *values.remote);
  require(values.detached_bytes >= values.async_small_bytes, "detached_bytes", values.detached_bytes,
          "at least async_small_bytes (" + std::to_string(values.async_small_bytes) + ")");
  for (const double cost : {values.iprobe_s, values.test_s, values.wtime_s})
    if (!(cost >= 0) || !std::isfinite(cost)) throw DomainError("iprobe_s, test_s or wtime_s", cost, "a number >= 0");
  (void)topology_from(kind_of(values.topology), parameters_of(values.topology));  // its numbers are checked there
  check_routes(values.topology);
  if (values.rails) check_rails(*values.rails);
  if (values.rails && !values.remote) throw DomainError("rails", values.rails->cards.size(), "none without `remote`");
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
          // SimGrid's default, yes, lets a failed probe by one rank slow the probes of all others.
          {"smpi/grow-injected-times", values.growing_probes ? "yes" : "no"},
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
