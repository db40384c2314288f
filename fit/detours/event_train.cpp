#include "fit/detours/source_search.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

constexpr int fold_bins = 400;
/// Parts of a period, in bins, from coarse to fine. The coarsest bears an error of the first period of a quarter of it
/// over the whole time.
constexpr int widths[] = {100, 40, 12, 4};
constexpr double least_occupancy = 0.6;
constexpr double least_log_chance = -25;  ///< 1e-11: many periods and parts of them are tried

double fraction_of(double value) {
  return value - std::floor(value);
}

/// ln of the probability of at least `inside` of `events` in a given share of the period, at most (Chernoff's bound).
double log_tail(double inside, double events, double share) {
  const double seen = inside / events;
  if (seen <= share) return 0;
  const double rest = seen < 1 ? (1 - seen) * std::log((1 - seen) / (1 - share)) : 0;
  return -events * (seen * std::log(seen / share) + rest);
}

/// The best events within half a width of center + k period: one for each k.
void match(const TrainInput& input, double period_s, double half_s, CoreTrain& core) {
  core.events.clear();
  double best_cost = 0;
  for (std::size_t i = 0; i < input.times_s.size(); ++i) {
    const double time = input.times_s[i];
    const auto number = static_cast<long>(std::floor((time - core.center_s) / period_s + 0.5));
    const double expected_s = core.center_s + static_cast<double>(number) * period_s;
    const bool hidden =
        !input.durations_s.empty() && time < expected_s - half_s && time + input.durations_s[i] > expected_s;
    const double away = hidden ? 1 : std::abs(time - expected_s) / half_s;
    if (away > 1) continue;
    const double unlike = input.unlikeness.empty() ? 0 : input.unlikeness[i];
    // Times are uniform within some part of the width: half of it stands for a standard deviation.
    const double cost = 4 * away * away + unlike * unlike;
    const bool again = !core.events.empty() && core.events.back().number == number;
    if (again && cost >= best_cost) continue;
    if (again) core.events.pop_back();
    core.events.push_back({number, i, hidden ? expected_s : time});
    best_cost = cost;
  }
}

/// Where most events are, of a circle of bins: the first bin of `width` ones.
int fullest_part(const std::vector<int>& counts, int width) {
  int sum = 0;
  for (int bin = 0; bin < width; ++bin) sum += counts[static_cast<std::size_t>(bin)];
  int best = 0, most = sum;
  for (int first = 1; first < fold_bins; ++first) {
    sum +=
        counts[static_cast<std::size_t>((first + width - 1) % fold_bins)] - counts[static_cast<std::size_t>(first - 1)];
    if (sum > most) most = sum, best = first;
  }
  return best;
}

/// How long a core was watched in a part of each period, around a center [s].
double watched_in_part(const std::vector<core::DetourWindow>& windows, double period_s, double center_s,
                       double half_s) {
  // From the first part's beginning to an instant.
  const auto before = [&](double time_s) {
    const double turns = (time_s - center_s + half_s) / period_s;
    return 2 * half_s * std::floor(turns) + std::min(2 * half_s, fraction_of(turns) * period_s);
  };
  double sum_s = 0;
  for (const core::DetourWindow& window : windows) sum_s += before(window.end_s) - before(window.start_s);
  return sum_s;
}

/// Finds the part, moves the center to the median of its events, and judges.
CoreTrain fold(const TrainInput& input, double period_s, int width) {
  CoreTrain core;
  if (input.times_s.empty()) return core;
  std::vector<int> counts(fold_bins, 0);
  for (const double time : input.times_s)
    ++counts[std::min<std::size_t>(fold_bins - 1, static_cast<std::size_t>(fraction_of(time / period_s) * fold_bins))];
  const int first = fullest_part(counts, width);
  core.center_s = fraction_of((first + width / 2.0) / fold_bins) * period_s;
  const double share = static_cast<double>(width) / fold_bins, half_s = share / 2 * period_s;
  match(input, period_s, half_s, core);
  double inside = 0;
  for (const double time : input.times_s) {
    const double turn = fraction_of((time - core.center_s) / period_s + 0.5) - 0.5;
    inside += std::abs(turn) * period_s <= half_s ? 1 : 0;
  }
  const auto events = static_cast<double>(input.times_s.size());
  // Where cores are watched in turns, these may have the period of a train: each part as long as it was watched.
  const double part_s = watched_in_part(input.windows, period_s, core.center_s, half_s);
  const double periods = part_s / (2 * half_s), rest_s = input.watched_s - part_s;
  core.log_chance = std::log(events) + log_tail(inside, events, part_s / input.watched_s);
  const double expected = (events - inside) / rest_s * 2 * half_s;  // of others in the part of a period
  const double chance = -std::expm1(-expected), seen = static_cast<double>(core.events.size()) / periods;
  core.occupancy = !(expected <= 0.7) ? 0 : (seen - chance) / (1 - chance);  // denser: nothing can be told
  return core;
}

double residual(const EventTrain& train, const CoreTrain& core, const TrainEvent& e) {
  return e.start_s - core.center_s - static_cast<double>(e.number) * train.period_s;
}

