#include "hplcast/calibration/dgemm_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "tests/calibration/design/rank_statistics.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

/// All calls with k = NB, without minorities: the pure product law.
DgemmDesignOptions pure_product() {
  DgemmDesignOptions options;
  options.minority = 0;
  options.count = 400;
  options.repetitions = 1;
  return options;
}

/// Largest distance between the distribution of values in (0, 1] and the uniform one (Kolmogorov-Smirnov).
double distance_from_uniform(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double distance = 0;
  const double n = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    distance = std::max({distance, std::abs(values[i] - static_cast<double>(i) / n),
                         std::abs(values[i] - static_cast<double>(i + 1) / n)});
  }
  return distance;
}

TEST(DgemmDesign, ProductOfMAndNIsUniformAndWithinBounds) {
  const DgemmDesignOptions options = pure_product();
  std::vector<double> products;
  for (const DgemmCall& call : make_dgemm_design(options)) {
    EXPECT_EQ(call.shape.k, options.nb);
    EXPECT_GE(std::min(call.shape.m, call.shape.n), 1);
    EXPECT_LE(std::max(call.shape.m, call.shape.n), options.max_size);
    products.push_back(static_cast<double>(call.shape.m) * static_cast<double>(call.shape.n) /
                       (static_cast<double>(options.max_size) * static_cast<double>(options.max_size)));
  }
  // One draw in each of 200 strata, each used twice: at most one stratum away from uniform; one more for rounding.
  EXPECT_LT(distance_from_uniform(products), 2.0 / 200);
}

TEST(DgemmDesign, FreeProductOfThreeIsUniformAndWithinBounds) {
  DgemmDesignOptions options = pure_product();
  options.nb = 0;
  options.count = 600;
  options.max_size = 1000;
  options.max_product = 5e8;
  std::vector<double> products;
  for (const DgemmCall& call : make_dgemm_design(options)) {
    EXPECT_GE(std::min({call.shape.m, call.shape.n, call.shape.k}), 1);
    EXPECT_LE(std::max({call.shape.m, call.shape.n, call.shape.k}), options.max_size);
    products.push_back(flop(call.shape) / 2 / options.max_product);
  }
  // 100 strata; one stratum, and one more for rounding.
  EXPECT_LT(distance_from_uniform(products), 2.0 / 100);
}

TEST(DgemmDesign, OfGivenKAloneHasUniformProductsOfMAndN) {
  DgemmDesignOptions options = pure_product();
  options.nb = 0;
  options.extra_k = {64, 128};
  options.max_size = 4000;
  std::vector<double> products;
  for (const DgemmCall& call : make_dgemm_design(options)) {
    EXPECT_TRUE(call.shape.k == 64 || call.shape.k == 128);
    products.push_back(static_cast<double>(call.shape.m) * static_cast<double>(call.shape.n) / 1.6e7);
  }
  EXPECT_LT(distance_from_uniform(products), 2.0 / 200);  // as above
  options.max_product = 1.7e7;
  EXPECT_THAT(error_in([&] { make_dgemm_design(options); }), HasSubstr("`max product`"));
}

TEST(DgemmDesign, EveryPermutationOfAShapeIsThere) {
  std::set<DgemmShape> pairs;
  for (const DgemmCall& call : make_dgemm_design(pure_product())) pairs.insert(call.shape);
  for (const DgemmShape& shape : pairs) EXPECT_EQ(pairs.count({shape.n, shape.m, shape.k}), 1u);

  DgemmDesignOptions options = pure_product();
  options.nb = 0;
  std::set<DgemmShape> triples;
  options.count = 60;
  for (const DgemmCall& call : make_dgemm_design(options)) triples.insert(call.shape);
  for (const DgemmShape& shape : triples) EXPECT_EQ(triples.count({shape.k, shape.m, shape.n}), 1u);
}

TEST(DgemmDesign, ShapesAreNotAllSquare) {
  int long_ones = 0;
  for (const DgemmCall& call : make_dgemm_design(pure_product())) {
    if (call.shape.m > 4 * call.shape.n || call.shape.n > 4 * call.shape.m) ++long_ones;
  }
  // A tenth is what the law gives; without them the terms mk and nk could not be told apart.
  EXPECT_GT(long_ones, 20);
}

TEST(DgemmDesign, MinorityHasTheSmallerKOfThePanelFactorisation) {
  DgemmDesignOptions options;
  options.count = 200;
  options.nb = 96;
  options.nbmin = 4;
  std::map<long, int> of_k;
  int look_ahead = 0, panel = 0;
  for (const DgemmCall& call : make_dgemm_design(options)) {
    ++of_k[call.shape.k];
    if (call.shape.n == options.nb) ++look_ahead;
    if (call.role == DgemmRole::panel) {
      ++panel;
      EXPECT_LT(call.shape.k, options.nb);
      EXPECT_EQ(call.shape.n, call.shape.k);
    }
  }
  std::set<long> ks;
  for (const auto& [k, count] : of_k) ks.insert(k);
  EXPECT_EQ(ks, (std::set<long>{6, 12, 24, 48, 96}));
  EXPECT_GT(of_k[96], 300);
  EXPECT_GE(look_ahead, 60);
  EXPECT_GE(panel, 60);
}

