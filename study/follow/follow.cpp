// A run of HPL that goes on: a Bayesian linear model with noise of unknown size (West and Harrison 1997, chapter 4),
// and its departures as alternative models of one step (Harrison and Stevens 1976).
#include "hplcast/study/follow.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hplcast/core/hpl_parameters.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

/// The terms of the time, by the matrix that is left of m columns: update m^2, linear m, constant 1 (per column), tail
/// 1 - m / (N / 4) of the last quarter, where look-ahead does not hide the panels any more.
enum Term : std::size_t { of_update, of_linear, of_constant, of_tail };
constexpr double tail_share = 0.25;

// Known of them before a run (docs/models/follow.md): mean, and a standard deviation as large.
constexpr double linear_blocks = 3;  ///< of NB columns, by which the matrix seems larger, per process column
constexpr double constant_s = 20e-6, tail_s = 50e-6;  ///< per column, and as much more for each doubling of P
constexpr double unknown_of_seconds = 2;              ///< of these two: standard deviation over mean
constexpr double solve_flop_per_byte = 100;  ///< backward substitution: share of the time, times N; error as large
constexpr double known_of_rate = 0.3;        ///< of the time of the first lines, as a prior of the update
constexpr double known_of_prediction = 0.03;
constexpr double shape_of_prediction = 0.5;  ///< how much less its shape may err than one that is not predicted

// The sizes of the noise that are tried: relative.
constexpr std::array<double, 7> walks = {0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064};  ///< of 1 % of the time
constexpr std::array<double, 4> stamps = {1e-5, 1e-4, 3e-4, 1e-3};                          ///< of the time
constexpr std::array<double, 3> drifts = {0.001, 0.003, 0.01};  ///< of the rate, over all the flop
constexpr double walk_share = 0.01;

constexpr std::size_t lines_of_scale = 20;  ///< the scale stays what these say
constexpr std::size_t least_lines = 4;
constexpr double least_step = 0.002;  ///< of N: lines that are closer tell little more

// Departures.
constexpr std::size_t lines_before_change = 6, lines_after_change = 2, lines_back = 16;
constexpr double change_of_rate = 0.2, change_of_time = 0.05;  ///< standard deviations: relative, of the time
constexpr double odds_of_any = 0.1;                            ///< that a run has a departure, before it is seen
constexpr double odds_to_tell = 100;                           ///< afterwards
constexpr double least_departure = 0.01;                       ///< of the rate; of the time: a tenth of that
constexpr double end_of_departures = 0.9;                      ///< of the columns: the rest is a thousandth of the flop

constexpr double interval_tail = 0.05;

double square(double x) {
  return x * x;
}

double flop_share(double column, double N) {
  const double left = std::clamp(1 - column / N, 0.0, 1.0);
  return 1 - left * left * left;
}

double log_sum(const std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double one : logs) sum += std::exp(one - most);
  return most + std::log(sum);
}

double log_mean(const std::vector<double>& logs) {
  return log_sum(logs) - std::log(static_cast<double>(logs.size()));
}

/// A normal distribution with its weight in a mixture.
struct Component {
  double weight, mean, variance;
};

double quantile(const std::vector<Component>& mixture, double probability) {
  double low = mixture.front().mean, high = low;
  for (const Component& one : mixture) {
    low = std::min(low, one.mean - 10 * std::sqrt(one.variance));
    high = std::max(high, one.mean + 10 * std::sqrt(one.variance));
  }
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    double below = 0;
    for (const Component& one : mixture)
      below += one.weight * 0.5 * std::erfc((one.mean - middle) / std::sqrt(2 * one.variance));
    (below < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Share of the flop and of the time at the ends of the pieces of a sampled prediction; empty without one.
std::vector<std::pair<double, double>> curve_of(const core::Prediction& prediction) {
  std::vector<std::pair<double, double>> curve;
  if (!prediction.sampling) return curve;
  std::vector<core::PanelCost> pieces = prediction.sampling->windows;
  pieces.insert(pieces.end(), prediction.sampling->pieces.begin(), prediction.sampling->pieces.end());
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.first_panel < b.first_panel; });
  double time_s = 0, total_s = 0;
  for (const core::PanelCost& piece : pieces) total_s += piece.time_s;
  if (!(total_s > 0)) return curve;
  curve.emplace_back(0, 0);
  for (const core::PanelCost& piece : pieces) {
    time_s += piece.time_s;
    const double column = static_cast<double>(piece.first_panel + piece.panels) * prediction.parameters.NB;
    curve.emplace_back(flop_share(column, static_cast<double>(prediction.parameters.N)), time_s / total_s);
  }
  return curve;
}

