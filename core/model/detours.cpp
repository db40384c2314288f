#include "hplcast/core/detours.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

namespace {

void require_time(const std::string& what, double time_s) {
  if (!(time_s >= 0) || !std::isfinite(time_s))
    throw DomainError(what, time_s, "a finite number of seconds, at least 0");
}

void check_duration(const std::string& of, const DetourDuration& duration) {
  std::visit(Visitor{[&](const ConstantDuration& one) { require_time("mean_s" + of, one.constant_s); },
                     [&](const ExponentialDuration& one) { require_time("mean_s" + of, one.expected_s); },
                     [&](const UniformDuration& one) {
                       require_time("least_s" + of, one.least_s);
                       require_time("most_s" + of, one.most_s);
                       if (one.most_s < one.least_s)
                         throw DomainError("most_s" + of, one.most_s, "at least least_s, " + shortest(one.least_s));
                     },
                     [&](const QuantileDuration& one) {
                       for (const double quantile_s : one.quantiles_s)
                         require_time("a number of quantiles_s" + of, quantile_s);
                       if (one.quantiles_s.size() < 2)
                         throw DomainError("quantiles_s" + of, std::to_string(one.quantiles_s.size()) + " numbers",
                                           "two or more: the shortest, ..., the longest");
                       if (!std::is_sorted(one.quantiles_s.begin(), one.quantiles_s.end()))
                         throw DomainError("quantiles_s" + of, "not in order", "numbers that never fall");
                     }},
             duration);
}

void check_times(const std::string& of, const DetourTimes& times, double period_s) {
  std::visit(Visitor{[&](const PeriodicDetours& one) {
                       require_time("jitter_s" + of, one.jitter_s);
                       if (one.jitter_s > period_s)
                         throw DomainError("jitter_s" + of, one.jitter_s, "at most the period, " + shortest(period_s),
                                           "detours without a regular time are of the kind poisson");
                       if (one.phase_s) require_time("phase_s" + of, *one.phase_s);
                     },
                     [](const PoissonDetours&) {}},
             times);
}

}  // namespace

double ExponentialDuration::sample_s(double uniform) const {
  return -expected_s * std::log1p(-uniform);
}

double QuantileDuration::mean_s() const {
  // Linear between: each piece has the mean of its ends.
  double sum_s = (quantiles_s.front() + quantiles_s.back()) / 2;
  for (std::size_t i = 1; i + 1 < quantiles_s.size(); ++i) sum_s += quantiles_s[i];
  return sum_s / static_cast<double>(quantiles_s.size() - 1);
}

double QuantileDuration::sample_s(double uniform) const {
  const double place = uniform * static_cast<double>(quantiles_s.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), quantiles_s.size() - 2);
  const double rest = place - static_cast<double>(below);
  return quantiles_s[below] + rest * (quantiles_s[below + 1] - quantiles_s[below]);
}

double mean_s(const DetourDuration& duration) {
  return std::visit([](const auto& one) { return one.mean_s(); }, duration);
}

double sample_s(const DetourDuration& duration, double uniform) {
  return std::visit([uniform](const auto& one) { return one.sample_s(uniform); }, duration);
}

std::optional<double> longest_s(const DetourDuration& duration) {
  using Longest = std::optional<double>;
  return std::visit(Visitor{[](const ConstantDuration& one) -> Longest { return one.constant_s; },
                            [](const ExponentialDuration&) -> Longest { return std::nullopt; },
                            [](const UniformDuration& one) -> Longest { return one.most_s; },
                            [](const QuantileDuration& one) -> Longest { return one.quantiles_s.back(); }},
                    duration);
}

DetourDuration scaled(const DetourDuration& duration, double factor) {
  return std::visit(
      Visitor{[&](const ConstantDuration& one) -> DetourDuration { return ConstantDuration{one.constant_s * factor}; },
              [&](const ExponentialDuration& one) -> DetourDuration {
                return ExponentialDuration{one.expected_s * factor};
              },
              [&](const UniformDuration& one) -> DetourDuration {
                return UniformDuration{one.least_s * factor, one.most_s * factor};
              },
              [&](const QuantileDuration& one) -> DetourDuration {
                QuantileDuration result = one;
                for (double& quantile_s : result.quantiles_s) quantile_s *= factor;
                return result;
              }},
      duration);
}

DetourSource DetourSource::make(Values values) {
  if (values.name.empty()) throw DomainError("name of detours", "\"\"", "a name");
  const std::string of = " of detours " + values.name;
  if (!(values.period_s > 0) || !std::isfinite(values.period_s))
    throw DomainError("period_s" + of, values.period_s, "a finite number of seconds above 0");
  check_duration(of, values.duration);
  check_times(of, values.times, values.period_s);
  const double duration_s = mean_s(values.duration);
  if (!(duration_s < values.period_s))
    throw DomainError("mean duration" + of, shortest(duration_s) + " s",
                      "shorter than the period, " + shortest(values.period_s) + " s",
                      "else nothing but these detours would run");
  for (std::size_t i = 0; i < values.cores.size(); ++i)
    if (values.cores[i] < (i == 0 ? 0 : values.cores[i - 1] + 1))
      throw DomainError("cores" + of, std::to_string(values.cores[i]), "numbers from 0 on, in their order, each once");
  DetourSource source;
  source.values_ = std::move(values);
  return source;
}

bool DetourSource::hits(int core) const {
  return values_.cores.empty() || std::binary_search(values_.cores.begin(), values_.cores.end(), core);
}

double DetourSource::mean_share(int cores_of_host) const {
  if (values_.cores.empty()) return share();
  return share() * static_cast<double>(values_.cores.size()) / cores_of_host;
}

const char* DetourSource::kind() const {
  return std::visit([](const auto& one) { return one.kind; }, values_.times);
}

double most_share(const std::vector<DetourSource>& sources) {
  std::set<int> cores{-1};  // one that no source names
  for (const DetourSource& source : sources) cores.insert(source.values().cores.begin(), source.values().cores.end());
  double most = 0;
  for (const int core : cores) {
    double share = 0;
    for (const DetourSource& source : sources) share += source.hits(core) ? source.share() : 0;
    most = std::max(most, share);
  }
  return most;
}

void check_detours(const std::vector<DetourSource>& sources) {
  std::set<std::string> names;
  for (const DetourSource& source : sources)
    if (!names.insert(source.values().name).second)
      throw DomainError("detours", source.values().name + " twice", "a name of its own for each source");
  if (const double share = most_share(sources); !(share < 1))
    throw DomainError("detours", "sources that take " + shortest(100 * share) + " % of the time of a core together",
                      "less than 100 %");
}

void check_detour_cores(const std::vector<DetourSource>& sources, int cores_of_host) {
  for (const DetourSource& source : sources)
    if (const std::vector<int>& cores = source.values().cores; !cores.empty() && cores.back() >= cores_of_host)
      throw DomainError("cores of detours " + source.values().name, std::to_string(cores.back()),
                        "below " + std::to_string(cores_of_host) + ", the cores of a host");
}

}  // namespace hplcast::core
