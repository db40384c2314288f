// BLAS libraries as they are found: those that Debian's packages of the build and of OpenBLAS bring along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/variables.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::filesystem::path reference = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3";

TEST(Blas, LibrariesTellTheirNameVersionAndThreads) {
  const BlasDescription open_blas = blas_of_library("libopenblas.so.0");
  EXPECT_THAT(open_blas.library, StartsWith("OpenBLAS 0."));
  EXPECT_THAT(open_blas.config, StartsWith(open_blas.library));
  EXPECT_NE(open_blas.core_type, "");
  EXPECT_GE(open_blas.threads, 1);
  EXPECT_TRUE(std::filesystem::is_regular_file(open_blas.file)) << open_blas.file;
}

TEST(Blas, LibrariesThatSayNothingAreNamedByTheirFiles) {
  if (!std::filesystem::exists(reference)) GTEST_SKIP() << "skipped: no " << reference;
  const BlasDescription blas = blas_of_library(reference);
  EXPECT_EQ(blas.library, std::filesystem::canonical(reference).filename());
  EXPECT_EQ(blas.threads, 0);
}

// Run by hand with LD_LIBRARY_PATH at libmkl-* of Debian's non-free part; blas_of_library() asks in a process of its
// own.
TEST(Blas, MklTellsTheProcessorsOfItsKernels) {
  BlasDescription blas;
  if (tests::error_in([&] { blas = blas_of_library("libmkl_rt.so"); }) != "") GTEST_SKIP() << "skipped: no MKL";
  EXPECT_THAT(blas.library, StartsWith("MKL 20"));
  EXPECT_THAT(blas.core_type, HasSubstr("processors"));
  EXPECT_GE(blas.threads, 1);
}

TEST(Blas, WhatIsNoneIsToldApart) {
  EXPECT_THAT(tests::error_in([] { blas_of_library("/nowhere/libx.so"); }), HasSubstr("/nowhere/libx.so is no BLAS"));
  EXPECT_THAT(tests::error_in([] { blas_of_library("libm.so.6"); }), HasSubstr("neither cblas_dgemm nor dgemm_"));
}

TEST(Blas, OfAProgramIsTheOneThatTheLoaderGivesIt) {
  const std::filesystem::path xhpl = HPLCAST_BINARY_DIR "/bin/hplcast-measure-dgemm";
  if (!std::filesystem::exists(xhpl)) GTEST_SKIP() << "skipped: the measuring programs are not built";
  const auto blas = blas_of_program(xhpl);
  ASSERT_TRUE(blas);
  EXPECT_THAT(blas->library, StartsWith("OpenBLAS"));
  EXPECT_FALSE(blas_of_program("/bin/sh"));
  EXPECT_FALSE(blas_of_program(HPLCAST_SOURCE_DIR "/test.sh"));
  const TemporaryFolder folder("my blas");
  std::filesystem::create_symlink(blas->file, folder.path() / "libopenblas.so.0");
  const tests::Variables variables({{"LD_LIBRARY_PATH", folder.path().string()}});
  EXPECT_TRUE(blas_of_program(xhpl)) << "its path has a blank";
}

}  // namespace
}  // namespace hplcast::core
