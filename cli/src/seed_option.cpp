#include "seed_option.hpp"

#include <charconv>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

namespace {

/// CLI11 reads -1 as 2^64 - 1.
CLI::Validator as_seed() {
  return CLI::Validator(
      [](std::string& text) {
        try {
          (void)parse_seed(text);
          return std::string();
        } catch (const core::UsageError& error) {
          return std::string(error.what());
        }
      },
      "SEED");
}

}  // namespace

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (!text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size()) return seed;
  throw core::UsageError("`" + text + "` is not a seed; expected a whole number from 0 to 2^64 - 1");
}

CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  return command.add_option("--seed", seed, help)->check(as_seed())->capture_default_str();
}

CLI::Option* add_seeds(CLI::App& command, std::vector<std::uint64_t>& seeds, const std::string& help) {
  return command.add_option("--seed", seeds, help)->check(as_seed())->delimiter(',')->allow_extra_args(false);
}

}  // namespace hplcast::cli
