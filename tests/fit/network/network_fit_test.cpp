#include "hplcast/fit/network_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

using core::MessageCost;
using core::MpiMeasurement;
using core::Scope;
using testing::Contains;
using testing::HasSubstr;

/// A network whose costs are known: what each operation takes by size.
struct Truth {
  double threshold = 4000;
  std::function<double(double)> send = [](double s) { return 4e-7 + 1e-10 * s; };
  std::function<double(double)> recv = [](double s) { return 3e-7 + 1.2e-10 * s; };
  std::function<double(double)> transfer = [](double s) { return s < 30000 ? 1e-6 + 4e-10 * s : 3e-6 + 2.5e-10 * s; };
  double one_way(double s) const { return (s < threshold ? send(s) + recv(s) : 0) + transfer(s); }
};

/// Rows as the calibration makes them: sizes log-uniform, operations mixed, `noise` relative to each duration.
class RowMaker {
 public:
  explicit RowMaker(Truth truth, double noise, std::uint64_t seed = 1)
      : truth_(std::move(truth)), noise_(noise), stream_({seed, core::stream_fit, 0, 0}) {}

  std::vector<MpiMeasurement> rows(const std::string& scope, int sizes, double max_bytes = 1e6) {
    std::vector<MpiMeasurement> rows;
    const auto add = [&](const char* operation, double size, double duration_s) {
      MpiMeasurement row;
      row.operation = operation;
      row.scope = scope;
      row.size_bytes = size;
      row.duration_s = duration_s * std::exp(noise_ * stream_.normal());
      rows.push_back(row);
    };
    for (int i = 0; i < sizes; ++i) {
      const double size = std::floor(std::pow(max_bytes, stream_.uniform()));
      add("pingpong", size, 2 * truth_.one_way(size));
      add("send", size, size < truth_.threshold ? truth_.send(size) : truth_.transfer(size));
      add("isend", size, truth_.send(size));
      add("recv", size, size < truth_.threshold ? truth_.recv(size) : truth_.transfer(size));
      add("send_unmatched", size, size < truth_.threshold ? truth_.send(size) : 0.02);
      add("iprobe", 0, 2e-7);
      add("test", 0, 1e-7);
      add("wtime", 0, 3e-8);
    }
    return rows;
  }

 private:
  Truth truth_;
  double noise_;
  core::RandomStream stream_;
};

/// Round trip of a simulated ping-pong (docs/models/network-models.md).
double simulated_round_trip(const core::NetworkModel& model, Scope which, double size) {
  const core::ScopeModel& scope = model.scope(which);
  double one_way = scope.cost(MessageCost::transfer).mean_s(size);
  if (size < static_cast<double>(model.values().detached_bytes))
    one_way += scope.cost(MessageCost::send).mean_s(size) + scope.cost(MessageCost::recv).mean_s(size);
  return 2 * one_way;
}

const std::vector<double> probed_sizes = {1, 20, 300, 2000, 5000, 20000, 50000, 300000, 900000};

TEST(NetworkFit, RecoversTheCostsOfNoiselessMeasurements) {
  const Truth truth;
  const NetworkFit fit = fit_network(RowMaker(truth, 0).rows("remote", 400));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& remote = *fit.model.values().remote;
  // Between the sizes measured around it: 67 sizes a decade.
  EXPECT_NEAR(static_cast<double>(fit.model.values().async_small_bytes) / truth.threshold, 1, 0.1);
  EXPECT_EQ(fit.model.values().async_small_bytes, fit.model.values().detached_bytes);
  for (double size : probed_sizes) {
    // Exact up to rounding: where the sizes measured leave the breakpoint open, a size probed is not near it.
    EXPECT_NEAR(remote.cost(MessageCost::transfer).mean_s(size) / truth.transfer(size), 1, 1e-6) << size;
    if (size >= truth.threshold) continue;
    EXPECT_NEAR(remote.cost(MessageCost::send).mean_s(size) / truth.send(size), 1, 1e-6) << size;
    EXPECT_NEAR(remote.cost(MessageCost::recv).mean_s(size) / truth.recv(size), 1, 1e-6) << size;
  }
  EXPECT_NEAR(fit.model.values().iprobe_s, 2e-7, 1e-12);
  EXPECT_NEAR(fit.model.values().test_s, 1e-7, 1e-12);
  EXPECT_NEAR(fit.model.values().wtime_s, 3e-8, 1e-13);
  EXPECT_NEAR(remote.bandwidth_bytes_per_s, 4e9, 4e3);
}

