#include "settings.hpp"

#include <charconv>
#include <cmath>
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

SampledExchanges parse_sampled_exchanges(const std::string& text) {
  const char* const name = "HPLCAST_SAMPLED_EXCHANGES";
  const std::size_t first = text.find('/');
  const std::size_t second = first == std::string::npos ? first : text.find('/', first + 1);
  if (second == std::string::npos) throw core::DomainError(name, text, "RUN/PERIOD/PANELS, as 4/32/4");
  const auto part = [&](std::size_t begin, std::size_t end, int most) {
    const std::string_view number = std::string_view(text).substr(begin, end - begin);
    return static_cast<int>(parse_whole(name, number, 1, static_cast<std::uint64_t>(most)));
  };
  constexpr int most = 1 << 30;
  const int period = part(first + 1, second, most);
  // Something is noted between two runs: there the members of a column wait for each other.
  return {part(0, first, period - 1), period, part(second + 1, text.size(), most)};
}

/// Panels FIRST-LAST, counted from 0.
std::pair<int, int> parse_window(const std::string& text) {
  const char* const name = "HPLCAST_WINDOW";
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) throw core::DomainError(name, text, "FIRST-LAST, as 512-583");
  const auto panel = [&](std::string_view number, int least) {
    constexpr int most = 1 << 30;
    return static_cast<int>(parse_whole(name, number, static_cast<std::uint64_t>(least), most));
  };
  const int first = panel(std::string_view(text).substr(0, dash), 0);
  return {first, panel(std::string_view(text).substr(dash + 1), first)};
}

/// Above 0.
double parse_seconds(const char* name, const std::string& text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0) || !std::isfinite(seconds))
    throw core::DomainError(name, text, "a number of seconds above 0");
  return seconds;
}

Settings::Rest parse_rest(const std::string& text) {
  if (text == "zero") return Settings::Rest::zero;
  if (text == "model") return Settings::Rest::model;
  if (text == "bench") return Settings::Rest::bench;
  throw core::DomainError("HPLCAST_REST", text, "zero, model or bench");
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
  if (const std::string text = value("HPLCAST_SAMPLED_EXCHANGES"); !text.empty()) {
    settings.sampled_exchanges = parse_sampled_exchanges(text);
  }
  if (const std::string text = value("HPLCAST_WINDOW"); !text.empty()) settings.window = parse_window(text);
  if (const std::string text = value("HPLCAST_FAST_PANELS"); !text.empty())
    settings.fast_panels = static_cast<int>(parse_whole("HPLCAST_FAST_PANELS", text, 0, 1 << 30));
  choose("HPLCAST_LOAD", "on", "off", settings.load);
  choose("HPLCAST_ENERGY", "on", "off", settings.energy.on);
  choose("HPLCAST_POWER_HOSTS", "on", "off", settings.energy.hosts);
  if (const std::string text = value("HPLCAST_POWER_BIN"); !text.empty())
    settings.energy.bin_s = parse_seconds("HPLCAST_POWER_BIN", text);
  choose("HPLCAST_PROGRAM", "on", "off", settings.program);
  choose("HPLCAST_NUMERICS", "run", "model", settings.numerics);
  settings.real_blas = value("HPLCAST_REAL_BLAS");
  if (const std::string text = value("HPLCAST_REST"); !text.empty()) settings.rest = parse_rest(text);
  if (const std::string text = value("HPLCAST_SHARE_ABOVE"); !text.empty())
    settings.share_above_bytes = parse_whole("HPLCAST_SHARE_ABOVE", text, 0, SIZE_MAX);
  choose("HPLCAST_NOISE", "on", "off", settings.noise);
  choose("HPLCAST_DETOURS", "on", "off", settings.detours);
  choose("HPLCAST_NETWORK_NOISE", "on", "off", settings.network_noise);
  choose("HPLCAST_MODE", "fast", "exact", settings.fast);
  choose("HPLCAST_PIVOTS", "uniform", "lowest", settings.uniform_pivots);
  choose("HPLCAST_MESSAGES", "direct", "smpi", settings.direct_messages);
  choose("HPLCAST_FLOWS", "own", "simgrid", settings.own_flows);
  choose("HPLCAST_POLLING", "wait", "probe", settings.poll_by_waiting);
  return settings;
}

Settings read_settings() {
  return read_settings([](const char* name) { return std::getenv(name); });
}

}  // namespace hplcast::smpi_models