TEST(DgemmDesign, PairsOnAliasedColumnsAreNeighboursBetweenTheOtherCalls) {
  DgemmDesignOptions options;
  options.max_size = 5000;
  const DgemmDesign plain = make_dgemm_design(options);
  options.aliased = true;
  DgemmDesign design = make_dgemm_design(options);
  int pairs = 0, aliased_first = 0;
  std::size_t first = design.size(), last = 0;
  for (std::size_t i = 0; i + 1 < design.size(); ++i) {
    if (design[i].role != DgemmRole::aliased) continue;
    const DgemmCall &one = design[i], &other = design[i + 1];
    EXPECT_EQ(one.shape, other.shape);
    EXPECT_EQ(one.repetition + other.repetition, 1);
    EXPECT_EQ(one.shape.k, options.nb);
    EXPECT_LE(std::max(one.shape.m, one.shape.n), 2000);
    aliased_first += one.repetition == 0 ? 1 : 0;
    first = std::min(first, i);
    last = i;
    ++i;
    ++pairs;
  }
  EXPECT_EQ(pairs, 200) << "two per shape; 12 s would be 469";
  EXPECT_EQ(aliased_first, 100);
  EXPECT_LT(first, 10U);
  EXPECT_GT(last + 10, design.size());
  design.erase(std::remove_if(design.begin(), design.end(),
                              [](const DgemmCall& call) { return call.role == DgemmRole::aliased; }),
               design.end());
  std::ostringstream with, without;
  write_design(with, design);
  write_design(without, plain);
  EXPECT_EQ(with.str(), without.str());
}

TEST(DgemmDesign, OrderDependsOnNothing) {
  DgemmDesignOptions options;
  options.count = 300;
  options.repetitions = 4;
  options.contents = {Content::random(), Content::constant(1)};
  const std::map<std::string, std::function<double(const DgemmCall&)>> quantities = {
      {"m", [](const DgemmCall& c) { return static_cast<double>(c.shape.m); }},
      {"n", [](const DgemmCall& c) { return static_cast<double>(c.shape.n); }},
      {"k", [](const DgemmCall& c) { return static_cast<double>(c.shape.k); }},
      {"flop", [](const DgemmCall& c) { return flop(c.shape); }},
      {"repetition", [](const DgemmCall& c) { return static_cast<double>(c.repetition); }},
      {"content", [](const DgemmCall& c) { return c.content == Content::random() ? 0.0 : 1.0; }},
      {"role", [](const DgemmCall& c) { return c.role == DgemmRole::panel ? 1.0 : 0.0; }},
      {"transposed", [](const DgemmCall& c) { return c.transposed ? 1.0 : 0.0; }}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    const DgemmDesign design = make_dgemm_design(options);
    for (const auto& [name, quantity] : quantities) {
      std::vector<double> values;
      for (const DgemmCall& call : design) values.push_back(quantity(call));
      EXPECT_LT(std::abs(tests::correlation_with_order(values)), tests::correlation_bound(values.size())) << name;
      EXPECT_LT(std::abs(tests::serial_correlation(values)), tests::correlation_bound(values.size())) << name;
    }
  }
}

TEST(DgemmDesign, IndependentSizesHaveNothingToDoWithEachOther) {
  DgemmDesignOptions options;
  options.independent = true;
  options.count = 500;
  options.repetitions = 1;
  options.max_size = 1000;
  std::vector<double> m, n, k, shares;
  for (const DgemmCall& call : make_dgemm_design(options)) {
    m.push_back(static_cast<double>(call.shape.m));
    n.push_back(static_cast<double>(call.shape.n));
    k.push_back(static_cast<double>(call.shape.k));
    shares.push_back(m.back() / 1000);
  }
  ASSERT_EQ(m.size(), 500U);
  const double bound = tests::correlation_bound(m.size());
  EXPECT_LT(std::abs(tests::correlation(m, n)), bound);
  EXPECT_LT(std::abs(tests::correlation(m, k)), bound);
  EXPECT_LT(std::abs(tests::correlation(n, k)), bound);
  EXPECT_LT(distance_from_uniform(shares), 1.63 / std::sqrt(500.0));  // Kolmogorov's distance that 1 in 100 exceeds
}

TEST(DgemmDesign, CommonShapesFitTheLargestSize) {
  EXPECT_EQ(common_shapes(2047).size(), 1U);
  EXPECT_EQ(common_shapes(2048).size(), 2U);
}

TEST(DgemmDesign, RepetitionsAndContentsAreComplete) {
  DgemmDesignOptions options;
  options.count = 20;
  options.repetitions = 3;
  options.contents = {Content::random(), Content::masked(20)};
  options.common = {{1, 1, 1}, {2048, 2048, 2048}};
  std::map<DgemmShape, int> calls;
  for (const DgemmCall& call : make_dgemm_design(options)) ++calls[call.shape];
  const int each = 6;
  for (const auto& [shape, count] : calls) EXPECT_EQ(count % each, 0);
  EXPECT_EQ((calls[{1, 1, 1}]), each);
  EXPECT_EQ((calls[{2048, 2048, 2048}]), each);
}

