#include "hplcast/calibration/campaign.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "calibration/campaign/campaign_folder.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
using tests::error_in;
namespace fs = std::filesystem;

CampaignPlan two_steps() {
  CampaignPlan plan;
  plan.warm_up_s = 10;
  plan.chunk_s = 20;
  CampaignStep designed;
  designed.name = "01-dgemm";
  designed.design = "m,n,k\n1,1,1\n2,2,2\n3,3,3\n4,4,4\n5,5,5\n";
  designed.rows = 5;
  designed.may_be_shortened = true;
  designed.estimated_s = 50;
  CampaignStep fixed;
  fixed.name = "02-thresholds";
  fixed.estimated_s = 10;
  plan.steps = {designed, fixed};
  return plan;
}

TEST(Campaign, IsMeasuredInPiecesThatHoldEveryRowOnce) {
  const std::vector<CampaignChunk> chunks = chunks_of(two_steps());
  ASSERT_EQ(chunks.size(), 4U);  // 50 s in pieces of at most 20 s, and the other step
  std::size_t next = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(chunks[i].step, 0U);
    EXPECT_EQ(chunks[i].index, i);
    EXPECT_EQ(chunks[i].first, next);
    EXPECT_GT(chunks[i].end, chunks[i].first);
    next = chunks[i].end;
  }
  EXPECT_EQ(next, 5U);
  EXPECT_EQ(chunks[3].step, 1U);
  EXPECT_EQ(chunks[3].end, 0U) << "a step without design is one piece";
}

TEST(Campaign, IsMeasuredInARandomOrderOfAllPiecesThatTheSeedDecides) {
  CampaignPlan plan = two_steps();
  plan.chunk_s = 1;
  plan.steps[0].rows = 40;  // 40 pieces of the one step, 10 s in one piece of the other
  const auto order = [&] {
    std::vector<std::pair<std::size_t, std::size_t>> pieces;
    for (const CampaignChunk& chunk : shuffled_chunks(plan)) pieces.emplace_back(chunk.step, chunk.index);
    return pieces;
  };
  const auto first = order();
  EXPECT_EQ(first, order());
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  plan.seed = 2;
  auto other = order();
  EXPECT_NE(first, other);
  std::sort(other.begin(), other.end());
  ASSERT_EQ(other.size(), 41U);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(other[i], std::make_pair(std::size_t{0}, i));
}

TEST(Campaign, IsShortenedByTakingFewerRowsOfTheDesigns) {
  CampaignPlan plan = two_steps();
  shorten(plan, 40);  // 20 s are fixed: 20 of 50 s are left for five rows
  EXPECT_EQ(plan.steps[0].rows, 2U);
  EXPECT_EQ(plan.steps[0].design, "m,n,k\n1,1,1\n2,2,2\n");
  EXPECT_DOUBLE_EQ(plan.steps[0].estimated_s, 20);
  EXPECT_DOUBLE_EQ(plan.steps[1].estimated_s, 10);
  shorten(plan, 1000);
  EXPECT_EQ(plan.steps[0].rows, 2U) << "it is never made longer";
  EXPECT_THAT(error_in([&] { shorten(plan, 15); }), HasSubstr("more than the 20 s"));
}

TEST(Campaign, IsRefusedIfWhatCannotBeShortenedTakesLonger) {
  CampaignPlan plan = two_steps();
  plan.steps[0].may_be_shortened = false;
  EXPECT_THAT(error_in([&] { shorten(plan, 15); }), HasSubstr("more than the 70 s"));
  shorten(plan, 70);
  EXPECT_DOUBLE_EQ(plan.steps[0].estimated_s, 50);
}

TEST(Campaign, OfTwoThatBeginInOneFolderTheSecondIsRefused) {
  const core::TemporaryFolder place("hplcast-two-campaigns");
  const fs::path folder = place.path() / "both";
  fs::create_directory(folder);
  const int lock = ::open((folder / "lock").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  std::thread first([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the second one waits for the lock by now
    std::ofstream(folder / "campaign.yaml") << "name: first\n";
    ::close(lock);
  });
  EXPECT_THAT(error_in([&] { CampaignFolder(folder, two_steps(), false); }), HasSubstr("has a campaign already"));
  first.join();
  EXPECT_EQ(core::read_text(folder / "campaign.yaml"), "name: first\n");
}

class Archive : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "hplcast_archive_test";
    fs::remove_all(folder_);
    write("data/b.csv", "a,b\n1,2\n");
    write("data/deeper/a.bin", std::string("\0\1\n\xff", 4) + std::string(200000, 'x'));
    write("data/empty", "");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  fs::path folder_;
};

TEST_F(Archive, GivesBackWhatWasPackedInEveryFormat) {
  const auto files = read_folder(folder_ / "data");
  EXPECT_EQ(files.size(), 2U);
  EXPECT_EQ(files.at("b.csv"), "a,b\n1,2\n");
  for (const char* name : {"x.zip", "x.tar.zst", "x.tar.gz"}) {
    write_archive(folder_ / name, folder_ / "data", "campaign");
    EXPECT_EQ(read_archive(folder_ / name), files) << name;
  }
}

TEST_F(Archive, HasNamesBeyondAscii) {
  write("data/b\xC3\xBCro-\xFC.csv", "a\n1\n");
  const auto files = read_folder(folder_ / "data");
  for (const char* name : {"x.zip", "x.tar.zst", "x.tar.gz"}) {
    write_archive(folder_ / name, folder_ / "data", "b\xC3\xBCro");
    EXPECT_EQ(read_archive(folder_ / name), files) << name;
  }
}

TEST_F(Archive, IsReadHoweverItWasPackedAgain) {
  const auto files_of = [&](const std::string& words) {
    const std::string packed = "cd '" + folder_.string() + "' && rm -f x.tar && tar cf x.tar " + words;
    EXPECT_EQ(std::system(packed.c_str()), 0) << words;
    auto files = read_archive(folder_ / "x.tar");
    files.erase("empty");
    return files;
  };
  const auto files = read_folder(folder_ / "data");
  for (const char* words : {"data", "./data", "-P \"$PWD/data\"", "-C data .", "-C data b.csv deeper",
                            "data && tar rf x.tar data/b.csv"})  // twice: the last one counts
    EXPECT_EQ(files_of(words), files) << words;
}

TEST_F(Archive, SaysWhatIsWrong) {
  EXPECT_THAT(error_in([&] { write_archive(folder_ / "x.rar", folder_ / "data", "x"); }), HasSubstr(".zip, .tar.zst"));
  EXPECT_THAT(error_in([&] { write_archive(folder_ / "x.zip", folder_ / "none", "x"); }), HasSubstr("none"));
  EXPECT_THAT(error_in([&] { write_archive(folder_ / "no" / "x.zip", folder_ / "data", "x"); }), HasSubstr("x.zip"));
  EXPECT_THAT(error_in([&] { read_archive(folder_ / "missing.zip"); }), HasSubstr("missing.zip"));
  write_archive(folder_ / "x.tar.zst", folder_ / "data", "campaign");
  fs::resize_file(folder_ / "x.tar.zst", fs::file_size(folder_ / "x.tar.zst") / 2);
  EXPECT_THAT(error_in([&] { read_archive(folder_ / "x.tar.zst"); }), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace hplcast::calibration
