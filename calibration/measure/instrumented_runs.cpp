#include "hplcast/calibration/instrumented_runs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

void run_instrumented(const HplKernelRequest& request, const core::HplParameters& parameters, const fs::path& folder) {
  core::write_file(folder / "HPL.dat", [&](std::ostream& out) { core::write_hpl_dat(out, parameters, false); });
  core::MpiLaunch launch = request.launch;
  launch.ranks = parameters.P * parameters.Q;
  launch.exported = {HPLCAST_VARIABLE_KERNEL_TRACE, HPLCAST_VARIABLE_KERNEL_TRACE_MAX};
  core::Command command = core::mpirun_command(launch, fs::absolute(request.program));
  command.environment[HPLCAST_VARIABLE_KERNEL_TRACE] = (folder / "trace").string();
  command.environment[HPLCAST_VARIABLE_KERNEL_TRACE_MAX] = std::to_string(request.max_rows);
  command.directory = folder;
  command.purpose = "the instrumented run of " + core::to_string(parameters);
  core::run_checked(command);
}

/// "" for a trace without calls.
std::string host_of(const fs::path& trace) {
  std::string host;
  core::read_file(trace, [&](std::istream& in, const std::string& name) {
    core::CsvReader csv(in, name);
    if (csv.next()) host = csv.text(csv.column("host"));
  });
  return host;
}

/// Adds `later_s` to the start of each row, and what all have in common. @returns the number of rows.
std::size_t copy_rows(const fs::path& trace, double later_s, const core::KernelMeasurement& common, std::ostream& out) {
  std::size_t rows = 0;
  core::read_file(trace, [&](std::istream& in, const std::string& name) {
    core::read_kernel_csv(in, name, "", [&](core::KernelMeasurement row) {
      row.start_s += later_s;
      row.busy_ranks = common.busy_ranks;
      row.leading_dimension = common.leading_dimension;
      core::write_row(out, row);
      ++rows;
    });
  });
  return rows;
}

void write_description(const ObserveRequest& request, const fs::path& folder, double wall_s) {
  nlohmann::ordered_json json = {{"schema_version", 1},
                                 {"program", request.program.string()},
                                 {"arguments", request.arguments},
                                 {"ranks", request.launch.ranks},
                                 {"host", core::host_name()},
                                 {"date", core::utc_now()},
                                 {"wall_s", wall_s}};
  core::write_file(folder / "program.json", [&](std::ostream& out) { out << core::json_text(json, 2) << '\n'; });
}

/// Every rank writes its own.
void require_all_ranks(const ObserveRequest& request, const core::Command& command, const fs::path& folder) {
  int found = 0;
  for (int rank = 0; rank < request.launch.ranks; ++rank)
    if (fs::exists(folder / ("rank-" + std::to_string(rank) + ".times.csv"))) ++found;
  if (found == request.launch.ranks) return;
  throw core::program_failure(command, 0,
                              std::to_string(found) + " of " + std::to_string(request.launch.ranks) +
                                  " ranks were observed: the program is linked statically, calls neither BLAS nor MPI, "
                                  "or did not end by itself");
}

}  // namespace

void measure_hpl_kernels(const HplKernelRequest& request, std::ostream& out) {
  for (const core::HplParameters& parameters : request.configurations) parameters.validate();
  out << core::kernel_csv_header << '\n';
  double done = 0;
  std::size_t rows = 0;
  for (const core::HplParameters& parameters : request.configurations) {
    const core::TemporaryFolder folder("hplcast-kernels", request.folder);
    const double begun_s = request.since_unix_s > 0 ? core::unix_time_s() - request.since_unix_s : 0;
    run_instrumented(request, parameters, folder.path());
    std::vector<fs::path> traces;
    std::map<std::string, int> ranks_on;
    for (int rank = 0; rank < parameters.P * parameters.Q; ++rank) {
      const fs::path& trace = traces.emplace_back(folder.path() / ("trace-" + std::to_string(rank) + ".csv"));
      if (!fs::exists(trace))
        throw core::InputError(
            request.program.string() + " has left no trace of its kernels in rank " + std::to_string(rank) +
            ": is it xhpl-instrumented?\n  hint: with several hosts, --folder must be one that all see");
      ++ranks_on[host_of(trace)];
    }
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      core::KernelMeasurement common;
      common.busy_ranks = ranks_on[host_of(traces[rank])];
      common.leading_dimension = core::leading_dimension(parameters, static_cast<int>(rank));
      rows += copy_rows(traces[rank], begun_s, common, out);
    }
    if (request.progress) request.progress(++done / static_cast<double>(request.configurations.size()));
  }
  if (rows == 0)
    throw core::InputError(
        "nothing was measured: no call of a kernel was kept\n  hint: larger configurations, or more --max-rows");
}

