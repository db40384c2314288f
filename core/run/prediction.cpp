#include "hplcast/core/prediction.hpp"

#include <array>
#include <ostream>

#include "core/base/described_json.hpp"
#include "core/base/json_fields.hpp"

namespace hplcast::core {

using detail::FieldWriter;
using detail::FieldReader;
using detail::Json;
using detail::Node;
using detail::refuse_others;

template <typename Fields>
static void describe(Fields& fields, SamplingError& error) {
  fields("interval_s", error.interval_s);
  fields("samples", error.samples);
  fields("worst_error", error.worst);
  fields("mean_error", error.mean);
}

template <typename Fields>
static void describe(Fields& fields, PowerLevels& levels) {
  fields("level1_w", levels.level1_w);
  fields("level2_w", levels.level2_w);
  fields("level3_j", levels.level3_j);
  fields("sampling", levels.sampling);
}

namespace {

struct Field {
  const char* name;
  double Energy::*member;
};
constexpr std::array<Field, 7> energy_fields = {{{"energy_j", &Energy::energy_j},
                                                 {"mean_power_w", &Energy::mean_power_w},
                                                 {"gflops_per_w", &Energy::gflops_per_w},
                                                 {"idle_j", &Energy::idle_j},
                                                 {"awake_j", &Energy::awake_j},
                                                 {"awake_share", &Energy::awake_share},
                                                 {"network_j", &Energy::network_j}}};

Json to_json(const Energy& energy) {
  Json json = Json::object();
  for (const Field& field : energy_fields) json[field.name] = energy.*field.member;
  Json& states = json["states"] = Json::object();
  for (const StateEnergy& state : energy.states)
    states[state.name] = {{"time_s", state.time_s}, {"energy_j", state.energy_j}};
  if (!energy.unstated.empty()) json["unstated"] = energy.unstated;
  if (PowerLevels levels = energy.levels.value_or(PowerLevels()); energy.levels)
    json["levels"] = FieldWriter::json_of(levels);
  return json;
}

Energy energy_from(const Node& node) {
  std::vector<std::string> known = {"states", "unstated", "levels"};
  for (const Field& field : energy_fields) known.emplace_back(field.name);
  refuse_others(node, known);
  Energy energy;
  for (const Field& field : energy_fields) {
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
  if (node.has("levels")) energy.levels = FieldReader::whole<PowerLevels>(node.at("levels"));
  return energy;
}

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
  auto kernels = prediction.kernels;
  json["kernels"] = FieldWriter::json_of(kernels);
  auto messages = prediction.messages;
  json["messages"] = FieldWriter::json_of(messages);
  if (prediction.sampling) json["sampling"] = sampling_json(*prediction.sampling);
  if (prediction.detours_s > 0) json["detours_s"] = prediction.detours_s;
  if (prediction.energy) json["energy"] = to_json(*prediction.energy);
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
  if (root.has("model_levels"))
    result.model_levels = FieldReader::whole<std::map<std::string, std::string>>(root.at("model_levels"));
  if (root.has("model_doubts")) result.model_doubts = root.at("model_doubts").texts();
  if (root.has("detours_s")) result.detours_s = amount(root.at("detours_s"), false);
  result.simulator = root.at("simulator").text();
  result.wall_s = amount(root.at("wall_s"), true);
  result.peak_pss_bytes = amount(root.at("peak_pss_bytes"), true);
  result.kernels = FieldReader::whole<std::map<std::string, KernelCount>>(root.at("kernels"));
  result.messages = FieldReader::whole<std::map<std::string, MessageCount>>(root.at("messages"));
  if (root.has("phases")) result.phases = phases_from(root.at("phases"));
  if (root.has("energy")) result.energy = energy_from(root.at("energy"));
  return result;
}

}  // namespace

std::string energy_text(const Energy& energy) {
  return json_text(to_json(energy));
}

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