TEST(DgemmDesign, SeedsDecideEverything) {
  const auto text = [](std::uint64_t seed) {
    DgemmDesignOptions options;
    options.seed = seed;
    std::ostringstream out;
    write_design(out, make_dgemm_design(options));
    return out.str();
  };
  EXPECT_EQ(text(3), text(3));
  EXPECT_NE(text(3), text(4));
}

TEST(DgemmDesign, StaysWithinABudget) {
  DgemmDesignOptions options;
  options.count = 1000;
  const DgemmDesign design = make_dgemm_design_within(options, 30, 2e10);
  EXPECT_LE(estimated_s(design, 2e10), 30);
  EXPECT_GT(estimated_s(design, 2e10), 20);  // not far less than what was granted
  EXPECT_THAT(error_in([&] { make_dgemm_design_within(options, 1e-3, 2e10); }), HasSubstr("raise the budget"));
  EXPECT_THAT(error_in([&] { make_dgemm_design_within(options, 0, 2e10); }), HasSubstr("`budget` is 0"));
}

TEST(DgemmDesign, RefusesImpossibleOptions) {
  const auto refused = [](const std::function<void(DgemmDesignOptions&)>& change) {
    DgemmDesignOptions options;
    change(options);
    return error_in([&] { make_dgemm_design(options); });
  };
  EXPECT_THAT(refused([](auto& o) { o.max_size = 0; }), HasSubstr("`max size` is 0; expected 1 to 2^31 - 1"));
  EXPECT_THAT(refused([](auto& o) { o.count = 0; }), HasSubstr("`count`"));
  EXPECT_THAT(refused([](auto& o) { o.repetitions = -1; }), HasSubstr("`repetitions`"));
  EXPECT_THAT(refused([](auto& o) { o.nb = -1; }), HasSubstr("`nb`"));
  EXPECT_THAT(refused([](auto& o) { o.max_product = 1e12; }), HasSubstr("`max product`"));
  EXPECT_THAT(refused([](auto& o) { o.minority = 1.5; }), HasSubstr("`minority`"));
  EXPECT_THAT(refused([](auto& o) { o.contents.clear(); }), HasSubstr("contents"));
  EXPECT_THAT(refused([](auto& o) { o.common = {{1, 0, 1}}; }), HasSubstr("size of a given shape"));
}

TEST(DgemmDesignCsv, ReadsBackWhatWasWritten) {
  DgemmDesignOptions options;
  options.contents = {Content::masked(3), Content::sequential()};
  const DgemmDesign design = make_dgemm_design(options);
  std::stringstream file;
  write_design(file, design);
  const DgemmDesign again = read_dgemm_design(file, "design.csv");
  ASSERT_EQ(again.size(), design.size());
  for (std::size_t i = 0; i < design.size(); ++i) {
    EXPECT_EQ(again[i].shape, design[i].shape);
    EXPECT_EQ(again[i].content, design[i].content);
    EXPECT_EQ(again[i].role, design[i].role);
    EXPECT_EQ(again[i].transposed, design[i].transposed);
    EXPECT_EQ(again[i].repetition, design[i].repetition);
  }
}

TEST(DgemmDesignCsv, SaysWhatIsWrongWithAFile) {
  const auto reading = [](const std::string& text) {
    return error_in([&] {
      std::istringstream in(text);
      read_dgemm_design(in, "d.csv");
    });
  };
  EXPECT_THAT(reading("m,n\n1,1\n"), HasSubstr("field `k`: no such column"));
  EXPECT_THAT(reading("m,n,k\n"), HasSubstr("the design has no rows"));
  EXPECT_THAT(reading("m,n,k\n1,1,1\n0,1,1\n"), HasSubstr("d.csv:3, field `m`: found 0; expected at least 1"));
  EXPECT_THAT(reading("m,n,k\n1,1,2147483648\n"), HasSubstr("field `k`"));
  EXPECT_THAT(reading("m,n,k\n1,1.5,1\n"), HasSubstr("field `n`"));
  EXPECT_THAT(reading("m,n,k,content\n1,1,1,zero\n"), HasSubstr("field `content`"));
  EXPECT_THAT(reading("m,n,k,role\n1,1,1,swap\n"), HasSubstr("expected update, panel or aliased"));
  EXPECT_THAT(reading("m,n,k,transposed\n1,1,1,yes\n"), HasSubstr("field `transposed`"));
}

TEST(DgemmDesignCsv, ReadsThePublishedDesign) {
  const char* given = std::getenv("HPLCAST_REFERENCE_DATA");
  const std::filesystem::path folder = given != nullptr ? given : HPLCAST_SOURCE_DIR "/../shared/data";
  std::ifstream in(folder / "dgemm/dgemm_expfile_content.csv");
  if (!in) GTEST_SKIP() << "skipped: no reference data";
  EXPECT_EQ(read_dgemm_design(in, "dgemm_expfile_content.csv").size(), 2360u);
}

}  // namespace
}  // namespace hplcast::calibration
