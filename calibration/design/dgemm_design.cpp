#include "hplcast/calibration/dgemm_design.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::calibration {

namespace {

constexpr const char* contents = "random, constant, constant-VALUE, sequential or masked-BITS (0 to 52)";

double masked_value(double value, std::uint64_t mask) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= mask;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

constexpr double call_overhead_s = 5e-6;  // a call of a tiny shape with what surrounds it, as seen on laptops
constexpr long fewest_shapes = 10;

/// Sizes are BLAS's int.
void require_size(const char* name, long value, long least) {
  core::require(value >= least && value <= std::numeric_limits<int>::max(), name, value,
                least == 1 ? "1 to 2^31 - 1" : "0 to 2^31 - 1");
}

double largest_product(const DgemmDesignOptions& options) {
  return std::pow(static_cast<double>(options.max_size), options.nb > 0 || !options.extra_k.empty() ? 2 : 3);
}

void validate(const DgemmDesignOptions& options) {
  require_size("max size", options.max_size, 1);
  core::require(options.count >= 1, "count", options.count, "at least 1");
  core::require(options.repetitions >= 1, "repetitions", options.repetitions, "at least 1");
  require_size("nb", options.nb, 0);
  require_size("nbmin", options.nbmin, 1);
  core::require(options.minority >= 0 && options.minority <= 1, "minority", options.minority,
                "a share between 0 and 1");
  core::require(options.max_product >= 0 && options.max_product <= largest_product(options), "max product",
                options.max_product, "0, or at most the limit given by max size");
  core::require(!options.contents.empty(), "number of contents", 0, "at least 1");
  require_few_rows(static_cast<double>(options.count) * options.repetitions *
                   static_cast<double>(options.contents.size()));
  for (const long k : options.extra_k) require_size("k", k, 1);
  for (const std::vector<DgemmShape>* shapes : {&options.common, &options.updates}) {
    for (const DgemmShape& shape : *shapes) {
      const auto [smallest, largest] = std::minmax({shape.m, shape.n, shape.k});
      core::require(smallest >= 1, "size of a given shape", smallest, "at least 1");
      core::require(largest <= std::numeric_limits<int>::max(), "size of a given shape", largest, "at most 2^31 - 1");
    }
  }
}

/// The sizes that follow from given updates.
DgemmDesignOptions completed(DgemmDesignOptions options) {
  if (options.updates.empty()) return options;
  options.max_size = options.nb = 0;
  for (const DgemmShape& shape : options.updates) {
    options.max_size = std::max({options.max_size, shape.m, shape.n});
    options.nb = std::max(options.nb, shape.k);
  }
  options.max_product = 0;
  return options;
}

/// Draws shapes; one object a design, so that all draws come from one stream.
class ShapeMaker {
 public:
  explicit ShapeMaker(const DgemmDesignOptions& options)
      : options_(options),
        random_({options.seed, core::stream_design, 0, 0}),
        max_(static_cast<double>(options.max_size)),
        max_rows_(max_),
        updates_(options.updates) {
    if (updates_.empty()) return;
    const auto smaller = [](const DgemmShape& a, const DgemmShape& b) { return area(a) < area(b); };
    std::stable_sort(updates_.begin(), updates_.end(), smaller);
    const auto fewer_rows = [](const DgemmShape& a, const DgemmShape& b) { return a.m < b.m; };
    max_rows_ = static_cast<double>(std::max_element(updates_.begin(), updates_.end(), fewer_rows)->m);
  }

  core::RandomStream& random() { return random_; }

  std::vector<DgemmCall> shapes() {
    const double product = options_.max_product > 0 ? options_.max_product : largest_product(options_);
    if (options_.independent) {
      independent(options_.count);
    } else if (options_.nb == 0 && options_.extra_k.empty()) {
      product_of_three(options_.count, product);
    } else {
      std::vector<long> k_values = options_.extra_k;
      if (options_.nb > 0) k_values.insert(k_values.begin(), options_.nb);
      std::vector<long> halves;  // NB/2, NB/4 ... down to nbmin
      for (long k = options_.nb / 2; k >= options_.nbmin && k >= 1; k /= 2) halves.push_back(k);
      const long kinds = halves.empty() ? 1 : 3;
      const double minority = options_.nb == 0 ? 0 : options_.minority * static_cast<double>(options_.count);
      const long each = std::lround(minority / static_cast<double>(kinds));
      product_of_two(std::max(0L, options_.count - kinds * each), k_values, product);
      product_of_two(each, halves, product);
      look_ahead(each);
      panel(each, halves);
    }
    for (const DgemmShape& shape : options_.common) add_update(shape);
    return std::move(calls_);
  }

 private:
  /// `count` shapes of fixed k from `k_values` in turn, m*n uniform over (0, product].
  void product_of_two(long count, const std::vector<long>& k_values, double product) {
    if (k_values.empty()) return;
    if (!updates_.empty()) return given_updates(count, k_values);
    const long draws = (count + 1) / 2;
    for (long i = 0; i < draws; ++i) {
      const double level = stratified(i, draws, product);
      const long a = factor(level, max_);
      const long b = to_size(level / static_cast<double>(a));
      const long k = k_values[static_cast<std::size_t>(i) % k_values.size()];
      add_update({a, b, k});
      if (a != b && 2 * i + 1 < count) add_update({b, a, k});
    }
  }

