// Reports in a real browser (headless Chromium).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/report.hpp"
#include "tests/support/browser.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

core::Prediction prediction(long long N, int NB, int P, int Q, std::uint64_t seed) {
  core::Prediction result;
  result.cluster = "a cluster with a rather long name";
  result.simulator = "SimGrid 3.32";
  result.mode = "exact";
  result.model_sha256 = std::string(64, 'a');
  result.seed = seed;
  result.parameters.N = N;
  result.parameters.NB = NB;
  result.parameters.P = P;
  result.parameters.Q = Q;
  result.gflops =
      100.0 * P * Q * (1 - 1000.0 / static_cast<double>(N)) * (NB == 128 ? 1.1 : 1) + static_cast<double>(seed);
  result.time_s = core::hpl_flop(static_cast<double>(N)) / result.gflops / 1e9;
  result.kernels["dgemm"] = {10, 1, 3.0, 1e9};
  return result;
}

ReportData study_with_everything() {
  ReportData data;
  for (const long long N : {5000, 10000, 20000}) {
    for (const int NB : {64, 128}) {
      for (const auto& [P, Q] : {std::pair(1, 4), std::pair(2, 2), std::pair(1, 2), std::pair(2, 4)}) {
        for (const std::uint64_t seed : {1, 2}) {
          const auto p = prediction(N, NB, P, Q, seed);
          data.predictions.push_back(p);
          data.sweep.push_back({{{"N", std::to_string(N)},
                                 {"NB", std::to_string(NB)},
                                 {"grid", std::to_string(P) + "x" + std::to_string(Q)},
                                 {"remove-nodes", "none"}},
                                p});
        }
        core::HplRun run;
        run.parameters = data.predictions.back().parameters;
        run.gflops = 0.97 * data.predictions.back().gflops;
        data.real.push_back(run);
      }
    }
  }
  ExplanationSummary& explained = data.explanations.emplace_back();
  explained.parameters = data.predictions.back().parameters;
  explained.predicted_s = 10;
  explained.real_s = 11;
  explained.causes = {
      {0.1, 1, "a cause", "a cause with a name that does not fit on the screen of a phone in one line"}};
  explained.picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1074\" height=\"100\"/>";
  data.plans.push_back("cluster: <a>.json\n");
  data.sources.push_back("/a/long/path/that/does/not/fit/on/the/screen/of/a/phone/in/one/line/results-of-the-study.db");
  return data;
}

/// What the page says of itself once it is shown, to the page that frames it.
constexpr const char* probe = R"js(<script>
const tables = [...document.querySelectorAll("table.sortable")];
const last = tables.sort((a, b) => a.rows.length - b.rows.length).at(-1);
last.querySelector("th").click();
const column = [...last.tBodies[0].rows].map(row => parseFloat(row.children[0].textContent.replace(/,/g, "")));
const said = "overflow " + (document.documentElement.scrollWidth - document.documentElement.clientWidth) +
  " width " + document.documentElement.clientWidth +
  " requests " + performance.getEntriesByType("resource").length +
  " sorted " + column.every((x, i) => i == 0 || column[i - 1] <= x) + " rows " + column.length + " scrolling tables " +
  tables.filter(one => one.parentNode.scrollWidth > one.parentNode.clientWidth).length;
parent.postMessage(said, "*");
</script>)js";

/// A phone's width: Chromium's own windows are no narrower than 500.
constexpr const char* phone = R"html(<!DOCTYPE html><title>nothing</title>
<script>addEventListener("message", event => { document.title = event.data; });</script>
<iframe src="report.html" width="390" height="844" style="border:0"></iframe>)html";

