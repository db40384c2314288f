#include "hplcast/study/predict.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/prediction_results.hpp"
#include "cli/support/progress.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/history_models.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/real_runs.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::cli {

namespace {

struct PredictOptions {
  std::string cluster;
  std::string configurations;
  std::vector<std::uint64_t> seeds = {1};
  study::ModelLevels levels;
  bool json = false;
  bool estimate = false;
  bool resume = false;
  int jobs = 1;
  std::string output;
  std::string interval = "90";  ///< a level in percent, or off
  std::string ledger;
  study::IntervalRequest intervals;    ///< but for its level and the ledger
  std::string control = "calibrated";  ///< calibrated, now, or a file
  std::string control_hostfile;
  study::PredictionRequest request;  ///< what the options above do not say
};

/// Controls of the machine now: measured on as many ranks per host as the kernels were, or from a file.
std::vector<core::ControlRows> controls_now(const PredictOptions& options, const core::ClusterModel& cluster) {
  if (options.control != "now") return read_from(options.control, core::read_controls);
  const auto program =
      study::located_program(core::own_executable().parent_path() / "hplcast-measure-dgemm",
                             "it is beside hplcast, and measures the control; --control FILE reads one of its files");
  core::MpiLaunch launch;
  launch.hostfile = options.control_hostfile;
  launch.threads = cluster.hosts.values().threads_per_rank;
  const int hosts = launch.hostfile.empty() ? 1 : static_cast<int>(study::hosts_in(launch.hostfile));
  launch.ranks = cluster.hosts.has_kinds() ? cluster.hosts.first_core_of(std::min(hosts, cluster.hosts.count()))
                                           : cluster.hosts.values().cores * hosts;
  const core::TemporaryFolder folder("hplcast-control");
  constexpr int controls = 5;  // some seconds: their scatter says how far to trust their mean
  std::vector<core::ControlRows> all;
  while (static_cast<int>(all.size()) < controls)
    all.push_back(study::measured_control(launch, program, folder.path() / "control.csv"));
  return all;
}

/// The cluster as the machine is now, if that is asked for.
core::ClusterModel at_control(core::ClusterModel cluster, const PredictOptions& options) {
  if (options.control == "calibrated") return cluster;
  const study::ControlNow control = study::at_control(cluster, controls_now(options, cluster));
  tell("control: dgemm " + control.now.shape + " takes " + significant(1e3 * control.now.wall_s) +
       " ms now, and took " + significant(1e3 * control.calibration.wall_s) + " ms at the calibration: " +
       signed_percent(control.now.wall_s / control.calibration.wall_s - 1) + ", of which " +
       percent(control.coefficient) + " counts; kernels are predicted to take " + signed_percent(control.slower - 1));
  constexpr double disturbed = 1.1;
  const double change = std::log(control.now.wall_s / control.calibration.wall_s);
  if (std::abs(change) > std::log(disturbed))
    warn(std::string("the machine ") +
         (change > 0 ? "is busy or throttled" : "was busy or throttled at the calibration") +
         ": beyond 10 % the control was seen to tell too little (docs/models/control.md)");
  return cluster;
}

/// One request for every configuration and seed.
std::vector<study::PredictionRequest> requests_of(const PredictOptions& options) {
  study::PredictionRequest base = options.request;
  base.cluster = study::at_levels(at_control(read_cluster_file(options.cluster), options), options.levels);
  warn_about_quality(base.cluster);
  if (base.cluster.hosts.has_kinds()) tell(base.cluster.name + ": " + base.cluster.hosts.text());
  if (base.cluster.network.values().growing_probes)
    tell("note: growing_probes is on in " + options.cluster +
         ": failed probes of any rank slow those of all others, as in the simulations that its network was published "
         "with (docs/measurements/dahu.md); --growing-probes off switches that off");
  std::vector<core::HplParameters> configurations = {base.parameters};
  if (!options.configurations.empty()) {
    configurations = read_configuration_file(options.configurations, options.request.parameters);
    // CSV files of runs that were repeated, or of several seeds, have some in several rows.
    const std::size_t repeated = core::take_repeated(configurations).size();
    if (repeated > 0)
      tell("note: " + options.configurations + " has " + std::to_string(configurations.size() + repeated) +
           " configurations, of which " + std::to_string(configurations.size()) + " differ: each is predicted once");
  }
  const std::size_t simulations = configurations.size() * options.seeds.size();
  std::vector<study::PredictionRequest> requests;
  for (const auto& parameters : configurations) {
    // The needs of a run do not depend on its seed.
    const std::size_t seeds = options.estimate ? 1 : options.seeds.size();
    for (std::size_t i = 0; i < seeds; ++i) {
      requests.push_back(base);
      requests.back().parameters = parameters;
      requests.back().seed = options.seeds[i];
      if (options.intervals.random_days) requests.back().cluster = study::on_random_day(base.cluster, options.seeds[i]);
      requests.back().at_a_time = std::min(options.jobs, static_cast<int>(simulations));
      if (!base.keep.empty() && simulations > 1) requests.back().keep = base.keep / std::to_string(requests.size());
    }
  }
  return requests;
}

/// Tells of kernel and MPI calls whose sizes the models were not fitted on: there they are extrapolations.
void warn_about_range(const std::vector<core::Prediction>& predictions) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> calls;  // name to (outside, all)
  const auto add = [&](const auto& counts) {
    for (const auto& [name, count] : counts) {
      calls[name].first += count.outside_range;
      calls[name].second += count.calls;
    }
  };
  for (const core::Prediction& prediction : predictions) {
    add(prediction.kernels);
    add(prediction.messages);
  }
  for (const auto& [name, count] : calls) {
    const double share =
        static_cast<double>(count.first) / static_cast<double>(std::max<std::uint64_t>(count.second, 1));
    constexpr double worth_telling = 0.05;
    if (share < worth_telling) continue;
    warn(percent(share) + " of the " + std::to_string(count.second) + " calls of " + name +
         " have sizes outside the range that its model was fitted on");
  }
}

