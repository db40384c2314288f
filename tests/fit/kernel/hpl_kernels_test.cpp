#include "hplcast/fit/hpl_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/fit/kernel/synthetic_kernel.hpp"

namespace hplcast::fit {
namespace {

using core::DurationLaw;
using core::Monomial;
using core::NoiseFamily;
using core::Polynomial;

DurationLaw law_of(const std::vector<Monomial>& terms, const std::vector<double>& coefficients) {
  const Polynomial mu = Polynomial::make(terms, coefficients);
  return DurationLaw::make(mu, core::scaled(mu, 0.1), NoiseFamily::log_normal);
}

std::vector<core::KernelShape> panel_shapes(int count) {
  std::vector<core::KernelShape> shapes = test::random_shapes(count, 4, 3000, 21);
  for (core::KernelShape& shape : shapes) shape.k = 1;
  return shapes;
}

TEST(HplKernels, OneProductAndAConstantIsFoundAsM1) {
  const DurationLaw law = law_of({{1, 1, 0}, {}}, {1e-9, 3e-7});
  const KernelFit fit = fit_hpl_kernel("dgemv", test::measured(law, panel_shapes(400), 3, 1));
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.model.level(), "M1");
  // Noise of 10 percent on 1200 calls: 5 standard errors are 1.5 percent.
  EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient({1, 1, 0}) / 1e-9, 1, 0.02);
}

TEST(HplKernels, LowerProductsAreAddedWhenTheyMatter) {
  const DurationLaw law = law_of({{1, 1, 0}, {1, 0, 0}, {}}, {1e-9, 2e-8, 3e-7});
  const KernelFit fit = fit_hpl_kernel("dger", test::measured(law, panel_shapes(400), 3, 2));
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.model.level(), "M2");
  EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient({1, 0, 0}) / 2e-8, 1, 0.1);
}

TEST(HplKernels, DtrsvPicksTheProductThatFits) {
  for (int power : {1, 2}) {
    std::vector<core::KernelShape> shapes = panel_shapes(300);
    for (core::KernelShape& shape : shapes) shape.m = 1;
    const DurationLaw law = law_of({{0, power, 0}}, {1e-9});
    const KernelFit fit = fit_hpl_kernel("dtrsv", test::measured(law, shapes, 3, 3));
    ASSERT_TRUE(fit.ok());
    EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient({0, power, 0}) / 1e-9, 1, 0.05) << power;
  }
}

TEST(HplKernels, RowsBeyondTheCacheTakeTheTimeOfMemoryAlsoFarBeyondTheCallsMeasured) {
  // A row swap in the cache 0.4 ns per element, from 60000 elements on 2.5 ns more for each further one.
  const auto seconds = [](const core::KernelShape& shape) {
    const double elements = shape.m * shape.n;
    return 1e-7 + 4e-10 * elements + 2.5e-9 * std::max(0.0, elements - 60000);
  };
  core::RandomStream stream({6, core::stream_kernel, 0, 0});
  KernelTable table;
  for (core::KernelShape& shape : test::random_shapes(400, 8, 3000, 23)) {
    shape = {std::floor(150 + 40 * stream.uniform()), shape.n, 1};
    table.add(shape, seconds(shape) * (1 + 0.05 * stream.normal()));
  }
  const KernelFit fit = fit_hpl_kernel("dlaswp01T", table);
  ASSERT_TRUE(fit.ok());
  const core::PiecewiseLaw& law = fit.model.cluster_law();
  // Noise of 5 percent on some 100 calls per piece: slopes are known to 1 percent, times 3. A slope through the origin
  // is 18 percent too low for the largest call, and 24 for the one of four times its columns.
  for (const double columns : {300.0, 1000.0, 2999.0, 12000.0}) {
    const core::KernelShape shape{190, columns, 1};
    EXPECT_NEAR(law.at(shape).mean_s(shape) / seconds(shape), 1, 0.03) << columns;
  }
  for (const core::LawPiece& piece : law.pieces()) EXPECT_GT(piece.law.mean_s({1, piece.from, 1}), 0) << piece.from;
}

