// main() of every test program: what its tests leave in the folder of temporary files goes with it.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::string folder = (std::filesystem::temp_directory_path() / "hplcast-tests-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr || ::setenv("TMPDIR", folder.c_str(), 1) != 0) {
    std::perror(folder.c_str());
    return 1;
  }
  const int status = RUN_ALL_TESTS();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return status;
}
