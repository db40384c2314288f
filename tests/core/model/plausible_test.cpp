// Numbers that no machine has: units that are off are told, models of real machines are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hplcast/core/doubts.hpp"

namespace hplcast::core {
namespace {

using ::testing::Contains;
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
  machine = {};
  machine.network.remote->cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1, 1e-10}});
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

TEST(Plausible, ModelsOfRealMachinesAre) {
  for (const char* name : {"dahu-like.json", "stampede-like.json"}) {
    const std::string path = std::string(HPLCAST_SOURCE_DIR) + "/examples/" + name;
    std::ifstream in(path);
    EXPECT_THAT(implausible(read_cluster(in, path)), IsEmpty()) << path;
  }
}

}  // namespace
}  // namespace hplcast::core
