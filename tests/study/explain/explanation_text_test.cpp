// What people read of an explanation: its verdict, and the part of a report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/explain.hpp"
#include "study/explain/explain_parts.hpp"
#include "study/report/report_sections.hpp"

namespace hplcast::study {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Explanation explained() {
  Explanation e;
  e.runs = 1;
  e.real_s = 10.52;
  e.predicted_s = 10;
  e.simulated = true;
  Cause cause;
  cause.kernels = {"dgemm"};
  cause.text = "dgemm takes 10.0 % longer in the run than in the model, on node-3 CPU 1 only";
  cause.simulated_s = 0.41;
  cause.advice = "look at it";
  e.causes = {cause};
  e.rest_s = 0.11;
  return e;
}

TEST(Verdict, BeginsWithTheLargestCause) {
  const auto lines = verdict(explained());
  EXPECT_EQ(lines.front(),
            "The run takes 5.2 % longer than predicted (10.52 s, predicted 10 s). dgemm takes 10.0 % longer in the run "
            "than in the model, on node-3 CPU 1 only: 4.1 of the 5.2 %.");
  EXPECT_THAT(lines.back(), HasSubstr("1.1 % of the predicted time is not explained"));
  EXPECT_LE(lines.size(), 10U);
}

TEST(Verdict, TellsWhatTheObservationTookWithTheTimes) {
  Explanation e = explained();
  Cause observation;
  observation.kind = Cause::Kind::observation;
  observation.text = "the observation";
  observation.estimated_s = 0.43;
  e.causes.insert(e.causes.begin(), observation);
  const auto lines = verdict(e);
  EXPECT_THAT(lines.front(), HasSubstr("(10.52 s, 0.43 s of it to observe it, predicted 10 s). dgemm takes 10.0 %"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("the observation"))));
  EXPECT_THAT(lines[1], HasSubstr("look at it"));
}

TEST(CausesWithoutReplacement, AreObservationAndTheRestOfHplsOwnWork) {
  Explanation e = explained();
  e.own_work_s = 0.5;
  e.observation_s = 0.2;
  auto causes = without_replacement(e);
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].kind, Cause::Kind::observation);
  EXPECT_DOUBLE_EQ(causes[0].share_s(), 0.2);
  EXPECT_EQ(causes[1].kind, Cause::Kind::own_work);
  EXPECT_DOUBLE_EQ(causes[1].share_s(), 0.3);
  e.observation_s = 0.6;  // some of it is in the durations of kernels and calls
  causes = without_replacement(e);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_DOUBLE_EQ(causes[0].share_s(), 0.5);
  e.own_work_s = 0.009;
  EXPECT_THAT(without_replacement(e), IsEmpty()) << "less than 0.1 % of the time";
}

TEST(Verdict, SaysWhichKindOfHostsWaitsForWhich) {
  Explanation e = explained();
  e.kinds = {{"others", 24, 6, 0.2, 6, 0.1}, {"newer", 16, 3, 3.2, {}, {}}};
  EXPECT_THAT(verdict(e),
              Contains("Hosts of kind newer wait for those of others: ranks of newer 30.4 % of the time, of "
                       "others 1.9 % (predicted 1.0 %)."));
  e.kinds[1].real_waiting_s = 0.25;
  EXPECT_THAT(verdict(e), Contains(HasSubstr("Kinds of hosts wait alike: ranks of newer")));
}

TEST(Verdict, SaysFirstThatMostIsNoPartOfTheModel) {
  Explanation e = explained();
  e.held_up_s = 1.5;
  const auto lines = verdict(e);
  EXPECT_THAT(lines[0], HasSubstr("15.0 % of the predicted time in messages that were held up"));
  EXPECT_THAT(lines[1], HasSubstr("on node-3 CPU 1 only: 4.1 of the 5.2 %"));
  EXPECT_THAT(lines[2], HasSubstr("To mend this: look at it"));
}

TEST(Verdict, HasAtMostTenLinesWhateverDiffers) {
  Explanation e = explained();
  e.causes.assign(30, e.causes.front());
  e.own_work_s = e.held_up_s = 1;
  e.kinds = {{"others", 24, 6, 0.2, {}, {}}, {"newer", 16, 3, 3.2, {}, {}}};
  e.runs = 3;
  PhaseDifference phase;
  phase.real.name = "swap";
  phase.real.waiting_s = 2;
  e.phases = {phase};
  EXPECT_LE(verdict(e).size(), 10U);
}

