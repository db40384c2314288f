#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/network_fit.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::fit {
namespace {

using core::MessageCost;
using nlohmann::json;

json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return json::parse(in);
}

/// The options that reproduce the published calibrations of 2016.
NetworkFitOptions published_network_options(std::vector<double> breakpoints, std::uint64_t async_small_bytes,
                                            std::uint64_t detached_bytes, double bandwidth_bytes_per_s,
                                            double latency_s) {
  NetworkFitOptions options;
  options.transfer = TransferArithmetic::half_of_difference;
  options.filter = RowFilter::visits;
  options.breakpoints = std::move(breakpoints);
  options.regression.objective = Objective::ols;
  options.physical = false;
  options.async_small_bytes = async_small_bytes;
  options.detached_bytes = detached_bytes;
  options.wtime_calls_per_row = 1e7;
  options.bandwidth_bytes_per_s = bandwidth_bytes_per_s;
  options.latency_s = latency_s;
  return options;
}

/// The published calibration of one cluster: its rows, its configuration and what came out.
struct Calibration {
  json reference;
  std::vector<core::MpiMeasurement> rows;

  explicit Calibration(const std::filesystem::path& reference_json) : reference(read_json(reference_json)) {
    const std::vector<std::pair<const char*, const char*>> files = {{"PingPong.csv", ""},     {"Recv.csv", "recv"},
                                                                    {"Isend.csv", "isend"},   {"Wtime.csv", "wtime"},
                                                                    {"Iprobe.csv", "iprobe"}, {"Test.csv", "test"}};
    for (const auto& [file, operation] : files) {
      std::ifstream in(reference_json.parent_path() / file);
      core::read_mpi_csv(in, file, operation, [&](const core::MpiMeasurement& row) { rows.push_back(row); });
    }
  }

  NetworkFitOptions options(std::vector<double> breakpoints, std::uint64_t detached) const {
    const json& config = reference.at("config");
    const std::uint64_t eager = config.value("eager_threshold", detached);
    return published_network_options(std::move(breakpoints), std::min(eager, detached), detached,
                                     config.at("expected_bandwidth_Bps"), config.at("expected_latency_s"));
  }

  NetworkFitOptions options_of_today() const {
    std::vector<double> breakpoints;
    for (const json& b : reference.at("breakpoints_file").at("breakpoints")) breakpoints.push_back(b.at("limit"));
    return options(breakpoints, reference.at("config").at("detached_threshold"));
  }

  NetworkFitOptions options_of_the_publication() const {
    if (!reference.contains("published_used")) return options_of_today();
    const json& used = reference.at("published_used");
    return options(used.at("breakpoints").get<std::vector<double>>(), used.at("detached_threshold"));
  }
};

void expect_close(double value, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected)) << what;
}

void expect_line(const core::Segment& segment, double intercept, double slope, double tolerance,
                 const std::string& what) {
  expect_close(segment.intercept_s, intercept, tolerance, what + " intercept");
  expect_close(segment.slope_s_per_byte, slope, tolerance, what + " slope");
}

void expect_published_overheads(const core::ScopeModel& scope, const json& published, MessageCost cost,
                                const char* name) {
  const auto& segments = scope.cost(cost).segments();
  const json& lines = published.at(name);
  ASSERT_EQ(segments.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Some published ois lists end at the threshold, the measurements do not (README of the data).
    if (cost == MessageCost::isend && lines[i].at("intercept_s") == 0.0) continue;
    EXPECT_EQ(segments[i].min_bytes, lines[i].at("min_size"));
    expect_line(segments[i], lines[i].at("intercept_s"), lines[i].at("slope_s_per_byte"), 1e-2,
                std::string(name) + " " + std::to_string(i));
  }
}

