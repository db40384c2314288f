// How a sweep is shown: its factors, and its report.
#include "study/report/report_sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/study/report.hpp"

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

SweepResult result(Configuration factors, double gflops, long long N = 1000, int P = 1, int Q = 1) {
  SweepResult one;
  one.factors = std::move(factors);
  one.prediction.parameters.N = N;
  one.prediction.parameters.P = P;
  one.prediction.parameters.Q = Q;
  one.prediction.gflops = gflops;
  one.prediction.time_s = 1;
  one.prediction.cluster = "cluster";
  return one;
}

ReportData report_of(std::vector<SweepResult> results) {
  ReportData data;
  for (const SweepResult& one : results) data.predictions.push_back(one.prediction);
  data.sweep = std::move(results);
  return data;
}

std::string page_of(const ReportData& data) {
  std::ostringstream out;
  write_report(out, data);
  return out.str();
}

TEST(SweepView, LevelsAreInTheirNaturalOrderAndNamed) {
  const auto factors = view_factors({result({{"NB", "64"}, {"BCAST", "4"}, {"remove-nodes", "12:slowest"}}, 1),
                                     result({{"NB", "128"}, {"BCAST", "0"}, {"remove-nodes", "none"}}, 2),
                                     result({{"NB", "64"}, {"BCAST", "0"}, {"remove-nodes", "2:slowest"}}, 3)},
                                    {});
  ASSERT_EQ(factors.size(), 3U);
  EXPECT_THAT(factors[0].levels, ElementsAre("64", "128"));
  EXPECT_THAT(factors[0].numbers, ElementsAre(64, 128));
  EXPECT_THAT(factors[0].of, ElementsAre(0, 1, 0));
  EXPECT_THAT(factors[1].levels, ElementsAre("1ring", "long"));
  EXPECT_TRUE(factors[1].numbers.empty());  // HPL's numbers are names
  EXPECT_THAT(factors[2].levels, ElementsAre("none", "2:slowest", "12:slowest"));
}

TEST(SweepView, FactorsThatAlwaysChangeTogetherAreOne) {
  const auto factors = view_factors({result({{"remove-nodes", "0"}, {"Q", "4"}, {"NB", "64"}}, 1),
                                     result({{"remove-nodes", "1"}, {"Q", "3"}, {"NB", "64"}}, 2),
                                     result({{"remove-nodes", "0"}, {"Q", "4"}, {"NB", "128"}}, 3)},
                                    {});
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_EQ(factors[0].full_name(), "remove-nodes (with Q)");
  EXPECT_EQ(factors[1].name, "NB");
}

TEST(SweepView, FactorsOfAListAreOne) {
  const auto factors = view_factors(
      {result({{"kernel-model", "M1"}, {"noise", "off"}}, 1), result({{"kernel-model", "full"}, {"noise", "off"}}, 2),
       result({{"kernel-model", "full"}, {"noise", "on"}}, 3)},
      {"kernel-model", "noise"});
  ASSERT_EQ(factors.size(), 1U);
  EXPECT_EQ(factors[0].name, "kernel-model, noise");
  EXPECT_THAT(factors[0].levels, ElementsAre("M1, off", "full, off", "full, on"));
}

TEST(SweepReport, AnswersFirst) {
  ReportData data =
      report_of({result({{"NB", "64"}, {"BCAST", "0"}}, 100), result({{"NB", "64"}, {"BCAST", "4"}}, 90),
                 result({{"NB", "128"}, {"BCAST", "0"}}, 80), result({{"NB", "128"}, {"BCAST", "4"}}, 70)});
  data.plans = {"name: My study\nquestion: Which one?\ncluster: a.json\nfixed: {N: 1000}\n"};
  data.counts = {5, 4, 1, 2};
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("<h1>My study</h1>\n<p class=\"note\">Which one?</p>"));
  EXPECT_THAT(page, HasSubstr("Fastest of 4 predictions: 100.0 Gflop/s with <code>NB=64 BCAST=1ring</code>. "
                              "Slowest: 70.00 (-30.0 %) with <code>NB=128 BCAST=long</code>"));
  EXPECT_THAT(page, HasSubstr("Best on average: 64 ("));
  EXPECT_THAT(page, HasSubstr("1 runs failed, 2 configurations skipped"));
  EXPECT_THAT(page, Not(HasSubstr("not made yet")));
}

TEST(SweepReport, NamesFilesWithoutTheirFoldersWhereThatTellsThemApart) {
  const ReportData data = with_file_names(report_of(
      {result({{"cluster", "/home/me/old/a.json"}}, 1), result({{"cluster", "/home/me/new/a.json"}}, 2),
       result({{"cluster", "/home/me/new/ba.json"}}, 3), result({{"cluster", "b.json"}, {"generate", "none"}}, 4)}));
  ASSERT_EQ(data.sweep.size(), 4U);
  EXPECT_EQ(data.sweep[0].factors[0].value, "old/a.json");
  EXPECT_EQ(data.sweep[1].factors[0].value, "new/a.json");
  EXPECT_EQ(data.sweep[2].factors[0].value, "ba.json");
  EXPECT_EQ(data.sweep[3].factors[0].value, "b.json");
  EXPECT_EQ(data.sweep[3].factors[1].value, "none");
  EXPECT_THAT(
      page_of(report_of({result({{"cluster", "/home/me/a.json"}}, 1), result({{"cluster", "/home/b.json"}}, 2)})),
      HasSubstr("<code>cluster=b.json</code>"));
}

