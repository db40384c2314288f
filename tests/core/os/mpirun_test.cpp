#include "hplcast/core/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MpirunCommand, BindsEveryRankToACoreUnlessToldOtherwise) {
  MpiLaunch launch;
  launch.ranks = 3;
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), HasSubstr("-np 3 --map-by core --bind-to core"));
  launch.bind = false;
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), HasSubstr("-np 3 --bind-to none"));
  launch.bind = true;
  launch.oversubscribe = true;
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), HasSubstr("--oversubscribe --bind-to none"));
}

TEST(MpirunCommand, HandsOptionsAndEnvironmentOn) {
  MpiLaunch launch;
  launch.options = {"--mca", "btl", "tcp,self"};
  launch.exported = {"TRACE"};
  const std::string text = to_string(mpirun_command(launch, "/bin/true"));
  EXPECT_THAT(text, HasSubstr("--mca btl tcp,self -x OPENBLAS_NUM_THREADS -x TRACE /bin/true"));
  EXPECT_EQ(text.rfind("OPENBLAS_NUM_THREADS=1 ", 0), 0U);
}

TEST(MpirunCommand, SpeaksToSrunInItsOwnWords) {
  MpiLaunch launch;
  launch.ranks = 8;
  launch.mpirun = "/usr/bin/srun";
  launch.options = {"--mpi=pmix"};
  launch.exported = {"TRACE"};  // srun hands all of the environment on
  EXPECT_EQ(to_string(mpirun_command(launch, "/bin/true")),
            "OPENBLAS_NUM_THREADS=1 /usr/bin/srun -n 8 --cpu-bind=cores --mpi=pmix /bin/true");
  launch.oversubscribe = true;
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), HasSubstr("--overcommit"));
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), Not(HasSubstr("--cpu-bind")));
}

}  // namespace
}  // namespace hplcast::core
