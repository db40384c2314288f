#include "hplcast/calibration/doctor.hpp"

#include <algorithm>

#include "cli/campaign/campaign_yaml.hpp"
#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/installed_programs.hpp"

namespace hplcast::cli {

namespace {

struct DoctorOptions {
  bool json = false;
  bool settings = false;
  std::vector<std::string> hold;
  std::string campaign;
  std::string output;
};

/// Asks a measuring program, which is linked with MPI and BLAS, about them. It lies next to this program.
std::optional<core::SoftwareDescription> ask_measuring_program() {
  const std::filesystem::path program = core::own_executable().parent_path() / "hplcast-measure-dgemm";
  if (!std::filesystem::exists(program)) return std::nullopt;
  core::Command command{program, {"--describe"}};
  command.timeout_s = 30;
  const core::CommandResult result = core::run(command);
  // MPI may write warnings before.
  const std::size_t begin = result.output.find("{\n");
  if (result.status != 0 || begin == std::string::npos) return std::nullopt;
  try {
    return core::read_context(core::TextStream(result.output.substr(begin)), program.filename()).software;
  } catch (const core::Error&) {
    return std::nullopt;  // a measuring program of another version: the doctor says that it does not know
  }
}

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

/// The settings that `require` of a campaign demands of every host.
calibration::Settings required_by(const std::string& campaign) {
  if (campaign.empty()) return {};
  return read_from(campaign, [](std::istream& in, const std::string& name) {
    const std::string text = core::read_text(in, name, "is this a campaign?", core::most_bytes_of_plan);
    const calibration::CampaignPlan plan = read_campaign(text, name, core::own_executable().parent_path());
    calibration::Settings required = plan.required;
    for (const auto& one : plan.set) required.erase(one.first);  // the campaign changes it first
    return required;
  });
}

void write_settings(std::ostream& out, const core::MachineDescription& machine) {
  TextTable table({"setting", "here", "can be set", "meaning"});
  for (const calibration::SettingDescription& one : calibration::known_settings()) {
    const auto found = machine.settings.find(one.name);
    constexpr std::size_t most = 40;  // --json has the whole of long ones
    std::string value = found == machine.settings.end() ? "not told" : found->second;
    if (value.size() > most) value = value.substr(0, most - 4) + " ...";
    table.add({one.name, value, one.can_be_set ? "by root" : "no", one.meaning});
  }
  table.write(out);
}

/// @throws core::UsageError for what is not NAME=VALUE; core::InputError
void hold(const std::vector<std::string>& words) {
  calibration::Settings wanted;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      refuse_value("--hold", "found `" + word + "`; expected NAME=VALUE, such as governor=performance");
    if (!wanted.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      refuse_value("--hold", word.substr(0, equals) + " is given twice");
  }
  if (!calibration::hold_settings(wanted))
    throw core::Error(core::ExitCode::external_failure, core::host_name() + ": not all settings could be restored");
}

void run_doctor(const DoctorOptions& options) {
  if (!options.hold.empty()) return hold(options.hold);
  const calibration::Settings required = required_by(options.campaign);
  const core::MachineDescription machine = calibration::describe_machine(calibration::Topology::of_this_machine());
  if (options.settings) return write_result(options.output, [&](std::ostream& out) { write_settings(out, machine); });
  auto checks = calibration::examine(machine, tools_of_predictions(), ask_measuring_program());
  const auto demands = calibration::examine_requirements(machine, required);
  checks.insert(checks.end(), demands.begin(), demands.end());
  write_result(options.output, [&](std::ostream& out) {
    options.json ? calibration::write_json(out, checks, machine) : calibration::write_table(out, checks);
  });
  const auto unmet = std::count_if(demands.begin(), demands.end(), [](const calibration::Check& check) {
    return check.status != calibration::CheckStatus::ok;
  });
  if (unmet > 0)
    throw core::Error(core::ExitCode::limit_exceeded,
                      core::counted(unmet, "demand") + " of " + options.campaign + " not met");
}

}  // namespace

void setup_doctor(Command& app) {
  Command& command = add_command(app, "doctor", "Check this machine for disturbances of measurements or simulations",
                                 "hplcast doctor --json");
  auto& options = command.runs<DoctorOptions>(run_doctor);
  Option* campaign = command.add_option(
      "--campaign", options.campaign,
      "campaign file: look, too, whether this machine is as its `require` demands; exit code 5 if not", reads("FILE"));
  Option* json = command.add_flag("--json", options.json, "write JSON with the whole description of the machine");
  command.add_flag("--settings", options.settings, "list the settings that campaigns can demand and change",
                   excludes(campaign), excludes(json));
  command.add_option("--hold", options.hold,
                     "change a setting, as root, and restore it when this is ended: Ctrl-C, SIGTERM; may be repeated",
                     one_each, of_type("NAME=VALUE"));
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
}

}  // namespace hplcast::cli
