#include "hplcast/study/predict.hpp"

#include <iostream>
#include <limits>
#include <memory>
#include <set>

#include "checks.hpp"
#include "choice.hpp"
#include "cluster_file.hpp"
#include "commands.hpp"
#include "hpl_options.hpp"
#include "hplcast/core/cluster_problems.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/configurations.hpp"
#include "hplcast/study/free_kernels.hpp"
#include "hplcast/study/model_levels.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "seed_option.hpp"
#include "simulation_mode_option.hpp"

namespace hplcast::cli {

namespace {

struct PredictOptions {
  std::string cluster;
  std::string configurations;
  std::vector<std::uint64_t> seeds = {1};
  study::ModelLevels levels;
  bool json = false;
  bool estimate = false;
  std::string output;
  study::PredictionRequest request;  ///< what the options above do not say
};

/// One request for every configuration and seed.
std::vector<study::PredictionRequest> requests_of(const PredictOptions& options) {
  study::PredictionRequest base = options.request;
  base.cluster = study::at_levels(read_cluster_file(options.cluster), options.levels);
  warn_about_quality(base.cluster);
  if (base.cluster.network.values().growing_probes)
    std::cerr << "hplcast predict: note: growing_probes is on in " << options.cluster
              << ": failed probes of any rank slow those of all others, as in the simulations that its network was "
                 "published with (docs/accuracy.md); --growing-probes off switches that off\n";
  std::vector<core::HplParameters> configurations = {base.parameters};
  if (!options.configurations.empty()) {
    core::read_file(options.configurations, [&](std::istream& in, const std::string& name) {
      configurations = study::read_configurations(in, name, options.request.parameters);
    });
  }
  std::vector<study::PredictionRequest> requests;
  for (const auto& parameters : configurations) {
    for (const std::uint64_t seed : options.seeds) {
      requests.push_back(base);
      requests.back().parameters = parameters;
      requests.back().seed = seed;
      if (!base.keep.empty() && configurations.size() * options.seeds.size() > 1) {
        requests.back().keep = base.keep / std::to_string(requests.size());
      }
    }
  }
  return requests;
}

/// Where the time of each prediction goes, phase by phase.
void write_phases(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  for (const core::Prediction& prediction : predictions) {
    out << "\nTime per phase in s, mean over the ranks (least and most: of any rank), "
        << core::to_string(prediction.parameters) << '\n';
    TextTable table({"phase", "time", "least", "most", "kernels", "messages", "waiting", "share"});
    double all_s = 0;
    for (const core::PhaseSummary& phase : prediction.phases) all_s += phase.elapsed_s;
    for (const core::PhaseSummary& phase : prediction.phases) {
      table.add({phase.name, significant(phase.elapsed_s), significant(phase.least_s), significant(phase.most_s),
                 significant(phase.kernels_s), significant(phase.messages_s), significant(phase.waiting_s),
                 percent(phase.elapsed_s / std::max(all_s, std::numeric_limits<double>::min()))});
    }
    table.write(out);
  }
}

void write_table(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  TextTable table(
      {"N", "NB", "PxQ", "BCAST", "DEPTH", "SWAP", "seed", "mode", "time [s]", "Gflop/s", "took [s]", "memory [MB]"});
  for (const core::Prediction& p : predictions) {
    const core::HplParameters& h = p.parameters;
    table.add({std::to_string(h.N), std::to_string(h.NB), std::to_string(h.P) + "x" + std::to_string(h.Q),
               std::to_string(h.BCAST), std::to_string(h.DEPTH), std::to_string(h.SWAP), std::to_string(p.seed), p.mode,
               significant(p.time_s), significant(p.gflops), significant(p.wall_s, 3),
               significant(p.peak_pss_bytes / 1e6, 3)});
  }
  table.write(out);
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
    std::cerr << "hplcast predict: warning: " << percent(share) << " of the " << count.second << " calls of " << name
              << " have sizes outside the range that its model was fitted on\n";
  }
}

/// Tells of kernels without a model, each once: for the prediction where it matters most.
void warn_about_free_kernels(const std::vector<core::Prediction>& predictions, const core::ClusterModel& cluster) {
  std::map<std::string, study::FreeKernel> worst;
  for (const core::Prediction& prediction : predictions) {
    for (const study::FreeKernel& one : study::free_kernels(prediction, cluster)) {
      const auto found = worst.emplace(one.name, one).first;
      if (one.share > found->second.share) found->second = one;
    }
  }
  constexpr double worth_telling = 0.01;
  std::string little;
  for (const auto& [name, one] : worst) {
    if (one.share >= worth_telling) {
      std::cerr << "hplcast predict: warning: " << to_string(one) << '\n';
    } else {
      little += (little.empty() ? "" : ", ") + name + " (" + std::to_string(one.calls) + " calls)";
    }
  }
  if (!little.empty())
    std::cerr << "hplcast predict: note: without a model, so free, each less than 1 % of the time: " << little << '\n';
}

std::vector<core::Prediction> predict_all(std::vector<study::PredictionRequest>& requests) {
  const auto work = [](const study::PredictionRequest& request) {
    return static_cast<double>(request.parameters.N) * request.parameters.P * request.parameters.Q;
  };
  double all_work = 0;
  std::set<std::string> warnings;  // the same ones hold for many configurations: told once
  for (const auto& request : requests) {
    all_work += work(request);
    for (const std::string& warning : study::check(request)) warnings.insert(warning);
  }
  for (const std::string& warning : warnings) std::cerr << "hplcast predict: warning: " << warning << '\n';
  Progress progress;
  double done_work = 0;
  std::vector<core::Prediction> predictions;
  for (auto& request : requests) {
    const std::string which = std::to_string(predictions.size() + 1) + " of " + std::to_string(requests.size()) +
                              ": N=" + std::to_string(request.parameters.N);
    study::SimulationProgress now;
    request.on_progress = [&now](const study::SimulationProgress& progress_now) { now = progress_now; };
    request.while_running = [&] {
      progress.update((done_work + now.fraction * work(request)) / all_work,
                      which + ", simulated " + significant(now.simulated_s, 3) + " s");
    };
    predictions.push_back(study::predict(request));
    done_work += work(request);
  }
  return predictions;
}

/// Files of one simulation cannot be those of several.
void check_observation(const study::Observation& observation, std::size_t simulations) {
  for (const auto* path : {&observation.trace, &observation.paje, &observation.phases_csv}) {
    require_writable(*path);
    if (!path->empty() && simulations > 1) {
      throw core::UsageError("--trace, --paje and --phases-csv are for one configuration and one seed, not for " +
                             std::to_string(simulations) + " simulations");
    }
  }
}

/// What the simulations will take. Only told if one might go for a coffee meanwhile, or asked for it.
void tell_needs(const std::vector<study::PredictionRequest>& requests, bool always) {
  study::SimulationNeeds all;
  for (const auto& request : requests) {
    const study::SimulationNeeds needs = study::needs_of(request);
    all.wall_s += needs.wall_s;
    all.simulated_messages += needs.simulated_messages;
    all.memory_bytes = std::max(all.memory_bytes, needs.memory_bytes);
  }
  constexpr double short_s = 30;
  if (!always && all.wall_s < short_s) return;
  std::cerr << "hplcast predict: " << requests.size() << (requests.size() == 1 ? " simulation, " : " simulations, ")
            << study::to_string(all) << " (estimated)\n";
}

/// For --estimate: what no machine can run is refused, as a run refuses it; what this machine cannot hold is told.
void refuse_or_warn(const study::PredictionRequest& request) {
  try {
    for (const std::string& warning : study::check(request))
      std::cerr << "hplcast predict: warning: " << warning << '\n';
  } catch (const core::DomainError&) {
    throw;
  } catch (const core::Error& error) {
    std::cerr << "hplcast predict: warning: " << error.what() << '\n';
  }
}

void run_predict(const PredictOptions& options) {
  require_writable(options.output);
  const std::vector<std::string> inputs = {options.cluster, options.configurations};
  require_other_file(options.output, inputs);
  for (const auto* path :
       {&options.request.observation.trace, &options.request.observation.paje, &options.request.observation.phases_csv})
    require_other_file(*path, inputs);
  if (!options.request.keep.empty()) {
    // The files that a simulation writes (study/simulation_files.cpp).
    for (const char* name :
         {"HPL.dat", "cluster.json", "hostfile", "platform.xml", "statistics.json", "simulation.log"})
      require_other_file(options.request.keep / name, inputs);
  }
  core::catch_interrupts();
  auto requests = requests_of(options);
  check_observation(options.request.observation, requests.size());
  for (const auto& request : requests) request.parameters.validate();
  tell_needs(requests, options.estimate);
  if (options.estimate) {
    for (const auto& request : requests) refuse_or_warn(request);
    for (const core::QualityFlag& missing : core::missing_kernels(requests.front().cluster))
      std::cerr << "hplcast predict: warning: " << missing.subject << ": " << missing.detail << '\n';
    return;
  }
  auto predictions = predict_all(requests);
  for (core::Prediction& prediction : predictions) prediction.model_levels = study::described(options.levels);
  warn_about_range(predictions);
  warn_about_free_kernels(predictions, requests.front().cluster);
  if (options.json || !options.output.empty()) {
    write_result(options.output, [&](std::ostream& out) { core::write_predictions(out, predictions); });
  }
  if (options.json) return;
  write_table(std::cout, predictions);
  if (options.request.observation.phases) write_phases(std::cout, predictions);
}

void add_observation(CLI::App& command, study::Observation& observation) {
  const auto add = [&](const char* name, auto& value, const char* description, const char* type) {
    return command.add_option(name, value, description)->type_name(type)->group("Observation");
  };
  command.add_flag("--phases", observation.phases, "print the time per phase of HPL")->group("Observation");
  add("--phases-csv", observation.phases_csv, "time per phase of every rank", "FILE");
  add("--trace", observation.trace, "trace of every rank, for Perfetto (Chrome's JSON)", "FILE");
  add("--trace-ranks", observation.trace_ranks, "only these ranks in the trace: 0-31", "FIRST-LAST")->needs("--trace");
  add("--paje", observation.paje, "SMPI's own trace, for Paje viewers", "FILE");
  add("--log", observation.log,
      "what ranks do, in simulation.log of --keep: hplcast_rank, _kernels, _messages, _probes, _columns "
      "(docs/traces.md)",
      "CATEGORY.thres:debug")
      ->needs("--keep");
}

/// The switches of model levels: they show what each part of the models contributes.
void add_levels(CLI::App& command, study::ModelLevels& levels) {
  const auto add = [&](const char* name, bool& value, const char* description) {
    add_choice<bool>(command, name, value, {{"on", true}, {"off", false}}, description)->group("Model levels");
  };
  add("--noise", levels.noise, "on: kernel calls scatter as measured; off: all take their expected time");
  add("--network-noise", levels.network_noise, "on: messages scatter as measured; off: all take their expected time");
  add("--growing-probes", levels.growing_probes,
      "off: probes cost the same even if cluster.json says that failed ones slow each other (published networks)");
  add("--per-cpu", levels.per_cpu, "off: all CPUs alike, with the mean of their models");
  command
      .add_option("--kernel-model", levels.kernel_model,
                  "M1: one product of the sizes per kernel; M2: the fitted polynomial of dgemm (default: unchanged)")
      ->check(CLI::IsMember({"M1", "M2"}))
      ->group("Model levels");
}

}  // namespace

