#include "hplcast/study/real_runs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/run/local_machine.hpp"
#include "study/run/locked_file.hpp"

namespace hplcast::study {

namespace {

// --- the file of results ---

struct RealRunRow {
  core::HplRun run;
  int repetition = 1;
  std::string start;  ///< UTC, ISO 8601
  std::size_t order = 1;
  bool oversubscribed = false;
  std::vector<core::ControlRows> controls;  ///< before and after the run, or none
  std::string power_sensors;  ///< that run.energy_j is of, with blanks between; empty: it was not measured
};

/// Results of the runs of a file besides times: each has columns of its own, and a file has one kind of rows.
struct ResultsKind {
  bool instrumented = false;  ///< runs of xhpl-instrumented
  bool power = false;         ///< energy and mean power
  int threads = 1;            ///< of the BLAS of each rank: a column if there are several
  std::string blas;           ///< a column if it is known
  bool control = false;       ///< the control measurements before and after the run
  bool kernels = false;       ///< and the time in kernels in it
};

std::string number_or_nothing(const std::optional<double>& value) {
  return value ? core::shortest(*value) : "";
}

std::string line(const RealRunRow& row, const ResultsKind& kind) {
  std::ostringstream text;
  for (const core::HplField& field : core::hpl_fields()) text << field.get(row.run.parameters) << ',';
  text << core::shortest(row.run.time_s) << ',' << core::shortest(row.run.gflops) << ',' << core::residual_text(row.run)
       << ',' << row.repetition << ',' << row.start << ',' << row.order << ',' << (row.oversubscribed ? 1 : 0)
       << (kind.instrumented ? ",1" : "");
  if (kind.power)
    text << ',' << number_or_nothing(row.run.energy_j) << ',' << number_or_nothing(row.run.mean_power_w) << ','
         << core::csv_field(row.power_sensors);
  if (kind.threads > 1) text << ',' << kind.threads;
  if (!kind.blas.empty()) text << ',' << core::csv_field(kind.blas);
  if (kind.control) {
    const core::Control both = core::summarized(row.controls);
    text << ',' << both.shape << ',' << core::shortest(core::summarized({row.controls.front()}).wall_s) << ','
         << core::shortest(core::summarized({row.controls.back()}).wall_s) << ',' << core::shortest(both.cpu_s);
  }
  if (kind.kernels) text << ',' << number_or_nothing(row.run.kernels_s);
  text << '\n';
  return text.str();
}

/// A CSV of real runs that grows row by row. Locked while it is open: two sessions would make the same runs.
class ResultsFile {
 public:
  /// Opens or makes the file, and reads the runs in it. Half a row at the end (a machine that went down) is cut off.
  /// @throws core::Error if it cannot be opened, or another process has it open; core::ParseError for other columns.
  ResultsFile(const fs::path& path, ResultsKind kind)
      : path_(path), kind_(kind), file_(path, O_APPEND, path.string() + " is being written by another session") {
    read();
  }

  bool has(const core::HplParameters& parameters, int repetition) const {
    return done_.count({parameters, repetition}) > 0;
  }
  std::size_t last_order() const noexcept { return last_order_; }
  /// A file without controls, of an earlier session, goes on without them.
  bool has_control() const noexcept { return kind_.control; }
  bool has_blas() const noexcept { return !kind_.blas.empty(); }

