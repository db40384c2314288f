// The pages of a history, also in a real browser (headless Chromium).
#include "hplcast/study/history_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <regex>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/history.hpp"
#include "tests/support/browser.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;
using Access = HistoryDatabase::Access;

void import(const fs::path& database, const std::string& runs, const std::string& cluster = "") {
  HistoryDatabase history(database, Access::write);
  core::read_file(runs, [&](std::istream& in, const std::string& name) {
    history.add_source({name, name}, [&](const auto& add) { import_runs(in, name, cluster, add); });
  });
}

class HistorySite : public ::testing::Test {
 protected:
  /// The site of the example, with a change whose text is an attack.
  SiteSize write_example() {
    import(database_, HPLCAST_SOURCE_DIR "/examples/watch/runs.csv");
    HistoryDatabase history(database_, Access::write);
    history.add_change({parse_date("2025-02-21"), "demo", "all", "platform", "<script>alert(1)</script> & \"BIOS\""});
    return write_site(HistoryDatabase(database_, Access::read), {}, site_);
  }

  std::string page(const std::string& name) const { return core::read_text(site_ / name); }

  core::TemporaryFolder folder_{"hplcast-site"};
  fs::path database_ = folder_.path() / "h.db", site_ = folder_.path() / "site";
};

TEST_F(HistorySite, BeginsWithWhatNeedsAttention) {
  const SiteSize size = write_example();
  EXPECT_EQ(size.pages, 1U + 3 + 8);  // index, three factors, eight hosts
  const std::string index = std::regex_replace(page("index.html"), std::regex(" data-h=\"[^\"]*\""), "");
  EXPECT_THAT(index, HasSubstr("node-3 CPU 0</a></td><td>-4.7 %</td><td>2025-03-12</td><td>dgemm_gflops</td>"
                               "<td>frequency_ghz -4.4 %<br>temperature_celsius +12.4 %</td>"));
  EXPECT_THAT(index, Not(HasSubstr("first told"))) << "nothing was told before";
  EXPECT_THAT(index, HasSubstr("node-6 takes no part any more"));
  EXPECT_THAT(page("overview-demo-dgemm_gflops.html"), HasSubstr("class=\"verdict below\""));
  EXPECT_THAT(page("host-demo-node-3.html"), HasSubstr("class=\"band\""));
}

TEST_F(HistorySite, HasAPageForEachHostWhateverItsName) {
  const fs::path runs = folder_.path() / "runs.csv";
  std::ofstream out(runs);
  out << "cluster,host,cpu,job,start_time,dgemm_gflops\n";
  int job = 0;
  for (const char* host : {"gpu,old-x", "gpu-old,x", "gpu,n\u00f6d", "gpu,n\u00fcd", "gpu,a b", "gpu,a_b"})
    out << host << ",0," << ++job << ",1500000000,30\n";
  out << "gpu-old,x,0,7,1600000000,30\ngpu-old,a b,0,7,1600000000,30\n";  // where the others take no part any more
  out << "gpu-old,z,0,8,1500000000,30\n";
  out.close();
  import(database_, runs);
  EXPECT_EQ(write_site(HistoryDatabase(database_, Access::read), {}, site_).pages, 1U + 2 + 8);
  EXPECT_EQ(std::distance(fs::directory_iterator(site_), fs::directory_iterator()), 1 + 2 + 8);
  EXPECT_THAT(page("host-gpu-old-x.html"), HasSubstr("old-x CPU 0"));
  EXPECT_THAT(page("host-gpu_2dold-x.html"), HasSubstr("2020-09-13"));
  EXPECT_THAT(page("index.html"), HasSubstr(">gpu-old: z takes no part any more"));
}

