#pragma once

#include <string>
#include <vector>

#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit::detail {

/// What the measurements can not support, and what was set aside: sizes that never vary, narrow ranges, few shapes.
std::vector<std::string> data_notes(const KernelTable& table, const std::vector<core::Monomial>& terms);

/// What single calls show against the fitted law: a slow start, outliers. Nothing is removed for it.
std::vector<std::string> call_notes(const KernelTable& table, const core::PiecewiseLaw& law);

}  // namespace hplcast::fit::detail
