// What was measured is not lost where its file cannot be written any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What is printed by a command line for a folder `out`, which goes as soon as `gone` is true.
core::CommandResult run_without_out(const std::string& line, const std::string& gone) {
  const core::TemporaryFolder folder("hplcast-vanished");
  core::Command command;
  command.program = "/bin/bash";
  command.arguments = {"-c", "mkdir out; printf 'm,n,k\\n5,5,5\\n' > design.csv; PATH=" HPLCAST_BINARY_DIR
                             "/bin:$PATH; (for i in $(seq 1000); do " +
                                 gone + " && break; sleep 0.01; done; rm -r out) & " + line +
                                 "; status=$?; wait; exit $status"};
  command.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  command.directory = folder.path();
  command.timeout_s = 60;
  return core::run(command);
}

TEST(VanishedFolder, RowsForItArePrinted) {
  const core::CommandResult result = run_without_out(
      "mpirun -np 1 hplcast-measure-dgemm --design design.csv --warm-up 1s --footprint 1MB --position position "
      "--monitoring out/monitoring.csv -o out/rows.csv",
      "[ -s position ]");
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("cannot write out/rows.csv"), HasSubstr("dgemm,5,5,5,")));
}

TEST(VanishedFolder, GapsForItArePrinted) {
  const core::CommandResult result =
      run_without_out("hplcast-measure-detours --method gaps --for 2s --cores 0 -o out/gaps.csv", "sleep 1");
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("cannot write out/gaps.csv"), HasSubstr("host,core,")));
}

TEST(VanishedFolder, KernelsForItArePrinted) {
  const core::CommandResult result = run_without_out(
      "printf 'N,NB,P,Q\\n500,64,1,1\\n' > runs.csv; hplcast-measure-kernels --configurations runs.csv --folder run "
      "-o out/kernels.csv",
      "[ -d run ]");
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("cannot write out/kernels.csv"), HasSubstr("dgemm,")));
}

}  // namespace
}  // namespace hplcast::calibration
