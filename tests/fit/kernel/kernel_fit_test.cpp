#include "hplcast/fit/kernel_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "tests/fit/kernel/synthetic_kernel.hpp"

namespace hplcast::fit {
namespace {

using core::KernelShape;
using core::Monomial;
using core::NoiseFamily;
using test::dgemm_law;
using test::measured;
using test::random_shapes;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Monomial> dgemm_terms = {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}};

double predicted_total(const KernelFit& fit, const KernelTable& table) {
  double sum = 0;
  for (const ShapeSummary& one : table.shapes())
    sum += static_cast<double>(one.count) * fit.model.cluster_law().at(one.shape).mean_s(one.shape);
  return sum;
}

KernelTable line_table() {  // durations 1e-6 (1 + n), n = 1..20, exactly
  KernelTable table;
  for (int n = 1; n <= 20; ++n) table.add({1, static_cast<double>(n), 1}, 1e-6 * (1 + n));
  return table;
}

KernelFitOptions m1(const char* product, Weighting weighting = Weighting::totals) {
  KernelFitOptions options;
  options.level = "M1";
  options.terms = {core::parse_monomial(product)};
  options.weighting = weighting;
  return options;
}

class EveryWeighting : public ::testing::TestWithParam<Weighting> {};
INSTANTIATE_TEST_SUITE_P(Kernel, EveryWeighting,
                         ::testing::Values(Weighting::ordinary, Weighting::relative, Weighting::totals));

TEST_P(EveryWeighting, RecoversCoefficientsOfNoiselessData) {
  const core::DurationLaw law = dgemm_law(NoiseFamily::none);
  KernelFitOptions options;
  options.weighting = GetParam();
  const KernelFit fit = fit_kernel(measured(law, random_shapes(200, 16, 4000, 1), 1, 1), options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  for (const Monomial& term : dgemm_terms) {
    // With ordinary weights the constant is 1e-7 of the longest call: 9 of 16 digits are left, less what the QR loses.
    const double tolerance = GetParam() == Weighting::ordinary ? 1e-6 : 1e-9;
    EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient(term) / law.mu().coefficient(term), 1, tolerance)
        << to_string(term);
  }
  EXPECT_EQ(fit.model.cluster_law().at({}).noise(), NoiseFamily::none);
}

TEST_P(EveryWeighting, IsWithinFiveStandardErrorsOfTheTruth) {
  const core::DurationLaw law = dgemm_law(NoiseFamily::half_normal);
  KernelFitOptions options;
  options.weighting = GetParam();
  options.remove_insignificant = false;
  const KernelFit fit = fit_kernel(measured(law, random_shapes(300, 16, 4000, 2), 5, 2), options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const PolynomialFit& mu = fit.pieces[0].mu;
  for (std::size_t i = 0; i < mu.polynomial.terms().size(); ++i)
    EXPECT_LT(std::abs(mu.polynomial.coefficients()[i] - law.mu().coefficient(mu.polynomial.terms()[i])),
              5 * mu.standard_errors[i]);
}

TEST(KernelFit, TotalsWeightingPredictsTheTotalTimeOfTheCallsMeasured) {
  // A line through the origin fitted to an offset line: the shape is wrong, the total is right.
  KernelFitOptions options = m1("n");
  options.intercept = Intercept::none;
  const KernelTable table = line_table();
  const KernelFit fit = fit_kernel(table, options);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(predicted_total(fit, table) / table.total_s(), 1, 1e-9);
  // Then the coefficient is the ratio of the sums: (20 + 210)/210 microseconds.
  EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient({0, 1, 0}), 1e-6 * 230 / 210, 1e-15);
  // Ordinary weights are led by the longest calls: sum(n (n + 1))/sum(n^2).
  options.weighting = Weighting::ordinary;
  EXPECT_NEAR(fit_kernel(table, options).model.cluster_law().at({}).mu().coefficient({0, 1, 0}),
              1e-6 * (2870 + 210) / 2870, 1e-15);
}

TEST(KernelFit, CallsAveragingEqualsARegressionOnEveryCall) {
  KernelTable table;
  const std::vector<std::pair<double, double>> calls = {{1, 1.1}, {1, 0.9}, {1, 1.3}, {2, 2.2},
                                                        {3, 2.9}, {3, 3.3}, {4, 4.0}};
  double xx = 0, xy = 0;
  for (const auto& [n, d] : calls) {
    table.add({1, n, 1}, d);
    xx += n * n;
    xy += n * d;
  }
  KernelFitOptions options = m1("n", Weighting::ordinary);
  options.intercept = Intercept::none;
  options.noise = NoiseLevel::n1;
  const KernelFit fit = fit_kernel(table, options);
  ASSERT_TRUE(fit.ok());
  const double slope = xy / xx;
  double rss = 0;
  for (const auto& [n, d] : calls) rss += (d - slope * n) * (d - slope * n);
  EXPECT_NEAR(fit.pieces[0].mu.polynomial.coefficients()[0], slope, 1e-14);
  EXPECT_NEAR(fit.pieces[0].mu.standard_errors[0], std::sqrt(rss / 6 / xx), 1e-14);
  EXPECT_NEAR(fit.model.cluster_law().at({}).sd_s({}), std::sqrt(rss / 6), 1e-14);
}

TEST(KernelFit, RemovesTermsThatAreNotThereAndSaysSo) {
  const core::Polynomial mu = core::Polynomial::make({{1, 1, 1}}, {7e-11});
  const core::DurationLaw law = core::DurationLaw::make(mu, core::scaled(mu, 0.05), NoiseFamily::half_normal);
  const KernelFit fit = fit_kernel(measured(law, random_shapes(300, 64, 2000, 3), 3, 3));
  ASSERT_TRUE(fit.ok());
  EXPECT_LE(fit.model.cluster_law().at({}).mu().terms().size(), 3u);  // a third of four false terms passes |t| >= 1
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("standard errors from zero")));
}

