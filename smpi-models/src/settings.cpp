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

bool parse_switch(const char* name, std::string_view text) {
  if (text == "on") return true;
  if (text == "off") return false;
  throw core::DomainError(name, std::string(text), "on or off");
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
  if (const std::string noise = value("HPLCAST_NOISE"); !noise.empty()) {
    settings.noise = parse_switch("HPLCAST_NOISE", noise);
  }
  if (const std::string noise = value("HPLCAST_NETWORK_NOISE"); !noise.empty()) {
    settings.network_noise = parse_switch("HPLCAST_NETWORK_NOISE", noise);
  }
  return settings;
}

Settings read_settings() {
  return read_settings([](const char* name) { return std::getenv(name); });
}

}  // namespace hplcast::smpi_models