/// The relative standard deviation of a run around its prediction.
double sd_of(const core::Prediction& prediction) {
  if (!prediction.interval) return known_of_prediction;
  constexpr double sds = 2 * 1.645;
  return std::log(prediction.interval->high_time_s / prediction.interval->low_time_s) / sds;
}

}  // namespace

std::optional<core::Prediction> prediction_of(const core::HplLog& run, const std::vector<core::Prediction>& all) {
  const auto rank = [&](const core::Prediction& prediction) {
    const core::HplParameters &its = prediction.parameters, &p = run.parameters;
    if (its.N != p.N || (run.has_grid && (its.P != p.P || its.Q != p.Q))) return 0;
    return 1 + 2 * (its.NB == p.NB) + (its.DEPTH == p.DEPTH);
  };
  const auto best =
      std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return best != all.end() && rank(*best) > 0 ? std::optional(*best) : std::nullopt;
}

RunFollower::RunFollower(const core::HplParameters& parameters, const std::optional<core::Prediction>& prediction)
    : parameters_(parameters), prediction_(prediction) {
  if (prediction) curve_ = curve_of(*prediction);
}

/// The share of each term that is done before a column.
RunFollower::Shares RunFollower::shares_before(double column) const {
  const double N = static_cast<double>(parameters_.N);
  const double left = std::clamp(1 - column / N, 0.0, 1.0);
  const double in_tail = std::min(left / tail_share, 1.0);
  Shares shares = {flop_share(column, N), 1 - left * left, 1 - left, square(1 - in_tail)};
  if (curve_.empty()) return shares;
  const auto after =
      std::find_if(curve_.begin(), curve_.end(), [&](const auto& point) { return point.first > shares[of_update]; });
  if (after == curve_.end()) {
    shares[of_update] = 1;
  } else {
    const auto before = after - 1;
    shares[of_update] = before->second + (after->second - before->second) * (shares[of_update] - before->first) /
                                             (after->first - before->first);
  }
  return shares;
}

/// The scale, the lag and the prior, from the first lines.
void RunFollower::set_scale() {
  const double N = static_cast<double>(parameters_.N);
  const std::size_t last = std::min(lines_.size() - 1, lines_of_scale);
  std::vector<double> totals;
  for (std::size_t i = 1; i <= last; ++i)
    totals.push_back((lines_[i].elapsed_s - lines_[i - 1].elapsed_s) /
                     (flop_share(lines_[i].column, N) - flop_share(lines_[i - 1].column, N)));
  std::nth_element(totals.begin(), totals.begin() + static_cast<std::ptrdiff_t>(totals.size() / 2), totals.end());
  const double apparent_s = std::max(totals[totals.size() / 2], lines_.back().elapsed_s);
  // Lines are printed a panel or so before its update ends: the first one tells by how much.
  constexpr double first_columns = 0.05, most_blocks = 3;
  lag_ = 0;
  scale_s_ = apparent_s;
  for (int i = 0; i < 2 && lines_.front().column < first_columns * N; ++i) {
    const double done = N * (1 - std::cbrt(std::max(0.0, 1 - lines_.front().elapsed_s / scale_s_)));
    lag_ = std::clamp(lines_.front().column - done, 0.0, most_blocks * parameters_.NB);
    scale_s_ = apparent_s * (1 - 2 * lag_ / N);
  }
  const double grid = 0.5 * (parameters_.P + parameters_.Q);
  const double relative_linear = 1.5 * linear_blocks * parameters_.NB * grid / N;
  const double doublings = 1 + std::log2(parameters_.P);
  mean_ = {scale_s_ / (1 + relative_linear), relative_linear * scale_s_, constant_s * doublings * N,
           tail_s * doublings * N * tail_share / 2};
  sd_ = {known_of_rate * scale_s_, mean_[of_linear], unknown_of_seconds * mean_[of_constant],
         unknown_of_seconds * mean_[of_tail]};
  if (!prediction_) return;
  const double centre_s = prediction_->interval
                              ? std::sqrt(prediction_->interval->low_time_s * prediction_->interval->high_time_s)
                              : prediction_->time_s;
  for (const std::size_t term : {of_linear, of_constant, of_tail}) {
    if (!curve_.empty()) mean_[term] = 0;
    sd_[term] *= shape_of_prediction;
  }
  mean_[of_update] = centre_s * (1 - solve_flop_per_byte / N) - mean_[of_linear] - mean_[of_constant] - mean_[of_tail];
  sd_[of_update] = centre_s * sd_of(*prediction_);
}

