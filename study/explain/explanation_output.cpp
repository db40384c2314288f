#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/compare/parameters_json.hpp"
#include "study/explain/explain_parts.hpp"

namespace hplcast::study {

namespace {

Json causes_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const Cause& cause : explanation.causes) {
    Json one = {{"kind", to_string(cause.kind)}, {"text", cause.text}};
    if (!cause.kernels.empty()) one["kernels"] = cause.kernels;
    if (!cause.group.name.empty()) {
      one["place"] = cause.group.name;
      one["ranks"] = cause.group.ranks;
    }
    if (cause.kind != Cause::Kind::kernel && cause.kind != Cause::Kind::place)
      one["scope"] = core::to_string(cause.scope);
    one["factor"] = cause.factor > 0 ? Json(cause.factor) : Json();
    one["estimated_s"] = cause.estimated_s;
    one["simulated_s"] = cause.simulated_s ? Json(*cause.simulated_s) : Json();
    one["simulated_least_s"] = cause.simulated_s ? Json(cause.least_s) : Json();
    one["simulated_most_s"] = cause.simulated_s ? Json(cause.most_s) : Json();
    one["share"] = cause.share_s() / explanation.predicted_s;
    one["advice"] = cause.advice;
    list.push_back(std::move(one));
  }
  return list;
}

Json kernels_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const KernelDifference& kernel : explanation.kernels) {
    Json one = HPLCAST_JSON(kernel, kernel, has_model, calls, real_s, model_s, level);
    one["places"] = Json::array();
    one["sizes"] = Json::array();
    for (const KernelDifference::Place& place : kernel.places)
      one["places"].push_back({{"place", place.group.name}, {"ranks", place.group.ranks}, {"factor", place.factor}});
    for (const KernelSizes& sizes : kernel.sizes) {
      Json range = HPLCAST_JSON(sizes, least_product, most_product, calls, real_s, model_s);
      if (sizes.samples > 1) range.update(HPLCAST_JSON(sizes, real_scatter, model_scatter, samples));
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

Json groups_json(const std::vector<KindTimes>& groups) {
  Json list = Json::array();
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  for (const KindTimes& kind : groups) {
    Json one = HPLCAST_JSON(kind, kind, ranks, real_kernels_s, real_waiting_s);
    one["predicted_kernels_s"] = or_null(kind.predicted_kernels_s);
    one["predicted_waiting_s"] = or_null(kind.predicted_waiting_s);
    list.push_back(std::move(one));
  }
  return list;
}

/// "4.1 of the 5.2 %": shares of the predicted time.
std::string share_of(const Explanation& e, double share_s) {
  return core::printed("%.1f", 100 * share_s / e.predicted_s) + " of the " +
         core::percent(e.difference_s() / e.predicted_s);
}

std::string capitalised(std::string text) {
  if (core::begins_with(text, "the ")) text.front() = 'T';
  return text;
}

/// Causes that people should hear of: half a percent of the time, or a tenth of the difference.
bool is_worth_telling(const Explanation& e, const Cause& cause) {
  constexpr double of_time = 0.005, of_difference = 0.1, least = 0.001;
  const double share_s = std::abs(cause.share_s());
  return share_s > of_time * e.predicted_s ||
         (share_s > of_difference * std::abs(e.difference_s()) && share_s > least * e.predicted_s);
}

/// Time that the run took only because it was observed; no part of the model is to blame. Null: too little.
const Cause* observation_of(const Explanation& e) {
  for (const Cause& cause : e.causes)
    if (cause.kind == Cause::Kind::observation) return &cause;
  return nullptr;
}

/// All but the observation, which is told with the times.
std::vector<const Cause*> told_causes(const Explanation& e) {
  std::vector<const Cause*> told;
  for (const Cause& cause : e.causes)
    if (cause.kind != Cause::Kind::observation) told.push_back(&cause);
  return told;
}

std::string times_line(const Explanation& e) {
  const double ratio = e.difference_s() / e.predicted_s;
  constexpr double agrees = 0.005;
  const Cause* observation = observation_of(e);
  std::string times = " (" + core::printed("%.4g", e.real_s) + " s, ";
  if (observation != nullptr && is_worth_telling(e, *observation))
    times += core::printed("%.2g", observation->share_s()) + " s of it to observe it, ";
  times += "predicted " + core::printed("%.4g", e.predicted_s) + " s)";
  if (std::abs(ratio) < agrees) return "Run and prediction agree to " + core::percent(std::abs(ratio)) + times;
  return "The run takes " + longer(1 + ratio, "") + " predicted" + times;
}

std::string rest_line(const Explanation& e) {
  std::string text = core::percent(e.rest_s / e.predicted_s) + " of the predicted time is not explained";
  if (!e.simulated) text += " (shares are estimated from sums; --counterfactuals on simulates them)";
  const double spread = (e.most_real_s - e.least_real_s) / e.predicted_s;
  if (e.runs > 1) text += "; the " + std::to_string(e.runs) + " runs themselves differ by " + core::percent(spread);
  return text + ".";
}

/// The phase in which ranks wait much more or less than predicted, with ranks that stand out.
std::string waiting_line(const Explanation& e) {
  constexpr double worth = 0.005;
  double more_s = 0;
  const PhaseDifference* most = nullptr;
  for (const PhaseDifference& phase : e.phases) {
    const double phase_s = phase.real.waiting_s - phase.predicted.waiting_s;
    more_s += phase_s;
    if (most == nullptr || std::abs(phase_s) > std::abs(most->real.waiting_s - most->predicted.waiting_s))
      most = &phase;
  }
  if (most == nullptr || std::abs(more_s) < worth * e.predicted_s) return "";
  std::string text = "Ranks wait " + core::percent(std::abs(more_s) / e.predicted_s) + " of the predicted time " +
                     (more_s > 0 ? "more" : "less") + " than predicted, most of it in " + most->real.name;
  if (e.simulated && !e.causes.empty()) {
    double real_s = 0;
    for (const PhaseDifference& phase : e.phases) real_s += phase.real.waiting_s;
    const double left_s = real_s - e.measured_model_waiting_s;
    text += "; with all of the above replaced " + core::percent(left_s / e.predicted_s) + " remain";
  }
  return text + ".";
}

/// Which kind of hosts, or which card, waits for which. `alike`: they all do.
std::string groups_line(const Explanation& e, const std::vector<KindTimes>& groups, const std::string& of_kind,
                        const char* alike) {
  const auto [least, most] = std::minmax_element(
      groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.real_waiting_s < b.real_waiting_s; });
  const auto of = [&](const KindTimes& kind) {
    std::string text = kind.kind + " " + core::percent(kind.real_waiting_s / e.real_s);
    if (kind.predicted_waiting_s)
      text += " (predicted " + core::percent(*kind.predicted_waiting_s / e.predicted_s) + ")";
    return text;
  };
  constexpr double much = 0.02;  // of the time
  const bool waits = most->real_waiting_s - least->real_waiting_s > much * e.real_s;
  return (waits ? of_kind + most->kind + " wait for those of " + least->kind : alike) + ": ranks of " + of(*most) +
         " of the time, of " + of(*least) + ".";
}

/// Empty unless more of the difference is no part of the model than the largest cause makes.
std::string disturbed_line(const Explanation& e) {
  constexpr double much = 0.02;
  const double rest_s = std::abs(e.rest_s), disturbed_s = std::max(e.held_up_s, rest_s);
  const std::vector<const Cause*> causes = told_causes(e);
  if (disturbed_s < much * e.predicted_s || causes.empty() || disturbed_s < std::abs(causes.front()->share_s()))
    return "";
  return times_line(e) + ". Most of that is no part of the model: " + core::percent(disturbed_s / e.predicted_s) +
         " of the predicted time " + (e.held_up_s > rest_s ? "in messages that were held up" : "is not explained") +
         ". Other programs may have had the cores: repeat the run on idle nodes (hplcast doctor, docs/use/detours.md).";
}

}  // namespace

