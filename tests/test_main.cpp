// main() of every test program: what its tests leave in the folder of temporary files goes with it.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::string folder = (std::filesystem::temp_directory_path() / "hplcast-tests-XXXXXX").string();
  constexpr mode_t for_all = 0755;  // tests that are another user for a while use it, too
  if (::mkdtemp(folder.data()) == nullptr || ::chmod(folder.c_str(), for_all) != 0 ||
      ::setenv("TMPDIR", folder.c_str(), 1) != 0) {
    std::perror(folder.c_str());
    return 1;
  }
  const int status = RUN_ALL_TESTS();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return status;
}
