#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::tests {

enum class PlatformKind { xml, library };

/// What one simulation of the probe program is.
struct Simulation {
  core::ClusterModel cluster;
  int ranks = 2;
  std::vector<std::string> arguments = {};  ///< of the probe
  PlatformKind platform = PlatformKind::xml;
  core::SimulationSettings settings = {};
  bool set_cluster = true;         ///< the settings name cluster.json
  std::string settings_text = {};  ///< the file of settings; empty: `settings`
  bool name_settings = true;       ///< HPLCAST_SIMULATION is set
  std::string program = HPLCAST_PROBE;
  std::vector<std::string> options = {};  ///< more arguments of smpirun
};

/// A folder of this test program alone.
inline std::filesystem::path simulation_folder(const std::string& name) {
  return std::filesystem::path(HPLCAST_BINARY_DIR) / "tests/simulations" / name;
}

/// Writes cluster.json, platform.xml and hostfile into `folder` and runs smpirun there.
inline core::CommandResult simulate(const Simulation& simulation, const std::string& name) {
  const std::filesystem::path folder = simulation_folder(name);
  core::write_file(folder / "cluster.json", [&](std::ostream& out) { core::write_cluster(out, simulation.cluster); });
  core::write_file(folder / "platform.xml",
                   [&](std::ostream& out) { platforms::write_platform_xml(out, simulation.cluster); });
  core::write_file(folder / "hostfile",
                   [&](std::ostream& out) { platforms::write_hostfile(out, simulation.cluster, simulation.ranks); });
  core::Command command;
  command.program = HPLCAST_SMPIRUN;
  const std::string platform = simulation.platform == PlatformKind::xml ? "platform.xml" : HPLCAST_PLATFORM_LIBRARY;
  command.arguments = {"-np",      std::to_string(simulation.ranks), "-platform", platform, "-hostfile",
                       "hostfile", "--log=root.thresh:warning"};
  for (const std::string& option : platforms::smpi_options()) command.arguments.push_back(option);
  for (const std::string& option : simulation.options) command.arguments.push_back(option);
  command.arguments.push_back(simulation.program);
  for (const std::string& argument : simulation.arguments) command.arguments.push_back(argument);
  core::SimulationSettings settings = simulation.settings;
  settings.result = "stats.json";
  if (simulation.set_cluster) settings.cluster = "cluster.json";
  core::write_file(folder / "settings.json", [&](std::ostream& out) {
    if (simulation.settings_text.empty())
      core::write_simulation_settings(out, settings);
    else
      out << simulation.settings_text;
  });
  if (simulation.name_settings) command.environment["HPLCAST_SIMULATION"] = "settings.json";
  command.directory = folder;
  command.timeout_s = 300;  // 4096 ranks and 4000 barriers on a slow machine
  return core::run(command);
}

/// The words of the lines "rank what ..." of a probe, without these two.
inline std::vector<std::vector<std::string>> facts(const std::string& output, int rank, const std::string& what) {
  std::vector<std::vector<std::string>> result;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    if (!(words >> first >> second) || first != std::to_string(rank) || second != what) continue;
    result.emplace_back();
    for (std::string word; words >> word;) result.back().push_back(word);
  }
  return result;
}

/// The number in column `column` of facts().
inline std::vector<double> numbers(const std::string& output, int rank, const std::string& what,
                                   std::size_t column = 0) {
  std::vector<double> result;
  for (const auto& words : facts(output, rank, what)) result.push_back(std::stod(words.at(column)));
  return result;
}

}  // namespace hplcast::tests
