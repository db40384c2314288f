#include "hplcast/study/transform.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

Argument::Argument(const TransformationInfo& info, const std::string& text, Separator separator)
    : info_(info), text_(text) {
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, static_cast<char>(separator));) parts_.push_back(part);
  if (!text.empty() && text.back() == separator) parts_.emplace_back();  // getline() drops it
  const std::string& form = info.argument;
  const auto colons = static_cast<std::size_t>(separator == colon ? std::count(form.begin(), form.end(), ':') : 0);
  std::size_t optional = 0;
  for (std::size_t at = form.find("[:"); at != std::string::npos; at = form.find("[:", at + 1)) ++optional;
  const bool too_many = (separator == colon || separator == nothing) && parts_.size() > colons + 1;
  if (parts_.size() < colons - optional + 1 || too_many) fail();
}

double Argument::number(std::size_t i) const {
  double value = 0;
  if (!core::parse_double(parts_.at(i), value)) fail();
  // No machine differs by that much: it is a slip of the pen, or a quantity in place of a factor.
  constexpr double most = 1e6;
  if (info_.argument == "FACTOR" && value > 0 && (value > most || value < 1 / most))
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

double Argument::quantity(std::size_t i, double (*parse)(const std::string&)) const {
  try {
    return parse(parts_.at(i));
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
  if (known == nullptr)
    throw core::DomainError("transformation", transformation.name, "one that `hplcast transform --help` lists");
  if (transformation.argument == "none") return cluster;
  const Argument argument(known->info, transformation.argument, known->separator);
  ClusterModel result = known->apply(cluster, argument);
  auto provenance = core::parse_json<nlohmann::ordered_json>(result.provenance);
  provenance["transformations"].push_back(transformation.name + "=" + transformation.argument);
  result.provenance = core::json_text(provenance);
  return result;
}

}  // namespace

const std::vector<TransformationInfo>& transformations() {
  static const std::vector<TransformationInfo> infos = [] {
    std::vector<TransformationInfo> result;
    for (const KnownTransformation& one : known_transformations()) result.push_back(one.info);
    return result;
  }();
  return infos;
}

bool is_transformation(const std::string& name) {
  return find(name) != nullptr;
}

ClusterModel transformed(ClusterModel cluster, const std::vector<Transformation>& transformations) {
  for (const Transformation& transformation : transformations) cluster = with_change(cluster, transformation);
  return cluster;
}

}  // namespace hplcast::study
