#include "cli/measure/measuring_program.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <thread>

#include "cli/support/options.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/sensors.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/campaign.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

/// The rank as the launcher tells it in the environment, before MPI_Init; 0 if it does not.
int rank_before_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

constexpr int position_digits = 20;

/// A file of one number, mapped to memory: what was stored last is in it even if this process is killed.
char* mapped_position = nullptr;

void map_position(const std::string& path) {
  write_result(path, [](std::ostream& out) { out << std::string(position_digits, ' ') << '\n'; });
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw InputError("cannot write " + path);
  void* const memory = ::mmap(nullptr, position_digits, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory != MAP_FAILED) mapped_position = static_cast<char*>(memory);
}

/// lscpu's words about this host; empty if it is not there.
std::string lscpu_text() {
  if (core::find_program("lscpu").empty()) return "";
  core::Command command{"lscpu"};
  command.timeout_s = 20;
  return core::run(command).output;
}

/// A file of every host on rank 0's: `prefix`-HOST`suffix`. Its folder is there, or hplcast was killed, and it is gone
/// for good.
void write_host_files(const calibration::World& world, const std::string& prefix, const std::string& suffix,
                      const std::string& mine) {
  const std::vector<std::string> texts = world.gather(mine);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    write_result(prefix + "-" + world.hosts()[rank] + suffix, [&](std::ostream& out) { out << texts[rank]; });
  }
}

void describe_hosts(const std::string& folder, double since_unix_s, const calibration::World& world,
                    const calibration::Topology& topology) {
  const bool speaks = world.local_rank() == 0;
  if (since_unix_s > 0)
    write_host_files(world, folder + "/kernel-log", ".txt", speaks ? calibration::kernel_log_since(since_unix_s) : "");
  std::map<std::string, std::string> records = speaks ? calibration::host_records() : decltype(records)();
  for (const std::string name : calibration::record_names) {
    const std::size_t dot = name.find('.');
    write_host_files(world, folder + "/" + name.substr(0, dot), name.substr(dot), records[name]);
  }
  write_host_files(world, folder + "/hwloc", ".xml", speaks ? topology.xml() : "");
  write_host_files(world, folder + "/lscpu", ".txt", speaks ? lscpu_text() : "");
}

void write_monitoring(const std::string& path, const calibration::World& world, double epoch_s,
                      std::optional<calibration::Monitor>& monitor) {
  const std::string rows = world.gather_rows([&](std::ostream& out) {
    if (monitor) calibration::write_monitoring_rows(out, world.host(), epoch_s, monitor->stop());
  });
  if (world.rank() != 0) return;
  write_result(path, [&](std::ostream& out) { out << calibration::monitoring_csv_header << '\n' << rows; });
}

/// @throws core::Error for a CSV without rows, or with failed calls only: nobody can fit that, and a script must not go
/// on with it.
void refuse_nothing(const std::string& csv, bool allow_failures) {
  core::CsvReader rows(core::TextStream(csv), "the results");
  const std::size_t error = rows.column("error");
  std::size_t count = 0;
  std::string reason;
  for (; rows.next(); ++count) {
    if (allow_failures || rows.text(error).empty()) return;
    reason = rows.text(error);
  }
  if (count > 0)
    throw InputError("nothing was measured: all " + std::to_string(count) +
                     " calls failed, the last one because: " + reason);
  throw InputError(
      "nothing was measured: the results have no row\n  hint: more --budget, another --scope or "
      "--pattern (are there ranks for it?), or other --rows of the design");
}

/// Each output is a file of its own, and none of them is the design.
void require_outputs(const MeasuringOptions& options) {
  const std::vector<std::string> outputs = {options.output, options.machine, options.monitoring, options.position};
  for (const std::string& name : outputs) {
    require_writable(name);
    require_other_file(name, {options.design});
  }
  require_own_files(outputs);
}

void measure_and_write(const MeasuringOptions& options, const Measure& measure) {
  calibration::World world;
  calibration::Topology topology = calibration::Topology::of_this_machine();
  const calibration::CorePlace place = calibration::bind_rank(world, topology, options.binding);
  const bool root = world.rank() == 0;
  if (root && !options.describe) require_outputs(options);
  const std::string& description = options.describe ? options.output : options.machine;
  if (options.describe || !description.empty()) {  // half a second where the machine was busy a minute ago
    const core::MeasurementContext context = calibration::describe_context(world, topology, place);
    if (root) write_result(description, [&](std::ostream& out) { core::write_json(out, context); });
  }
  if (options.describe && !options.describe_folder.empty())
    describe_hosts(options.describe_folder, options.since_unix_s, world, topology);
  if (options.describe) return;
  const std::string design = world.broadcast(root && options.takes_design ? core::read_text(options.design) : "");
  if (options.check) return static_cast<void>(measure({world, topology, place, 0}, design));
  // One rank a host reads the sensors of that host.
  std::optional<calibration::Monitor> monitor;
  if (!options.monitoring.empty() && world.local_rank() == 0)
    monitor.emplace(calibration::Sensors::discover(), options.monitoring_period_s);
  world.barrier();
  // Wall clocks of hosts may differ by more than messages take: they are used for this one offset only.
  const double elapsed_s = options.since_unix_s > 0 ? core::unix_time_s() - options.since_unix_s : 0;
  if (elapsed_s < 0)
    throw InputError("the clock of " + world.host() + " is " + std::to_string(-elapsed_s) +
                     " s before the time of --since: it has been set back");
  if (root && !options.position.empty()) map_position(options.position);
  const double epoch_s = calibration::now_s() - elapsed_s;
  const std::string result = measure({world, topology, place, epoch_s}, design);
  if (root) write_rows(options.output, result);
  if (!options.monitoring.empty()) write_monitoring(options.monitoring, world, epoch_s, monitor);
  if (root && options.takes_design) refuse_nothing(result, options.allow_failures);
}

