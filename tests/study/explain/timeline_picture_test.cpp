#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/explain/explain_parts.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TimelinePicture, IsAStripForEachLineWhateverTheNumberOfEvents) {
  const auto picture_of = [](int events) {
    std::vector<Timeline> lines(2);
    for (Timeline& line : lines) {
      line.kind = &line == &lines[0] ? "real" : "simulated";
      for (int i = 0; i < events; ++i) {
        ActivityEvent event;
        event.kind = i % 2 == 0 ? ActivityEvent::Kind::kernel : ActivityEvent::Kind::message;
        event.begin_s = static_cast<double>(i) / events;
        event.end_s = static_cast<double>(i + 1) / events;
        line.events.push_back(event);
        line.waited_s.push_back(0);
      }
    }
    return figure_file({timeline_figure(lines, ExplainRequest())});
  };
  const std::string few = picture_of(4);
  EXPECT_THAT(few, HasSubstr("rank 0, real"));
  EXPECT_THAT(few, HasSubstr(">simulated<"));
  // Half kernels, half messages, each a quarter of 900 columns.
  EXPECT_THAT(few, HasSubstr("<path class=\"s6\" style=\"stroke:none\" d=\"M130.00 "));
  EXPECT_THAT(few, HasSubstr("H355.00V20.00H130.00Z"));
  EXPECT_LT(picture_of(200000).size(), 300000U);
}

TEST(TimelinePicture, ShowsChosenPanels) {
  Timeline line;
  line.kind = "real";
  for (int panel = 0; panel < 10; ++panel) {
    ActivityEvent event;
    event.kind = ActivityEvent::Kind::kernel;
    event.panel = panel;
    event.begin_s = panel;
    event.end_s = panel + 1;
    line.events.push_back(event);
    line.waited_s.push_back(0);
  }
  ExplainRequest request;
  request.first_panel = 4;
  request.last_panel = 4;
  const std::string picture = figure_file({timeline_figure({line}, request)});
  EXPECT_THAT(picture, HasSubstr(">4.0<"));
  EXPECT_THAT(picture, HasSubstr(">5.0<"));
  EXPECT_THAT(picture, Not(HasSubstr(">6.0<")));
}

TEST(TimelinePicture, SaysWhyTheStripsOfARunWithoutTraceAreNearlyEmpty) {
  Timeline line;
  line.kind = "real";
  ActivityEvent event;
  event.kind = ActivityEvent::Kind::message;
  event.end_s = 1;
  line.events = {event};
  line.waited_s = {0};
  const std::string why = "run-real --trace keeps";
  EXPECT_THAT(timeline_figure({line}, ExplainRequest()).caption, HasSubstr(why));
  line.events.front().kind = ActivityEvent::Kind::kernel;
  EXPECT_THAT(timeline_figure({line}, ExplainRequest()).caption, Not(HasSubstr(why)));
}

}  // namespace
}  // namespace hplcast::study
