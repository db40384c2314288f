// Numbers that no machine has: units that are off are told, models of real machines are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "hplcast/core/doubts.hpp"

namespace hplcast::core {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PiecewiseLaw law(double mu, double sigma = 0, Monomial term = {1, 1, 1}) {
  return PiecewiseLaw(DurationLaw::make(Polynomial::make({term}, {mu}), Polynomial::make({term}, {sigma}),
                                        sigma == 0 ? NoiseFamily::none : NoiseFamily::half_normal));
}

/// One core of 20 Gflop/s, messages at 10 GB/s.
struct Machine {
  double dgemm = 1e-10, dgemm_sigma = 1e-12, dtrsm = 1.5e-10, dlacpy = 1e-9, cpu = 1e-10;
  NetworkModel::Values network;
  Machine() {
    network.remote.emplace();
    for (ScopeModel* scope : {&network.local, &*network.remote}) {
      scope->bandwidth_bytes_per_s = 1e10;
      scope->latency_s = 1e-6;
      scope->cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1e-6, 1e-10}});
    }
  }
  ClusterModel cluster() const {
    ClusterModel result;
    result.kernels["dgemm"] = KernelModel::make("M1", law(dgemm, dgemm_sigma), {{0, 0, law(cpu)}});
    result.kernels["dtrsm"] = KernelModel::make("M1", law(dtrsm, 0, {2, 1, 0}));
    result.kernels["dlacpy"] = KernelModel::make("M1", law(dlacpy, 0, {1, 1, 0}));
    result.network = NetworkModel::make(network);
    return result;
  }
};

std::string said_of(const Machine& machine) {
  std::string all;
  for (const QualityFlag& flag : implausible(machine.cluster())) all += flag.subject + ": " + flag.detail + "\n";
  return all;
}

TEST(Plausible, AnOrdinaryMachineIs) {
  EXPECT_EQ(said_of({}), "");
}

TEST(Plausible, KernelsInOtherUnitsAreNot) {
  Machine machine;
  machine.dgemm = 1e-13;
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dgemm: 2e+04 Gflop/s; expected 0.1 to 1e+03 Gflop/s of a rank"));
  machine = {};
  machine.dgemm = machine.cpu = 1e-7;
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dgemm: 0.02 Gflop/s"));
  machine = {};
  machine.dtrsm = 1e-8;  // m^2 n flop; dgemm has 2 m n k in 1e-10 m n k s
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dtrsm: 200 times slower than dgemm"));
  machine = {};
  machine.dlacpy = 1e-3;
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dlacpy: 0.001 s per element"));
  machine = {};
  machine.cpu = 1e-7;
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dgemm, host 0, cpu 0: 1e+03 times the duration of the cluster"));
}

TEST(Plausible, ScatterHasTheSizeOfDurationsAndTheirSign) {
  Machine machine;
  machine.dgemm_sigma = 1e-8;
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dgemm/sigma: 100 times mu"));
  machine.dgemm_sigma = -1e-12;
  EXPECT_THAT(said_of(machine), HasSubstr("/kernels/dgemm/sigma: it is negative"));
}

TEST(Plausible, MiddleCallsTakeTime) {
  // mu = 1e-6 - 2e-9 m + 1e-12 m^2, 0 at m = 1000, less than 0 around it: of 1 to 1e6 the middle is 1000.
  ClusterModel cluster;
  const auto mu = Polynomial::make({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {0.9e-6, -2e-9, 1e-12});
  cluster.kernels["dscal"] = KernelModel::make("M2", PiecewiseLaw(DurationLaw::make(mu, {}, NoiseFamily::none)), {},
                                               ShapeRange{{1, 1, 1}, {1e6, 1, 1}});
  EXPECT_THAT(implausible(cluster), Contains(Field(&QualityFlag::flag, "negative_in_the_middle")));
}

TEST(Plausible, MessagesInOtherUnitsAreNot) {
  Machine machine;
  machine.network.remote->latency_s = 1;
  EXPECT_THAT(said_of(machine), HasSubstr("/network/remote/latency_s: 1 s; expected 5e-08 to 0.01 s"));
  machine.network.remote->first_use_s_per_byte = 2e-3;
  EXPECT_THAT(said_of(machine), HasSubstr("/network/remote/first_use_s_per_byte: 0.002 s/byte; expected at most"));
  machine = {};
  machine.network.remote->cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1, 1e-10}});
  EXPECT_THAT(said_of(machine), HasSubstr("a message of 1 byte takes 1 s"));
  machine = {};
  machine.network.remote->exchange_s = 1;
  EXPECT_THAT(said_of(machine), HasSubstr("a message of 1 byte takes 1 s"));
  machine = {};
  machine.network.remote->cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1e-6, 0.1}});
  EXPECT_THAT(said_of(machine), HasSubstr("slopes in s per GB"));
  machine = {};
  machine.network.local.bandwidth_bytes_per_s = 100;
  EXPECT_THAT(said_of(machine), HasSubstr("/network/local/bandwidth_bytes_per_s: 100 bytes/s"));
  machine = {};
  machine.network.remote->capacity = LinkCapacity{1e7};
  EXPECT_THAT(said_of(machine), HasSubstr("/network/remote/capacity: 0.001"));
  machine.network.remote->capacity = LinkCapacity{1e16};
  EXPECT_THAT(said_of(machine), HasSubstr("/network/remote/capacity: 1.15e+06"));
  machine = {};
  machine.network.iprobe_s = 0.2;
  machine.network.wtime_s = 0.03;
  EXPECT_EQ(said_of(machine),
            "/network/iprobe_s: 0.2 s; expected at most 0.01 s (microseconds in place of seconds?)\n"
            "/network/wtime_s: 0.03 s; expected at most 0.01 s (microseconds in place of seconds?)\n");
}