TEST(KernelFit, KAlwaysTheSameDropsTheTermsThatSayTheSame) {
  std::vector<KernelShape> shapes = random_shapes(200, 64, 4000, 4);
  for (KernelShape& shape : shapes) shape.k = 128;
  const core::DurationLaw law = dgemm_law(NoiseFamily::half_normal);
  KernelTable table = measured(law, shapes, 4, 4);
  const KernelFit fit = fit_kernel(table);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.model.cluster_law().at({}).mu().coefficient({1, 1, 0}), 0);
  // mn is in mnk now: 7e-11 + 2e-10/128. 1 percent: the noise of 2 percent on 800 calls, and room for the removed
  // terms.
  EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient({1, 1, 1}) / (7e-11 + 2e-10 / 128), 1, 0.01);
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("k is always 128")));
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("term mn left out")));
}

TEST(KernelFit, SigmaIsNeverNegativeInTheRange) {
  // Noise that falls with the size: a free polynomial would cross zero.
  const core::Polynomial mu = core::Polynomial::make({{1, 1, 1}, {}}, {1e-10, 1e-5});
  const core::Polynomial sigma = core::Polynomial::make({{1, 1, 1}, {}}, {-1e-14, 2e-6});
  std::vector<KernelShape> shapes = random_shapes(200, 16, 500, 5);
  const KernelFit fit =
      fit_kernel(measured(core::DurationLaw::make(mu, sigma, NoiseFamily::half_normal), shapes, 4, 5));
  ASSERT_TRUE(fit.ok());
  for (const KernelShape& shape : shapes) EXPECT_GE(fit.model.cluster_law().at(shape).sigma()(shape), 0);
}

TEST(KernelFit, N2MatchesTheStandardDeviationOfEachFamily) {
  for (NoiseFamily family : {NoiseFamily::half_normal, NoiseFamily::normal, NoiseFamily::log_normal})
    for (int repeats : {1, 2, 16}) {  // one call a shape: from the residuals
      const core::DurationLaw law = dgemm_law(family, 0.1);
      const std::vector<KernelShape> shapes = random_shapes(3200 / repeats, 16, 2000, 6);
      KernelFitOptions options;
      options.family = family;
      const KernelFit fit = fit_kernel(measured(law, shapes, repeats, 6), options);
      ASSERT_TRUE(fit.ok());
      double ratio = 0;
      for (const KernelShape& shape : shapes)
        ratio += fit.model.cluster_law().at(shape).sd_s(shape) / law.sd_s(shape) / static_cast<double>(shapes.size());
      // 3200 squares: the standard deviation is known to 1/sqrt(2*3200) = 1.3 percent (1.5 for half-normal), times 4.
      EXPECT_NEAR(ratio, 1, 0.06) << to_string(family) << " " << repeats;
    }
}

