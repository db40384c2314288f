#include "hplcast/calibration/doctor.hpp"

#include <sstream>

#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/installed_programs.hpp"

namespace hplcast::cli {

namespace {

struct DoctorOptions {
  bool json = false;
  std::string output;
};

/// Asks a measuring program, which is linked with MPI and BLAS, about them. It lies next to this program.
std::optional<core::SoftwareDescription> ask_measuring_program() {
  const std::filesystem::path program = core::own_executable().parent_path() / "hplcast-measure-dgemm";
  if (!std::filesystem::exists(program)) return std::nullopt;
  core::Command command;
  command.program = program;
  command.arguments = {"--describe"};
  command.timeout_s = 30;
  const core::CommandResult result = core::run(command);
  // MPI may write warnings before.
  const std::size_t begin = result.output.find("{\n");
  if (result.status != 0 || begin == std::string::npos) return std::nullopt;
  std::istringstream in(result.output.substr(begin));
  try {
    return core::read_context(in, program.filename()).software;
  } catch (const core::Error&) {
    return std::nullopt;  // a measuring program of another version: the doctor says that it does not know
  }
}

/// The programs that predictions use.
calibration::ToolVersions tools_of_predictions() {
  const study::ConfiguredSimGrid configured = study::configured_simgrid();
  const std::string smpirun = study::smpirun_to_run("");
  const std::string smpicc = std::filesystem::exists(configured.smpicc) ? configured.smpicc.string() : "smpicc";
  calibration::ToolVersions tools = calibration::find_tools(smpirun, smpicc);
  tools.simgrid = {study::simgrid_version_of_script(smpirun), study::simgrid_version_of_script(smpicc),
                   study::linked_simgrid_version(core::own_executable().parent_path() / "xhpl-smpi"),
                   configured.version};
  return tools;
}

void run_doctor(const DoctorOptions& options) {
  const core::MachineDescription machine = calibration::describe_machine(calibration::Topology::of_this_machine());
  const auto checks = calibration::examine(machine, tools_of_predictions(), ask_measuring_program());
  write_result(options.output, [&](std::ostream& out) {
    options.json ? calibration::write_json(out, checks, machine) : calibration::write_table(out, checks);
  });
}

}  // namespace

void setup_doctor(Command& app) {
  Command& command = add_command(app, "doctor", "Check this machine for disturbances of measurements or simulations",
                                 "hplcast doctor --json");
  auto& options = command.runs<DoctorOptions>(run_doctor);
  command.add_flag("--json", options.json, "write JSON with the whole description of the machine");
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
}

}  // namespace hplcast::cli