TEST(NetworkFit, ReproducesNoisyRoundTrips) {
  const Truth truth;
  const NetworkFit fit = fit_network(RowMaker(truth, 0.1).rows("local", 1500));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_FALSE(fit.model.values().remote.has_value());
  // 10 % noise on some hundred rows a segment: 1 % at its middle, a few times that at its ends.
  for (double size : probed_sizes)
    EXPECT_NEAR(simulated_round_trip(fit.model, Scope::local, size) / (2 * truth.one_way(size)), 1, 0.05) << size;
}

TEST(NetworkFit, ReproducesRoundTripsThatTakeLessThanTheirSendAndReceive) {
  Truth truth;  // copies of sender and receiver overlap: half a round trip is only 70 % of them
  truth.transfer = [&truth](double s) {
    return s < truth.threshold ? -0.3 * (truth.send(s) + truth.recv(s)) : 1e-6 + 1.5e-10 * s;
  };
  const NetworkFit fit = fit_network(RowMaker(truth, 0.02).rows("local", 800));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& local = fit.model.values().local;
  for (double size : probed_sizes) {
    EXPECT_NEAR(simulated_round_trip(fit.model, Scope::local, size) / (2 * truth.one_way(size)), 1, 0.02) << size;
    for (const MessageCost cost : {MessageCost::send, MessageCost::recv, MessageCost::transfer})
      EXPECT_GE(local.cost(cost).mean_s(size), 0) << size;
  }
  for (const core::Segment& s : local.cost(MessageCost::transfer).segments()) {
    EXPECT_GT(s.intercept_s, 0);
    EXPECT_GE(s.slope_s_per_byte * local.bandwidth_bytes_per_s, 1 - 1e-12);
  }
}

TEST(NetworkFit, ExchangesTellWhetherLongMessagesGoOneWayAtATime) {
  const Truth truth;
  // As long as two messages, as three, and as twelve: a machine that was disturbed.
  for (const double factor : {1.0, 1.5, 6.0}) {
    std::vector<MpiMeasurement> rows = RowMaker(truth, 0.05).rows("remote", 300);
    for (MpiMeasurement row : RowMaker(truth, 0.05, 2).rows("remote", 60)) {
      if (row.operation != "pingpong") continue;
      row.operation = "exchange";
      // Short ones overlap in any case, and say nothing.
      if (row.size_bytes >= truth.threshold) row.duration_s *= factor;
      rows.push_back(row);
    }
    const NetworkFit fit = fit_network(rows);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    EXPECT_EQ(fit.model.scope(Scope::remote).half_duplex, factor == 1.5);
    EXPECT_THAT(fit.notes, Contains(HasSubstr("a message and one in each direction after it")));
  }
}

TEST(NetworkFit, SetsGrossOutliersAsideAndReportsThem) {
  const Truth truth;
  std::vector<MpiMeasurement> rows = RowMaker(truth, 0.05).rows("local", 600);
  std::size_t hit = 0;
  for (std::size_t i = 0; i < rows.size(); i += 50) {
    if (rows[i].operation != "pingpong") continue;
    rows[i].duration_s *= 200;  // the scheduler took the core away
    ++hit;
  }
  ASSERT_GT(hit, 10u);
  const NetworkFit fit = fit_network(rows);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  long aside = 0;
  for (const OperationReport& report : fit.operations) aside += report.rows_set_aside;
  EXPECT_EQ(aside, static_cast<long>(hit));
  for (double size : probed_sizes)
    EXPECT_NEAR(simulated_round_trip(fit.model, Scope::local, size) / (2 * truth.one_way(size)), 1, 0.05) << size;
}