RunFollower::State RunFollower::begin() const {
  State state;
  for (std::size_t i = 0; i < terms; ++i) {
    state.mean[i] = mean_[i];
    state.covariance[i][i] = square(sd_[i]);
  }
  state.mean[terms] = lines_.front().elapsed_s;
  state.covariance[terms][terms] = square(lines_.front().elapsed_error_s);
  return state;
}

/// A departure makes other rates, or another time, possible.
void RunFollower::depart(State& state, bool is_pause) const {
  if (is_pause) {
    state.covariance[terms][terms] += square(change_of_time * scale_s_);
  } else {
    state.covariance[of_update][of_update] += square(change_of_rate * state.mean[of_update]);
  }
}

/// From the line before to `line`.
void RunFollower::step(State& state, std::size_t line, const Noise& noise) const {
  const Shares& share = steps_[line];
  auto& covariance = state.covariance;
  covariance[of_update][of_update] += square(noise.drift * state.mean[of_update]) * share[of_update];
  // The time that has passed grows by the shares of the terms.
  double duration_s = 0, of_shares = 0;
  std::array<double, terms + 1> with_shares = {};
  for (std::size_t i = 0; i < terms; ++i) duration_s += share[i] * state.mean[i];
  for (std::size_t i = 0; i <= terms; ++i)
    for (std::size_t k = 0; k < terms; ++k) with_shares[i] += covariance[i][k] * share[k];
  for (std::size_t k = 0; k < terms; ++k) of_shares += share[k] * with_shares[k];
  covariance[terms][terms] +=
      2 * with_shares[terms] + of_shares + square(noise.walk) * std::abs(duration_s) * walk_share * scale_s_;
  for (std::size_t i = 0; i < terms; ++i) {
    covariance[i][terms] += with_shares[i];
    covariance[terms][i] = covariance[i][terms];
  }
  state.mean[terms] += duration_s;
  // The line tells it, with the error of its stamp.
  const std::array<double, terms + 1> row = covariance[terms];
  const double variance = row[terms] + square(noise.stamp * scale_s_) + square(lines_[line].elapsed_error_s);
  const double error = lines_[line].elapsed_s - state.mean[terms];
  for (std::size_t i = 0; i <= terms; ++i) {
    state.mean[i] += row[i] / variance * error;
    for (std::size_t k = 0; k <= terms; ++k) covariance[i][k] -= row[i] / variance * row[k];
  }
  state.log_likelihood -= 0.5 * (std::log(variance) + error * error / variance);
}

/// The states after all lines.
void RunFollower::filter(const Noise& noise, std::vector<State>& states) const {
  states.assign(1, begin());
  states.front().covariance[terms][terms] += square(noise.stamp * scale_s_);
  for (std::size_t line = 1; line < lines_.size(); ++line) {
    states.push_back(states.back());
    for (const Change& change : changes_)
      if (change.line == line) depart(states.back(), change.is_pause);
    step(states.back(), line, noise);
  }
}

namespace {

template <typename Visit>
void for_each_noise(const Visit& visit) {
  std::size_t index = 0;
  for (const double walk : walks)
    for (const double stamp : stamps)
      for (const double drift : drifts) visit(index++, walk, stamp, drift);
}

}  // namespace

