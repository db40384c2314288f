#include "hplcast/study/history_check.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;
using Access = HistoryDatabase::Access;

constexpr std::int64_t begin_s = 1600000000, day_s = 86400;

/// Hosts that are measured every day, each by a campaign of its own.
class Check : public ::testing::Test {
 protected:
  void add(const std::string& host, int day, double gflops, const std::string& protocol = "{}",
           const std::string& cluster = "") {
    CampaignRecord record;
    record.cluster = cluster;
    record.start_s = begin_s + day * day_s;
    record.end_s = record.start_s + 100;
    record.hosts = {host};
    record.protocol = protocol;
    record.observations.push_back({{cluster, host, 0}, "dgemm_gflops", record.start_s, gflops});
    HistoryDatabase database(path_, Access::write);
    const std::string name = cluster + host + std::to_string(day);
    database.add_source({name, name}, [&](const auto& add_one) { add_one(record); });
  }

  HistoryCheck check(const CheckOptions& options = {}) const {
    return check_history(HistoryDatabase(path_, Access::read), options);
  }

  double noisy(double mean) { return mean * (1 + noise_(engine_)); }

  core::TemporaryFolder folder_{"hplcast-check"};
  std::filesystem::path path_ = folder_.path() / "h.db";
  std::mt19937_64 engine_{1};
  std::normal_distribution<double> noise_{0, 0.003};
};

// Nights differ by 1 %, so a CPU slower by 3 % shows beside those of its campaign, not beside those of its date.
TEST_F(Check, OfHostsMeasuredInTurnBeyondMidnightComparesThemWithTheirCampaign) {
  constexpr std::int64_t last_minutes = 1600041480;  // 23:58 UTC
  HistoryDatabase database(path_, Access::write);
  for (int night = 0; night < 60; ++night) {
    CampaignRecord record;
    record.start_s = last_minutes + night * day_s;
    record.end_s = record.start_s + 1000;
    const double common = 20 * (1 + noise_(engine_) / 0.003 * 0.01);
    for (int host = 0; host < 8; ++host) {
      const std::string name = "node-" + std::to_string(host);
      const double speed = noisy(common) * (night >= 45 && host == 0 ? 0.97 : 1);
      record.hosts.push_back(name);
      record.observations.push_back({{"", name, 0}, "dgemm_gflops", record.start_s + 60 * host, speed});
    }
    database.add_source({std::to_string(night), "night"}, [&](const auto& add_one) { add_one(record); });
  }
  const auto found = check_history(database, {}).findings;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].place.host, "node-0");
  EXPECT_NEAR(found[0].finding.effect, -0.03, 0.004);
}

TEST_F(Check, OfANewProtocolBeginsANewReferenceByItself) {
  for (int day = 0; day < 15; ++day) add("a", day, noisy(20), "{\"BLAS\":\"1\"}");
  for (int day = 15; day < 20; ++day) add("a", day, noisy(15), "{\"BLAS\":\"2\"}");
  const HistoryCheck result = check();
  EXPECT_TRUE(result.findings.empty());
  EXPECT_THAT(result.notes.at(0), HasSubstr("needs 6 more campaigns"));  // five of eleven are there
}

TEST_F(Check, OfHostsWithDifferentProtocolsKeepsTheirReferences) {
  for (int day = 0; day < 20; ++day) {
    for (const std::string host : {"a", "b", "c", "d"}) {
      const bool slow = host == "c" && day >= 16;
      add(host, day, noisy(slow ? 18 : 20), host == "a" ? "{\"kernel\":\"old\"}" : "{\"kernel\":\"new\"}");
    }
  }
  const HistoryCheck result = check();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].place.host, "c");
}

TEST_F(Check, SaysWhichWindowsAreLongerThanTheHistory) {
  for (int day = 0; day < 20; ++day)
    for (const std::string host : {"a", "b", "c"}) add(host, day, noisy(20));
  CheckOptions options;
  options.tests.windows = {1, 5, 1000};
  EXPECT_THAT(check(options).notes, ElementsAre(HasSubstr("not tested: windows of 1000, ")));
}

