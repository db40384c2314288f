#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hplcast/core/kernel_list.h"

namespace hplcast::core {

/// The sizes of one kernel call. A size that the kernel does not have is 1. Doubles, because products of three sizes
/// leave 64-bit integers at the N of the largest machines.
struct KernelShape {
  double m = 1;
  double n = 1;
  double k = 1;

  friend bool operator==(const KernelShape& a, const KernelShape& b) { return a.m == b.m && a.n == b.n && a.k == b.k; }
};

/// m^a n^b k^c with integer exponents 0..9.
struct Monomial {
  int m = 0;
  int n = 0;
  int k = 0;

  double operator()(const KernelShape& shape) const noexcept;
  friend bool operator==(const Monomial& a, const Monomial& b) { return a.m == b.m && a.n == b.n && a.k == b.k; }
  friend bool operator!=(const Monomial& a, const Monomial& b) { return !(a == b); }
};

/// "mnk", "m^2n", "1". parse_monomial() reads this and also "m*n*k", "M*M*N", "intercept" for "1".
/// @throws DomainError for anything else.
std::string to_string(const Monomial& monomial);
Monomial parse_monomial(std::string_view text);

/// sum of coefficients[i] * terms[i](shape); seconds when it stands for a duration. No terms: zero everywhere.
class Polynomial {
 public:
  Polynomial() = default;
  /// @throws DomainError if the lengths differ, a term is repeated or a coefficient is not finite.
  static Polynomial make(std::vector<Monomial> terms, std::vector<double> coefficients);

  double operator()(const KernelShape& shape) const noexcept;
  const std::vector<Monomial>& terms() const noexcept { return terms_; }
  const std::vector<double>& coefficients() const noexcept { return coefficients_; }
  /// The coefficient of `term`, 0 if it is not there.
  double coefficient(const Monomial& term) const noexcept;
  bool empty() const noexcept { return terms_.empty(); }
  friend bool operator==(const Polynomial& a, const Polynomial& b) {
    return a.terms_ == b.terms_ && a.coefficients_ == b.coefficients_;
  }

 private:
  std::vector<Monomial> terms_;
  std::vector<double> coefficients_;
};

/// All coefficients multiplied by `factor`.
Polynomial scaled(const Polynomial& polynomial, double factor);

#define HPLCAST_ID(NAME, name, ...) name,
#define HPLCAST_NAME(NAME, name, ...) #name,
#define HPLCAST_SIZES(NAME, name, function, call, sizes, ...) #sizes,

/// The kernels of HPL that have a model. The order is that of `hplcast_kernel` in hplcast_smpi.h.
enum class KernelId : int { HPLCAST_KERNELS(HPLCAST_ID) };

/// Names as they stand in cluster.json and in measurements, in the order of KernelId.
inline constexpr std::array kernel_names = {HPLCAST_KERNELS(HPLCAST_NAME)};

inline constexpr int kernel_count = static_cast<int>(kernel_names.size());

/// Which of m, n, k a kernel has, such as "mn", in the order of KernelId; what it does not have is 1.
inline constexpr std::array<std::string_view, kernel_names.size()> kernel_sizes = {HPLCAST_KERNELS(HPLCAST_SIZES)};

#undef HPLCAST_ID
#undef HPLCAST_NAME
#undef HPLCAST_SIZES

/// The kernel of that name, or nothing.
std::optional<KernelId> kernel_from_name(std::string_view name);

/// flop of one call by the usual count of multiplications and additions; 0 for kernels that only move data.
double kernel_flop(KernelId kernel, const KernelShape& shape) noexcept;

inline const char* to_string(KernelId id) {
  return kernel_names[static_cast<std::size_t>(id)];
}

}  // namespace hplcast::core