TEST(KernelFit, PicksTheFamilyThatMadeTheNoise) {
  for (NoiseFamily family : {NoiseFamily::half_normal, NoiseFamily::normal, NoiseFamily::log_normal}) {
    KernelFitOptions options;
    options.family.reset();
    // 20 percent: a log-normal law of little spread cannot be told from a normal one, a normal one of more is negative
    // at times.
    const KernelFit fit = fit_kernel(measured(dgemm_law(family, 0.2), random_shapes(400, 16, 2000, 7), 10, 7), options);
    ASSERT_TRUE(fit.ok());
    const NoiseFamily found = fit.model.cluster_law().at({}).noise();
    EXPECT_EQ(found, family) << to_string(family) << " taken for " << to_string(found);
  }
}

TEST(KernelFit, PicksAMixtureForSeveralSpeeds) {
  const core::Polynomial mu = core::Polynomial::make({{1, 1, 1}}, {1e-10});
  const core::DurationLaw law =
      core::DurationLaw::make(mu, {}, NoiseFamily::mixture, {{0.75, 0.9, 0.02}, {0.25, 1.3, 0.02}});
  KernelFitOptions options;
  options.family.reset();
  const KernelFit fit = fit_kernel(measured(law, random_shapes(400, 64, 2000, 8), 6, 8), options);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.model.cluster_law().at({}).noise(), NoiseFamily::mixture);
}

TEST(KernelFit, MixtureNoiseKeepsTheExpectation) {
  const core::Polynomial mu = core::Polynomial::make({{1, 1, 1}}, {1e-10});
  const core::DurationLaw law =
      core::DurationLaw::make(mu, {}, NoiseFamily::mixture, {{0.9, 0.95, 0.01}, {0.1, 1.45, 0.05}});
  KernelFitOptions options;
  options.noise = NoiseLevel::mixture;
  const KernelFit fit = fit_kernel(measured(law, random_shapes(500, 64, 2000, 8), 6, 8), options);
  ASSERT_TRUE(fit.ok());
  const core::DurationLaw& found = fit.model.cluster_law().at({});
  ASSERT_EQ(found.modes().size(), 2u);
  EXPECT_NEAR(found.modes()[0].probability, 0.9, 0.03);  // 5 standard errors of 3000 calls
  EXPECT_NEAR(found.modes()[1].mean / found.modes()[0].mean, 1.45 / 0.95, 0.02);
}

TEST(KernelFit, OutliersAreReportedAndKeptInTheTotal) {
  KernelTable table = measured(dgemm_law(NoiseFamily::half_normal), random_shapes(500, 16, 1000, 9), 4, 9);
  for (int i = 0; i < 3; ++i) table.add({20.0 + i, 20, 20}, 0.02);  // 20 ms where 5 us are due: an interrupt
  const KernelFit fit = fit_kernel(table);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(predicted_total(fit, table) / table.total_s(), 1, 1e-8);
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("interrupts?")));
}

TEST(KernelFit, AFormulaThatDoesNotSuitIsNotTakenForInterrupts) {
  KernelTable table;
  core::RandomStream stream({13, core::stream_kernel, 0, 0});
  for (const KernelShape& shape : random_shapes(100, 10, 10000, 13))
    for (int call = 0; call < 3; ++call)  // a step that no line follows
      table.add({1, shape.n, 1}, (shape.n < 3000 ? 1e-6 : 5e-6) * (1 + 0.001 * stream.normal()));
  const KernelFit fit = fit_kernel(table, m1("n", Weighting::relative));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("it does not suit some shapes")));
  EXPECT_THAT(fit.model.quality().notes, Not(Contains(HasSubstr("interrupts?"))));
}

TEST(KernelFit, ASlowStartIsReported) {
  const core::DurationLaw law = dgemm_law(NoiseFamily::half_normal);
  const std::vector<KernelShape> shapes = random_shapes(1000, 64, 1000, 10);
  core::RandomStream stream({10, core::stream_kernel, 0, 0});
  KernelTable table;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    table.add(shapes[i], law.sample_s(shapes[i], stream.next()) * (i < KernelTable::first_calls_kept ? 2 : 1));
  EXPECT_THAT(fit_kernel(table).model.quality().notes, Contains(HasSubstr("warm-up?")));
}

