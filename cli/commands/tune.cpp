#include "hplcast/study/tune.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/progress.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

struct TuneOptions {
  std::string cluster;
  std::vector<std::string> grids;
  bool json = false;
  std::string output;
  std::string picture;
  std::string configurations;  ///< an HPL.dat; empty: none
  const Option *N = nullptr, *ranks = nullptr, *grid = nullptr, *memory_fraction = nullptr;
  std::vector<std::pair<study::TunedParameter, const Option*>> levels;
  study::TuneRequest request;
};

std::pair<int, int> parse_grid(const std::string& text) {
  int P = 0, Q = 0;
  const std::size_t x = text.find('x');
  if (x == std::string::npos || !parse_whole(text.substr(0, x), P) || !parse_whole(text.substr(x + 1), Q) || P < 1 ||
      Q < 1 || P > std::numeric_limits<int>::max() / Q)
    throw core::UsageError("--grid is `" + text + "`; expected PxQ such as 30x32, of less than 2^31 ranks");
  return {P, Q};
}

/// 95 percent confidence interval of the mean of the objective; empty with one seed.
std::string interval(study::Objective objective, const study::TunedConfiguration& entry) {
  if (!entry.interval) return "";
  const auto [low, high] =
      std::minmax({study::in_unit(objective, entry.interval->lower), study::in_unit(objective, entry.interval->upper)});
  return significant(low) + " to " + significant(high);
}

void write_ranking(std::ostream& out, const study::TuneResult& result) {
  constexpr std::size_t shown = 15;
  std::vector<std::string> header = {"rank", "round", "N", "PxQ"};
  study::for_parameters([&](const study::TunedParameter& one) { header.emplace_back(one.name); });
  header.emplace_back("Gflop/s");
  const bool by_rate = result.objective == study::Objective::gflops;
  if (!by_rate) header.emplace_back(study::unit_of(result.objective));
  header.insert(header.end(), {"95 % of the mean", "P(first is faster)"});
  TextTable table(header);
  const std::vector<std::size_t> places = study::places(result.ranking);
  for (std::size_t i = 0; i < std::min(shown, result.ranking.size()); ++i) {
    const auto& entry = result.ranking[i];
    const core::HplParameters& p = entry.parameters;
    std::vector<std::string> row = {std::to_string(places[i]), std::to_string(entry.round), std::to_string(p.N),
                                    std::to_string(p.P) + "x" + std::to_string(p.Q)};
    study::for_parameters([&](const study::TunedParameter& one) { row.push_back(std::to_string(p.*one.field)); });
    row.push_back(significant(entry.mean_gflops));
    if (!by_rate) row.push_back(significant(study::in_unit(result.objective, entry.mean_merit)));
    row.push_back(interval(result.objective, entry));
    row.push_back(entry.first_is_faster ? significant(*entry.first_is_faster, 2) : "");
    table.add(row);
  }
  table.write(out);
  if (result.ranking.size() > shown) out << "... and " << result.ranking.size() - shown << " more (--json has all)\n";
  const auto equal = std::count(places.begin(), places.end(), std::size_t{1});
  if (equal > 1)
    out << "The first " << equal << " are equal to the last digit: what they differ in has no effect on this run\n";
}

void write_influence(std::ostream& out, const study::Anova& anova, study::Objective objective) {
  if (anova.rows.empty()) return;
  out << "\nInfluence in the first round (share of the variance of log " << study::unit_of(objective)
      << (study::in_unit(objective, 2) < 1 ? ", less is better; effects on its inverse" : "")
      << (anova.balanced ? "" : "; not all combinations were tried: shares are beyond those of all other factors")
      << "):\n";
  TextTable table({"factor", "share", "p", "best level", "worst level"});
  for (const study::AnovaRow& row : anova.rows) {
    std::string best, worst;
    const auto by_effect = [](const auto& a, const auto& b) { return a.second < b.second; };
    if (!row.effects.empty()) {
      const auto [low, high] = std::minmax_element(row.effects.begin(), row.effects.end(), by_effect);
      best = high->first + " (" + signed_percent(high->second) + ")";
      worst = low->first + " (" + signed_percent(low->second) + ")";
    }
    table.add({row.name, percent(row.share), row.f > 0 ? significant(row.p_value, 2) : "", best, worst});
  }
  table.write(out);
}

/// One line per factor.
void write_levels(std::ostream& out, const std::string& title, const std::vector<study::PanelLevel>& levels) {
  if (levels.empty()) return;
  out << '\n' << title << ":\n";
  std::string factor;
  for (const study::PanelLevel& level : levels) {
    out << (level.factor == factor ? ", " : (factor.empty() ? "  " : "\n  ") + level.factor + " ") << level.level
        << ": " << signed_percent(level.effect);
    factor = level.factor;
  }
  out << '\n';
}

