#pragma once

#include <string>

#include "hplcast/fit/kernel_fit.hpp"
#include "picture.hpp"

namespace hplcast::cli {

/// Picture for judging a kernel model: measured over expected durations, relative residuals along the main
/// product with the breaks of pieces, the scatter of single calls against the noise of the model, and, where there is a
/// sigma, that of each shape against it. `fit` is ok.
Picture kernel_picture(const std::string& title, const fit::KernelTable& table, const fit::KernelFit& fit);

}  // namespace hplcast::cli
