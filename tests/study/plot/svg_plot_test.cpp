#include "study/plot/figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/plot/markup.hpp"

namespace hplcast::study {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NiceTicks, AreRoundNumbersWithinTheRange) {
  EXPECT_THAT(nice_ticks(0, 100, 5), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(nice_ticks(19, 51, 5), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(nice_ticks(0, 0.5, 5), ElementsAre(0, DoubleEq(0.1), DoubleEq(0.2), DoubleEq(0.3), DoubleEq(0.4), 0.5));
}

TEST(NiceTicks, ZeroIsNotNegative) {
  EXPECT_FALSE(std::signbit(nice_ticks(0, 1, 5).front()));
}

TEST(SvgPlot, PutsTheRangeOnTheEdgesOfTheAxes) {
  SvgPlot plot("p", "title", {"x [s]", 0, 10, {}}, {"y", 0, 1, {}});
  plot.line({{0, 0}, {10, 1}}, "curve");
  const std::string svg = plot.svg();
  EXPECT_THAT(svg, HasSubstr("<path class=\"curve\" d=\"M62.00 270.00L406.00 28.00\"/>"));
  EXPECT_THAT(svg, HasSubstr(">x [s]</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.2</text>"));
}

TEST(SvgPlot, TitlesAndTooltipsAreEscaped) {
  SvgPlot plot("p", "a<b", {"x", 0, 1, {}}, {"y", 0, 1, {}});
  plot.marker({0.5, 0.5}, Marker::square, "mark", "\"&\"");
  EXPECT_THAT(plot.svg(), HasSubstr("aria-label=\"a&lt;b\""));
  EXPECT_THAT(plot.svg(), HasSubstr("<title>&quot;&amp;&quot;</title>"));
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