TEST(HplKernels, NoCallTakesLessThanNothingWhereverTheCachesEnd) {
  core::RandomStream stream({7, core::stream_kernel, 0, 0});
  for (int machine = 0; machine < 20; ++machine) {
    const double first = std::pow(10, 2 + 3 * stream.uniform()), second = first * (1 + 9 * stream.uniform());
    const double slower = 10 * stream.uniform(), slowest = 10 * stream.uniform();
    KernelTable table;
    for (const core::KernelShape& shape : test::random_shapes(40, 4, 1000, static_cast<std::uint64_t>(machine))) {
      const double elements = shape.m * shape.n;
      const double waits = slower * std::max(0.0, elements - first) + slowest * std::max(0.0, elements - second);
      table.add({shape.m, shape.n, 1}, 1e-9 * (elements + waits + 50) * (1 + 0.3 * stream.uniform()));
    }
    const KernelFit fit = fit_hpl_kernel("dlaswp00N", table);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    for (double m = 1; m < 2e4; m *= 1.1)
      for (double n = 1; n < 2e4; n *= 1.1)
        ASSERT_GT(fit.model.cluster_law().at({m, n, 1}).mean_s({m, n, 1}), 0) << machine << ": " << m << " x " << n;
  }
}

TEST(HplKernels, VeryFewShapesStillGiveAModel) {
  KernelTable one;
  one.add({100, 20, 1}, 2e-6);
  one.add({100, 20, 1}, 4e-6);
  const KernelFit fit = fit_hpl_kernel("dlaswp01T", one);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.model.cluster_law().at({}).mean_s({100, 20, 1}), 3e-6, 1e-15);
  EXPECT_NEAR(fit.model.cluster_law().at({}).mean_s({200, 20, 1}), 6e-6, 1e-15);
  EXPECT_TRUE(fit_hpl_kernel("dgemm", one).ok());
  EXPECT_EQ(fit_hpl_kernel("dgemm", KernelTable()).status, FitStatus::no_rows);
}

TEST(HplKernels, AKernelWithoutAKnownFormGetsItsSizesThatVary) {
  std::vector<core::KernelShape> shapes = test::random_shapes(300, 4, 300, 22);
  for (core::KernelShape& shape : shapes) shape.n = 1;
  const DurationLaw law = law_of({{1, 0, 1}}, {1e-9});
  const KernelFit fit = fit_hpl_kernel("dsyrk", test::measured(law, shapes, 3, 4));
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.model.cluster_law().at({}).mu().coefficient({1, 0, 1}) / 1e-9, 1, 0.05);
}

TEST(HplKernels, TheTotalTimeOfRareLongCallsIsKept) {
  // One call in 500 is hit by a timer interrupt of 50 us.
  const DurationLaw law = law_of({{0, 1, 0}, {}}, {3e-10, 1e-7});
  std::vector<core::KernelShape> shapes = panel_shapes(2000);
  core::RandomStream stream({5, core::stream_kernel, 0, 0});
  KernelTable table;
  for (core::KernelShape& shape : shapes) {
    shape.m = 1;
    for (int i = 0; i < 5; ++i)
      table.add(shape, law.sample_s(shape, stream.next()) + (stream.uniform() < 0.002 ? 5e-5 : 0));
  }
  const KernelFit fit = fit_hpl_kernel("daxpy", table);
  ASSERT_TRUE(fit.ok());
  double predicted = 0, sampled = 0;
  const DurationLaw& found = fit.model.cluster_law().at({});
  for (const ShapeSummary& one : table.shapes()) {
    predicted += static_cast<double>(one.count) * found.mean_s(one.shape);
    for (long i = 0; i < one.count; ++i) sampled += std::max(0.0, found.sample_s(one.shape, stream.next()));
  }
  EXPECT_NEAR(predicted / table.total_s(), 1, 1e-8);
  // 20 interrupts are known to 1/sqrt(20), they are a fifth of the time: 5 percent one sigma, times 3.
  EXPECT_NEAR(sampled / table.total_s(), 1, 0.15);
}

}  // namespace
}  // namespace hplcast::fit
