#include "hplcast/calibration/mpi_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tests/calibration/design/rank_statistics.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

std::vector<double> sizes_of(const MpiDesign& design, MpiOperation operation) {
  std::vector<double> sizes;
  for (const MpiCall& call : design) {
    if (call.operation == operation) sizes.push_back(static_cast<double>(call.size_bytes));
  }
  return sizes;
}

TEST(MpiDesign, SizesAreLogUniformWithBothEnds) {
  MpiDesignOptions options;
  options.min_bytes = 100;
  options.max_bytes = 100'000'000;
  options.count = 122;
  options.repetitions = 1;
  std::vector<double> sizes = sizes_of(make_mpi_design(options), MpiOperation::pingpong);
  std::sort(sizes.begin(), sizes.end());
  ASSERT_EQ(sizes.size(), 122u);
  EXPECT_EQ(sizes.front(), 100);
  EXPECT_EQ(sizes.back(), 100'000'000);
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    // The i-th size lies in the i-th of 120 equal parts of six decades (half a byte of rounding at 100).
    const double part = 120 * std::log10(sizes[i] / 100) / 6;
    EXPECT_GE(part, static_cast<double>(i) - 1 - 0.05);
    EXPECT_LE(part, static_cast<double>(i) + 0.05);
  }
}

TEST(MpiDesign, OrderDependsNeitherOnSizeNorOnOperationNorOnRepetition) {
  MpiDesignOptions options;
  options.repetitions = 5;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    const MpiDesign design = make_mpi_design(options);
    std::vector<double> sizes, operations, repetitions;
    for (const MpiCall& call : design) {
      sizes.push_back(static_cast<double>(call.size_bytes));
      operations.push_back(static_cast<double>(call.operation));
      repetitions.push_back(call.repetition);
    }
    for (const std::vector<double>& values : {sizes, operations, repetitions}) {
      EXPECT_LT(std::abs(tests::correlation_with_order(values)), tests::correlation_bound(values.size()));
      EXPECT_LT(std::abs(tests::serial_correlation(values)), tests::correlation_bound(values.size()));
    }
  }
}

TEST(MpiDesign, UnmatchedSendsLieAtAndBelowPowersOfTwo) {
  MpiDesignOptions options;
  options.max_bytes = 300;
  options.repetitions = 2;
  const std::vector<double> sizes = sizes_of(make_mpi_design(options), MpiOperation::send_unmatched);
  EXPECT_EQ(std::set<double>(sizes.begin(), sizes.end()), (std::set<double>{60, 64, 120, 128, 240, 256}));
  EXPECT_EQ(sizes.size(), 12u);
}

TEST(MpiDesign, PanelsAreLongAndOfWholeRows) {
  MpiDesignOptions options;
  const std::vector<double> all = sizes_of(make_mpi_design(options), MpiOperation::pingpong);
  const std::vector<double> panels = sizes_of(make_mpi_design(options), MpiOperation::panel);
  const auto is_long = [](double size) { return size >= 65536; };
  EXPECT_EQ(static_cast<long>(panels.size()), std::count_if(all.begin(), all.end(), is_long));
  for (const double size : panels) EXPECT_TRUE(is_long(size) && std::fmod(size, 1024) == 0) << size;
}

TEST(MpiDesign, OperationsCanBeChosen) {
  MpiDesignOptions options;
  options.operations = {MpiOperation::recv, MpiOperation::wtime};
  std::set<MpiOperation> seen;
  for (const MpiCall& call : make_mpi_design(options)) {
    seen.insert(call.operation);
    if (call.operation == MpiOperation::wtime) {
      EXPECT_EQ(call.size_bytes, 0);
    }
  }
  EXPECT_EQ(seen, (std::set<MpiOperation>{MpiOperation::recv, MpiOperation::wtime}));
}

TEST(MpiDesign, RefusesImpossibleOptions) {
  const auto refused = [](long low, long high, long count, int repetitions) {
    MpiDesignOptions options;
    options.min_bytes = low;
    options.max_bytes = high;
    options.count = count;
    options.repetitions = repetitions;
    return error_in([&] { make_mpi_design(options); });
  };
  EXPECT_THAT(refused(0, 10, 5, 1), HasSubstr("`min bytes` is 0"));
  EXPECT_THAT(refused(10, 9, 5, 1), HasSubstr("`max bytes` is 9"));
  EXPECT_THAT(refused(1, 1L << 31, 5, 1), HasSubstr("2^31 - 1"));
  EXPECT_THAT(refused(1, 10, 0, 1), HasSubstr("`count`"));
  EXPECT_THAT(refused(1, 10, 5, 0), HasSubstr("`repetitions`"));
  EXPECT_THAT(error_in([] { core::from_name<MpiOperation>("bcast"); }), HasSubstr("expected recv, isend"));
}

