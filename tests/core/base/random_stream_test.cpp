#include "hplcast/core/random_stream.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace hplcast::core {
namespace {

TEST(RandomStream, SameNameSameNumbersWhateverTheOrder) {
  const StreamName name{7, stream_kernel, 3, 2};
  const double late = draw(name, 1000).normal;
  draw(name, 5);
  EXPECT_EQ(draw(name, 1000).normal, late);
}

TEST(RandomStream, EveryPartOfTheNameMatters) {
  const StreamName base{7, stream_kernel, 3, 2};
  std::set<double> seen = {draw(base, 0).uniform, draw(base, 1).uniform};
  for (const StreamName& other : {StreamName{8, stream_kernel, 3, 2}, StreamName{7, stream_pivot, 3, 2},
                                  StreamName{7, stream_kernel, 4, 2}, StreamName{7, stream_kernel, 3, 1}}) {
    seen.insert(draw(other, 0).uniform);
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(RandomStream, HasTheMomentsOfItsLaws) {
  RandomStream stream({1, stream_fit, 0, 0});
  constexpr int n = 200000;
  double u = 0, u2 = 0, z = 0, z2 = 0, z4 = 0, uz = 0;
  for (int i = 0; i < n; ++i) {
    const Draw d = stream.next();
    ASSERT_GT(d.uniform, 0);
    ASSERT_LT(d.uniform, 1);
    u += d.uniform;
    u2 += d.uniform * d.uniform;
    z += d.normal;
    z2 += d.normal * d.normal;
    z4 += std::pow(d.normal, 4);
    uz += (d.uniform - 0.5) * d.normal;
  }
  // Five standard errors of each mean: sd of u is 0.289, of u^2 0.298, of z 1, of z^2 1.41, of z^4 9.8.
  const double se = 5 / std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(u / n, 0.5, 0.289 * se);
  EXPECT_NEAR(u2 / n, 1.0 / 3, 0.298 * se);
  EXPECT_NEAR(z / n, 0, se);
  EXPECT_NEAR(z2 / n, 1, 1.42 * se);
  EXPECT_NEAR(z4 / n, 3, 9.8 * se);
  EXPECT_NEAR(uz / n, 0, 0.289 * se);
}

TEST(RandomStream, HasTheNormalNumbersOfBoxAndMuller) {
  const StreamName name{3, stream_design, 1, 2, 5};
  for (std::uint64_t call = 0; call < 100'000; ++call) {
    const auto [first, second, third, fourth] = uniforms(name, call);
    const long double angle = 2 * std::acos(-1.0L) * third;
    const double normal = draw(name, call).normal;
    EXPECT_NEAR(normal, static_cast<double>(std::sqrt(-2 * std::log(second)) * std::cos(angle)), 5e-15);
    EXPECT_LT(std::abs(normal), largest_normal);
    EXPECT_EQ(draw(name, call).uniform, first);
  }
}

TEST(RandomStream, BelowStaysBelowAndReachesAll) {
  RandomStream stream({1, stream_design, 0, 0});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(stream.below(5));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace hplcast::core