/// Tells how a sampled prediction may be off.
void warn_about_sampling(const std::vector<core::Prediction>& predictions, double target_error) {
  for (const core::Prediction& one : predictions) {
    if (!one.sampling) continue;
    const std::string run = core::to_string(one.parameters) + ": ";
    if (one.sampling->deviation > study::smooth_deviation)
      warn(run + "near panel " + std::to_string(one.sampling->deviates_at_panel) + " the time per panel is " +
           percent(one.sampling->deviation) +
           " off a smooth curve; a change between windows would not be seen: more windows (--windows) show it");
    if (target_error > 0 && one.error_95_s > target_error * one.time_s)
      warn(run + "the 95 % error is " + significant(100 * one.error_95_s / one.time_s, 3) + " %, not the " +
           significant(100 * target_error, 3) +
           " % asked for: there is no place for more windows; --windows off simulates all panels");
  }
}

void predict_missing(const std::vector<study::RunPlan>& plans, const PredictOptions& options,
                     PredictionResults& results) {
  study::PredictionBatch batch;
  batch.jobs = options.jobs;
  const std::vector<std::size_t> missing(results.missing().begin(), results.missing().end());
  for (const std::size_t index : missing) batch.plans.push_back(plans[index]);
  std::vector<double> work;
  double all_work = 0, expected_s = 0;
  for (const study::RunPlan& plan : batch.plans) {
    expected_s += plan.needs().wall_s / std::clamp<double>(batch.jobs, 1, static_cast<double>(batch.plans.size()));
    work.push_back(static_cast<double>(plan.parameters().N) * plan.parameters().P * plan.parameters().Q);
    all_work += work.back();
  }
  Progress progress(expected_s);
  batch.tick = [&](const std::vector<double>& fractions) {
    double done_work = 0;
    for (std::size_t i = 0; i < work.size(); ++i) done_work += fractions[i] * work[i];
    const auto ended = std::count_if(fractions.begin(), fractions.end(), [](double part) { return part >= 1; });
    progress.update(done_work / all_work, std::to_string(ended) + " of " + std::to_string(work.size()));
  };
  batch.ended = [&](std::size_t index, core::Prediction prediction) {
    if (plans.size() > 1) {
      progress.clear();
      tell(core::to_string(prediction.parameters) + " seed=" + std::to_string(prediction.seed) + ": " +
           significant(prediction.gflops) + " Gflop/s");
    }
    results.add(missing[index], std::move(prediction));
  };
  try {
    study::predict_many(batch);
  } catch (...) {
    progress.clear();
    results.save_what_is_there(options.control != "now");
    throw;
  }
}

