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
  require(time_s >= 0 && std::isfinite(time_s), what, time_s, "a finite number of seconds, at least 0");
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
                       require(one.quantiles_s.size() >= 2, "quantiles_s" + of,
                               std::to_string(one.quantiles_s.size()) + " numbers",
                               "two or more: the shortest, ..., the longest");
                       if (!std::is_sorted(one.quantiles_s.begin(), one.quantiles_s.end()))
                         throw DomainError("quantiles_s" + of, "not in order", "numbers that never fall");
                     }},
             duration);
}

void check_times(const std::string& of, const DetourTimes& times, double period_s) {
  std::visit(Visitor{[&](const PeriodicDetours& one) {
                       require_time("jitter_s" + of, one.jitter_s);
                       require(one.jitter_s <= period_s, "jitter_s" + of, one.jitter_s,
                               "at most the period, " + shortest(period_s),
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
  require(duration_s < values.period_s, "mean duration" + of, shortest(duration_s) + " s",
          "shorter than the period, " + shortest(values.period_s) + " s", "else nothing but these detours would run");
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

namespace {

/// Length of a cell of Poisson's detours.
constexpr double periods_per_cell = 8;

/// Draws of a stream that are not those of its detours; no simulation has as many of them.
constexpr std::uint64_t phase_draw = ~0ULL;

std::uint32_t key_of(const DetourSource::Values& source, const DetourPlace& place) {
  switch (source.per) {
    case DetoursPer::core:
      return place.core;
    case DetoursPer::host:
      return place.host;
    case DetoursPer::cluster:
      break;
  }
  return 0;
}

/// Whether each detour has ended before the next begins, at the latest.
bool never_queue(const DetourSource::Values& source) {
  const auto* times = std::get_if<PeriodicDetours>(&source.times);
  const std::optional<double> longest = longest_s(source.duration);
  return times != nullptr && longest && *longest + times->jitter_s < source.period_s;
}

}  // namespace

DetourClock::DetourClock(const std::vector<DetourSource>& sources, const DetourPlace& place, Which which) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const DetourSource::Values& source = sources[i].values();
    if (which == Which::not_in_kernels && source.in_kernels) continue;
    if (!sources[i].hits(place.core_of_host)) continue;
    Stream& stream = streams_.emplace_back();
    stream.source = &source;
    stream.name = {place.seed, stream_detour, key_of(source, place), static_cast<std::uint32_t>(i), 0};
    stream.start(place);
  }
  if (streams_.empty()) return;
  may_skip_ = streams_.size() == 1 && never_queue(*streams_.front().source);
  quiet_until_s_ = first().begin_s;
}

/// To the last detour that has surely begun at time 0.
void DetourClock::Stream::start(const DetourPlace& place) {
  const double period_s = source->period_s;
  if (const auto* times = std::get_if<PeriodicDetours>(&source->times)) {
    const double drawn_s = times->phase_s ? 0 : period_s * uniforms(name, phase_draw)[0];
    phase_s = times->phase_s.value_or(drawn_s) - place.origin_s;
    next = static_cast<std::int64_t>(std::floor(-(phase_s + times->jitter_s) / period_s));
  } else {
    phase_s = -place.origin_s;
    cell = static_cast<std::int64_t>(std::floor(place.origin_s / (periods_per_cell * period_s))) - 1;
  }
  find();
}

/// The two draws of a detour; four come at once.
const double* DetourClock::Stream::pair(std::int64_t number) {
  const auto which = static_cast<std::uint64_t>(number);
  if (which / 2 != drawn) {
    drawn = which / 2;
    draws = uniforms(name, drawn);
  }
  return draws.data() + 2 * (which % 2);
}

void DetourClock::Stream::find() {
  std::visit([this](const auto& times) { find(times); }, source->times);
}

void DetourClock::Stream::find(const PeriodicDetours& times) {
  begin_s = phase_s + static_cast<double>(next) * source->period_s;
  if (const auto* constant = std::get_if<ConstantDuration>(&source->duration)) {
    if (times.jitter_s > 0) begin_s += times.jitter_s * pair(next)[0];
    duration_s = constant->constant_s;
    return;
  }
  const double* const two = pair(next);
  begin_s += times.jitter_s * two[0];
  duration_s = sample_s(source->duration, two[1]);
}

void DetourClock::Stream::find(const PoissonDetours&) {
  const double period_s = source->period_s;
  for (;;) {
    name.detail = static_cast<std::uint64_t>(cell);
    const double* const two = pair(next);
    in_cell_s -= period_s * std::log(two[0]);
    if (in_cell_s < periods_per_cell * period_s) {
      begin_s = phase_s + static_cast<double>(cell) * periods_per_cell * period_s + in_cell_s;
      duration_s = sample_s(source->duration, two[1]);
      return;
    }
    ++cell;
    next = 0;
    in_cell_s = 0;
    drawn = std::numeric_limits<std::uint64_t>::max();
  }
}

DetourClock::Stream& DetourClock::first() {
  return *std::min_element(streams_.begin(), streams_.end(),
                           [](const Stream& a, const Stream& b) { return a.begin_s < b.begin_s; });
}

/// The busy time that begins where the quiet one ends, and the quiet one after it.
void DetourClock::next_busy_time() {
  Stream* stream = &first();
  double busy_until_s = stream->begin_s;
  while (stream->begin_s <= busy_until_s) {
    busy_until_s += stream->duration_s;
    ++stream->next;
    stream->find();
    if (streams_.size() > 1) stream = &first();
  }
  quiet_from_s_ = busy_until_s;
  quiet_until_s_ = stream->begin_s;
}

/// Until the quiet time ends after `time_s`.
void DetourClock::skip_to(double time_s) {
  if (may_skip_) {
    Stream& stream = streams_.front();
    const double periods = (time_s - stream.phase_s) / stream.source->period_s;
    constexpr double some = 4;  // a few are found faster one by one
    if (periods - static_cast<double>(stream.next) > some) {
      stream.next = static_cast<std::int64_t>(std::floor(periods)) - 1;
      stream.find();
      quiet_until_s_ = stream.begin_s;
    }
  }
  while (time_s >= quiet_until_s_) next_busy_time();
}

double DetourClock::after_detours(double begin_s, double work_s) {
  skip_to(begin_s);
  double now_s = std::max(begin_s, quiet_from_s_);
  double left_s = work_s;
  // Work that ends in the instant in which a detour begins ends after it.
  while (left_s >= quiet_until_s_ - now_s) {
    left_s = std::max(0.0, left_s - (quiet_until_s_ - now_s));
    next_busy_time();
    now_s = quiet_from_s_;
  }
  return now_s + left_s;
}

double DetourClock::free_s(double begin_s, double end_s) {
  skip_to(begin_s);
  double now_s = std::max(begin_s, quiet_from_s_);
  double free_s = 0;
  while (end_s >= quiet_until_s_) {
    free_s += quiet_until_s_ - now_s;
    next_busy_time();
    now_s = quiet_from_s_;
  }
  return free_s + std::max(0.0, end_s - now_s);
}

}  // namespace hplcast::core
