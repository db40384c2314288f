#include "hplcast/study/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/study/history/database_rows.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/killed_writer.hpp"

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;
using Access = HistoryDatabase::Access;

CampaignRecord campaign(std::int64_t start_s, const std::vector<std::string>& hosts = {"a", "b"}) {
  CampaignRecord record;
  record.start_s = record.end_s = start_s;
  record.hosts = hosts;
  for (const std::string& host : hosts) record.observations.push_back({{"", host, 0}, "dgemm_gflops", start_s, 20.5});
  return record;
}

class History : public ::testing::Test {
 protected:
  bool add(const std::string& hash, const CampaignRecord& record) {
    HistoryDatabase database(path_, Access::write);
    return database.add_source({hash, hash + ".zip"}, [&](const auto& add_one) { add_one(record); });
  }

  core::TemporaryFolder folder_{"hplcast-history"};
  std::filesystem::path path_ = folder_.path() / "history.db";
};

TEST_F(History, KeepsWhatWasAddedOnce) {
  EXPECT_TRUE(add("one", campaign(1600000000)));
  const std::string rows = all_rows(path_);
  EXPECT_FALSE(add("one", campaign(1600000000)));
  EXPECT_EQ(all_rows(path_), rows);
  EXPECT_TRUE(add("two", campaign(1600086400)));
  const HistoryDatabase database(path_, Access::read);
  EXPECT_EQ(database.counts().campaigns, 2U);
  EXPECT_EQ(database.counts().observations, 4U);
  const auto series = database.series("", "dgemm_gflops");
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].place.host, "a");
  ASSERT_EQ(series[0].runs.size(), 2U);
  EXPECT_EQ(series[0].runs[1].time_s, 1600086400);
  EXPECT_EQ(database.series("", "dgemm_gflops", 1600000000)[0].runs.size(), 1U);
  EXPECT_TRUE(database.series("other", "dgemm_gflops").empty());
  EXPECT_THAT(database.factors(), ElementsAre("dgemm_gflops"));
}

TEST_F(History, IsAsBeforeWhenASourceCannotBeAdded) {
  add("one", campaign(1600000000));
  const std::string rows = all_rows(path_);
  HistoryDatabase database(path_, Access::write);
  EXPECT_THROW(database.add_source({"two", "two.zip"},
                                   [&](const auto& add_one) {
                                     add_one(campaign(1600086400));
                                     throw core::Error(core::ExitCode::bad_input, "damaged");
                                   }),
               core::Error);
  EXPECT_EQ(all_rows(path_), rows);
}

TEST_F(History, RefusesTwoCampaignsAtOneTime) {
  CampaignRecord first = campaign(1600000000), second = campaign(1600000060, {"b", "c"});
  first.end_s += 120;
  second.end_s += 120;
  add("one", first);
  EXPECT_THAT(error_in([&] { add("two", second); }), HasSubstr("host b was measured by another campaign"));
  second.hosts = {"c", "d"};
  second.observations.clear();
  EXPECT_TRUE(add("two", second));
  EXPECT_THAT(error_in([&] { add("three", campaign(1600000000)); }), HasSubstr("two campaigns at one time"));
}

TEST_F(History, RefusesClocksThatAreWrong) {
  CampaignRecord back = campaign(1600000000);
  back.end_s -= 10;
  EXPECT_THAT(error_in([&] { add("a", back); }), HasSubstr("the clock went back"));
  EXPECT_THAT(error_in([&] { add("b", campaign(1000)); }), HasSubstr("the clock was wrong"));
  EXPECT_THAT(error_in([&] { add("c", campaign(40000000000)); }), HasSubstr("the clock was wrong"));
}

TEST_F(History, KnowsHostsThatGaveNoResult) {
  add("one", campaign(1600000000));
  CampaignRecord half = campaign(1600086400, {"a"});
  half.hosts = {"a", "b"};
  add("two", half);
  const auto times = HistoryDatabase(path_, Access::read).host_times("");
  EXPECT_EQ(times.at("a").answered_s, 1600086400);
  EXPECT_EQ(times.at("b").answered_s, 1600000000);
  EXPECT_EQ(times.at("b").asked_s, 1600086400);
}

TEST_F(History, KeepsLogsWithoutRepeatingThem) {
  HistoryDatabase database(path_, Access::write);
  const Change change{1600000000, "all", "dahu-26", "repair", "power drain"};
  EXPECT_TRUE(database.add_change(change));
  EXPECT_FALSE(database.add_change(change));
  EXPECT_EQ(database.changes().size(), 1U);
  EXPECT_EQ(database.changes()[0].hosts, "dahu-26");
  EXPECT_TRUE(database.add_outlier({1600000000, "all", "all", "", "power cut"}));
  EXPECT_EQ(database.outliers().size(), 1U);
}