/// Files of one simulation cannot be those of several.
void check_observation(const study::Observation& observation, std::size_t simulations) {
  for (const auto* path : {&observation.trace, &observation.paje, &observation.phases_csv, &observation.power_trace})
    if (!path->empty() && simulations > 1)
      throw core::UsageError(
          "--trace, --paje, --phases-csv and --power-trace are for one configuration and one seed, not for " +
          std::to_string(simulations) + " simulations");
}

study::SimulationNeeds needs_of_all(const std::vector<study::RunPlan>& plans, std::size_t seeds) {
  study::SimulationNeeds all;
  for (const study::RunPlan& plan : plans) {
    const int jobs = plan.request().at_a_time;
    all.wall_s += static_cast<double>(seeds) / jobs * plan.needs().wall_s;
    all.most_wall_s += static_cast<double>(seeds) / jobs * std::max(plan.needs().wall_s, plan.needs().most_wall_s);
    all.simulated_messages += static_cast<double>(seeds) * plan.needs().simulated_messages;
    all.memory_bytes = std::max(all.memory_bytes, jobs * plan.needs().memory_bytes);
  }
  return all;
}

/// Whether panels will be left out, and which share of them is simulated.
void tell_windows(const std::vector<study::RunPlan>& plans) {
  std::string first;
  std::size_t sampled = 0;
  bool more_than_all = false;
  for (const study::RunPlan& plan : plans) {
    const study::WindowPlan& windows = plan.windows();
    more_than_all |= plan.is_sampled() && windows.simulated_share() >= 1;
    if (!plan.is_sampled() || ++sampled > 1) continue;
    first = std::to_string(windows.windows.size()) + " windows (0 to " + std::to_string(windows.windows.size() - 1) +
            ") with " + percent(windows.simulated_share()) + " of the panels, " + study::to_string(plan.mode()) +
            " mode";
    if (windows.target > 0 && plan.request().target_error <= 0)
      first += ", and others, up to " + percent(windows.largest_share()) + ", until the 95 % error is at most " +
               percent(windows.target);
  }
  if (sampled == 0) return;
  if (sampled < plans.size() || sampled > 1)
    first +=
        ", the first of " + std::to_string(sampled) + " sampled of " + std::to_string(plans.size()) + " simulations";
  tell("sampled: " + first + "; --windows off simulates all panels (docs/use/sampled.md)");
  if (more_than_all)
    warn(
        "windows with their warm-up have as many panels as the run, or more: --windows off takes no longer, and leaves "
        "nothing out");
}

/// Prints the estimated needs of the simulations, each with so many seeds; those below 30 s only if `always`.
void tell_needs(const std::vector<study::RunPlan>& plans, bool always, std::size_t seeds = 1) {
  const study::SimulationNeeds all = needs_of_all(plans, seeds);
  const std::size_t simulations = plans.size() * seeds;
  constexpr double short_s = 30;
  tell_windows(plans);
  if (!always && all.wall_s < short_s) return;
  const int at_a_time = plans.empty() ? 1 : plans.front().window_jobs();
  tell(std::to_string(simulations) + (simulations == 1 ? " simulation, " : " simulations, ") + study::to_string(all) +
       " (estimated" + (at_a_time > 1 ? ", " + std::to_string(at_a_time) + " windows at a time)" : ")"));
}

/// How large the trace that is asked for will be.
void tell_trace(const study::RunPlan& plan, const study::Observation& observation) {
  if (observation.trace.empty()) return;
  const double ranks = static_cast<double>(plan.parameters().P) * plan.parameters().Q;
  double share = 1;
  if (!observation.trace_ranks.empty()) {
    const auto [first, last] = first_and_last(observation.trace_ranks);
    share = (std::min<double>(last, ranks - 1) - first + 1) / ranks;
  }
  tell(std::string("the trace will have ") + (observation.trace_end_s > 0 ? "at most " : "about ") +
       significant(share * plan.needs().trace_bytes / 1e6, 2) +
       " MB; --trace-ranks and --trace-time keep a part of it");
}