/// The common slope of times on numbers, and every core's center.
void regress(EventTrain& train) {
  double products = 0, squares = 0;
  long events = 0, lines = 0;
  for (const CoreTrain& core : train.cores) {
    if (core.events.size() < 2) continue;
    double mean_number = 0, mean_time = 0;
    for (const TrainEvent& e : core.events) mean_number += static_cast<double>(e.number), mean_time += e.start_s;
    mean_number /= static_cast<double>(core.events.size());
    mean_time /= static_cast<double>(core.events.size());
    for (const TrainEvent& e : core.events) {
      const double number = static_cast<double>(e.number) - mean_number;
      products += number * (e.start_s - mean_time);
      squares += number * number;
    }
    events += static_cast<long>(core.events.size());
    ++lines;
  }
  if (squares <= 0) return;
  train.period_s = products / squares;
  double residuals = 0;
  for (CoreTrain& core : train.cores) {
    double center = 0;
    for (const TrainEvent& e : core.events) center += e.start_s - static_cast<double>(e.number) * train.period_s;
    if (!core.events.empty()) core.center_s = center / static_cast<double>(core.events.size());
    for (const TrainEvent& e : core.events) {
      const double away = residual(train, core, e);
      residuals += away * away;
    }
    // Numbers count from the first expected time that is not negative.
    const auto shift = static_cast<long>(std::floor(core.center_s / train.period_s));
    core.center_s -= static_cast<double>(shift) * train.period_s;
    for (TrainEvent& e : core.events) e.number += shift;
  }
  const double freedom = static_cast<double>(std::max(1L, events - lines - 1));
  train.period_error_s = std::sqrt(residuals / freedom / squares);
}

void center_on_medians(EventTrain& train) {
  for (CoreTrain& core : train.cores) {
    auto residuals = core::mapped(core.events, [&](const TrainEvent& e) { return residual(train, core, e); });
    if (!residuals.empty()) core.center_s += core::upper_median(std::move(residuals));
  }
}

/// Median absolute residual of the events of all cores.
double median_deviation(const EventTrain& train) {
  std::vector<double> deviations;
  for (const CoreTrain& core : train.cores)
    for (const TrainEvent& e : core.events) deviations.push_back(std::abs(residual(train, core, e)));
  return deviations.empty() ? 0 : core::upper_median(std::move(deviations));
}

void drop_beyond(EventTrain& train) {
  for (CoreTrain& core : train.cores) {
    const auto far = [&](const TrainEvent& e) { return std::abs(residual(train, core, e)) > train.half_width_s; };
    core.events.erase(std::remove_if(core.events.begin(), core.events.end(), far), core.events.end());
  }
}

/// Whether enough cores have it, and more than chance would give.
bool is_train(const EventTrain& train, const std::vector<TrainInput>& inputs, double own_instants) {
  std::size_t cores = 0;
  double chance = 0, watched_s = 0;
  for (const CoreTrain& core : train.cores) {
    if (core.occupancy < least_occupancy) continue;
    ++cores;
    chance += core.log_chance;
  }
  for (const TrainInput& input : inputs) watched_s = std::max(watched_s, input.watched_s);
  return 2 * cores >= train.cores.size() && own_instants * chance < least_log_chance &&
         watched_s >= static_cast<double>(least_periods) * train.period_s;
}

EventTrain fold_all(const std::vector<TrainInput>& inputs, double period_s, int width) {
  EventTrain train;
  train.period_s = period_s;
  train.half_width_s = width * period_s / (2.0 * fold_bins);
  for (const TrainInput& input : inputs) train.cores.push_back(fold(input, period_s, width));
  for (CoreTrain& core : train.cores)
    if (core.occupancy < least_occupancy) core.events.clear();
  return train;
}

}  // namespace

long EventTrain::matched() const {
  long sum = 0;
  for (const CoreTrain& core : cores) sum += static_cast<long>(core.events.size());
  return sum;
}

EventTrain find_train(const std::vector<TrainInput>& cores, double about_period_s, double own_instants) {
  EventTrain best;
  double period_s = about_period_s, best_occupancy = 0;
  for (const int width : widths) {
    EventTrain train = fold_all(cores, period_s, width);
    if (!is_train(train, cores, own_instants)) {
      // A dense background hides it in a wide part; a narrow one may be right already.
      if (best.cores.empty()) continue;
      break;
    }
    double occupancy = 0;
    for (const CoreTrain& core : train.cores) occupancy += std::max(0.0, core.occupancy);
    if (occupancy < 0.93 * best_occupancy) break;
    best_occupancy = std::max(best_occupancy, occupancy);
    regress(train);
    period_s = train.period_s;
    best = std::move(train);
  }
  return best;
}

EventTrain match_train(const EventTrain& train, const std::vector<TrainInput>& cores) {
  EventTrain matched = train;
  // Wider than the part in which most events are, then narrower: jitter's ends are found, strangers are not kept.
  matched.half_width_s = std::min(4 * train.half_width_s, train.period_s / 4);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t core = 0; core < cores.size(); ++core) {
      matched.cores[core].events.clear();
      if (train.cores[core].occupancy >= least_occupancy)
        match(cores[core], matched.period_s, matched.half_width_s, matched.cores[core]);
    }
    center_on_medians(matched);
    matched.half_width_s = std::min(matched.half_width_s, 3.5 * median_deviation(matched) + 2e-6);
    drop_beyond(matched);
    regress(matched);
  }
  return matched;
}

}  // namespace hplcast::fit