/// The basis of the ranking: factors, rounds, untried candidates, naive estimates.
void write_remarks(std::ostream& out, const study::TuneResult& result) {
  write_influence(out, result.influence, result.objective);
  write_levels(out,
               "Panel factorisation, one change at a time of the best of the first round (up to " +
                   percent(result.panel_chance) + " may be chance)",
               result.panel);
  write_levels(out, "One change at a time of the best, in the last round", result.neighbours);
  out << "\nRounds:";
  for (const study::TuneRound& round : result.rounds) {
    out << "  N=" << round.N;
    if (round.windows > 0) out << " (" << round.windows << " windows)";
    out << ": " << round.predictions << " of " << round.configurations * round.seeds << " in "
        << duration_text(round.wall_s) << ";";
  }
  out << "\nNot tried: ";
  if (result.not_tried.empty())
    out << "none of the candidates";
  else
    out << result.not_tried.size() << " of the candidates (there was no time for them; a larger --budget tries more)";
  out << "; L1, U, PMAP were not varied\n";
  const study::TuneBaselines& naive = result.baselines;
  const double chosen = result.ranking.empty() ? 0 : result.ranking.front().mean_gflops;
  const double best = result.fresh ? result.fresh->mean_gflops : chosen;
  out << "Naive: ";
  if (naive.peak > 0)
    out << "peak of dgemm's model " << significant(naive.peak) << " Gflop/s, 80 % of it "
        << significant(0.8 * naive.peak) << "; ";
  if (naive.one_node > 0)
    out << "one node times the number of nodes " << significant(naive.linear_scaling)
        << " (one node: " << significant(naive.one_node) << " at N=" << naive.one_node_N << ")\n";
  else
    out << "no time for a prediction of one node\n";
  if (result.ranking.empty()) return;
  out << "Simulated: " << significant(best) << " Gflop/s at N=" << result.ranking.front().parameters.N;
  if (result.fresh)
    out << " with " << result.fresh->gflops.size() << " other seed" << (result.fresh->gflops.size() > 1 ? "s" : "")
        << " (" << signed_percent(best / chosen - 1) << " against those that it was chosen by)";
  if (naive.peak > 0) out << ", " << percent(best / naive.peak) << " of the peak";
  if (result.gain)
    out << "; "
        << (result.objective == study::Objective::gflops ? "" : std::string(study::to_string(result.objective)) + " ")
        << signed_percent(study::in_unit(result.objective, 1 + *result.gain) - 1)
        << " against the configuration that it began with";
  out << '\n';
}

void write_summary(std::ostream& out, const study::TuneResult& result) {
  write_ranking(out, result);
  if (!is_quiet()) write_remarks(out, result);
  if (result.decided) out << "Best: " << core::to_string(result.best) << '\n';
}

/// `--budget` as people write it, rounded up.
std::string budget_text(double seconds) {
  constexpr double minute_s = 60, hour_s = 3600;
  const bool hours = seconds > 2 * hour_s, minutes = !hours && seconds > 2 * minute_s;
  const double unit_s = hours ? hour_s : minutes ? minute_s : 1;
  return std::to_string(std::llround(std::ceil(seconds / unit_s))) + (hours ? "h" : minutes ? "min" : "s");
}

/// @throws core::Error (limit_exceeded) where the budget did not suffice for a recommendation.
void require_decision(const study::TuneResult& result, const std::string& output) {
  if (result.decided) return;
  const std::string N = "N=" + std::to_string(result.best.N);
  std::string message = "no recommendation for " + N + (output.empty() ? "" : " (" + output + " is not written)");
  const long long last_N = result.ranking.empty() ? 0 : result.ranking.front().parameters.N;
  if (result.ranking.empty())
    message += ": no prediction of the rounds ended within the budget";
  else if (3 * last_N < result.best.N)
    message += ": the last round ran at N=" + std::to_string(last_N) +
               ", and below a third of the N asked for the order of configurations is another one";
  else if (result.few_tried)
    message += ": " + std::to_string(result.tried) + " of the candidates were tried, too few to see what matters";
  else
    message += ": only one configuration was predicted at N=" + std::to_string(last_N);
  throw core::Error(core::ExitCode::limit_exceeded, message + "; hint: `--budget " +
                                                        budget_text(result.enough_budget_s) +
                                                        "` is expected to do, by what these predictions took");
}

void warn_beyond_peak(const study::TuneResult& result) {
  if (result.ranking.empty() || !(result.baselines.peak > 0)) return;
  const double share = result.ranking.front().mean_gflops / result.baselines.peak;
  if (share > 1)
    warn("the best is " + percent(share) +
         " of the peak of dgemm: other kernels of this cluster.json are missing or too fast, and its predictions "
         "cannot be trusted");
}

