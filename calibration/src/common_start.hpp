#pragma once

#include <vector>

namespace hplcast::calibration {

/// Ranks of one host, which share its clock, agree on a moment at which all of them begin. The first one waits until
/// all are ready and names it. Returns at that moment, or as soon as this rank has heard of it, with the moment on the
/// clock of now_s().
double wait_for_common_start(const std::vector<int>& ranks, int own_rank);

}  // namespace hplcast::calibration