TEST(ReportInABrowser, HasNoErrorNoRequestAndFitsAPhone) {
  const auto chromium = core::find_program("chromium");
  if (chromium.empty()) GTEST_SKIP() << "skipped: no chromium here";
  const core::TemporaryFolder folder("hplcast-browser");
  std::ostringstream page;
  write_report(page, study_with_everything());
  std::string text = page.str();
  text.insert(text.find("</body>"), probe);
  std::ofstream(folder.path() / "report.html") << text;
  std::ofstream(folder.path() / "phone.html") << phone;
  const core::CommandResult result = test::shown_in_browser(chromium, folder.path(), "phone.html");
  if (result.status != 0 && result.output.find("<html") == std::string::npos) {
    GTEST_SKIP() << "skipped: chromium does not run here: " << result.output.substr(0, 200);
  }
  EXPECT_THAT(result.output, Not(HasSubstr("CONSOLE")));  // errors and violations of the page's own policy
  std::smatch found;
  ASSERT_TRUE(std::regex_search(result.output, found, std::regex("<title>([^<]*)</title>")));
  const std::string said = found[1];
  EXPECT_THAT(said, HasSubstr("overflow 0 width 37"));  // 390 less a scroll bar
  EXPECT_THAT(said, HasSubstr(" requests 0 "));
  EXPECT_THAT(said, HasSubstr(" sorted true rows 48 scrolling tables 0"));
  RecordProperty("said", said);
  std::cout << said << '\n';
}

/// Selects the middle half of the time in the first diagram.
constexpr const char* zoom = R"js(<script>
const svg = document.querySelector("svg.time"), box = svg.getBoundingClientRect(), d = svg.dataset;
svg.setPointerCapture = () => {};
const at = share => box.left + (+d.left + share * (+d.right - +d.left)) / svg.viewBox.baseVal.width * box.width;
const ticks = () => [...document.querySelectorAll("svg.time text.tick")].map(one => parseFloat(one.textContent));
const before = Math.max(...ticks());
for (const [type, share] of [["pointerdown", 0.25], ["pointermove", 0.5], ["pointerup", 0.75]])
  svg.dispatchEvent(new PointerEvent(type, {clientX: at(share), clientY: box.top + 40, pointerId: 1}));
const said = "overflow " + (document.documentElement.scrollWidth - document.documentElement.clientWidth) + " from " + before +
  " to " + Math.min(...ticks()) + " " + Math.max(...ticks()) + " diagrams " + document.querySelectorAll("svg.time").length + " scrolling " +
  [...document.querySelectorAll(".wide")].filter(one => one.scrollWidth > one.clientWidth).length;
parent.postMessage(said, "*");
</script>)js";

TEST(CampaignPageInABrowser, IsZoomedInAllDiagramsByASelection) {
  const auto chromium = core::find_program("chromium");
  if (chromium.empty()) GTEST_SKIP() << "skipped: no chromium here";
  const core::TemporaryFolder folder("hplcast-browser");
  std::string calls = "kernel,m,n,k,duration_s,start_s,host,cpu,content\n",
              sensor = "host,time_s,quantity,sensor,value\n";
  for (int second = 0; second <= 100; ++second) {
    calls += "dgemm,1000,1000,100,0.01," + std::to_string(second) + ",h,0,random\n";
    sensor += "h," + std::to_string(second) + ",temperature_celsius,core,50\n";
  }
  std::ostringstream page;
  write_campaign_page(page, {{"measurements/01-dgemm.csv", calls}, {"monitoring/01-dgemm.csv", sensor}}, "a");
  std::string text = page.str();
  text.insert(text.find("</body>"), zoom);
  std::ofstream(folder.path() / "report.html") << text;
  std::ofstream(folder.path() / "phone.html") << phone;
  const core::CommandResult result = test::shown_in_browser(chromium, folder.path(), "phone.html");
  if (result.status != 0 && result.output.find("<html") == std::string::npos)
    GTEST_SKIP() << "skipped: chromium does not run here: " << result.output.substr(0, 200);
  EXPECT_THAT(result.output, Not(HasSubstr("CONSOLE")));
  // 0 to 100 s before, 25 to 75 s after, in steps of 5.
  EXPECT_THAT(result.output, HasSubstr("<title>overflow 0 from 100 to 25 75 diagrams 2 scrolling 0</title>"));
}

}  // namespace
}  // namespace hplcast::study