/// --estimate: what the run would take.
void run_estimate(const PredictOptions& options, const std::vector<study::RunPlan>& plans) {
  tell_warnings(plans);
  for (const core::QualityFlag& missing : core::missing_kernels(plans.front().cluster()))
    warn(missing.subject + ": " + missing.detail);
  tell_trace(plans.front(), options.request.observation);
  if (!options.json) return tell_needs(plans, true, options.seeds.size());  // results in the file of -o stay
  const study::SimulationNeeds all = needs_of_all(plans, options.seeds.size());
  nlohmann::ordered_json json = {{"simulations", plans.size() * options.seeds.size()}};
  json.update(HPLCAST_JSON(all, wall_s, most_wall_s, memory_bytes, simulated_messages));
  write_result(options.output, json);
}

/// Nothing if none is asked for. @throws core::UsageError for a level that no interval has.
std::optional<study::IntervalRequest> interval_of(const PredictOptions& options) {
  if (options.interval == "off") {
    if (!options.ledger.empty() || options.intervals.simulated_elasticities)
      throw core::UsageError("--interval off: --ledger and --interval-elasticities simulated are for the interval");
    return std::nullopt;
  }
  study::IntervalRequest request = options.intervals;
  const std::string number = options.interval.substr(0, options.interval.find_last_not_of(" %") + 1);
  // Its quantile must be a number below 1.
  if (!core::parse_double(number, request.level_percent) || request.level_percent < 1 ||
      0.5 + request.level_percent / 200 >= 1)
    throw core::UsageError("--interval " + options.interval +
                           ": expected a level in percent, from 1 to below 100, or off");
  if (!options.ledger.empty()) request.ledger = read_from(options.ledger, study::read_ledger);
  return request;
}

/// Ledgers without comparisons of this cluster, and intervals that say nothing.
void warn_about_intervals(const std::vector<core::Prediction>& predictions, const study::IntervalRequest& request,
                          const std::string& ledger) {
  const core::Prediction& first = predictions.front();
  if (!ledger.empty() && study::past_errors(request.ledger, first).configurations == 0) {
    std::set<std::string> others;
    for (const study::LedgerRow& row : request.ledger) others.insert(row.cluster + " (" + row.kind + ")");
    warn(ledger + " has no comparison of " + first.cluster + " (" + study::kind_of(first) + ")" +
         (others.empty() ? "" : ", only of " + core::comma_separated(others)) + ": the interval takes defaults");
  }
  for (const core::Prediction& one : predictions)
    if (one.interval->high_gflops - one.interval->low_gflops > one.gflops)
      warn(core::to_string(one.parameters) + ": the interval, " + significant(one.interval->low_gflops) + " to " +
           significant(one.interval->high_gflops) + " Gflop/s, is wider than the answer");
}