/// A departure at the step to `line`, if it explains the lines since then better by the odds that are asked for; with
/// their logarithm. The last line alone is not enough: a pause in it would be taken for a slow line before it.
std::optional<std::pair<double, Departure>> RunFollower::change_at(std::size_t line, bool is_pause) const {
  const std::size_t end = lines_.size() - 1;
  std::vector<double> unchanged, unchanged_before, changed, changed_before, rates;
  std::vector<std::size_t> indices;
  for_each_noise([&](std::size_t index, double walk, double stamp, double drift) {
    unchanged.push_back(states_[index][end].log_likelihood);
    unchanged_before.push_back(states_[index][end - 1].log_likelihood);
    if (drift != drifts.front()) return;  // beside a departure there is little drift
    State state = states_[index][line - 1];
    depart(state, is_pause);
    for (std::size_t next = line; next < end; ++next) step(state, next, {walk, stamp, drift});
    changed_before.push_back(state.log_likelihood);
    step(state, end, {walk, stamp, drift});
    changed.push_back(state.log_likelihood);
    rates.push_back(states_[index][line - 1].mean[of_update] / state.mean[of_update]);
    indices.push_back(index);
  });
  const double prior = std::log(odds_of_any / (2 * static_cast<double>(end)));
  const double log_odds = prior + log_mean(changed) - log_mean(unchanged);
  if (log_odds < std::log(odds_to_tell) || log_mean(changed_before) < log_mean(unchanged_before)) return std::nullopt;
  const auto likely = static_cast<std::size_t>(std::max_element(changed.begin(), changed.end()) - changed.begin());
  Departure departure = {is_pause, lines_[line - 1].column, lines_[line - 1].elapsed_s, rates[likely] - 1};
  if (is_pause) {
    departure.change = lines_[line].elapsed_s - lines_[line - 1].elapsed_s;
    for (std::size_t i = 0; i < terms; ++i)
      departure.change -= steps_[line][i] * states_[indices[likely]][line - 1].mean[i];
  }
  const double size = is_pause ? departure.change / (0.1 * scale_s_) : std::abs(departure.change);
  if (size < least_departure) return std::nullopt;
  return std::pair(log_odds, departure);
}

/// Looks for the likeliest departure in the last lines; if there is one, the filters must run again.
bool RunFollower::find_change() {
  const std::size_t end = lines_.size() - 1;
  if (lines_.back().column > end_of_departures * static_cast<double>(parameters_.N)) return false;
  std::size_t first = std::max(lines_before_change, end > lines_back ? end - lines_back : 0);
  if (!changes_.empty()) first = std::max(first, changes_.back().line + lines_after_change);
  std::optional<std::pair<double, Departure>> best;
  Change change{};
  for (std::size_t line = first; line + lines_after_change - 1 <= end; ++line) {
    for (const bool is_pause : {false, true}) {
      const auto found = change_at(line, is_pause);
      if (!found || (best && found->first <= best->first)) continue;
      best = found;
      change = {line, is_pause};
    }
  }
  if (!best) return false;
  changes_.push_back(change);
  departures_.push_back(best->second);
  return true;
}