TEST(SaturationDesign, HasEverySizeWithEveryNumberOfPairsInRandomOrder) {
  SaturationDesignOptions options;
  options.pairs = {1, 2, 4};
  options.repetitions = 5;
  const MpiDesign design = make_saturation_design(options);
  ASSERT_EQ(design.size(), 3U * 4 * 5);
  std::map<std::pair<long, long>, int> cells;
  std::vector<double> sizes, pairs;
  for (const MpiCall& call : design) {
    EXPECT_EQ(call.operation, MpiOperation::one_way);
    ++cells[{call.pairs, call.size_bytes}];
    sizes.push_back(static_cast<double>(call.size_bytes));
    pairs.push_back(static_cast<double>(call.pairs));
  }
  EXPECT_EQ(cells.size(), 12U);
  EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 1 << 20);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 8 << 20);
  for (const std::vector<double>& values : {sizes, pairs})
    EXPECT_LT(std::abs(tests::correlation_with_order(values)), tests::correlation_bound(values.size()));
}

TEST(SaturationDesign, NumbersOfPairsDoubleUpToTheMost) {
  EXPECT_EQ(doubling_pairs(1), (std::vector<long>{1}));
  EXPECT_EQ(doubling_pairs(4), (std::vector<long>{1, 2, 4}));
  EXPECT_EQ(doubling_pairs(6), (std::vector<long>{1, 2, 4, 6}));
  EXPECT_THAT(error_in([] { doubling_pairs(0); }), HasSubstr("`pairs` is 0"));
}

TEST(SaturationDesign, RefusesImpossibleOptions) {
  const auto refused = [](std::vector<long> pairs, long max_bytes) {
    SaturationDesignOptions options;
    options.pairs = std::move(pairs);
    options.max_bytes = max_bytes;
    return error_in([&] { make_saturation_design(options); });
  };
  EXPECT_THAT(refused({0}, 1 << 21), HasSubstr("`pairs` is 0"));
  EXPECT_THAT(refused({2, 1, 2}, 1 << 21), HasSubstr("each number once"));
  EXPECT_THAT(refused({}, 1 << 21), HasSubstr("numbers of pairs"));
  EXPECT_THAT(refused({1}, 1000), HasSubstr("`max bytes` is 1000"));
}

TEST(SaturationDesign, ItsTimeIsThatOfAllBytesOneAfterTheOther) {
  const MpiDesign design{{MpiOperation::one_way, 1000000, 0, 8}};
  EXPECT_NEAR(estimated_s(design, 1e8), 0.08, 0.001);  // and a handshake of 0.1 ms
}

TEST(MpiDesignCsv, ReadsBackNumbersOfPairs) {
  const MpiDesign design{{MpiOperation::one_way, 5, 0, 3}, {MpiOperation::one_way, 7, 1, 1}};
  std::stringstream file;
  write_design(file, design);
  EXPECT_EQ(file.str(), "order,operation,size_bytes,repetition,pairs\n0,one_way,5,0,3\n1,one_way,7,1,1\n");
  EXPECT_EQ(read_mpi_design(file, "design.csv")[0].pairs, 3);
}

TEST(MpiDesignCsv, ReadsBackWhatWasWritten) {
  const MpiDesign design = make_mpi_design({});
  std::stringstream file;
  write_design(file, design);
  const MpiDesign again = read_mpi_design(file, "design.csv");
  ASSERT_EQ(again.size(), design.size());
  for (std::size_t i = 0; i < design.size(); ++i) {
    EXPECT_EQ(again[i].operation, design[i].operation);
    EXPECT_EQ(again[i].size_bytes, design[i].size_bytes);
    EXPECT_EQ(again[i].repetition, design[i].repetition);
  }
}

TEST(MpiDesignCsv, SaysWhatIsWrongWithAFile) {
  const auto reading = [](const std::string& text) {
    return error_in([&] {
      std::istringstream in(text);
      read_mpi_design(in, "d.csv");
    });
  };
  EXPECT_THAT(reading("operation\nrecv\n"), HasSubstr("field `size_bytes`: no such column"));
  EXPECT_THAT(reading("operation,size_bytes\nrecv,-1\n"), HasSubstr("d.csv:2, field `size_bytes`"));
  EXPECT_THAT(reading("operation,size_bytes\nrecv,3000000000\n"), HasSubstr("at most 2147483647"));
  EXPECT_THAT(reading("operation,size_bytes\nscatter,1\n"), HasSubstr("expected recv"));
  EXPECT_THAT(reading("operation,size_bytes,pairs\none_way,1,0\n"), HasSubstr("found 0; expected at least 1"));
  EXPECT_THAT(reading("operation,size_bytes\npanel,66000\n"), HasSubstr("expected a multiple of 1024"));
  EXPECT_THAT(reading("operation,size_bytes\n"), HasSubstr("no rows"));
}

}  // namespace
}  // namespace hplcast::calibration
