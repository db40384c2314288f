#include "hplcast/core/files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hplcast-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string content(const fs::path& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  long count() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }
  fs::path folder_;
};

TEST_F(Files, WritesThroughMissingFolders) {
  write_file(folder_ / "a" / "b.txt", [](std::ostream& out) { out << "x"; });
  EXPECT_EQ(content(folder_ / "a" / "b.txt"), "x");
}

TEST_F(Files, AFailureLeavesTheOldFileAndNothingElse) {
  const fs::path path = folder_ / "f";
  write_file(path, [](std::ostream& out) { out << "old"; });
  EXPECT_THROW(write_file(path,
                          [](std::ostream& out) {
                            out << "half";
                            throw std::runtime_error("stop");
                          }),
               std::runtime_error);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(count(), 1);
}

TEST_F(Files, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "skipped: no /dev/full";
  EXPECT_THROW(write_file("/dev/full", [](std::ostream& out) { out << std::string(100000, 'x'); }), Error);
}

TEST_F(Files, ReadingWhatIsNotThereIsAnError) {
  EXPECT_THROW(read_file(folder_ / "none", [](std::istream&, const std::string&) {}), Error);
  EXPECT_THROW(read_file(folder_, [](std::istream&, const std::string&) {}), Error);
}

TEST(Sha256, AgreesWithTheStandardsExample) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4
}

TEST(TemporaryFolder, IsRemovedWithItsContent) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder("hplcast-test");
    path = folder.path();
    std::filesystem::create_directories(path / "a" / "b");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace hplcast::core
