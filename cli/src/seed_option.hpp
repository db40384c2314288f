#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace hplcast::cli {

/// A whole number from 0 to 2^64 - 1, every digit of it. @throws core::UsageError for anything else.
std::uint64_t parse_seed(const std::string& text);

/// The option --seed: of one seed, whose default is the value that it has, or of several.
CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed, const std::string& help);
CLI::Option* add_seeds(CLI::App& command, std::vector<std::uint64_t>& seeds, const std::string& help);

}  // namespace hplcast::cli
