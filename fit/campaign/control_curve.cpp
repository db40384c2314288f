#include "fit/campaign/campaign_steps.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"

namespace hplcast::fit {

namespace {

/// Beyond it the change between controls says too little of the calls between them (docs/models/control.md).
constexpr double slowest_that_counts = 1.1;

/// Share of the variance of ln(control) that is the machine and not the control's own scatter.
double share_of_drift(const std::vector<double>& logs, double own_variance) {
  if (logs.size() < 3) return 0;
  const double variance = std::pow(summarize(logs).sd, 2);
  return variance > own_variance ? 1 - own_variance / variance : 0;
}

/// Half the mean square of successive differences is the variance without what lasts (von Neumann, Kent, Bellinson,
/// Hart 1941). Where nothing lasts it is the variance but for (n - 2) / (n^2 - 1) of its square: so much may be hidden.
void tell_what_lasts(const std::vector<double>& logs, core::Control& control) {
  const auto n = static_cast<double>(logs.size());
  double squares = 0;
  for (std::size_t i = 1; i < logs.size(); ++i) squares += std::pow(logs[i] - logs[i - 1], 2);
  const double variance = std::pow(summarize(logs).sd, 2), moves = std::min(variance, squares / (2 * (n - 1)));
  const double hidden = variance * (n > 2 ? std::sqrt((n - 2) / (n * n - 1)) : 1);
  control.controls = static_cast<long>(logs.size());
  control.scatter = std::sqrt(moves);
  control.lasting = std::sqrt(std::min(variance, variance - moves + hidden));
}

}  // namespace

ControlCurve::ControlCurve(const std::string& csv, const std::string& name) {
  if (csv.empty()) return;
  controls_ = core::read_controls(core::TextStream(csv), name);
  std::map<std::pair<std::string, int>, std::vector<double>> walls;  // by host and rank
  for (const core::ControlRows& rows : controls_) {
    times_s_.push_back(rows.front().start_s);
    walls_s_.push_back(core::summarized({rows}).wall_s);
    for (const core::ControlRow& row : rows) walls[{row.host, row.rank}].push_back(row.wall_s);
  }
  std::map<std::string, double> own_variances;
  for (const core::ControlRows& rows : controls_) {
    std::map<std::string, std::vector<double>> ratios, variances;
    for (const core::ControlRow& row : rows) {
      ratios[row.host].push_back(row.wall_s / core::median(walls.at({row.host, row.rank})));
      variances[row.host].push_back(std::pow(row.sd_s / row.wall_s, 2) / static_cast<double>(row.calls));
    }
    for (const auto& [host, list] : ratios) {
      Host& curve = hosts_[host];
      curve.ratios.push_back(core::median(list));
      curve.slowest.push_back(*std::max_element(list.begin(), list.end()));
      const auto ranks = static_cast<double>(list.size());
      for (const double variance : variances[host])
        own_variances[host] += variance / (ranks * ranks) / static_cast<double>(controls_.size());
    }
  }
  for (auto& [host, curve] : hosts_) {
    if (curve.ratios.size() != controls_.size())
      throw core::ParseError({name, 0, "host"},
                             host + " is in some of the controls only; expected the same hosts in all");
    const auto logs = core::mapped(curve.ratios, [](double ratio) { return std::log(ratio); });
    curve.coefficient = share_of_drift(logs, own_variances[host]);
    std::vector<double> of_pieces;
    for (std::size_t piece = 0; piece < pieces(); ++piece) of_pieces.push_back(slowest(curve, piece));
    if (!of_pieces.empty()) curve.usual = core::median(of_pieces);
  }
}

std::size_t ControlCurve::piece_at(double start_s) const {
  const auto after = std::upper_bound(times_s_.begin(), times_s_.end(), start_s);
  const auto before = std::max<std::ptrdiff_t>(after - times_s_.begin() - 1, 0);
  return std::min(static_cast<std::size_t>(before), pieces() - 1);
}

const ControlCurve::Host* ControlCurve::host(const std::string& name) const {
  const auto found = hosts_.find(name);
  return is_empty() || found == hosts_.end() ? nullptr : &found->second;
}

bool ControlCurve::is_disturbed(const Host& host, std::size_t piece) const {
  return slowest(host, piece) > slowest_that_counts * host.usual;
}

bool ControlCurve::is_disturbed(const std::string& name, double start_s) const {
  const Host* curve = host(name);
  return curve != nullptr && is_disturbed(*curve, piece_at(start_s));
}

double ControlCurve::at(double start_s, const std::vector<double>& values) const {
  const std::size_t piece = piece_at(start_s);
  const double length_s = times_s_[piece + 1] - times_s_[piece];
  const double share = length_s > 0 ? std::clamp((start_s - times_s_[piece]) / length_s, 0.0, 1.0) : 0;
  return values[piece] + share * (values[piece + 1] - values[piece]);
}

double ControlCurve::slowdown(const std::string& name, double start_s) const {
  const Host* curve = host(name);
  if (curve == nullptr) return 1;
  const double ratio = at(start_s, curve->ratios);
  return std::pow(std::clamp(ratio, 1 / slowest_that_counts, slowest_that_counts), curve->coefficient);
}

void ControlCurve::count(const std::string& name, double start_s, double duration_s) {
  if (host(name) == nullptr) return;
  counted_s_ += duration_s;
  log_wall_s_ += duration_s * std::log(at(start_s, walls_s_) / slowdown(name, start_s));
}

const std::set<std::string>& ControlCurve::keep_mostly_disturbed(const std::string& csv, const std::string& name) {
  std::set<std::string>& result = kept_[name];
  if (is_empty()) return result;
  core::CsvReader rows(core::TextStream(csv), name);
  const std::size_t host = rows.column("host"), start = rows.column("start_s"), kernel = rows.find_column("kernel");
  std::map<std::string, std::ptrdiff_t> excess;  // of disturbed rows over the others
  while (rows.next()) {
    const bool disturbed = rows.has(start) && is_disturbed(std::string(rows.text(host)), rows.number(start));
    excess[std::string(rows.text_or_none(kernel))] += disturbed ? 1 : -1;
  }
  for (const auto& [of, more] : excess)
    if (more > 0) result.insert(of);
  return result;
}

bool ControlCurve::sets_aside(const std::string& name, const std::string& kernel, const std::string& host,
                              double start_s) const {
  const std::set<std::string>& kept = kept_.at(name);  // "": of a file without names of kernels
  return is_disturbed(host, start_s) && kept.count(kernel) == 0 && kept.count("") == 0;
}

ControlCurve::Counted ControlCurve::counted() const {
  Counted result;
  std::vector<core::ControlRows> undisturbed;
  std::vector<double> logs;
  std::set<std::size_t> counting;
  for (std::size_t piece = 0; piece < pieces(); ++piece) {
    const bool disturbed =
        std::any_of(hosts_.begin(), hosts_.end(), [&](const auto& entry) { return is_disturbed(entry.second, piece); });
    result.set_aside += disturbed ? 1 : 0;
    if (!disturbed) counting.insert({piece, piece + 1});
  }
  for (const std::size_t one : counting) {
    undisturbed.push_back(controls_[one]);
    logs.push_back(std::log(walls_s_[one]));
  }
  result.control = core::summarized(undisturbed.empty() ? controls_ : undisturbed);
  if (!logs.empty()) tell_what_lasts(logs, result.control);
  if (counted_s_ > 0) {
    core::Control& control = result.control;
    const double median_s = control.wall_s;
    control.wall_s = std::clamp(std::exp(log_wall_s_ / counted_s_), control.low_s, control.high_s);
    control.cpu_s *= control.wall_s / median_s;
  }
  for (const auto& [name, curve] : hosts_) result.coefficient += curve.coefficient / static_cast<double>(hosts_.size());
  return result;
}

std::string ControlCurve::provenance_json() const {
  const auto [control, set_aside, coefficient] = counted();
  const nlohmann::ordered_json json = {
      {"shape", control.shape},       {"wall_s", control.wall_s},   {"low", control.low_s},
      {"high", control.high_s},       {"cpu_s", control.cpu_s},     {"message_s", control.round_trip_s},
      {"controls", control.controls}, {"scatter", control.scatter}, {"lasting", control.lasting},
      {"pieces", pieces()},           {"set_aside", set_aside},     {"coefficient", coefficient}};
  return core::json_text(json);
}

std::string ControlCurve::note() const {
  const auto [control, set_aside, coefficient] = counted();
  std::string text = core::printed(
      "control: dgemm %s takes %.3g ms (%.3g to %.3g) in %zu pieces; kernels are corrected by %.2f of its change",
      control.shape.c_str(), 1e3 * control.wall_s, 1e3 * control.low_s, 1e3 * control.high_s, pieces(), coefficient);
  if (set_aside > 0) text += core::printed("; in %zu pieces it is above 1.1 times the median", set_aside);
  return text;
}

}  // namespace hplcast::fit
