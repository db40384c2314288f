#include "study/activity/rank_activity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <string_view>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

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
  double number() {
    const std::string_view field = text();
    double value = 0;
    if (!core::parse_double(field, value)) fail("found `" + std::string(field) + "`; expected a number");
    return value;
  }
  template <typename Integer>
  Integer integer() {
    const std::string_view field = text();
    Integer value = 0;
    const auto read = std::from_chars(field.data(), field.data() + field.size(), value);
    if (read.ec != std::errc() || read.ptr != field.data() + field.size())
      fail("found `" + std::string(field) + "`; expected a whole number");
    return value;
  }
  /// The place of a name in a list of names.
  template <typename Names>
  std::uint8_t name(const Names& names, const char* what) {
    const std::string_view field = text();
    const auto found = std::find(names.begin(), names.end(), field);
    if (found == names.end()) fail("found `" + std::string(field) + "`; expected the name of " + what);
    return static_cast<std::uint8_t>(found - names.begin());
  }
  std::uint8_t phase() { return name(core::phase_names, "a phase"); }
  void end() const {
    if (!over_) fail("more fields than expected: `" + std::string(rest_) + "`");
  }

 private:
  const std::string& file_;
  std::size_t line_;
  std::string_view rest_;
  bool over_ = false;
};

CallSum sum_from(Fields& fields) {
  CallSum sum;
  sum.calls = fields.integer<std::uint64_t>();
  sum.time_s = fields.number();
  sum.amount = fields.number();
  return sum;
}

KernelCalls kernel_calls_from(Fields& fields) {
  KernelCalls calls;
  calls.kernel = static_cast<core::KernelId>(fields.name(core::kernel_names, "a kernel"));
  calls.size_class = fields.integer<int>();
  if (calls.size_class < 0 || calls.size_class >= HPLCAST_SHAPE_CLASS_COUNT)
    fields.fail("found class " + std::to_string(calls.size_class) + "; expected 0 to " +
                std::to_string(HPLCAST_SHAPE_CLASS_COUNT - 1));
  calls.calls = fields.integer<std::uint64_t>();
  calls.time_s = fields.number();
  for (double& sum : calls.sums) sum = fields.number();
  return calls;
}

KernelSample kernel_sample_from(Fields& fields) {
  KernelSample sample;
  sample.kernel = static_cast<core::KernelId>(fields.name(core::kernel_names, "a kernel"));
  sample.time_s = fields.number();
  for (double core::KernelShape::*size : {&core::KernelShape::m, &core::KernelShape::n, &core::KernelShape::k})
    sample.shape.*size = fields.integer<int>();
  return sample;
}

ActivityEvent event_from(Fields& fields, char kind) {
  ActivityEvent event;
  event.begin_s = fields.number();
  event.end_s = fields.number();
  event.panel = fields.integer<int>();
  if (event.end_s < event.begin_s) fields.fail("an event that ends before it begins");
  if (kind == 'P') {
    event.kind = ActivityEvent::Kind::phase;
    event.name = fields.phase();
  } else if (kind == 'K') {
    event.kind = ActivityEvent::Kind::kernel;
    event.name = fields.name(core::kernel_names, "a kernel");
    event.m = fields.integer<int>();
    event.n = fields.integer<int>();
    event.k = fields.integer<int>();
  } else {
    event.kind = ActivityEvent::Kind::message;
    event.name = fields.name(core::mpi_names, "an MPI operation");
    event.phase = fields.phase();
    event.peer = fields.integer<int>();
    event.tag = fields.integer<int>();
    event.bytes = fields.number();
    event.sends = fields.text() == "out";
    event.number = fields.integer<std::uint32_t>();
  }
  return event;
}

/// A line with a sum of a phase, or of something in it. @returns false if it is none.
bool read_sum(RankActivity& rank, std::string_view kind, Fields& fields) {
  if (kind == "phase") {
    const std::uint8_t phase = fields.phase();
    rank.phases[phase].elapsed_s = fields.number();
  } else if (kind == "kernel") {
    PhaseSums& phase = rank.phases[fields.phase()];
    const std::uint8_t kernel = fields.name(core::kernel_names, "a kernel");
    phase.kernels[kernel] = sum_from(fields);
  } else if (kind == "calls") {
    rank.kernel_calls.push_back(kernel_calls_from(fields));
  } else if (kind == "sample") {
    rank.kernel_samples.push_back(kernel_sample_from(fields));
  } else if (kind == "mpi" || kind == "empty") {
    PhaseSums& phase = rank.phases[fields.phase()];
    const std::uint8_t operation = fields.name(core::mpi_names, "an MPI operation");
    (kind == "mpi" ? phase.messages[operation] : phase.empty_probes) = sum_from(fields);
  } else {
    return false;
  }
  return true;
}

/// A line about the run. @returns false if it is none.
bool read_header(RankActivity& rank, std::string_view kind, Fields& fields) {
  if (kind == "run") {
    rank.run = fields.text();
  } else if (kind == "rank") {
    rank.rank = fields.integer<int>();
    rank.ranks = fields.integer<int>();
  } else if (kind == "host") {
    rank.host = fields.text();
    rank.first_rank_of_host = fields.integer<int>();
  } else if (kind == "cpu") {
    rank.cpu = fields.integer<int>();
    rank.core = fields.integer<int>();
  } else if (kind == "timed") {
    rank.runs = fields.integer<int>();
    rank.begin_s = fields.number();
    rank.end_s = fields.number();
  } else if (kind == "hpl") {
    rank.n = fields.integer<long long>();
    rank.nb = fields.integer<int>();
    rank.p = fields.integer<int>();
    rank.q = fields.integer<int>();
  } else if (kind == "clock") {
    ClockComparison one;
    one.rank = fields.integer<int>();
    one.time_s = fields.number();
    one.offset_s = fields.number();
    one.error_s = fields.number();
    rank.clocks.push_back(one);
  } else if (kind == "overhead") {
    rank.overhead_s = fields.number();
  } else {
    return false;
  }
  return true;
}

}  // namespace

RankActivity read_rank_activity(std::istream& in, const std::string& name) {
  RankActivity rank;
  std::uint64_t expected_events = 0;
  std::size_t number = 0;
  bool over = false;
  for (std::string line; std::getline(in, line);) {
    Fields fields(name, ++number, line);
    if (number == 1 && line != first_line)
      fields.fail("found `" + line.substr(0, 40) + "`; expected `" + std::string(first_line) + "`");
    if (over) fields.fail("more lines after `end`");
    const std::string_view kind = fields.text();
    if (number == 1) continue;
    if (kind == "P" || kind == "K" || kind == "M") {
      rank.events.push_back(event_from(fields, kind.front()));
    } else if (kind == "events") {
      expected_events = fields.integer<std::uint64_t>();
      rank.stride = fields.integer<int>();
      rank.lost_events = fields.integer<std::uint64_t>();
    } else if (kind == "end") {
      over = true;
    } else if (!read_header(rank, kind, fields) && !read_sum(rank, kind, fields)) {
      fields.fail("found `" + std::string(kind) + "`; expected a kind of line of version 2");
    }
    fields.end();
  }
  if (!over || rank.events.size() != expected_events)
    throw core::ParseError(
        {name, number, ""},
        "the file ends early; expected " + std::to_string(expected_events) + " events and the line `end`",
        "the run was cut off, or the disk is full: repeat it");
  return rank;
}

}  // namespace hplcast::study
