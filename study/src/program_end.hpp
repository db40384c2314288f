#pragma once

#include <string>
#include <vector>

#include "hplcast/core/process.hpp"

namespace hplcast::study {

/// "rank 3", "ranks 0, 1, 2, 3 and 60 more".
std::string ranks_text(const std::vector<int>& ranks);

/// How a simulated program that failed came to its end, for messages: its exit code and the ranks that ended with one
/// where SMPI says so in `output` (all that smpirun printed), a signal, else core::how_it_ended().
std::string how_program_ended(const core::Command& command, const core::CommandResult& result,
                              const std::string& output);

}  // namespace hplcast::study
