#include "hplcast/study/transform.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

Argument::Argument(const TransformationInfo& info, const std::string& text, Separator separator)
    : info_(info), text_(text) {
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, static_cast<char>(separator));) parts_.push_back(part);
  if (text.empty() ? separator == nothing : text.back() == separator) parts_.emplace_back();  // getline() drops it
  const std::string form = separator == colon ? info.argument : "";
  const auto colons = static_cast<std::size_t>(std::count(form.begin(), form.end(), ':'));
  std::size_t optional = 0;
  for (std::size_t at = form.find("[:"); at != std::string::npos; at = form.find("[:", at + 1)) ++optional;
  const bool too_many = separator == colon && parts_.size() > colons + 1;
  const bool cut_off = separator == colon && parts_.size() > 1 && parts_.back().empty();
  if (parts_.size() < colons - optional + 1 || too_many || cut_off) fail();
}

double Argument::number(std::size_t i) const {
  double value = 0;
  if (!core::parse_double(parts_.at(i), value)) fail();
  // No machine differs by that much: it is a slip of the pen, or a quantity in place of a factor.
  constexpr double most = 1e6;
  if (core::begins_with(info_.argument, "FACTOR") && i == 0 && value > 0 && (value > most || value < 1 / most))
    throw TransformationFormError(info_.name, text_, "a factor from 1e-6 to 1e6");
  return value;
}

double Argument::factor() const {
  return require_positive("factor", number());
}

int Argument::integer(std::size_t i) const {
  const double value = number(i);
  if (value != std::floor(value) || std::abs(value) > 1e9) fail();
  return static_cast<int>(value);
}

int Argument::whole(const std::string& text) const {
  double value = 0;
  if (!core::parse_double(text, value) || !(value >= 0 && value < 2147483648.0) || value != std::floor(value)) fail();
  return static_cast<int>(value);
}

double Argument::quantity(const std::string& text, double (*parse)(const std::string&)) const {
  try {
    return parse(text);
  } catch (const core::UsageError&) {
    fail();
  }
}

SpeedRank Argument::rank(std::size_t i, SpeedRank otherwise) const {
  if (i >= size()) return otherwise;
  if (parts_[i] == "slowest") return SpeedRank::slowest;
  if (parts_[i] == "median") return SpeedRank::median;
  if (parts_[i] == "fastest") return SpeedRank::fastest;
  fail();
}

namespace {

const std::vector<KnownTransformation>& known_transformations() {
  static const std::vector<KnownTransformation> all = [] {
    std::vector<KnownTransformation> joined;
    for (const auto& group : {speed_changes(), power_changes(), variability_changes(), detour_changes(), node_changes(),
                              topology_changes(), placement_changes()})
      joined.insert(joined.end(), group.begin(), group.end());
    return joined;
  }();
  return all;
}

const KnownTransformation* find(const std::string& name) {
  for (const KnownTransformation& one : known_transformations())
    if (one.info.name == name) return &one;
  return nullptr;
}

ClusterModel with_change(const ClusterModel& cluster, const Transformation& transformation) {
  const KnownTransformation* known = find(transformation.name);
  core::require(known != nullptr, "transformation", transformation.name, "one that `hplcast transform --help` lists");
  if (transformation.argument == "none") return cluster;
  const Argument argument(known->info, transformation.argument, known->separator);
  ClusterModel result = known->apply(cluster, argument);
  if (core::frequency_changes(result.power)) core::check_power(*result.power, result.hosts);
  core::check_detour_cores(result.detours, result.hosts.most_cores());
  auto provenance = core::parse_json<Json>(result.provenance);
  provenance["transformations"].push_back(transformation.name + "=" + transformation.argument);
  result.provenance = core::json_text(provenance);
  return result;
}

}  // namespace

const std::vector<TransformationInfo>& transformations() {
  static const auto infos = core::mapped(known_transformations(), &KnownTransformation::info);
  return infos;
}

bool is_transformation(const std::string& name) {
  return find(name) != nullptr;
}

ClusterModel transformed(ClusterModel cluster, const std::vector<Transformation>& transformations) {
  for (const Transformation& transformation : transformations) cluster = with_change(cluster, transformation);
  return cluster;
}

