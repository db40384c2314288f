#include "study/activity/rank_activity.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <string_view>
#include <type_traits>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

HostClock::HostClock(const std::vector<ClockComparison>& comparisons) {
  if (comparisons.empty()) return;
  const ClockComparison& first = comparisons.front();
  const ClockComparison& last = comparisons.back();
  time_s_ = first.time_s;
  offset_s_ = first.offset_s;
  for (const ClockComparison& one : comparisons) error_s_ = std::max(error_s_, one.error_s);
  const double between_s = last.time_s - first.time_s;
  if (!(between_s > 0)) return;
  drift_ = (last.offset_s - first.offset_s) / between_s;
  constexpr double most_drift = 500e-6;  // of adjtimex(2), which NTP corrects clocks with
  jumped_ = std::abs(drift_) > most_drift + (first.error_s + last.error_s) / between_s;
}

namespace {

#define HPLCAST_MONOMIAL_OF_SUM(m, n, k) core::Monomial{m, n, k},
constexpr std::array<core::Monomial, HPLCAST_SHAPE_SUM_COUNT> monomials = {HPLCAST_SHAPE_SUMS(HPLCAST_MONOMIAL_OF_SUM)};
#undef HPLCAST_MONOMIAL_OF_SUM

}  // namespace

int size_class_of(const core::KernelShape& shape) noexcept {
  const double product = shape.m * shape.n * shape.k;
  if (!(product >= 1)) return 0;
  return std::min(std::ilogb(product) / 2, HPLCAST_SHAPE_CLASS_COUNT - 1);
}

void add(KernelCalls& to, const KernelCalls& calls) noexcept {
  to.calls += calls.calls;
  to.time_s += calls.time_s;
  for (std::size_t i = 0; i < to.sums.size(); ++i) to.sums[i] += calls.sums[i];
}

void add(KernelCalls& to, const core::KernelShape& shape, double time_s) noexcept {
  ++to.calls;
  to.time_s += time_s;
  for (std::size_t i = 0; i < to.sums.size(); ++i) to.sums[i] += monomials[i](shape);
}

core::KernelShape mean_shape(const KernelCalls& calls) noexcept {
  if (calls.calls == 0) return {};
  const double count = static_cast<double>(calls.calls);
  return {calls.sums[0] / count, calls.sums[1] / count, calls.sums[2] / count};
}

double sum_of(const KernelCalls& calls, const core::Monomial& monomial) noexcept {
  if (monomial == core::Monomial{}) return static_cast<double>(calls.calls);
  const auto found = std::find(monomials.begin(), monomials.end(), monomial);
  if (found != monomials.end()) return calls.sums[static_cast<std::size_t>(found - monomials.begin())];
  return static_cast<double>(calls.calls) * monomial(mean_shape(calls));
}

double expected_s(const KernelCalls& calls, const core::PiecewiseLaw& law) noexcept {
  if (calls.calls == 0) return 0;
  const core::Polynomial& mu = law.at(mean_shape(calls)).mu();
  double sum_s = 0;
  for (std::size_t i = 0; i < mu.terms().size(); ++i) sum_s += mu.coefficients()[i] * sum_of(calls, mu.terms()[i]);
  return std::max(0.0, sum_s);
}

namespace {

constexpr std::string_view first_line = "hplcast-activity,2";

/// The fields of one line, in the order in which they stand.
class Fields {
 public:
  Fields(const std::string& file, std::size_t line, std::string_view text) : file_(file), line_(line), rest_(text) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw core::ParseError({file_, line_, ""}, message,
                           "such files are written by the xhpl-instrumented of this hplcast");
  }
  std::string_view text() {
    if (over_) fail("a field is missing");
    const std::size_t comma = rest_.find(',');
    const std::string_view field = rest_.substr(0, comma);
    over_ = comma == std::string_view::npos;
    rest_ = over_ ? std::string_view() : rest_.substr(comma + 1);
    return field;
  }
  /// The next ones: texts, numbers, whole numbers.
  template <typename... Values>
  void read(Values&... values) {
    (read_one(values), ...);
  }
  /// The place of a name in a list of names.
  template <typename Names>
  std::uint8_t name(const Names& names, const char* what) {
    const std::string_view field = text();
    const auto found = std::find(names.begin(), names.end(), field);
    if (found == names.end()) fail("found `" + std::string(field) + "`; expected the name of " + what);
    return static_cast<std::uint8_t>(found - names.begin());
  }
  void require_duration(double time_s) const {
    constexpr double most_s = 1e9, error_s = 1e-3;  // what is inside is taken off, by clocks with errors
    if (time_s < -error_s || time_s > most_s)
      fail("found " + core::shortest(time_s) + "; expected a duration in seconds");
  }
  std::uint8_t phase() { return name(core::phase_names, "a phase"); }
  std::uint8_t kernel() { return name(core::kernel_names, "a kernel"); }
  std::uint8_t operation() { return name(core::mpi_names, "an MPI operation"); }
  void end() const {
    if (!over_) fail("more fields than expected: `" + std::string(rest_) + "`");
  }

 private:
  template <typename Value>
  void read_one(Value& value) {
    const std::string_view field = text();
    if constexpr (std::is_same_v<Value, std::string>) {
      value = field;
    } else if constexpr (std::is_same_v<Value, double>) {
      constexpr double most = 1e60;  // sums of products of sizes
      if (!core::parse_double(field, value) || std::abs(value) > most)
        fail("found `" + std::string(field) + "`; expected a number");
    } else {
      if (!core::parse_integer(field, value)) fail("found `" + std::string(field) + "`; expected a whole number");
    }
  }
  void read_one(CallSum& sum) {
    read(sum.calls, sum.time_s, sum.amount);
    require_duration(sum.time_s);
  }