  /// Adds a row in one write and waits until it is on the disk. @throws core::Error
  void append(const RealRunRow& row) {
    write_whole(line(row, kind_));
    done_.emplace(row.run.parameters, row.repetition);
    last_order_ = std::max(last_order_, row.order);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { core::throw_write_error(what, path_, errno); }

  std::string header() const {
    std::string text;
    for (const core::HplField& field : core::hpl_fields()) text += std::string(field.name) + ',';
    return text + "time_s,gflops,residual,repetition,start,order,oversubscribed" +
           (kind_.instrumented ? ",instrumented" : "") + (kind_.power ? ",energy_j,mean_power_w,power_sensors" : "") +
           (kind_.threads > 1 ? ",threads_per_rank" : "") + (kind_.blas.empty() ? "" : ",blas") +
           (kind_.control ? ",control_shape,control_before_s,control_after_s,control_cpu_s" : "") +
           (kind_.kernels ? ",kernels_s\n" : "\n");
  }

  void begin_anew() {
    if (::ftruncate(file_.descriptor(), 0) != 0) fail("write");
    write_whole(header());
  }

  /// Files of earlier sessions: with or without controls, and those that do not say which BLAS it was, or how
  /// long kernels took. Whether there is a kind that the file is of.
  bool find_kind(const std::string& text) {
    const ResultsKind asked = kind_;
    for (const std::string& blas : {asked.blas, std::string()})
      for (const bool control : {asked.control, !asked.control})
        for (const bool kernels : {control, false}) {
          kind_.blas = blas;
          kind_.control = control;
          kind_.kernels = kernels;
          if (text.compare(0, header().size(), header()) == 0) return true;
        }
    return false;
  }

  void read() {
    const std::string text = core::read_text(path_);
    const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    if (whole == 0) {
      // Only what a session of ours leaves when it is stopped in its very first write may be replaced.
      if (header().compare(0, text.size(), text) != 0)
        throw core::ParseError({path_.string(), 1, ""}, "not the results of real runs", "choose another output file");
      return begin_anew();
    }
    // A session of which no run has ended may have had other columns.
    const std::size_t common = header().find("oversubscribed");
    if (text.find('\n') + 1 == text.size() && text.compare(0, common, header(), 0, common) == 0) return begin_anew();
    if (!find_kind(text))
      throw core::ParseError({path_.string(), 1, ""}, "other columns than those of real runs; expected " + header(),
                             "choose another output file; runs with --phases or --trace, and those with --power, have "
                             "more columns, as have those of several threads, and files of their own");
    const std::size_t mark = fs::file_size(path_) - text.size();  // a byte order mark, which is no text
    if (whole < text.size() && ::ftruncate(file_.descriptor(), static_cast<off_t>(mark + whole)) != 0) fail("write");

    core::CsvReader csv(core::TextStream(text.substr(0, whole)), path_.string());
    while (csv.next()) {
      core::HplParameters parameters;
      for (const core::HplField& field : core::hpl_fields()) field.set(parameters, csv.integer(csv.column(field.name)));
      done_.emplace(parameters, static_cast<int>(csv.integer(csv.column("repetition"))));
      last_order_ = std::max(last_order_, static_cast<std::size_t>(csv.integer(csv.column("order"))));
      if (kind_.threads > 1 && csv.integer(csv.column("threads_per_rank")) != kind_.threads)
        throw core::ParseError(csv.at(csv.column("threads_per_rank")),
                               "runs with another number of threads; expected " + std::to_string(kind_.threads),
                               "choose another output file");
      if (!kind_.blas.empty() && csv.text(csv.column("blas")) != kind_.blas)
        throw core::ParseError(csv.at(csv.column("blas")), "runs with another BLAS; expected " + kind_.blas,
                               "choose another output file");
    }
  }

  void write_whole(const std::string& text) {
    if (::write(file_.descriptor(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(file_.descriptor()) != 0)
      fail("write");
  }

  fs::path path_;
  ResultsKind kind_;
  LockedFile file_;
  std::set<std::pair<core::HplParameters, int>> done_;
  std::size_t last_order_ = 0;
};

// --- the session ---

/// "0007-N5000-NB128-2x1-r3": sorts in the order of the runs.
std::string run_name(std::size_t order, const PlannedRun& run) {
  const core::HplParameters& p = run.parameters;
  return core::printed("%04zu-N%lld-NB%d-%dx%d-r%d", order, p.N, p.NB, p.P, p.Q, run.repetition);
}

/// With a control the runs are those of xhpl-instrumented, which tells how long kernels took, unless an xhpl is asked
/// for.
fs::path xhpl_of(const RealRunRequest& request, bool control) {
  if (!request.xhpl.empty()) return located_program(request.xhpl, "the real HPL");
  const bool instrumented =
      is_observed(request.observation) || (control && std::getenv(HPLCAST_VARIABLE_XHPL) == nullptr);
  return instrumented ? own_program("xhpl-instrumented", HPLCAST_VARIABLE_XHPL_INSTRUMENTED)
                      : own_program("xhpl", HPLCAST_VARIABLE_XHPL);
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

core::MpiLaunch launch_of(const RealRunRequest& request, int ranks) {
  core::MpiLaunch launch = request.launch;
  launch.ranks = ranks;
  return launch;
}

void write_controls(const fs::path& file, const std::vector<core::ControlRows>& controls) {
  core::write_file(file, [&](std::ostream& out) {
    out << core::control_csv_header << '\n';
    for (const core::ControlRows& rows : controls)
      for (const core::ControlRow& row : rows) core::write_row(out, row);
  });
}

double flop(const PlannedRun& run) {
  return core::hpl_flop(static_cast<double>(run.parameters.N));
}

core::HplRun run_once(const RealRunRequest& request, const fs::path& xhpl, const PlannedRun& run,
                      const fs::path& folder, const std::function<void()>& tick,
                      std::vector<core::PowerSample>& samples) {
  core::MpiLaunch launch = launch_of(request, run.parameters.P * run.parameters.Q);
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

  auto runs = core::read_from(command.output, core::read_hpl_output, run.parameters);
  // HPL prints two decimals of the time, but four digits of the rate; ours prints all of both.
  if (runs.size() == 1 && runs.front().time_s < 1 && !(runs.front().ended_unix_s > 0))
    runs.front().time_s = flop(run) / (runs.front().gflops * 1e9);
  if (runs.size() == 1 && runs.front().parameters == run.parameters && runs.front().time_s > 0) return runs.front();
  throw core::program_failure(command, 0, "its output has not one run of " + core::to_string(run.parameters));
}

/// Adds the energy of the host while HPL computed, and writes all samples into the folder of the run.
void add_energy(const RealRunRequest& request, std::vector<core::PowerSample> samples, const fs::path& folder,
                RealRunRow& row) {
  for (core::PowerSample& sample : samples) {
    sample.state = "hpl";
    sample.active_cores = sample.cores = row.run.parameters.P * row.run.parameters.Q * request.launch.threads;
  }
  core::write_file(folder / "power.csv", [&](std::ostream& out) {
    out << core::power_csv_header << '\n';
    for (const core::PowerSample& sample : samples) core::write_row(out, sample);
  });
  const RunEnergy energy = energy_of_run(samples, row.run.ended_unix_s - row.run.time_s, row.run.ended_unix_s);
  if (energy.energy_j > 0) {
    row.run.energy_j = energy.energy_j;
    row.run.mean_power_w = energy.energy_j / row.run.time_s;
    row.power_sensors = core::joined(energy.sensors, " + ");
  }
  if (request.measured) request.measured(row.run, energy);
}

}  // namespace

RunEnergy energy_of_run(const std::vector<core::PowerSample>& samples, double begin_unix_s, double end_unix_s) {
  constexpr double least_covered = 0.5, enough_covered = 0.9;
  const auto unknown = [](const std::string& why) { return RunEnergy{0, {}, 0, why}; };
  if (!(begin_unix_s > 0) || !(end_unix_s > begin_unix_s))
    return unknown("HPL did not say when it computed: only the xhpl of hplcast does");
  std::map<std::string, std::vector<core::PowerSample>> by_sensor;
  for (const core::PowerSample& sample : samples) by_sensor[sample.sensor].push_back(sample);
  RunEnergy energy;
  energy.sensors = core::sensors_of_host(core::seen_sensors(samples));
  if (energy.sensors.empty()) return unknown("no sensor of the host has said anything");
  energy.covered = 1;
  for (const std::string& sensor : energy.sensors) {
    const core::MeasuredEnergy part = core::energy_between(by_sensor[sensor], begin_unix_s, end_unix_s);
    energy.covered = std::min(energy.covered, part.covered);
    if (part.covered < least_covered || part.samples < 2)
      return unknown(sensor + " has samples in " + core::readable_percent(part.covered, 0) +
                     " of the run; expected at least 50 %, and two: a run longer than a few periods");
    energy.energy_j += part.energy_j;
  }
  if (energy.covered < enough_covered)
    energy.doubt = "sensors have samples in " + core::readable_percent(energy.covered, 0) +
                   " of the run: the rest is taken as their mean";
  return energy;
}

int hosts_in(const fs::path& hostfile) {
  std::set<std::string> hosts;
  core::read_file(hostfile, [&](std::istream& in, const std::string& name) {
    for (std::string line; core::read_line(in, line, name);) {
      const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
      const std::string host = line.substr(begin, line.find_first_of(" \t:#", begin) - begin);
      if (!host.empty()) hosts.insert(host);
    }
  });
  if (hosts.empty())
    throw core::ParseError({hostfile.string(), 0, ""}, "no host in it; expected `name slots=cores` lines");
  return static_cast<int>(hosts.size());
}

namespace {

constexpr double measuring_timeout_s = 300;

/// hplcast-measure-dgemm, bound as the ranks of a run.
core::Command measuring_command(const core::MpiLaunch& launch, const fs::path& program,
                                const std::vector<std::string>& arguments) {
  core::Command command = core::mpirun_command(launch, program);
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  if (!launch.bind) command.arguments.push_back("--no-bind");
  if (launch.threads > 1) core::append(command.arguments, {"--threads", std::to_string(launch.threads)});
  if (!launch.blas.empty()) core::append(command.arguments, {"--blas", launch.blas.string()});
  command.timeout_s = measuring_timeout_s;
  return command;
}

}  // namespace

void record_hosts(const core::MpiLaunch& launch, const fs::path& program, const fs::path& folder) {
  fs::create_directories(folder);
  core::Command command = measuring_command(
      launch, program, {"--describe", "--describe-folder", folder.string(), "-o", (folder / "hosts.json").string()});
  command.purpose = "looking at the hosts";
  core::run_checked(command);
}

core::ControlRows measured_control(const core::MpiLaunch& launch, const fs::path& program, const fs::path& file) {
  core::Command command = measuring_command(launch, program, {"--control", "-o", file.string()});
  command.purpose = "the control measurement";
  core::run_checked(command);
  const std::vector<core::ControlRows> controls = core::read_from(file, core::read_controls);
  if (controls.size() == 1) return controls.front();
  throw core::program_failure(command, 0, "it wrote " + std::to_string(controls.size()) + " controls; expected one");
}

std::vector<PlannedRun> plan_real_runs(const RealRunRequest& request) {
  if (request.repetitions < 1) throw core::DomainError("repetitions", request.repetitions, "at least 1");
  core::RandomStream random({request.seed, core::stream_design, 0, 0});
  std::vector<PlannedRun> plan;
  for (int repetition = 1; repetition <= request.repetitions; ++repetition) {
    std::vector<PlannedRun> round;
    for (const core::HplParameters& parameters : request.configurations) round.push_back({parameters, repetition});
    core::shuffle(round, random);
    plan.insert(plan.end(), round.begin(), round.end());
  }
  return plan;
}

void check(const RealRunRequest& request) {
  const LocalMachine machine = local_machine();
  const core::MpiLaunch& launch = request.launch;
  // Other hosts are taken to be like this one: mpirun itself knows better, but only once it runs.
  const int hosts = launch.hostfile.empty() ? 1 : hosts_in(launch.hostfile);
  for (const core::HplParameters& p : request.configurations) {
    p.validate();
    const long long ranks = static_cast<long long>(p.P) * p.Q;
    if (launch.hostfile.empty() && !launch.oversubscribe && ranks * launch.threads > machine.cores) {
      const bool threaded = launch.threads > 1;
      throw core::DomainError("P x Q", std::to_string(p.P) + " x " + std::to_string(p.Q),
                              "at most " + std::to_string(machine.cores / launch.threads) + " ranks" +
                                  (threaded ? " of " + std::to_string(launch.threads) + " threads" : "") +
                                  ", the cores of this machine",
                              threaded ? "" : "--oversubscribe runs it nevertheless and marks the data");
    }
    core::require_real_size(p, hosts, machine.available_bytes);
  }
}

RealRunSummary run_real(const RealRunRequest& request) {
  check(request);
  const core::MpiLaunch& launch = request.launch;
  const bool observed = is_observed(request.observation);
  // Ranks that share cores have no control: it would tell nothing.
  const bool asked = !request.control.empty() && !launch.oversubscribe;
  fs::path xhpl = xhpl_of(request, asked);
  const auto blas = launch.blas.empty() ? core::blas_of_program(xhpl) : core::blas_of_library(launch.blas);
  ResultsFile results(request.results,
                      {observed, request.power != nullptr, launch.threads, blas ? blas->library : "", asked, asked});
  if (!launch.blas.empty() && !results.has_blas())
    throw core::InputError(request.results.string() +
                           " does not say which BLAS its runs had: choose another output file");
  const bool control = asked && results.has_control();
  if (!control) xhpl = xhpl_of(request, false);  // as the runs that are there
  if (results.has_control() && !asked)
    throw core::InputError(request.results.string() +
                           " has the control of its runs: go on with it, or choose another output file");

  RealRunSummary summary;
  summary.has_control = results.has_control();
  core::ControlRows latest;
  std::vector<PlannedRun> missing;
  double all_flop = 0, done_flop = 0;
  for (const PlannedRun& run : plan_real_runs(request)) {
    if (results.has(run.parameters, run.repetition)) {
      ++summary.found;
    } else {
      missing.push_back(run);
      all_flop += flop(run);
    }
  }
  const fs::path outputs =
      fs::absolute(request.outputs.empty() ? fs::path(request.results.string() + ".d") : request.outputs);
  int most_ranks = 0;
  for (const PlannedRun& run : missing) most_ranks = std::max(most_ranks, run.parameters.P * run.parameters.Q);
  if (control && most_ranks > 0)
    record_hosts(launch_of(request, most_ranks), request.control, outputs / "surroundings");
  for (const PlannedRun& run : missing) {
    RealRunRow row;
    row.order = results.last_order() + 1;
    row.repetition = run.repetition;
    row.start = core::utc_now();
    row.oversubscribed = launch.oversubscribe;
    const std::string name = run_name(row.order, run);
    const auto tick = [&] {
      if (request.progress) request.progress(done_flop / all_flop, name);
    };
    tick();
    const fs::path folder = outputs / name;
    std::vector<core::PowerSample> samples;
    const int ranks = run.parameters.P * run.parameters.Q;
    core::write_file(folder / "HPL.dat",
                     [&](std::ostream& out) { core::write_hpl_dat(out, run.parameters, request.check); });
    const fs::path controls = folder / "control.csv";
    const auto measured = [&] { return measured_control(launch_of(request, ranks), request.control, controls); };
    if (control) {
      // The control after a run is the one before the next run on the same cores.
      if (static_cast<int>(latest.size()) != ranks) latest = measured();
      row.controls.push_back(latest);
    }
    row.run = run_once(request, xhpl, run, folder, tick, samples);
    if (control) {
      row.controls.push_back(latest = measured());
      write_controls(controls, row.controls);
    }
    if (request.power) add_energy(request, samples, folder, row);
    if (observed) keep_activity(request, row.run, folder);
    results.append(row);
    ++summary.made;
    if (row.run.residual_checked && !row.run.residual_passed) ++summary.failed_residuals;
    done_flop += flop(run);
  }
  return summary;
}

}  // namespace hplcast::study
