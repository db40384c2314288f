// What was measured is not lost where its file cannot be written any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::calibration {
namespace {

TEST(VanishedFolder, RowsForItArePrinted) {
  const core::TemporaryFolder folder("hplcast-vanished");
  core::Command command;
  command.program = "/bin/bash";
  command.arguments = {"-c",
                       "mkdir out; printf 'm,n,k\\n5,5,5\\n' > design.csv; "
                       "(for i in $(seq 1000); do [ -s position ] && break; sleep 0.01; done; rm -r out) & "
                       "mpirun -np 1 " HPLCAST_BINARY_DIR
                       "/bin/hplcast-measure-dgemm --design design.csv --warm-up 1s "
                       "--footprint 1MB --position position --monitoring out/monitoring.csv -o out/rows.csv; "
                       "status=$?; wait; exit $status"};
  command.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  command.directory = folder.path();
  command.timeout_s = 60;
  const core::CommandResult result = core::run(command);
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, ::testing::AllOf(::testing::HasSubstr("cannot write out/rows.csv"),
                                              ::testing::HasSubstr("dgemm,5,5,5,")));
}

}  // namespace
}  // namespace hplcast::calibration
