#include "hplcast/study/installed_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"
#include "tests/support/fake_programs.hpp"

namespace hplcast::study {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SimGridParts : public ::testing::Test {
 protected:
  std::string smpirun(const std::string& version) {
    return programs_.script("smpirun", "VERSION=\"SimGrid version " + version + "\"").string();
  }
  /// What matters of a program: the name of the library, somewhere in its bytes.
  fs::path xhpl(const std::string& version) {
    return programs_.script("xhpl-smpi", std::string(3, '\0') + "libsimgrid.so." + version + '\0');
  }

  testing::FakePrograms programs_;
};

TEST_F(SimGridParts, AreThoseOfTheBuild) {
  const ConfiguredSimGrid configured = configured_simgrid();
  EXPECT_EQ(smpirun_to_run(""), configured.smpirun);
  EXPECT_EQ(simgrid_version_of_script(configured.smpirun), configured.version);
  EXPECT_EQ(simgrid_version_of_script(configured.smpicc), configured.version);
  const fs::path xhpl = fs::path(HPLCAST_BINARY_DIR) / "bin" / "xhpl-smpi";
  if (!fs::exists(xhpl)) GTEST_SKIP() << "skipped: xhpl-smpi is not built";
  EXPECT_EQ(linked_simgrid_version(xhpl), configured.version);
}

TEST_F(SimGridParts, AnSmpirunThatIsAskedForIsTaken) {
  EXPECT_EQ(smpirun_to_run("smpirun"), "smpirun");
  EXPECT_EQ(smpirun_to_run("/opt/simgrid/bin/smpirun"), "/opt/simgrid/bin/smpirun");
}

TEST_F(SimGridParts, VersionsAreReadWithoutPatchLevelOrNotAtAll) {
  EXPECT_EQ(simgrid_version_of_script(smpirun("3.32")), "3.32");
  EXPECT_EQ(simgrid_version_of_script(smpirun("4.0.1")), "4.0");
  EXPECT_EQ(simgrid_version_of_script(programs_.script("smpirun", "exec /opt/bin/smpirun \"$@\"")), "");
  EXPECT_EQ(simgrid_version_of_script("no-such-smpirun"), "");
  EXPECT_EQ(linked_simgrid_version(xhpl("4.1")), "4.1");
  EXPECT_EQ(linked_simgrid_version(programs_.folder() / "nothing"), "");
}

TEST_F(SimGridParts, OneVersionOrAnUnknownOneIsFineTwoAreNot) {
  EXPECT_NO_THROW(require_one_simgrid(smpirun("4.0"), xhpl("4.0")));
  EXPECT_NO_THROW(require_one_simgrid("no-such-smpirun", xhpl("4.0")));
  try {
    require_one_simgrid(smpirun("4.0"), xhpl("4.1"));
    FAIL() << "two versions were taken";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.code(), core::ExitCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("smpirun is of SimGrid 4.0, but "));
    EXPECT_THAT(error.what(), HasSubstr("xhpl-smpi is linked with SimGrid 4.1; expected one version"));
    EXPECT_THAT(error.what(), HasSubstr("hint: "));
  }
}

}  // namespace
}  // namespace hplcast::study
