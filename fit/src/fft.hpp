#pragma once

#include <complex>
#include <vector>

namespace hplcast::fit {

/// Discrete Fourier transform in place: X_k = sum_j x_j exp(-2 pi i j k / n). n is a power of two (Cooley and Tukey
/// 1965).
void fourier_transform(std::vector<std::complex<double>>& values);

}  // namespace hplcast::fit
