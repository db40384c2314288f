#include "hplcast/core/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::AllOf;
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
  MpiLaunch threaded;
  threaded.ranks = 2;
  threaded.threads = 4;
  const Command command = mpirun_command(threaded, "/bin/true");
  EXPECT_THAT(to_string(command), HasSubstr("-np 2 --map-by slot:PE=4 --bind-to core"));
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"}) {
    EXPECT_EQ(command.environment.at(name), "4");
    EXPECT_THAT(to_string(command), HasSubstr(std::string("-x ") + name));
  }
  threaded.mpirun = "srun";
  EXPECT_THAT(to_string(mpirun_command(threaded, "/bin/true")), HasSubstr("--cpus-per-task=4 --cpu-bind=cores"));
}

TEST(MpirunCommand, GivesTheRanksAndNobodyElseAnotherBlas) {
  MpiLaunch launch;
  launch.blas = "/opt/libblis.so.4";
  const Command command = mpirun_command(launch, "/bin/true");
  EXPECT_THAT(to_string(command), HasSubstr("-x LD_PRELOAD=/opt/libblis.so.4 /bin/true"));
  EXPECT_EQ(command.environment.count("LD_PRELOAD"), 0U);
  EXPECT_EQ(command.environment.at("BLIS_NUM_THREADS"), "1") << "it may take all cores unless told otherwise";
  launch.mpirun = "srun";
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")),
              HasSubstr("--export=ALL env LD_PRELOAD=/opt/libblis.so.4 /bin/true"));
}

// The loader divides LD_PRELOAD at blanks and colons: it would take none of the parts, and say so in the output only.
TEST(MpirunCommand, PreloadsFromAFolderWithABlankByItsName) {
  MpiLaunch launch;
  launch.blas = "/opt/my blas/libblis.so.4";
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")),
              HasSubstr("-x LD_PRELOAD=libblis.so.4 -x 'LD_LIBRARY_PATH=/opt/my blas"));
  launch.mpirun = "srun";
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")),
              HasSubstr("--export=ALL env LD_PRELOAD=libblis.so.4 'LD_LIBRARY_PATH=/opt/my blas"));
  launch.blas = "/opt/a,b/libblis.so.4";  // srun divides the values of --export at commas
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), HasSubstr(" env LD_PRELOAD=/opt/a,b/libblis.so.4 /bin"));
  for (const char* library : {"/opt/blis:4/libblis.so", "/opt/lib blis.so"}) {
    launch.blas = library;
    EXPECT_THAT(tests::error_in([&] { mpirun_command(launch, "/bin/true"); }),
                AllOf(HasSubstr(std::string("cannot preload ") + library), HasSubstr("hint: ")));
  }
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
            "OPENBLAS_NUM_THREADS=1 /usr/bin/srun -n 8 --cpu-bind=cores --export=ALL --mpi=pmix /bin/true");
  launch.oversubscribe = true;
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), HasSubstr("--overcommit"));
  EXPECT_THAT(to_string(mpirun_command(launch, "/bin/true")), Not(HasSubstr("--cpu-bind")));
  launch.hostfile = "hosts.txt";
  EXPECT_THAT(tests::error_in([&] { mpirun_command(launch, "/bin/true"); }),
              AllOf(HasSubstr("hostfile` is hosts.txt"), HasSubstr("hosts of its job")));
}

}  // namespace
}  // namespace hplcast::core