TEST_F(History, KeepsVerdictsOfEachCheck) {
  HistoryDatabase database(path_, Access::write);
  const Verdict first{1600000000, {"c", "a", 0}, "dgemm_gflops", 1599000000, 1600000000, -0.05, 0.01, 1e-9};
  Verdict second = first;
  second.told_s = second.last_s = 1600086400;
  database.add_verdicts({second, first});
  database.add_verdicts({first});
  const auto found = database.verdicts();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].told_s, 1600000000);
  EXPECT_EQ(found[0].place, first.place);
  EXPECT_EQ(found[0].effect, -0.05);
  EXPECT_EQ(found[1].last_s, 1600086400);
}

TEST_F(History, TellsOtherFilesFromHistories) {
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read); }), HasSubstr("there is no history"));
  std::ofstream(path_) << "this is a text that is no database at all, and it is longer than a header of SQLite, too";
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read); }), HasSubstr("not a database"));
  std::filesystem::remove(path_);
  SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  other.exec("CREATE TABLE t(x)");
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::write); }), HasSubstr("not a history of hplcast"));
}

TEST_F(History, TellsThatAnEmptyFileHasNothing) {
  std::ofstream(path_).flush();
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read); }), HasSubstr("history.db is empty"));
  EXPECT_TRUE(add("one", campaign(1600000000)));  // which makes it one
}

TEST_F(History, IsReadAfterAWriterThatWasKilled) {
  add("one", campaign(1600000000));
  const std::string rows = all_rows(path_);
  test::kill_writer_of(path_, "UPDATE protocols SET json = hex(randomblob(50000))");
  const std::filesystem::path journal = path_.string() + "-journal";
  ASSERT_GT(std::filesystem::file_size(journal), 512U) << "the transaction has begun";
  EXPECT_EQ(HistoryDatabase(path_, Access::read).counts().observations, 2U);
  EXPECT_EQ(all_rows(path_), rows);
}

TEST_F(History, TellsVersionsThatItCannotRead) {
  add("one", campaign(1600000000));
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read); }), HasSubstr("version 99"));
}

TEST_F(History, TellsNumbersThatNobodyHasMeasured) {
  add("one", campaign(1600000000));
  SQLite::Database changed(path_.string(), SQLite::OPEN_READWRITE);
  const HistoryDatabase database(path_, Access::read);
  changed.exec("UPDATE observations SET value = 9e999");
  EXPECT_THAT(error_in([&] { database.series("", "dgemm_gflops"); }), HasSubstr("dgemm_gflops of a CPU 0 is inf"));
  changed.exec("UPDATE observations SET value = 1, time_s = -4611686018427387904");
  EXPECT_THAT(error_in([&] { database.series("", "dgemm_gflops"); }), HasSubstr("a time of -4611686018427387904 s"));
  changed.exec("UPDATE campaigns SET end_s = 9223372036854775807");
  EXPECT_THAT(error_in([&] { database.campaigns(); }), HasSubstr("a time of 9223372036854775807 s"));
  changed.exec("ALTER TABLE campaigns RENAME TO lost");
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read).campaigns(); }),
              HasSubstr("it has no table: campaigns; another program has changed the file"));
}

TEST_F(History, OfVersionOneBecomesOneWithVerdicts) {
  add("one", campaign(1600000000));
  const std::string rows = all_rows(path_);
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec("DROP TABLE verdicts; PRAGMA user_version = 1");
  EXPECT_EQ(HistoryDatabase(path_, Access::read).counts().observations, 2U);
  EXPECT_EQ(all_rows(path_), rows);
  HistoryDatabase(path_, Access::write).add_verdicts({Verdict{}});
  EXPECT_NE(all_rows(path_), rows);
}

TEST_F(History, TellsThatAnotherProgramWritesIt) {
  add("one", campaign(1600000000));
  SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read, 10); }), HasSubstr("another program writes it"));
  other.exec("ROLLBACK");
  other.exec("BEGIN IMMEDIATE");
  HistoryDatabase database(path_, Access::write, 10);
  EXPECT_THAT(error_in([&] {
                database.add_change({1, "all", "all", "a", "b"});
              }),
              HasSubstr("another program writes it"));
}

TEST_F(History, TellsDamage) {
  add("one", campaign(1600000000));
  std::filesystem::resize_file(path_, 4096 * 3);
  EXPECT_THAT(error_in([&] { HistoryDatabase(path_, Access::read).series("", "dgemm_gflops"); }),
              HasSubstr("the file is damaged"));
}

}  // namespace
}  // namespace hplcast::study