TEST(KernelFit, PiecesAreFoundWhereTheSlopeChanges) {
  const auto seconds = [](double n) { return n < 1000 ? 1e-9 * n : 1e-6 + 3e-9 * (n - 1000); };
  core::RandomStream stream({11, core::stream_kernel, 0, 0});
  KernelTable table;
  for (const KernelShape& shape : random_shapes(600, 10, 100000, 11))
    table.add({1, shape.n, 1}, seconds(shape.n) * (1 + 0.01 * stream.normal()));
  KernelFitOptions options = m1("n", Weighting::relative);
  options.level = "M'";
  options.split = {0, 1, 0};
  const KernelFit fit = fit_kernel(table, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  ASSERT_EQ(fit.pieces.size(), 2u);
  EXPECT_NEAR(std::log(fit.pieces[1].from / 1000), 0, 0.2);  // the blocks of the search are 15 percent wide
  options.breakpoints = {1000};
  const KernelFit given = fit_kernel(table, options);
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.pieces[1].from, 1000);
  EXPECT_EQ(given.model.level(), "M'");
  ASSERT_EQ(given.model.quality().mu_t_values.size(),
            given.pieces[0].mu.t_values.size() + given.pieces[1].mu.t_values.size());
  EXPECT_EQ(given.model.quality().mu_t_values.back(), given.pieces[1].mu.t_values.back());
}

TEST(KernelFit, PiecesInOneSizeAreLinesInTheProductOfAll) {
  KernelTable table;
  for (const KernelShape& shape : random_shapes(400, 10, 1000, 12))
    table.add({shape.m, shape.n, 1}, (shape.n < 100 ? 3e-9 : 1e-9) * shape.m * shape.n);
  KernelFitOptions options;
  options.level = "M'";
  options.split = {0, 1, 0};
  options.intercept = Intercept::none;
  options.breakpoints = {100};
  const KernelFit fit = fit_kernel(table, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_NEAR(fit.pieces[0].mu.polynomial.coefficient({1, 1, 0}) / 3e-9, 1, 1e-9);
  EXPECT_NEAR(fit.pieces[1].mu.polynomial.coefficient({1, 1, 0}) / 1e-9, 1, 1e-9);
}

TEST(KernelFit, ALaterPieceIsNegativeNeitherWhereItBeginsNorInItsProducts) {
  KernelFitOptions options = m1("n", Weighting::ordinary);
  options.level = "M'";
  options.split = {0, 1, 0};
  options.non_negative = true;
  KernelTable square;  // the line through n^2 from 4 to 40 is 44 n - 370, from 20 to 40 it is 60 n - 863
  for (int n = 1; n <= 40; ++n) square.add({1, static_cast<double>(n), 1}, 1e-9 * n * n);
  options.breakpoints = {20};
  EXPECT_NEAR(fit_kernel(square, options).pieces[1].mu.polynomial.coefficient({}) / -863.3e-9, 1, 1e-3);
  options.breakpoints = {4};
  const auto all_positive = [&](const KernelTable& table) {
    const core::Polynomial line = fit_kernel(table, options).pieces.at(1).mu.polynomial;
    return !line.coefficients().empty() &&
           *std::min_element(line.coefficients().begin(), line.coefficients().end()) > 0;
  };
  EXPECT_TRUE(all_positive(square));

  KernelTable gap;  // the later line is 0 at 25: it begins with its first call
  for (int n = 1; n <= 60; ++n)
    if (n <= 10 || n >= 30) gap.add({1, static_cast<double>(n), 1}, n <= 10 ? 1e-9 * n : 1e-7 * (n - 25));
  options.breakpoints = {12};
  EXPECT_EQ(fit_kernel(gap, options).pieces[1].from, 30);
  EXPECT_NEAR(fit_kernel(gap, options).pieces[1].mu.polynomial.coefficient({}) / -25e-7, 1, 1e-9);

  KernelTable fewer;  // more rows take less: no product may say so, since far more of them would take less than nothing
  for (int m = 10; m <= 20; ++m)
    for (int n = 10; n <= 60; n += 5) fewer.add({1.0 * m, 1.0 * n, 1}, 1e-9 * m * n + 1e-7 * (30 - m));
  options.split = options.terms[0] = {1, 1, 0};
  options.terms.push_back({1, 0, 0});
  options.breakpoints = {300};
  EXPECT_TRUE(all_positive(fewer));
}

TEST(KernelFit, ALaterPieceIsThatOfItsCallsNotOfAllSizesBetweenTheirs) {
  KernelTable table;  // at the least m and the least n of the later calls the line is far below 0
  for (int m = 100; m <= 3000; m += 100)
    for (int n = 5; n <= 200; n += 15) {
      const double elements = 1.0 * m * n;
      table.add({1.0 * m, 1.0 * n, 1}, elements < 2e5 ? 1e-7 + 1e-10 * elements : 5e-10 * elements - 7.99e-5);
    }
  KernelFitOptions options;
  options.level = "M'";
  options.split = {1, 1, 0};
  options.breakpoints = {2e5};
  const KernelFit fit = fit_kernel(table, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_NEAR(fit.pieces[1].mu.polynomial.coefficient({1, 1, 0}) / 5e-10, 1, 1e-6);
  EXPECT_NEAR(fit.pieces[1].mu.polynomial.coefficient({}) / -7.99e-5, 1, 1e-6);
  EXPECT_EQ(fit.pieces[1].from, 2e5) << "where it is above 0 already";
}

TEST(KernelFit, OnePieceIsEnoughForOneLine) {
  KernelFitOptions options = m1("n");
  options.level = "M'";
  options.split = {0, 1, 0};
  const core::Polynomial mu = core::Polynomial::make({{0, 1, 0}, {}}, {1e-9, 1e-6});
  const core::DurationLaw law = core::DurationLaw::make(mu, core::scaled(mu, 0.05), NoiseFamily::half_normal);
  std::vector<KernelShape> shapes = random_shapes(500, 10, 100000, 12);
  for (KernelShape& shape : shapes) shape = {1, shape.n, 1};
  EXPECT_EQ(fit_kernel(measured(law, shapes, 1, 12), options).pieces.size(), 1u);
}

TEST(KernelFit, OfEqualDurationsIsAConstant) {
  for (const char* level : {"M0", "M1", "M2", "M'"}) {
    KernelTable table;
    for (const KernelShape& shape : random_shapes(50, 16, 4000, 1))
      for (int call = 0; call < 3; ++call) table.add(shape, 1e-6);
    KernelFitOptions options;
    options.level = level;
    const KernelFit fit = fit_kernel(table, options);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    EXPECT_EQ(fit.model.level(), "M0");
    const core::DurationLaw& law = fit.model.cluster_law().at({});
    EXPECT_NEAR(law.mean_s({16, 16, 16}), 1e-6, 1e-15);
    EXPECT_NEAR(law.mean_s({4000, 4000, 4000}), 1e-6, 1e-15);
    EXPECT_EQ(law.noise(), NoiseFamily::none);
    EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("a constant (M0)")));
  }
  // One shape says nothing of others: its time goes with the product, as asked for.
  KernelTable one;
  for (int call = 0; call < 3; ++call) one.add({100, 100, 100}, 1e-3);
  KernelFitOptions options = m1("mnk");
  options.intercept = Intercept::none;
  const KernelFit fit = fit_kernel(one, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.model.level(), "M1");
}