  /// `count` shapes with m*n*k uniform over (0, product].
  void product_of_three(long count, double product) {
    const long draws = (count + 5) / 6;
    long left = count;
    for (long i = 0; i < draws; ++i) {
      const double level = stratified(i, draws, product);
      const long a = factor(level, max_ * max_);
      const double rest = level / static_cast<double>(a);
      const long b = factor(rest, max_);
      std::array<long, 3> sizes{a, b, to_size(rest / static_cast<double>(b))};
      std::sort(sizes.begin(), sizes.end());
      do {
        if (left-- <= 0) return;
        add_update({sizes[0], sizes[1], sizes[2]});
      } while (std::next_permutation(sizes.begin(), sizes.end()));
    }
  }

  /// `count` shapes of sizes that have nothing to do with each other.
  void independent(long count) {
    const auto size = [&] {
      return 1 + static_cast<long>(random_.below(static_cast<std::uint64_t>(options_.max_size)));
    };
    for (long i = 0; i < count; ++i) {
      const long m = size(), n = size(), k = size();
      add_update({m, n, k});
    }
  }

  /// One block column updated at a time, as HPL does while it waits for the next panel.
  void look_ahead(long count) {
    for (long i = 0; i < count; ++i) add_update({to_size(stratified(i, count, max_rows_)), options_.nb, options_.nb});
  }

  /// Updates inside the recursive panel factorisation with NDIV = 2: n = k = one half, a quarter ... of NB.
  void panel(long count, const std::vector<long>& halves) {
    if (halves.empty()) return;
    for (long i = 0; i < count; ++i) {
      DgemmCall call;
      const long k = halves[static_cast<std::size_t>(i) % halves.size()];
      call.shape = {to_size(stratified(i, count, max_rows_)), k, k};
      call.role = DgemmRole::panel;
      calls_.push_back(call);
    }
  }

  void add_update(const DgemmShape& shape) {
    DgemmCall call;
    call.shape = shape;
    call.transposed = options_.transposition == Transposition::yes ||
                      (options_.transposition == Transposition::both && random_.below(2) == 0);
    calls_.push_back(call);
  }

  static double area(const DgemmShape& shape) { return static_cast<double>(shape.m) * static_cast<double>(shape.n); }

  /// `count` of the given shapes, m*n uniform over what they have, of fixed k from `k_values` in turn.
  void given_updates(long count, const std::vector<long>& k_values) {
    const auto at_least = [](const DgemmShape& shape, double level) { return area(shape) < level; };
    for (long i = 0; i < count; ++i) {
      const double level = stratified(i, count, area(updates_.back()));
      auto shape = std::lower_bound(updates_.begin(), updates_.end(), level, at_least);
      if (shape == updates_.end()) --shape;
      add_update({shape->m, shape->n, k_values[static_cast<std::size_t>(i) % k_values.size()]});
    }
  }

  /// A value of the i-th of `count` equal parts of (0, whole].
  double stratified(long i, long count, double whole) {
    return whole * (static_cast<double>(i) + random_.uniform()) / static_cast<double>(count);
  }

  /// A factor of `level` such that it is at most max_size and the rest of the product at most `max_rest`.
  long factor(double level, double max_rest) {
    const double low = std::max(1.0, level / max_rest);
    const double high = std::max(low, std::min(max_, level));
    return to_size(low * std::pow(high / low, random_.uniform()));
  }

  long to_size(double value) const { return std::clamp(static_cast<long>(std::lround(value)), 1L, options_.max_size); }

  const DgemmDesignOptions& options_;
  core::RandomStream random_;
  double max_, max_rows_;
  std::vector<DgemmShape> updates_;  // by m*n
  std::vector<DgemmCall> calls_;
};

/// Pairs that differ in the leading dimension alone, evenly between the other calls, in turn which comes first.
DgemmDesign with_aliased(const DgemmDesign& others, const DgemmDesignOptions& options, core::RandomStream& random) {
  constexpr double all_flop = 12 * 2e10;
  const long most = std::min(options.max_size, 2000L);
  const auto size = [&] { return 1 + static_cast<long>(random.below(static_cast<std::uint64_t>(most))); };
  const double mean_flop = 2 * flop({most, most, options.nb}) / 4;
  const auto pairs = std::min(2 * options.count, std::lround(all_flop / mean_flop) + 1);
  DgemmDesign all;
  const auto rows = static_cast<long>(others.size());
  long done = 0, made = 0;
  for (const DgemmCall& call : others) {
    all.push_back(call);
    for (++done; made * rows < pairs * done; ++made) {
      const DgemmShape shape{size(), size(), options.nb};
      const int turn = made % 2 == 0 ? 0 : 1;
      for (const int other : {turn, 1 - turn}) all.push_back({shape, {}, DgemmRole::aliased, true, other});
    }
  }
  return all;
}

}  // namespace