/// Rank 0 speaks for all. A launcher that sees another rank end with an error kills rank 0, spoken or not (Open MPI 5),
/// so the others wait: not for long, as the end of rank 0 ends them, too.
constexpr std::chrono::milliseconds time_for_rank_0{300};

/// In one piece: ranks that speak at the same time do not tear each other's words apart.
void say(const std::string& text) {
  std::cerr << text + '\n' << std::flush;
}

[[noreturn]] void fail(const std::string& program, int rank, int code, const std::string& message) {
  // An error that all ranks have found is printed once: rank 0 ends the job before the others speak.
  if (rank != 0) std::this_thread::sleep_for(time_for_rank_0);
  say(program + ": rank " + std::to_string(rank) + " on " + core::host_name() + ": " + message);
  calibration::MpiSession::abort(code);
}

void run_with_mpi(const std::string& program, const MeasuringOptions& options, int argc, char** argv,
                  const Measure& measure) {
  const calibration::MpiSession session(argc, argv);
  const int rank = rank_before_mpi();
  start_watchdog(program, options.time_limit_s);
  try {
    measure_and_write(options, measure);
  } catch (const core::Error& error) {
    fail(program, rank, static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    fail(program, rank, static_cast<int>(core::ExitCode::bad_input), "out of memory");
  } catch (const std::exception& error) {
    fail(program, rank, static_cast<int>(core::ExitCode::external_failure), error.what());
  }
}

}  // namespace

void add_measuring_options(Command& app, MeasuringOptions& options) {
  if (options.takes_design) {
    app.add_option("--design", options.design, "CSV of the calls to make, from `hplcast design`");
    app.add_option("--rows", options.rows, "FIRST:END, the part of the design to measure, END not included");
  }
  app.add_option("--position", options.position, "file that always has the row of the design that is being measured",
                 of_type("FILE"));
  app.add_option("--since", options.since_unix_s, "start_s counts from this Unix time (default: from the start)");
  app.add_option("-o,--output", options.output, "file to write (default: standard output)");
  app.add_option("--machine", options.machine, "JSON to write: hosts, ranks, cores, MPI and BLAS of this measurement");
  app.add_option("--monitoring", options.monitoring,
                 "CSV to write: frequencies, temperatures, power and throttling of all hosts meanwhile");
  app.add_option("--monitoring-period", options.monitoring_period_s,
                 "time between two readings, longer if they are slow", as_seconds, with_default);
  app.add_flag("--describe", options.describe, "write that JSON only, measure nothing");
  app.add_option("--describe-folder", options.describe_folder,
                 "with --describe: folder for what is recorded of each host: topology, mounts, modules, environment, "
                 "devices, libraries, and with --since the messages of its kernel",
                 of_type("DIR"));
  app.add_flag("--check", options.check, "only look whether options, design and ranks fit together; measure nothing");
  if (options.takes_design)
    app.add_flag("--allow-failures", options.allow_failures, "end with 0 even if every call has failed");
  app.add_flag("--allow-oversubscription", options.binding.allow_oversubscription,
               "allow several ranks per core (the results are then worthless)");
  app.add_option("--threads", options.binding.threads, "threads of the BLAS of each rank, each on a core of its own",
                 between(1, 4096), with_default);
  app.add_option("--blas", options.binding.blas,
                 "the BLAS that the ranks have to call; start them with mpirun -x LD_PRELOAD=FILE", reads("FILE"));
  app.add_option("--time-limit", options.time_limit_s, "give up after this time (0: never)", as_seconds, with_default);
  app.add_flag("!--no-bind", options.binding.bind, "leave the ranks where the launcher has put them");
}

std::function<void(double)> progress_of_rows(Progress& bar, const char* what, std::size_t first, std::size_t count) {
  return [&bar, what, first, count](double fraction) {
    bar.update(fraction, what);
    if (mapped_position == nullptr) return;
    const std::size_t row = first + static_cast<std::size_t>(fraction * static_cast<double>(count));
    char text[position_digits + 1];
    std::snprintf(text, sizeof text, "%-*zu", position_digits, row);
    std::memcpy(mapped_position, text, position_digits);
  };
}

void start_watchdog(const std::string& program, double time_limit_s) {
  if (time_limit_s <= 0) return;
  std::thread([program, time_limit_s] {
    std::this_thread::sleep_for(std::chrono::duration<double>(time_limit_s));
    say(program + ": not done within the time limit of " + core::shortest(time_limit_s) +
        " s\n  hint: see --time-limit");
    std::_Exit(static_cast<int>(core::ExitCode::external_failure));
  }).detach();
}

void add_scope_option(Command& app, calibration::PeerChoice& choice) {
  add_choice(app, "--scope", choice, "measure with a rank of the same host (local), of another (remote), both, or any");
}

int run_measuring_program(Command& app, MeasuringOptions& options, int argc, char** argv, const Measure& measure) {
  app.callback([&] {
    if (options.takes_design && options.design.empty() && !options.describe)
      throw core::UsageError("--design is required");
    if (options.without_mpi && options.without_mpi()) return;
    run_with_mpi(app.name(), options, argc, argv, measure);
  });
  if (rank_before_mpi() == 0) return run_program(app, argc, argv);
  std::ostringstream unheard;  // the same words from every rank help nobody
  const int status = run_program(app, argc, argv, unheard, unheard);
  if (status != 0)
    std::this_thread::sleep_for(10 * time_for_rank_0);  // before MPI_Init ranks start at very different times
  return status;
}

}  // namespace hplcast::cli
