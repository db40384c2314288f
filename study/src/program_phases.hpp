#pragma once

#include <vector>

#include "statistics.hpp"

namespace hplcast::study {

/// Times of a program by what they are, in place of names: routines, regions, MPI; the others keep theirs.
std::vector<RankPhases> grouped(const std::vector<RankPhases>& phases);

}  // namespace hplcast::study
