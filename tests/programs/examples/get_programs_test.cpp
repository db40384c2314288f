// get-scalapack, get-nas, get-hpcc, get-proxies without a network: wrong usage, and sources of the user that are not
// what they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Script {
  std::string name, source_variable, first_file;
};

class GetPrograms : public testing::TestWithParam<Script> {
 protected:
  core::CommandResult get(std::vector<std::string> arguments, const std::string& source = "/nowhere/source") const {
    core::Command command;
    command.program = HPLCAST_SOURCE_DIR "/examples/programs/" + GetParam().name;
    command.arguments = std::move(arguments);
    command.environment = {{GetParam().source_variable, source}};
    command.directory = folder_.path();
    command.timeout_s = 60;
    return core::run(command);
  }

  core::CommandResult get_from(const std::string& source) const {
    return get({"--build", HPLCAST_BINARY_DIR, "--output", (folder_.path() / "out").string()}, source);
  }

  const core::TemporaryFolder folder_{"hplcast-get-programs"};
};

TEST_P(GetPrograms, ExplainsItself) {
  const auto result = get({"--help"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr(GetParam().source_variable));
  EXPECT_THAT(result.output, HasSubstr("Exit codes"));
}

TEST_P(GetPrograms, RefusesWrongUsage) {
  EXPECT_EQ(get({}).status, 2);
  EXPECT_EQ(get({"--nonsense"}).status, 2);
  EXPECT_EQ(get({"folder"}).status, 2);
  EXPECT_EQ(get({"--build"}).status, 2);
  EXPECT_EQ(get({"--build", ""}).status, 2);
  EXPECT_EQ(get({"--build", HPLCAST_BINARY_DIR, "--jobs", "many"}).status, 2);
  EXPECT_EQ(get({"--build", HPLCAST_BINARY_DIR, "--jobs", "0"}).status, 2);
}

TEST_P(GetPrograms, NeedsABuiltHplcast) {
  const auto result = get({"--build", folder_.path().string()});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("bin/hplcast-cc is not there"));
}

TEST_P(GetPrograms, RefusesASourceThatIsNotThere) {
  const auto result = get_from("/nowhere/source");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr(GetParam().source_variable + "=/nowhere/source does not exist"));
}

TEST_P(GetPrograms, RefusesAFolderWithSomethingElse) {
  fs::create_directory(folder_.path() / "other");
  const auto result = get_from((folder_.path() / "other").string());
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("expected " + GetParam().first_file));
}

TEST_P(GetPrograms, RefusesADamagedTarball) {
  core::write_file(folder_.path() / "source.tar.gz", [](std::ostream& out) { out << "<html>not found</html>"; });
  const auto result = get_from((folder_.path() / "source.tar.gz").string());
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("cannot be unpacked"));
}

INSTANTIATE_TEST_SUITE_P(Scripts, GetPrograms,
                         testing::Values(Script{"get-scalapack", "SCALAPACK_SOURCE", "SRC/pdgetrf.f"},
                                         Script{"get-nas", "NAS_SOURCE", "EP/ep.f"},
                                         Script{"get-hpcc", "HPCC_SOURCE", "hpl/lib/arch/build/Makefile.hpcc"},
                                         Script{"get-proxies", "LULESH_SOURCE", "lulesh.cc"}),
                         [](const auto& script) { return script.param.source_variable; });

class GetScalapack : public GetPrograms {};

TEST_P(GetScalapack, TriesDebiansSourcePackageLastAndChecksItsSum) {
  const auto script = [&](const std::string& name, const std::string& text) {
    const fs::path file = folder_.path() / "fake" / name;
    core::write_file(file, [&](std::ostream& out) { out << "#!/bin/sh\n" << text << '\n'; });
    fs::permissions(file, fs::perms::owner_all);
  };
  fs::create_directory(folder_.path() / "fake");
  script("curl", "exit 7");
  script("apt-get",
         "case $1 in indextargets) echo http://mirror/debian bookworm main ;; esac\n"
         "for word; do case $word in source) echo damaged > scalapack_2.2.1.orig.tar.gz ;; esac; done");
  core::Command command;
  command.program = HPLCAST_SOURCE_DIR "/examples/programs/get-scalapack";
  command.arguments = {"--build", HPLCAST_BINARY_DIR, "--output", (folder_.path() / "out").string()};
  command.environment = {{"PATH", (folder_.path() / "fake").string() + ":" + std::getenv("PATH")},
                         {"SCALAPACK_SOURCE", ""}};
  const auto result = core::run(command);
  EXPECT_EQ(result.status, 6) << result.output;
  EXPECT_THAT(result.output, HasSubstr("trying the source package scalapack of http://mirror/debian bookworm main"));
  EXPECT_THAT(result.output, HasSubstr("wrong checksum of scalapack_2.2.1.orig.tar.gz"));
}

INSTANTIATE_TEST_SUITE_P(Scripts, GetScalapack,
                         testing::Values(Script{"get-scalapack", "SCALAPACK_SOURCE", "SRC/pdgetrf.f"}));

class GetNas : public GetPrograms {};

TEST_P(GetNas, RefusesAClassThatThereIsNot) {
  const auto result = get({"--build", HPLCAST_BINARY_DIR, "--class", "Q"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.output, HasSubstr("found 'Q'"));
}

TEST_P(GetNas, RefusesAVersionWithOtherPlacesForRegions) {
  for (const char* file : {"EP/ep.f", "LU/ssor.f", "LU/rhs.f", "common/randi8.f", "sys/setparams.c"}) {
    fs::create_directories((folder_.path() / "nas" / file).parent_path());
    core::write_file(folder_.path() / "nas" / file, [](std::ostream& out) { out << "      implicit none\n"; });
  }
  const auto result = get_from((folder_.path() / "nas").string());
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("expected places for 16 marks of regions, found 0"));
}

class GetProxies : public GetPrograms {};

TEST_P(GetProxies, RefusesAVersionWithOtherPlacesForRegions) {
  for (const char* file : {"lulesh.cc", "lulesh-util.cc", "lulesh-init.cc"}) {
    fs::create_directories(folder_.path() / "lulesh");
    core::write_file(folder_.path() / "lulesh" / file, [](std::ostream& out) { out << "int main() {}\n"; });
  }
  const auto result = get_from((folder_.path() / "lulesh").string());
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("expected places for 16 marks of regions, found 0"));
}

INSTANTIATE_TEST_SUITE_P(Scripts, GetProxies, testing::Values(Script{"get-proxies", "LULESH_SOURCE", "lulesh.cc"}));

INSTANTIATE_TEST_SUITE_P(Scripts, GetNas, testing::Values(Script{"get-nas", "NAS_SOURCE", "EP/ep.f"}));

}  // namespace
}  // namespace hplcast