TEST_F(HistorySite, IsStaticAndItsLinksLeadSomewhere) {
  write_example();
  std::size_t links = 0;
  for (const auto& entry : fs::directory_iterator(site_)) {
    const std::string text = core::read_text(entry.path());
    EXPECT_THAT(text, Not(HasSubstr("<script"))) << entry.path();
    EXPECT_THAT(text, Not(HasSubstr("http:"))) << entry.path();
    EXPECT_THAT(text, Not(HasSubstr("https:"))) << entry.path();
    const std::regex target("<a href=\"([^\"]*)\"");
    for (std::sregex_iterator match(text.begin(), text.end(), target), end; match != end; ++match, ++links)
      EXPECT_TRUE(fs::exists(site_ / (*match)[1].str())) << (*match)[1];
  }
  EXPECT_GT(links, 50U);
}

TEST_F(HistorySite, ShadesRunsByTheirLikelihoodAndRawValuesByTheirDistance) {
  // Values 99 and 101 in turn: mean 100, standard deviation 1.017 of 30. The 31st is t standard deviations off, with
  // 29 degrees of freedom: |t| = 1.70, 2.76 and 3.66 have likelihoods of 0.1, 0.01 and 0.001, and 4.5 of 1e-4.
  const auto shade_of = [&](const std::string& cluster, double last) {
    const fs::path runs = folder_.path() / (cluster + ".csv");
    std::ofstream out(runs);
    out << "host,cpu,job,start_time,dgemm_gflops\n";
    for (int day = 0; day <= 30; ++day)
      out << "n,0," << day << ',' << 1500000000 + day * 86400 << ',' << (day == 30 ? last : 100 + day % 2 * 2 - 1)
          << '\n';
    out.close();
    import(database_, runs, cluster);
    write_site(HistoryDatabase(database_, Access::read), {}, site_);
    return page("overview-" + cluster + "-dgemm_gflops.html");
  };
  const auto part = [](const std::string& text, const std::string& id) { return text.substr(text.find("id=\"" + id)); };
  EXPECT_THAT(shade_of("a", 100.5), Not(HasSubstr("verdict above")));
  const std::string unlikely = shade_of("b", 102.2);  // t = 2.1; 1.2 % off
  EXPECT_THAT(unlikely, HasSubstr("verdict above shade-1"));
  EXPECT_THAT(unlikely, Not(HasSubstr("verdict above\"")));
  EXPECT_THAT(part(unlikely, "raw"), HasSubstr("verdict above shade-1")) << "from 1 to 2 % off the median, 101";
  EXPECT_THAT(shade_of("c", 96.9), HasSubstr("verdict below shade-2"));  // t = -3.0
  const std::string flagged = shade_of("d", 88);                         // t = -11.6; 11 % off
  EXPECT_THAT(flagged, HasSubstr("verdict below\""));
  EXPECT_THAT(part(flagged, "raw"), HasSubstr("verdict below\""));
}

TEST_F(HistorySite, ComparesCpusOnlyWhereThereAreEnough) {
  const fs::path runs = folder_.path() / "three.csv";
  std::ofstream out(runs);
  out << "host,cpu,job,start_time,dgemm_gflops\n";
  for (int day = 0; day < 30; ++day) {
    const double common = 20 * (1 + 0.05 * std::sin(1.7 * day));
    for (int host = 0; host < (day < 29 ? 3 : 2); ++host) {  // on the last day one is not measured
      const double own = 1 + 0.001 * std::sin(2.3 * day + 2 * host) + (day == 29 && host == 1 ? 0.03 : 0);
      out << 'n' << host << ",0," << day << ',' << 1500000000 + day * 86400 << ',' << common * own << '\n';
    }
  }
  out.close();
  import(database_, runs, "c");
  write_site(HistoryDatabase(database_, Access::read), {}, site_);
  const std::string overview = page("overview-c-dgemm_gflops.html");
  for (const std::string kind : {"below", "above"}) {
    EXPECT_EQ(overview.find("class=\"verdict " + kind + "\""), std::string::npos) << kind;
  }
  CheckOptions two;
  two.tests.least_cpus = 2;
  write_site(HistoryDatabase(database_, Access::read), two, site_);
  const std::string compared = page("overview-c-dgemm_gflops.html");
  EXPECT_NE(compared.find("class=\"verdict above\""), std::string::npos);
}

