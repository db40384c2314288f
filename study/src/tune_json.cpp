#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/study/tune.hpp"
#include "parameters_json.hpp"

namespace hplcast::study {

void write_tune_result(std::ostream& out, const TuneResult& result) {
  nlohmann::ordered_json json;
  json["best"] = parameters_json(result.best);
  const std::vector<std::size_t> place = places(result.ranking);
  for (const TunedConfiguration& entry : result.ranking) {
    nlohmann::ordered_json row;
    row["place"] = place[json["ranking"].size()];
    row["parameters"] = parameters_json(entry.parameters);
    row["round"] = entry.round;
    row["gflops"] = entry.gflops;
    row["mean_gflops"] = entry.mean_gflops;
    if (entry.interval) row["interval"] = {entry.interval->lower, entry.interval->upper};
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
  out << json.dump(2) << '\n';
}

}  // namespace hplcast::study