TEST(Verdict, SaysSoWhereNothingDiffers) {
  Explanation e = explained();
  e.real_s = 10.01;
  e.causes.clear();
  EXPECT_THAT(verdict(e).front(), HasSubstr("agree to 0.1 %"));
}

TEST(ReportOfAnExplanation, HasVerdictSharesAndAHarmlessPicture) {
  Explanation e = explained();
  e.picture = "<svg><script>alert(1)</script></svg>";
  std::stringstream json;
  write_explanation(json, e);
  EXPECT_TRUE(is_explanation(json.str()));
  const std::string html = explanations_html({read_explanation(json, "explained.json")});
  EXPECT_THAT(html, HasSubstr("on node-3 CPU 1 only: 4.1 of the 5.2 %"));
  EXPECT_THAT(html, HasSubstr("+4.1 %"));
  EXPECT_THAT(html, HasSubstr("src=\"data:image/svg+xml,%3Csvg%3E"));
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  std::istringstream broken("{\"causes\": [], \"verdict\": [], \"rest_s\": 1}");
  EXPECT_THROW(read_explanation(broken, "broken.json"), core::ParseError);
  e.predicted_s = 0;
  std::stringstream timeless;
  write_explanation(timeless, e);
  EXPECT_THROW(read_explanation(timeless, "timeless.json"), core::ParseError);
  EXPECT_EQ(explanations_html({}), "");
}

ExplanationSummary summary_of(const Explanation& e) {
  std::stringstream json;
  write_explanation(json, e);
  return read_explanation(json, "explained.json");
}

/// Begin and end of each bar, from above.
std::vector<std::pair<double, double>> bars_of(const Figure& figure) {
  const std::string svg = figure.svg();
  const std::regex bar("style=\"stroke:none\" d=\"M([0-9.]+) [0-9.]+H([0-9.]+)V");
  std::vector<std::pair<double, double>> bars;
  for (auto found = std::sregex_iterator(svg.begin(), svg.end(), bar); found != std::sregex_iterator(); ++found)
    bars.emplace_back(std::stod((*found)[1]), std::stod((*found)[2]));
  return bars;
}

TEST(Waterfall, LeadsFromThePredictedToTheRealTime) {
  Explanation e = explained();
  e.causes.front().kind = Cause::Kind::place;
  e.causes.front().group.name = "node-3 CPU 1";
  e.causes.push_back(e.causes.front());
  e.causes.back().kind = Cause::Kind::latency;
  e.causes.back().simulated_s = -0.2;
  e.rest_s = e.difference_s() - 0.21;
  const Figure figure = waterfall(summary_of(e), "causes");
  const auto bars = bars_of(figure);
  ASSERT_EQ(bars.size(), 5U);
  for (std::size_t i = 1; i + 1 < bars.size(); ++i) EXPECT_NEAR(bars[i].first, bars[i - 1].second, 0.011) << i;
  EXPECT_NEAR(bars[3].second, bars[4].second, 0.011) << "the causes and the rest add up; coordinates have two decimals";
  EXPECT_DOUBLE_EQ(bars.front().first, bars.back().first);
  EXPECT_LT(bars[2].second, bars[2].first) << "less time";
  EXPECT_NEAR((bars[2].second - bars[2].first) / (bars[1].second - bars[1].first), -0.2 / 0.41, 0.001);
  for (const char* text : {">predicted<", ">dgemm on node-3 CPU 1<", ">latency of messages between hosts<",
                           ">not explained<", ">real<", ">+0.41 s, +4.1 %<", ">-0.2 s, -2.0 %<", ">10.52 s<"})
    EXPECT_THAT(figure.svg(), HasSubstr(text));
  EXPECT_THAT(figure.caption, HasSubstr("does not begin at 0"));
  e.real_s = 39;
  EXPECT_THAT(waterfall(summary_of(e), "causes").caption, Not(HasSubstr("does not begin at 0")));
}

TEST(Waterfall, PutsSmallCausesTogether) {
  Explanation e = explained();
  e.causes.assign(30, e.causes.front());
  e.rest_s = e.difference_s() - 30 * 0.41;
  const Figure figure = waterfall(summary_of(e), "causes");
  EXPECT_EQ(bars_of(figure).size(), 11U) << "predicted, 8 causes, not explained, real";
  EXPECT_THAT(figure.svg(), HasSubstr(">23 smaller differences<"));
  EXPECT_THAT(figure.svg(), HasSubstr(">+9.43 s, +94.3 %<"));
}

}  // namespace
}  // namespace hplcast::study
