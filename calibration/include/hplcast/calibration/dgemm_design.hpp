#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

/// Contents of the matrices during a measurement. The speed of dgemm depends on it by several percent on CPUs
/// that are limited by power (Cornebize 2021, chapter on experimental biases), so every row of a measurement names it.
class Content {
 public:
  enum class Kind { random, constant, sequential, masked };

  /// Uniform in [-0.5, 0.5], as in HPL's matrix.
  Content() = default;
  static Content random() { return Content(); }
  /// All elements equal to `value` (finite).
  static Content constant(double value);
  /// Element i of n is i / n.
  static Content sequential() { return {Kind::sequential, 0}; }
  /// Random, with the lowest `bits` bits of the 52-bit mantissa cleared. @throws DomainError unless 0 <= bits <= 52.
  static Content masked(double bits);
  /// "random", "constant" (0.987), "constant-VALUE", "sequential", "masked-BITS". @throws DomainError for anything
  /// else.
  static Content parse(std::string_view text);

  Kind kind() const noexcept { return kind_; }
  /// The constant, or the number of masked bits.
  double number() const noexcept { return number_; }
  friend bool operator==(const Content& a, const Content& b) { return a.kind_ == b.kind_ && a.number_ == b.number_; }

 private:
  Content(Kind kind, double number) : kind_(kind), number_(number) {}

  Kind kind_ = Kind::random;
  double number_ = 0;
};

/// The text that Content::parse() reads back.
std::string to_string(const Content& content);

/// Fills `count` doubles. Equal seeds give equal numbers; a sequential generator, because gigabytes are filled.
void fill(double* data, std::size_t count, const Content& content, std::uint64_t seed);

/// The sizes of one call C(m x n) -= A(m x k) B(k x n).
struct DgemmShape {
  long m = 1;
  long n = 1;
  long k = 1;
  friend bool operator==(const DgemmShape& a, const DgemmShape& b) { return a.m == b.m && a.n == b.n && a.k == b.k; }
  friend bool operator<(const DgemmShape& a, const DgemmShape& b) {
    return std::tie(a.m, a.n, a.k) < std::tie(b.m, b.n, b.k);
  }
};

/// Operations of one call, 2 m n k.
inline double flop(const DgemmShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

/// Which of HPL's calls a measured call imitates: this decides where its matrices lie (docs/use/calibration.md).
enum class DgemmRole {
  update,  ///< trailing update: A is the broadcast panel, C lies in the local matrix
  panel,   ///< inside the recursive panel factorisation: A and C lie in the local matrix, B in the small L1
  /// An update on columns an odd multiple of 4, 8 or 16 KiB apart (by its shape), as repetition 0; 1: 64 bytes more.
  aliased,
};
HPLCAST_ENUM_NAMES(DgemmRole, "role", "update", "panel", "aliased");

/// One call of a design.
struct DgemmCall {
  DgemmShape shape;
  Content content = {};
  DgemmRole role = DgemmRole::update;
  /// B is given as its transpose (HPL on several process rows); otherwise it lies in the local matrix above C (one
  /// process row). Calls of the role panel are always transposed.
  bool transposed = true;
  int repetition = 0;
};

/// Calls in the order in which they are made.
using DgemmDesign = std::vector<DgemmCall>;

/// Whether B is transposed in update calls.
enum class Transposition { yes, no, both };
HPLCAST_ENUM_NAMES(Transposition, "transposition", "yes", "no", "both");

/// Parameters of a design of dgemm calls.
struct DgemmDesignOptions {
  long max_size = 4000;  ///< bound on m and n (and k where it is free)
  long count = 100;      ///< shapes to ask for; permutations of a shape count
  int repetitions = 3;   ///< calls of each shape, shuffled over the whole experiment
  std::uint64_t seed = 1;
  /// HPL's block size: k = nb for most shapes, a minority has the smaller k, and the role panel, of HPL's recursive
  /// factorisation. 0: m, n and k are all free (uniform product of the three).
  long nb = 128;
  long nbmin = 2;          ///< smallest k of the minority
  double minority = 0.35;  ///< share of the shapes that imitate anything but the large update
  /// m, n and k drawn uniformly and independently over [1, max_size]; nb, minority and max_product are not used.
  bool independent = false;
  double max_product = 0;     ///< bound on m*n (or m*n*k); 0: the largest that max_size allows
  std::vector<long> extra_k;  ///< more values of k, used in turn with nb
  /// If not empty, updates are chosen among these (hpl_update_shapes()) instead of drawn freely, evenly over their m*n;
  /// max_size and nb are then those of the shapes. The minority of smaller k has the same m and n.
  std::vector<DgemmShape> updates;
  std::vector<DgemmShape> common;  ///< shapes that are added as they are, for comparisons between campaigns
  std::vector<Content> contents{Content::random()};  ///< every shape is called with each
  Transposition transposition = Transposition::both;
  bool aliased = false;  ///< with nb: also pairs of the role aliased, up to two per shape, of some 12 s at 20 Gflop/s
};

/// Shapes for comparisons between campaigns, which the commands add to every design: 1 x 1 x 1, and 2048 x 2048 x 2048
/// if max_size allows.
std::vector<DgemmShape> common_shapes(long max_size);

/// A design whose products m*n (or m*n*k) are spread evenly over (0, max_product] with noise (one draw in each of as
/// many equal strata as there are draws), factors drawn log-uniformly so that the product fits, all permutations of the
/// factors, everything in random order. The same options give the same design.
/// @throws DomainError for options outside their domain.
DgemmDesign make_dgemm_design(const DgemmDesignOptions& given);

/// The same design with as many shapes as take at most `budget_s` at `rate_flop_per_s` per core.
/// @throws DomainError if not even 10 shapes fit.
DgemmDesign make_dgemm_design_within(DgemmDesignOptions options, double budget_s, double rate_flop_per_s);

/// Time in s that one core needs for all calls at a rate in flop/s, with a few microseconds for each call.
double estimated_s(const DgemmDesign& design, double rate_flop_per_s);

/// CSV with the columns order, m, n, k, content, role, transposed, repetition.
void write_design(std::ostream& out, const DgemmDesign& design);

/// Reads such a CSV; only m, n and k are required (random content, role update, transposed).
/// @throws ParseError for missing columns, sizes that are no positive integers of a BLAS (at most 2^31 - 1), no rows.
DgemmDesign read_dgemm_design(std::istream& in, const std::string& name);

/// For designs of all kinds. @throws DomainError for more rows than anybody measures: before they are made, they would
/// fill the memory.
void require_few_rows(double rows);

}  // namespace hplcast::calibration
