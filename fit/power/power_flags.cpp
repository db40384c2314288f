#include "fit/power/power_regression.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

struct Range {
  double least = 0, most = 0;
  std::size_t n = 0;
  void add(double value) {
    least = n == 0 ? value : std::min(least, value);
    most = n == 0 ? value : std::max(most, value);
    ++n;
  }
  double spread() const { return least > 0 ? most / least - 1 : 0; }
};

/// A limit that holds: power stays while the frequency moves, or is the limit.
void flag_caps(const std::vector<PowerRow>& rows, std::vector<core::QualityFlag>& flags) {
  constexpr double same_power = 0.005, other_frequency = 0.02, at_limit = 0.001;
  constexpr std::size_t enough = 3;
  std::map<std::tuple<std::string, std::string, int>, std::pair<Range, Range>> groups;
  std::map<std::string, std::size_t> limited;
  for (const PowerRow& row : rows) {
    if (row.limit_share > 0 && std::abs(row.limit_share - 1) <= at_limit) ++limited[row.host];
    if (row.active_cores == 0 || !(row.frequency_hz > 0)) continue;
    auto& [power, frequency] = groups[{row.host, row.state, row.active_cores}];
    power.add(row.power_w);
    frequency.add(row.frequency_hz);
  }
  for (const auto& [key, ranges] : groups) {
    const auto& [power, frequency] = ranges;
    if (power.n < enough || power.spread() > same_power || frequency.spread() < other_frequency) continue;
    flags.push_back({std::get<0>(key), "cap_at_work",
                     std::get<1>(key) + " on " + std::to_string(std::get<2>(key)) + " cores: power stays within " +
                         core::printed("%.2g %% of %.4g W while the frequency moves by %.2g %%: a limit sets the power",
                                       100 * power.spread(), power.most, 100 * frequency.spread())});
  }
  for (const auto& [host, count] : limited)
    flags.push_back(
        {host, "cap_at_work",
         std::to_string(count) + " pieces are within 0.1 % of the limit of a sensor: a limit sets the power"});
}

void flag_samples(const PowerRows& rows, const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  constexpr std::size_t enough_samples = 5, spare_rows = 5;
  std::vector<double> samples;
  bool has_pieces = false;
  for (const PowerRow& row : rows.rows) {
    samples.push_back(static_cast<double>(row.samples));
    has_pieces = has_pieces || row.samples > 1;
  }
  const auto middle = static_cast<std::size_t>(core::upper_median(samples));
  if (has_pieces && middle < enough_samples)
    flags.push_back({"samples", "meter_too_slow",
                     "a piece has " + std::to_string(middle) + " used samples; expected at least " +
                         std::to_string(enough_samples) + ": longer pieces, or a faster meter"});
  if (rows.incomplete > 0)
    flags.push_back({"samples", rows.incomplete >= rows.rows.size() ? "meter_too_slow" : "incomplete",
                     std::to_string(rows.incomplete) + " pieces have no used sample of some sensor, and are left out"});
  if (rows.outliers > 0)
    flags.push_back({"samples", "outliers",
                     std::to_string(rows.outliers) + " samples are far from the others of their piece, and left out"});
  if (all.rows < all.terms + spare_rows)
    flags.push_back({"pieces", "too_few_samples",
                     std::to_string(all.rows) + " pieces for " + std::to_string(all.terms) +
                         " coefficients: their errors are hardly known"});
}

void flag_outlying_pieces(const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  if (all.outliers.empty()) return;
  const PowerRow& first = all.outliers.front();
  flags.push_back({first.host, "outliers",
                   std::to_string(all.outliers.size()) +
                       " pieces do not agree with the others, and are left out; first " + first.state + " on " +
                       std::to_string(first.active_cores) + core::printed(" cores: %.4g W", first.power_w)});
}

void flag_model(const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  const RegressionNotes& notes = all.notes;
  if (notes.idle_unknown)
    flags.push_back({"idle", "idle_unknown", "there is no idle piece: awake is in the idle watts"});
  if (notes.awake_unknown)
    flags.push_back({"awake", "awake_unknown",
                     "states were measured with one number of active cores: awake is in the watts of the cores"});
  for (const std::string& state : notes.sleeping)
    flags.push_back({state, "sleeps", "a core in it adds no watts: it sleeps, and its pieces count as idle"});
  for (const std::string& name : notes.degree_lowered)
    flags.push_back(
        {name, "degree_lowered", "a polynomial of the degree asked for would be negative, or has too few frequencies"});
  if (all.states.count(core::default_state) == 0 && all.states.count("dgemm") == 0)
    flags.push_back(
        {"default", "no_default", "dgemm was not measured: other kernels have the watts of the largest one"});
}

void flag_shape(const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  constexpr double clear = 4, noticeable = 0.01, much = 0.05;
  double mean_w = 0;
  for (const PowerRow& row : all.used_rows) mean_w += row.power_w / static_cast<double>(all.rows);
  for (const auto& [state, watts] : all.states) {
    const Curvature curvature = curvature_of(all, state);
    if (std::abs(curvature.t_value) > clear && curvature.size_w > noticeable * mean_w)
      flags.push_back({state, "nonlinear",
                       core::printed("power is not linear in the active cores: it sags by %.3g W (t = %.2g)",
                                     curvature.size_w, curvature.t_value)});
  }
  if (all.rms_w > much * mean_w)
    flags.push_back(
        {"fit", "poor_fit",
         core::printed("residuals of %.3g W, %.2g %% of the mean power", all.rms_w, 100 * all.rms_w / mean_w)});
}

void flag_hosts(const PowerFit& fit, std::vector<core::QualityFlag>& flags) {
  if (fit.hosts.size() < 2) return;
  Range idle;
  for (const HostPowerFit& host : fit.hosts) idle.add(host.idle_w);
  constexpr double much = 0.02;
  if (idle.spread() > much)
    flags.push_back(
        {"hosts", "hosts_differ",
         core::printed("idle, hosts draw %.4g to %.4g W: one model for all has their scatter in its residuals",
                       idle.least, idle.most)});
}

}  // namespace

void add_power_flags(const PowerRows& rows, PowerFit& fit) {
  flag_caps(rows.rows, fit.flags);
  flag_samples(rows, fit.all, fit.flags);
  flag_outlying_pieces(fit.all, fit.flags);
  flag_model(fit.all, fit.flags);
  flag_shape(fit.all, fit.flags);
  flag_hosts(fit, fit.flags);
}

}  // namespace hplcast::fit