void write_explanation(std::ostream& out, const Explanation& explanation) {
  Json json = {{"schema_version", 1}};
  json.update(HPLCAST_JSON(explanation, parameters, runs, real_s, least_real_s, most_real_s, predicted_s));
  json["difference_s"] = explanation.difference_s();
  json.update(HPLCAST_JSON(explanation, rest_s, simulated));
  json["verdict"] = verdict(explanation);
  json["causes"] = causes_json(explanation);
  json["phases"] = phases_json(explanation);
  json["kinds"] = groups_json(explanation.kinds);
  json["cards"] = groups_json(explanation.cards);
  json["kernels"] = kernels_json(explanation);
  Json& messages = json["messages"] = Json::array();
  for (const MessageDifference& message : explanation.messages) {
    Json one = {{"scope", core::to_string(message.scope)}};
    one.update(HPLCAST_JSON(message, least_bytes, most_bytes, messages, real_s, model_s, usual_real_s, usual_model_s));
    messages.push_back(std::move(one));
  }
  json.update(HPLCAST_JSON(explanation, own_work_s, observation_s, held_up_s, overhead, known_waiting, warnings));
  if (!explanation.picture.empty()) json["picture"] = explanation.picture;
  out << core::json_text(json, 2) << '\n';
}

bool is_explanation(const std::string& text) {
  return text.find("\"causes\"") != std::string::npos && text.find("\"verdict\"") != std::string::npos &&
         text.find("\"rest_s\"") != std::string::npos;
}