TEST(SweepReport, NamesTheBestMeanOverSeedsAndNotTheLuckiestSeed) {
  // Means 58.73 and 60; the seeds of the first differ by a fifth.
  const std::string page = page_of(report_of({result({{"NB", "64"}}, 65.01), result({{"NB", "64"}}, 52.45),
                                              result({{"NB", "128"}}, 60.1), result({{"NB", "128"}}, 59.9)}));
  EXPECT_THAT(page, HasSubstr("Fastest of 2 configurations: 60.00 +- "));
  EXPECT_THAT(page, HasSubstr("with <code>NB=128</code>; 1 other cannot be told apart from it. Slowest: 58.73 +- "));
  EXPECT_THAT(page, HasSubstr("times: cannot be told apart) with <code>NB=64</code>"));
}

TEST(SweepReport, ComparesConfigurationsAtTheSameN) {
  // At small N the small grid is better, at large N the other; larger N are always faster.
  const std::string page = page_of(report_of({result({{"N", "1000"}, {"grid", "1x4"}}, 10, 1000, 1, 4),
                                              result({{"N", "1000"}, {"grid", "2x2"}}, 8, 1000, 2, 2),
                                              result({{"N", "9000"}, {"grid", "1x4"}}, 40, 9000, 1, 4),
                                              result({{"N", "9000"}, {"grid", "2x2"}}, 50, 9000, 2, 2)}));
  EXPECT_THAT(page,
              HasSubstr("Fastest at the largest N, 9000: 50.00 Gflop/s with <code>grid=2x2</code>. Slowest: 40.00"));
  EXPECT_THAT(page, HasSubstr("<td>1000</td><td>10.00</td><td>grid=1x4</td>"));
  EXPECT_THAT(page, HasSubstr("<td>9000</td><td>50.00</td><td>grid=2x2</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<td>N</td>")));  // in the table of influences
}

TEST(SweepReport, ComparesTheBestGridWithTheSquareOfAsManyRanks) {
  const auto grid = [](int P, int Q, double gflops) {
    return result({{"grid", std::to_string(P) + "x" + std::to_string(Q)}}, gflops, 1000, P, Q);
  };
  std::vector<SweepResult> results = {grid(2, 2, 40), grid(1, 16, 60), grid(2, 8, 90), grid(4, 4, 80)};
  EXPECT_THAT(page_of(report_of(results)),
              HasSubstr("Grid 2 x 8 gives 90.00 Gflop/s; the one nearest to square, 4 x 4, 80.00 (-11.1 %)."));
  results[1] = grid(1, 4, 60);
  EXPECT_THAT(page_of(report_of(results)), Not(HasSubstr("nearest to square")));  // of 16 ranks there are two
}

TEST(SweepReport, TellsThatAFactorOfNoEffectIsAsGood) {
  const std::string page =
      page_of(report_of({result({{"remove-nodes", "4"}}, 50), result({{"remove-nodes", "0"}}, 50)}));
  EXPECT_THAT(page, HasSubstr("50.00 Gflop/s with <code>remove-nodes=4</code>; 1 other is as good"));
}

TEST(SweepReport, NamesFactorsWhoseLevelsCannotBeToldApart) {
  std::vector<SweepResult> results;
  const auto add = [&](const std::string& NB, const std::string& SWAP, std::initializer_list<double> seeds) {
    for (const double gflops : seeds) results.push_back(result({{"NB", NB}, {"SWAP", SWAP}}, gflops));
  };
  add("64", "0", {100, 102});
  add("64", "1", {101.2, 101});
  add("128", "0", {110, 112});
  add("128", "1", {111, 111.1});
  EXPECT_THAT(page_of(report_of(results)), HasSubstr("does not tell apart, whatever the other factors are: SWAP."));
  // SWAP alone makes no difference here either, but which NB is better depends on it.
  results.clear();
  add("64", "0", {100, 102});
  add("64", "1", {111, 111.1});
  add("128", "0", {110, 112});
  add("128", "1", {101.2, 101});
  EXPECT_THAT(page_of(report_of(results)), Not(HasSubstr("does not tell apart")));
}

TEST(SweepReport, PicturesStandOnTheirOwn) {
  const auto pictures = report_pictures(report_of({result({{"SWAP", "0"}, {"grid", "1x4"}}, 10, 1000, 1, 4),
                                                   result({{"SWAP", "0"}, {"grid", "2x2"}}, 8, 1000, 2, 2),
                                                   result({{"SWAP", "1"}, {"grid", "4x1"}}, 7, 1000, 4, 1)}));
  ASSERT_EQ(pictures.size(), 3U);
  EXPECT_EQ(pictures[0].name, "factor-SWAP");
  EXPECT_EQ(pictures[1].name, "grid");
  EXPECT_EQ(pictures[2].name, "time");
  for (const ReportPicture& picture : pictures) {
    EXPECT_EQ(picture.svg.find("<svg xmlns="), 0U);
    EXPECT_THAT(picture.svg, HasSubstr("<style>"));
    EXPECT_THAT(picture.svg, Not(HasSubstr("var(")));  // not every program knows variables
  }
}

}  // namespace
}  // namespace hplcast::study