TEST(Plausible, PanelsAreNamedWhereTheyAreTheFastest) {
  Machine machine;
  machine.network.remote->panels = SegmentedLaw::make({{0, 1e-9, 1e-14}});
  EXPECT_THAT(said_of(machine), HasSubstr("/network/remote/panels: a panel of 65536 bytes goes at 3.96e+13 bytes/s"));
  EXPECT_THAT(said_of(machine), ::testing::Not(HasSubstr("/network/remote/operations")));
}

TEST(Plausible, AllMessagesAndAllTheirCostsAreLookedAt) {
  Machine machine;
  ScopeModel& remote = *machine.network.remote;
  remote.max_bytes = 1e7;
  for (const MessageCost cost : {MessageCost::send, MessageCost::isend, MessageCost::recv}) {
    const SegmentedLaw before = remote.cost(cost);
    remote.cost(cost) = SegmentedLaw::make({{0, 1e-6, 0}, {65536, 0, 0.1}});
    EXPECT_THAT(said_of(machine), HasSubstr("/network/remote/operations: a message of 65536 bytes takes 6.55e+03 s; "
                                            "expected at most 0.0755 s"));
    remote.cost(cost) = SegmentedLaw::make({{0, 1e-6, 1e-5}});
    EXPECT_THAT(said_of(machine), HasSubstr("a message of 10000000 bytes takes 100 s")) << "at the largest size";
    remote.cost(cost) = before;
  }
  remote.panels = SegmentedLaw::make({{0, 1e-6, 1e-4}});  // as fast as before: what is no panel
  EXPECT_THAT(said_of(machine), HasSubstr("a message of 10000000 bytes takes 1e+03 s"));
  std::swap(*remote.panels, remote.cost(MessageCost::transfer));
  EXPECT_THAT(said_of(machine), HasSubstr("a message of 10000000 bytes takes 1e+03 s"));
}

TEST(Plausible, WaysBetweenGroupsAndKindsAreThoseOfNetworks) {
  Machine machine;
  machine.network.topology = HostGroups{{0, 1}, 1e-6, 0.5};
  EXPECT_EQ(said_of(machine), "");
  machine.network.topology = HostGroups{{0, 1}, 1, 1e-9};
  EXPECT_THAT(said_of(machine), HasSubstr("/network/topology/extra_latency_s: 1 s; expected at most 0.01 s"));
  EXPECT_THAT(said_of(machine), HasSubstr("/network/topology/bandwidth_share: 8.68 bytes/s; expected 1e+06 to 1e+12"));
}

TEST(Plausible, WattsAreThoseOfHosts) {
  ClusterModel cluster = Machine().cluster();
  PowerModel::Values power;
  power.idle = 100;
  cluster.power = PowerModel::make(power);
  EXPECT_THAT(implausible(cluster), IsEmpty());
  power.idle = 100000;
  cluster.power = PowerModel::make(power);
  EXPECT_THAT(implausible(cluster), Contains(Field(&QualityFlag::detail, HasSubstr("milliwatts"))));
}

TEST(Plausible, ClocksAreInHertz) {
  ClusterModel cluster = Machine().cluster();
  PowerModel::Values power;
  power.idle = 100;
  for (const double hz : {2.1e9, 2.1e6, 2.1}) {
    power.frequency = FrequencyModel{hz, {}, {}, {}, {}};
    cluster.power = PowerModel::make(power);
    if (hz == 2.1e9) {
      EXPECT_THAT(implausible(cluster), IsEmpty());
    } else {
      EXPECT_THAT(implausible(cluster), Contains(Field(&QualityFlag::subject, "/power/frequency/hz")));
    }
  }
}

