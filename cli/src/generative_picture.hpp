#pragma once

#include <vector>

#include "hplcast/fit/generative.hpp"
#include "picture.hpp"

namespace hplcast::cli {

/// Picture for judging a generative model: the first coefficient of every CPU and day with the mean of its kind;
/// means of CPUs with the ellipse that holds 95 percent of the CPUs to be drawn; how CPUs and days scatter against the
/// normal law that is drawn from. `fit` is ok and was made of `rows`.
Picture generative_picture(const std::vector<fit::DailyRegression>& rows, const fit::GenerativeFit& fit);

}  // namespace hplcast::cli
