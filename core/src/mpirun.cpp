#include "hplcast/core/mpirun.hpp"

#include <unistd.h>

namespace hplcast::core {

Command mpirun_command(const MpiLaunch& launch, const std::filesystem::path& program) {
  Command command;
  command.program = launch.mpirun;
  command.arguments = {"-np", std::to_string(launch.ranks)};
  const auto add = [&](std::initializer_list<std::string> arguments) {
    command.arguments.insert(command.arguments.end(), arguments);
  };
  if (!launch.hostfile.empty()) add({"--hostfile", std::filesystem::absolute(launch.hostfile).string()});
  if (launch.oversubscribe) {
    add({"--oversubscribe", "--bind-to", "none"});  // Open MPI refuses to bind two ranks to one core
  } else {
    add({"--map-by", "core", "--bind-to", "core"});
  }
  if (::geteuid() == 0) add({"--allow-run-as-root"});
  add({"-x", "OPENBLAS_NUM_THREADS", program.string()});
  command.environment = {{"OPENBLAS_NUM_THREADS", "1"}};
  return command;
}

}  // namespace hplcast::core
