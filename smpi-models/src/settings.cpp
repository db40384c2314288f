#include "settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

namespace {

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw core::DomainError("HPLCAST_SEED", std::string(text), "an integer from 0 to 18446744073709551615");
  }
  return seed;
}

/// True for `yes`, false for `no`.
bool parse_choice(const char* name, std::string_view text, const char* yes, const char* no) {
  if (text == yes) return true;
  if (text == no) return false;
  throw core::DomainError(name, std::string(text), std::string(yes) + " or " + no);
}

}  // namespace

Settings read_settings(const std::function<const char*(const char*)>& lookup) {
  Settings settings;
  const auto value = [&](const char* name) -> std::string {
    const char* text = lookup(name);
    return text == nullptr ? "" : text;
  };
  settings.cluster_path = value("HPLCAST_CLUSTER");
  settings.stats_path = value("HPLCAST_STATS");
  if (const std::string seed = value("HPLCAST_SEED"); !seed.empty()) settings.seed = parse_seed(seed);
  const auto choose = [&](const char* name, const char* yes, const char* no, bool& setting) {
    if (const std::string text = value(name); !text.empty()) setting = parse_choice(name, text, yes, no);
  };
  choose("HPLCAST_NOISE", "on", "off", settings.noise);
  choose("HPLCAST_NETWORK_NOISE", "on", "off", settings.network_noise);
  choose("HPLCAST_MESSAGES", "direct", "smpi", settings.direct_messages);
  choose("HPLCAST_POLLING", "wait", "probe", settings.poll_by_waiting);
  return settings;
}

Settings read_settings() {
  return read_settings([](const char* name) { return std::getenv(name); });
}

}  // namespace hplcast::smpi_models
