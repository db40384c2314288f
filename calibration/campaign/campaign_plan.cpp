#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "calibration/campaign/campaign_folder.hpp"
#include "hplcast/calibration/campaign.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::calibration {

namespace {

/// The header and the first `rows` rows of a CSV.
std::string first_rows(const std::string& csv, std::size_t rows) {
  std::size_t end = csv.find('\n');
  for (; rows > 0 && end != std::string::npos; --rows) end = csv.find('\n', end + 1);
  return csv.substr(0, end == std::string::npos ? end : end + 1);
}

}  // namespace

void shorten(CampaignPlan& plan, double total_s) {
  double fixed_s = plan.warm_up_s, free_s = 0;
  for (const CampaignStep& step : plan.steps) (step.may_be_shortened ? free_s : fixed_s) += step.estimated_s;
  if (fixed_s + free_s <= total_s) return;
  const double share = (total_s - fixed_s) / free_s;
  for (CampaignStep& step : plan.steps) {
    if (!step.may_be_shortened) continue;
    const double rows = std::floor(share * static_cast<double>(step.rows));
    if (!(rows >= 1)) {
      throw core::DomainError(
          "duration", total_s,
          "more than the " + std::to_string(std::lround(fixed_s)) + " s that warm-up and steps without a design need");
    }
    step.rows = static_cast<std::size_t>(rows);
    step.design = first_rows(step.design, step.rows);
    step.estimated_s *= share;
  }
}

std::vector<CampaignChunk> chunks_of(const CampaignPlan& plan) {
  if (!(plan.chunk_s > 0)) throw core::DomainError("chunk", plan.chunk_s, "a positive number of seconds");
  std::vector<CampaignChunk> chunks;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const CampaignStep& step = plan.steps[index];
    const double wanted = std::max(1.0, std::ceil(step.estimated_s / plan.chunk_s));
    const std::size_t pieces = std::min(std::max<std::size_t>(step.rows, 1), static_cast<std::size_t>(wanted));
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      chunks.push_back({index, piece, step.rows * piece / pieces, step.rows * (piece + 1) / pieces,
                        step.estimated_s / static_cast<double>(pieces)});
    }
  }
  return chunks;
}

namespace {

using Json = nlohmann::ordered_json;

Json launch_of(const CampaignPlan& plan) {
  return {{"ranks", plan.launch.ranks},
          {"hosts", plan.hosts},
          {"bind", plan.launch.bind},
          {"allow_oversubscription", plan.launch.oversubscribe}};
}

std::map<std::string, Json> steps_of(const CampaignPlan& plan) {
  std::vector<int> pieces(plan.steps.size(), 0);
  for (const CampaignChunk& chunk : chunks_of(plan)) ++pieces[chunk.step];
  std::map<std::string, Json> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const CampaignStep& step = plan.steps[i];
    steps[step.name] = {{"program", step.program.filename().string()},
                        {"arguments", step.arguments},
                        {"design", core::sha256_hex(step.design)},
                        {"pieces", pieces[i]}};
  }
  return steps;
}

/// What people call these fields.
std::string words_for(const std::string& field) {
  const std::map<std::string, std::string> words = {{"arguments", "its options"},
                                                    {"design", "its sizes, counts or seed"},
                                                    {"pieces", "its number of pieces (`chunk`, `duration`)"}};
  const auto found = words.find(field);
  return found == words.end() ? "its " + field : found->second;
}

/// The first field whose values are not the same in both; empty: there is none.
std::string first_difference(const Json& before, const Json& now) {
  for (const auto& [field, value] : before.items()) {
    if (!now.contains(field) || now.at(field) != value) return field;
  }
  return "";
}

}  // namespace

std::string steps_json(const CampaignPlan& plan) {
  const Json json = {{"launch", launch_of(plan)}, {"steps", steps_of(plan)}};
  return core::json_text(json, 2) + "\n";
}

std::string measured_otherwise(const std::string& remembered, const std::string& name, const CampaignPlan& plan,
                               const std::function<bool(const std::string& step)>& is_begun) {
  core::check_json(remembered, name);
  try {
    const Json before = core::parse_json<Json>(remembered);
    const std::map<std::string, Json> now = steps_of(plan);
    bool any = false;
    for (const auto& [step, fields] : before.at("steps").items()) {
      if (!is_begun(step)) continue;
      any = true;
      const auto found = now.find(step);
      if (found == now.end()) return "step " + step + ", which has been measured, is not in it";
      const std::string field = first_difference(fields, found->second);
      if (!field.empty()) return "step " + step + " has been measured, and " + words_for(field) + " would be others";
    }
    const std::string field = any ? first_difference(before.at("launch"), launch_of(plan)) : "";
    return field.empty() ? "" : "something has been measured, and `" + field + "` would be another";
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, error.what(), "written by `hplcast calibrate`; was it changed by hand?");
  }
}

}  // namespace hplcast::calibration
