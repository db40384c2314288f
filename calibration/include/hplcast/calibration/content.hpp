#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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
  static Content sequential();
  /// Random, with the lowest `bits` bits of the 52-bit mantissa cleared. @throws DomainError unless 0 <= bits <= 52.
  static Content masked(int bits);
  /// "random", "constant" (0.987), "constant-VALUE", "sequential", "masked-BITS". @throws DomainError for anything
  /// else.
  static Content parse(std::string_view text);

  Kind kind() const noexcept { return kind_; }
  int mask_bits() const noexcept { return mask_bits_; }
  double value() const noexcept { return value_; }
  friend bool operator==(const Content& a, const Content& b) {
    return a.kind_ == b.kind_ && a.mask_bits_ == b.mask_bits_ && a.value_ == b.value_;
  }
  friend bool operator!=(const Content& a, const Content& b) { return !(a == b); }

 private:
  Kind kind_ = Kind::random;
  int mask_bits_ = 0;
  double value_ = 0;
};

/// The text that Content::parse() reads back.
std::string to_string(const Content& content);

/// Fills `count` doubles. Equal seeds give equal numbers; a sequential generator, because gigabytes are filled.
void fill(double* data, std::size_t count, const Content& content, std::uint64_t seed);

}  // namespace hplcast::calibration
