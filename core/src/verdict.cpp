#include "hplcast/core/verdict.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "hplcast/core/cluster_problems.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

const char* to_string(Usability usability) {
  switch (usability) {
    case Usability::usable:
      return "usable";
    case Usability::doubtful:
      return "doubtful";
    case Usability::unusable:
      return "unusable";
  }
  return "";
}

Usability usability_with(const QualityFlag& flag) {
  if (flag.flag == "oversubscribed" || flag.flag == "no_fit") return Usability::unusable;
  if (flag.flag == "too_few_repetitions" && flag.subject == "dgemm") return Usability::unusable;
  if (flag.flag == "capacity_unknown" || flag.flag == "capacity_lower_bound") return Usability::usable;
  return Usability::doubtful;
}

Verdict verdict_on(const std::vector<QualityFlag>& flags) {
  Verdict verdict;
  for (const QualityFlag& flag : flags) verdict.usability = std::max(verdict.usability, usability_with(flag));
  if (verdict.usability == Usability::usable) return verdict;
  for (const QualityFlag& flag : flags)
    if (usability_with(flag) == verdict.usability) verdict.reasons.push_back(flag);
  return verdict;
}

std::string to_string(const Verdict& verdict) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> subjects;
  for (const QualityFlag& flag : verdict.reasons) {
    if (subjects.count(flag.flag) == 0) order.push_back(flag.flag);
    subjects[flag.flag].push_back(flag.subject);
  }
  std::string text = to_string(verdict.usability);
  for (std::size_t i = 0; i < order.size(); ++i) {
    text += i == 0 ? " because of " : i + 1 < order.size() ? ", " : " and ";
    text += order[i] + " (" + comma_separated(subjects[order[i]]) + ")";
  }
  return text;
}

std::vector<QualityFlag> recorded_flags(const ClusterModel& cluster) {
  std::vector<QualityFlag> flags;
  const nlohmann::json provenance = nlohmann::json::parse(cluster.provenance, nullptr, false);
  if (!provenance.is_object() || !provenance.contains("quality_flags")) return flags;
  const auto text = [](const nlohmann::json& flag, const char* key) {
    return flag.contains(key) && flag.at(key).is_string() ? flag.at(key).get<std::string>() : std::string("unknown");
  };
  for (const nlohmann::json& flag : provenance["quality_flags"]) {
    if (flag.is_object()) flags.push_back({text(flag, "subject"), text(flag, "flag"), text(flag, "detail")});
  }
  return flags;
}

std::vector<std::string> model_doubts(const ClusterModel& cluster) {
  std::vector<std::string> lines;
  const std::vector<QualityFlag> recorded = recorded_flags(cluster);
  for (const QualityFlag& flag : recorded) {
    if (usability_with(flag) != Usability::usable)
      lines.push_back(flag.subject + ": " + flag.flag + ": " + flag.detail);
  }
  for (const QualityFlag& doubt : doubts(cluster)) {
    const auto is_this = [&](const QualityFlag& flag) {
      return flag.flag == doubt.flag && flag.detail == doubt.detail;
    };
    if (std::none_of(recorded.begin(), recorded.end(), is_this)) lines.push_back(doubt.subject + ": " + doubt.detail);
  }
  return lines;
}

}  // namespace hplcast::core