Content Content::constant(double value) {
  if (!std::isfinite(value)) throw core::DomainError("value of a constant content", value, "a finite number");
  return {Kind::constant, value};
}

Content Content::masked(double bits) {
  if (!(bits >= 0 && bits <= 52) || bits != std::floor(bits))
    throw core::DomainError("content", "masked-" + core::shortest(bits), contents);
  return {Kind::masked, bits};
}

Content Content::parse(std::string_view text) {
  double number = 0;
  const auto begins = [&](std::string_view name) {
    return core::begins_with(text, name) && core::parse_double(text.substr(name.size()), number);
  };
  if (text == "random") return random();
  if (text == "sequential") return sequential();
  if (text == "constant") return constant(0.987);  // the value of the published experiments on contents
  if (begins("constant-")) return constant(number);
  if (begins("masked-")) return masked(number);
  throw core::DomainError("content", std::string(text), contents);
}

std::string to_string(const Content& content) {
  switch (content.kind()) {
    case Content::Kind::random:
      return "random";
    case Content::Kind::sequential:
      return "sequential";
    case Content::Kind::masked:
      return "masked-" + core::shortest(content.number());
    case Content::Kind::constant:
      break;
  }
  return "constant-" + core::shortest(content.number());
}

void fill(double* data, std::size_t count, const Content& content, std::uint64_t seed) {
  if (content.kind() == Content::Kind::constant) {
    std::fill_n(data, count, content.number());
    return;
  }
  if (content.kind() == Content::Kind::sequential) {
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<double>(i) / static_cast<double>(count);
    return;
  }
  std::mt19937_64 generator(seed);
  const bool is_masked = content.number() > 0;
  const std::uint64_t mask = ~std::uint64_t{0} << static_cast<int>(content.number());
  for (std::size_t i = 0; i < count; ++i) {
    // Signed and rounded to a double, not shifted: every bit of the mantissa is used.
    const double uniform = static_cast<double>(static_cast<std::int64_t>(generator())) * 0x1.0p-64;
    data[i] = is_masked ? masked_value(uniform, mask) : uniform;
  }
}

std::vector<DgemmShape> common_shapes(long max_size) {
  constexpr long large = 2048;
  std::vector<DgemmShape> shapes{{1, 1, 1}};
  if (max_size >= large) shapes.push_back({large, large, large});
  return shapes;
}

DgemmDesign make_dgemm_design(const DgemmDesignOptions& given) {
  const DgemmDesignOptions options = completed(given);
  validate(options);
  ShapeMaker maker(options);
  const std::vector<DgemmCall> shapes = maker.shapes();
  DgemmDesign design;
  design.reserve(shapes.size() * options.contents.size() * static_cast<std::size_t>(options.repetitions));
  for (const DgemmCall& shape : shapes) {
    for (const Content& content : options.contents) {
      for (int repetition = 0; repetition < options.repetitions; ++repetition) {
        DgemmCall call = shape;
        call.content = content;
        call.repetition = repetition;
        design.push_back(call);
      }
    }
  }
  core::shuffle(design, maker.random());
  return options.aliased && options.nb > 0 ? with_aliased(design, options, maker.random()) : design;
}

DgemmDesign make_dgemm_design_within(DgemmDesignOptions options, double budget_s, double rate_flop_per_s) {
  if (!(budget_s > 0)) throw core::DomainError("budget", budget_s, "a positive number of seconds");
  const long asked = options.count;
  for (;;) {
    DgemmDesign design = make_dgemm_design(options);
    const double needed_s = estimated_s(design, rate_flop_per_s);
    if (needed_s <= budget_s) return design;
    // Time grows with the number of shapes nearly linearly; 2 percent less than that makes the loop end soon.
    options.count = static_cast<long>(static_cast<double>(options.count) * std::min(0.98, budget_s / needed_s));
    if (options.count < std::min(asked, fewest_shapes))
      throw core::DomainError("budget", budget_s, "a time in which at least a few of the shapes can be measured",
                              "raise the budget, or lower the largest size or the number of repetitions");
  }
}

double estimated_s(const DgemmDesign& design, double rate_flop_per_s) {
  if (!(rate_flop_per_s > 0)) throw core::DomainError("rate", rate_flop_per_s, "a positive number of flop/s");
  double total_s = 0;
  for (const DgemmCall& call : design) total_s += call_overhead_s + flop(call.shape) / rate_flop_per_s;
  return total_s;
}

void require_few_rows(double rows) {
  constexpr double most_rows = 1e7,
                   bytes_per_row = 100;  // a row in memory and as text; ten million take a day at 10 ms
  if (rows <= most_rows) return;
  throw core::DomainError("rows of the design", rows,
                          core::printed("at most %.0f: these would need about %lld GB of memory", most_rows,
                                        static_cast<long long>(rows * bytes_per_row / 1e9)),
                          "take a smaller count, or fewer repetitions");
}

}  // namespace hplcast::calibration