TEST_F(Check, OfOneCpuSaysThatThereIsNothingToCompareWith) {
  for (int day = 0; day < 20; ++day) add("a", day, noisy(day >= 16 ? 18 : 20));
  const HistoryCheck result = check();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].finding.against, fit::Against::own);
  EXPECT_THAT(result.notes.at(0), HasSubstr("too few CPUs"));
}

TEST_F(Check, LeavesLoggedOutliersOut) {
  for (int day = 0; day < 20; ++day) add("a", day, noisy(day >= 18 ? 15 : 20));
  EXPECT_EQ(check().open(), 1U);
  HistoryDatabase database(path_, Access::write);
  database.add_outlier({parse_date(date_text(begin_s + 18 * day_s)), "all", "a", "", "busy"});
  database.add_outlier({parse_date(date_text(begin_s + 19 * day_s)), "all", "a", "", "busy"});
  EXPECT_EQ(check().open(), 0U);
}

TEST_F(Check, TakesTheWholeDayOfALoggedOutlier) {
  for (int day = 0; day < 20; ++day) add("a", day, noisy(day >= 18 ? 15 : 20));
  HistoryDatabase database(path_, Access::write);
  // As published logs may have them: with a time of the day that is not that of the run.
  database.add_outlier({begin_s + 18 * day_s + 3600, "all", "a", "", "busy"});
  database.add_outlier({begin_s + 19 * day_s + 3600, "all", "a", "", "busy"});
  EXPECT_EQ(check().open(), 0U);
}

TEST_F(Check, MissesHostsUntilAChangeExplainsIt) {
  for (int day = 0; day < 12; ++day) add("a", day, noisy(20));
  for (int day = 0; day < 3; ++day) add("gone", day, noisy(20));
  ASSERT_EQ(check().missing.size(), 1U);
  EXPECT_EQ(check().missing[0].host, "gone");
  CheckOptions patient;
  patient.missing_after_s = 10 * day_s;
  EXPECT_TRUE(check(patient).missing.empty());
  HistoryDatabase database(path_, Access::write);
  database.add_change({begin_s + 4 * day_s, "all", "all", "BIOS", "of all: explains nothing"});
  EXPECT_EQ(check().missing.size(), 1U);
  database.add_change({begin_s + 4 * day_s, "all", "gone", "sold", "it is no more"});
  EXPECT_TRUE(check().missing.empty());
  add("gone", 5, noisy(20));  // it is back, and away again
  add("a", 20, noisy(20));
  EXPECT_EQ(check().missing.size(), 1U);
  database.add_change(
      {parse_date(date_text(begin_s + 5 * day_s)), "all", "b/gone", "sold", "on the day of its last run"});
  EXPECT_TRUE(check().missing.empty());
}

HistoryFinding finding_of(const std::string& host, int cpu, const std::string& factor, int since_day,
                          bool open = true) {
  HistoryFinding one;
  one.place = {"", host, cpu};
  one.factor = factor;
  one.finding.since_s = begin_s + since_day * day_s;
  one.finding.last_s = one.finding.since_s + 3 * day_s;
  one.finding.effect = -0.05;
  one.finding.open = open;
  return one;
}

TEST(Events, AreFindingsOfOnePlaceThatBeganInAWeek) {
  HistoryCheck check;
  check.findings = {finding_of("a", 0, "dgemm_gflops", 20),  finding_of("a", 1, "dgemm_gflops", 20),
                    finding_of("a", 0, "frequency_ghz", 22), finding_of("a", -1, "temperature_celsius", 20),
                    finding_of("a", 0, "power_cpu_w", 5),    finding_of("a", 0, "power_dram_w", 20, false),
                    finding_of("b", 0, "frequency_ghz", 20)};
  const auto events = check.events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].first, 0U);
  EXPECT_EQ(events[0].also, (std::vector<std::size_t>{2, 3}));
  EXPECT_THAT(also_texts(check, events[0]),
              ::testing::ElementsAre("frequency_ghz -5.0 %", "temperature_celsius -5.0 % (host)"));
  EXPECT_EQ(events[1].first, 1U);  // another CPU
  EXPECT_EQ(events[2].first, 4U);  // another time
  EXPECT_EQ(events[3].first, 5U);  // over
  EXPECT_EQ(events[4].first, 6U);  // another host
}