TEST(KernelFit, FewerShapesThanCoefficientsIsAStatus) {
  KernelTable table;
  table.add({10, 10, 10}, 1e-6);
  table.add({20, 10, 10}, 2e-6);
  const KernelFit fit = fit_kernel(table);
  EXPECT_EQ(fit.status, FitStatus::too_few_shapes);
  EXPECT_THAT(fit.reason, HasSubstr("2 distinct shapes for 5 coefficients"));
  EXPECT_EQ(fit_kernel(KernelTable()).status, FitStatus::no_rows);
}

TEST(KernelFit, OneShapeIsEnoughForOneCoefficient) {
  KernelTable table;
  for (double d : {1e-6, 1.2e-6, 1.1e-6}) table.add({10, 10, 1}, d);
  KernelFitOptions options = m1("mn");
  options.intercept = Intercept::none;
  const KernelFit fit = fit_kernel(table, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_NEAR(fit.model.cluster_law().at({}).mean_s({10, 10, 1}), 1.1e-6, 1e-18);
}

TEST(KernelFit, NegativePredictionsInTheRangeTurnIntoNonNegativeCoefficients) {
  KernelTable table;  // quadratic in n: a free line has a negative constant
  for (int n = 1; n <= 40; ++n) table.add({1, static_cast<double>(n), 1}, 1e-9 * n * n);
  const KernelFit fit = fit_kernel(table, m1("n", Weighting::ordinary));
  ASSERT_TRUE(fit.ok());
  for (double c : fit.model.cluster_law().at({}).mu().coefficients()) EXPECT_GT(c, 0);
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("held at 0 or above")));
}