void setup_predict(CLI::App& app) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App& command =
      add_command(app, "predict", "Predict HPL on a cluster by simulating it",
                  "hplcast predict examples/dahu-like.json -N 2000 --nb 128 -P 2 -Q 2 -o predictions.json");
  command.add_option("cluster", options->cluster, "cluster.json")->required()->type_name("CLUSTER.json");
  CLI::Option* configurations =
      command.add_option("--hpl-dat,--configurations", options->configurations,
                         "configurations from an HPL.dat, or a CSV with columns N, NB, P ...");
  CLI::Option* N = add_hpl_options(command, options->request.parameters, configurations);
  N->description("HPL's N; this or --hpl-dat must be given");
  configurations->type_name("FILE");
  add_seeds(command, options->seeds, "seed of the random streams, or several: 1,2,3 (default 1)");
  add_simulation_mode(command, options->request.mode);
  add_levels(command, options->levels);
  command
      .add_option("--keep", options->request.keep, "keep HPL.dat, platform, log ... of the simulation in this folder")
      ->type_name("DIR");
  add_observation(command, options->request.observation);
  command.add_flag("--json", options->json, "write JSON (docs/predict.md) instead of a table");
  command.add_option("-o,--output", options->output, "file for the JSON")->type_name("FILE");
  command
      .add_option("--xhpl", options->request.programs.xhpl,
                  "the simulated HPL (default: xhpl-smpi next to hplcast, or $HPLCAST_XHPL_SMPI)")
      ->type_name("PATH");
  command.add_option("--smpirun", options->request.programs.smpirun, "SimGrid's smpirun")->type_name("PATH");
  command.add_option("--timeout", options->request.timeout_s, "stop a simulation that takes longer (default: never)")
      ->transform(as_seconds());
  command.add_flag(
      "--force", options->request.force,
      "also predict runs that do not fit the memory of the cluster or of this machine, and, without the platform "
      "library, runs that platform.xml gets wrong");
  command.add_flag("--estimate", options->estimate, "print the estimate of time and memory only");
  command.callback([options, N, configurations] {
    if (N->empty() && configurations->empty()) throw core::UsageError("give -N or --hpl-dat");
    run_predict(*options);
  });
}

}  // namespace hplcast::cli
