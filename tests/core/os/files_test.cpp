#include "hplcast/core/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "hplcast/core/errors.hpp"
#include "tests/support/variables.hpp"

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

TEST_F(Files, NamesMayHaveAsManyLettersAsTheFileSystemTakes) {
  const fs::path path = folder_ / std::string(255, 'x');
  write_file(path, [](std::ostream& out) { out << "x"; });
  EXPECT_EQ(content(path), "x");
  EXPECT_EQ(part_file(path).filename().string().size(), 255U);
  EXPECT_NE(part_file(path), part_file(folder_ / (std::string(254, 'x') + "y"))) << "two traces, side by side";
  EXPECT_EQ(part_file("a/b.json"), "a/b.json.part");
  EXPECT_THROW(write_file(path.string() + "x", [](std::ostream& out) { out << "x"; }), Error);
  EXPECT_EQ(count(), 1);
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

TEST_F(Files, ASymbolicLinkStaysAndItsTargetIsWritten) {
  const fs::path target = folder_ / "real" / "f", link = folder_ / "link", second = folder_ / "second";
  fs::create_directories(target.parent_path());
  fs::create_symlink("real/f", link);  // relative to where the link is
  fs::create_symlink(link, second);
  for (const char* text : {"new", "newer"}) {  // at first the target is not there
    write_file(second, [&](std::ostream& out) { out << text; });
    EXPECT_EQ(content(target), text);
    EXPECT_TRUE(fs::is_symlink(link) && fs::is_symlink(second));
  }
}

/// It was replaced by a file, and so was /dev/null where root wrote to it.
TEST_F(Files, APipeStaysOneAndIsWritten) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  replace_file(pipe, [](const fs::path& written) { std::ofstream(written) << "text"; });
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
  ::close(reader);
}

// `2>> log`, and `5> log` with more of the shell's before and after: the file was replaced, and what was in it lost.
TEST_F(Files, WhatIsOpenIsWrittenWhereItIs) {
  const fs::path path = folder_ / "log", link = folder_ / "link";
  std::ofstream(path) << "before\n";
  for (const int append : {O_APPEND, 0}) {
    const int fd = ::open(path.c_str(), O_WRONLY | append);
    ASSERT_GE(fd, 0);
    if (append == 0) ::lseek(fd, 0, SEEK_END);
    const std::string number = std::to_string(fd);
    fs::remove(link);
    fs::create_symlink("/dev/fd/" + number, link);
    for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number, link.string()}) {
      EXPECT_EQ(open_descriptor(name), fd) << name;
      write_file(name, [](std::ostream& out) { out << "x\n"; });
    }
    ASSERT_EQ(::write(fd, "after\n", 6), 6);
    ::close(fd);
  }
  EXPECT_EQ(content(path), "before\nx\nx\nx\nafter\nx\nx\nx\nafter\n");
  EXPECT_EQ(count(), 2);
}

TEST_F(Files, NamesOfOpenFilesAreTold) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) EXPECT_EQ(open_descriptor(name), 1);
  EXPECT_EQ(open_descriptor("/dev/stderr"), 2);
  for (const fs::path& name : {fs::path("./-"), folder_ / "1", folder_, fs::path("/dev/null"), fs::path("")})
    EXPECT_EQ(open_descriptor(name), -1) << name;
  EXPECT_THROW(write_file("/dev/fd/987", [](std::ostream& out) { out << "x"; }), Error);
}

TEST_F(Files, ModesAreThoseOfTheOldFileAndOfTheUmask) {
  const auto mode = [](const fs::path& path) { return fs::status(path).permissions(); };
  const mode_t before = ::umask(027);
  write_file(folder_ / "new", [](std::ostream& out) { out << "x"; });
  ::umask(before);
  EXPECT_EQ(mode(folder_ / "new"), fs::perms(0640));
  fs::permissions(folder_ / "new", fs::perms(0604));
  write_file(folder_ / "new", [](std::ostream& out) { out << "y"; });
  EXPECT_EQ(mode(folder_ / "new"), fs::perms(0604));
}

TEST_F(Files, AReadOnlyFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may write every file";
  write_file(folder_ / "f", [](std::ostream& out) { out << "old"; });
  fs::permissions(folder_ / "f", fs::perms(0444));
  EXPECT_THROW(write_file(folder_ / "f", [](std::ostream& out) { out << "new"; }), Error);
  EXPECT_EQ(content(folder_ / "f"), "old");
}

