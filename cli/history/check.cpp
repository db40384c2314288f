#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/history/check_findings.hpp"
#include "cli/history/history.hpp"
#include "cli/support/command_line.hpp"
#include "cli/support/options.hpp"
#include "cli/support/output.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/study/history_check.hpp"

namespace hplcast::cli {

namespace {

using study::HistoryDatabase;

struct CheckCommandOptions {
  std::string database;
  study::CheckOptions check;
  std::vector<std::string> against = {"own", "cluster"};
  std::string until;
  double missing_after_s = static_cast<double>(study::CheckOptions().missing_after_s);
  bool all = false, ignore_changes = false, json = false, record = false, only_new = false;
  bool counts = false, published = false, together = false;
  CheckCostOptions cost;
  std::string output;
};

void tell_summary(const study::HistoryCheck& check) {
  std::cerr << check.campaigns << " campaigns" << (check.newest_s ? " until " + study::date_text(*check.newest_s) : "")
            << ", " << check.counts.tests << " tests\n";
  for (const std::string& note : check.notes) std::cerr << note << '\n';
}

void run_counts(const HistoryDatabase& database, const CheckCommandOptions& options) {
  TextTable table({"cluster", "factor", "window", "rows", "tested", "below", "above", "outside", "abnormal", "logged"});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const std::size_t window : options.check.tests.windows) {
    study::CountOptions counting;
    counting.check = options.check;
    counting.window = window;
    counting.published = options.published;
    counting.together = options.together;
    for (const study::FlagCounts& one : count_flags(database, counting)) {
      const std::size_t flagged = one.below + one.above + one.outside;
      table.add({one.cluster, one.factor, std::to_string(window), std::to_string(one.rows), std::to_string(one.tested),
                 std::to_string(one.below), std::to_string(one.above), std::to_string(one.outside),
                 one.tested == 0 ? "-" : percent(static_cast<double>(flagged) / static_cast<double>(one.tested)),
                 std::to_string(one.logged)});
      json.push_back({{"cluster", one.cluster},
                      {"factor", one.factor},
                      {"window", window},
                      {"rows", one.rows},
                      {"tested", one.tested},
                      {"below", one.below},
                      {"above", one.above},
                      {"outside", one.outside},
                      {"logged", one.logged}});
    }
  }
  write_result(options.output, [&](std::ostream& out) {
    if (options.json) {
      out << core::json_text(json, 2) << '\n';
    } else {
      table.write(out);
    }
  });
}

void set_options(CheckCommandOptions& options) {
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
  if ((options.published || options.together) && !options.counts)
    throw core::UsageError("--published and --together need --counts");
}

void run_check(CheckCommandOptions& options) {
  set_options(options);
  require_writable(options.output);
  require_other_file(options.output, {options.database});
  const HistoryDatabase database(options.database, HistoryDatabase::Access::read);
  if (options.counts) return run_counts(database, options);
  if (!options.cost.configuration.empty() && options.check.cluster.empty() && database.clusters().size() > 1)
    throw core::UsageError("--predict is about one cluster: expected --cluster, one of " + named(database.clusters()));
  const study::HistoryCheck check = check_history(database, options.check);
  tell_summary(check);
  std::optional<study::Cost> cost;
  if (!options.cost.configuration.empty()) {
    if (has_cost(check)) {
      cost = predicted_cost(database, check, options.check.cluster, options.cost);
    } else {
      std::cerr << "no open finding is about the speed of CPUs: nothing to predict\n";
    }
  }
  write_result(options.output, [&](std::ostream& out) {
    if (options.json) {
      auto json = check_json(check);
      if (cost) json["cost"] = cost_json(*cost);
      out << core::json_text(json, 2) << '\n';
      return;
    }
    write_findings(out, check, {options.all, options.only_new});
    if (cost) write_cost(out, *cost);
  });
  // What could not be told is not recorded as told.
  if (options.record) HistoryDatabase(options.database, HistoryDatabase::Access::write).add_verdicts(check.verdicts());
  const std::size_t found = count_events(check, options.only_new);
  if (found == 0) return;
  std::cout.flush();
  throw core::Error(core::ExitCode::limit_exceeded,
                    std::to_string(found) + (found == 1 ? " finding" : " findings") +
                        "\n  hint: log what explains them: `hplcast history change`, `hplcast history outlier`");
}

void add_test_options(CLI::App& command, CheckCommandOptions& options) {
  fit::FindingOptions& tests = options.check.tests;
  command.add_option("--confidence", tests.confidence, "of a test, from 0.5 to below 1 (0.9999)");
  command.add_option("--window", tests.windows, "numbers of latest runs whose mean is tested (1,5)")
      ->check(CLI::Range(1, 1000));
  command
      .add_option("--against", options.against, "own: earlier runs of the CPU; cluster: the other CPUs (own,cluster)")
      ->check(CLI::IsMember({"own", "cluster"}));
  command.add_option("--min-effect", tests.least_effect, "smaller ones are not told (1%)")->transform(as_percentage());
  command.add_option("--least-runs", tests.least_runs, "earlier runs that a test needs (10)")
      ->check(CLI::Range(2, 10000));
  add_choice<fit::Correction>(
      command, "--correction", tests.correction,
      {{"holm", fit::Correction::holm}, {"bh", fit::Correction::benjamini_hochberg}, {"none", fit::Correction::none}},
      "for the number of tests of a day: Holm, Benjamini and Hochberg, or none");
}

}  // namespace

void setup_check(CLI::App& app) {
  const auto options = std::make_shared<CheckCommandOptions>();
  CLI::App& command = add_command(app, "check", "Tell which hosts have changed since earlier campaigns; 5: some have",
                                  "hplcast check watch.db --until 2025-04-01 || test $? = 5");
  command.add_option("history", options->database, "database of `hplcast history`")->required()->type_name("FILE");
  add_test_options(command, *options);
  command.add_option("--cluster", options->check.cluster, "only this one (all)");
  command.add_option("--factors", options->check.factors, "only these (docs/use/history.md)");
  command
      .add_option("--missing-after", options->missing_after_s,
                  "hosts that take no part for longer, while others do, are told (7d)")
      ->transform(as_seconds());
  command.add_option("--until", options->until, "as it was at the end of that day, or at a time: YYYY-MM-DD [HH:MM]");
  command.add_flag("--ignore-changes", options->ignore_changes, "logged changes begin no new reference");
  command.add_flag("--all", options->all, "past findings, too");
  command.add_flag("--record", options->record, "write what is found into the history, as told now");
  command.add_flag("--new", options->only_new, "only findings that no recorded check has told; 5 only for them");
  command.add_flag("--counts", options->counts, "how many runs are flagged, instead of findings");
  command.add_flag("--published", options->published, "with --counts: as the published program does");
  command.add_flag("--together", options->together, "with --counts: all factors as one vector");
  add_cost_options(command, options->cost);
  command.add_flag("--json", options->json, "JSON (docs/use/history.md) instead of a table");
  command.add_option("-o,--output", options->output, "file (default: the standard output)")->type_name("FILE");
  command.callback([options] { run_check(*options); });
}

}  // namespace hplcast::cli