/// Takes what no option says from an HPL.dat, and tells which search comes of it.
void take_configurations(TuneOptions& options) {
  study::TuneRequest& request = options.request;
  const std::vector<core::HplParameters> configurations = read_configuration_file(options.configurations);
  const study::TuneRequest there = study::begun_at(request, configurations);
  request.defaults = there.defaults;
  std::string text = "the search begins with " + core::to_string(there.defaults);
  if (options.N->empty() && options.memory_fraction->empty()) {
    request.N = there.N;
    text += "\n  the N of the search is the largest there, " + std::to_string(there.N);
  }
  if (options.grid->empty() && options.ranks->empty()) request.grids = there.grids;
  text += "\n  candidates:";
  for (const auto& [P, Q] : request.grids) text += " " + std::to_string(P) + "x" + std::to_string(Q);
  if (request.grids.empty()) text += " grids of " + core::counted(request.ranks, "rank");
  for (const auto& [one, option] : options.levels) {
    if (option->empty()) request.*one.levels = there.*one.levels;
    text += std::string("; ") + one.name + " " +
            core::joined(request.*one.levels, ",", [](int level) { return std::to_string(level); });
  }
  tell(options.configurations + ": " + text + "\n  all else as where it begins");
}

void run_tune(TuneOptions options) {
  const bool prints_hpl_dat = core::is_standard_stream(options.output);
  if (prints_hpl_dat && options.json)
    throw core::UsageError("--json and `-o -` would both write to the standard output");
  core::catch_interrupts();
  put_cluster_first(options.cluster, options.configurations);
  options.request.cluster = read_cluster_file(options.cluster);
  warn_about_quality(options.request.cluster);
  options.request.N = options.request.defaults.N;
  for (const std::string& grid : options.grids) options.request.grids.push_back(parse_grid(grid));
  if (!options.configurations.empty()) take_configurations(options);
  Progress progress;
  options.request.progress = [&](double fraction, const std::string& what) { progress.update(fraction, what); };
  const study::TuneResult result = study::tune(options.request);
  progress.clear();
  warn_all(result.warnings);
  warn_beyond_peak(result);
  warn_all(result.failures);
  if (!options.output.empty() && result.decided)
    core::write_file(options.output, [&](std::ostream& out) { core::write_hpl_dat(out, result.best, true); });
  if (!options.picture.empty() && !result.ranking.empty()) write_picture(options.picture, study::tune_picture(result));
  if (options.json) study::write_tune_result(std::cout, result);
  if (!options.json && !prints_hpl_dat) write_summary(std::cout, result);
  require_decision(result, options.output);
}

}  // namespace

void setup_tune(Command& app) {
  Command& command = add_command(app, "tune", "Search for the best HPL.dat of a cluster",
                                 "hplcast tune examples/dahu-like.json --grid 2x2 -N 3000 --budget 40 -o HPL.dat");
  auto& options = command.runs<TuneOptions>(run_tune);
  study::TuneRequest& request = options.request;
  request.defaults.N = 0;
  command.add_option("cluster", options.cluster, "cluster.json", required, reads("CLUSTER.json"));
  command.add_option(
      "configurations,--hpl-dat,--configurations", options.configurations,
      "where the search begins: an HPL.dat, HPL's output, or a CSV with columns N, NB, P ...; of several "
      "N there the largest, of other parameters with several values these as levels",
      reads("FILE"));
  command.add_option("--budget", request.budget_s, "time for all predictions together", as_time_limit,
                     default_text("10min"));
  options.memory_fraction = command.add_option("--memory-fraction", request.memory_fraction,
                                               "of the memory, for the matrix: 0.8 or 80%", as_ratio, with_default);
  options.N = command.add_option("-N", request.defaults.N, "order of the matrix (default: by --memory-fraction)",
                                 positive, excludes(options.memory_fraction));
  options.ranks = command.add_option("--ranks", request.ranks, "(default: all cores)", positive);
  options.grid = command.add_option("--grid", options.grids, "PxQ, or several (default: the nearest to square)",
                                    by_commas, excludes(options.ranks));
  study::for_parameters([&](const study::TunedParameter& one) {
    const bool is_first_of_panel = one.levels == study::panel_parameters[0].levels;
    const char* help = is_first_of_panel ? " (looked at one at a time, as the next three)" : "";
    options.levels.emplace_back(one, add_hpl_levels(command, one.name, request.*one.levels, help));
  });
  command.add_option("--jobs", request.jobs, "predictions at a time (default: the cores of this machine)", positive);
  add_choice(command, "--objective", request.objective,
             "what is to be best: gflops, gflops-per-watt, energy (J) or edp (energy x time, J s); all but the first "
             "need power in cluster.json");
  add_seed(command, request.seed, "of the predictions and of the order");
  add_simulation_mode(command, request.mode, ", judged at the full N");
  command.add_flag("--json", options.json, "write everything as JSON (docs/use/tune.md) instead of tables");
  command.add_option("--picture", options.picture, "of the rounds", draws("PICTURE.svg|png"));
  command.add_output(options.output, "HPL.dat with the best configuration");
}

}  // namespace hplcast::cli
