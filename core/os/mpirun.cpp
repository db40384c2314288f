#include "hplcast/core/process.hpp"

#include <unistd.h>

namespace hplcast::core {

namespace {

/// Slurm's launcher knows the hosts and their slots itself, and hands our environment on.
Command srun_command(const MpiLaunch& launch, const std::filesystem::path& program) {
  Command command;
  command.program = launch.mpirun;
  command.arguments = {"-n", std::to_string(launch.ranks)};
  if (launch.oversubscribe) command.arguments.push_back("--overcommit");
  if (launch.bind && !launch.oversubscribe) command.arguments.push_back("--cpu-bind=cores");
  command.arguments.insert(command.arguments.end(), launch.options.begin(), launch.options.end());
  command.arguments.push_back(program.string());
  command.environment = {{"OPENBLAS_NUM_THREADS", "1"}};
  return command;
}

}  // namespace

Command mpirun_command(const MpiLaunch& launch, const std::filesystem::path& program) {
  if (std::filesystem::path(launch.mpirun).filename() == "srun") return srun_command(launch, program);
  Command command;
  command.program = launch.mpirun;
  command.arguments = {"-np", std::to_string(launch.ranks)};
  const auto add = [&](std::initializer_list<std::string> arguments) {
    command.arguments.insert(command.arguments.end(), arguments);
  };
  if (!launch.hostfile.empty()) add({"--hostfile", std::filesystem::absolute(launch.hostfile).string()});
  if (launch.oversubscribe) {
    add({"--oversubscribe", "--bind-to", "none"});  // Open MPI refuses to bind two ranks to one core
  } else if (launch.bind) {
    add({"--map-by", "core", "--bind-to", "core"});
  } else {
    add({"--bind-to", "none"});
  }
  if (::geteuid() == 0) add({"--allow-run-as-root"});
  command.arguments.insert(command.arguments.end(), launch.options.begin(), launch.options.end());
  add({"-x", "OPENBLAS_NUM_THREADS"});
  for (const std::string& variable : launch.exported) add({"-x", variable});
  add({program.string()});
  command.environment = {{"OPENBLAS_NUM_THREADS", "1"}};
  return command;
}

}  // namespace hplcast::core
