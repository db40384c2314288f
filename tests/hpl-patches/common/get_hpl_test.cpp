// get-hpl without a network: sources given by the user, damaged ones, and places that do not answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hpl-patches/runs.hpp"

namespace hplcast::hpl_patches {
namespace {

using ::testing::HasSubstr;

/// What get-hpl looks at in a source tree: the version in hpl.h and whether main is called HPL_main.
void make_tree(const fs::path& root, const std::string& version, bool hpcc) {
  write_text(root / "include/hpl.h", "/*\n *    HPL - " + version + " - some date\n */\n");
  write_text(root / "src/pgesv/HPL_pdgesv.c", "int pdgesv;\n");
  write_text(root / "testing/ptest/HPL_pddriver.c", hpcc ? "int HPL_main(void);\n" : "int main(void);\n");
}

class GetHpl : public ::testing::Test {
 protected:
  core::CommandResult get(const std::string& hpl_source, std::vector<std::string> arguments = {}) const {
    core::Command command;
    command.program = HPLCAST_SOURCE_DIR "/hpl-patches/get-hpl";
    arguments.insert(arguments.begin(), {"--output", output().string()});
    command.arguments = std::move(arguments);
    command.environment = {{"HPL_SOURCE", hpl_source}};
    command.directory = folder_.path();
    command.timeout_s = 60;
    return core::run(command);
  }

  /// Nothing beyond this machine is asked.
  core::CommandResult get_offline(std::vector<std::string> arguments) const {
    arguments.emplace_back("--no-debian");
    return get("", std::move(arguments));
  }

  fs::path tree(const std::string& name, const std::string& version = "2.3", bool hpcc = false) const {
    make_tree(folder_ / name, version, hpcc);
    return folder_ / name;
  }

  /// A tarball of a tree.
  fs::path tarball(const std::string& name) const {
    tree("packed/hpl-2.3");
    core::run_checked({"tar",
                       {"-czf", (folder_ / name).string(), "-C", (folder_ / "packed").string(), "hpl-2.3"},
                       {},
                       {},
                       {},
                       60,
                       {}});
    return folder_ / name;
  }

  fs::path output() const { return folder_ / "got/hpl source"; }
  std::string description() const { return read_text(output() / "HPLCAST_SOURCE"); }
  bool nothing_left() const { return !fs::exists(folder_ / "got") || fs::is_empty(folder_ / "got"); }