TEST(NetworkFit, BearsAThirdOfTheCallsInterrupted) {
  const Truth truth;
  std::vector<MpiMeasurement> rows = RowMaker(truth, 0.05).rows("local", 600);
  core::RandomStream stream({7, core::stream_fit, 0, 0});
  for (MpiMeasurement& row : rows)
    if (row.operation != "send_unmatched" && stream.uniform() < 0.33) row.duration_s += 0.02 * stream.uniform();
  const NetworkFit fit = fit_network(rows);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  // Interruptions up to three times the duration cannot be told from noise; at a millisecond there are some.
  for (double size : probed_sizes)
    EXPECT_NEAR(simulated_round_trip(fit.model, Scope::local, size) / (2 * truth.one_way(size)), 1, 0.15) << size;
}

TEST(NetworkFit, SetsNothingAsideWhereSizesAreFewAndFarBetween) {
  const Truth truth;
  const NetworkFit fit = fit_network(RowMaker(truth, 0.05).rows("local", 30));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  for (const OperationReport& report : fit.operations) EXPECT_EQ(report.rows_set_aside, 0) << report.operation;
}

TEST(NetworkFit, SetsNothingAsideAtJumpsAndSteepSlopes) {
  Truth truth;
  truth.transfer = [](double s) { return s < 4000 ? 1e-6 + 1e-10 * s : 2e-5 + 5e-9 * s; };
  const NetworkFit fit = fit_network(RowMaker(truth, 0.1).rows("local", 500));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  for (const OperationReport& report : fit.operations) EXPECT_EQ(report.rows_set_aside, 0) << report.operation;
}

TEST(NetworkFit, TakesEveryMessageAsEagerIfNoSendEverWaits) {
  Truth truth;
  truth.threshold = 1e9;
  const NetworkFit fit = fit_network(RowMaker(truth, 0.01).rows("local", 200));
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.model.values().async_small_bytes, 2147483647u);
  EXPECT_THAT(fit.notes, Contains(HasSubstr("no send waited")));
}

TEST(NetworkFit, FindsTheThresholdDespiteASendThatWasLate) {
  const Truth truth;
  std::vector<MpiMeasurement> rows = RowMaker(truth, 0.01).rows("local", 300);
  for (MpiMeasurement& row : rows) {
    if (row.operation != "send_unmatched" || row.size_bytes > 50) continue;
    row.duration_s = 0.03;
    break;
  }
  const NetworkFit fit = fit_network(rows);
  // Between the sizes measured around it: 50 sizes a decade.
  EXPECT_NEAR(static_cast<double>(fit.model.values().detached_bytes) / truth.threshold, 1, 0.15);
}

TEST(NetworkFit, PutsTheThresholdWhereRoundTripsJump) {
  Truth truth;
  truth.threshold = 4000;
  truth.transfer = [](double s) { return s < 4000 ? 1e-6 + 4e-10 * s : 8e-6 + 1e-10 * s; };
  std::vector<MpiMeasurement> rows = RowMaker(truth, 0.02).rows("local", 300);
  double largest_below = 0, smallest_above = 1e9;
  for (MpiMeasurement& row : rows) {
    // Sends to a late receiver at powers of two only: somewhere from 2049 to 4096.
    if (row.operation == "send_unmatched") row.size_bytes = std::exp2(std::floor(std::log2(row.size_bytes)));
    if (row.operation == "send_unmatched") row.duration_s = row.size_bytes < truth.threshold ? 1e-6 : 0.02;
    if (row.operation != "pingpong") continue;
    (row.size_bytes < truth.threshold ? largest_below : smallest_above) =
        row.size_bytes < truth.threshold ? std::max(largest_below, row.size_bytes)
                                         : std::min(smallest_above, row.size_bytes);
  }
  const NetworkFit fit = fit_network(rows);
  EXPECT_GT(static_cast<double>(fit.model.values().detached_bytes), largest_below);
  EXPECT_LE(static_cast<double>(fit.model.values().detached_bytes), std::min(4096.0, smallest_above));
}

