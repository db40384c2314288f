// JSON of `energy` of a prediction.
#include "hplcast/core/prediction.hpp"

#include <array>
#include <ostream>

#include "core/base/json_fields.hpp"
#include "hplcast/core/energy.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::core::detail {

Json to_json(const Energy& energy);
Energy energy_from(const Node& node);

}  // namespace hplcast::core::detail

namespace hplcast::core {

std::string energy_text(const Energy& energy) {
  return json_text(detail::to_json(energy));
}

}  // namespace hplcast::core

namespace hplcast::core::detail {

namespace {

struct Field {
  const char* name;
  double Energy::*member;
};
constexpr std::array<Field, 7> fields = {{{"energy_j", &Energy::energy_j},
                                          {"mean_power_w", &Energy::mean_power_w},
                                          {"gflops_per_w", &Energy::gflops_per_w},
                                          {"idle_j", &Energy::idle_j},
                                          {"awake_j", &Energy::awake_j},
                                          {"awake_share", &Energy::awake_share},
                                          {"network_j", &Energy::network_j}}};

Json levels_json(const PowerLevels& levels) {
  Json json = {{"level1_w", levels.level1_w}, {"level2_w", levels.level2_w}, {"level3_j", levels.level3_j}};
  Json& sampling = json["sampling"] = Json::array();
  for (const SamplingError& one : levels.sampling)
    sampling.push_back({{"interval_s", one.interval_s},
                        {"samples", one.samples},
                        {"worst_error", one.worst},
                        {"mean_error", one.mean}});
  return json;
}

PowerLevels levels_from(const Node& node) {
  refuse_others(node, {"level1_w", "level2_w", "level3_j", "sampling"});
  PowerLevels levels{node.at("level1_w").number(), node.at("level2_w").numbers(), node.at("level3_j").number(), {}};
  const Node sampling = node.at("sampling");
  for (std::size_t i = 0; i < sampling.size_of_array(); ++i) {
    const Node one = sampling.at(i);
    refuse_others(one, {"interval_s", "samples", "worst_error", "mean_error"});
    levels.sampling.push_back({one.at("interval_s").number(), one.at("samples").integer<int>(),
                               one.at("worst_error").number(), one.at("mean_error").number()});
  }
  return levels;
}

}  // namespace

Json to_json(const Energy& energy) {
  Json json = Json::object();
  for (const Field& field : fields) json[field.name] = energy.*field.member;
  Json& states = json["states"] = Json::object();
  for (const StateEnergy& state : energy.states)
    states[state.name] = {{"time_s", state.time_s}, {"energy_j", state.energy_j}};
  if (!energy.unstated.empty()) json["unstated"] = energy.unstated;
  if (energy.levels) json["levels"] = levels_json(*energy.levels);
  return json;
}

Energy energy_from(const Node& node) {
  std::vector<std::string> known = {"states", "unstated", "levels"};
  for (const Field& field : fields) known.emplace_back(field.name);
  refuse_others(node, known);
  Energy energy;
  for (const Field& field : fields) {
    energy.*field.member = node.at(field.name).number();
    if (!(energy.*field.member >= 0)) node.at(field.name).fail("expected a number of at least 0");
  }
  const Node states = node.at("states");
  for (const auto& [name, value] : states.object().items()) {
    const Node state = states.at(name.c_str());
    refuse_others(state, {"time_s", "energy_j"});
    energy.states.push_back({name, state.at("time_s").number(), state.at("energy_j").number()});
  }
  if (node.has("unstated")) energy.unstated = node.at("unstated").texts();
  if (node.has("levels")) energy.levels = levels_from(node.at("levels"));
  return energy;
}

}  // namespace hplcast::core::detail