  ScratchFolder folder_;
};

TEST_F(GetHpl, ExplainsItself) {
  const auto result = get("", {"--help"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("Exit codes"));
}

TEST_F(GetHpl, RefusesWrongUsage) {
  EXPECT_EQ(get("", {"--nonsense"}).status, 2);
  EXPECT_EQ(get("", {"--netlib-url"}).status, 2);
  EXPECT_EQ(get("", {"--sha256", "12"}).status, 2);
  EXPECT_EQ(get("", {"--sha256", std::string(64, 'a')}).status, 2) << "a sum of nothing: HPL_SOURCE is not set";
}

TEST_F(GetHpl, CopiesAFolderAndTellsItsVariant) {
  for (const auto& [version, hpcc, variant] : {std::tuple{"2.3", false, "hpl-2.3"},
                                               {"2.2", false, "hpl-2.2"},
                                               {"2.1", false, "hpl-2.1"},
                                               {"2.0", true, "hpcc-hpl-2.0"}}) {
    const auto source = tree(variant, version, hpcc);
    const auto result = get(source.string());
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(description(), HasSubstr("variant=" + std::string(variant) + "\norigin=" + source.string() + "\n"));
    EXPECT_TRUE(fs::exists(output() / "src/pgesv/HPL_pdgesv.c"));
  }
}

TEST_F(GetHpl, FindsHplInsideHpcChallenge) {
  make_tree(folder_ / "hpcc-1.5.0/hpl", "2.0", true);
  EXPECT_EQ(get((folder_ / "hpcc-1.5.0").string()).status, 0);
  EXPECT_TRUE(fs::exists(output() / "include/hpl.h"));
}

TEST_F(GetHpl, DoesNothingTheSecondTime) {
  const auto source = tree("hpl").string();
  get(source);
  const auto time = fs::last_write_time(output() / "HPLCAST_SOURCE");
  const auto again = get(source);
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.output, HasSubstr("already in"));
  EXPECT_EQ(fs::last_write_time(output() / "HPLCAST_SOURCE"), time);
}

TEST_F(GetHpl, FollowsAChangedSource) {
  const auto source = tree("hpl");
  get(source.string());
  write_text(source / "src/pgesv/HPL_pdgesv.c", "int changed;\n");
  get(source.string());
  EXPECT_EQ(read_text(output() / "src/pgesv/HPL_pdgesv.c"), "int changed;\n");
  get(tree("other", "2.2").string());
  EXPECT_THAT(description(), HasSubstr("variant=hpl-2.2\n"));
}

TEST_F(GetHpl, KeepsWhatItHasWhenTheNewSourceIsBad) {
  get(tree("hpl").string());
  EXPECT_EQ(get(folder_.path().string() + "/not there").status, 3);
  EXPECT_THAT(description(), HasSubstr("variant=hpl-2.3\n"));
}

TEST_F(GetHpl, ReplacesNothingThatItDidNotMake) {
  write_text(output() / "diary.txt", "dear diary");
  EXPECT_EQ(get(tree("hpl").string()).status, 2);
  EXPECT_TRUE(fs::exists(output() / "diary.txt"));
}

TEST_F(GetHpl, SaysWhenItCannotWrite) {
  write_text(folder_ / "file", "not a folder");
  const auto result = get(tree("hpl").string(), {"--output", (folder_ / "file/source").string()});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("cannot write to"));
}

TEST_F(GetHpl, UnpacksATarball) {
  const auto result = get(tarball("my.tar.gz").string());
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(description(), HasSubstr("variant=hpl-2.3\n"));
}

TEST_F(GetHpl, ChecksTheSumThatTheUserGives) {
  const auto source = tarball("my.tar.gz");
  const auto sum = core::sha256_hex(read_text(source));
  const auto wrong = get(source.string(), {"--sha256", std::string(64, '0')});
  EXPECT_EQ(wrong.status, 3);
  EXPECT_THAT(wrong.output, HasSubstr("wrong checksum"));
  EXPECT_TRUE(nothing_left());
  EXPECT_EQ(get(source.string(), {"--sha256", sum}).status, 0);
  EXPECT_THAT(description(), HasSubstr("sha256=" + sum));
}

TEST_F(GetHpl, RefusesATarballThatBearsAReleasesNameButIsNotIt) {
  const auto result = get(tarball("hpl-2.3.tar.gz").string());
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("32c5c17d22330e6f2337b681aded51637fb6008d3f0eb7c277b163fadd612830"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(GetHpl, RefusesWhatIsNotHpl) {
  fs::create_directory(folder_ / "empty");
  write_text(folder_ / "text.tar.gz", "not a tarball");
  for (const std::string name : {"empty", "text.tar.gz", "absent"}) {
    const auto result = get((folder_ / name).string());
    EXPECT_EQ(result.status, 3) << name;
    EXPECT_THAT(result.output, HasSubstr(name));
    EXPECT_TRUE(nothing_left()) << name;
  }
}

TEST_F(GetHpl, RefusesADownloadWithAWrongChecksum) {
  write_text(folder_ / "page.html", "<html>please log in</html>");
  std::string url = "file://" + folder_.path().string() + "/page.html";
  for (const auto& [character, code] : {std::pair{" ", "%20"}, {"'", "%27"}}) url.replace(url.find(character), 1, code);
  const auto result = get_offline({"--netlib-url", url});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("wrong checksum"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(GetHpl, FindsOutWithinSecondsThatNothingAnswers) {
  // Port 9 of this machine: refused at once. An unreachable network is cut off by the limit of 5 s to connect.
  const auto result = get_offline({"--netlib-url", "http://127.0.0.1:9/hpl-2.3.tar.gz"});
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.output, HasSubstr("HPL_SOURCE"));
  EXPECT_LT(result.wall_s, 15);
  EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace hplcast::hpl_patches
