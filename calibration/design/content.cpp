#include "hplcast/calibration/dgemm_design.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

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

}  // namespace hplcast::calibration
