// Networks whose expected costs are means: NetworkFitOptions::means, and noise relative to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>

#include "hplcast/core/random_stream.hpp"
#include "hplcast/fit/network_fit.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::fit {
namespace {

using core::MessageCost;
using core::MpiMeasurement;
using core::Scope;
using testing::Contains;
using testing::HasSubstr;

NetworkFitOptions of_means(SegmentNoiseKind noise = SegmentNoiseKind::mixture) {
  NetworkFitOptions options;
  options.means = true;
  options.noise = noise;
  return options;
}

double round_trip_s(const core::ScopeModel& scope, double size, double detached_bytes) {
  double one_way = scope.cost(MessageCost::transfer).mean_s(size);
  if (size < detached_bytes)
    one_way += scope.cost(MessageCost::send).mean_s(size) + scope.cost(MessageCost::recv).mean_s(size);
  return 2 * one_way;
}

MpiMeasurement row_of(const char* operation, const std::string& scope, double size, double duration_s) {
  MpiMeasurement row;
  row.operation = operation;
  row.scope = scope;
  row.size_bytes = size;
  row.duration_s = duration_s;
  return row;
}

/// Ping-pongs, sends and receives of 1 to 1e6 bytes whose means are known, log-normal with 50 %.
std::vector<MpiMeasurement> invented_rows(int sizes) {
  constexpr double sd = 0.5;
  core::RandomStream stream({5, core::stream_fit, 0, 0});
  std::vector<MpiMeasurement> rows;
  const auto add = [&](const char* operation, double size, double mean_s) {
    rows.push_back(row_of(operation, "local", size, mean_s * std::exp(sd * stream.normal() - sd * sd / 2)));
  };
  for (int i = 0; i < sizes; ++i) {
    const double size = std::floor(std::pow(1e6, stream.uniform()));
    add("pingpong", size, 2 * (2e-6 + 4e-10 * size));
    add("send", size, 4e-7 + 1e-10 * size);
    add("recv", size, 3e-7 + 1e-10 * size);
  }
  return rows;
}

TEST(NetworkMeans, KeepTheMeanThatLogarithmsLose) {
  const std::vector<MpiMeasurement> rows = invented_rows(3000);
  const auto bias = [&](const NetworkFitOptions& options) {
    const NetworkFit fit = fit_network(rows, options);
    double measured = 0, predicted = 0;
    for (const MpiMeasurement& row : rows) {
      if (row.operation != "pingpong") continue;
      measured += row.duration_s / (2e-6 + 4e-10 * row.size_bytes);
      predicted += round_trip_s(fit.model.values().local, row.size_bytes, 1e9) / (2e-6 + 4e-10 * row.size_bytes);
    }
    return predicted / measured - 1;
  };
  // Weights by the true line, not the fitted one: they differ by 1 % of 1 %.
  EXPECT_NEAR(bias(of_means()), 0, 1e-3);
  EXPECT_NEAR(bias({}), std::exp(-0.125) - 1, 0.02);  // standard error of 3000 calls: 1 %
}

TEST(NetworkMeans, DrawnMessagesHaveTheMeanAndTheScatterOfTheRoundTrips) {
  for (const SegmentNoiseKind kind : {SegmentNoiseKind::n1, SegmentNoiseKind::mixture}) {
    const NetworkFit fit = fit_network(invented_rows(3000), of_means(kind));
    const core::ScopeModel& local = fit.model.values().local;
    core::RandomStream stream({11, core::stream_message, 0, 0});
    const double size = 1000, expected_s = 2 * (2e-6 + 4e-10 * size);
    double sum = 0, squares = 0;
    constexpr int draws = 40000;
    for (int i = 0; i < draws; ++i) {
      double drawn_s = 0;
      for (int message = 0; message < 2; ++message)
        for (const MessageCost cost : {MessageCost::send, MessageCost::transfer, MessageCost::recv}) {
          const double one_s = local.cost(cost).sample_s(size, stream.next());
          ASSERT_GE(one_s, 0);
          drawn_s += one_s;
        }
      sum += drawn_s / draws;
      squares += drawn_s * drawn_s / draws;
    }
    EXPECT_NEAR(sum / expected_s, 1, 0.05) << to_string(kind);  // the line of 3000 calls of 53 %: 2 % at one size
    // exp(0.25) - 1 = 0.533^2; the middle of the segment, 1000 bytes, is where transfer gets what is left.
    EXPECT_NEAR(std::sqrt(squares - sum * sum) / sum, 0.533, 0.06) << to_string(kind);
  }
}

TEST(NetworkMeans, CountRareLongCallsAsTwentyTimesTheMeanAndSaySo) {
  std::vector<MpiMeasurement> rows = invented_rows(2000);
  const core::ScopeModel before = fit_network(rows, of_means()).model.values().local;
  long hit = 0;
  for (std::size_t i = 0; i < rows.size(); i += 300, ++hit) rows[i].duration_s = 1;
  const NetworkFit fit = fit_network(rows, of_means());
  const OperationReport& report = fit.operations.back();
  ASSERT_EQ(report.operation, "pingpong");
  EXPECT_EQ(report.rows_capped, hit);
  EXPECT_GT(report.share_above_cap, 0.9);
  EXPECT_THAT(fit.notes, Contains(HasSubstr("20 of 2000 rows of operation `pingpong` count as 20 times")));
  // 20 of 2000 calls count as 20 times the mean of the others: 19 % more.
  double ratio = 0;
  for (double size = 1; size < 1e6; size *= 2)
    ratio += round_trip_s(fit.model.values().local, size, 1e9) / round_trip_s(before, size, 1e9) / 20;
  EXPECT_NEAR(ratio, 1.19, 0.02);
}

TEST(NetworkMeans, AreTheMeansOfAllCallsWithoutAFilter) {
  std::vector<MpiMeasurement> rows = invented_rows(500);
  rows[0].duration_s = 1;
  NetworkFitOptions options = of_means();
  options.filter = RowFilter::none;
  const NetworkFit fit = fit_network(rows, options);
  EXPECT_EQ(fit.operations.back().rows_capped, 0);
  double sum = 0;
  for (const MpiMeasurement& row : rows)
    if (row.operation == "pingpong")
      sum += row.duration_s / segment_at(fit.operations.back().segments, row.size_bytes)(row.size_bytes) / 500;
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(NetworkFit, BearsPublishedLinesBelowZero) {
  std::vector<core::MpiMeasurement> rows;
  for (const double size : {100, 400, 700, 1000}) {
    core::MpiMeasurement row;
    row.operation = "pingpong";
    row.scope = "local";
    row.size_bytes = size;
    row.duration_s = size < 1000 ? 1e-6 : 1e-4;  // a line through these is below 0 at 100 bytes
    rows.push_back(row);
  }
  NetworkFitOptions options;
  options.regression.objective = Objective::ols;
  options.physical = false;
  options.filter = RowFilter::none;
  options.means = false;
  options.breakpoints = std::vector<double>();
  options.async_small_bytes = options.detached_bytes = 0;
  const NetworkFit fit = fit_network(rows, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.model.scope(core::Scope::local).cost(core::MessageCost::transfer).mean_s(100), 0);
}

TEST(NetworkFit, TakesTheBreakpointsOfIsendForSendThatWasNotMeasured) {
  const auto isend_s = [](double size) { return size < 4096 ? 2e-7 : 1e-6 + 1e-10 * size; };
  std::vector<MpiMeasurement> rows;
  for (double size = 1; size < 1e6; size *= 1.07) {
    rows.push_back(row_of("pingpong", "local", size, 2 * (1e-5 + 5e-10 * size)));  // one line
    rows.push_back(row_of("isend", "local", size, isend_s(size)));
    rows.push_back(row_of("recv", "local", size, 3e-7));
  }
  NetworkFitOptions options;
  options.breakpoint_choice = BreakpointChoice::each;
  const NetworkFit fit = fit_network(rows, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& local = fit.model.scope(Scope::local);
  for (const double size : {1.0, 100.0, 3000.0, 5000.0, 1e5, 9e5}) {
    EXPECT_NEAR(local.cost(MessageCost::send).mean_s(size) / isend_s(size), 1, 1e-6) << size;
    EXPECT_NEAR(round_trip_s(local, size, 1e9) / (2e-5 + 1e-9 * size), 1, 1e-6) << size;
  }
}

TEST(NetworkFit, OverheadsEndAtTheThresholdWhateverBreakpointsAreGiven) {
  std::vector<MpiMeasurement> rows;
  for (double size = 1; size < 1e6; size *= 1.07) {
    const double half_s = 2e-6 + 5e-10 * size;
    rows.push_back(row_of("pingpong", "local", size, 2 * half_s));
    rows.push_back(row_of("send", "local", size, size < 65536 ? 4e-7 : half_s));
    rows.push_back(row_of("recv", "local", size, size < 65536 ? 3e-7 : half_s));
  }
  NetworkFitOptions options;
  options.breakpoints = std::vector<double>{4096};
  options.async_small_bytes = options.detached_bytes = 65536;
  const NetworkFit fit = fit_network(rows, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& local = fit.model.scope(Scope::local);
  for (const double size : {1.0, 1000.0, 10000.0, 60000.0}) {
    EXPECT_NEAR(local.cost(MessageCost::send).mean_s(size) / 4e-7, 1, 1e-6) << size;
    EXPECT_NEAR(local.cost(MessageCost::recv).mean_s(size) / 3e-7, 1, 1e-6) << size;
  }
  EXPECT_EQ(local.cost(MessageCost::send).mean_s(65536), 0);
  EXPECT_EQ(local.cost(MessageCost::recv).mean_s(65536), 0);
  EXPECT_NEAR(local.cost(MessageCost::transfer).mean_s(1e5) / 5.2e-5, 1, 1e-6);
}

TEST(NetworkFit, OfPingPongsAloneKeepsTheCostOfTheShortestMessages) {
  // Short messages at 17.5 GB/s, long ones at 4.6 GB/s, as on dahu (facts of the ring data).
  std::vector<MpiMeasurement> rows;
  core::RandomStream stream({6, core::stream_fit, 0, 0});
  const auto cost_s = [](double size) { return size < 15000 ? 0.67e-6 + size / 17.5e9 : 6e-5 + size / 4.6e9; };
  for (int i = 0; i < 600; ++i) {
    const double size = std::floor(std::pow(1e7, stream.uniform()));
    rows.push_back(row_of("pingpong", "remote", size, 2 * cost_s(size) * std::exp(0.01 * stream.normal())));
  }
  for (const bool means : {false, true}) {
    NetworkFitOptions options;
    options.means = means;
    const NetworkFit fit = fit_network(rows, options);
    const core::ScopeModel& remote = *fit.model.values().remote;
    for (const double size : {1.0, 100.0, 10000.0, 1e5, 5e6})
      EXPECT_NEAR(remote.cost(MessageCost::transfer).mean_s(size) / cost_s(size), 1, 0.02) << size;
    EXPECT_NEAR(remote.bandwidth_bytes_per_s / 15000 * cost_s(14999), 1, 0.1);  // 9 GB/s: no message is faster
    EXPECT_THAT(fit.notes, Contains(HasSubstr("messages from 0 bytes on grow by less per byte")));
    for (const TransferFactors& factor : transfer_factors(remote)) EXPECT_TRUE(std::isfinite(factor.bandwidth_factor));
  }
}

std::vector<MpiMeasurement> read_rows(const std::filesystem::path& path, const std::string& scope) {
  std::vector<MpiMeasurement> rows;
  std::ifstream in(path);
  core::read_mpi_csv(in, path.string(), "pingpong", [&](const MpiMeasurement& row) {
    rows.push_back(row);
    rows.back().scope = scope;
  });
  return rows;
}

/// Ping-pongs of a bin of sizes, each in relation to what is expected: else the few longest of a bin decide.
struct Bin {
  double sum = 0, predicted_s = 0, measured_s = 0, calls = 0;
  std::map<double, std::pair<double, double>> sizes;  // sum and number of calls of each
  double ratio() const { return calls / sum; }        ///< predicted over measured
  /// From what the sizes differ by: calls of one size were made one after the other, and are alike.
  double standard_error() const {
    double squares = 0;
    for (const auto& entry : sizes) squares += std::pow(entry.second.first - entry.second.second * sum / calls, 2);
    return std::sqrt(squares) / calls;
  }
};

/// By the ends of the bins.
std::map<double, Bin> bins_of(const NetworkFit& fit, Scope scope, const std::vector<MpiMeasurement>& rows) {
  const std::vector<double> ends = {64, 1024, 8192, 65536, 1048576, 16777216, 1e12};
  std::map<double, Bin> bins;
  for (const MpiMeasurement& row : rows) {
    if (row.operation != "pingpong") continue;
    Bin& bin = bins[*std::upper_bound(ends.begin(), ends.end(), row.size_bytes)];
    const double expected_s =
        round_trip_s(fit.model.scope(scope), row.size_bytes, static_cast<double>(fit.model.values().detached_bytes));
    const double counted_s = std::min(row.duration_s, most_times_expected * expected_s);
    bin.predicted_s += expected_s;
    bin.measured_s += counted_s;
    bin.sum += counted_s / expected_s;
    bin.sizes[row.size_bytes].first += counted_s / expected_s;
    bin.sizes[row.size_bytes].second += 1;
    ++bin.calls;
  }
  return bins;
}

/// Within 2 %, or, where calls are few or alike by size, what chance makes of the mean of one bin of twenty.
void expect_means(const std::string& name, const std::vector<MpiMeasurement>& rows, Scope scope, bool by_chance) {
  const NetworkFit fit = fit_network(rows, of_means());
  ASSERT_TRUE(fit.ok()) << fit.reason;
  std::cout << name << ": " << fit.operations.back().segments.size() << " segments\n";
  for (const auto& [end, bin] : bins_of(fit, scope, rows)) {
    std::cout << "  below " << end << " bytes: " << bin.ratio() << " +- " << bin.standard_error() << ", of sums "
              << bin.predicted_s / bin.measured_s << " (" << bin.calls << " calls)\n";
    const double tolerance = by_chance ? std::max(0.02, 2 * bin.standard_error()) : 0.02;
    if (bin.calls >= 30) {
      EXPECT_NEAR(bin.ratio(), 1, tolerance) << name << " below " << end;
    }
  }
}

TEST(NetworkMeans, OfDahuUnderLoadAreTheMeasuredOnes) {
  for (const char* name : {"pingpong_remote", "pingpong_loopback"}) {
    HPLCAST_REFERENCE_FILE(path, std::string("mpi-calibration/dahu/") + name + ".csv");
    const bool remote = std::string(name) == "pingpong_remote";
    expect_means(name, read_rows(path, remote ? "remote" : "local"), remote ? Scope::remote : Scope::local, false);
  }
}

TEST(NetworkMeans, OfRingsUnderLoadAreTheMeasuredOnes) {
  for (const char* name : {"ringrong_remote", "ringrong_loopback"}) {
    HPLCAST_REFERENCE_FILE(path, std::string("mpi-calibration/dahu/") + name + ".csv");
    const bool remote = std::string(name) == "ringrong_remote";
    expect_means(name, read_rows(path, remote ? "remote" : "local"), remote ? Scope::remote : Scope::local, true);
  }
}

TEST(NetworkMeans, OfIdleClustersAreTheMeasuredOnes) {
  for (const char* name : {"taurus", "taurus-loopback", "miriel", "stampede"}) {
    HPLCAST_REFERENCE_FILE(path, std::string("mpi-calibration/") + name + "/PingPong.csv");
    std::vector<MpiMeasurement> rows = read_rows(path, "remote");
    expect_means(name, rows, Scope::remote, true);
  }
}

TEST(NetworkNoise, NeverMakesACostNegative) {
  HPLCAST_REFERENCE_FILE(path, "mpi-calibration/dahu/ringrong_remote.csv");
  const std::vector<MpiMeasurement> rows = read_rows(path, "remote");
  for (const bool means : {false, true}) {
    for (const SegmentNoiseKind kind : {SegmentNoiseKind::n1, SegmentNoiseKind::mixture}) {
      NetworkFitOptions options = of_means(kind);
      options.means = means;
      const NetworkFit fit = fit_network(rows, options);
      for (const core::Segment& s : fit.model.scope(Scope::remote).cost(MessageCost::transfer).segments()) {
        EXPECT_GE(s.intercept_s, 0);
        EXPECT_GE(s.slope_s_per_byte, 0);
        EXPECT_TRUE(s.has_noise());
      }
    }
  }
}

TEST(NetworkFit, DoesNotDependOnTheOrderOfRows) {
  core::RandomStream random({1, core::stream_fit, 0, 7});
  std::vector<MpiMeasurement> rows;
  for (const double size : {1., 64., 1024., 16384., 262144., 4194304.})
    for (int call = 0; call < 100; ++call) {
      const double slower = random.uniform() < 0.05 ? 4 : 1;  // about where calls count as interrupted
      rows.push_back(
          row_of("pingpong", "local", size, slower * (2e-6 + 2e-10 * size) * std::exp(0.3 * random.normal())));
    }
  const NetworkFit one = fit_network(rows);
  std::reverse(rows.begin(), rows.end());
  const NetworkFit other = fit_network(rows);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_GT(one.operations.front().rows_set_aside, 0);
  EXPECT_EQ(one.operations.front().rows_set_aside, other.operations.front().rows_set_aside);
  const auto transfer_s = [](const NetworkFit& fit) {
    return fit.model.scope(Scope::local).cost(MessageCost::transfer).mean_s(1000);
  };
  EXPECT_NEAR(transfer_s(other) / transfer_s(one), 1, 1e-12);
}

}  // namespace
}  // namespace hplcast::fit
