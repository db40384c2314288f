#include "hplcast/study/predict.hpp"

#include <algorithm>
#include <ostream>

#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "hplcast/study/installed_programs.hpp"

namespace hplcast::study {

namespace {

struct SimulatorOptions {
  platforms::XmlSettings in_xml;
  std::string on_command_line;
};

/// smpirun itself gives some options to the simulator, which then ignores them in a platform.
SimulatorOptions options_of(const RunPlan& plan) {
  SimulatorOptions settings;
  std::vector<std::string> options = platforms::smpi_options();
  core::append(options, plan.memory().options);
  for (const std::string& option : options) {
    const std::size_t name = std::string("--cfg=").size(), colon = option.find(':');
    const std::string key = option.substr(name, colon - name);
    if (key == "smpi/privatization" || key == "surf/precision") {
      settings.on_command_line += " " + option;
    } else {
      settings.in_xml.emplace_back(key, option.substr(colon + 1));
    }
  }
  return settings;
}

/// The name, if that is enough to find the smpirun of a prediction in PATH.
std::string smpirun_of(const PredictionRequest& request) {
  const std::string chosen = smpirun_to_run(request.programs.smpirun);
  std::error_code error;
  const fs::path found = core::find_program("smpirun");
  return !found.empty() && fs::equivalent(found, core::find_program(chosen), error) ? "smpirun"
                                                                                    : core::shell_quoted(chosen);
}

/// For a comment in a script.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c); }, ' ');
  return text;
}

constexpr const char* made_by_us =
    "# Made by `hplcast emit --run`; do not edit: cluster.json is the source of all files here.";

/// Whether write_run_folder() has written into this folder.
bool is_run_folder(const fs::path& folder) {
  const auto lines = core::split(core::text_if_any(folder / "run.sh"), '\n');
  return std::find(lines.begin(), lines.end(), made_by_us) != lines.end();
}

void write_run_script(std::ostream& out, const RunPlan& plan, const std::string& options) {
  const PredictionRequest& request = plan.request();
  out << "#!/bin/sh\n"
         "# HPL on "
      << one_line(request.cluster.name) << " by plain smpirun: " << core::to_string(request.parameters) << ".\n"
      << made_by_us
      << "\nset -eu\n"
         "cd \"$(dirname \"$0\")\"\n"
         "PATH=$PATH:"
      << core::shell_quoted(core::own_executable().parent_path().string())
      << "\n"
         "# HPL for the simulator with the kernel models of model.h inside: linked once, in a second.\n"
         "[ xhpl -nt model.h ] || hplcast-build-xhpl --model model.h -o xhpl\n"
         "# The time with all digits is in statistics.json.\n"
         "export " HPLCAST_VARIABLE_SIMULATION "=settings.json\n"
      << smpirun_of(request) << " -np " << plan.ranks() << " -platform platform.xml -hostfile hostfile" << options
      << " ./xhpl\n";
}

}  // namespace

std::vector<fs::path> other_run_folders(const fs::path& base, const std::vector<fs::path>& folders) {
  std::vector<fs::path> others;
  const auto look_at = [&](const fs::path& folder) {
    const bool is_one = std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (!is_one && is_run_folder(folder)) others.push_back(folder);
  };
  look_at(base);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) look_at(base / entry.path().filename());
  std::sort(others.begin(), others.end());
  return others;
}

void write_run_folder(const RunPlan& plan, const fs::path& folder) {
  const SimulatorOptions settings = options_of(plan);
  const auto write = [&](const char* name, const std::function<void(std::ostream&)>& content) {
    core::write_file(folder / name, content);
  };
  const core::ClusterModel& cluster = plan.simulated_cluster();
  write("platform.xml", [&](std::ostream& out) { platforms::write_platform_xml(out, cluster, settings.in_xml); });
  write("hostfile", [&](std::ostream& out) { platforms::write_hostfile(out, cluster, plan.ranks()); });
  write("model.h", [&](std::ostream& out) { platforms::write_model_h(out, cluster); });
  write("HPL.dat", [&](std::ostream& out) { core::write_hpl_dat(out, plan.parameters(), false); });
  core::SimulationSettings simulated;  // with the models of model.h
  simulated.seed = plan.seed();
  simulated.noise = plan.request().noise;
  simulated.result = "statistics.json";
  write("settings.json", [&](std::ostream& out) { core::write_simulation_settings(out, simulated); });
  write("run.sh", [&](std::ostream& out) { write_run_script(out, plan, settings.on_command_line); });
  std::error_code error;
  const auto executable = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(folder / "run.sh", executable, fs::perm_options::add, error);
  if (error) throw core::InputError("cannot make " + (folder / "run.sh").string() + " executable: " + error.message());
}

}  // namespace hplcast::study
