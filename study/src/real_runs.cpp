#include "hplcast/study/real_runs.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/host_and_time.hpp"
#include "hplcast/core/mpirun.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/study/local_machine.hpp"
#include "hplcast/study/workspace.hpp"
#include "results_file.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

/// "0007-N5000-NB128-2x1-r3": sorts in the order of the runs.
std::string run_name(std::size_t order, const PlannedRun& run) {
  char number[24];
  std::snprintf(number, sizeof number, "%04zu", order);
  const core::HplParameters& p = run.parameters;
  return std::string(number) + "-N" + std::to_string(p.N) + "-NB" + std::to_string(p.NB) + "-" + std::to_string(p.P) +
         "x" + std::to_string(p.Q) + "-r" + std::to_string(run.repetition);
}

fs::path outputs_folder(const RealRunRequest& request) {
  return request.outputs.empty() ? fs::path(request.results.string() + ".d") : request.outputs;
}

/// The program to run.
fs::path xhpl_of(const RealRunRequest& request) {
  if (!request.xhpl.empty()) return located_program(request.xhpl, "the real HPL");
  return is_observed(request.observation) ? own_program("xhpl-instrumented", "HPLCAST_XHPL_INSTRUMENTED")
                                          : own_program("xhpl", "HPLCAST_XHPL");
}

/// Files of an earlier run in this folder, of a session that was stopped.
void remove_old_activities(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".activity") fs::remove(entry.path(), error);
}

/// Traces are named as the runs: what is in a folder of outputs.
void keep_activity(const RealRunRequest& request, const core::HplRun& run, const fs::path& folder) {
  const fs::path& traces = request.observation.traces;
  if (!traces.empty()) fs::create_directories(traces);
  const fs::path trace = traces.empty() ? fs::path() : traces / (folder.filename().string() + ".json");
  const RealActivity activity = read_real_activity(folder, run, request.observation, trace);
  if (request.observed) request.observed(activity);
}

core::HplRun run_once(const RealRunRequest& request, const fs::path& xhpl, const PlannedRun& run,
                      const fs::path& folder, const std::function<void()>& tick,
                      std::vector<core::PowerSample>& samples) {
  core::write_file(folder / "HPL.dat",
                   [&](std::ostream& out) { core::write_hpl_dat(out, run.parameters, request.check); });
  core::MpiLaunch launch;
  launch.ranks = run.parameters.P * run.parameters.Q;
  launch.hostfile = request.hostfile;
  launch.oversubscribe = request.oversubscribe;
  launch.bind = request.bind;
  launch.mpirun = request.mpirun;
  std::map<std::string, std::string> variables;
  if (is_observed(request.observation)) {
    variables = activity_environment(request.observation, folder, launch.ranks);
    remove_old_activities(folder);
  }
  for (const auto& [name, value] : variables) launch.exported.push_back(name);
  core::Command command = core::mpirun_command(launch, xhpl);
  command.environment.merge(variables);
  command.timeout_s = request.timeout_s;
  command.purpose = "the real run of " + core::to_string(run.parameters);
  command.directory = folder;
  command.output = folder / "HPL.out";
  command.while_running = [&](int) { tick(); };
  if (request.power) request.power->begin();
  core::run_checked(command);
  if (request.power) samples = request.power->end();

  std::vector<core::HplRun> runs;
  core::read_file(command.output, [&](std::istream& in, const std::string& name) {
    runs = core::read_hpl_output(in, name, run.parameters);
  });
  if (runs.size() == 1 && runs.front().parameters == run.parameters && runs.front().time_s > 0) return runs.front();
  throw core::program_failure(command, 0, "its output has not one run of " + core::to_string(run.parameters));
}

/// What the host has drawn while HPL computed, and all samples in the folder of the run.
void add_energy(const RealRunRequest& request, std::vector<core::PowerSample> samples, const fs::path& folder,
                RealRunRow& row) {
  for (core::PowerSample& sample : samples) {
    sample.state = "hpl";
    sample.active_cores = sample.cores = row.run.parameters.P * row.run.parameters.Q;
  }
  core::write_file(folder / "power.csv", [&](std::ostream& out) {
    out << core::power_csv_header << '\n';
    for (const core::PowerSample& sample : samples) core::write_row(out, sample);
  });
  const RunEnergy energy = energy_of_run(samples, row.run.ended_unix_s - row.run.time_s, row.run.ended_unix_s);
  if (energy.energy_j > 0) {
    row.run.energy_j = energy.energy_j;
    row.run.mean_power_w = energy.energy_j / row.run.time_s;
    for (const std::string& sensor : energy.sensors)
      row.power_sensors += (row.power_sensors.empty() ? "" : " + ") + sensor;
  }
  if (request.measured) request.measured(row.run, energy);
}

