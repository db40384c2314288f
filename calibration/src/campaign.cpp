#include "hplcast/calibration/campaign.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"

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

}  // namespace hplcast::calibration
