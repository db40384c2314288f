// examples/accelerators/block_lu.cpp under real MPI, each rank with a fake accelerator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "hplcast/core/process.hpp"

namespace hplcast {
namespace {

struct Grid {
  int N, NB, P, Q;
  const char *split, *inner;
};

std::string output_of(const Grid& grid) {
  core::MpiLaunch launch;
  launch.ranks = grid.P * grid.Q;
  launch.bind = false;
  launch.oversubscribe = true;
  core::Command command = core::mpirun_command(launch, HPLCAST_BINARY_DIR "/tests/accelerators_block_lu");
  for (const int number : {grid.N, grid.NB, grid.P, grid.Q}) command.arguments.push_back(std::to_string(number));
  for (const char* text : {grid.split, grid.inner, "check"}) command.arguments.emplace_back(text);
  command.timeout_s = 120;
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

}  // namespace
}  // namespace hplcast
