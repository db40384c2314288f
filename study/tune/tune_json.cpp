#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/core/json.hpp"
#include "hplcast/study/tune.hpp"
#include "study/compare/parameters_json.hpp"

namespace hplcast::study {

namespace {

std::array<double, 2> interval_in_unit(Objective objective, const fit::Bounds& merits) {
  const auto [low, high] = std::minmax({in_unit(objective, merits.lower), in_unit(objective, merits.upper)});
  return {low, high};
}

}  // namespace

void write_tune_result(std::ostream& out, const TuneResult& result) {
  nlohmann::ordered_json json;
  json["objective"] = to_string(result.objective);
  json["best"] = result.best;
  const std::vector<std::size_t> place = places(result.ranking);
  for (const TunedConfiguration& entry : result.ranking) {
    nlohmann::ordered_json row;
    row["place"] = place[json["ranking"].size()];
    row["parameters"] = entry.parameters;
    row["round"] = entry.round;
    row["gflops"] = entry.gflops;
    row["mean_gflops"] = entry.mean_gflops;
    if (result.objective != Objective::gflops) {
      for (const double merit : entry.merits) row["objective"].push_back(in_unit(result.objective, merit));
      row["mean_objective"] = in_unit(result.objective, entry.mean_merit);
    }
    if (entry.interval) row["interval"] = interval_in_unit(result.objective, *entry.interval);
    json["ranking"].push_back(std::move(row));
  }
  for (const TuneRound& round : result.rounds) {
    json["rounds"].push_back({{"N", round.N},
                              {"windows", round.windows},
                              {"configurations", round.configurations},
                              {"seeds", round.seeds},
                              {"predictions", round.predictions},
                              {"wall_s", round.wall_s}});
  }
  for (const AnovaRow& row : result.influence.rows) {
    json["influence"].push_back(
        {{"factor", row.name}, {"share", row.share}, {"p_value", row.p_value}, {"effects", row.effects}});
  }
  json["influence_balanced"] = result.influence.balanced;
  for (const PanelLevel& level : result.panel) {
    json["panel"].push_back({{"factor", level.factor}, {"level", level.level}, {"effect", level.effect}});
  }
  json["panel_chance"] = result.panel_chance;
  if (result.gain) json["gain"] = *result.gain;
  json["not_tried"] = result.not_tried.size();
  json["failures"] = result.failures;
  json["baselines"] = {{"peak_gflops", result.baselines.peak},
                       {"one_node_gflops", result.baselines.one_node},
                       {"one_node_N", result.baselines.one_node_N},
                       {"linear_scaling_gflops", result.baselines.linear_scaling}};
  json["wall_s"] = result.wall_s;
  out << core::json_text(json, 2) << '\n';
}

}  // namespace hplcast::study