/// Lines of a hostfile that name a host.
int hosts_in(const fs::path& hostfile) {
  std::set<std::string> hosts;
  core::read_file(hostfile, [&](std::istream& in, const std::string&) {
    for (std::string line; std::getline(in, line);) {
      const std::string host = line.substr(0, line.find_first_of(" \t:#"));
      if (!host.empty()) hosts.insert(host);
    }
  });
  if (hosts.empty())
    throw core::ParseError({hostfile.string(), 0, ""}, "no host in it; expected `name slots=cores` lines");
  return static_cast<int>(hosts.size());
}

double flop(const std::vector<PlannedRun>& runs) {
  double sum = 0;
  for (const PlannedRun& run : runs) sum += core::hpl_flop(static_cast<double>(run.parameters.N));
  return sum;
}

}  // namespace

std::vector<PlannedRun> plan_real_runs(const RealRunRequest& request) {
  if (request.repetitions < 1) throw core::DomainError("repetitions", request.repetitions, "at least 1");
  core::RandomStream random({request.seed, core::stream_design, 0, 0});
  std::vector<PlannedRun> plan;
  for (int repetition = 1; repetition <= request.repetitions; ++repetition) {
    const auto first = static_cast<std::ptrdiff_t>(plan.size());
    for (const core::HplParameters& parameters : request.configurations) plan.push_back({parameters, repetition});
    // Fisher-Yates, on our own stream: std::shuffle gives other orders with other standard libraries.
    const auto round = plan.begin() + first;
    for (std::ptrdiff_t i = plan.end() - round - 1; i > 0; --i) {
      std::iter_swap(round + i, round + static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(i) + 1)));
    }
  }
  return plan;
}

void check(const RealRunRequest& request) {
  const LocalMachine machine = local_machine();
  // Other hosts are taken to be like this one: mpirun itself knows better, but only once it runs.
  const int hosts = request.hostfile.empty() ? 1 : hosts_in(request.hostfile);
  for (const core::HplParameters& p : request.configurations) {
    p.validate();
    if (p.N < 1) throw core::DomainError("N", std::to_string(p.N), "at least 1");
    const long long ranks = static_cast<long long>(p.P) * p.Q;
    if (request.hostfile.empty() && !request.oversubscribe && ranks > machine.cores) {
      throw core::DomainError("P x Q", std::to_string(p.P) + " x " + std::to_string(p.Q),
                              "at most " + std::to_string(machine.cores) + " ranks, the cores of this machine",
                              "--oversubscribe runs it nevertheless and marks the data");
    }
    const double needed_bytes = core::hpl_matrix_bytes(static_cast<double>(p.N)) / hosts;
    if (machine.available_bytes > 0 && needed_bytes > machine.available_bytes) {
      throw core::DomainError("N", std::to_string(p.N),
                              "a matrix that fits the free memory: it needs " +
                                  std::to_string(static_cast<long long>(needed_bytes / 1e6)) + " MB per host, " +
                                  std::to_string(static_cast<long long>(machine.available_bytes / 1e6)) +
                                  " MB are free");
    }
  }
}

RealRunSummary run_real(const RealRunRequest& request) {
  check(request);
  const bool observed = is_observed(request.observation);
  const fs::path xhpl = xhpl_of(request);
  ResultsFile results(request.results, {observed, request.power != nullptr});

  RealRunSummary summary;
  std::vector<PlannedRun> missing;
  for (const PlannedRun& run : plan_real_runs(request)) {
    if (results.has(run.parameters, run.repetition)) {
      ++summary.found;
    } else {
      missing.push_back(run);
    }
  }
  const double all_flop = flop(missing);
  double done_flop = 0;
  for (const PlannedRun& run : missing) {
    RealRunRow row;
    row.order = results.last_order() + 1;
    row.repetition = run.repetition;
    row.start = core::utc_now();
    row.oversubscribed = request.oversubscribe;
    const std::string name = run_name(row.order, run);
    const auto tick = [&] {
      if (request.progress) request.progress(done_flop / all_flop, name);
    };
    tick();
    const fs::path folder = fs::absolute(outputs_folder(request)) / name;
    std::vector<core::PowerSample> samples;
    row.run = run_once(request, xhpl, run, folder, tick, samples);
    if (request.power) add_energy(request, samples, folder, row);
    if (observed) keep_activity(request, row.run, folder);
    results.append(row);
    ++summary.made;
    if (row.run.residual_checked && !row.run.residual_passed) ++summary.failed_residuals;
    done_flop += core::hpl_flop(static_cast<double>(run.parameters.N));
  }
  return summary;
}

}  // namespace hplcast::study