TEST(NetworkFit, KeepsBothScopesApart) {
  Truth slow;
  slow.transfer = [](double s) { return 3e-5 + 1e-8 * s; };
  RowMaker local(Truth(), 0.02, 1), remote(slow, 0.02, 2);
  std::vector<MpiMeasurement> rows = local.rows("local", 300);
  for (const MpiMeasurement& row : remote.rows("remote", 300)) rows.push_back(row);
  const NetworkFit fit = fit_network(rows);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.model.scope(Scope::remote).cost(MessageCost::transfer).mean_s(100), 3.1e-5, 1e-6);
  EXPECT_NEAR(fit.model.scope(Scope::local).cost(MessageCost::transfer).mean_s(100), 1.04e-6, 1e-7);
}

/// Mean and standard deviation of the round trip of two messages drawn from a model.
std::pair<double, double> drawn_round_trips(const core::NetworkModel& model, double size) {
  const core::ScopeModel& scope = model.scope(Scope::local);
  core::RandomStream stream({11, core::stream_message, 0, 0});
  double mean = 0, m2 = 0;
  constexpr int draws = 20000;
  for (int i = 1; i <= draws; ++i) {
    double round_trip = 0;
    for (int message = 0; message < 2; ++message)
      for (const MessageCost cost : {MessageCost::send, MessageCost::transfer, MessageCost::recv})
        round_trip += scope.cost(cost).sample_s(size, stream.next());
    const double step = round_trip - mean;
    mean += step / i;
    m2 += step * (round_trip - mean);
  }
  return {mean, std::sqrt(m2 / draws)};
}

TEST(NetworkFit, GivesMessagesTheScatterOfTheRoundTrips) {
  // Sizes below 100 bytes, where 20 % noise of a round trip is the same everywhere.
  Truth truth;
  truth.transfer = [](double) { return 2e-6; };
  const std::vector<MpiMeasurement> rows = RowMaker(truth, 0.2).rows("local", 3000, 100);
  for (const SegmentNoiseKind kind : {SegmentNoiseKind::n1, SegmentNoiseKind::mixture}) {
    NetworkFitOptions options;
    options.noise = kind;
    const NetworkFit fit = fit_network(rows, options);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    const auto [mean, sd] = drawn_round_trips(fit.model, 50);
    const double expected = 2 * truth.one_way(50) * std::exp(0.02);  // mean of a log-normal
    EXPECT_NEAR(mean / expected, 1, 0.02) << to_string(kind);
    EXPECT_NEAR(sd / (0.2 * expected), 1, 0.1) << to_string(kind);
  }
}

TEST(NetworkFit, SaysWhatIsMissing) {
  EXPECT_EQ(fit_network(std::vector<MpiMeasurement>()).status, NetworkStatus::no_rows);
  std::vector<MpiMeasurement> rows = RowMaker(Truth(), 0.01).rows("local", 100);
  std::vector<MpiMeasurement> some;
  for (const MpiMeasurement& row : rows)
    if (row.operation != "pingpong") some.push_back(row);
  const NetworkFit no_pingpong = fit_network(some);
  EXPECT_EQ(no_pingpong.status, NetworkStatus::no_pingpong);
  EXPECT_THAT(no_pingpong.reason, HasSubstr("local: no rows of operation `pingpong`"));
  for (MpiMeasurement& row : rows)
    if (row.operation == "pingpong") row.size_bytes = 1000;
  const NetworkFit one_size = fit_network(rows);
  EXPECT_EQ(one_size.status, NetworkStatus::too_few_sizes);
  EXPECT_THAT(one_size.reason, HasSubstr("one message size only"));
}

