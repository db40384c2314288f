// Which messages hplcast-measure-mpi sends, by the counters of Open MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::calibration {
namespace {

/// Messages that rank 0 sends for 20 round trips while ranks compute; below 0: this Open MPI does not count.
int sent_for_round_trips_of(int bytes) {
  const core::TemporaryFolder folder("hplcast-small-messages");
  MpiDesign design;
  for (int i = 0; i < 20; ++i) design.push_back({MpiOperation::pingpong, bytes, i});
  core::write_file(folder.path() / "design.csv", [&](std::ostream& out) { write_design(out, design); });
  core::Command command;
  command.program = "mpirun";
  command.arguments = {"-np",
                       "2",
                       "--mca",
                       "pml_monitoring_enable",
                       "1",
                       "--mca",
                       "pml_monitoring_enable_output",
                       "3",
                       "--mca",
                       "pml_monitoring_filename",
                       (folder.path() / "counts").string(),
                       HPLCAST_BINARY_DIR "/bin/hplcast-measure-mpi",
                       "--design",
                       "design.csv",
                       "--background",
                       "dgemm"};
  command.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  command.directory = folder.path();
  command.timeout_s = 120;
  const core::CommandResult result = core::run(command);
  EXPECT_EQ(result.status, 0) << result.output;
  int messages = -1;
  std::ifstream in(folder.path() / "counts.0.prof");
  for (std::string line; messages < 0 && std::getline(in, line);)
    (void)std::sscanf(line.c_str(), "E 0 1 %*d bytes %d msgs", &messages);
  return messages;
}

/// Behind a computation the first messages find MPI outside of the caches; HPL's small ones follow each other.
TEST(SmallMessages, UnderLoadFollowThreeRoundTripsOfTheirSize) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
  const int large = sent_for_round_trips_of(16385);  // as panels: behind an update
  if (large < 0) GTEST_SKIP() << "skipped: this Open MPI does not count messages (pml monitoring)";
  EXPECT_EQ(sent_for_round_trips_of(16384) - large, 20 * 3);
}

}  // namespace
}  // namespace hplcast::calibration
