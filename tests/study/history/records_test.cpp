#include "hplcast/study/history.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {
namespace {

TEST(ParseDate, ReadsDaysAndMinutes) {
  EXPECT_EQ(parse_date("1970-01-02"), 86400);
  EXPECT_EQ(parse_date("2020-04-02"), 1585785600);
  EXPECT_EQ(parse_date("2020-04-02 13:05"), 1585785600 + 13 * 3600 + 300);
  EXPECT_EQ(parse_date("2020-04-02T13:05"), 1585785600 + 13 * 3600 + 300);
  EXPECT_EQ(parse_date("2020-04-02 13:05:09"), 1585785600 + 13 * 3600 + 309);
  EXPECT_EQ(date_text(parse_date("2020-02-29")), "2020-02-29");
}

TEST(ParseEnd, IsTheEndOfADayOrATime) {
  EXPECT_EQ(parse_end("1970-01-02"), 2 * 86400 - 1);
  EXPECT_EQ(parse_end("1970-01-02 13:05"), 86400 + 13 * 3600 + 300);
  EXPECT_EQ(parse_end("1970-01-02T00:00:00"), 86400);
}

TEST(ParseDate, RefusesWhatIsNoDay) {
  for (const char* text : {"", "2020", "02/04/2020", "2020-13-01", "2021-02-29", "2020-04-02x", "2020-04-02 25:00",
                           "2020-04-02 13", "2020-04-02,13:05", "2020-04-02 13:05:61",
                           "2020-04-02 13:05:", "-100-04-02", "+020-04-02", " 2020-04-02", "21-02-25", "1969-12-31"})
    EXPECT_THROW(parse_date(text), core::DomainError) << text;
}

TEST(NamesIn, AreAllOfAList) {
  EXPECT_EQ(names_in("dahu-1/dahu-26"), (std::vector<std::string>{"dahu-1", "dahu-26"}));
  EXPECT_EQ(names_in("a//"), (std::vector<std::string>{"a", "", ""}));
  EXPECT_EQ(names_in(""), (std::vector<std::string>{""}));
}

TEST(ListNames, FindsWholeNamesOnly) {
  EXPECT_TRUE(list_names("all", "x"));
  EXPECT_TRUE(list_names("dahu-1/dahu-26", "dahu-26"));
  EXPECT_FALSE(list_names("dahu-1/dahu-26", "dahu-2"));
  EXPECT_FALSE(list_names("", "dahu-2"));
}

}  // namespace
}  // namespace hplcast::study
