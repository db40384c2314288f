#pragma once

#include <iosfwd>

#include "hplcast/study/explain.hpp"

namespace hplcast::cli {

/// For people: verdict, causes, phases, kernels, messages.
void write_explanation_table(std::ostream& out, const study::Explanation& explanation);

}  // namespace hplcast::cli
