// Histories from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/core/files.hpp"
#include "tests/support/reference_data.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast {
namespace {

using test::run_hplcast_words;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;
using Json = nlohmann::json;

class HistoryCommands : public ::testing::Test {
 protected:
  test::Outcome run(std::vector<std::string> words) { return run_hplcast_words(std::move(words), folder_.path()); }

  void import_example() {
    const fs::path watch = HPLCAST_SOURCE_DIR "/examples/watch";
    const auto outcome = run({"history", "import", watch / "runs.csv", "--changes", watch / "changes.csv", "--outliers",
                              watch / "outliers.csv", "--database", "h.db"});
    ASSERT_EQ(outcome.status, 0) << outcome.output;
  }

  Json check_json(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"check", "h.db", "--json", "-o", "check.json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto outcome = run(words);
    Json json = Json::parse(core::read_text(folder_.path() / "check.json"));
    EXPECT_EQ(outcome.status, json["open"] == 0 ? 0 : 5) << outcome.output;
    return json;
  }

  core::TemporaryFolder folder_{"hplcast-history-commands"};
};

TEST_F(HistoryCommands, TellWhatSinceWhenAndHowMuch) {
  import_example();
  const auto outcome = run({"check", "h.db"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_THAT(outcome.output, HasSubstr("node-3 CPU 0"));
  EXPECT_THAT(outcome.output, HasSubstr("2025-03-12"));
  EXPECT_THAT(outcome.output, HasSubstr("BIOS upgrade (2025-02-21, 19 d before)"));
  EXPECT_THAT(outcome.output, HasSubstr("node-6: takes no part any more (last on 2025-03-24)"));
  const Json json = check_json();
  ASSERT_EQ(json["findings"].size(), 3U);
  for (const Json& finding : json["findings"]) EXPECT_EQ(finding["host"], "node-3");
  // Made with 4.8 %, and noise of 0.7 %: of a mean of twelve runs that is 0.2 %.
  EXPECT_NEAR(json["findings"][0]["effect"].get<double>(), -0.048, 0.003);
  EXPECT_EQ(json["missing_hosts"][0]["host"], "node-6");
}

TEST_F(HistoryCommands, CutLongDescriptionsBetweenLetters) {
  import_example();
  const std::string letters(39, 'x');  // 40 are shown, and the last one has two bytes
  ASSERT_EQ(run({"history", "change", "--date", "2025-03-12", letters + "\u00fc\u00fc", "--database", "h.db"}).status,
            0);
  EXPECT_THAT(run({"check", "h.db", "--ignore-changes"}).output, HasSubstr(letters + "... (2025-03-12"));
}

TEST_F(HistoryCommands, TellOneCauseInOneRow) {
  import_example();
  const auto outcome = run({"check", "h.db"});
  EXPECT_THAT(outcome.output, HasSubstr("frequency_ghz -4.4 %, temperature_celsius +12.4 %"));
  EXPECT_THAT(outcome.output, HasSubstr("2 findings"));  // node-3, and node-6 that is gone
  const Json checked = check_json();
  for (const Json& finding : checked["findings"]) EXPECT_EQ(finding["event"], 0);
}

TEST_F(HistoryCommands, RememberWhatWasTold) {
  import_example();
  EXPECT_EQ(run({"check", "h.db", "--new"}).status, 5);
  EXPECT_TRUE(check_json()["findings"][0]["first_told"].is_null());  // a check changes nothing by itself
  const auto recorded = run({"check", "h.db", "--record", "--new"});
  EXPECT_EQ(recorded.status, 5);
  EXPECT_THAT(recorded.output, HasSubstr("node-3 CPU 0"));
  const auto again = run({"check", "h.db", "--record", "--new"});
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.output, HasSubstr("nothing new"));
  EXPECT_THAT(run({"check", "h.db"}).output, HasSubstr("last on 2025-03-24; first told on 2025-04-07"));
  // A later campaign: what was known stays known, what is new is told.
  std::ofstream out(folder_.path() / "later.csv");
  out << "cluster,node,cpu,jobid,start_time,dgemm_gflops\n";
  for (const int day : {0, 1}) {
    for (int node = 1; node <= 8; ++node)
      if (node != 6)
        for (const int cpu : {0, 1})
          out << "demo,node-" << node << ',' << cpu << ',' << 2000 + day << ',' << 1744182000 + 86400 * day << ','
              << (node == 3 && cpu == 0 ? 24.0
                  : node == 5           ? 20.0
                                        : 25.2)
              << '\n';
  }
  out.close();
  ASSERT_EQ(run({"history", "import", "later.csv", "--database", "h.db"}).status, 0);
  const auto later = run({"check", "h.db", "--record", "--new"});
  EXPECT_EQ(later.status, 5) << later.output;
  EXPECT_THAT(later.output, HasSubstr("node-5 CPU 0"));
  EXPECT_THAT(later.output, Not(HasSubstr("node-3 CPU 0")));
  const Json checked = check_json();
  for (const Json& finding : checked["findings"])
    EXPECT_EQ(finding["first_told"], finding["host"] == "node-3" ? "2025-04-07" : "2025-04-10") << finding;
  ASSERT_EQ(run({"history", "site", "h.db", "-o", "site"}).status, 0);
  EXPECT_THAT(core::read_text(folder_.path() / "site/index.html"), HasSubstr("first told"));
}

TEST_F(HistoryCommands, AreSilentBeforeTheEventAndAfterItWasLogged) {
  import_example();
  EXPECT_EQ(check_json({"--until", "2025-03-11"})["open"], 0);
  EXPECT_EQ(check_json({"--until", "2025-03-12"})["open"], 0);  // one run alone is not confirmed
  EXPECT_EQ(check_json({"--until", "2025-03-14"})["open"], 3);
  const std::vector<std::string> change = {"history", "change", "--date",     "2025-03-12", "--hosts",
                                           "node-3",  "fan",    "--database", "h.db"};
  EXPECT_EQ(run(change).status, 0);
  EXPECT_THAT(run(change).output, HasSubstr("is in the history already"));
  const Json json = check_json({"--until", "2025-03-24"});
  EXPECT_EQ(json["open"], 0);
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("more campaigns"));
}

TEST_F(HistoryCommands, TellHostsThatDidNotComeBack) {
  import_example();
  EXPECT_EQ(run({"history", "failed", "--date", "2025-04-09 07:00", "--cluster", "demo", "--hosts", "node-2",
                 "--database", "h.db"})
                .status,
            0);
  const auto outcome = run({"check", "h.db", "--factors", "dgemm_gflops"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_THAT(outcome.output, HasSubstr("node-2: was to measure on 2025-04-09 and gave no result"));
}

TEST_F(HistoryCommands, LogAllHostsOfAClusterAsFailed) {
  import_example();
  // Without --cluster: there is only one.
  const auto failed = run({"history", "failed", "--date", "2025-04-09 07:00", "--hosts", "all", "--database", "h.db"});
  ASSERT_EQ(failed.status, 0) << failed.output;
  const Json json = check_json();
  ASSERT_EQ(json["missing_hosts"].size(), 8U);
  for (const Json& one : json["missing_hosts"])
    EXPECT_EQ(one["reason"], one["host"] == "node-6" ? "took no part" : "gave no result");  // it was gone before
  EXPECT_EQ(json["missing_hosts"][0]["host"], "node-1");
}

TEST_F(HistoryCommands, OfSeveralClustersNeedTheNameOfOne) {
  import_example();
  std::ofstream(folder_.path() / "other.csv") << "host,cpu,job,start_time,dgemm_gflops\na,0,1,1600000000,20\n";
  ASSERT_EQ(run({"history", "import", "other.csv", "--cluster", "other", "--database", "h.db"}).status, 0);
  std::ofstream(folder_.path() / "one.csv") << "N,NB,P,Q\n1000,128,1,1\n";
  const auto cost = run({"check", "h.db", "--predict", "one.csv"});
  EXPECT_EQ(cost.status, 2);
  EXPECT_THAT(cost.output, HasSubstr("expected --cluster, one of demo, other"));
  const auto failed = run({"history", "failed", "--date", "2025-04-09", "--hosts", "a", "--database", "h.db"});
  EXPECT_EQ(failed.status, 2);
  EXPECT_THAT(failed.output, HasSubstr("expected --cluster, one of demo, other"));
  const auto host = run(
      {"history", "failed", "--date", "2025-04-09", "--hosts", "node-1", "--cluster", "other", "--database", "h.db"});
  EXPECT_EQ(host.status, 3);
  EXPECT_THAT(host.output, HasSubstr("host `node-1`; there are a"));
  const auto cluster =
      run({"history", "change", "--date", "2025-04-09", "--cluster", "demo/others", "x", "--database", "h.db"});
  EXPECT_EQ(cluster.status, 3);
  EXPECT_THAT(cluster.output, HasSubstr("cluster `others`; there are demo, other"));
}

TEST_F(HistoryCommands, AreAsTheyWereAtTheMinuteThatIsAskedFor) {
  import_example();
  EXPECT_EQ(check_json({"--until", "2025-03-14 06:59"})["newest"], "2025-03-12");  // campaigns begin at seven
  EXPECT_EQ(check_json({"--until", "2025-03-14 07:00"})["newest"], "2025-03-14");
  EXPECT_EQ(check_json({"--until", "2025-03-14"})["newest"], "2025-03-14");
  const auto twice = run({"check", "h.db", "--counts", "--window", "5,1,5,5", "--factors", "dgemm_gflops"});
  EXPECT_EQ(std::count(twice.output.begin(), twice.output.end(), '\n'), 3) << twice.output;  // header, two windows
}

TEST_F(HistoryCommands, SayWhatIsMissingInsteadOfAVerdict) {
  std::ofstream(folder_.path() / "few.csv") << "host,cpu,job,start_time,dgemm_gflops\na,0,1,1600000000,20\n"
                                               "a,0,2,1600086400,10\n";
  ASSERT_EQ(run({"history", "import", "few.csv", "--cluster", "c", "--database", "h.db"}).status, 0);
  const auto outcome = run({"check", "h.db"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("needs 9 more campaigns"));
  EXPECT_THAT(outcome.output, HasSubstr("too few CPUs to compare with each other"));
}

/// The folder of a campaign of one host, as far as a history needs it.
void write_campaign(const fs::path& folder, const std::string& host, const std::string& start, const std::string& end,
                    const std::string& blas = "OpenBLAS 0.3.21") {
  std::string rows = "kernel,m,n,k,duration_s,start_s,host,cpu,content\n";
  for (const int m : {100, 200, 300, 400})
    for (const int n : {100, 200, 300, 400})
      for (const int k : {16, 32, 64, 128})
        rows += "dgemm," + std::to_string(m) + "," + std::to_string(n) + "," + std::to_string(k) + "," +
                std::to_string(1e-9 * m * n * k) + ",0," + host + ",0,random\n";
  const std::map<std::string, std::string> files = {
      {"campaign.yaml", "name: a\n"},
      {"start", start + "\n"},
      {"latest", end + "\n"},
      {"designs/01-dgemm.csv", "m,n,k\n"},
      {"measurements/01-dgemm.csv", rows},
      {"surroundings/hosts.json", Json{{"machines", {{{"host", host}, {"cores", 1}}}},
                                       {"software", {{"blas_library", blas}}},
                                       {"ranks", {{{"rank", 0}, {"host", host}, {"cpu", 0}, {"core", 0}}}}}
                                      .dump()}};
  for (const auto& [name, text] : files) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
}

TEST_F(HistoryCommands, AddCampaignsOnceAndTellWhatIsNew) {
  const auto add = [&](const std::string& name) { return run({"history", "add", name, "--database", "h.db"}); };
  write_campaign(folder_.path() / "first", "a", "1600000000", "1600000100");
  const auto first = add("first");
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("first: added"));
  EXPECT_THAT(add("first").output, HasSubstr("is in the history already"));
  write_campaign(folder_.path() / "second", "b", "1600086400", "1600086500", "OpenBLAS 0.3.26");
  const auto second = add("second");
  EXPECT_EQ(second.status, 0) << second.output;
  EXPECT_THAT(second.output, HasSubstr("a new reference begins: BLAS: OpenBLAS 0.3.21 -> OpenBLAS 0.3.26"));
  EXPECT_THAT(second.output, HasSubstr("host b is new: its history begins now"));
  EXPECT_THAT(second.output, HasSubstr("host a took part in the campaign before, not in this one"));
  // Both are known now: each is compared with its own campaigns, whatever the others do.
  write_campaign(folder_.path() / "third", "a", "1600172800", "1600172900");
  const auto third = add("third");
  EXPECT_EQ(third.status, 0) << third.output;
  EXPECT_THAT(third.output, Not(HasSubstr("reference")));
  EXPECT_THAT(third.output, Not(HasSubstr("host b")));
}

TEST_F(HistoryCommands, RefuseCampaignsThatCannotBe) {
  const auto add = [&](const std::string& name) { return run({"history", "add", name, "--database", "h.db"}); };
  write_campaign(folder_.path() / "first", "a", "1600000000", "1600000100");
  ASSERT_EQ(add("first").status, 0);
  write_campaign(folder_.path() / "at-once", "a", "1600000050", "1600000150");
  EXPECT_EQ(add("at-once").status, 3);
  EXPECT_THAT(add("at-once").output,
              HasSubstr("hplcast history add: at-once: host a was measured by another campaign at that time"));
  write_campaign(folder_.path() / "back", "a", "1600086400", "1600086300");
  EXPECT_THAT(add("back").output, HasSubstr("the clock went back"));
  write_campaign(folder_.path() / "ahead", "a", "40000000000", "40000000100");
  EXPECT_THAT(add("ahead").output, HasSubstr("the clock was wrong"));
  write_campaign(folder_.path() / "empty", "a", "1600172800", "1600172900");
  fs::remove(folder_.path() / "empty/measurements/01-dgemm.csv");
  EXPECT_THAT(add("empty").output,
              HasSubstr("hplcast history add: empty: the archive has no call of dgemm that counts"));
}

TEST_F(HistoryCommands, RefusePredictionsOfWhatTheyDoNotKnow) {
  import_example();
  std::ofstream(folder_.path() / "two.csv") << "N,NB,P,Q\n1000,128,1,1\n2000,128,1,1\n";
  std::ofstream(folder_.path() / "one.csv") << "N,NB,P,Q\n1000,128,1,1\n";
  const std::string normal = HPLCAST_SOURCE_DIR "/examples/stampede-like.json";
  const auto several = run({"check", "h.db", "--predict", "two.csv", "--normal", normal});
  EXPECT_EQ(several.status, 3);
  EXPECT_THAT(several.output, HasSubstr("2 runs"));
  const auto no_models = run({"check", "h.db", "--predict", "one.csv"});
  EXPECT_EQ(no_models.status, 3);
  EXPECT_THAT(no_models.output, HasSubstr("no models of the cluster"));
  const auto other = run({"check", "h.db", "--predict", "one.csv", "--normal", normal});
  EXPECT_EQ(other.status, 3);
  EXPECT_THAT(other.output, HasSubstr("node-3"));
  EXPECT_EQ(run({"check", "h.db", "--predict", "none.csv", "--normal", normal}).status, 3);
}

TEST_F(HistoryCommands, RefuseUnknownFactorsAndClusters) {
  import_example();
  const auto factor = run({"check", "h.db", "--factors", "speed"});
  EXPECT_EQ(factor.status, 3);
  EXPECT_THAT(factor.output, HasSubstr("no factor `speed`; it has dgemm_gflops"));
  EXPECT_EQ(run({"check", "h.db", "--cluster", "other"}).status, 3);
  const auto host = run({"history", "outlier", "--date", "2025-03-12", "--hosts", "node-9", "x", "--database", "h.db"});
  EXPECT_EQ(host.status, 3);
  EXPECT_THAT(host.output, HasSubstr("node-9"));
}

TEST_F(HistoryCommands, TellDamagedAndEmptyHistories) {
  import_example();
  fs::resize_file(folder_.path() / "h.db", 20000);
  const auto damaged = run({"check", "h.db"});
  EXPECT_EQ(damaged.status, 3);
  EXPECT_THAT(damaged.output, HasSubstr("h.db"));
  ASSERT_EQ(run({"history", "import", "--changes", HPLCAST_SOURCE_DIR "/examples/watch/changes.csv", "--database",
                 "empty.db"})
                .status,
            0);
  const auto empty = run({"check", "empty.db"});
  EXPECT_EQ(empty.status, 3);
  EXPECT_THAT(empty.output, HasSubstr("has no campaigns yet"));
}

TEST_F(HistoryCommands, GiveThePublishedCounts) {
  HPLCAST_REFERENCE_FILE(runs, "non-regression/stats_monitoring_dahu.csv");
  const fs::path folder = runs.parent_path();
  ASSERT_EQ(run({"history", "import", runs, "--changes", folder / "exp_changelog.csv", "--outliers",
                 folder / "exp_outlierlog.csv", "--database", "h.db"})
                .status,
            0);
  EXPECT_EQ(run({"check", "h.db", "--counts", "--published", "--window", "1", "--json", "-o", "counts.json"}).status,
            0);
  const Json counts = Json::parse(core::read_text(folder_.path() / "counts.json"));
  const std::map<std::string, std::vector<int>> published = {{"frequency_ghz", {5110, 4228, 163, 0, 108}},
                                                             {"temperature_celsius", {5110, 4228, 17, 13, 12}},
                                                             {"power_cpu_w", {2978, 2358, 125, 0, 125}},
                                                             {"power_dram_w", {2978, 2358, 83, 49, 82}}};
  ASSERT_EQ(counts.size(), 4U);
  for (const Json& row : counts) {
    const std::vector<int> found = {row["rows"], row["tested"], row["below"], row["above"], row["logged"]};
    EXPECT_EQ(found, published.at(row["factor"])) << row["factor"];
  }
  // The node whose BIOS was wrong, as it would have been told before its power drain.
  const Json json = check_json({"--factors", "frequency_ghz", "--until", "2020-05-10"});
  ASSERT_EQ(json["open"], 2);
  std::map<int, Json> dahu26;
  for (const Json& one : json["findings"])
    if (one["open"] == true && one["host"] == "dahu-26") dahu26[one["cpu"].get<int>()] = one;
  ASSERT_EQ(dahu26.size(), 2U);
  for (const auto& [cpu, one] : dahu26) EXPECT_EQ(one["since"], "2020-04-02") << cpu;
  // What docs/measurements/history.md tells of all its campaigns, within the error that is told of these fewer.
  EXPECT_NEAR(dahu26[0]["effect"].get<double>(), -0.065, dahu26[0]["effect_error"].get<double>());
  EXPECT_NEAR(dahu26[1]["effect"].get<double>(), -0.031, dahu26[1]["effect_error"].get<double>());
}

}  // namespace
}  // namespace hplcast
