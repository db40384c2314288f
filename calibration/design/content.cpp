#include "hplcast/calibration/dgemm_design.hpp"

#include <cmath>
#include <cstring>
#include <random>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr double default_constant = 0.987;  // the value of the published experiments on contents
constexpr int mantissa_bits = 52;

[[noreturn]] void refuse(std::string_view text) {
  throw core::DomainError("content", std::string(text),
                          "random, constant, constant-VALUE, sequential or masked-BITS (0 to 52)");
}

double masked_value(double value, std::uint64_t mask) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= mask;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace

Content Content::constant(double value) {
  if (!std::isfinite(value)) throw core::DomainError("value of a constant content", value, "a finite number");
  Content content;
  content.kind_ = Kind::constant;
  content.value_ = value;
  return content;
}

Content Content::sequential() {
  Content content;
  content.kind_ = Kind::sequential;
  return content;
}

Content Content::masked(int bits) {
  if (bits < 0 || bits > mantissa_bits) throw core::DomainError("mask bits", bits, "0 to 52");
  Content content;
  content.kind_ = Kind::masked;
  content.mask_bits_ = bits;
  return content;
}

Content Content::parse(std::string_view text) {
  if (text == "random") return random();
  if (text == "sequential") return sequential();
  if (text == "constant") return constant(default_constant);
  double number = 0;
  if (core::begins_with(text, "constant-")) {
    if (!core::parse_double(text.substr(std::strlen("constant-")), number)) refuse(text);
    return constant(number);
  }
  if (core::begins_with(text, "masked-")) {
    if (!core::parse_double(text.substr(std::strlen("masked-")), number) || number != std::floor(number) ||
        number < 0 || number > mantissa_bits) {
      refuse(text);
    }
    return masked(static_cast<int>(number));
  }
  refuse(text);
}

std::string to_string(const Content& content) {
  switch (content.kind()) {
    case Content::Kind::random:
      return "random";
    case Content::Kind::sequential:
      return "sequential";
    case Content::Kind::masked:
      return "masked-" + std::to_string(content.mask_bits());
    case Content::Kind::constant:
      break;
  }
  return "constant-" + core::shortest(content.value());
}

void fill(double* data, std::size_t count, const Content& content, std::uint64_t seed) {
  if (content.kind() == Content::Kind::constant) {
    for (std::size_t i = 0; i < count; ++i) data[i] = content.value();
    return;
  }
  if (content.kind() == Content::Kind::sequential) {
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<double>(i) / static_cast<double>(count);
    return;
  }
  std::mt19937_64 generator(seed);
  const std::uint64_t mask = ~std::uint64_t{0} << content.mask_bits();
  for (std::size_t i = 0; i < count; ++i) {
    // Signed and rounded to a double, not shifted: every bit of the mantissa is used.
    const double uniform = static_cast<double>(static_cast<std::int64_t>(generator())) * 0x1.0p-64;
    data[i] = content.mask_bits() == 0 ? uniform : masked_value(uniform, mask);
  }
}

}  // namespace hplcast::calibration