void run_predict(PredictOptions options) {
  put_cluster_first(options.cluster, options.configurations);
  unify_json_output(options.json, options.output);
  const std::optional<study::IntervalRequest> interval = interval_of(options);
  if (!options.control_hostfile.empty() && options.control != "now")
    throw core::UsageError("--control-hostfile has the hosts of --control now; here it is --control " +
                           options.control);
  if (options.request.target_error > 0 && options.request.windows.kind == core::WindowRule::Kind::off)
    throw core::UsageError("--target-error adds windows; --windows off has none");
  if (options.resume && options.output.empty()) throw core::UsageError("--resume needs -o, the file to go on with");
  if (options.resume && options.control == "now")
    throw core::UsageError(
        "--resume: --control now finds another speed each time, and no prediction of the file is of that\n  hint: "
        "`mpirun -np CORES hplcast-measure-dgemm --control -o now.csv` once, and --control now.csv");
  const study::Observation& observation = options.request.observation;
  const PowerTraceFile power_trace(options.request.observation);
  require_place_of(options.request.keep);
  if (!options.request.keep.empty()) {
    // The files that a simulation writes (study/simulation_files.cpp).
    for (const char* name :
         {"HPL.dat", "cluster.json", "hostfile", "platform.xml", "settings.json", "statistics.json", "simulation.log"})
      require_other_file(options.request.keep / name, {options.cluster, options.configurations});
  }
  core::catch_interrupts();
  std::vector<study::PredictionRequest> requests = requests_of(options);
  if (options.request.only_window && (requests.size() != 1 || options.json || !options.output.empty()))
    throw core::UsageError(
        "--only-window is for one configuration and one seed, and has no result but a window in --keep");
  check_observation(options.request.observation, requests.size() * (options.estimate ? options.seeds.size() : 1));
  for (const auto& request : requests) request.parameters.validate();
  study::check_programs(options.request.programs);
  if (!observation.trace_ranks.empty()) {
    const int first = first_and_last(observation.trace_ranks).first;
    for (const study::PredictionRequest& request : requests) {
      const core::HplParameters& p = request.parameters;
      require_begins_below("--trace-ranks", first, static_cast<long long>(p.P) * p.Q, core::to_string(p), "ranks");
    }
  }
  std::vector<study::RunPlan> plans;
  for (study::PredictionRequest& request : requests) plans.push_back(study::resolve(std::move(request)));
  if (options.estimate) return run_estimate(options, plans);
  PredictionResults results(plans, study::described(options.levels), options.output);
  if (options.resume) results.resume();
  tell_warnings(plans);
  tell_needs(plans, false);
  tell_trace(plans.front(), observation);
  predict_missing(plans, options, results);
  std::vector<core::Prediction> predictions = results.there();
  const core::HplParameters& first = plans.front().parameters();
  power_trace.finish(plans.front().cluster().name +
                     core::printed(", N = %lld, NB = %d, P x Q = %d x %d", first.N, first.NB, first.P, first.Q));
  if (options.request.only_window) {
    tell("window " + std::to_string(*options.request.only_window) + " is in " + options.request.keep.string() +
         (study::is_observed(observation) ? ", without a result, as it was observed"
                                          : "; without --only-window the same command puts all of them together"));
    if (options.request.observation.phases) write_phases(std::cout, predictions);
    return;
  }
  if (interval) {
    study::add_intervals(plans, *interval, predictions);
    warn_about_intervals(predictions, *interval, options.ledger);
  }
  warn_about_range(predictions);
  warn_about_sampling(predictions, options.request.target_error);
  for (const std::string& line : study::free_kernel_lines(predictions, plans.front().cluster())) tell(line);
  const auto print = [&] {
    if (options.json) return;
    write_prediction_table(std::cout, predictions, plans.front().cluster());
    if (observation.phases) write_phases(std::cout, predictions);
    if (predictions.size() == 1 && predictions.front().energy) write_energy(std::cout, predictions.front());
  };
  if (options.json || !options.output.empty())
    write_result(
        options.output, [&](std::ostream& out) { core::write_predictions(out, predictions); }, print);
  print();
}

void add_observation(Command& command, study::Observation& observation) {
  const Setting group = in_group("Observation");
  command.add_flag("--phases", observation.phases, "print the time per phase of HPL", group);
  command.add_option("--phases-csv", observation.phases_csv, "time per phase of every rank", writes("FILE"), group);
  add_trace(command, observation);
  command.add_option("--paje", observation.paje, "SMPI's own trace, for Paje viewers", writes("FILE"), named_file,
                     group);
  command.add_option("--log", observation.log,
                     "what ranks do, in simulation.log of --keep: hplcast_rank, _kernels, _messages, _probes, _columns "
                     "(docs/use/traces.md)",
                     of_type("CATEGORY.thres:verbose"), group, needs("--keep"));
}

/// The switches of model levels: they show what each part of the models contributes.
void add_levels(Command& command, study::ModelLevels& levels) {
  const auto add = [&](const char* name, bool& value, const char* description) {
    add_choice<bool>(command, name, value, on_or_off, description)->with(in_group("Model levels"));
  };
  add("--noise", levels.noise, "on: kernel calls scatter as measured; off: all take their expected time");
  add("--network-noise", levels.network_noise, "on: messages scatter as measured; off: all take their expected time");
  add("--detours", levels.detours, "off: nothing takes the cores away, even if cluster.json has detours");
  add("--growing-probes", levels.growing_probes,
      "off: probes cost the same even if cluster.json says that failed ones slow each other (published networks)");
  add("--per-cpu", levels.per_cpu, "off: all CPUs alike, with the mean of their models");
  command.add_option("--kernel-model", levels.kernel_model,
                     "M1: one product of the sizes per kernel; M2: the fitted polynomial of dgemm (default: unchanged)",
                     among({"M1", "M2"}), in_group("Model levels"));
}

}  // namespace