void expect_published_factors(const core::ScopeModel& scope, const json& reference) {
  const bool clipped = reference.at("published_clipped").is_object();
  const auto factors = transfer_factors(scope);
  const json& published = reference.at("published");
  ASSERT_EQ(factors.size(), published.at("bw_factor").size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double bandwidth = clipped ? std::min(1.0, factors[i].bandwidth_factor) : factors[i].bandwidth_factor;
    const double latency = clipped ? std::max(1.0, factors[i].latency_factor) : factors[i].latency_factor;
    expect_close(bandwidth, published.at("bw_factor")[i].at("factor"), 1e-2, "bw_factor " + std::to_string(i));
    expect_close(latency, published.at("lat_factor")[i].at("factor"), 1e-2, "lat_factor " + std::to_string(i));
  }
}

class PublishedCalibration : public testing::TestWithParam<const char*> {
 protected:
  static std::string file() { return std::string("mpi-calibration/") + GetParam() + "/reference.json"; }
};

TEST_P(PublishedCalibration, GivesThePublishedValues) {
  HPLCAST_REFERENCE_FILE(path, file());
  const Calibration calibration(path);
  const json& published = calibration.reference.at("published");
  if (published.is_null()) GTEST_SKIP() << "skipped: nothing was published for this calibration";
  const NetworkFit fit = fit_network(calibration.rows, calibration.options_of_the_publication());
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::NetworkModel::Values& values = fit.model.values();
  ASSERT_TRUE(values.remote.has_value());
  expect_published_overheads(*values.remote, published, MessageCost::send, "os");
  expect_published_overheads(*values.remote, published, MessageCost::isend, "ois");
  expect_published_overheads(*values.remote, published, MessageCost::recv, "or");
  expect_published_factors(*values.remote, calibration.reference);
  EXPECT_EQ(values.detached_bytes, published.at("send_is_detached_thresh"));
  EXPECT_EQ(values.async_small_bytes, published.at("async_small_thresh"));
  expect_close(values.wtime_s, published.at("wtime_s"), 1e-2, "wtime");
  expect_close(values.iprobe_s, published.at("iprobe_s"), 1e-2, "iprobe");
  expect_close(values.test_s, published.at("test_s"), 1e-2, "test");
}

TEST_P(PublishedCalibration, GivesTheIndependentlyRecomputedValuesToNineDigits) {
  HPLCAST_REFERENCE_FILE(path, file());
  const Calibration calibration(path);
  const NetworkFit fit = fit_network(calibration.rows, calibration.options_of_today());
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& scope = *fit.model.values().remote;
  const json& recomputed = calibration.reference.at("recomputed");
  const json& segments = recomputed.at("segments");
  const auto factors = transfer_factors(scope);
  ASSERT_EQ(factors.size(), segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const json& s = segments[i];
    const std::string where = "segment " + std::to_string(i) + " ";
    const std::vector<std::pair<MessageCost, const char*>> lines = {
        {MessageCost::send, "os"}, {MessageCost::isend, "ois"}, {MessageCost::recv, "or"}};
    for (const auto& [cost, name] : lines)
      expect_line(scope.cost(cost).segments().at(i), s.at(name)[0], s.at(name)[1], 1e-9, where + name);
    expect_line(scope.cost(MessageCost::transfer).segments().at(i), s.at("transfer_intercept_s"),
                s.at("transfer_slope_s_per_byte"), 1e-9, where + "transfer");
    expect_close(factors[i].bandwidth_factor, s.at("bw_factor_unclipped"), 1e-9, where + "bandwidth");
    expect_close(factors[i].latency_factor, s.at("lat_factor_unclipped"), 1e-9, where + "latency");
  }
  const core::NetworkModel::Values& values = fit.model.values();
  expect_close(values.wtime_s, recomputed.at("wtime_s"), 1e-9, "wtime");
  expect_close(values.iprobe_s, recomputed.at("iprobe_s"), 1e-9, "iprobe");
  expect_close(values.test_s, recomputed.at("test_s"), 1e-9, "test");
}

INSTANTIATE_TEST_SUITE_P(Clusters, PublishedCalibration,
                         testing::Values("taurus", "taurus-loopback", "miriel", "stampede", "graphene_eth"),
                         [](const auto& cluster) {
                           std::string name = cluster.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace hplcast::fit
