#include "hplcast/calibration/doctor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "hplcast/core/json.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr const char* name_of_map_count = "vm.max_map_count";
constexpr const char* name_of_simgrid = "SimGrid versions";
constexpr const char* name_of_overcommit = "vm.overcommit_memory";

/// The default of Linux. A simulated rank has two maps: its stack and a guard page.
constexpr double usual_map_count = 65530;

Check ok(std::string name, std::string found) {
  return {std::move(name), CheckStatus::ok, std::move(found), ""};
}

Check warn(std::string name, std::string found, std::string remedy) {
  return {std::move(name), CheckStatus::warn, std::move(found), std::move(remedy)};
}

Check unknown(std::string name, std::string remedy) {
  return {std::move(name), CheckStatus::unknown, "the system does not tell", std::move(remedy)};
}

Check check_cores(const core::MachineDescription& machine) {
  const std::string found = std::to_string(machine.cores) + " cores on " + std::to_string(machine.packages) +
                            " CPU(s), " + std::to_string(machine.hardware_threads) + " hardware threads, " +
                            (machine.cpu_model.empty() ? "unknown model" : machine.cpu_model);
  if (machine.cpu_quota && *machine.cpu_quota < machine.cores)
    return warn("cores", found + ", but the control group allows " + core::printed("%.2g", *machine.cpu_quota),
                "run with as many ranks as the limit allows, or lift it: a throttled core is not a slow core");
  if (machine.hardware_threads > machine.cores)
    return warn("cores", found, "run one rank per core, not per hardware thread");
  return ok("cores", found);
}

Check check_virtual_machine(const core::MachineDescription& machine) {
  const std::string steal =
      machine.steal ? ", " + core::printed("%.2f", 100 * *machine.steal) + "% steal since boot" : "";
  if (!machine.virtual_machine) return ok("virtual machine", "no" + steal);
  return warn("virtual machine", "yes" + steal,
              "neighbours on the same host disturb measurements: repeat them, and look at their spread");
}

Check check_memory(const core::MachineDescription& machine) {
  const std::string found = core::printed("%.1f GiB", machine.memory_bytes / core::gibibyte) +
                            core::printed(", %.1f GiB available", machine.memory_available_bytes / core::gibibyte);
  if (machine.memory_bytes <= 0) return unknown("memory", "look at /proc/meminfo");
  if (machine.memory_available_bytes < 0.5 * machine.memory_bytes)
    return warn("memory", found, "close other programs: HPL is run with matrices that fill most of the memory");
  return ok("memory", found);
}

Check check_governor(const core::MachineDescription& machine) {
  if (machine.governor.empty()) return unknown("frequency governor", "make sure that frequencies are not scaled down");
  if (machine.governor == "performance") return ok("frequency governor", machine.governor);
  return warn("frequency governor", machine.governor, "cpupower frequency-set -g performance");
}

Check check_turbo(const core::MachineDescription& machine) {
  if (!machine.turbo) return unknown("turbo", "frequencies may depend on load and temperature");
  if (!*machine.turbo) return ok("turbo", "off");
  return warn("turbo", "on", "measure with all cores busy (the default), and long enough for the machine to warm up");
}

Check check_load(const core::MachineDescription& machine) {
  const double now = machine.load_now.value_or(machine.load_1min);  // what has ended, such as a build, disturbs nothing
  const std::string found = core::printed("%.2f runnable tasks in the last minute", machine.load_1min) +
                            (machine.load_now ? core::printed(", %.1f of others now", now) : "");
  if (now < core::MachineDescription::idle_load) return ok("load", found);
  return warn("load", found, "wait, or stop other programs: measurements assume an idle machine");
}

Check check_other_users(const core::MachineDescription& machine) {
  if (machine.other_users.empty()) return ok("other users", "none");
  return warn("other users", core::comma_separated(machine.other_users) + " have processes here",
              "have the machine alone while measuring");
}

