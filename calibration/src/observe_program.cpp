#include "hplcast/calibration/observe_program.hpp"

#include <nlohmann/json.hpp>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/host_and_time.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

void write_description(const ObserveRequest& request, const fs::path& folder, double wall_s) {
  nlohmann::ordered_json json = {{"schema_version", 1},
                                 {"program", request.program.string()},
                                 {"arguments", request.arguments},
                                 {"ranks", request.launch.ranks},
                                 {"host", core::host_name()},
                                 {"date", core::utc_now()},
                                 {"wall_s", wall_s}};
  core::write_file(folder / "program.json", [&](std::ostream& out) { out << json.dump(2) << '\n'; });
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

std::string observe_program(const ObserveRequest& request) {
  require_archive_name(request.archive);
  const core::TemporaryFolder work("hplcast-observe");
  core::MpiLaunch launch = request.launch;
  launch.exported.insert(launch.exported.end(),
                         {"HPLCAST_OBSERVE_DIR", "HPLCAST_OBSERVE_REACH", "LD_PRELOAD", "OMP_NUM_THREADS"});
  // mpirun itself is not observed: only the ranks get the library.
  core::Command command = core::mpirun_command(launch, request.program);
  for (std::string& argument : command.arguments)
    if (argument == "LD_PRELOAD") argument += "=" + request.observer.string();
  command.arguments.insert(command.arguments.end(), request.arguments.begin(), request.arguments.end());
  command.environment["HPLCAST_OBSERVE_DIR"] = work.path().string();
  command.environment["HPLCAST_OBSERVE_REACH"] = core::shortest(request.reach_bytes);
  command.environment["OMP_NUM_THREADS"] = "1";
  command.purpose = "the observed run of " + request.program.filename().string();
  command.output = work.path() / "program.out";
  command.timeout_s = request.timeout_s;
  command.while_running = [&](int) {
    if (request.while_running) request.while_running();
  };
  const core::CommandResult result = core::run_checked(command);
  require_all_ranks(request, command, work.path());
  write_description(request, work.path(), result.wall_s);
  const std::string output = core::read_text(command.output);
  write_archive(request.archive, work.path(), "observation");
  return output;
}

}  // namespace hplcast::calibration
