#include "study/plot/figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/study/plot.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(NiceTicks, AreRoundNumbersWithinTheRange) {
  EXPECT_THAT(nice_ticks(0, 100, 5), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(nice_ticks(19, 51, 5), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(nice_ticks(0, 0.5, 5), ElementsAre(0, DoubleEq(0.1), DoubleEq(0.2), DoubleEq(0.3), DoubleEq(0.4), 0.5));
}

TEST(NiceTicks, ZeroIsNotNegative) {
  EXPECT_FALSE(std::signbit(nice_ticks(0, 1, 5).front()));
}

TEST(Figure, PutsTheRangeOnTheEdgesOfTheAxes) {
  Figure plot("p", "title", {"x [s]", 0, 10, {}}, {"y", 0, 1, {}});
  plot.line({{0, 0}, {10, 1}}, "curve");
  const std::string svg = plot.svg();
  EXPECT_THAT(svg, HasSubstr("<path class=\"curve\" d=\"M62.00 270.00L406.00 28.00\"/>"));
  EXPECT_THAT(svg, HasSubstr(">x [s]</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.2</text>"));
}

TEST(Figure, TitlesAndTooltipsAreEscaped) {
  Figure plot("p", "a<b", {"x", 0, 1, {}}, {"y", 0, 1, {}});
  plot.marker({0.5, 0.5}, Marker::square, "mark", "\"&\"");
  EXPECT_THAT(plot.svg(), HasSubstr("aria-label=\"a&lt;b\""));
  EXPECT_THAT(plot.svg(), HasSubstr("<title>&quot;&amp;&quot;</title>"));
}

TEST(Figure, ALogarithmicAxisHasPowersOfTen) {
  Figure plot("p", "title", {"x", 1, 1e4, {}, true}, {"y", 0, 1, {}});
  plot.line({{1, 0}, {100, 1}, {1e4, 0}}, "curve");
  EXPECT_THAT(plot.svg(), HasSubstr("d=\"M62.00 270.00L234.00 28.00L406.00 270.00\""));
  EXPECT_THAT(plot.svg(), HasSubstr(">100</text>"));
  EXPECT_THAT(plot.svg(), HasSubstr(">10000</text>"));
}

TEST(Figure, HasRoomForTheNamesOfItsYAxisOnAPhone) {
  const Figure small("p", "title", {"x", 0, 1, {}}, {"y", 0, 100, {}});
  EXPECT_DOUBLE_EQ(small.size().left, PlotSize().left);
  const Figure large("p", "title", {"x", 0, 1, {}}, {"y", 0, 200000, {}});
  EXPECT_THAT(large.svg(), HasSubstr(">200,000</text>"));
  // Digits of 15 px are up to 9.6 px wide (DejaVu Sans), a comma is 4.8; the names end 7 px left of the axis.
  EXPECT_GE(large.size().left, 6 * 9.6 + 4.8 + 6.5);
}

TEST(Bars, AreAsLongAsTheirPartsWithNamesAndValues) {
  const BarRow row{"first", {{0, 50, "a", "half", "50 %"}, {50, 51, "b", "", "no room"}}, "51 s"};
  const std::string svg = bar_figure("p", "title", {"x", 0, 100}, {row}).svg();
  EXPECT_THAT(svg, HasSubstr("<path class=\"a\" style=\"stroke:none\" d=\"M14.00 21.16H210.00V40.48H14.00Z\">"));
  EXPECT_THAT(svg, HasSubstr("M210.00 21.16H213.92V"));
  for (const char* text : {">first<", ">50 %<", ">51 s<", "<title>half</title>"}) EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr("no room")));
}

TEST(Picture, OfSeveralFiguresIsNoWiderThanOneWhateverTheirTitles) {
  const Figure plot("p", "a title of more letters than fit above a figure of this width", {"x", 0, 1, {}}, {"y", 0, 1});
  const std::string one = figure_file({plot}), three = figure_file({plot, plot, plot}, "title");
  const auto width = [](const std::string& svg) { return std::stod(svg.substr(svg.find("width=\"") + 7)); };
  EXPECT_EQ(width(one), width(three));
  EXPECT_LT(width(one), 450);  // 13 px of a letter are 11 on a phone of 390
  EXPECT_THAT(one, HasSubstr("a title of more letters than fit above</text>"));
}

TEST(Picture, OfAFileShowsItsCaptionInLines) {
  Figure plot("p", "title", {"x", 0, 1, {}}, {"y", 0, 1, {}});
  for (int i = 0; i < 30; ++i) plot.caption += "word" + std::to_string(i) + " ";
  const std::string svg = figure_file({plot});
  EXPECT_THAT(svg, HasSubstr(">word0 word1 "));
  EXPECT_THAT(svg, HasSubstr(" word29</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10")));
}

TEST(Picture, LeavesOutWhatCannotBeDrawn) {
  PlotPanel panel{"logarithms", "x", "y", PlotScale::log_both}, empty{"nothing", "x", "y"};
  PlotSeries& series = panel.points("values");
  for (const double x : {-1.0, 0.0, 1.0, 10.0, std::nan("")}) series.add(x, 1);
  empty.points("none");
  panel.add_diagonal("equal");
  const std::string svg = picture_file({"a & b", {panel, empty}});
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, HasSubstr(">values</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("nothing")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("var(")));
}

TEST(Picture, AHistogramIsADensity) {
  PlotPanel panel{"histogram", "x", "density"};
  panel.add_histogram("values", {0.5, 1.5, 1.6, 9}, 0, 2, 2);
  EXPECT_THAT(panel.series.front().values, ElementsAre(std::pair(0.5, 0.25), std::pair(1.5, 0.5)));
}

TEST(Picture, ManyPointsAreThinnedOut) {
  PlotPanel panel{"many", "x", "y"};
  PlotSeries& series = panel.points("");
  for (int i = 0; i < 400000; ++i) series.add(i, i);
  EXPECT_LT(picture_file({"", {panel}}).size(), 100000U);
}

TEST(Markup, NumbersHaveSignificantDigitsAndCommas) {
  EXPECT_EQ(readable(1234567), "1,234,567");
  EXPECT_EQ(readable(22.0912), "22.09");
  EXPECT_EQ(readable(0.012345), "0.01235");
  EXPECT_EQ(readable(-1234.5), "-1,234");
  EXPECT_EQ(readable(0), "0.000");
  EXPECT_EQ(readable(NAN), "not known");
  EXPECT_EQ(with_decimals(-123, 1), "-123.0");
}

}  // namespace
}  // namespace hplcast::study