TEST_F(Files, ReadingWhatIsNotThereIsAnError) {
  EXPECT_THROW(read_file(folder_ / "none", [](std::istream&, const std::string&) {}), Error);
  EXPECT_THROW(read_file(folder_, [](std::istream&, const std::string&) {}), Error);
}

TEST_F(Files, WhatTheKernelTellsMayBeMissing) {
  const fs::path file = folder_ / "meminfo";
  EXPECT_EQ(text_if_any(file), "");
  EXPECT_EQ(text_if_any(file.parent_path()), "") << "can be opened, and not be read";
  EXPECT_EQ(kib_field(file, "MemTotal:"), 0);
  write_file(file, [](std::ostream& out) { out << "MemTotal:  2048 kB\nMemFree: 1 kB\n"; });
  EXPECT_EQ(text_if_any(file), "MemTotal:  2048 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(kib_field(file, "MemTotal:"), 2048 * 1024);
  EXPECT_EQ(kib_field(file, "MemAvailable:"), 0);
}

TEST_F(Files, WhatDoesNotEndIsNotReadToItsEnd) {
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/full"})
    EXPECT_THROW(read_text(device), Error) << device;
  EXPECT_EQ(read_text("/dev/null"), "");
  std::istringstream few("abc"), many(std::string(most_bytes_of_plan + 1, 'x'));
  EXPECT_EQ(read_text(few, "few", "", most_bytes_of_plan), "abc");
  EXPECT_THROW(read_text(many, "many", "", most_bytes_of_plan), ParseError);
  write_file(folder_ / "hole", [](std::ostream& out) { out << "x"; });
  fs::resize_file(folder_ / "hole", most_bytes_of_file + 1);
  EXPECT_THROW(read_text(folder_ / "hole"), Error);
}

TEST(Text, HasNoByteOrderMark) {
  std::istringstream marked("\xEF\xBB\xBF{}"), within("{\xEF\xBB\xBF}");
  EXPECT_EQ(read_text(marked, "marked", ""), "{}");
  EXPECT_EQ(read_text(within, "within", ""), "{\xEF\xBB\xBF}");
}

TEST(Lines, EndWithALineFeedOrBothOrTheFile) {
  constexpr std::size_t block = 4095;  // what read_line() takes at once
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, block - 1, block, block + 1, 2 * block + 7}) {
    const std::string text(length, 'x');
    for (const std::string end : {"\n", "\r\n", ""}) {
      std::istringstream in("first\r\n" + text + end);
      std::string line;
      ASSERT_TRUE(read_line(in, line, "f"));
      EXPECT_EQ(line, "first");
      EXPECT_EQ(read_line(in, line, "f"), !(text + end).empty()) << length;
      EXPECT_EQ(line, text) << length;
      EXPECT_FALSE(read_line(in, line, "f")) << length;
    }
  }
}

TEST(Lines, OfACompressedFileAreNone) {
  std::istringstream in("\x1F\x8B\x08 and so on\n");
  std::string line;
  EXPECT_THROW(read_line(in, line, "HPL.out.gz"), ParseError);
}

TEST_F(Files, ALinkToItselfIsNotWritten) {
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_THROW(write_file(folder_ / "loop", [](std::ostream& out) { out << "x"; }), Error);
  EXPECT_TRUE(fs::is_symlink(folder_ / "loop"));
}

TEST(Sha256, AgreesWithTheStandardsExample) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4
}

// Programs that run in other folders are told of files there.
TEST(TemporaryFolder, HasAnAbsolutePathWhereTmpdirHasNone) {
  const TemporaryFolder parent("hplcast-test");
  const fs::path before = fs::current_path();
  fs::create_directory(parent.path() / "scratch");
  fs::current_path(parent.path());
  {
    const tests::Variables tmpdir({{"TMPDIR", std::string("scratch")}});
    const TemporaryFolder folder("hplcast-test");
    EXPECT_EQ(folder.path().parent_path(), fs::current_path() / "scratch");
  }
  fs::current_path(before);
  const tests::Variables none({{"TMPDIR", std::string("/nowhere/at/all")}});
  EXPECT_EQ(temporary_place(), "/tmp");
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
