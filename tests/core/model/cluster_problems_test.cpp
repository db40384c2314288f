#include "hplcast/core/doubts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

std::string example() {
  std::ifstream in(HPLCAST_SOURCE_DIR "/tests/cli/bad_inputs/base/cluster.json");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Problem> problems_of(const std::string& text) {
  std::istringstream in(text);
  return cluster_problems(in, "c.json");
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ClusterProblems, AGoodFileHasNone) {
  for (const Problem& problem : problems_of(example())) ADD_FAILURE() << problem.field << ": " << problem.message;
}

TEST(ClusterProblems, AFitOfDgemmThatExplainsLittleIsToldOnce) {
  const auto problems = problems_of(with(example(), "\"r2\": 0.99", "\"r2\": 0.374"));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_FALSE(problems[0].is_error);
  EXPECT_EQ(problems[0].field, "/kernels/dgemm");
  EXPECT_THAT(problems[0].message, HasSubstr("explains 37.4 %"));

  std::istringstream in(with(example(), "\"r2\": 0.99", "\"r2\": 0.374"));
  ClusterModel cluster = read_cluster(in, "c.json");
  const auto flag = formula_flag(cluster);
  ASSERT_TRUE(flag);
  EXPECT_EQ(flag->flag, "no_fit");
  EXPECT_EQ(model_doubts(cluster).size(), 1U);
  cluster.provenance =
      R"({"quality_flags": [{"subject": "dgemm", "flag": "no_fit", "detail": ")" + flag->detail + "\"}]}";
  EXPECT_EQ(model_doubts(cluster).size(), 1U) << "as `fit cluster` has said";
}

TEST(ClusterProblems, OfRoutinesAndRegionsOfAProgramThatTakeNoTimeAreTold) {
  std::istringstream in(example());
  ClusterModel cluster = read_cluster(in, "c.json");
  const KernelModel negative = KernelModel::make(
      "M1", PiecewiseLaw(DurationLaw::make(Polynomial::make({{1, 1, 1}}, {-1e-10}), {}, NoiseFamily::none)));
  ProgramModel& program = cluster.program.emplace();
  program.routines["dgemv/T"] = negative;
  program.regions["stencil"].mode = RegionMode::model;
  program.regions["stencil"].model = negative;
  std::string told;
  for (const QualityFlag& flag : doubts(cluster)) told += flag.subject + ": " + flag.flag + "\n";
  EXPECT_EQ(told, "/program/routines/dgemv/T/mu: never_positive\n/program/regions/stencil/mu: never_positive\n");
}

TEST(ClusterProblems, BytesOfZeroBehindTheEndAreTold) {
  const auto problems = problems_of(example() + std::string("\0{", 2));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].is_error);
  EXPECT_THAT(problems[0].message, HasSubstr("bytes of 0 behind its end"));
}

TEST(ClusterProblems, TellsAllAtOnce) {
  std::string text = with(example(), "\"cores\"", "\"core\"");
  text = with(text, "\"max_bytes\"", "\"max_byte\"");
  const auto problems = problems_of(text);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].field, "/hosts/core");
  EXPECT_EQ(problems[0].hint, "did you mean `cores`?");
  EXPECT_EQ(problems[1].field, "/hosts/cores");
  EXPECT_EQ(problems[1].message, "missing");
  EXPECT_EQ(problems[2].field, "/network/local/max_byte");
}

TEST(ClusterProblems, TellsValuesOutOfRangeAtOnceTooAndNothingThatFollowsFromAnother) {
  std::string text = with(example(), "\"cores\": 4", "\"cores\": 100000000");
  text = with(text, "\"noise\"", "\"nose\"");  // `none`, in its place, would not go with the sigma
  const auto problems = problems_of(text);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].field, "/hosts");
  EXPECT_EQ(problems[0].message, "`cores` is 100000000; expected at most 1000000 per host");
  EXPECT_EQ(problems[1].hint, "did you mean `noise`?");
  EXPECT_EQ(problems[2].message, "missing");
}

TEST(ClusterProblems, WarnsOfWhatCanBeReadButIsHardlyMeant) {
  const auto problems = problems_of(with(example(), "\"mnk\": 7e-11,\n        \"1\": 5e-07", "\"mnk\": -7e-11"));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_FALSE(problems[0].is_error);
  EXPECT_EQ(problems[0].field, "/kernels/dgemm/mu");
}

TEST(ClusterProblems, DeepNestingEndsAtOnce) {
  const auto problems = problems_of(std::string(1000000, '['));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].message, HasSubstr("levels deep"));
}

}  // namespace
}  // namespace hplcast::core
