#include "check_json.hpp"

#include <map>
#include <optional>

namespace hplcast::cli {

namespace {

nlohmann::ordered_json date_or_null(const std::optional<std::int64_t>& time_s) {
  return time_s ? nlohmann::ordered_json(history::date_text(*time_s)) : nlohmann::ordered_json();
}

}  // namespace

nlohmann::ordered_json check_json(const history::HistoryCheck& check) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["campaigns"] = check.campaigns;
  json["newest"] = date_or_null(check.newest_s);
  json["tests"] = check.counts.tests;
  json["open"] = check.open();
  std::map<std::size_t, std::size_t> event_of;  // number of the event by index of the finding
  const auto events = check.events();
  for (std::size_t e = 0; e < events.size(); ++e) {
    event_of[events[e].first] = e;
    for (const std::size_t one : events[e].also) event_of[one] = e;
  }
  Json& findings = json["findings"] = Json::array();
  for (std::size_t i = 0; i < check.findings.size(); ++i) {
    const history::HistoryFinding& one = check.findings[i];
    const fit::Finding& finding = one.finding;
    Json entry;
    entry["event"] = event_of.at(i);
    entry["cluster"] = one.cluster;
    entry["host"] = one.place.host.empty() ? Json() : Json(one.place.host);
    entry["cpu"] = one.place.cpu < 0 ? Json() : Json(one.place.cpu);
    entry["factor"] = one.factor;
    entry["against"] = finding.against == fit::Against::own ? "own" : "cluster";
    entry["open"] = finding.open;
    entry["since"] = history::date_text(finding.since_s);
    entry["since_unix_s"] = finding.since_s;
    entry["last"] = history::date_text(finding.last_s);
    entry["flagged_runs"] = finding.runs;
    entry["reference_runs"] = finding.reference_runs;
    entry["expected"] = finding.expected;
    entry["observed"] = finding.observed;
    entry["effect"] = finding.effect;
    entry["effect_error"] = finding.effect_error;
    entry["probability"] = finding.probability;
    entry["first_told"] = date_or_null(one.told_s);
    if (one.place.host.empty()) entry["cpus"] = finding.also_cpus;
    entry["nearest_change"] = one.nearest ? Json{{"date", history::date_text(one.nearest->time_s)},
                                                 {"type", one.nearest->type},
                                                 {"description", one.nearest->description}}
                                          : Json();
    findings.push_back(std::move(entry));
  }
  Json& missing = json["missing_hosts"] = Json::array();
  for (const history::MissingHost& one : check.missing)
    missing.push_back({{"cluster", one.cluster},
                       {"host", one.host},
                       {"last_result", one.answered_s == 0 ? Json() : Json(history::date_text(one.answered_s))},
                       {"reason", one.did_not_come_back ? "gave no result" : "took no part"},
                       {"first_told", date_or_null(one.told_s)}});
  json["notes"] = check.notes;
  return json;
}

}  // namespace hplcast::cli