// --- tools of the changes

double require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw core::DomainError(name, value, "a positive number");
  return value;
}

core::PiecewiseLaw edited(const core::PiecewiseLaw& law, const LawEdit& edit) {
  std::vector<core::LawPiece> pieces = law.pieces();
  for (core::LawPiece& piece : pieces) piece.law = edit(piece.law);
  return core::PiecewiseLaw::make(law.split(), std::move(pieces));
}

core::KernelModel edited(const core::KernelModel& model, const LawEdit& edit) {
  std::vector<core::CpuLaw> overrides = model.overrides();
  for (core::CpuLaw& law : overrides) law.law = edited(law.law, edit);
  return core::KernelModel::make(model.level(), edited(model.cluster_law(), edit), std::move(overrides), model.range());
}

core::DurationLaw slowed(const core::DurationLaw& law, double factor) {
  return core::DurationLaw::make(core::scaled(law.mu(), factor), core::scaled(law.sigma(), factor), law.noise(),
                                 law.modes());
}

core::PiecewiseLaw slowed(const core::PiecewiseLaw& law, double factor) {
  return edited(law, [&](const core::DurationLaw& piece) { return slowed(piece, factor); });
}

core::KernelModel slowed(const core::KernelModel& model, double factor) {
  return edited(model, [&](const core::DurationLaw& law) { return slowed(law, factor); });
}

void slow_program(core::ProgramModel& program,
                  const std::function<void(core::KernelModel& model, const std::string& routine)>& slow,
                  double longer) {
  for (auto& [name, model] : program.routines) slow(model, name.substr(0, name.find('/')));
  for (auto& [name, region] : program.regions) {
    if (region.mode == core::RegionMode::model) slow(region.model, "");
    if (region.mode == core::RegionMode::factor) region.factor *= longer;
    region.time_s *= longer;
  }
  program.rest_s_per_call *= longer;
  program.rest_s_per_element *= longer;
}

void edit_accelerators(ClusterModel& cluster, const std::function<void(core::AcceleratorModel&)>& edit) {
  if (cluster.accelerators) edit(*cluster.accelerators);
  core::Hosts::Values hosts = cluster.hosts.values();
  for (core::HostKind& kind : hosts.kinds)
    if (kind.accelerators) edit(*kind.accelerators);
  cluster.hosts = core::Hosts::make(std::move(hosts));
}

void edit_models(ClusterModel& cluster, const std::function<void(core::KernelModel&)>& edit) {
  for (auto& [name, model] : cluster.kernels) edit(model);
  edit_accelerators(cluster, [&](core::AcceleratorModel& accelerators) {
    for (auto& [name, kernel] : accelerators.kernels)
      if (kernel.model) edit(*kernel.model);
  });
  if (cluster.program)
    slow_program(
        *cluster.program, [&](core::KernelModel& model, const auto&) { edit(model); }, 1);
}

ClusterModel with_network(ClusterModel cluster, const std::function<void(core::NetworkModel::Values&)>& edit) {
  core::NetworkModel::Values values = cluster.network.values();
  edit(values);
  cluster.network = core::NetworkModel::make(std::move(values));
  return cluster;
}

void edit_segments(core::SegmentedLaw& law, const std::function<void(core::Segment&)>& edit) {
  std::vector<core::Segment> segments = law.segments();
  for (core::Segment& segment : segments) edit(segment);
  law = core::SegmentedLaw::make(std::move(segments));
}

void scale_intercept(core::Segment& segment, double factor) {
  segment.intercept_s *= factor;
  segment.sd_s *= factor;
  for (core::MixtureMode& mode : segment.modes) {
    mode.mean *= factor;
    mode.sd *= factor;
  }
}

core::KernelModel& kernel_of(ClusterModel& cluster, const std::string& kernel) {
  const auto found = cluster.kernels.find(kernel);
  if (found == cluster.kernels.end())
    throw core::DomainError("kernel", kernel, "one that the cluster " + cluster.name + " has a model of");
  return found->second;
}

}  // namespace hplcast::study
