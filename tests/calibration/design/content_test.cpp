#include "hplcast/calibration/dgemm_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

std::vector<double> filled(const Content& content, std::size_t count, std::uint64_t seed = 1) {
  std::vector<double> data(count);
  fill(data.data(), count, content, seed);
  return data;
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(Content, RandomIsUniformLikeTheMatrixOfHpl) {
  const std::vector<double> data = filled(Content::random(), 10000);
  double sum = 0, squares = 0;
  for (const double value : data) {
    ASSERT_GE(value, -0.5);
    ASSERT_LE(value, 0.5);
    sum += value;
    squares += value * value;
  }
  // Five standard errors of the mean (0.2887/100) and of the variance 1/12 (0.0745/100).
  EXPECT_NEAR(sum / 10000, 0, 0.0145);
  EXPECT_NEAR(squares / 10000, 1.0 / 12, 0.0038);
  EXPECT_EQ(std::set<double>(data.begin(), data.end()).size(), data.size());
}

TEST(Content, EqualSeedsGiveEqualNumbers) {
  EXPECT_EQ(filled(Content::random(), 100, 7), filled(Content::random(), 100, 7));
  EXPECT_NE(filled(Content::random(), 100, 7), filled(Content::random(), 100, 8));
}

TEST(Content, MasksClearExactlyTheLowBits) {
  const std::vector<double> whole = filled(Content::random(), 2000);
  for (const int bits : {0, 1, 17, 51, 52}) {
    const std::vector<double> masked = filled(Content::masked(bits), 2000);
    const std::uint64_t cleared = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < masked.size(); ++i) {
      ASSERT_EQ(bits_of(masked[i]), bits_of(whole[i]) & ~cleared) << "bit pattern with " << bits << " bits cleared";
      seen |= bits_of(masked[i]);
    }
    // 2000 random numbers use every bit of the mantissa that is left, and the sign.
    const std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1;
    EXPECT_EQ(seen & mantissa, mantissa & ~cleared);
    EXPECT_NE(seen >> 63, 0u);
  }
}

TEST(Content, ConstantAndSequentialAreWhatTheySay) {
  for (const double value : filled(Content::constant(0.25), 10)) EXPECT_EQ(value, 0.25);
  EXPECT_EQ(filled(Content::sequential(), 4), (std::vector<double>{0, 0.25, 0.5, 0.75}));
}

TEST(Content, TextsReadBack) {
  for (const char* text :
       {"random", "sequential", "masked-0", "masked-52", "constant-0", "constant-0.987", "constant--1"}) {
    EXPECT_EQ(to_string(Content::parse(text)), text);
  }
  EXPECT_EQ(to_string(Content::parse("constant")), "constant-0.987");
}

TEST(Content, OtherTextsAreRefusedWithTheChoices) {
  for (const char* text : {"", "Random", "masked", "masked-", "masked-53", "masked--1", "masked-1.5", "constant-",
                           "constant-x", "constant-nan"}) {
    EXPECT_THAT(error_in([&] { Content::parse(text); }), HasSubstr("random, constant, constant-VALUE, sequential"))
        << text;
  }
  EXPECT_THAT(error_in([] { Content::masked(53); }), HasSubstr("0 to 52"));
}

}  // namespace
}  // namespace hplcast::calibration