std::string said_of_run(const ClusterModel& cluster, long long N) {
  HplParameters run;
  run.N = N, run.NB = 100, run.P = run.Q = 2;
  std::string all;
  for (const QualityFlag& flag : implausible_in(cluster, run)) all += flag.subject + ": " + flag.detail + "\n";
  return all;
}

/// dgemm that was fitted on calls of at most 1000 x 1000 x 128, where it does 20 Gflop/s.
ClusterModel fitted_on_small_calls(double mn, double sigma_mn) {
  ClusterModel cluster = Machine().cluster();
  const auto mu = Polynomial::make({{1, 1, 1}, {1, 1, 0}}, {1e-10, mn});
  const auto sigma = Polynomial::make({{1, 1, 0}}, {sigma_mn});
  cluster.kernels["dgemm"] =
      KernelModel::make("M2", PiecewiseLaw(DurationLaw::make(mu, sigma, NoiseFamily::half_normal)), {},
                        ShapeRange{{1, 1, 1}, {1000, 1000, 128}});
  return cluster;
}

TEST(Plausible, ConstantsAndPiecesInOtherUnitsAreNot) {
  ClusterModel cluster = fitted_on_small_calls(0, 0);
  const auto with_constant = Polynomial::make({{1, 1, 1}, {0, 0, 0}}, {1e-10, 1});
  cluster.kernels["dgemm"] =
      KernelModel::make("M2", PiecewiseLaw(DurationLaw::make(with_constant, {}, NoiseFamily::none)), {},
                        ShapeRange{{1, 1, 1}, {5000, 5000, 128}});
  EXPECT_THAT(implausible(cluster), Contains(Field(&QualityFlag::detail, HasSubstr("a call of 1 x 1 x 1 takes 1 s"))));
  const auto piece = [](double from, double mnk) {
    return LawPiece{from, DurationLaw::make(Polynomial::make({{1, 1, 1}}, {mnk}), {}, NoiseFamily::none)};
  };
  for (const auto& [first, is_told] : {std::pair(5e-10, false), {1e-7, true}}) {  // 5 and 1,000 times the second
    cluster.kernels["dgemm"] =
        KernelModel::make("M'", PiecewiseLaw::make({1, 1, 1}, {piece(0, first), piece(1e6, 1e-10)}));
    const auto flags = implausible(cluster);
    EXPECT_EQ(std::any_of(flags.begin(), flags.end(),
                          [](const QualityFlag& flag) { return flag.subject == "/kernels/dgemm/pieces/1"; }),
              is_told);
  }
}

TEST(Plausible, MemoryAndScatterOfMessagesInOtherUnitsAreNot) {
  ClusterModel cluster = Machine().cluster();
  Hosts::Values hosts = cluster.hosts.values();
  for (const double bytes : {64.0, 1e20}) {  // GB; a mistake
    hosts.memory_bytes = bytes;
    cluster.hosts = Hosts::make(hosts);
    EXPECT_THAT(implausible(cluster), Contains(Field(&QualityFlag::subject, "/hosts/memory_bytes")));
  }
  Machine machine;
  Segment wide{0, 1e-6, 1e-10};
  wide.sd_s = 5;
  machine.network.remote->cost(MessageCost::transfer) = SegmentedLaw::make({wide});
  EXPECT_THAT(said_of(machine), HasSubstr("messages scatter by 5 s"));
}

TEST(Plausible, CallsWithoutWorkAndRatiosOfAliasedColumnsInOtherUnitsAreNot) {
  ClusterModel cluster = Machine().cluster();
  cluster.empty_call_s = {{"dgemm", 1.3e-4}};
  cluster.aliased = {{4096, {{"dgemm", {1.09, 0.02}}}}};
  EXPECT_THAT(implausible(cluster), IsEmpty());
  cluster.empty_call_s = {{"dgemm", 130}};            // us
  cluster.aliased = {{4096, {{"dgemm", {109, 2}}}}};  // %
  EXPECT_THAT(implausible(cluster), ElementsAre(Field(&QualityFlag::subject, "/empty_call_s/dgemm"),
                                                Field(&QualityFlag::subject, "/aliased, 4096 bytes, dgemm")));
}

