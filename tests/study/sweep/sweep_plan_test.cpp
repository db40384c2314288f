#include "hplcast/study/sweep_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/sweep_database.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

SweepPlan plan(const std::string& text, const std::string& folder = HPLCAST_SOURCE_DIR "/examples") {
  std::istringstream in(text);
  return read_plan(in, "plan.yaml", folder);
}

std::string error_of(const std::string& text) {
  return error_in([&] { plan(text); });
}

constexpr const char* head = "cluster: dahu-like.json\n";

TEST(SweepPlan, CrossesFactorsWithRowsOfTheListAndSeeds) {
  const auto read = plan(std::string(head) +
                         "seeds: [1, 2, 3]\nfixed: {N: 1000}\nfactors:\n  NB: [64, 128]\n  BCAST: [1ring, longM]\n"
                         "list:\n  - {P: 1, Q: 4}\n  - {P: 2, Q: 2}\n");
  EXPECT_EQ(run_count(read), 24);
  const auto all = configurations(read);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_THAT(to_string(all.front()), ::testing::EndsWith("N=1000 NB=64 BCAST=0 P=1 Q=4"));
  EXPECT_THAT(to_string(all.back()), ::testing::EndsWith("N=1000 NB=128 BCAST=5 P=2 Q=2"));
}

TEST(SweepPlan, MakesAllGridsOfANumberOfRanks) {
  const auto read = plan(std::string(head) + "factors: {N: [1000], grid: [3x5, 960]}\n");
  EXPECT_EQ(read.factors[1].levels.size(), 29U);  // 960 has 28 divisors
  EXPECT_EQ(read.factors[1].levels[1], "1x960");
  const auto of_the_page = plan(std::string(head) + "factors: {N: [1000], grid: [30x32, 960]}\n");
  EXPECT_EQ(of_the_page.factors[1].levels.size(), 28U);
  EXPECT_EQ(of_the_page.factors[1].levels[0], "30x32");
}

TEST(SweepPlan, HasAFactorInOnePart) {
  const std::string begin = std::string(head) + "fixed: {N: 1000, scale-dgemm: 2}\nfactors: {scale-dgemm: [1, 2]}\n";
  EXPECT_NO_THROW(plan(begin));
  EXPECT_THAT(error_of(begin + "list: [{NB: 8}, {scale-dgemm: 4}]\n"),
              HasSubstr("`scale-dgemm`: found in factors and list"));
  EXPECT_THAT(error_of(begin + "sample: {count: 2, factors: {scale-dgemm: {min: 1, max: 2}}}\n"),
              HasSubstr("found in factors and sample"));
}

TEST(SweepPlan, DrawsNumbersThatTheStepReaches) {
  const auto drawn = [](const std::string& range) {
    std::set<std::string> values;
    for (const Configuration& row :
         configurations(plan(std::string(head) + "sample: {count: 60, factors: {N: {" + range + "}}}\n")))
      values.insert(row.back().value);
    return values;
  };
  EXPECT_EQ(drawn("min: 64, max: 200, step: 64"), (std::set<std::string>{"64", "128", "192"}));
  EXPECT_EQ(drawn("min: 64, max: 192, step: 64, log: true"), (std::set<std::string>{"64", "128", "192"}));
  EXPECT_EQ(drawn("min: 1, max: 3"), (std::set<std::string>{"1", "2", "3"}));
  for (const char* broken : {"min: 1.5, max: 2.5", "min: 1, max: 8, step: 0", "min: 1, max: 8, step: 0.5"})
    EXPECT_THAT(error_of(std::string(head) + "sample: {count: 2, factors: {N: {" + broken + "}}}\n"),
                HasSubstr("whole numbers"));
}

TEST(SweepPlan, ARangeHasBothOfItsEndsAndNumbersThatHplHas) {
  const auto error_of_range = [](const std::string& factor, const std::string& range) {
    return error_of(std::string(head) + "sample: {count: 2, factors: {" + factor + ": {" + range + "}}}\n");
  };
  for (const char* half : {"", "min: 0.5", "max: 3"}) {  // a missing end was 0, or 1
    EXPECT_THAT(error_of_range("scale-dgemm", half), HasSubstr("a range without min or max"));
    EXPECT_THAT(error_of_range("/network/iprobe_s", half), HasSubstr("a range without min or max"));
  }
  EXPECT_THAT(error_of_range("swap_threshold", "min: 1, max: 1e20"), HasSubstr("found `1e20`; expected whole numbers"));
}

TEST(SweepPlan, LatinHypercubeHasOneValueInEveryPartOfARange) {
  const auto read = plan(std::string(head) +
                         "sample: {count: 50, seed: 3, factors: {scale-dgemm: {min: 1, max: 2}, N: {min: 1, max: 50}, "
                         "scale-latency: {min: 0.01, max: 100, log: true}}}\n");
  std::set<int> parts, decades;
  std::set<std::string> orders;
  for (const auto& row : configurations(read)) {
    parts.insert(static_cast<int>((std::stod(row[1].value) - 1) * 50));
    orders.insert(row[2].value);
    decades.insert(static_cast<int>((std::log10(std::stod(row[3].value)) + 2) / 4 * 50));
  }
  EXPECT_EQ(parts.size(), 50U);
  EXPECT_EQ(orders.size(), 50U);  // 50 orders, 50 runs: each once
  EXPECT_EQ(decades.size(), 50U);
}