TEST_F(HistorySite, HasPagesOfTwoMegabytesAtMost) {
  const fs::path runs = folder_.path() / "large.csv";
  std::ofstream out(runs);
  out << "host,cpu,job,start_time,dgemm_gflops\n";
  std::mt19937_64 engine(1);
  std::normal_distribution<double> noise(20, 0.1);
  for (int run = 0; run < 600; ++run)
    for (int host = 0; host < 300; ++host)
      out << 'n' << host << ",0," << run << ',' << 1500000000 + run * 86400 << ',' << noise(engine) << '\n';
  out.close();
  import(database_, runs, "large");
  const SiteSize size = write_site(HistoryDatabase(database_, Access::read), {}, site_);
  EXPECT_LE(size.largest_bytes, 2000000U);
  EXPECT_TRUE(fs::exists(site_ / "overview-large-dgemm_gflops-2.html"));
}

/// What a page says of itself, to the page that frames it.
constexpr const char* probe = R"js(<script>
parent.postMessage("overflow " + (document.documentElement.scrollWidth - document.documentElement.clientWidth) + " width " +
  document.documentElement.clientWidth + " requests " + performance.getEntriesByType("resource").length + " scrolling " +
  [...document.querySelectorAll(".wide")].filter(one => one.scrollWidth > one.clientWidth).length + " end", "*");
</script>)js";

TEST_F(HistorySite, FitsAPhoneWithoutErrorsOrRequests) {
  const auto chromium = core::find_program("chromium");
  if (chromium.empty()) GTEST_SKIP() << "skipped: no chromium here";
  write_example();
  if (test::shown_in_browser(chromium, folder_.path(), "site/index.html").output.find("<html") == std::string::npos)
    GTEST_SKIP() << "skipped: chromium does not run here";
  for (const std::string name : {"index.html", "overview-demo-dgemm_gflops.html", "host-demo-node-3.html"}) {
    SCOPED_TRACE(name);
    // As it is: what its own policy forbids would be an error. Then with a script, which the policy must allow.
    const std::string plain = test::shown_in_browser(chromium, folder_.path(), "site/" + name).output;
    EXPECT_THAT(plain, HasSubstr("<html"));
    EXPECT_THAT(plain, Not(HasSubstr("CONSOLE")));
    std::string text = page(name);
    const std::string policy = "default-src 'none'";
    text.replace(text.find(policy), policy.size(), "default-src 'unsafe-inline'");
    text.insert(text.find("</body>"), probe);
    std::ofstream(folder_.path() / "probed.html") << text;
    std::ofstream(folder_.path() / "phone.html")
        << "<!DOCTYPE html><title>nothing</title><script>addEventListener(\"message\", event => { document.title = "
           "event.data; });"
           "</script><iframe src=\"probed.html\" width=\"390\" height=\"844\" style=\"border:0\"></iframe>";
    const std::string said = test::shown_in_browser(chromium, folder_.path(), "phone.html").output;
    // 390, less a scroll bar on long pages.
    EXPECT_TRUE(std::regex_search(said, std::regex("overflow 0 width 3(7[0-9]|90) requests 0 scrolling 0 end")))
        << said;
  }
}

TEST_F(HistorySite, OfThePublishedHistoryIsSmall) {
  HPLCAST_REFERENCE_FILE(runs, "non-regression/stats_monitoring_dahu.csv");
  import(database_, runs);
  const SiteSize size = write_site(HistoryDatabase(database_, Access::read), {}, site_);
  EXPECT_EQ(size.pages, 1U + 4 + 12);
  EXPECT_LE(size.largest_bytes, 2000000U);
}

}  // namespace
}  // namespace hplcast::study
