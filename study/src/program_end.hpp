#pragma once

#include <string>

#include "hplcast/core/process.hpp"

namespace hplcast::study {

/// How a simulated program that failed came to its end, for messages: its exit code and the ranks that ended with one
/// where SMPI says so in `output` (all that smpirun printed), a signal, else core::how_it_ended().
std::string how_program_ended(const core::Command& command, const core::CommandResult& result,
                              const std::string& output);

}  // namespace hplcast::study
