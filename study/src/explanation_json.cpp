#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/study/explain.hpp"
#include "parameters_json.hpp"

namespace hplcast::study {

namespace {

using Json = nlohmann::ordered_json;

bool is_of_messages(Cause::Kind kind) {
  return kind != Cause::Kind::kernel && kind != Cause::Kind::place;
}

Json causes_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const Cause& cause : explanation.causes) {
    Json one = {{"kind", to_string(cause.kind)}, {"text", cause.text}};
    if (!cause.kernels.empty()) one["kernels"] = cause.kernels;
    if (!cause.group.name.empty()) {
      one["place"] = cause.group.name;
      one["ranks"] = cause.group.ranks;
    }
    if (is_of_messages(cause.kind)) one["scope"] = core::to_string(cause.scope);
    one["factor"] = cause.factor > 0 ? Json(cause.factor) : Json();
    one["estimated_s"] = cause.estimated_s;
    one["simulated_s"] = cause.simulated_s ? Json(*cause.simulated_s) : Json();
    one["share"] = cause.share_s() / explanation.predicted_s;
    one["advice"] = cause.advice;
    list.push_back(std::move(one));
  }
  return list;
}

Json kernels_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const KernelDifference& kernel : explanation.kernels) {
    Json one = {{"kernel", kernel.kernel}, {"has_model", kernel.has_model}, {"calls", kernel.calls},
                {"real_s", kernel.real_s}, {"model_s", kernel.model_s},     {"level", kernel.level},
                {"places", Json::array()}, {"sizes", Json::array()}};
    for (const KernelDifference::Place& place : kernel.places)
      one["places"].push_back({{"place", place.group.name}, {"ranks", place.group.ranks}, {"factor", place.factor}});
    for (const KernelSizes& sizes : kernel.sizes) {
      Json range = {{"least_product", sizes.least_product},
                    {"most_product", sizes.most_product},
                    {"calls", sizes.calls},
                    {"real_s", sizes.real_s},
                    {"model_s", sizes.model_s}};
      if (sizes.samples > 1) {
        range["real_scatter"] = sizes.real_scatter;
        range["model_scatter"] = sizes.model_scatter;
        range["samples"] = sizes.samples;
      }
      one["sizes"].push_back(std::move(range));
    }
    list.push_back(std::move(one));
  }
  return list;
}

Json phases_json(const Explanation& explanation) {
  Json phases = Json::object();
  for (const PhaseDifference& phase : explanation.phases) {
    for (const core::PhaseField& field : core::phase_fields) {
      phases[phase.real.name]["real"][field.name] = phase.real.*field.member;
      phases[phase.real.name]["predicted"][field.name] = phase.predicted.*field.member;
    }
    phases[phase.real.name]["far_ranks"] = phase.far_ranks;
  }
  return phases;
}

}  // namespace

void write_explanation(std::ostream& out, const Explanation& explanation) {
  Json messages = Json::array();
  for (const MessageDifference& one : explanation.messages)
    messages.push_back({{"scope", core::to_string(one.scope)},
                        {"least_bytes", one.least_bytes},
                        {"most_bytes", one.most_bytes},
                        {"messages", one.messages},
                        {"real_s", one.real_s},
                        {"model_s", one.model_s},
                        {"usual_real_s", one.usual_real_s},
                        {"usual_model_s", one.usual_model_s}});
  Json json = {{"schema_version", 1},
               {"parameters", parameters_json(explanation.parameters)},
               {"runs", explanation.runs},
               {"real_s", explanation.real_s},
               {"least_real_s", explanation.least_real_s},
               {"most_real_s", explanation.most_real_s},
               {"predicted_s", explanation.predicted_s},
               {"difference_s", explanation.difference_s()},
               {"rest_s", explanation.rest_s},
               {"simulated", explanation.simulated},
               {"verdict", verdict(explanation)},
               {"causes", causes_json(explanation)},
               {"phases", phases_json(explanation)},
               {"kernels", kernels_json(explanation)},
               {"messages", messages},
               {"own_work_s", explanation.own_work_s},
               {"observation_s", explanation.observation_s},
               {"held_up_s", explanation.held_up_s},
               {"overhead", explanation.overhead},
               {"known_waiting", explanation.known_waiting},
               {"warnings", explanation.warnings}};
  if (!explanation.picture.empty()) json["picture"] = explanation.picture;
  out << json.dump(2) << '\n';
}

}  // namespace hplcast::study
