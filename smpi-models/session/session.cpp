#include "smpi-models/session/session.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

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

namespace {

core::Monomial monomial(const hplcast_term& term) {
  return {term.m, term.n, term.k};
}

core::Polynomial polynomial(const hplcast_polynomial& table) {
  std::vector<core::Monomial> terms;
  for (int i = 0; i < table.count; ++i) terms.push_back(monomial(table.terms[i]));
  return core::Polynomial::make(std::move(terms), {table.coefficients, table.coefficients + table.count});
}

core::NoiseFamily noise_family(hplcast_noise noise) {
  switch (noise) {
#define HPLCAST_FAMILY(NAME, name, text) \
  case HPLCAST_NOISE_##NAME:             \
    return core::NoiseFamily::name;
    HPLCAST_NOISE_FAMILIES(HPLCAST_FAMILY)
#undef HPLCAST_FAMILY
  }
  throw core::DomainError("noise in model.h", static_cast<double>(noise), "one of hplcast_noise");
}

core::DurationLaw duration_law(const hplcast_law_piece& piece) {
  std::vector<core::MixtureMode> modes;
  for (int i = 0; i < piece.mode_count; ++i) {
    modes.push_back({piece.modes[i].probability, piece.modes[i].mean, piece.modes[i].sd});
  }
  return core::DurationLaw::make(polynomial(piece.mu), polynomial(piece.sigma), noise_family(piece.noise),
                                 std::move(modes));
}

core::PiecewiseLaw piecewise_law(const hplcast_law& law) {
  std::vector<core::LawPiece> pieces;
  for (int i = 0; i < law.piece_count; ++i) pieces.push_back({law.pieces[i].from, duration_law(law.pieces[i])});
  return core::PiecewiseLaw::make(monomial(law.split), std::move(pieces));
}

core::KernelModel kernel_model(const hplcast_kernel_table& table) {
  if (table.law_count < 1)
    throw core::DomainError("laws of " + std::string(table.kernel), table.law_count, "at least one");
  std::vector<core::CpuLaw> overrides;
  for (int i = 1; i < table.law_count; ++i) {
    overrides.push_back({table.laws[i].host, table.laws[i].cpu, piecewise_law(table.laws[i])});
  }
  std::optional<core::ShapeRange> range;
  if (table.has_range != 0) {
    range = core::ShapeRange{{table.min[0], table.min[1], table.min[2]}, {table.max[0], table.max[1], table.max[2]}};
  }
  return core::KernelModel::make(table.level, piecewise_law(table.laws[0]), std::move(overrides), range);
}

core::Hosts hosts(const hplcast_model_table& table) {
  core::Hosts::Values values;
  values.names = table.hosts;
  values.cores = table.cores;
  values.cpus = table.cpus;
  switch (table.cpu_order) {
    case HPLCAST_CPU_BLOCK:
      values.rank_to_cpu.kind = core::RankToCpu::Kind::block;
      break;
    case HPLCAST_CPU_CYCLIC:
      values.rank_to_cpu.kind = core::RankToCpu::Kind::cyclic;
      break;
    case HPLCAST_CPU_LIST:
      values.rank_to_cpu.kind = core::RankToCpu::Kind::list;
      values.rank_to_cpu.list.assign(table.cpu_list, table.cpu_list + table.cores);
      break;
  }
  return core::Hosts::make(std::move(values));
}

/// The larger of the two maxima, or 0 (not known) if one is not known.
double max_message(double local_bytes, double remote_bytes) {
  return local_bytes > 0 && remote_bytes > 0 ? std::max(local_bytes, remote_bytes) : 0;
}

}  // namespace

Model model_from_table(const hplcast_model_table& table) {
  if (table.version != HPLCAST_MODEL_TABLE_VERSION) {
    throw core::DomainError("version of model.h", table.version, std::to_string(HPLCAST_MODEL_TABLE_VERSION),
                            "make it again with `hplcast emit`");
  }
  Model model;
  model.cluster.name = table.name;
  model.cluster.hosts = hosts(table);
  for (int i = 0; i < table.kernel_count; ++i) {
    model.cluster.kernels.emplace(table.kernels[i].kernel, kernel_model(table.kernels[i]));
  }
  model.sha256 = table.sha256;
  model.source = "model.h";
  model.max_message_bytes = max_message(table.local_max_bytes, table.remote_max_bytes);
  return model;
}

Model model_from_file(const std::string& path) {
  Model model;
  core::read_file(path,
                  [&](std::istream& in, const std::string& name) { model.cluster = core::read_cluster(in, name); });
  model.sha256 = core::cluster_sha256(model.cluster);
  model.source = path;
  const core::NetworkModel& network = model.cluster.network;
  model.max_message_bytes =
      max_message(network.scope(core::Scope::local).max_bytes, network.scope(core::Scope::remote).max_bytes);
  return model;
}

const Settings& Session::settings() {
  if (!settings_) settings_ = read_settings();
  return *settings_;
}

const std::optional<Model>& Session::file_model() {
  if (!file_model_) {
    const std::string& path = settings().cluster_path;
    file_model_ = path.empty() ? std::nullopt : std::optional(model_from_file(path));
  }
  return *file_model_;
}

std::optional<Model> Session::model() {
  if (file_model()) return file_model();
  if (registered_ != nullptr) return model_from_table(*registered_);
  return std::nullopt;
}

void Session::register_model(const hplcast_model_table& table) {
  if (registered_ == nullptr) registered_ = &table;
  if (std::string(registered_->sha256) != table.sha256) {
    throw core::DomainError("second registered model", table.sha256,
                            std::string("the model registered first, ") + registered_->sha256);
  }
}

}  // namespace hplcast::smpi_models