TEST(NetworkFit, SaysThatAnObjectiveCannotHaveMessagesOfNoBytes) {
  std::vector<MpiMeasurement> rows = RowMaker(Truth(), 0.01).rows("local", 100);
  rows.front().size_bytes = 0;
  rows.front().duration_s = 5e-7;  // more would count as interrupted
  NetworkFitOptions options;
  options.regression.objective = Objective::weighted;
  for (const char* operation : {"pingpong", "send"}) {
    SCOPED_TRACE(operation);
    rows.front().operation = operation;
    const NetworkFit fit = fit_network(rows, options);
    EXPECT_FALSE(fit.ok());
    EXPECT_THAT(fit.reason, HasSubstr("local: the objective `weighted` divides by the size"));
  }
  options.regression.objective = Objective::log;
  EXPECT_TRUE(fit_network(rows, options).ok());
}

// The largest size alone is beyond the threshold: no segment of its own, but no reason to forget what sends take.
TEST(NetworkFit, KeepsOverheadsUpToAThresholdNearTheLargestSize) {
  Truth truth;
  truth.threshold = 60000;
  truth.send = [](double) { return 4e-7; };
  truth.recv = [](double) { return 3e-7; };
  std::vector<MpiMeasurement> rows = RowMaker(truth, 0).rows("local", 200, truth.threshold);
  for (MpiMeasurement row : RowMaker(truth, 0).rows("local", 1, 1)) {
    if (row.operation == "pingpong") row.duration_s = 2 * truth.one_way(65536);
    if (row.operation == "send_unmatched") row.duration_s = 0.02;
    if (row.operation != "pingpong" && row.operation != "send_unmatched") continue;
    row.size_bytes = 65536;
    rows.push_back(row);
  }
  const NetworkFit fit = fit_network(rows);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const double detached = static_cast<double>(fit.model.values().detached_bytes);
  EXPECT_GT(detached, 55000);
  EXPECT_LT(detached, 65536);
  const core::ScopeModel& local = fit.model.scope(Scope::local);
  for (const double size : {1.0, 1000.0, 31000.0, 50000.0, detached - 1}) {
    EXPECT_NEAR(local.cost(MessageCost::send).mean_s(size), 4e-7, 1e-12) << size;
    EXPECT_NEAR(local.cost(MessageCost::recv).mean_s(size), 3e-7, 1e-12) << size;
  }
  EXPECT_EQ(local.cost(MessageCost::send).mean_s(detached), 0);
  EXPECT_EQ(local.cost(MessageCost::recv).mean_s(detached), 0);
}

TEST(NetworkFit, FitsPingPongsAlone) {
  std::vector<MpiMeasurement> some;
  for (const MpiMeasurement& row : RowMaker(Truth(), 0.01).rows("local", 100))
    if (row.operation == "pingpong") some.push_back(row);
  const NetworkFit fit = fit_network(some);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_THAT(fit.notes, Contains(HasSubstr("no rows of operation `recv`")));
  EXPECT_THAT(fit.notes, Contains("local: no rows of operations `send` and `isend`: the send overhead is 0"));
  EXPECT_THAT(fit.notes, ::testing::Not(Contains(HasSubstr("that of isend"))));
}

