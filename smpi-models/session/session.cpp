#include "smpi-models/session/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "hplcast/core/environment.h"
#include "hplcast/core/files.hpp"

namespace hplcast::smpi_models {

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
  for (int i = 0; i < piece.mode_count; ++i)
    modes.push_back({piece.modes[i].probability, piece.modes[i].mean, piece.modes[i].sd});
  return core::DurationLaw::make(polynomial(piece.mu), polynomial(piece.sigma), noise_family(piece.noise),
                                 std::move(modes));
}

core::PiecewiseLaw piecewise_law(const hplcast_law& law) {
  std::vector<core::LawPiece> pieces;
  for (int i = 0; i < law.piece_count; ++i) pieces.push_back({law.pieces[i].from, duration_law(law.pieces[i])});
  return core::PiecewiseLaw::make(monomial(law.split), std::move(pieces));
}

core::KernelModel kernel_model(const hplcast_kernel_table& table) {
  core::require(table.law_count >= 1, "laws of " + std::string(table.kernel), table.law_count, "at least one");
  std::vector<core::CpuLaw> overrides;
  for (int i = 1; i < table.law_count; ++i)
    overrides.push_back({table.laws[i].host, table.laws[i].cpu, piecewise_law(table.laws[i])});
  std::optional<core::ShapeRange> range;
  if (table.has_range != 0)
    range = core::ShapeRange{{table.min[0], table.min[1], table.min[2]}, {table.max[0], table.max[1], table.max[2]}};
  return core::KernelModel::make(table.level, piecewise_law(table.laws[0]), std::move(overrides), range);
}

/// From hplcast_model_table or hplcast_host_kind to Hosts::Values or HostKind.
template <typename Table, typename Shape>
void take_cores(const Table& table, Shape& values) {
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
}

core::Hosts hosts(const hplcast_model_table& table) {
  core::Hosts::Values values;
  values.names = table.hosts;
  take_cores(table, values);
  for (int i = 0; i < table.kind_count; ++i) {
    core::HostKind& kind = values.kinds.emplace_back();
    kind.name = table.kinds[i].name;
    kind.hosts = table.kinds[i].hosts;
    take_cores(table.kinds[i], kind);
  }
  return core::Hosts::make(std::move(values));
}

/// The larger of the two maxima, or 0 (not known) if one is not known.
double max_message(double local_bytes, double remote_bytes) {
  return local_bytes > 0 && remote_bytes > 0 ? std::max(local_bytes, remote_bytes) : 0;
}

}  // namespace

Model model_from_table(const hplcast_model_table& table) {
  core::require(table.version == HPLCAST_MODEL_TABLE_VERSION, "version of model.h", table.version,
                std::to_string(HPLCAST_MODEL_TABLE_VERSION), "make it again with `hplcast emit`");
  Model model;
  model.cluster.name = table.name;
  model.cluster.hosts = hosts(table);
  for (int i = 0; i < table.kernel_count; ++i)
    model.cluster.kernels.emplace(table.kernels[i].kernel, kernel_model(table.kernels[i]));
  model.sha256 = table.sha256;
  model.source = "model.h";
  model.max_message_bytes = max_message(table.local_max_bytes, table.remote_max_bytes);
  return model;
}

Model model_from_file(const std::string& path) {
  Model model;
  model.cluster = core::read_from(path, core::read_cluster);
  model.sha256 = core::cluster_sha256(model.cluster);
  model.source = path;
  const core::NetworkModel& network = model.cluster.network;
  model.max_message_bytes =
      max_message(network.scope(core::Scope::local).max_bytes, network.scope(core::Scope::remote).max_bytes);
  return model;
}

namespace {

Settings read_settings() {
  const char* const file = std::getenv(HPLCAST_VARIABLE_SIMULATION);
  Settings settings = file != nullptr && *file != '\0' ? core::read_simulation_settings(file) : Settings();
  const char* const checks = std::getenv(HPLCAST_VARIABLE_CHECKS);
  if (checks != nullptr && std::string_view(checks) == "on") settings.observation.checks = true;
  return settings;
}

}  // namespace

const Settings& Session::settings() {
  if (!settings_) settings_ = read_settings();
  return *settings_;
}

const std::optional<Model>& Session::file_model() {
  if (!file_model_) {
    const std::string& path = settings().cluster;
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
  core::require(std::string(registered_->sha256) == table.sha256, "second registered model", table.sha256,
                std::string("the model registered first, ") + registered_->sha256);
}

}  // namespace hplcast::smpi_models
