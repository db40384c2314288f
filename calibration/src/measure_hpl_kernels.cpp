#include "hplcast/calibration/measure_hpl_kernels.hpp"

#include <algorithm>
#include <ostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

void run_instrumented(const HplKernelRequest& request, const core::HplParameters& parameters, const fs::path& folder) {
  core::write_file(folder / "HPL.dat", [&](std::ostream& out) { core::write_hpl_dat(out, parameters, false); });
  core::MpiLaunch launch = request.launch;
  launch.ranks = parameters.P * parameters.Q;
  launch.exported = {"HPLCAST_KERNEL_TRACE", "HPLCAST_KERNEL_TRACE_MAX"};
  core::Command command = core::mpirun_command(launch, fs::absolute(request.program));
  command.environment["HPLCAST_KERNEL_TRACE"] = (folder / "trace").string();
  command.environment["HPLCAST_KERNEL_TRACE_MAX"] = std::to_string(request.max_rows);
  command.directory = folder;
  command.purpose = "the instrumented run of " + core::to_string(parameters);
  core::run_checked(command);
}

/// @returns the number of rows.
std::size_t copy_rows(const fs::path& trace, std::ostream& out) {
  std::size_t rows = 0;
  core::read_file(trace, [&](std::istream& in, const std::string& name) {
    core::read_kernel_csv(in, name, "", [&](const core::KernelMeasurement& row) {
      core::write_row(out, row);
      ++rows;
    });
  });
  return rows;
}

}  // namespace

void measure_hpl_kernels(const HplKernelRequest& request, std::ostream& out) {
  for (const core::HplParameters& parameters : request.configurations) parameters.validate();
  out << core::kernel_csv_header << '\n';
  double done = 0;
  std::size_t rows = 0;
  for (const core::HplParameters& parameters : request.configurations) {
    const core::TemporaryFolder folder("hplcast-kernels", request.folder);
    run_instrumented(request, parameters, folder.path());
    for (int rank = 0; rank < parameters.P * parameters.Q; ++rank) {
      const fs::path trace = folder.path() / ("trace-" + std::to_string(rank) + ".csv");
      if (!fs::exists(trace)) {
        throw core::Error(
            core::ExitCode::bad_input,
            request.program.string() + " has left no trace of its kernels in rank " + std::to_string(rank) +
                ": is it xhpl-instrumented?\n  hint: with several hosts, --folder must be one that all see");
      }
      rows += copy_rows(trace, out);
    }
    if (request.progress) request.progress(++done / static_cast<double>(request.configurations.size()));
  }
  if (rows == 0)
    throw core::Error(core::ExitCode::bad_input,
                      "nothing was measured: no call of a kernel was kept\n  hint: larger configurations, or more "
                      "--max-rows");
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

}  // namespace hplcast::calibration