TEST(NetworkFit, TrimsMillionsOfProbesAsItTrimsAFew) {
  const std::vector<MpiMeasurement> pingpongs = [] {
    std::vector<MpiMeasurement> some;
    for (const MpiMeasurement& row : RowMaker(Truth(), 0.01).rows("local", 50))
      if (row.operation == "pingpong") some.push_back(row);
    return some;
  }();
  for (const int probes : {1000, 1000000}) {
    const NetworkFit fit = fit_network([&](const std::function<void(const MpiMeasurement&)>& each) {
      for (const MpiMeasurement& row : pingpongs) each(row);
      MpiMeasurement probe = pingpongs.front();
      probe.operation = "iprobe";
      probe.size_bytes = 0;
      for (int i = 0; i < probes; ++i) {
        const double place = (i + 0.5) / probes;
        probe.duration_s = place < 0.95 ? 1e-7 * (1 + place * place) : 1e-3;  // the last: interrupted
        each(probe);
      }
    });
    ASSERT_TRUE(fit.ok()) << fit.reason;
    // 1e-7 times the mean of 1 + x^2 from 0.1 to 0.9, which scatters by 0.24; of a million a sample of 100,000 counts.
    EXPECT_NEAR(fit.model.values().iprobe_s / (1e-7 * (1 + (0.729 - 0.001) / 2.4)), 1, probes > 100000 ? 0.003 : 1e-4);
  }
}

TEST(NetworkFit, CountsFailedRowsAndRefusesBrokenOnes) {
  std::vector<MpiMeasurement> rows = RowMaker(Truth(), 0.01).rows("local", 50);
  rows[0].error = "timeout";
  rows[0].duration_s = 0;
  const NetworkFit fit = fit_network(rows);
  long failed = 0;
  for (const OperationReport& report : fit.operations) failed += report.rows_failed;
  EXPECT_EQ(failed, 1);
  rows[0].error.clear();
  EXPECT_THROW(fit_network(rows), core::DomainError);
  rows[0].operation = "iprobe";
  EXPECT_THROW(fit_network(rows), core::DomainError);
  rows[0].duration_s = std::nan("");
  EXPECT_THROW(fit_network(rows), core::DomainError);
  rows[0].duration_s = 1;
  rows[0].scope = "nearby";
  EXPECT_THROW(fit_network(rows), core::DomainError);
}