void setup_predict(Command& app) {
  auto options = std::make_shared<PredictOptions>();
  Command& command =
      add_command(app, "predict", "Predict HPL on a cluster by simulating it",
                  "hplcast predict examples/dahu-like.json -N 2000 --nb 128 -P 2 -Q 2 -o predictions.json");
  command.add_option("cluster", options->cluster, "cluster.json", required, reads("CLUSTER.json"));
  Option* configurations =
      command.add_option("configurations,--hpl-dat,--configurations", options->configurations,
                         "an HPL.dat, HPL's output, or a CSV with columns N, NB, P ...", reads("FILE"));
  Option* N = add_hpl_options(command, options->request.parameters, excludes(configurations));
  N->with(described("HPL's N; this or an HPL.dat must be given"));
  add_seeds(command, options->seeds, "seed of the random streams, or several: 1,2,3 (default 1)");
  add_simulation_mode(command, options->request.mode);
  add_windows(command, options->request);
  add_levels(command, options->levels);
  command.add_option("--interval", options->interval,
                     "percent of runs on the real machine that the interval is to hold; off: none (default 90)",
                     of_type("PERCENT"), in_group("Interval"));
  add_choice<bool>(
      command, "--interval-elasticities", options->intervals.simulated_elasticities,
      {{"closed-form", false}, {"simulated", true}},
      "which durations matter how much: by the closed form of quick and the times of the kernels, or by two "
      "more simulations")
      ->with(in_group("Interval"));
  command.add_option("--ledger", options->ledger,
                     "earlier comparisons of this cluster (compare --append-to-ledger): their errors count in place of "
                     "defaults",
                     reads("LEDGER.csv"), in_group("Interval"));
  command.add_option("--control", options->control,
                     "speed of the machine: as it was calibrated (default), as controls measure it now (now; some "
                     "seconds on all cores of this machine), or as they have measured it (FILE of "
                     "`hplcast-measure-dgemm --control`)",
                     of_type("calibrated|now|FILE"), in_group("Interval"));
  add_choice<bool>(
      command, "--day", options->intervals.random_days, {{"mean", false}, {"random", true}},
      "a day as the model has them in the mean (default), or one drawn at random, another for each seed: dgemm "
      "is as much faster or slower as days differ (history export)")
      ->with(in_group("Interval"));
  command.add_option("--control-hostfile", options->control_hostfile, "hosts of --control now, for mpirun",
                     reads("FILE"), in_group("Interval"));
  command.add_option("--keep", options->request.keep,
                     "keep HPL.dat, platform, log ... of the simulation in this folder", of_type("DIR"));
  add_observation(command, options->request.observation);
  add_energy(command, options->request.observation);
  command.add_flag("--json", options->json, "write JSON (docs/formats/prediction-json.md) instead of a table");
  command.add_output(options->output, "file for the JSON");
  add_simulator(command, options->request.programs);
  add_timeout(command, options->request.timeout_s, "simulation");
  command.add_flag(
      "--force", options->request.force,
      "also predict runs that do not fit the memory of the cluster or of this machine, and, without the platform "
      "library, runs that platform.xml gets wrong");
  const Option* estimate =
      command.add_flag("--estimate", options->estimate, "print the estimate of time and memory only");
  command.add_option("--jobs", options->jobs, "simulations at a time; results do not depend on it (default 1)",
                     between(1, 4096));
  command.add_flag("--resume", options->resume, "go on with the file of -o: predictions that it has are not made again",
                   excludes(estimate));
  command.callback([options, N, configurations] {
    if (N->empty() && configurations->empty())
      throw core::UsageError("give -N or an HPL.dat: hplcast predict CLUSTER.json HPL.dat");
    run_predict(*options);
  });
}

}  // namespace hplcast::cli
