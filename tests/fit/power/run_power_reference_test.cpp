// Watts of the nodes of PCAD from whole runs, as its README has them.
#include <gtest/gtest.h>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/fit/run_power.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::fit {
namespace {

/// LULESH and CoMD of campaign a, whose set-up is short; idle nodes from the gaps between runs.
std::vector<RunEnergy> runs_of(const std::string& partition, const std::filesystem::path& means,
                               const std::filesystem::path& gaps) {
  std::vector<RunEnergy> runs;
  core::read_file(means, [&](std::istream& in, const std::string& name) {
    core::CsvReader csv(in, name);
    while (csv.next()) {
      if (csv.text(csv.column("partition")) != partition || csv.text(csv.column("campaign")) != "a" ||
          csv.text(csv.column("program")) == "minivite")
        continue;
      RunEnergy run;
      run.hosts = static_cast<int>(csv.integer(csv.column("nodes")));
      run.ranks_per_host = static_cast<int>(csv.integer(csv.column("ranks"))) / run.hosts;
      run.time_s = csv.positive(csv.column("time_mean_s"));
      run.energy_j = csv.positive(csv.column("energy_mean_j"));
      if (csv.has(csv.column("energy_sd_j"))) run.energy_sd_j = csv.positive(csv.column("energy_sd_j"));
      run.runs = static_cast<int>(csv.integer(csv.column("runs")));
      runs.push_back(run);
    }
  });
  core::read_file(gaps, [&](std::istream& in, const std::string& name) {
    core::CsvReader csv(in, name);
    while (csv.next()) {
      if (csv.text(csv.column("partition")) != partition) continue;
      RunEnergy run;
      run.time_s = csv.positive(csv.column("gap_s")) - 1.5;  // the readings lie 1 to 2 s closer together
      run.energy_j = csv.positive(csv.column("package0_j")) + csv.positive(csv.column("package1_j"));
      runs.push_back(run);
    }
  });
  return runs;
}

TEST(RunPowerOfPcad, CeiIsTheLineOfTheDatasReadme) {
  HPLCAST_REFERENCE_FILE(means, "pcad/means.csv");
  HPLCAST_REFERENCE_FILE(gaps, "pcad/gaps.csv");
  const RunPowerFit fit = fit_run_power(runs_of("cei", means, gaps));
  ASSERT_TRUE(fit.ok) << fit.reason;
  // 66.8 W + 2.4 W per rank + 87 J per node, found by eye from the same rows within 2.7 %: two standard errors.
  EXPECT_NEAR(fit.idle_w.value + fit.awake_w.value, 66.8, 2 * fit.awake_w.error);
  EXPECT_NEAR(fit.core_w.value, 2.4, 2 * fit.core_w.error);
  EXPECT_NEAR(fit.start_j.at("").value, 87, 2 * fit.start_j.at("").error);
  EXPECT_LT(fit.mean_abs_error(), 0.027);
  // Packages idle at 23 to 28 W over the whole gap.
  EXPECT_NEAR(fit.idle_w.value, 26, 2);
}

}  // namespace
}  // namespace hplcast::fit
