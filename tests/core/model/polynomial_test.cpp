#include "hplcast/core/kernel_shape.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {
namespace {

TEST(Monomial, ReadsTheFormsInUse) {
  EXPECT_EQ(parse_monomial("mnk"), (Monomial{1, 1, 1}));
  EXPECT_EQ(parse_monomial("M*M*N"), (Monomial{2, 1, 0}));
  EXPECT_EQ(parse_monomial("m^2n"), (Monomial{2, 1, 0}));
  EXPECT_EQ(parse_monomial("1"), Monomial{});
  EXPECT_EQ(parse_monomial("intercept"), Monomial{});
}

TEST(Monomial, RoundTripsThroughText) {
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n < 4; ++n)
      for (int k = 0; k < 4; ++k) EXPECT_EQ(parse_monomial(to_string(Monomial{m, n, k})), (Monomial{m, n, k}));
}

TEST(Monomial, RefusesWhatIsNoProduct) {
  for (const char* text : {"", "x", "m+n", "2", "mn^", "m^n", "*", "m^9m"})
    EXPECT_THROW(parse_monomial(text), DomainError) << text;
}

TEST(Polynomial, SumsItsTerms) {
  const auto p = Polynomial::make({{1, 1, 1}, {1, 0, 0}, {}}, {2, 3, 5});
  EXPECT_EQ(p({7, 11, 13}), 2.0 * 7 * 11 * 13 + 3 * 7 + 5);
}

TEST(Polynomial, DoesNotOverflowWhere32And64BitProductsDo) {
  const auto p = Polynomial::make({{1, 1, 1}}, {1});
  EXPECT_EQ(p({4e6, 4e6, 4e6}), 6.4e19);  // above 2^63
}

TEST(Polynomial, RefusesRepeatedTermsAndOtherLengths) {
  EXPECT_THROW(Polynomial::make({{1, 1, 0}, {1, 1, 0}}, {1, 2}), DomainError);
  EXPECT_THROW(Polynomial::make({{1, 1, 0}}, {1, 2}), DomainError);
  EXPECT_THROW(Polynomial::make({{}}, {0.0 / 0.0}), DomainError);
}

}  // namespace
}  // namespace hplcast::core