TEST(KernelFit, NarrowRangesAndRowsSetAsideAreNoted) {
  KernelTable table;
  for (int n = 100; n < 140; ++n) table.add({1, static_cast<double>(n), 1}, 1e-8 * n);
  table.set_aside("the call failed: out of memory", 2);
  const KernelFit fit = fit_kernel(table, m1("n"));
  EXPECT_THAT(fit.model.quality().notes, Contains(HasSubstr("n only goes from 100 to 139")));
  EXPECT_THAT(fit.model.quality().notes, Contains("data: 2 rows set aside, the call failed: out of memory"));
  EXPECT_EQ(fit.model.quality().rows_set_aside, 2);
}

TEST(KernelFit, AShapeFarFromAllOthersIsNamed) {
  KernelTable table;
  for (int n = 100; n < 140; ++n) table.add({1.0, static_cast<double>(n), 1}, 1e-6 + 1e-9 * n + 1e-10 * (n % 7));
  KernelFitOptions options = m1("n", Weighting::ordinary);
  EXPECT_THAT(fit_kernel(table, options).model.quality().notes, Not(Contains(HasSubstr("alone decides"))));
  table.add({1, 100000, 1}, 1e-6 + 1e-4);
  EXPECT_THAT(
      fit_kernel(table, options).model.quality().notes,
      Contains("mu: the shape 1 x 100000 x 1 alone decides a coefficient; measure more shapes of about its size"));
}

TEST(KernelFit, ContradictingOptionsAreRefused) {
  const KernelTable table = line_table();
  KernelFitOptions options;
  options.level = "M3";
  EXPECT_THROW(fit_kernel(table, options), core::DomainError);
  options = m1("n");
  options.terms.push_back({1, 0, 0});
  EXPECT_THROW(fit_kernel(table, options), core::DomainError);
  options.level = "M0";
  options.terms.resize(1);
  EXPECT_THROW(fit_kernel(table, options), core::DomainError);
  options = {};
  options.terms = {{1, 1, 1}, {1, 1, 1}};
  EXPECT_THROW(fit_kernel(table, options), core::DomainError);
  options = {};
  options.min_abs_t = std::nan("");
  EXPECT_THROW(fit_kernel(table, options), core::DomainError);
  options = {};
  options.level = "M'";
  options.breakpoints = {5, 3};
  EXPECT_THROW(fit_kernel(table, options), core::DomainError);
}

TEST(KernelTable, RefusesValuesThatAreNotPositiveNumbers) {
  KernelTable table;
  for (double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(table.add({10, 10, 10}, bad), core::DomainError);
    EXPECT_THROW(table.add({bad, 10, 10}, 1), core::DomainError);
  }
  EXPECT_EQ(table.rows(), 0);
}

TEST(KernelTable, MemoryGrowsWithShapesNotCalls) {
  KernelTable table;
  for (int i = 0; i < 200000; ++i) table.add({1.0 + i % 10, 1, 1}, 1 + i % 7);
  EXPECT_EQ(table.shapes().size(), 10u);
  EXPECT_EQ(table.sample().size(), KernelTable::sample_size);
  EXPECT_EQ(table.rows(), 200000);
  // The sample is spread over the whole file: the mean of its durations is that of all, 4 +- 5*2/sqrt(20000).
  double mean = 0;
  for (const SampledCall& call : table.sample()) mean += call.duration_s / KernelTable::sample_size;
  EXPECT_NEAR(mean, 4, 0.07);
}

TEST(KernelFit, PublishedSigmaIsThatOfShapesCalledTwice) {
  const core::DurationLaw law = dgemm_law(NoiseFamily::normal);
  const auto shapes = random_shapes(60, 64, 4000, 1);
  const KernelTable repeated = measured(law, shapes, 8, 1);
  const auto sigma = [](const KernelTable& table) {
    return fit_kernel(table, published_options(Intercept::none)).pieces.at(0).sigma.polynomial;
  };
  KernelTable more = repeated;  // a call of another shape says nothing of its scatter
  for (const KernelShape& shape : random_shapes(60, 64, 4000, 2)) more.add(shape, law.mean_s(shape));
  EXPECT_EQ(sigma(more), sigma(repeated));
  const KernelFit single = fit_kernel(measured(law, shapes, 1, 1), published_options(Intercept::none));
  ASSERT_TRUE(single.ok()) << single.reason;
  EXPECT_EQ(single.model.cluster_law().at({}).noise(), NoiseFamily::none);
  EXPECT_THAT(single.model.quality().notes, Contains(HasSubstr("called twice")));
}

}  // namespace
}  // namespace hplcast::fit
