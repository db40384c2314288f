#include "hplcast/core/kernel_shape.hpp"

#include <cctype>
#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

double power(double base, int exponent) noexcept {
  double product = exponent > 0 ? base : 1;
  for (int i = 1; i < exponent; ++i) product *= base;
  return product;
}

double product(const Monomial& monomial, const KernelShape& shape) noexcept {
  return power(shape.m, monomial.m) * power(shape.n, monomial.n) * power(shape.k, monomial.k);
}

constexpr const char* monomial_form = "a product of m, n and k such as mnk, m^2n, M*N, or 1";

void append_factor(std::string& text, char name, int exponent) {
  if (exponent == 0) return;
  text += name;
  if (exponent > 1) text += "^" + std::to_string(exponent);
}

}  // namespace

double Monomial::operator()(const KernelShape& shape) const noexcept {
  return product(*this, shape);
}

std::string to_string(const Monomial& monomial) {
  std::string text;
  append_factor(text, 'm', monomial.m);
  append_factor(text, 'n', monomial.n);
  append_factor(text, 'k', monomial.k);
  return text.empty() ? "1" : text;
}

Monomial parse_monomial(std::string_view text) {
  if (text == "1" || text == "intercept") return {};
  const auto fail = [&] { return DomainError("monomial", std::string(text), monomial_form); };
  Monomial result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*' && i > 0) continue;
    const int letter = std::tolower(static_cast<unsigned char>(text[i]));
    int* exponent = letter == 'm' ? &result.m : letter == 'n' ? &result.n : letter == 'k' ? &result.k : nullptr;
    if (exponent == nullptr) throw fail();
    int times = 1;
    if (i + 2 < text.size() && text[i + 1] == '^') {
      if (std::isdigit(static_cast<unsigned char>(text[i + 2])) == 0) throw fail();
      times = text[i + 2] - '0';
      i += 2;
    }
    *exponent += times;
    if (*exponent > 9) throw fail();
  }
  if (result == Monomial{}) throw fail();
  return result;
}

Polynomial Polynomial::make(std::vector<Monomial> terms, std::vector<double> coefficients) {
  if (terms.size() != coefficients.size())
    throw DomainError("coefficients", coefficients.size(),
                      "one for each of the " + std::to_string(terms.size()) + " terms");
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!std::isfinite(coefficients[i]))
      throw DomainError("coefficient of " + to_string(terms[i]), coefficients[i], "a finite number");
    for (std::size_t j = 0; j < i; ++j)
      if (terms[i] == terms[j]) throw DomainError("terms", to_string(terms[i]), "each term once");
  }
  Polynomial result;
  result.terms_ = std::move(terms);
  result.coefficients_ = std::move(coefficients);
  return result;
}

double Polynomial::operator()(const KernelShape& shape) const noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < terms_.size(); ++i) sum += coefficients_[i] * product(terms_[i], shape);
  return sum;
}

double Polynomial::coefficient(const Monomial& term) const noexcept {
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (terms_[i] == term) return coefficients_[i];
  return 0;
}

Polynomial scaled(const Polynomial& polynomial, double factor) {
  std::vector<double> coefficients = polynomial.coefficients();
  for (double& c : coefficients) c *= factor;
  return Polynomial::make(polynomial.terms(), std::move(coefficients));
}

std::optional<KernelId> kernel_from_name(std::string_view name) {
  for (int i = 0; i < kernel_count; ++i)
    if (name == kernel_names[static_cast<std::size_t>(i)]) return static_cast<KernelId>(i);
  return std::nullopt;
}

double kernel_flop(KernelId kernel, const KernelShape& shape) noexcept {
  const auto [m, n, k] = shape;
  switch (kernel) {
#define HPLCAST_FLOP(NAME, name, function, call, sizes, flop, touches) \
  case KernelId::name:                                                 \
    return flop;
    HPLCAST_KERNELS(HPLCAST_FLOP)
#undef HPLCAST_FLOP
  }
  return 0;
}

}  // namespace hplcast::core
