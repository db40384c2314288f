#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "fit/network/network_steps.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/fit/network_fit.hpp"

namespace hplcast::fit {

namespace {

using detail::MpiSamples, detail::ScopeSamples, detail::Thresholds, detail::UnmatchedCount;

// SMPI compares sizes with the thresholds as ints.
constexpr double greatest_threshold = 2147483647;

/// A threshold between two sizes: last < threshold <= first.
struct Bracket {
  double last = 0;
  double first = 0;
  double middle() const { return std::ceil(std::sqrt(std::max(1.0, last) * first)); }
};

/// The place that the fewest sends contradict: below they did not wait, from there on they did. `first` is infinite if
/// none did.
Bracket waiting_sizes(const std::map<double, UnmatchedCount>& unmatched) {
  long wrong = 0;  // with the threshold at the smallest size: all sends that did not wait
  for (const auto& entry : unmatched) wrong += entry.second.sends - entry.second.waited;
  long least = wrong;
  Bracket bracket{0, unmatched.begin()->first};
  for (auto it = unmatched.begin(); it != unmatched.end(); ++it) {
    wrong += 2 * it->second.waited - it->second.sends;
    if (wrong >= least) continue;
    least = wrong;
    const auto next = std::next(it);
    bracket = {it->first, next == unmatched.end() ? std::numeric_limits<double>::infinity() : next->first};
  }
  return bracket;
}

/// Where round trips change their law inside the bracket, the threshold is there, too.
Bracket narrowed(Bracket bracket, const std::vector<SizeCell>& round_trips, const NetworkFitOptions& options) {
  if (round_trips.size() < 2) return bracket;
  SegmentedOptions regression = options.regression;
  regression.breakpoints.reset();
  for (double b : fit_segmented(round_trips, regression).breakpoints()) {
    const auto after = std::lower_bound(round_trips.begin(), round_trips.end(), b,
                                        [](const SizeCell& cell, double size) { return cell.size < size; });
    const Bracket both{std::max(bracket.last, std::prev(after)->size), std::min(bracket.first, after->size)};
    if (both.last < both.first) return both;
  }
  return bracket;
}

double measured_threshold(const MpiSamples& samples, const NetworkFitOptions& options,
                          std::vector<std::string>& notes) {
  const ScopeSamples& scope = samples.remote.unmatched.empty() ? samples.local : samples.remote;
  if (scope.unmatched.empty()) {
    notes.push_back(
        "no rows of operation `send_unmatched` and no threshold given (--async-small, --detached): all messages are "
        "taken as eager, no send waits for its receiver");
    return greatest_threshold;
  }
  const Bracket bracket = waiting_sizes(scope.unmatched);
  if (!(bracket.first <= greatest_threshold)) {
    notes.push_back("no send waited for its receiver: all messages are taken as eager");
    return greatest_threshold;
  }
  if (!samples.remote.unmatched.empty() && !samples.local.unmatched.empty() &&
      waiting_sizes(samples.local.unmatched).first != bracket.first) {
    notes.push_back(
        "sends wait from another size on one host than between two; SMPI knows one threshold: that between two");
  }
  return narrowed(bracket, scope.sized[detail::op_pingpong].by_size.cells(), options).middle();
}

}  // namespace

Thresholds detail::find_thresholds(const MpiSamples& samples, const NetworkFitOptions& options,
                                   std::vector<std::string>& notes) {
  Thresholds thresholds;
  const auto given = options.detached_bytes ? options.detached_bytes : options.async_small_bytes;
  thresholds.detached_bytes = given ? static_cast<double>(*given) : measured_threshold(samples, options, notes);
  thresholds.async_small_bytes =
      options.async_small_bytes ? static_cast<double>(*options.async_small_bytes) : thresholds.detached_bytes;
  return thresholds;
}

void set_thresholds(std::istream& in, const std::string& name, NetworkFitOptions& options) {
  using Json = nlohmann::ordered_json;
  constexpr std::uint64_t beyond = 2147483647;  // SMPI compares sizes as ints
  try {
    const Json json = core::parse_json<Json>(core::read_json_text(in, name));
    const Json* chosen = nullptr;
    for (const Json& one : json.at("thresholds")) {
      if (chosen == nullptr || one.at("scope") == "remote") chosen = &one;
      const auto scope = static_cast<std::size_t>(core::from_name<core::Scope>(one.at("scope").get<std::string>()));
      options.first_use_s_per_byte[scope] = one.value("first_use_s_per_byte", 0.0);
    }
    if (chosen == nullptr) throw core::ParseError({name, 0, "/thresholds"}, "found an empty list");
    const auto size = [&](const char* field) {
      const Json& value = chosen->at(field);
      const double bytes = value.is_number() ? value.get<double>() : -1;
      if (!value.is_null() && !(bytes >= 0 && bytes < 1e18 && bytes == std::floor(bytes)))
        throw core::ParseError({name, 0, std::string("/thresholds/") + field},
                               "found " + value.dump() + "; expected a whole number of bytes, or null");
      return value.is_null() ? beyond : value.get<std::uint64_t>();
    };
    const std::uint64_t unattended = chosen->contains("unattended_bytes") ? size("unattended_bytes") : beyond;
    const std::uint64_t async_small = std::min(size("async_small_bytes"), unattended);
    options.async_small_bytes = async_small;
    options.detached_bytes = std::max(async_small, std::min(size("detached_bytes"), unattended));
    options.late_probes = chosen->value("late_probes", false);
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, error.what(), "expected a file written by hplcast-measure-thresholds");
  }
}

}  // namespace hplcast::fit