  const std::string& file_;
  std::size_t line_;
  std::string_view rest_;
  bool over_ = false;
};

KernelCalls kernel_calls_from(Fields& fields) {
  KernelCalls calls;
  calls.kernel = static_cast<core::KernelId>(fields.kernel());
  fields.read(calls.size_class);
  if (calls.size_class < 0 || calls.size_class >= HPLCAST_SHAPE_CLASS_COUNT)
    fields.fail("found class " + std::to_string(calls.size_class) + "; expected 0 to " +
                std::to_string(HPLCAST_SHAPE_CLASS_COUNT - 1));
  fields.read(calls.calls, calls.time_s);
  fields.require_duration(calls.time_s);
  for (double& sum : calls.sums) fields.read(sum);
  return calls;
}

KernelSample kernel_sample_from(Fields& fields) {
  const auto kernel = static_cast<core::KernelId>(fields.kernel());
  double time_s = 0;
  int m = 0, n = 0, k = 0;
  fields.read(time_s, m, n, k);
  return {kernel, time_s, {static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)}};
}

ActivityEvent event_from(Fields& fields, char kind) {
  ActivityEvent event;
  fields.read(event.begin_s, event.end_s, event.panel);
  if (event.end_s < event.begin_s) fields.fail("an event that ends before it begins");
  if (kind == 'P') {
    event.name = fields.phase();
  } else if (kind == 'K') {
    event.kind = ActivityEvent::Kind::kernel;
    event.name = fields.kernel();
    fields.read(event.m, event.n, event.k);
  } else {
    event.kind = ActivityEvent::Kind::message;
    event.name = fields.operation();
    event.phase = fields.phase();
    fields.read(event.peer, event.tag, event.bytes);
    event.sends = fields.text() == "out";
    fields.read(event.number);
  }
  return event;
}

/// A line that is no event, by its kind.
void read_line(RankActivity& rank, std::string_view kind, Fields& fields) {
  if (kind == "run") {
    fields.read(rank.run);
  } else if (kind == "rank") {
    fields.read(rank.rank, rank.ranks);
  } else if (kind == "host") {
    fields.read(rank.host, rank.first_rank_of_host);
  } else if (kind == "cpu") {
    fields.read(rank.cpu, rank.core);
  } else if (kind == "timed") {
    fields.read(rank.runs, rank.begin_s, rank.end_s);
    fields.require_duration(rank.end_s - rank.begin_s);
  } else if (kind == "hpl") {
    fields.read(rank.n, rank.nb, rank.p, rank.q);
  } else if (kind == "clock") {
    ClockComparison& one = rank.clocks.emplace_back();
    fields.read(one.rank, one.time_s, one.offset_s, one.error_s);
  } else if (kind == "overhead") {
    fields.read(rank.overhead_s);
  } else if (kind == "phase") {
    double& elapsed_s = rank.phases[fields.phase()].elapsed_s;
    fields.read(elapsed_s);
    fields.require_duration(elapsed_s);
  } else if (kind == "kernel") {
    PhaseSums& phase = rank.phases[fields.phase()];
    fields.read(phase.kernels[fields.kernel()]);
  } else if (kind == "calls") {
    rank.kernel_calls.push_back(kernel_calls_from(fields));
  } else if (kind == "sample") {
    rank.kernel_samples.push_back(kernel_sample_from(fields));
  } else if (kind == "mpi" || kind == "empty") {
    PhaseSums& phase = rank.phases[fields.phase()];
    CallSum& sum = phase.messages[fields.operation()];
    fields.read(kind == "mpi" ? sum : phase.empty_probes);
  } else {
    fields.fail("found `" + std::string(kind) + "`; expected a kind of line of version 2");
  }
}

}  // namespace

RankActivity read_rank_activity(std::istream& in, const std::string& name) {
  RankActivity rank;
  std::uint64_t expected_events = 0;
  std::size_t number = 0;
  bool over = false;
  for (std::string line; core::read_line(in, line, name);) {
    Fields fields(name, ++number, line);
    if (number == 1 && line != first_line)
      fields.fail("found `" + line.substr(0, 40) + "`; expected `" + std::string(first_line) + "`");
    if (over) fields.fail("more lines after `end`");
    const std::string_view kind = fields.text();
    if (number == 1) continue;
    if (kind == "P" || kind == "K" || kind == "M") {
      rank.events.push_back(event_from(fields, kind.front()));
    } else if (kind == "events") {
      fields.read(expected_events, rank.stride, rank.lost_events);
    } else if (kind == "end") {
      over = true;
    } else {
      read_line(rank, kind, fields);
    }
    fields.end();
  }
  double kernels_s = 0;
  for (const PhaseSums& phase : rank.phases)
    for (const CallSum& sum : phase.kernels) kernels_s += sum.time_s;
  constexpr double error_s = 1e-3;
  if (kernels_s > 2 * (rank.end_s - rank.begin_s) + error_s)
    throw core::ParseError({name, number, ""}, "kernels took " + core::shortest(kernels_s) + " s in a run of " +
                                                   core::shortest(rank.end_s - rank.begin_s) + " s");
  if (!over || rank.events.size() != expected_events)
    throw core::ParseError(
        {name, number, ""},
        "the file ends early; expected " + std::to_string(expected_events) + " events and the line `end`",
        "the run was cut off, or the disk is full: repeat it");
  return rank;
}

}  // namespace hplcast::study