Check check_clock(const core::MachineDescription& machine) {
  const std::string found = (machine.clock_source.empty() ? "unknown source" : machine.clock_source) +
                            core::printed(", resolution %.0f ns", machine.clock_resolution_s * 1e9);
  if (machine.clock_resolution_s > 1e-6) return warn("clock", found, "messages of some microseconds cannot be timed");
  if (machine.clock_source == "hpet" || machine.clock_source == "acpi_pm")
    return warn("clock", found,
                "reading this clock takes about a microsecond: boot with clocksource=tsc if it is stable");
  return ok("clock", found);
}

Check check_program(const std::string& name, const std::optional<std::string>& version, const std::string& remedy) {
  return version ? ok(name, *version) : warn(name, "not found", remedy);
}

Check check_mpi(const std::optional<core::SoftwareDescription>& software) {
  if (!software) return unknown("MPI of the measuring programs", "build them: they are in the folder of hplcast");
  return ok("MPI of the measuring programs", software->mpi_library + " (MPI " + software->mpi_standard + ")");
}

Check check_blas(const std::optional<core::SoftwareDescription>& software) {
  if (!software) return unknown("BLAS", "build the measuring programs: they are in the folder of hplcast");
  const std::string found = software->blas_library + ", kernels for " + software->blas_core_type + ", " +
                            std::to_string(software->blas_threads) + " thread(s) unless told otherwise";
  if (software->blas_core_type == "Prescott" || software->blas_core_type == "Generic")
    return warn("BLAS", found, "it does not know this CPU: set OPENBLAS_CORETYPE, or install a newer OpenBLAS");
  return ok("BLAS", found);
}

Check check_max_map_count(const core::MachineDescription& machine) {
  if (!machine.max_map_count) return unknown(name_of_map_count, "a simulation takes two memory maps per rank");
  const std::string found = core::printed("%.0f", *machine.max_map_count);
  if (*machine.max_map_count >= usual_map_count) return ok(name_of_map_count, found);
  return warn(
      name_of_map_count, found,
      "simulations take two maps per rank, for guard pages, and do without these where there are too few: sysctl -w "
      "vm.max_map_count=" +
          core::printed("%.0f", usual_map_count));
}

Check check_limit(const std::string& name, const std::optional<double>& bytes, double enough,
                  const std::string& remedy) {
  if (!bytes) return ok(name, "unlimited");
  const std::string found = core::printed("%.0f MiB", *bytes / core::mebibyte);
  return *bytes >= enough ? ok(name, found) : warn(name, found, remedy);
}

Check check_overcommit(const core::MachineDescription& machine) {
  if (!machine.overcommit_memory)
    return unknown(name_of_overcommit, "simulated matrices need far more address space than memory");
  const std::string found = std::to_string(*machine.overcommit_memory);
  if (*machine.overcommit_memory != 2) return ok(name_of_overcommit, found);
  return warn(name_of_overcommit, found,
              "simulated matrices need far more address space than memory: sysctl -w vm.overcommit_memory=0");
}

Check check_shared_memory(const core::MachineDescription& machine) {
  const std::string found =
      core::printed("%.0f MiB free in /dev/shm", machine.shared_memory_free_bytes / core::mebibyte);
  // Open MPI's vader keeps about 4 MiB a rank there.
  if (machine.shared_memory_free_bytes >= std::max(64.0, 8.0 * machine.cores) * core::mebibyte)
    return ok("shared memory", found);
  return warn("shared memory", found, "MPI keeps the messages of a host there: enlarge it, or clean it up");
}