/// Turns of 1, 2, 4 pairs at once over a link of 8 GB/s, of which one flow gets 4 GB/s.
std::vector<MpiMeasurement> saturated_rows(const std::string& scope) {
  std::vector<MpiMeasurement> rows;
  for (const long pairs : {1L, 2L, 4L}) {
    for (int i = 0; i < 12; ++i) {
      MpiMeasurement row;
      row.operation = "one_way";
      row.scope = scope;
      row.pairs = pairs;
      row.size_bytes = 1e6 * (1 + i % 4);
      row.duration_s =
          1e-5 + static_cast<double>(pairs) * row.size_bytes / std::min(4e9 * static_cast<double>(pairs), 8e9);
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(NetworkFit, TakesCapacitiesFromSeveralPairsAtOnceAndCostsFromOne) {
  std::vector<MpiMeasurement> rows = RowMaker({}, 0.01).rows("remote", 300);
  const std::vector<MpiMeasurement> local = RowMaker({}, 0.01, 2).rows("local", 300);
  rows.insert(rows.end(), local.begin(), local.end());
  const core::NetworkModel before = fit_network(rows).model;
  const std::vector<MpiMeasurement> more = saturated_rows("remote");
  rows.insert(rows.end(), more.begin(), more.end());
  MpiMeasurement crowded = rows.front();
  crowded.pairs = 2;
  crowded.duration_s *= 1000;
  rows.push_back(crowded);
  const NetworkFit fit = fit_network(rows);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& remote = fit.model.scope(Scope::remote);
  ASSERT_TRUE(remote.capacity);
  EXPECT_NEAR(remote.capacity->bytes_per_s, 8e9, 1);
  EXPECT_EQ(remote.capacity->origin, core::LinkCapacity::Origin::measured);
  EXPECT_NEAR(fit.capacities[1].single->bytes_per_s, 4e9, 1);
  for (const double size : probed_sizes)
    EXPECT_EQ(simulated_round_trip(fit.model, Scope::remote, size), simulated_round_trip(before, Scope::remote, size));
  EXPECT_FALSE(fit.model.scope(Scope::local).capacity);
  EXPECT_THAT(fit.model.scope(Scope::local).notes,
              Contains(HasSubstr("capacity: the capacity for several messages inside a host")));
  EXPECT_THAT(fit.notes, Contains(HasSubstr("1 rows are left out: several pairs")));
  EXPECT_TRUE(fit.flags.empty());
  EXPECT_THAT(before.scope(Scope::remote).notes, Contains(HasSubstr("the bandwidth of a single flow")));
}

TEST(NetworkFit, AGivenCapacityPrevailsAndIsComparedWithTheRate) {
  std::vector<MpiMeasurement> rows = RowMaker({}, 0.01).rows("remote", 300);
  const std::vector<MpiMeasurement> more = saturated_rows("remote");
  rows.insert(rows.end(), more.begin(), more.end());
  NetworkFitOptions options;
  options.capacity_bytes_per_s[1] = 1e9;
  const NetworkFit fit = fit_network(rows, options);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit.model.scope(Scope::remote).capacity->bytes_per_s, 1e9);
  EXPECT_EQ(fit.model.scope(Scope::remote).capacity->origin, core::LinkCapacity::Origin::given);
  ASSERT_EQ(fit.flags.size(), 1U);
  EXPECT_EQ(fit.flags.front().flag, "capacity_below_rate");
  EXPECT_FALSE(fit.model.scope(Scope::local).capacity) << "costs inside a host are those between hosts, links are not";
  options.capacity_bytes_per_s[1] = -1;
  EXPECT_THROW(fit_network(rows, options), core::DomainError);
}

/// What `hplcast import` makes of osu_latency and osu_bw: 1 us and 10 GB/s alone, 12 GB/s with many on their way.
std::vector<MpiMeasurement> imported_rows() {
  std::vector<MpiMeasurement> rows;
  for (double size = 1; size <= 4194304; size *= 2) {
    for (const bool stream : {false, true}) {
      MpiMeasurement row;
      row.operation = stream ? "stream" : "pingpong";
      row.scope = "remote";
      row.size_bytes = size;
      row.duration_s = stream ? 1e-7 + size / 12e9 : 2 * (1e-6 + size / 10e9);
      row.source = stream ? "osu_bw v5.9" : "osu_latency v5.9";
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(ImportedNetwork, HasTheLawOfThePingPongAndFlagsWhatIsMissing) {
  const NetworkFit fit = fit_network(imported_rows());
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& remote = *fit.model.values().remote;
  for (const double size : {1.0, 1e4, 4e6})
    EXPECT_NEAR(remote.cost(core::MessageCost::transfer).mean_s(size) / (1e-6 + size / 10e9), 1, 1e-6) << size;
  std::vector<std::string> flags;
  for (const QualityFlag& flag : fit.flags) flags.push_back(flag.subject + " " + flag.flag);
  EXPECT_THAT(flags, ::testing::UnorderedElementsAre("remote capacity_lower_bound", "osu_bw v5.9 imported",
                                                     "osu_latency v5.9 imported"));
  EXPECT_THAT(remote.notes, ::testing::Contains("imported: osu_latency v5.9, means over many calls"));
}

TEST(ImportedNetwork, TakesTheRateOfManyMessagesAsCapacityUnlessOneIsGiven) {
  const NetworkFit fit = fit_network(imported_rows());
  EXPECT_NEAR(fit.model.values().remote->capacity->bytes_per_s, 12e9, 1e-3 * 12e9);  // its 1e-7 s are 3e-4 of 4 MiB
  NetworkFitOptions options;
  options.capacity_bytes_per_s[static_cast<std::size_t>(core::Scope::remote)] = 20e9;
  EXPECT_EQ(fit_network(imported_rows(), options).model.values().remote->capacity->bytes_per_s, 20e9);
}

}  // namespace
}  // namespace hplcast::fit
