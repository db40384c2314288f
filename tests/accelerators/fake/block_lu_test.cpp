// examples/accelerators/block_lu.cpp under real MPI, each rank with a fake accelerator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast {
namespace {

struct Grid {
  int N, NB, P, Q;
  const char *split, *inner;
};

std::string output_of(const Grid& grid, const std::filesystem::path& calls = {}) {
  core::MpiLaunch launch;
  launch.ranks = grid.P * grid.Q;
  launch.bind = false;
  launch.oversubscribe = true;
  core::Command command = core::mpirun_command(launch, HPLCAST_BINARY_DIR "/tests/accelerators_block_lu");
  for (const int number : {grid.N, grid.NB, grid.P, grid.Q}) command.arguments.push_back(std::to_string(number));
  for (const char* text : {grid.split, grid.inner, "check"}) command.arguments.emplace_back(text);
  command.timeout_s = 120;
  if (!calls.empty()) command.environment["HPLCAST_FAKE_CALLS"] = calls.string();
  return core::run_checked(command).output;
}

TEST(BlockLu, SolvesItsSystemOnAllGridsAndItsProductsAreThoseOfTheClosedForm) {
  // Small: each column is an exchange between ranks that share cores.
  for (const Grid& grid : {Grid{256, 32, 1, 1, "0.3", "32"},
                           {160, 32, 1, 2, "0.3", "16"},
                           {160, 32, 2, 1, "0.5", "7"},
                           {120, 20, 2, 2, "0.3", "32"}}) {
    const std::string text = output_of(grid);
    SCOPED_TRACE(text);
    EXPECT_THAT(text, testing::HasSubstr("PASSED"));
    // Behind panel j: dgemm of the blocks below with those right of it, and with b.
    double flop = 0;
    for (double behind = grid.N - grid.NB; behind > 0; behind -= grid.NB) flop += 2 * behind * (behind + 1) * grid.NB;
    EXPECT_EQ(std::atof(text.c_str() + text.find("dgemm ") + 6), flop);
  }
}

TEST(BlockLu, ItsCallsAreWrittenWithTheirSizes) {
  const std::filesystem::path folder = HPLCAST_BINARY_DIR "/tests/fake-calls";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  output_of({256, 32, 1, 2, "0.3", "8"}, folder / "calls");
  double flop = 0, searched = 0, expected = 0;
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    ++files;
    core::read_file(file.path().string(), [&](std::istream& in, const std::string& name) {
      core::CsvReader rows(in, name);
      while (rows.next()) {
        const double product = rows.positive(rows.find_column("m")) * rows.positive(rows.find_column("n")) *
                               rows.positive(rows.find_column("k"));
        const std::string kernel(rows.text(rows.find_column("kernel")));
        if (kernel == "dgemm/NN") flop += 2 * product;
        if (kernel == "idamax") searched += product;
        EXPECT_GT(rows.positive(rows.find_column("duration_s")), 0) << kernel;
      }
    });
  }
  EXPECT_EQ(files, 2) << "one of each rank";
  // The updates behind a panel, with column b, and in it those right of each leaf of 8 columns.
  for (double behind = 256 - 32; behind >= 0; behind -= 32) {
    expected += 2 * behind * (behind + 1) * 32;
    for (double right = 32 - 8; right > 0; right -= 8) expected += 2 * (behind + right) * right * 8;
  }
  EXPECT_EQ(flop, expected);
  EXPECT_EQ(searched, 256 * 257 / 2) << "the pivot of column j is one of N - j elements";
}

}  // namespace
}  // namespace hplcast