/// Parts of two versions in one simulation end it without an explanation.
Check check_simgrid(const SimGridVersions& versions) {
  const char* const name = name_of_simgrid;
  std::vector<std::string> found;
  std::set<std::string> different;
  const auto note = [&](const std::string& part, const std::string& version) {
    if (version.empty()) return;
    found.push_back(part + " " + version);
    different.insert(version);
  };
  note("smpirun", versions.smpirun);
  note("smpicc", versions.smpicc);
  note("library of xhpl-smpi", versions.library);
  note("headers", versions.headers);
  if (found.empty()) return unknown(name, "smpirun, smpicc and xhpl-smpi must be of one version");
  if (different.size() == 1) return ok(name, core::comma_separated(found));
  return warn(
      name, core::comma_separated(found),
      "simulations need one version: build hplcast in a new folder with CMAKE_PREFIX_PATH set to one SimGrid, or "
      "give predict an smpirun of the library's version with --smpirun");
}

/// First line of what a program says about its version.
std::optional<std::string> version_of(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  if (!is_path && core::find_program(program).empty()) return std::nullopt;
  core::Command command{program, {"--version"}};
  command.timeout_s = 10;
  const core::CommandResult result = core::run(command);
  const std::string line = result.output.substr(0, result.output.find('\n'));
  return (line.empty() ? "version not known" : line) + (is_path ? " (" + program + ")" : "");
}

}  // namespace

bool concerns_measuring(const Check& check) {
  static const std::set<std::string> of_simulations = {
      "smpirun", "smpicc", name_of_simgrid, name_of_map_count, "stack size", "address space", name_of_overcommit};
  return of_simulations.count(check.name) == 0;
}

ToolVersions find_tools(const std::string& smpirun, const std::string& smpicc) {
  return {version_of("mpirun"), version_of(smpirun), version_of(smpicc), {}};
}

std::vector<Check> examine(const core::MachineDescription& machine, const ToolVersions& tools,
                           const std::optional<core::SoftwareDescription>& software) {
  return {
      check_cores(machine),
      check_virtual_machine(machine),
      check_memory(machine),
      check_governor(machine),
      check_turbo(machine),
      check_load(machine),
      check_other_users(machine),
      check_clock(machine),
      check_program("mpirun", tools.mpirun, "apt-get install openmpi-bin"),
      check_mpi(software),
      check_blas(software),
      check_program("smpirun", tools.smpirun, "apt-get install libsimgrid-dev"),
      check_program("smpicc", tools.smpicc, "apt-get install libsimgrid-dev"),
      check_simgrid(tools.simgrid),
      check_max_map_count(machine),
      check_limit("stack size", machine.stack_bytes, 8 * core::mebibyte, "ulimit -s unlimited"),
      check_limit("address space", machine.address_space_bytes, 1024 * core::gibibyte, "ulimit -v unlimited"),
      check_overcommit(machine),
      check_shared_memory(machine),
  };
}

std::vector<Check> examine_requirements(const core::MachineDescription& machine, const Settings& required) {
  std::vector<Check> checks;
  for (const auto& [name, value] : required) {
    const auto found = machine.settings.find(name);
    const std::string what = "required: " + name, remedy = "it has to be " + value;
    checks.push_back(found == machine.settings.end() ? unknown(what, remedy)
                     : found->second == value        ? ok(what, value)
                                                     : warn(what, found->second, remedy));
  }
  return checks;
}

void write_table(std::ostream& out, const std::vector<Check>& checks) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  for (const Check& check : checks) {
    out << to_string(check.status) << std::string(9 - std::string(to_string(check.status)).size(), ' ') << check.name
        << std::string(width + 2 - check.name.size(), ' ') << check.found << '\n';
    if (!check.remedy.empty()) out << std::string(width + 11, ' ') << "-> " << check.remedy << '\n';
  }
}

void write_json(std::ostream& out, const std::vector<Check>& checks, const core::MachineDescription& machine) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["checks"] = Json::array();
  for (const Check& check : checks)
    json["checks"].push_back(
        {{"name", check.name}, {"status", to_string(check.status)}, {"found", check.found}, {"remedy", check.remedy}});
  json["machine"] = core::parse_json<Json>(core::written([&](std::ostream& text) { write_json(text, machine); }));
  out << core::json_text(json, 2) << '\n';
}

}  // namespace hplcast::calibration
