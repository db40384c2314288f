#include "hplcast/fit/network_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/errors_in.hpp"

namespace hplcast::fit {
namespace {

TEST(Thresholds, SayWhetherProbesAreLate) {
  const auto options_of = [](const std::string& more) {
    std::istringstream in(
        "{\"thresholds\": [{\"scope\": \"local\", \"async_small_bytes\": 300, \"detached_bytes\": 400" + more + "}]}");
    NetworkFitOptions options;
    set_thresholds(in, "thresholds.json", options);
    return options;
  };
  EXPECT_TRUE(options_of(", \"late_probes\": true").late_probes);
  EXPECT_FALSE(options_of(", \"late_probes\": false").late_probes);
  EXPECT_FALSE(options_of("").late_probes) << "files of earlier versions";
}

TEST(Thresholds, SayWhatNewMemoryCostsInEachScope) {
  std::istringstream in(
      R"({"thresholds": [
           {"scope": "local", "async_small_bytes": 3, "detached_bytes": 4, "first_use_s_per_byte": 2e-9},
           {"scope": "remote", "async_small_bytes": 3, "detached_bytes": 4}]})");
  NetworkFitOptions options;
  set_thresholds(in, "thresholds.json", options);
  EXPECT_EQ(options.first_use_s_per_byte[0], 2e-9);
  EXPECT_EQ(options.first_use_s_per_byte[1], 0) << "files of earlier versions";
}

TEST(Thresholds, AreWholeNumbersOfBytesOrNull) {
  for (const char* bad : {"-5", "1000.7", "\"64KiB\""}) {
    std::istringstream in(R"({"thresholds": [{"scope": "remote", "async_small_bytes": )" + std::string(bad) +
                          R"(, "detached_bytes": null}]})");
    NetworkFitOptions options;
    EXPECT_THAT(tests::error_in([&] { set_thresholds(in, "thresholds.json", options); }),
                ::testing::AllOf(::testing::HasSubstr("async_small_bytes"), ::testing::HasSubstr(bad)));
  }
}

// As Python and R write numbers of theirs.
TEST(Thresholds, MayHaveADecimalPoint) {
  std::istringstream in(
      R"({"thresholds": [{"scope": "remote", "async_small_bytes": 65536.0, "detached_bytes": 1.31072e5}]})");
  NetworkFitOptions options;
  set_thresholds(in, "thresholds.json", options);
  EXPECT_EQ(options.async_small_bytes, 65536U);
  EXPECT_EQ(options.detached_bytes, 131072U);
}

}  // namespace
}  // namespace hplcast::fit
