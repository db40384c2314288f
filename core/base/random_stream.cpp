#include "hplcast/core/random_stream.hpp"

#include <Random123/philox.h>

#include <cmath>

namespace hplcast::core {

namespace {

/// 52 random bits to the middle of one of 2^52 cells of (0, 1): never 0 or 1.
double open_unit(std::uint64_t bits) noexcept {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

constexpr double two_pi = 6.283185307179586476925286766559;

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
  return {open_unit(bits[0]), radius * std::cos(two_pi * open_unit(bits[2]))};
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
