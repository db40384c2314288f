#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/study/history_check.hpp"

namespace hplcast::cli {

namespace {

using study::HistoryDatabase;

std::string nearest_text(const study::HistoryFinding& one) {
  if (!one.nearest) return "-";
  const double days = static_cast<double>(one.finding.since_s - one.nearest->time_s) / core::day_s;
  const std::string when =
      days >= 0 ? core::shortest(std::floor(days)) + " d before" : core::shortest(std::floor(-days)) + " d after";
  constexpr std::size_t most = 40;
  std::string text = one.nearest->description;
  if (text.size() > most) {
    text.resize(most);
    while (!core::is_utf8(text)) text.pop_back();  // half a letter
    text += "...";
  }
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

/// A table for people: one row per event (`past`: past ones, too; `only_new`: only what no recorded check has told),
/// then the hosts without results.
void write_findings(std::ostream& out, const study::HistoryCheck& check, bool past, bool only_new) {
  const bool any_told =
      std::any_of(check.findings.begin(), check.findings.end(), [](const auto& one) { return one.told_s.has_value(); });
  std::vector<std::string> header = {"where", "factor", "since",   "until",     "runs",          "effect",
                                     "+-",    "also",   "against", "by chance", "nearest change"};
  if (any_told) header.emplace_back("first told");
  TextTable table(std::move(header));
  std::size_t rows = 0;
  for (const study::FindingEvent& event : check.events()) {
    const study::HistoryFinding& one = check.findings[event.first];
    const fit::Finding& finding = one.finding;
    if ((!finding.open && !past) || (only_new && is_told(check, event))) continue;
    ++rows;
    std::vector<std::string> row = {check.where(one.place),
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
    if (only_new && one.told_s) continue;
    out << check.where({one.cluster, one.host, -1}) << ": " << missing_text(one) << '\n';
    ++rows;
  }
  if (rows == 0) out << (only_new && check.open() > 0 ? "nothing new\n" : "nothing found\n");
}

/// Open events and missing hosts; `only_new`: that no recorded check has told.
std::size_t count_events(const study::HistoryCheck& check, bool only_new) {
  std::size_t count = 0;
  for (const study::FindingEvent& event : check.events())
    if (check.findings[event.first].finding.open && !(only_new && is_told(check, event))) ++count;
  for (const study::MissingHost& one : check.missing)
    if (!(only_new && one.told_s)) ++count;
  return count;
}

Json date_or_null(const std::optional<std::int64_t>& time_s) {
  return time_s ? Json(study::date_text(*time_s)) : Json();
}

/// docs/use/history.md has the fields.
Json check_json(const study::HistoryCheck& check) {
  Json json;
  json["campaigns"] = check.campaigns;
  json["newest"] = date_or_null(check.newest_s);
  json["tests"] = check.tests;
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
    entry.update(HPLCAST_JSON(finding, reference_runs, expected, observed, effect, effect_error, probability));
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

Json scenario_json(const study::Scenario& one) {
  Json json = HPLCAST_JSON(one.parameters, P, Q);
  json.update(HPLCAST_JSON(one, gflops, effect, effect_error));
  return json;
}

struct CheckCommandOptions {
  std::string database;
  study::CheckOptions check;
  std::vector<std::string> against = {"own", "cluster"};
  std::string until;
  double missing_after_s = static_cast<double>(study::CheckOptions().missing_after_s);
  bool all = false, ignore_changes = false, json = false, record = false, only_new = false;
  bool counts = false, published = false, together = false;
  std::string configuration;  ///< HPL.dat or CSV: what findings cost HPL; empty: no prediction
  std::string normal;         ///< cluster.json without the findings; empty: the models of the history
  study::CostOptions cost;
  std::string output;
};

void add_cost_options(Command& command, CheckCommandOptions& options) {
  command.add_option("--predict", options.configuration, "what the findings cost this HPL run: HPL.dat, or CSV",
                     reads("HPL.dat"));
  command.add_option("--normal", options.normal,
                     "with --predict: cluster.json without the findings (the newest models of the history)",
                     reads("FILE"), needs("--predict"));
  add_seeds(command, options.cost.seeds, "with --predict: seeds, the same for all that is compared (1,2,3)");
  command.add_option("--jobs", options.cost.jobs, "with --predict: simulations at a time (1)", between(1, 1024));
  add_simulation_mode(command, options.cost.mode);
}

/// Predicts. @throws core::Error (bad_input) for several configurations, a history without models.
study::Cost predicted_cost(const study::HistoryDatabase& database, const study::HistoryCheck& check,
                           CheckCommandOptions options) {
  const auto configurations = read_configuration_file(options.configuration);
  if (configurations.size() != 1)
    throw InputError(options.configuration + " has " + std::to_string(configurations.size()) +
                     " runs; expected the one that matters");
  options.cost.parameters = configurations.front();
  const core::ClusterModel normal = options.normal.empty()
                                        ? study::normal_cluster(database, check, options.check.cluster)
                                        : read_cluster_file(options.normal);
  return cost_of(check, normal, options.cost);
}

std::string rate_text(const study::Scenario& one) {
  return significant(core::mean(one.gflops)) + " Gflop/s (" + signed_percent(one.effect) + " +- " +
         percent(one.effect_error) + ")";
}

void write_cost(std::ostream& out, const study::Cost& cost) {
  out << "predicted with dgemm as much slower or faster as " << cost.factor
      << (cost.kept_kernels.empty() ? "\n" : ", all other kernels as they were\n");
  out << "HPL: " << significant(core::mean(cost.normal_gflops)) << " Gflop/s without the findings, now "
      << rate_text(cost.now) << '\n';
  for (const study::Cost::OfHost& one : cost.hosts) {
    out << one.host << " (" << one.what << "): alone " << rate_text(one.alone);
    if (!one.not_without.empty()) {
      out << "; it cannot be left out: " << one.not_without;
    } else {
      const double gain = core::mean(one.without.gflops) - core::mean(cost.now.gflops);
      out << "; without it " << significant(std::abs(gain)) << " Gflop/s " << (gain < 0 ? "less" : "more")
          << " than now (" << one.without.parameters.P << " x " << one.without.parameters.Q << "): it "
          << (one.pays_to_leave_out ? "pays" : "does not pay") << " to leave it out";
    }
    out << '\n';
  }
}

Json cost_json(const study::Cost& cost) {
  Json json;
  json["speed"] = cost.factor;
  json["kernels_changed"] = {"dgemm"};
  json["kernels_unchanged"] = cost.kept_kernels;
  json["normal_gflops"] = cost.normal_gflops;
  json["now"] = scenario_json(cost.now);
  auto& hosts = json["hosts"] = Json::array();
  for (const study::Cost::OfHost& one : cost.hosts) {
    Json entry = {{"host", one.host}, {"findings", one.what}, {"alone", scenario_json(one.alone)}};
    if (one.not_without.empty()) entry["without"] = scenario_json(one.without);
    if (!one.not_without.empty()) entry["not_without"] = one.not_without;
    entry["pays_to_leave_out"] = one.pays_to_leave_out;
    hosts.push_back(std::move(entry));
  }
  return json;
}

void tell_summary(const study::HistoryCheck& check) {
  std::cerr << core::counted(check.campaigns, "campaign")
            << (check.newest_s ? " until " + study::date_text(*check.newest_s) : "") << ", "
            << core::counted(check.tests, "test") << '\n';
  for (const std::string& note : check.notes) std::cerr << note << '\n';
}

void run_counts(const HistoryDatabase& database, const CheckCommandOptions& options) {
  TextTable table({"cluster", "factor", "window", "rows", "tested", "below", "above", "outside", "abnormal", "logged"});
  Json json = Json::array();
  for (const std::size_t window : options.check.tests.windows) {
    const study::CountOptions counting{options.check, window, options.published, options.together};
    for (const study::FlagCounts& one : count_flags(database, counting)) {
      const std::size_t flagged = one.below + one.above + one.outside;
      table.add({one.cluster, one.factor, std::to_string(window), std::to_string(one.rows), std::to_string(one.tested),
                 std::to_string(one.below), std::to_string(one.above), std::to_string(one.outside),
                 one.tested == 0 ? "-" : percent(static_cast<double>(flagged) / static_cast<double>(one.tested)),
                 std::to_string(one.logged)});
      Json row = HPLCAST_JSON(one, cluster, factor);
      row["window"] = window;
      row.update(HPLCAST_JSON(one, rows, tested, below, above, outside, logged));
      json.push_back(std::move(row));
    }
  }
  if (options.json) return write_result(options.output, json);
  write_result(options.output, [&](std::ostream& out) { table.write(out); });
}

void set_options(CheckCommandOptions& options) {
  require_distinct("--factors", options.check.factors);
  fit::FindingOptions& tests = options.check.tests;
  if (!(tests.confidence >= 0.5 && tests.confidence < 1))
    throw core::UsageError("--confidence is " + core::shortest(tests.confidence) + "; expected 0.5 to below 1");
  tests.own = std::find(options.against.begin(), options.against.end(), "own") != options.against.end();
  tests.cluster = std::find(options.against.begin(), options.against.end(), "cluster") != options.against.end();
  std::sort(tests.windows.begin(), tests.windows.end());
  tests.windows.erase(std::unique(tests.windows.begin(), tests.windows.end()), tests.windows.end());
  options.check.missing_after_s = static_cast<std::int64_t>(std::min(options.missing_after_s, 1e12));
  options.check.use_changes = !options.ignore_changes;
  if (!options.until.empty()) {
    options.check.until_s = of_options([&] { return study::parse_end(options.until); });
    if (of_options([&] { return study::parse_date(options.until); }) > std::time(nullptr))
      std::cerr << "warning: --until " << options.until << " (UTC) is in the future\n";
  }
  if (options.record && (options.counts || !options.until.empty()))
    throw core::UsageError("--record is for what is found now, without --counts and --until");
  if (options.counts && (options.all || options.only_new || !options.configuration.empty()))
    throw core::UsageError("--counts tells no findings; expected it without --all, --new and --predict");
}

void run_check(CheckCommandOptions& options) {
  set_options(options);
  const HistoryDatabase database(options.database, HistoryDatabase::Access::read);
  if (options.counts) return run_counts(database, options);
  if (!options.configuration.empty() && options.check.cluster.empty() && database.clusters().size() > 1)
    throw core::UsageError("--predict is about one cluster: expected --cluster, one of " +
                           study::names_text(database.clusters()));
  const study::HistoryCheck check = check_history(database, options.check);
  tell_summary(check);
  std::optional<study::Cost> cost;
  if (!options.configuration.empty() && has_cost(check)) {
    cost = predicted_cost(database, check, options);
  } else if (!options.configuration.empty()) {
    std::cerr << "no open finding is about the speed of CPUs: nothing to predict\n";
  }
  if (options.json) {
    Json json = check_json(check);
    if (cost) json["cost"] = cost_json(*cost);
    write_result(options.output, json);
  } else {
    write_result(options.output, [&](std::ostream& out) {
      write_findings(out, check, options.all, options.only_new);
      if (cost) write_cost(out, *cost);
    });
  }
  // Recorded last: verdicts that could not be printed must not count as told.
  if (options.record) HistoryDatabase(options.database, HistoryDatabase::Access::write).add_verdicts(check.verdicts());
  const std::size_t found = count_events(check, options.only_new);
  if (found == 0) return;
  std::cout.flush();
  throw core::Error(core::ExitCode::limit_exceeded,
                    core::counted(found, "finding") +
                        "\n  hint: log what explains them: `hplcast history change`, `hplcast history outlier`");
}

void add_test_options(Command& command, CheckCommandOptions& options) {
  fit::FindingOptions& tests = options.check.tests;
  command.add_option("--confidence", tests.confidence, "of all tests of a day, from 0.5 to below 1 (0.9999)");
  command.add_option("--window", tests.windows, "numbers of latest runs whose median is tested (1,5)",
                     between(1, 1000));
  command.add_option("--against", options.against,
                     "own: earlier runs of the CPU; cluster: the other CPUs (own,cluster)", among({"own", "cluster"}));
  command.add_option("--min-effect", tests.least_effect, "smaller ones are not told (1%)", as_percentage);
  command.add_option("--least-runs", tests.least_runs, "earlier runs that a test needs (10)", between(2, 10000));
  add_choice<fit::Correction>(
      command, "--correction", tests.correction,
      {{"holm", fit::Correction::holm}, {"bh", fit::Correction::benjamini_hochberg}, {"none", fit::Correction::none}},
      "for the number of tests of a day: Holm, Benjamini and Hochberg, or none");
}

}  // namespace

void setup_check(Command& app) {
  Command& command = add_command(app, "check", "Tell which hosts have changed since earlier campaigns; 5: some have",
                                 "hplcast check watch.db --until 2025-04-01 || test $? = 5");
  auto& options = command.runs<CheckCommandOptions>(run_check);
  command.add_option("history", options.database, "database of `hplcast history`", required, reads("FILE"));
  add_test_options(command, options);
  command.add_option("--cluster", options.check.cluster, "only this one (all)");
  command.add_option("--factors", options.check.factors, "only these (docs/use/history.md)");
  command.add_option("--missing-after", options.missing_after_s,
                     "hosts that take no part for longer, while others do, are told (7d)", as_seconds);
  command.add_option("--until", options.until, "as it was at the end of that day, or at a time: YYYY-MM-DD [HH:MM]");
  command.add_flag("--ignore-changes", options.ignore_changes, "logged changes begin no new reference");
  command.add_flag("--all", options.all, "past findings, too");
  command.add_flag("--record", options.record, "write what is found into the history, as told now");
  command.add_flag("--new", options.only_new, "only findings that no recorded check has told; 5 only for them");
  command.add_flag("--counts", options.counts, "how many runs are flagged, instead of findings");
  command.add_flag("--published", options.published, "with --counts: as the published program does", needs("--counts"));
  command.add_flag("--together", options.together, "with --counts: all factors as one vector", needs("--counts"));
  add_cost_options(command, options);
  command.add_flag("--json", options.json, "JSON (docs/use/history.md) instead of a table");
  command.add_output(options.output, "file (default: the standard output)");
}

}  // namespace hplcast::cli
