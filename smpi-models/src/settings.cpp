#include "settings.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

namespace {

std::uint64_t parse_whole(const char* name, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    throw core::DomainError(name, std::string(text),
                            "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

RealExchanges parse_real_exchanges(const std::string& text) {
  const char* const name = "HPLCAST_REAL_EXCHANGES";
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) throw core::DomainError(name, text, "RUN/PERIOD, as 2/32");
  constexpr int most = 1 << 30;
  const auto period = static_cast<int>(parse_whole(name, std::string_view(text).substr(slash + 1), 1, most));
  const auto run = static_cast<int>(
      parse_whole(name, std::string_view(text).substr(0, slash), 1, static_cast<std::uint64_t>(period)));
  return {run, period};
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
  if (const std::string seed = value("HPLCAST_SEED"); !seed.empty())
    settings.seed = parse_whole("HPLCAST_SEED", seed, 0, UINT64_MAX);
  const auto choose = [&](const char* name, const char* yes, const char* no, bool& setting) {
    if (const std::string text = value(name); !text.empty()) setting = parse_choice(name, text, yes, no);
  };
  if (const std::string text = value("HPLCAST_REAL_EXCHANGES"); !text.empty()) {
    settings.real_exchanges = parse_real_exchanges(text);
  }
  choose("HPLCAST_NOISE", "on", "off", settings.noise);
  choose("HPLCAST_NETWORK_NOISE", "on", "off", settings.network_noise);
  choose("HPLCAST_MODE", "fast", "exact", settings.fast);
  choose("HPLCAST_PIVOTS", "uniform", "lowest", settings.uniform_pivots);
  choose("HPLCAST_MESSAGES", "direct", "smpi", settings.direct_messages);
  choose("HPLCAST_POLLING", "wait", "probe", settings.poll_by_waiting);
  return settings;
}

Settings read_settings() {
  return read_settings([](const char* name) { return std::getenv(name); });
}

}  // namespace hplcast::smpi_models