/// A few words for a picture.
static std::string name_of_cause(const nlohmann::json& cause) {
  const auto kind = cause.at("kind").get<std::string>();
  if (kind == "observation") return "observing the run";
  if (kind == "own_work") return "HPL's own work";
  if (kind != "kernel" && kind != "place")
    return (kind == "calls" ? "MPI calls" : kind + (kind == "messages" ? "" : " of messages")) +
           (cause.at("scope") == "local" ? " inside a host" : " between hosts");
  const auto kernels = cause.value("kernels", std::vector<std::string>());
  std::string name = kernels.empty() ? "kernels" : kernels.front();
  if (kernels.size() > 1) name += " and " + std::to_string(kernels.size() - 1) + " more";
  return cause.contains("place") ? name + " on " + cause.at("place").get<std::string>() : name;
}

ExplanationSummary read_explanation(std::istream& in, const std::string& name) {
  ExplanationSummary explanation;
  try {
    const auto json = core::parse_json<nlohmann::json>(core::read_json_text(in, name));
    explanation.parameters = json.at("parameters").get<core::HplParameters>();
    explanation.verdict = json.at("verdict").get<std::vector<std::string>>();
    const double predicted_s = explanation.predicted_s = json.at("predicted_s").get<double>();
    explanation.real_s = json.at("real_s").get<double>();
    if (!(predicted_s > 0 && explanation.real_s > 0))
      throw core::ParseError({name, 0, ""}, "predicted_s and real_s: expected numbers above 0");
    for (const auto& cause : json.at("causes")) {
      const double share = cause.at("share").get<double>();
      explanation.causes.push_back(
          {share, share * predicted_s, cause.at("text").get<std::string>(), name_of_cause(cause)});
    }
    for (const auto& kernel : json.at("kernels"))
      explanation.real_kernels_s[kernel.at("kernel").get<std::string>()] = kernel.at("real_s").get<double>();
    for (const auto& phase : json.at("phases")) {
      explanation.real_messages_s += phase.at("real").at("messages_s").get<double>();
      explanation.real_waiting_s += phase.at("real").at("waiting_s").get<double>();
    }
    explanation.rest_share = json.at("rest_s").get<double>() / predicted_s;
    explanation.simulated = json.at("simulated").get<bool>();
    explanation.picture = json.value("picture", "");
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("not an explanation: ") + error.what(),
                           "such files are written by `hplcast explain -o`");
  }
  return explanation;
}

std::vector<std::string> verdict(const Explanation& e) {
  const std::string disturbed = disturbed_line(e);
  // And advice, smaller ones, kinds, waiting, held up, rest: ten lines.
  const std::size_t most_causes = disturbed.empty() ? 4 : 3;
  std::vector<std::string> lines;
  std::size_t untold = 0;
  double untold_s = 0;
  const std::vector<const Cause*> causes = told_causes(e);
  for (const Cause* cause : causes) {
    if (lines.size() < most_causes && is_worth_telling(e, *cause)) {
      lines.push_back(capitalised(cause->text) + ": " + share_of(e, cause->share_s()) + ".");
    } else {
      ++untold;
      untold_s += cause->share_s();
    }
  }
  if (lines.empty()) {
    lines.push_back(times_line(e) + "; no part of the model is off by enough to tell.");
  } else {
    if (disturbed.empty()) lines.front() = times_line(e) + ". " + lines.front();
    lines.insert(lines.begin() + 1,
                 "To mend " + std::string(disturbed.empty() ? "the first" : "this") + ": " + causes.front()->advice);
    if (!disturbed.empty()) lines.insert(lines.begin(), disturbed);
  }
  if (untold > 0 && lines.size() > 1)
    lines.push_back(core::counted(untold, "smaller difference") + ": " + core::percent(untold_s / e.predicted_s) +
                    " together.");
  if (!e.kinds.empty())
    lines.push_back(groups_line(e, e.kinds, "Hosts of kind ", "Kinds of hosts wait alike"));
  else if (!e.cards.empty())
    lines.push_back(groups_line(e, e.cards, "Ranks on ", "Ranks on all network cards wait alike"));
  if (const std::string waiting = waiting_line(e); !waiting.empty()) lines.push_back(waiting);
  constexpr double worth_telling = 0.01;
  if (e.held_up_s > worth_telling * e.predicted_s)
    lines.push_back("Messages that were held up for more than ten times their usual time make " +
                    core::percent(e.held_up_s / e.predicted_s) +
                    " of the predicted time: a core or a link was taken away by others.");
  lines.push_back(rest_line(e));
  return lines;
}

}  // namespace hplcast::study
