// Which rows of measurements count.
#include "hplcast/fit/row_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

core::KernelMeasurement call(const std::string& content, const std::string& error = "") {
  core::KernelMeasurement row;
  row.kernel = "dgemm";
  row.duration_s = 1;
  row.content = content;
  row.error = error;
  return row;
}

TEST(RowRules, CallsOnRandomNumbersCountAndThoseOfFilesThatDoNotSay) {
  for (const char* content : {"random", "hpl", ""}) EXPECT_EQ(reason_to_set_aside(call(content)), "") << content;
  for (const char* content : {"constant", "sequential", "masked-8"}) {
    EXPECT_THAT(reason_to_set_aside(call(content)), HasSubstr("random numbers")) << content;
    EXPECT_EQ(reason_to_set_aside(call(content), true), "") << content;
  }
  EXPECT_EQ(reason_to_set_aside(call("random", "no memory"), true), "the call failed: no memory");
}

TEST(RowRules, CallsOfHplAreNotThoseOfADesign) {
  EXPECT_FALSE(is_designed(call("hpl")));
  EXPECT_TRUE(is_designed(call("random")));
  EXPECT_TRUE(is_designed(call("")));
}

TEST(RowRules, WarmUpIsCountedAmongTheCallsThatCount) {
  std::istringstream in("n,duration_s,content\n1,1,constant\n2,1,random\n3,1,random\n");
  KernelCsvOptions options;
  options.skip_first = 1;
  GroupedTables tables;
  add_kernel_csv(in, "rows", options, tables);
  const KernelTable& table = tables.at({});
  ASSERT_EQ(table.shapes().size(), 1U);
  EXPECT_EQ(table.shapes().front().shape.n, 3);
  EXPECT_EQ(table.rows_set_aside().size(), 2U);
}

/// Sizes tell the rows apart.
core::MpiMeasurement message(double size_bytes, const std::string& background, long pairs = 1,
                             const std::string& operation = "send") {
  core::MpiMeasurement row;
  row.operation = operation;
  row.scope = "local";
  row.size_bytes = size_bytes;
  row.duration_s = 1;
  row.background = background;
  row.pairs = pairs;
  return row;
}

std::vector<double> sizes_of(const std::vector<core::MpiMeasurement>& rows, bool all_backgrounds,
                             std::vector<std::string>& notes) {
  std::vector<double> sizes;
  rows_of_messages(rows_of(rows), all_backgrounds,
                   notes)([&](const core::MpiMeasurement& row) { sizes.push_back(row.size_bytes); });
  return sizes;
}

TEST(RowRules, MessagesUnderTheLoadOfHplCountAloneWhereThereAreAny) {
  const std::vector<core::MpiMeasurement> rows = {message(1, "none"), message(2, "dgemm+iprobe"), message(3, "dgemm"),
                                                  message(4, "dgemm+iprobe")};
  std::vector<std::string> notes, none;
  EXPECT_THAT(sizes_of(rows, false, notes), ElementsAre(2, 4));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("2 rows are left out: others were measured")));
  EXPECT_THAT(sizes_of(rows, true, none), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(sizes_of({message(1, "none"), message(3, "dgemm")}, false, none), ElementsAre(1, 3));
  EXPECT_THAT(none, IsEmpty());
}

TEST(RowRules, LoadedMessagesOfAHostLeaveThoseBetweenHosts) {
  std::vector<core::MpiMeasurement> rows = {message(1, "none"), message(2, "dgemm+iprobe"), message(3, "none")};
  rows.back().scope = "remote";
  std::vector<std::string> notes;
  EXPECT_THAT(sizes_of(rows, false, notes), ElementsAre(2, 3));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("1 rows are left out: others were measured")));
}

TEST(RowRules, LoadedMessagesLeaveThoseOfOtherOperationsAndFailedOnesLeaveAll) {
  std::vector<core::MpiMeasurement> rows = {message(1, "none"), message(2, "dgemm+iprobe", 1, "iprobe"),
                                            message(3, "none", 1, "iprobe")};
  std::vector<std::string> notes, none;
  EXPECT_THAT(sizes_of(rows, false, notes), ElementsAre(1, 2));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("1 rows are left out: others were measured")));
  rows[1].error = "timed out";
  EXPECT_THAT(sizes_of(rows, false, none), ElementsAre(1, 2, 3));
  EXPECT_THAT(none, IsEmpty());
}

TEST(RowRules, MessagesOfSeveralPairsTellNoCosts) {
  std::vector<std::string> notes;
  EXPECT_THAT(sizes_of({message(1, "none"), message(2, "dgemm+iprobe", 2), message(3, "dgemm+iprobe", 1, "one_way")},
                       false, notes),
              ElementsAre(1))
      << "nor does their load";
  EXPECT_THAT(notes, ElementsAre(HasSubstr("1 rows are left out: several pairs")));
}

}  // namespace
}  // namespace hplcast::fit
