// HPL.dat files with grids of fewer ranks than there are: HPL leaves the others out until the next grid.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "tests/hpl-patches/runs.hpp"

namespace hplcast::hpl_patches {
namespace {

class SeveralGrids : public ::testing::Test {
 protected:
  /// The result of the simulation of `runs` configurations: all sizes on all grids, on so many ranks.
  nlohmann::json simulate(const std::string& sizes, const std::string& grids, int ranks, std::size_t runs) const {
    write_text(folder_ / "HPL.dat", "HPL\ngrids\nHPL.out\n6\n" + sizes + "1\n64\n0\n" + grids +
                                        "-1.0\n1\n1\n1\n4\n1\n2\n1\n1\n1\n1\n1\n1\n1\n64\n0\n0\n1\n8\n");
    const std::string cluster = HPLCAST_SOURCE_DIR "/examples/dahu-like.json";
    core::write_file(folder_ / "hostfile", [&](std::ostream& out) {
      platforms::write_hostfile(out, core::read_from(cluster, core::read_cluster), ranks);
    });
    core::SimulationSettings settings;
    settings.cluster = cluster;
    settings.result = (folder_ / "stats.json").string();
    const fs::path file = folder_ / "settings.json";
    core::write_file(file, [&](std::ostream& out) { core::write_simulation_settings(out, settings); });
    core::Command command;
    command.program = HPLCAST_SMPIRUN;
    command.arguments = {"-np",      std::to_string(ranks), "-hostfile",
                         "hostfile", "-platform",           HPLCAST_BINARY_DIR "/lib/libhplcast-platform.so"};
    for (const std::string& option : platforms::smpi_options()) command.arguments.push_back(option);
    command.arguments.insert(command.arguments.end(), {"--cfg=smpi/privatization:no", program_path("xhpl-smpi")});
    command.environment = run_environment();
    command.environment["HPLCAST_SIMULATION"] = file.string();
    command.directory = folder_.path();
    command.timeout_s = 300;
    const core::CommandResult result = core::run(command);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(runs_in(result.output).size(), runs) << result.output;
    return nlohmann::json::parse(read_text(folder_ / "stats.json"));
  }

  const ScratchFolder folder_;
};

TEST_F(SeveralGrids, OfDifferentSizesAreFactoredOneAfterTheOther) {
  // Also with more panels than the grid before had.
  const auto result = simulate("2\n300 1000\n", "3\n1 2 1\n2 3 1\n", 6, 6);
  EXPECT_EQ(result.at("times_s").size(), 6U);
  EXPECT_EQ(result.at("panels").at("marks_s").size(), 1000 / 64 + 1 + 2U) << "of the last run: begin, panels, end";
}

TEST_F(SeveralGrids, BeginPanelsInTheMeanOfTheirOwnRanks) {
  const auto factored_s = [&](int ranks) {
    const auto marks_s =
        simulate("1\n1000\n", "1\n2\n2\n", ranks, 1).at("panels").at("marks_s").get<std::vector<double>>();
    return marks_s.back() - marks_s.front();
  };
  // The factorisation is the same; it begins at another date, of which dates and sums have the rounding.
  EXPECT_NEAR(factored_s(8) / factored_s(4), 1, 1e-9);
}

}  // namespace
}  // namespace hplcast::hpl_patches