TEST_F(Check, BeginsANewReferenceOfANetworkThatWasChanged) {
  HistoryDatabase database(path_, Access::write);
  for (int day = 0; day < 20; ++day) {
    CampaignRecord record;
    record.start_s = record.end_s = begin_s + day * day_s;
    record.hosts = {"a", "b"};
    record.observations.push_back(
        {{"", "network remote", -1}, "latency_from_16kib_us", record.start_s, noisy(day >= 15 ? 2 : 4)});
    record.observations.push_back({{"", "a", 0}, "dgemm_gflops", record.start_s, noisy(20)});
    record.observations.push_back({{"", "b", 0}, "dgemm_gflops", record.start_s, noisy(20)});
    database.add_source({std::to_string(day), ""}, [&](const auto& add_one) { add_one(record); });
  }
  HistoryCheck result = check();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(to_string(result.findings[0].place), "network remote");
  EXPECT_NEAR(result.findings[0].finding.effect, -0.5, 0.01);  // noise of 0.3 %
  EXPECT_TRUE(result.missing.empty());                         // a network is no host
  EXPECT_EQ(database.host_times("").count("network remote"), 0U);
  database.add_change({begin_s + 15 * day_s, "all", "network remote", "repair", "new switch"});
  EXPECT_EQ(check().open(), 0U);
}

TEST_F(Check, SaysOfEachClusterWhatItsRunsLack) {
  for (int day = 0; day < 20; ++day) {
    if (day >= 15) add("a", day, noisy(20), "{}", "new");
    for (const std::string host : {"a", "b", "c"}) add(host, day, noisy(20), "{}", "old");
  }
  EXPECT_THAT(check().notes, ElementsAre(HasSubstr("new: not tested: the newest runs of 1 of 1 CPUs"),
                                         HasSubstr("new: too few CPUs")));
}

// The newest campaign of a history is not that of each cluster.
TEST_F(Check, KnowsOfOneClusterWhatACheckOfAllHasTold) {
  for (int day = 0; day < 20; ++day) {
    add("a", day, noisy(day >= 16 ? 18 : 20), "{}", "early");
    add("a", day + 1, noisy(20), "{}", "late");
  }
  HistoryDatabase(path_, Access::write).add_verdicts(check().verdicts());
  CheckOptions options;
  options.cluster = "early";
  const HistoryCheck result = check(options);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_TRUE(result.findings[0].told_s.has_value());
  options.until_s = begin_s + 19 * day_s;  // before the newest campaign of then
  EXPECT_FALSE(check(options).findings.at(0).told_s.has_value());
}

TEST_F(Check, RefusesAHistoryThatLacksACampaign) {
  for (int day = 0; day < 2; ++day) add("a", day, 20);
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec("DELETE FROM campaigns WHERE id = 1");
  EXPECT_THAT(error_in([&] { check(); }), HasSubstr("a CPU 0 has a run of campaign 1, which is missing"));
}

TEST_F(Check, RefusesTimesBeforeTheFirstCampaign) {
  add("a", 0, 20);
  CheckOptions early;
  early.until_s = begin_s - 1;
  EXPECT_THAT(error_in([&] { check(early); }), HasSubstr("no campaign until 2020-09-13"));
}

TEST_F(Check, RefusesAHistoryWithoutCampaigns) {
  HistoryDatabase(path_, Access::write).add_change({begin_s, "all", "all", "a", "b"});
  EXPECT_THAT(error_in([&] { check(); }), HasSubstr("no campaigns yet"));
}

}  // namespace
}  // namespace hplcast::study
