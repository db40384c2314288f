#include "hplcast/core/prediction.hpp"

#include <ostream>

#include "core/base/described_json.hpp"

namespace hplcast::core {

using detail::at_least_zero;
using detail::ByName;
using detail::FieldReader;
using detail::FieldWriter;
using detail::Json;
using detail::Node;

HPLCAST_DESCRIPTION(SamplingError, error) {
  HPLCAST_FIELDS(error, interval_s, samples);
  fields("worst_error", error.worst);
  fields("mean_error", error.mean);
}

HPLCAST_DESCRIBED(PowerLevels, level1_w, level2_w, level3_j, sampling);

HPLCAST_DESCRIPTION(Energy, energy) {
  ByName<StateEnergy> states{energy.states};
  HPLCAST_RULED(at_least_zero, energy, energy_j, mean_power_w, gflops_per_w, idle_j, awake_j, awake_share, network_j);
  fields("states", states);
  HPLCAST_FIELDS_IF_ANY(energy, unstated, levels);
}

HPLCAST_DESCRIPTION(PhaseSummary, phase) {
  fields("name", phase.name);
  for (const PhaseField& field : phase_fields)
    field.required ? fields(field.name, phase.*field.member) : fields.if_any(field.name, phase.*field.member);
}

HPLCAST_DESCRIPTION(PanelCost, cost) {
  HPLCAST_FIELDS(cost, first_panel, panels, time_s);
  fields.if_any("error_95_s", cost.error_95_s, at_least_zero);
}

HPLCAST_DESCRIPTION(Sampling, sampling) {
  std::string counts = "extrapolated";
  fields("share", sampling.share);
  fields.if_given("counts", counts);
  HPLCAST_FIELDS(sampling, deviation, deviates_at_panel, windows, pieces);
}

HPLCAST_DESCRIPTION(ErrorTerm, term) {
  fields("name", term.name);
  fields("sd", term.sd, at_least_zero);
  HPLCAST_FIELDS_IF_ANY(term, nu, elasticity);
  fields("source", term.source);
}

HPLCAST_DESCRIPTION(PredictiveInterval, interval) {
  ByName<ErrorTerm> terms{interval.terms};
  HPLCAST_FIELDS(interval, level_percent, low_time_s, high_time_s, low_gflops, high_gflops, bias);
  fields("sd", interval.sd, at_least_zero);
  fields.if_any("nu", interval.nu);
  fields("elasticities", interval.elasticities);
  fields("terms", terms);
  fields.check("level_percent", interval.level_percent > 0 && interval.level_percent < 100,
               "a number above 0 and below 100");
  fields.check("low_time_s", interval.low_time_s > 0 && interval.low_time_s <= interval.high_time_s,
               "a time above 0 and not above high_time_s");
  fields.check("low_gflops", interval.low_gflops > 0 && interval.low_gflops <= interval.high_gflops,
               "a rate above 0 and not above high_gflops");
}

HPLCAST_DESCRIPTION(HplParameters, parameters) {
  for (const HplField& field : hpl_fields()) {
    long long value = field.get(parameters);
    fields(field.name, value);
    field.set(parameters, value);
  }
}

HPLCAST_DESCRIPTION(Prediction, prediction) {
  int version = Prediction::schema_version;
  ByName<PhaseSummary> phases{prediction.phases};
  std::optional<double> error_95_s, fast_error_95_s;
  fields("schema_version", version);
  HPLCAST_FIELDS(prediction, parameters, time_s, gflops, seed, mode);
  if (prediction.sampling) error_95_s = prediction.error_95_s;
  if (prediction.mode == "fast" && !prediction.sampling) fast_error_95_s = prediction.fast_error_95_s;
  fields.if_any("error_95_s", error_95_s, at_least_zero);
  fields.if_any("fast_error_95_s", fast_error_95_s, at_least_zero);
  fields("cluster", prediction.cluster);
  fields.if_any("hosts", prediction.hosts, detail::positive);
  fields.if_any("threads_per_rank", prediction.threads_per_rank, detail::positive, 1);
  fields.if_any("blas", prediction.blas);
  fields("model_sha256", prediction.model_sha256);
  HPLCAST_FIELDS_IF_ANY(prediction, model_levels, model_doubts, control);
  fields("simulator", prediction.simulator);
  HPLCAST_RULED(at_least_zero, prediction, wall_s, peak_pss_bytes);
  HPLCAST_FIELDS(prediction, kernels, messages);
  HPLCAST_FIELDS_IF_ANY(prediction, sampling, interval, detours_s, energy);
  fields.if_any("phases", phases);
  fields.check("time_s", prediction.time_s > 0, "a number above 0");
  fields.check("gflops", prediction.gflops > 0, "a number above 0");
  fields.check("detours_s", prediction.detours_s >= 0, "a number of at least 0");
  const bool has_mode = prediction.mode == "exact" || prediction.mode == "fast";
  fields.check("mode", has_mode || prediction.mode.empty(), "exact or fast");  // empty: a program that did not say
  prediction.error_95_s = error_95_s.value_or(0);
  prediction.fast_error_95_s = fast_error_95_s.value_or(0);
}

static Prediction prediction_from(const Node& root) {
  root.object();
  detail::refuse_cluster(root, "what `hplcast predict -o` writes");
  detail::check_schema(root, Prediction::schema_version);
  auto prediction = FieldReader::read<Prediction>(root);
  if (prediction.sampling)
    for (const Node& piece : root.at("sampling").at("pieces").elements()) (void)piece.at("error_95_s");
  root.at("parameters").made([&] { prediction.parameters.validate(); });
  return prediction;
}

std::string energy_text(const Energy& energy) {
  return json_text(FieldWriter::json_of(energy));
}

void write_prediction(std::ostream& out, const Prediction& prediction) {
  out << json_text(FieldWriter::json_of(prediction), 2) << '\n';
}

Prediction read_prediction(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  return prediction_from(Node(json, name));
}

void write_predictions(std::ostream& out, const std::vector<Prediction>& predictions) {
  if (predictions.size() == 1) return write_prediction(out, predictions.front());
  out << json_text(FieldWriter::json_of(predictions), 2) << '\n';
}

std::vector<Prediction> read_predictions(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  if (json.is_object()) return {prediction_from(root)};
  std::vector<Prediction> predictions;
  for (const Node& one : root.elements()) predictions.push_back(prediction_from(one));
  return predictions;
}

}  // namespace hplcast::core