namespace hplcast::core {

using detail::Json;
using detail::Node;
using detail::refuse_others;

namespace {

std::vector<PhaseSummary> phases_from(const Node& node) {
  std::vector<PhaseSummary> phases;
  for (const auto& [name, value] : node.object().items()) {
    phases.emplace_back();
    phases.back().name = name;
    for (const PhaseField& field : phase_fields) {
      const Node phase = node.at(name.c_str());
      if (field.required || phase.has(field.name)) phases.back().*field.member = phase.at(field.name).number();
    }
  }
  return phases;
}

Json costs_json(const std::vector<PanelCost>& costs, bool estimated) {
  Json list = Json::array();
  for (const PanelCost& one : costs) {
    list.push_back({{"first_panel", one.first_panel}, {"panels", one.panels}, {"time_s", one.time_s}});
    if (estimated) list.back()["error_95_s"] = one.error_95_s;
  }
  return list;
}

std::vector<PanelCost> costs_from(const Node& node, bool estimated) {
  std::vector<PanelCost> costs;
  for (std::size_t i = 0; i < node.size_of_array(); ++i) {
    const Node one = node.at(i);
    costs.push_back({one.at("first_panel").integer<int>(), one.at("panels").integer<int>(), one.at("time_s").number(),
                     estimated ? one.at("error_95_s").number() : 0});
  }
  return costs;
}

Json sampling_json(const Sampling& sampling) {
  return {{"share", sampling.share},
          {"counts", "extrapolated"},
          {"deviation", sampling.deviation},
          {"deviates_at_panel", sampling.deviates_at_panel},
          {"windows", costs_json(sampling.windows, false)},
          {"pieces", costs_json(sampling.pieces, true)}};
}

Sampling sampling_from(const Node& node) {
  return {node.at("share").number(), costs_from(node.at("windows"), false), costs_from(node.at("pieces"), true),
          node.at("deviation").number(), node.at("deviates_at_panel").integer<int>()};
}

Json to_json(const Prediction& prediction) {
  Json json = {{"schema_version", Prediction::schema_version}};
  Json& parameters = json["parameters"] = Json::object();
  for (const HplField& field : hpl_fields()) parameters[field.name] = field.get(prediction.parameters);
  json["time_s"] = prediction.time_s;
  json["gflops"] = prediction.gflops;
  json["seed"] = prediction.seed;
  json["mode"] = prediction.mode;
  if (prediction.sampling) json["error_95_s"] = prediction.error_95_s;
  if (prediction.mode == "fast" && !prediction.sampling) json["fast_error_95_s"] = prediction.fast_error_95_s;
  json["cluster"] = prediction.cluster;
  json["model_sha256"] = prediction.model_sha256;
  if (!prediction.model_levels.empty()) json["model_levels"] = prediction.model_levels;
  if (!prediction.model_doubts.empty()) json["model_doubts"] = prediction.model_doubts;
  json["simulator"] = prediction.simulator;
  json["wall_s"] = prediction.wall_s;
  json["peak_pss_bytes"] = prediction.peak_pss_bytes;
  Json& kernels = json["kernels"] = Json::object();
  for (const auto& [name, count] : prediction.kernels) {
    kernels[name] = {
        {"calls", count.calls}, {"outside_range", count.outside_range}, {"time_s", count.time_s}, {"flop", count.flop}};
  }
  Json& messages = json["messages"] = Json::object();
  for (const auto& [name, count] : prediction.messages) {
    messages[name] = {{"calls", count.calls}, {"outside_range", count.outside_range}, {"bytes", count.bytes}};
  }
  if (prediction.sampling) json["sampling"] = sampling_json(*prediction.sampling);
  if (prediction.detours_s > 0) json["detours_s"] = prediction.detours_s;
  if (prediction.energy) json["energy"] = detail::to_json(*prediction.energy);
  for (const PhaseSummary& phase : prediction.phases) {
    Json& one = json["phases"][phase.name];
    for (const PhaseField& field : phase_fields)
      if (field.required || phase.*field.member != 0) one[field.name] = phase.*field.member;
  }
  return json;
}

/// The keys of a prediction, of which some may be absent.
void refuse_unknown(const Node& root) {
  refuse_others(root, {"schema_version",  "parameters", "time_s",   "gflops",         "seed",         "mode",
                       "fast_error_95_s", "error_95_s", "sampling", "cluster",        "model_sha256", "model_levels",
                       "model_doubts",    "simulator",  "wall_s",   "peak_pss_bytes", "kernels",      "messages",
                       "phases",          "energy",     "detours_s"});
  std::vector<std::string> parameters;
  for (const HplField& field : hpl_fields()) parameters.emplace_back(field.name);
  refuse_others(root.at("parameters"), parameters);
  const auto each = [&](const char* group, const std::vector<std::string>& known) {
    const Node node = root.at(group);
    for (const auto& [name, value] : node.object().items()) refuse_others(node.at(name.c_str()), known);
  };
  each("kernels", {"calls", "outside_range", "time_s", "flop"});
  each("messages", {"calls", "outside_range", "bytes"});
}

/// A number that is above zero, or also zero.
double amount(const Node& node, bool zero) {
  const double value = node.number();
  if (!(value > 0) && !(zero && value == 0))
    node.fail("found " + json_text(node.raw()) + "; expected a number " + (zero ? "of at least 0" : "above 0"));
  return value;
}

Prediction from_json(const Node& root) {
  root.object();
  detail::refuse_cluster(root, "what `hplcast predict -o` writes");
  detail::check_schema(root, Prediction::schema_version);
  refuse_unknown(root);
  Prediction result;
  const Node parameters = root.at("parameters");
  for (const HplField& field : hpl_fields())
    field.set(result.parameters, parameters.at(field.name).integer<long long>());
  parameters.made([&] {
    result.parameters.validate();
    return 0;
  });
  result.time_s = amount(root.at("time_s"), false);
  result.gflops = amount(root.at("gflops"), false);
  result.seed = root.at("seed").integer<std::uint64_t>();
  result.mode = root.at("mode").text();
  if (!result.mode.empty() && result.mode != "exact" && result.mode != "fast")  // empty: a program that did not say
    root.at("mode").fail("found `" + result.mode + "`; expected exact or fast");
  result.fast_error_95_s = root.number_or("fast_error_95_s", 0);
  result.error_95_s = root.number_or("error_95_s", 0);
  if (root.has("sampling")) result.sampling = sampling_from(root.at("sampling"));
  result.cluster = root.at("cluster").text();
  result.model_sha256 = root.at("model_sha256").text();
  if (root.has("model_levels")) {
    const Node levels = root.at("model_levels");
    for (const auto& [key, value] : levels.object().items()) {
      result.model_levels[key] = levels.at(key.c_str()).text();
    }
  }
  if (root.has("model_doubts")) result.model_doubts = root.at("model_doubts").texts();
  if (root.has("detours_s")) result.detours_s = amount(root.at("detours_s"), false);
  result.simulator = root.at("simulator").text();
  result.wall_s = amount(root.at("wall_s"), true);
  result.peak_pss_bytes = amount(root.at("peak_pss_bytes"), true);
  const Node kernels = root.at("kernels");
  for (const auto& [key, value] : kernels.object().items()) {
    const Node one = kernels.at(key.c_str());
    result.kernels[key] = {one.at("calls").integer<std::uint64_t>(), one.at("outside_range").integer<std::uint64_t>(),
                           one.at("time_s").number(), one.at("flop").number()};
  }
  const Node messages = root.at("messages");
  for (const auto& [key, value] : messages.object().items()) {
    const Node one = messages.at(key.c_str());
    result.messages[key] = {one.at("calls").integer<std::uint64_t>(), one.at("outside_range").integer<std::uint64_t>(),
                            one.at("bytes").number()};
  }
  if (root.has("phases")) result.phases = phases_from(root.at("phases"));
  if (root.has("energy")) result.energy = detail::energy_from(root.at("energy"));
  return result;
}

}  // namespace

void write_prediction(std::ostream& out, const Prediction& prediction) {
  out << json_text(to_json(prediction), 2) << '\n';
}

Prediction read_prediction(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  return from_json(Node(json, name));
}

void write_predictions(std::ostream& out, const std::vector<Prediction>& predictions) {
  if (predictions.size() == 1) return write_prediction(out, predictions.front());
  Json json = Json::array();
  for (const Prediction& prediction : predictions) json.push_back(to_json(prediction));
  out << json_text(json, 2) << '\n';
}

std::vector<Prediction> read_predictions(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  if (json.is_object()) return {from_json(root)};
  std::vector<Prediction> predictions;
  for (std::size_t i = 0; i < root.size_of_array(); ++i) predictions.push_back(from_json(root.at(i)));
  return predictions;
}

}  // namespace hplcast::core