TEST(Plausible, ARunOfOrdinarySizesIs) {
  EXPECT_EQ(said_of_run(Machine().cluster(), 2000), "");
  EXPECT_EQ(said_of_run(fitted_on_small_calls(0, 1e-10), 2000), "");
  EXPECT_EQ(said_of_run(Machine().cluster(), 1), "");  // no core has a rate in calls of a few flop
}

TEST(Plausible, CallsOfARunTakeTimeThoughThoseOfTheCalibrationDo) {
  ClusterModel larger = fitted_on_small_calls(0, 0);
  const auto falling = Polynomial::make({{1, 1, 1}, {2, 1, 1}}, {1e-10, -1e-14});  // negative from m = 10,000 on
  larger.kernels["dgemm"] = KernelModel::make("M2", PiecewiseLaw(DurationLaw::make(falling, {}, NoiseFamily::none)), {},
                                              ShapeRange{{1, 1, 1}, {1000, 1000, 128}});
  EXPECT_THAT(implausible(larger), IsEmpty());
  EXPECT_EQ(said_of_run(larger, 10000), "");  // 5000 x 5000 on each of 2 x 2 ranks
  EXPECT_THAT(said_of_run(larger, 40000),
              HasSubstr("/kernels/dgemm/mu: calls of 20000 x 20000 x 100, of this run, take no time"));
}

TEST(Plausible, DgemmOfPanelsIsNoFasterThanThatOfUpdates) {
  // Per m n of k = 128 and 64: 1.28e-8 - 5e-9 s, and 6.4e-9 - 5e-9 s, 2.8 times as fast; with -1e-8 s less than no
  // time.
  EXPECT_THAT(implausible(fitted_on_small_calls(-1e-9, 0)), IsEmpty());
  EXPECT_THAT(implausible(fitted_on_small_calls(-5e-9, 0)),
              Contains(Field(&QualityFlag::detail, HasSubstr("a call of 1000 x 64 x 64, as in panels, takes 8.96e-05 "
                                                             "s; expected at least 0.000125 s"))));
  EXPECT_THAT(implausible(fitted_on_small_calls(-1e-8, 0)),
              Contains(Field(&QualityFlag::subject, "/kernels/dgemm/mu")));
}

TEST(Plausible, CallsOfARunScatterLessThanTheyTake) {
  // 128 x 1e-10 = 1.28e-8 per m n for the largest calls of the calibration; sigma grows with m.
  ClusterModel cluster = Machine().cluster();
  cluster.kernels.erase("dtrsm");
  const auto mu = Polynomial::make({{1, 1, 1}}, {1e-10});
  const auto sigma = Polynomial::make({{2, 1, 1}}, {1e-12});  // as mu at m = 100, 10 times at m = 1000
  cluster.kernels["dgemm"] =
      KernelModel::make("M2", PiecewiseLaw(DurationLaw::make(mu, sigma, NoiseFamily::half_normal)), {},
                        ShapeRange{{1, 1, 1}, {900, 900, 128}});
  EXPECT_THAT(implausible(cluster), IsEmpty());
  EXPECT_THAT(said_of_run(cluster, 40000), HasSubstr("scatter by 200 times mu; expected at most 10 times"));
}

TEST(Plausible, DgemmOfARunHasARateOfACore) {
  // 1e-6 m n s beside 1e-10 m n k: as long as that for k = 10,000. 2 m n 100 flop in 1.01e-6 m n s: 0.2 Gflop/s, and
  // ten times as much of it 0.02.
  EXPECT_EQ(said_of_run(fitted_on_small_calls(1e-6, 0), 4000), "");
  ClusterModel cluster = Machine().cluster();
  cluster.kernels.erase("dtrsm");
  const auto mu = Polynomial::make({{1, 1, 1}, {2, 1, 1}}, {1e-10, 1e-12});
  cluster.kernels["dgemm"] = KernelModel::make("M2", PiecewiseLaw(DurationLaw::make(mu, {}, NoiseFamily::none)), {},
                                               ShapeRange{{1, 1, 1}, {1000, 1000, 128}});
  EXPECT_THAT(implausible(cluster), IsEmpty());
  EXPECT_THAT(said_of_run(cluster, 80000), HasSubstr("Gflop/s; expected 0.1 to 1e+03 Gflop/s of a rank"));
}

TEST(Plausible, ModelsOfRealMachinesAre) {
  for (const char* name : {"dahu-like.json", "stampede-like.json"}) {
    const std::string path = std::string(HPLCAST_SOURCE_DIR) + "/examples/" + name;
    std::ifstream in(path);
    EXPECT_THAT(implausible(read_cluster(in, path)), IsEmpty()) << path;
  }
}

}  // namespace
}  // namespace hplcast::core