TEST(SweepPlan, DrawsTheSameSampleAgain) {
  const std::string text =
      std::string(head) + "sample: {method: random, count: 9, factors: {N: {min: 100000, max: 900000}}}\n";
  const auto first = configurations(plan(text)), second = configurations(plan(text));
  EXPECT_EQ(first, second);
  for (const auto& row : first) EXPECT_GE(std::stoll(row.back().value), 100000) << row.back().value;
}

TEST(SweepPlan, SaysLineAndFieldOfMistakes) {
  EXPECT_THAT(error_of("factors: {N: [1]}\n"), HasSubstr("cluster"));
  EXPECT_THAT(error_of(std::string(head) + "factors:\n  colour: [red]\n"), HasSubstr("plan.yaml:3"));
  EXPECT_THAT(error_of(std::string(head) + "factors:\n  BCAST: [4ring]\n"), HasSubstr("1ring"));
  EXPECT_THAT(error_of(std::string(head) + "factors:\n  grid: [4by4]\n"), HasSubstr("PxQ"));
  EXPECT_THAT(error_of(std::string(head) + "factors:\n  NB: []\n"), HasSubstr("at least one"));
  EXPECT_THAT(error_of(std::string(head) + "factors:\n  NB: [8, 8]\n"), HasSubstr("twice"));
  EXPECT_THAT(error_of(std::string(head) + "seeds: [-1]\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of(std::string(head) + "sample: {count: 3}\n"), HasSubstr("factors"));
  EXPECT_THAT(error_of(std::string(head) + "colour: red\n"), HasSubstr("unknown key"));
  EXPECT_THAT(error_of(std::string(head) + "name: a\nname: b\n"), HasSubstr("twice"));
  EXPECT_THAT(error_of(std::string(head) + "factors: {NB: [64]}\n"), HasSubstr("`N`: missing"));
  EXPECT_THAT(error_of("a: [b\n"), HasSubstr("plan.yaml:"));
  EXPECT_THAT(error_of(""), HasSubstr("not a map"));
}

TEST(SweepPlan, RefusesAGridBesideItsSides) {
  for (const char* both :
       {"fixed: {N: 1000, P: 3, grid: 2x2}\n", "fixed: {N: 1000}\nfactors: {P: [1, 2], grid: [2x2]}\n",
        "fixed: {N: 1000}\nfactors: {Q: [1, 2]}\nlist: [{DEPTH: 0}, {grid: 2x2}]\n",
        "fixed: {N: 1000}\nfactors: {grid: [4]}\nsample: {count: 2, factors: {P: [1, 2]}}\n"})
    EXPECT_THAT(error_of(std::string(head) + both), HasSubstr("`grid`: found beside P or Q"));
  // Each row says it in its way; a factor takes the place of what is fixed.
  EXPECT_EQ(configurations(plan(std::string(head) + "fixed: {N: 1000}\nlist: [{P: 1, Q: 4}, {grid: 2x2}]\n")).size(),
            2U);
  EXPECT_EQ(configurations(plan(std::string(head) + "fixed: {N: 1000, P: 2, Q: 2}\nfactors: {grid: [4]}\n")).size(),
            3U);
}

TEST(SweepPlan, CountsAPlanOfMillionsWithoutMakingIt) {
  std::string text = std::string(head) + "sample: {count: 100000, factors: {N: {min: 1, max: 9}}}\nfactors:\n  NB: [1";
  for (int i = 2; i <= 100; ++i) text += ", " + std::to_string(i);
  EXPECT_EQ(run_count(plan(text + "]\n")), 1e7);
}

TEST(SweepPlan, PlansOfTheExamplesAskForWhatTheirPageSays) {
  const std::string examples = HPLCAST_SOURCE_DIR "/examples/";
  const auto runs_in = [&](const std::string& path) {
    std::ifstream in(examples + path);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto read = plan(text, std::filesystem::path(examples + path).parent_path().string());
    const SweepRuns runs = runs_of(read);
    EXPECT_TRUE(runs.skipped.empty()) << path;
    return runs.runs.size();
  };
  EXPECT_EQ(runs_in("matrix-size/plan.yaml"), 60U);
  EXPECT_EQ(runs_in("geometry/plan.yaml"), 28U);
  EXPECT_EQ(runs_in("factorial/plan.yaml"), 72U);
  EXPECT_EQ(runs_in("eviction/plan-nodes.yaml"), 28U);
  EXPECT_EQ(runs_in("eviction/plan-switches.yaml"), 8U);
}

TEST(SweepRuns, SkipsWhatCannotRunAndSaysWhy) {
  const auto runs =
      runs_of(plan(std::string(head) + "fixed: {N: 1000}\nfactors:\n  grid: [2x2, 64x64]\n  remove-nodes: [1, 40]\n"));
  EXPECT_EQ(runs.runs.size(), 1U);
  ASSERT_EQ(runs.skipped.size(), 3U);
  EXPECT_THAT(runs.skipped[0].reason, HasSubstr("number of hosts"));
  EXPECT_THAT(runs.skipped[1].reason, HasSubstr("ranks"));
}

TEST(SweepRuns, EqualSimulationsAreOneRunOfSeveralPoints) {
  const auto runs = runs_of(plan(std::string(head) + "fixed: {N: 1000}\nfactors:\n  P: [1, 2]\n  DEPTH: [0]\n"
                                                     "list: [{Q: 1}, {Q: 1, SWAP: long}]\n"));
  EXPECT_EQ(runs.points.size(), 4U);
  EXPECT_EQ(runs.runs.size(), 2U);
}

TEST(SweepRuns, OfOtherWindowsAreOtherRuns) {
  const auto runs =
      runs_of(plan(std::string(head) + "fixed: {N: 20000, NB: 40}\nfactors: {windows: [auto, off, 3:16]}\n"));
  ASSERT_EQ(runs.runs.size(), 3U);
  EXPECT_EQ(runs.runs[0].windows.kind, WindowRule::Kind::automatic);
  EXPECT_EQ(runs.runs[1].windows.kind, WindowRule::Kind::off);
  EXPECT_EQ(to_string(runs.runs[2].windows), "3:16");
  const auto narrower =
      runs_of(plan(std::string(head) + "fixed: {N: 20000, NB: 40}\nfactors: {target-error: [1%, 0.5%]}\n"));
  ASSERT_EQ(narrower.runs.size(), 2U);
  EXPECT_DOUBLE_EQ(request_of(narrower.runs[1]).target_error, 0.005);
  const auto wide = runs_of(plan(std::string(head) + "fixed: {N: 20000, NB: 40}\nwindows: 3:400\n"));
  ASSERT_EQ(wide.skipped.size(), 1U);
  EXPECT_THAT(wide.skipped[0].reason, HasSubstr("windows"));
}

TEST(SweepRuns, SetsFieldsOfTheCluster) {
  const auto runs = runs_of(plan(
      std::string(head) + "fixed: {N: 1000}\nfactors: {/network/iprobe_s: [1e-6, 2e-6], kernel-model: [full, M1]}\n"));
  EXPECT_EQ(runs.clusters.size(), 4U);
  std::set<double> costs;
  for (const auto& [sha256, cluster] : runs.clusters) costs.insert(cluster.network.values().iprobe_s);
  EXPECT_EQ(costs, (std::set<double>{1e-6, 2e-6}));
  const SweepRuns last_one_holds = runs_of(plan(std::string(head) + "fixed: {N: 1000, kernel-model: M1, noise: off}\n"
                                                                    "factors: {kernel-model: [full], noise: [on]}\n"));
  EXPECT_TRUE(last_one_holds.runs.front().levels.empty());
  EXPECT_THROW(runs_of(plan(std::string(head) + "factors: {/network/colour: [1]}\n")), core::Error);
}

TEST(SweepRuns, SkipsFieldsThatTheClusterCannotHaveAndSetsThoseItLacks) {
  const auto runs = runs_of(plan(std::string(head) + "fixed: {N: 1000}\nfactors: {/network/iprobe_s: [1e-7, -1, fast],"
                                                     " /network/local/first_use_s_per_byte: [0, 1e-10, -1]}\n"));
  EXPECT_EQ(runs.runs.size(), 2U);
  EXPECT_EQ(runs.skipped.size(), 7U);
  std::string reasons;
  for (const auto& one : runs.skipped) reasons += one.reason + "\n";
  EXPECT_THAT(reasons, HasSubstr("`/network/iprobe_s` is -1; expected a valid cluster.json: "));
  EXPECT_THAT(reasons, HasSubstr("expected a number of at least 0"));
  EXPECT_THAT(reasons, HasSubstr("`/network/local/first_use_s_per_byte` is -1; expected a valid cluster.json: "));
  std::set<double> costs;
  for (const auto& [sha256, cluster] : runs.clusters)
    costs.insert(cluster.network.scope(core::Scope::local).first_use_s_per_byte);
  EXPECT_EQ(costs, (std::set<double>{0, 1e-10}));
}

TEST(SweepCsv, HasEachColumnOnceWhateverTheFactorsAreCalled) {
  SweepResult result;
  result.factors = {{"cluster", "a.json"}, {"scale-dgemm", "2"}};
  result.prediction.cluster = "model a";
  std::ostringstream out;
  write_sweep_csv(out, {result});
  std::istringstream header(out.str().substr(0, out.str().find('\n')));
  std::set<std::string> columns;
  for (std::string column; std::getline(header, column, ',');)
    EXPECT_TRUE(columns.insert(column).second) << column << " is there twice";
  EXPECT_EQ(columns.count("cluster") + columns.count("cluster_name"), 2U);
}

}  // namespace
}  // namespace hplcast::study
