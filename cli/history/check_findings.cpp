#include "cli/history/check_findings.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "cli/support/configuration_file.hpp"
#include "cli/support/options.hpp"
#include "cli/support/output.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::cli {

namespace {

std::string where(const study::HistoryFinding& one, bool several_clusters) {
  const std::string name = one.place.host.empty() ? "all CPUs" : study::to_string(one.place);
  return several_clusters ? one.cluster + ": " + name : name;
}

bool has_several_clusters(const study::HistoryCheck& check) {
  return std::any_of(check.findings.begin(), check.findings.end(),
                     [&](const auto& one) { return one.cluster != check.findings.front().cluster; });
}

std::string nearest_text(const study::HistoryFinding& one) {
  if (!one.nearest) return "-";
  const double days = static_cast<double>(one.finding.since_s - one.nearest->time_s) / fit::day_s;
  const std::string when =
      days >= 0 ? core::shortest(std::floor(days)) + " d before" : core::shortest(std::floor(-days)) + " d after";
  constexpr std::size_t most = 40;
  std::string text = one.nearest->description;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text + " (" + study::date_text(one.nearest->time_s) + ", " + when + ")";
}

std::string against_text(const study::HistoryFinding& one) {
  if (one.place.host.empty()) return std::to_string(one.finding.also_cpus) + " CPUs";
  return one.finding.against == fit::Against::own ? "own runs" : "the others";
}

/// Whether all of an event was told before.
bool is_told(const study::HistoryCheck& check, const study::FindingEvent& event) {
  return check.findings[event.first].told_s && std::all_of(event.also.begin(), event.also.end(), [&](std::size_t one) {
           return check.findings[one].told_s.has_value();
         });
}

void write_missing(std::ostream& out, const study::MissingHost& one) {
  const std::string last = one.answered_s == 0 ? "never" : "last on " + study::date_text(one.answered_s);
  out << one.host
      << (one.did_not_come_back ? ": was to measure on " + study::date_text(one.asked_s) + " and gave no result ("
                                : ": takes no part any more (")
      << last << (one.told_s ? "; first told on " + study::date_text(*one.told_s) : "") << ")\n";
}

}  // namespace

void write_findings(std::ostream& out, const study::HistoryCheck& check, const ShownFindings& shown) {
  const bool any_told =
      std::any_of(check.findings.begin(), check.findings.end(), [](const auto& one) { return one.told_s.has_value(); });
  std::vector<std::string> header = {"where", "factor", "since",   "until",     "runs",          "effect",
                                     "+-",    "also",   "against", "by chance", "nearest change"};
  if (any_told) header.emplace_back("first told");
  TextTable table(std::move(header));
  std::size_t rows = 0;
  const bool several = has_several_clusters(check);
  for (const study::FindingEvent& event : check.events()) {
    const study::HistoryFinding& one = check.findings[event.first];
    const fit::Finding& finding = one.finding;
    if ((!finding.open && !shown.past) || (shown.only_new && is_told(check, event))) continue;
    ++rows;
    std::vector<std::string> row = {where(one, several),
                                    one.factor,
                                    study::date_text(finding.since_s),
                                    finding.open ? "now" : study::date_text(finding.last_s),
                                    std::to_string(finding.runs),
                                    signed_percent(finding.effect),
                                    percent(finding.effect_error),
                                    event.also.empty() ? "-" : core::comma_separated(also_texts(check, event)),
                                    against_text(one),
                                    study::probability_text(finding.probability),
                                    nearest_text(one)};
    if (any_told) row.push_back(one.told_s ? study::date_text(*one.told_s) : "-");
    table.add(std::move(row));
  }
  if (rows > 0) table.write(out);
  for (const study::MissingHost& one : check.missing) {
    if (shown.only_new && one.told_s) continue;
    write_missing(out, one);
    ++rows;
  }
  if (rows == 0) out << (shown.only_new && check.open() > 0 ? "nothing new\n" : "nothing found\n");
}

std::size_t count_events(const study::HistoryCheck& check, bool only_new) {
  std::size_t count = 0;
  for (const study::FindingEvent& event : check.events())
    if (check.findings[event.first].finding.open && !(only_new && is_told(check, event))) ++count;
  for (const study::MissingHost& one : check.missing)
    if (!(only_new && one.told_s)) ++count;
  return count;
}

namespace {

nlohmann::ordered_json date_or_null(const std::optional<std::int64_t>& time_s) {
  return time_s ? nlohmann::ordered_json(study::date_text(*time_s)) : nlohmann::ordered_json();
}

}  // namespace

