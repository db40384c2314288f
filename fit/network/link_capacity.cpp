#include "hplcast/fit/network_fit.hpp"

#include <algorithm>

#include "fit/network/network_steps.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

using core::rate_text;
using detail::Point;

constexpr double long_share = 1.0 / 16;  ///< of the largest size: shorter messages do not count
constexpr std::size_t least_turns = 5;
constexpr double change_that_matters = 0.03;

using ByPairs = std::map<long, std::vector<Point>>;  // all bytes of a turn, its duration

ByPairs long_ones(const std::vector<SaturatedTurn>& turns) {
  double largest = 0;
  for (const SaturatedTurn& turn : turns) largest = std::max(largest, turn.size_bytes);
  ByPairs groups;
  for (const SaturatedTurn& turn : turns)
    if (turn.size_bytes >= long_share * largest && turn.size_bytes > 0)
      groups[turn.pairs].push_back({static_cast<double>(turn.pairs) * turn.size_bytes, turn.duration_s});
  return groups;
}

RateEstimate total_rate(const std::vector<std::vector<Point>>& groups) {
  const auto slope = detail::theil_sen_slope(groups);
  if (slope && slope->low > 0) return {1 / slope->value, 1 / slope->high, 1 / slope->low};
  std::vector<double> rates;
  for (const auto& group : groups)
    for (const Point& point : group) rates.push_back(point.x / point.y);
  const detail::RobustEstimate median = detail::median_interval(std::move(rates));
  return {median.value, median.low, median.high};
}

bool is_more(const RateEstimate& one, const RateEstimate& other) {
  return one.low_bytes_per_s > other.high_bytes_per_s &&
         one.bytes_per_s > (1 + change_that_matters) * other.bytes_per_s;
}

std::string text(const RateEstimate& rate) {
  return rate_text(rate.bytes_per_s) + " (" + rate_text(rate.low_bytes_per_s) + " to " +
         rate_text(rate.high_bytes_per_s) + ")";
}

/// One point for each number of pairs that has enough turns.
void find_points(const ByPairs& groups, LinkCapacityFit& fit) {
  for (const auto& [pairs, turns] : groups) {
    if (turns.size() < least_turns) {
      fit.notes.push_back(core::counted(pairs, "pair") + " at once: only " + std::to_string(turns.size()) +
                          " rows of long messages, at least " + std::to_string(least_turns) + " are needed; left out");
      continue;
    }
    const RateEstimate total = total_rate({turns});
    fit.points.push_back({pairs, static_cast<long>(turns.size()), total});
    if (pairs == 1) fit.single = total;
  }
}

/// Indices of the points from where the total grows no more to where it falls: [first, end).
std::pair<std::size_t, std::size_t> plateau(const std::vector<SaturationPoint>& points) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (is_more(points[i].total, points[first].total)) first = i;
  std::size_t end = first + 1;
  while (end < points.size() && !is_more(points[first].total, points[end].total)) ++end;
  return {first, end};
}

void flag_plateau(core::Scope scope, std::size_t first, std::size_t end, LinkCapacityFit& fit) {
  const std::string subject = core::to_string(scope);
  const SaturationPoint& last = fit.points.back();
  if (first + 1 == fit.points.size()) {
    const std::string why =
        fit.points.size() == 1 ? "nothing else was measured to compare with" : "that is more than fewer pairs get";
    fit.flags.push_back({subject, "capacity_lower_bound",
                         core::counted(last.pairs, "pair") + " at once, the most measured, get " + text(last.total) +
                             " together, and " + why + ": the link may carry more; measure more pairs"});
  }
  if (end < fit.points.size())
    fit.flags.push_back({subject, "capacity_falls",
                         core::counted(last.pairs, "pair") + " at once get " + text(last.total) +
                             " together, less than the " + text(fit.capacity) + " of " +
                             core::counted(fit.points[first].pairs, "pair") +
                             ", which the model has as capacity: with many ranks predictions may be too fast"});
}

}  // namespace

LinkCapacityFit fit_link_capacity(core::Scope scope, const std::vector<SaturatedTurn>& turns) {
  LinkCapacityFit fit;
  const ByPairs groups = long_ones(turns);
  if (groups.empty()) {
    fit.reason = "no rows of several pairs at once (operation `one_way`)";
    return fit;
  }
  find_points(groups, fit);
  const bool several = groups.rbegin()->first > 1;
  if (fit.points.empty() || (several && fit.points.back().pairs == 1)) {
    fit.status = SaturationStatus::too_few_rows;
    fit.reason = "too few rows of several pairs at once";
    return fit;
  }
  if (!several) {
    fit.status = SaturationStatus::one_pair_only;
    fit.reason = "only one pair of ranks at once was measured";
    return fit;
  }
  const auto [first, end] = plateau(fit.points);
  fit.plateau_from_pairs = fit.points[first].pairs;
  fit.plateau_to_pairs = fit.points[end - 1].pairs;
  std::vector<std::vector<Point>> level;
  for (std::size_t i = first; i < end; ++i) level.push_back(groups.at(fit.points[i].pairs));
  fit.capacity = total_rate(level);
  fit.status = SaturationStatus::ok;
  flag_plateau(scope, first, end, fit);
  fit.notes.push_back("capacity " + text(fit.capacity) + ", from " + core::counted(fit.plateau_from_pairs, "pair") +
                      " to " + core::counted(fit.plateau_to_pairs, "pair") + " at once" +
                      (fit.single ? "; one pair alone gets " + text(*fit.single) : ""));
  return fit;
}

std::array<detail::SaturatedTurns, 2> detail::saturated_turns(const MpiRows& rows) {
  struct Open {
    SaturatedTurn turn;
    long rows = 0;
    bool failed = false;
  };
  std::array<SaturatedTurns, 2> turns;
  std::array<std::map<std::vector<double>, Open>, 2> open;  // by order, pairs, size
  rows([&](const core::MpiMeasurement& row) {
    if (row.operation != "one_way") return;
    const auto scope = static_cast<std::size_t>(core::from_name<core::Scope>(row.scope));
    const auto end = [&](const SaturatedTurn& turn, bool failed) {
      if (!failed) turns[scope].complete.push_back(turn);
      turns[scope].incomplete += failed ? 1 : 0;
    };
    const SaturatedTurn turn{row.pairs, row.size_bytes, row.duration_s};
    if (row.order < 0) return end(turn, !row.error.empty());
    const std::vector<double> key{static_cast<double>(row.order), static_cast<double>(row.pairs), row.size_bytes};
    const auto found = open[scope].try_emplace(key, Open{turn, 0, false}).first;
    Open& one = found->second;
    ++one.rows;
    one.failed = one.failed || !row.error.empty();
    one.turn.duration_s = std::max(one.turn.duration_s, row.duration_s);
    if (one.rows < row.pairs) return;
    end(one.turn, one.failed);
    open[scope].erase(found);  // the same row of another measurement may follow
  });
  for (std::size_t scope = 0; scope < open.size(); ++scope)
    turns[scope].incomplete += static_cast<long>(open[scope].size());
  return turns;
}

}  // namespace hplcast::fit