RunOutlook RunFollower::outlook() const {
  const double N = static_cast<double>(parameters_.N);
  std::vector<double> logs;
  for (const auto& path : states_) logs.push_back(path.back().log_likelihood);
  const double all = log_sum(logs);
  Shares left = shares_before(lines_.back().column - lag_);
  for (double& share : left) share = 1 - share;
  std::vector<Component> mixture(states_.size());
  RunOutlook result;
  for_each_noise([&](std::size_t index, double walk, double, double drift) {
    const State& state = states_[index].back();
    double rest_s = 0, variance = state.covariance[terms][terms];
    for (std::size_t i = 0; i < terms; ++i) {
      rest_s += left[i] * state.mean[i];
      variance += 2 * left[i] * state.covariance[i][terms];
      for (std::size_t k = 0; k < terms; ++k) variance += left[i] * left[k] * state.covariance[i][k];
    }
    variance += square(walk) * std::abs(rest_s) * walk_share * scale_s_;
    variance += square(drift * state.mean[of_update]) * left[of_update] * square(left[of_update]) /
                3;  // of a random walk's sum
    const double solve_s = solve_flop_per_byte / N * (state.mean[terms] + rest_s);
    mixture[index] = {std::exp(logs[index] - all), state.mean[terms] + rest_s + solve_s, variance + square(solve_s)};
    result.time_s += mixture[index].weight * mixture[index].mean;
  });
  result.column = lines_.back().column;
  result.elapsed_s = lines_.back().elapsed_s;
  result.time_s = std::max(result.time_s, result.elapsed_s);
  result.low_time_s = std::max(quantile(mixture, interval_tail), result.elapsed_s);
  result.high_time_s = std::max(quantile(mixture, 1 - interval_tail), result.elapsed_s);
  const double gflop = core::hpl_flop(N) / 1e9;
  result.gflops = gflop / result.time_s;
  result.low_gflops = gflop / result.high_time_s;
  result.high_gflops = gflop / result.low_time_s;
  result.departures = departures_;
  if (prediction_) {
    const Shares done = shares_before(result.column - lag_);
    result.behind_prediction = result.elapsed_s / std::inner_product(done.begin(), done.end(), mean_.begin(), 0.0) - 1;
  }
  return result;
}

std::optional<RunOutlook> RunFollower::take(const core::HplProgress& progress) {
  if (!lines_.empty() && (progress.column < lines_.back().column + least_step * static_cast<double>(parameters_.N) ||
                          progress.elapsed_s <= lines_.back().elapsed_s))
    return std::nullopt;
  lines_.push_back(progress);
  if (lines_.size() < least_lines) return std::nullopt;
  if (lines_.size() <= lines_of_scale + 1) set_scale();
  steps_.clear();
  Shares before = {};
  for (const core::HplProgress& line : lines_) {
    const Shares shares = shares_before(line.column - lag_);
    steps_.push_back(shares);
    for (std::size_t i = 0; i < terms; ++i) steps_.back()[i] -= before[i];
    before = shares;
  }
  states_.resize(walks.size() * stamps.size() * drifts.size());
  do {
    for_each_noise([&](std::size_t index, double walk, double stamp, double drift) {
      filter({walk, stamp, drift}, states_[index]);
    });
  } while (find_change());
  return outlook();
}

std::string follow_picture(const core::HplParameters& parameters, const std::vector<RunOutlook>& outlooks,
                           std::optional<double> gflops) {
  const auto share = [&](double column) { return 100 * column / static_cast<double>(parameters.N); };
  double low = gflops.value_or(outlooks.front().gflops), high = low;
  std::vector<PlotPoint> line, band, upper;
  for (const RunOutlook& one : outlooks) {
    const double x = share(one.column);
    line.push_back({x, one.gflops});
    band.push_back({x, one.low_gflops});
    upper.push_back({x, one.high_gflops});
    low = std::min(low, one.low_gflops);
    high = std::max(high, one.high_gflops);
  }
  band.insert(band.end(), upper.rbegin(), upper.rend());
  constexpr double room = 0.05, least_room = 1e-3;
  const double beside = room * (high - low) + least_room * high;
  const PlotAxis y{"Gflop/s of the whole run", low - beside, high + beside};
  Figure plot("follow", "N = " + with_decimals(static_cast<double>(parameters.N), 0) + ": what its lines let expect",
              {"% of the columns", 0, 100}, y);
  plot.area(band, "band");
  plot.line(line, "predicted-line");
  plot.legend = {{"predicted-line", Marker::line, "expected"}, {"band", Marker::square, "interval of 90 %"}};
  if (gflops) {
    plot.line({{0, *gflops}, {100, *gflops}}, "measured-range");
    plot.legend.push_back({"measured-range", Marker::line, "HPL's own result"});
  }
  const std::vector<Departure>& departures = outlooks.back().departures;
  for (const Departure& one : departures) plot.line({{share(one.column), y.min}, {share(one.column), y.max}}, "change");
  if (!departures.empty()) plot.legend.push_back({"change", Marker::line, "departure"});
  return figure_file({plot});
}

}  // namespace hplcast::study
