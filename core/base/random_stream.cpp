#include "hplcast/core/random_stream.hpp"

#include <Random123/philox.h>

#include <cmath>

namespace hplcast::core {

namespace {

/// 52 random bits to the middle of one of 2^52 cells of (0, 1): never 0 or 1.
double open_unit(std::uint64_t bits) noexcept {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

/// cos(2 pi u) for u in [0, 1] without a branch: those of std::cos go by the quarter of the circle, which nobody can
/// predict, and a wrong guess costs more than all else of a draw. It is sin(2 pi w), w = |u - 1/2| - 1/4, as w times
/// the Chebyshev interpolation of sin(2 pi w) / w in w^2 up to 1/16, whose error is 4e-17 of that. To 5e-16.
double cosine_of_turns(double u) noexcept {
  const double w = std::abs(u - 0.5) - 0.25;
  const double x = w * w, x2 = x * x, x4 = x2 * x2;
  const double c01 = 6.283185307179586 - 41.341702240399755 * x;
  const double c23 = 81.60524927607362 - 76.70585975282492 * x;
  const double c45 = 42.058693925428685 - 15.0946416761179 * x;
  const double c67 = 3.8199280942271643 - 0.7177337921413454 * x;
  return w * ((c01 + c23 * x2) + x4 * ((c45 + c67 * x2) + x4 * 0.10089695501646812));
}

[[gnu::always_inline]] inline std::array<std::uint64_t, 4> random_bits(const StreamName& name,
                                                                       std::uint64_t call) noexcept {
  const r123::Philox4x64 philox;
  const r123::Philox4x64::ctr_type counter = {
      {call, (static_cast<std::uint64_t>(name.domain) << 32) | name.rank, name.kernel, name.detail}};
  const r123::Philox4x64::key_type key = {{name.seed, 0x68706c63617374ULL}};
  const auto bits = philox(counter, key);
  return {bits[0], bits[1], bits[2], bits[3]};
}

}  // namespace

Draw draw(const StreamName& name, std::uint64_t call) noexcept {
  const auto bits = random_bits(name, call);
  // Box and Muller (1958).
  const double radius = std::sqrt(-2.0 * std::log(open_unit(bits[1])));
  return {open_unit(bits[0]), radius * cosine_of_turns(open_unit(bits[2]))};
}

std::array<double, 4> uniforms(const StreamName& name, std::uint64_t call) noexcept {
  const auto bits = random_bits(name, call);
  return {open_unit(bits[0]), open_unit(bits[1]), open_unit(bits[2]), open_unit(bits[3])};
}

std::uint64_t RandomStream::below(std::uint64_t bound) noexcept {
  const auto value = static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  return value < bound ? value : bound - 1;
}

}  // namespace hplcast::core
