#include "hplcast/calibration/observe_program.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/host_and_time.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

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

std::optional<ObservedRun> read_observed_run(const std::map<std::string, std::string>& files,
                                             const std::string& archive) {
  const auto description = files.find("program.json");
  if (description == files.end()) return std::nullopt;
  const std::string where = archive + ":program.json";
  ObservedRun run;
  try {
    std::istringstream in(description->second);
    const auto json = nlohmann::json::parse(core::read_json_text(in, where));
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
    throw core::Error(core::ExitCode::bad_input, archive + ": rank-*.times.csv of " + std::to_string(found) +
                                                     " ranks in it; expected " + std::to_string(run.ranks) +
                                                     ", as program.json says\n  hint: the archive is damaged; observe "
                                                     "again");
  return run;
}

}  // namespace hplcast::calibration