nlohmann::ordered_json check_json(const study::HistoryCheck& check) {
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
    const study::HistoryFinding& one = check.findings[i];
    const fit::Finding& finding = one.finding;
    Json entry;
    entry["event"] = event_of.at(i);
    entry["cluster"] = one.cluster;
    entry["host"] = one.place.host.empty() ? Json() : Json(one.place.host);
    entry["cpu"] = one.place.cpu < 0 ? Json() : Json(one.place.cpu);
    entry["factor"] = one.factor;
    entry["against"] = finding.against == fit::Against::own ? "own" : "cluster";
    entry["open"] = finding.open;
    entry["since"] = study::date_text(finding.since_s);
    entry["since_unix_s"] = finding.since_s;
    entry["last"] = study::date_text(finding.last_s);
    entry["flagged_runs"] = finding.runs;
    entry["reference_runs"] = finding.reference_runs;
    entry["expected"] = finding.expected;
    entry["observed"] = finding.observed;
    entry["effect"] = finding.effect;
    entry["effect_error"] = finding.effect_error;
    entry["probability"] = finding.probability;
    entry["first_told"] = date_or_null(one.told_s);
    if (one.place.host.empty()) entry["cpus"] = finding.also_cpus;
    entry["nearest_change"] = one.nearest ? Json{{"date", study::date_text(one.nearest->time_s)},
                                                 {"type", one.nearest->type},
                                                 {"description", one.nearest->description}}
                                          : Json();
    findings.push_back(std::move(entry));
  }
  Json& missing = json["missing_hosts"] = Json::array();
  for (const study::MissingHost& one : check.missing)
    missing.push_back({{"cluster", one.cluster},
                       {"host", one.host},
                       {"last_result", one.answered_s == 0 ? Json() : Json(study::date_text(one.answered_s))},
                       {"reason", one.did_not_come_back ? "gave no result" : "took no part"},
                       {"first_told", date_or_null(one.told_s)}});
  json["notes"] = check.notes;
  return json;
}

namespace {

core::ClusterModel normal_cluster(const study::HistoryDatabase& database, const study::HistoryCheck& check,
                                  const std::string& cluster, const std::string& file) {
  if (!file.empty()) {
    core::ClusterModel normal;
    core::read_file(file, [&](std::istream& in, const std::string& name) { normal = core::read_cluster(in, name); });
    return normal;
  }
  const std::string name = cluster.empty() ? database.clusters().front() : cluster;
  const std::string json = database.latest_cluster_json(name);
  if (json.empty()) {
    throw core::Error(core::ExitCode::bad_input,
                      "the history has no models of the cluster\n  hint: give some with --normal; `history add` keeps "
                      "those of archives");
  }
  std::istringstream in(json);
  return without_findings(check, core::read_cluster(in, database.path().string()));
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::string with_error(const study::Scenario& one) {
  return signed_percent(one.effect) + " +- " + percent(one.effect_error);
}

nlohmann::ordered_json scenario_json(const study::Scenario& one) {
  return {{"P", one.parameters.P},
          {"Q", one.parameters.Q},
          {"gflops", one.gflops},
          {"effect", one.effect},
          {"effect_error", one.effect_error}};
}

}  // namespace

void add_cost_options(Command& command, CheckCostOptions& options) {
  command.add_option("--predict", options.configuration, "what the findings cost this HPL run: HPL.dat, or CSV")
      ->type_name("HPL.dat");
  command
      .add_option("--normal", options.normal,
                  "with --predict: cluster.json without the findings (the newest models of the history)")
      ->type_name("FILE");
  add_seeds(command, options.cost.seeds, "with --predict: seeds, the same for all that is compared (1,2,3)");
  command.add_option("--jobs", options.cost.jobs, "with --predict: simulations at a time (1)")->check(between(1, 1024));
  add_simulation_mode(command, options.cost.mode);
}

study::Cost predicted_cost(const study::HistoryDatabase& database, const study::HistoryCheck& check,
                           const std::string& cluster, CheckCostOptions options) {
  const auto configurations = read_configuration_file("hplcast check", options.configuration);
  if (configurations.size() != 1) {
    throw core::Error(core::ExitCode::bad_input, options.configuration + " has " +
                                                     std::to_string(configurations.size()) +
                                                     " runs; expected the one that matters");
  }
  options.cost.parameters = configurations.front();
  return cost_of(check, normal_cluster(database, check, cluster, options.normal), options.cost);
}

void write_cost(std::ostream& out, const study::Cost& cost) {
  out << "predicted with dgemm as much slower or faster as " << cost.factor
      << (cost.kept_kernels.empty() ? "\n" : ", all other kernels as they were\n");
  out << "HPL: " << significant(mean(cost.normal_gflops)) << " Gflop/s without the findings, now "
      << with_error(cost.now) << '\n';
  for (const study::Cost::OfHost& one : cost.hosts) {
    out << one.host << " (" << one.what << "): alone " << with_error(one.alone);
    if (!one.without.gflops.empty()) {
      out << "; without it " << signed_percent(one.without.effect) << " (" << one.without.parameters.P << " x "
          << one.without.parameters.Q << ")"
          << (one.pays_to_leave_out ? ": it pays to leave it out" : ": it does not pay to leave it out");
    }
    out << '\n';
  }
}

nlohmann::ordered_json cost_json(const study::Cost& cost) {
  nlohmann::ordered_json json;
  json["speed"] = cost.factor;
  json["kernels_changed"] = {"dgemm"};
  json["kernels_unchanged"] = cost.kept_kernels;
  json["normal_gflops"] = cost.normal_gflops;
  json["now"] = scenario_json(cost.now);
  auto& hosts = json["hosts"] = nlohmann::ordered_json::array();
  for (const study::Cost::OfHost& one : cost.hosts) {
    nlohmann::ordered_json entry = {{"host", one.host}, {"findings", one.what}, {"alone", scenario_json(one.alone)}};
    if (!one.without.gflops.empty()) entry["without"] = scenario_json(one.without);
    entry["pays_to_leave_out"] = one.pays_to_leave_out;
    hosts.push_back(std::move(entry));
  }
  return json;
}

}  // namespace hplcast::cli