void check_hpl_kernels(const HplKernelRequest& request) {
  core::MpiLaunch launch = request.launch;
  launch.ranks = 1;
  for (const core::HplParameters& parameters : request.configurations) {
    parameters.validate();
    launch.ranks = std::max(launch.ranks, parameters.P * parameters.Q);
  }
  core::Command command = core::mpirun_command(launch, "test");
  command.arguments.insert(command.arguments.end(), {"-x", fs::absolute(request.program).string()});
  command.purpose = "looking for " + request.program.string() + " on all hosts";
  core::run_checked(command);
}

std::string observe_program(const ObserveRequest& request) {
  require_archive_name(request.archive);
  core::TemporaryFolder work("hplcast-observe");
  core::MpiLaunch launch = request.launch;
  core::append(launch.exported, {HPLCAST_VARIABLE_OBSERVE_DIR, HPLCAST_VARIABLE_OBSERVE_REACH});
  launch.blas = request.observer;  // which calls the one of the program
  core::Command command = core::mpirun_command(launch, request.program);
  command.arguments.insert(command.arguments.end(), request.arguments.begin(), request.arguments.end());
  command.environment[HPLCAST_VARIABLE_OBSERVE_DIR] = work.path().string();
  command.environment[HPLCAST_VARIABLE_OBSERVE_REACH] = core::shortest(request.reach_bytes);
  command.purpose = "the observed run of " + request.program.filename().string();
  command.output = work.path() / "program.out";
  command.timeout_s = request.timeout_s;
  command.while_running = [&](int) {
    if (request.while_running) request.while_running();
  };
  if (request.before) request.before(work.path());
  core::CommandResult result;
  try {
    result = core::run_checked(command);
    require_all_ranks(request, command, work.path());
  } catch (const core::ExternalError&) {
    if (!core::text_if_any(command.output).empty()) work.keep();  // the message says that it is there
    throw;
  }
  if (request.after) request.after(work.path());
  write_description(request, work.path(), result.wall_s);
  const std::string output = core::read_text(command.output);
  write_archive(request.archive, work.path(), "observation");
  return output;
}

std::optional<ObservedRun> read_observed_run(const std::map<std::string, std::string>& files,
                                             const std::string& archive) {
  const auto description = files.find("program.json");
  if (description == files.end()) return std::nullopt;
  const std::string where = archive + ":program.json";
  ObservedRun run;
  try {
    const auto json =
        core::parse_json<nlohmann::json>(core::read_json_text(core::TextStream(description->second), where));
    if (const auto version = json.find("schema_version"); version == json.end() || *version != 1)
      throw core::ParseError({where, 0, "/schema_version"},
                             "found " + (version == json.end() ? "none" : version->dump()) + "; expected 1",
                             "it was written by another version of hplcast; observe again with this one");
    json.at("program").get_to(run.program);
    json.at("arguments").get_to(run.arguments);
    json.at("ranks").get_to(run.ranks);
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({where, 0, ""}, std::string("expected program.json of `hplcast observe`: ") + error.what());
  }
  const auto found = std::count_if(files.begin(), files.end(), [](const auto& file) {
    return core::begins_with(file.first, "rank-") && core::ends_with(file.first, ".times.csv");
  });
  if (found != run.ranks)
    throw core::InputError(archive + ": rank-*.times.csv of " + std::to_string(found) + " ranks in it; expected " +
                           std::to_string(run.ranks) +
                           ", as program.json says\n  hint: the archive is damaged; observe again");
  std::vector<core::ControlRows> controls;
  for (const char* name : {"control-before.csv", "control-after.csv"})
    if (const auto file = files.find(name); file != files.end())
      core::append(controls, core::read_controls(core::TextStream(file->second), archive + ":" + name));
  if (controls.size() > 1) run.control = core::summarized(controls);
  return run;
}

}  // namespace hplcast::calibration
