#include "hplcast/calibration/measure_mpi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FirstSizeWithout, FindsEveryLimitToTheByte) {
  constexpr long max_bytes = 1000;
  for (long limit = 0; limit <= max_bytes; ++limit) {
    int calls = 0;
    const FirstSize found = first_size_without([&](long bytes) { return ++calls, bytes <= limit; }, max_bytes);
    if (limit == 0) {
      EXPECT_EQ(found, 0);  // not even one byte
    } else if (limit == max_bytes) {
      EXPECT_FALSE(found.has_value());
    } else {
      EXPECT_EQ(found, limit + 1);
    }
    EXPECT_LE(calls, 12);  // 2 + log2(1000)
  }
  EXPECT_FALSE(first_size_without([](long) { return true; }, 1).has_value());
  EXPECT_THAT(tests::error_in([] { first_size_without([](long) { return true; }, 0); }), HasSubstr("at least 1"));
}

ScopeThresholds thresholds(FirstSize copied, FirstSize detached, FirstSize unattended) {
  ScopeThresholds result;
  result.scope = "local";
  result.max_bytes = 1 << 20;
  result.copied = copied;
  result.detached = detached;
  result.unattended = unattended;
  return result;
}

TEST(ThresholdNotes, SayWhichModesDoNotExist) {
  EXPECT_THAT(notes_on(thresholds(1000, 5000, 5000)), ElementsAre());
  EXPECT_THAT(notes_on(thresholds(5000, 5000, 5000)), ElementsAre(HasSubstr("no detached mode")));
  EXPECT_THAT(notes_on(thresholds(0, 5000, 5000)), ElementsAre(HasSubstr("no eager mode")));
  EXPECT_THAT(notes_on(thresholds(0, 0, 0)), ElementsAre(HasSubstr("no eager mode"), HasSubstr("always waits")));
  EXPECT_THAT(notes_on(thresholds(1000, std::nullopt, std::nullopt)),
              ElementsAre(HasSubstr("no rendezvous up to 1048576")));
  EXPECT_THAT(notes_on(thresholds(1000, 5000, 257)), ElementsAre(HasSubstr("from 257 bytes on")));
}

TEST(ThresholdJson, HasNullForWhatWasNotReached) {
  std::ostringstream json;
  write_json(json, {thresholds(4041, std::nullopt, 257)});
  EXPECT_THAT(json.str(), HasSubstr("\"async_small_bytes\": 4041"));
  EXPECT_THAT(json.str(), HasSubstr("\"detached_bytes\": null"));
  EXPECT_THAT(json.str(), HasSubstr("\"unattended_bytes\": 257"));
}

}  // namespace
}  // namespace hplcast::calibration
