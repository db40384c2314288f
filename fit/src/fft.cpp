#include "fft.hpp"

#include <cassert>
#include <cmath>

namespace hplcast::fit {

namespace {

using Complex = std::complex<double>;

void reverse_bits(std::vector<Complex>& values) {
  const std::size_t n = values.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
}

}  // namespace

void fourier_transform(std::vector<Complex>& values) {
  const std::size_t n = values.size();
  assert(n > 0 && (n & (n - 1)) == 0);
  reverse_bits(values);
  std::vector<Complex> turns(n / 2 + 1);
  const double step = -2 * std::acos(-1.0) / static_cast<double>(n);
  for (std::size_t k = 0; k < turns.size(); ++k) turns[k] = std::polar(1.0, step * static_cast<double>(k));
  for (std::size_t length = 2; length <= n; length *= 2) {
    const std::size_t half = length / 2, stride = n / length;
    for (std::size_t first = 0; first < n; first += length) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex turn = turns[k * stride], low = values[first + k], odd = values[first + k + half];
        // Written out: the operator of the library looks for infinities.
        const Complex high(odd.real() * turn.real() - odd.imag() * turn.imag(),
                           odd.real() * turn.imag() + odd.imag() * turn.real());
        values[first + k] = low + high;
        values[first + k + half] = low - high;
      }
    }
  }
}

}  // namespace hplcast::fit
