#include "hplcast/core/imported.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

const char* const dgemm_header =
    "model_id,date,node,cpu,cpu_id,mu_intercept,mu_mnk,mu_mn,mu_mk,mu_nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,"
    "sigma_nk\n";
const char* const two_cpus =
    "a,2019,7,0,14,1e-6,7e-11,1e-10,2e-10,3e-10,1e-7,1e-12,0,0,0\n"
    "a,2019,7,1,15,3e-6,9e-11,1e-10,2e-10,3e-10,3e-7,1e-12,0,0,0\n"
    "b,2019,7,0,14,0,1e-11,0,0,0,0,0,0,0,0\n";
const char* const any_cpu = "a,2019,-1,-1,-1,2e-6,8e-11,0,0,0,0,0,0,0,0\n";

Hosts hosts(const std::string& names, int cpus = 2) {
  return Hosts::make({names, 2 * cpus, cpus, {}, 0});
}

KernelModel dgemm(const std::string& lines, const std::string& id, const Hosts& on) {
  std::istringstream in(dgemm_header + lines);
  return read_dgemm_table(in, "dgemm.csv", id, on);
}

double mean(const KernelModel& model, int host, int cpu, const KernelShape& shape) {
  return model.law(host, cpu).at(shape).mean_s(shape);
}

TEST(PublishedDgemm, TheNumberInTheHostsNameIsTheNode) {
  const KernelModel model = dgemm(two_cpus, "a", hosts("dahu-7.site3"));
  const KernelShape shape{10, 20, 30};
  EXPECT_DOUBLE_EQ(mean(model, 0, 0, shape), 1e-6 + 7e-11 * 6000 + 1e-10 * 200 + 2e-10 * 300 + 3e-10 * 600);
  EXPECT_DOUBLE_EQ(mean(model, 0, 1, shape), 3e-6 + 9e-11 * 6000 + 1e-10 * 200 + 2e-10 * 300 + 3e-10 * 600);
  EXPECT_DOUBLE_EQ(model.law(0, 1).at(shape).sd_s(shape), 3e-7 + 1e-12 * 6000);
  EXPECT_EQ(model.law(0, 1).at(shape).noise(), NoiseFamily::half_normal);
  EXPECT_EQ(model.level(), "M2");
}

TEST(PublishedDgemm, CpusWithoutALineUseTheLineOfAll) {
  const KernelModel model = dgemm(std::string(two_cpus) + any_cpu, "a", hosts("dahu-[6-7]"));
  EXPECT_DOUBLE_EQ(mean(model, 0, 0, {10, 10, 10}), 2e-6 + 8e-8);
  EXPECT_DOUBLE_EQ(mean(model, 1, 0, {1, 1, 1}), 1e-6 + 7e-11 + 6e-10);
  EXPECT_EQ(model.overrides().size(), 2U);
}

TEST(PublishedDgemm, WithoutALineOfAllTheClusterHasTheMean) {
  const KernelModel model = dgemm(two_cpus, "a", hosts("dahu-7"));
  EXPECT_DOUBLE_EQ(model.cluster_law().at({}).mu().coefficient({1, 1, 1}), 8e-11);
  EXPECT_DOUBLE_EQ(model.cluster_law().at({}).sigma().coefficient({}), 2e-7);
}

TEST(PublishedDgemm, OneLineForAllNeedsNoNumbersInNames) {
  const KernelModel model = dgemm(any_cpu, "a", hosts("left,right", 1));
  EXPECT_TRUE(model.overrides().empty());
  EXPECT_EQ(model.level(), "M1");
  EXPECT_EQ(model.cluster_law().at({}).noise(), NoiseFamily::none);
}

TEST(PublishedDgemm, SaysWhatIsMissing) {
  EXPECT_THAT(error_in([] { dgemm(two_cpus, "c", hosts("dahu-7")); }), HasSubstr("expected one of a, b"));
  EXPECT_THAT(error_in([] { dgemm(two_cpus, "a", hosts("dahu-[7-8]")); }), HasSubstr("dahu-8"));
  EXPECT_THAT(error_in([] { dgemm(two_cpus, "b", hosts("dahu-7")); }), HasSubstr("CPU 1"));
  EXPECT_THAT(error_in([] { dgemm(two_cpus, "a", hosts("left")); }), HasSubstr("number of the node"));
  EXPECT_THAT(error_in([] { dgemm(std::string(any_cpu) + any_cpu, "a", hosts("n-1")); }), HasSubstr("twice"));
  EXPECT_THAT(error_in([] { dgemm("a,2019,7,0,14,x,0,0,0,0,0,0,0,0,0\n", "a", hosts("n-7")); }),
              HasSubstr("dgemm.csv:2, field `mu_intercept`"));
}

const char* const kernel_table =
    "kernel,duration,size,mu,sigma,full_model,simple_model\n"
    "dtrsm,size*coef,M*M*N if side=left else M*N*N,5e-11,3e-12,stochastic,mu only\n"
    "dlaswp04T,size*coef,M1*N,8e-9,2e-9,stochastic,0\n"
    "dtrsv,coef,1,2e-5,4e-6,stochastic,mu only\n"
    "dger,0,,0.0,0.0,0,0\n";

std::map<std::string, KernelModel> kernels(const std::string& text, KernelSet set) {
  std::istringstream in(text);
  return read_kernel_table(in, "kernels.csv", set);
}

TEST(PublishedKernels, TheFullSetScatters) {
  const auto all = kernels(kernel_table, KernelSet::full);
  ASSERT_EQ(all.size(), 3U);
  const DurationLaw& dtrsm = all.at("dtrsm").cluster_law().at({});
  EXPECT_DOUBLE_EQ(dtrsm.mean_s({10, 20, 10}), 5e-11 * 2000);
  EXPECT_DOUBLE_EQ(dtrsm.sd_s({10, 20, 10}), 3e-12 * 2000);
  EXPECT_DOUBLE_EQ(all.at("dlaswp04T").cluster_law().at({}).mean_s({3, 5, 1}), 8e-9 * 15);
  EXPECT_DOUBLE_EQ(all.at("dtrsv").cluster_law().at({}).mean_s({1, 128, 1}), 2e-5);
  EXPECT_EQ(all.at("dtrsv").level(), "M0");
}

TEST(PublishedKernels, TheSimpleSetIsExpectedTimesOfFewerKernels) {
  const auto few = kernels(kernel_table, KernelSet::simple);
  ASSERT_EQ(few.size(), 2U);
  EXPECT_EQ(few.at("dtrsm").cluster_law().at({}).noise(), NoiseFamily::none);
  EXPECT_DOUBLE_EQ(few.at("dtrsm").cluster_law().at({}).mean_s({10, 20, 10}), 5e-11 * 2000);
}

TEST(PublishedKernels, SaysWhatItDoesNotKnow) {
  const std::string header = "kernel,duration,size,mu,sigma,full_model,simple_model\n";
  const auto refused = [&](const std::string& line) {
    return error_in([&] { kernels(header + line, KernelSet::full); });
  };
  EXPECT_THAT(refused("zgemm,coef,1,1,0,stochastic,0\n"), HasSubstr("zgemm"));
  EXPECT_THAT(refused("dscal,size^2,1,1,0,stochastic,0\n"), HasSubstr("size*coef, coef or 0"));
  EXPECT_THAT(refused("dscal,size*coef,L,1,0,stochastic,0\n"), HasSubstr("kernels.csv:2, field `size`"));
  EXPECT_THAT(refused("dscal,coef,1,1,0,maybe,0\n"), HasSubstr("stochastic, mu only or 0"));
  EXPECT_THAT(refused("dscal,coef,1,1,0,stochastic,0\ndscal,coef,1,1,0,stochastic,0\n"), HasSubstr("twice"));
}

const char* const network_table = R"([{"id": "x"}, {"id": "one", "calibration": {
  "os": [{"min_size": 0, "intercept_s": 1e-6, "slope_s_per_byte": 1e-10},
         {"min_size": 64000, "intercept_s": 0, "slope_s_per_byte": 0}],
  "ois": [{"min_size": 0, "intercept_s": 2e-6, "slope_s_per_byte": 0}],
  "or": [{"min_size": 0, "intercept_s": 3e-6, "slope_s_per_byte": 0}],
  "bw_factor": [{"min_size": 0, "factor": 0.5}, {"min_size": 3000000000, "factor": 0.25}],
  "lat_factor": [{"min_size": 0, "factor": 2}, {"min_size": 8000, "factor": 10}],
  "loopback_bw_factor": [{"min_size": 0, "factor": 0.125}], "loopback_lat_factor": [{"min_size": 0, "factor": 1}],
  "async_small_thresh": 4000, "send_is_detached_thresh": 64000, "iprobe_s": 2e-7, "test_s": 8e-7},
 "platform": {"link_bandwidth_Bps": 1e10, "route_latency_s": 1e-7, "loopback_bandwidth_Bps": 2e10,
              "loopback_latency_s": 0.0}}])";

NetworkModel network(const std::string& text, const std::string& id) {
  std::istringstream in(text);
  return read_network_table(in, "networks.json", id);
}

TEST(PublishedNetwork, ASegmentHoldsStrictlyAboveItsMinSize) {
  const NetworkModel model = network(network_table, "one");
  const ScopeModel& remote = model.scope(Scope::remote);
  EXPECT_DOUBLE_EQ(remote.cost(MessageCost::send).mean_s(64000), 1e-6 + 1e-10 * 64000);
  EXPECT_EQ(remote.cost(MessageCost::send).mean_s(64001), 0);
  EXPECT_DOUBLE_EQ(remote.cost(MessageCost::transfer).mean_s(8000), 2e-7 + 8000 / 5e9);
  EXPECT_DOUBLE_EQ(remote.cost(MessageCost::transfer).mean_s(8001), 1e-6 + 8001 / 5e9);
  EXPECT_EQ(model.values().detached_bytes, 64000U);
}

TEST(PublishedNetwork, TheLinkHasItsBandwidthAsCapacityAndALoopbackNone) {
  const NetworkModel model = network(network_table, "one");
  ASSERT_TRUE(model.scope(Scope::remote).capacity);
  EXPECT_EQ(model.scope(Scope::remote).capacity->bytes_per_s, 1e10);
  EXPECT_EQ(model.scope(Scope::remote).capacity->origin, LinkCapacity::Origin::published);
  EXPECT_FALSE(model.scope(Scope::local).capacity);
}

TEST(PublishedNetwork, LocalMessagesMayHaveFactorsOfTheirOwnAndNoLatency) {
  const ScopeModel local = network(network_table, "one").scope(Scope::local);
  EXPECT_DOUBLE_EQ(local.cost(MessageCost::transfer).mean_s(1000), 1000 / 2.5e9);
  EXPECT_GT(local.latency_s, 0);
}

TEST(PublishedNetwork, SegmentsBeyondTwoGigabytesKeepTheirStart) {
  const ScopeModel remote = network(network_table, "one").scope(Scope::remote);
  EXPECT_DOUBLE_EQ(remote.cost(MessageCost::transfer).mean_s(3e9), 1e-6 + 3e9 / 5e9);
  EXPECT_DOUBLE_EQ(remote.cost(MessageCost::transfer).mean_s(3e9 + 1), 1e-6 + (3e9 + 1) / 2.5e9);
}

TEST(PublishedNetwork, SaysWhatIsMissing) {
  EXPECT_THAT(error_in([] { network(network_table, "two"); }), HasSubstr("expected one of x, one"));
  EXPECT_THAT(error_in([] { network(network_table, "x"); }), HasSubstr("/0/calibration"));
}

const char* const mixtures = R"({"operations": {"os": [{"min_size": 0, "max_size": 64000, "slope_s_per_byte": 1e-10,
  "intercept_modes": [{"mean_s": 1e-6, "sd_s": 1e-7, "probability": 0.75},
                      {"mean_s": 5e-6, "sd_s": 1e-6, "probability": 0.25}]}]},
 "transfer_latency_at_and_above_3000000000_bytes": [{"mean_s": 1e-5, "sd_s": 1e-6, "probability": 1}]})";

TEST(PublishedNetwork, MixturesReplaceTheCostsUpToTheirLargestSize) {
  std::istringstream in(mixtures);
  const NetworkModel model = with_mixtures(network(network_table, "one"), in, "mixtures.json");
  for (const Scope scope : {Scope::local, Scope::remote}) {
    const SegmentedLaw& send = model.scope(scope).cost(MessageCost::send);
    EXPECT_DOUBLE_EQ(send.mean_s(1000), 0.75e-6 + 1.25e-6 + 1e-7);
    EXPECT_EQ(send.mean_s(64000), 0);
    EXPECT_DOUBLE_EQ(model.scope(scope).cost(MessageCost::recv).mean_s(1000), 3e-6);
  }
  EXPECT_DOUBLE_EQ(model.scope(Scope::remote).cost(MessageCost::transfer).mean_s(4e9), 1e-5 + 4e9 / 2.5e9);
  EXPECT_DOUBLE_EQ(model.scope(Scope::local).cost(MessageCost::transfer).mean_s(4e9), 4e9 / 2.5e9);
  std::string inside = mixtures;  // of the segment from 3e9 + 1 on
  std::istringstream later(inside.replace(inside.find("_3000000000_"), 12, "_3500000000_"));
  const NetworkModel split = with_mixtures(network(network_table, "one"), later, "later.json");
  const SegmentedLaw& transfer = split.scope(Scope::remote).cost(MessageCost::transfer);
  EXPECT_DOUBLE_EQ(transfer.mean_s(3.4e9), 1e-6 + 3.4e9 / 2.5e9);
  EXPECT_DOUBLE_EQ(transfer.mean_s(4e9), 1e-5 + 4e9 / 2.5e9);
  std::istringstream bad(std::string(mixtures).replace(std::string(mixtures).find("0.75"), 4, "0.70"));
  EXPECT_THAT(error_in([&] { with_mixtures(model, bad, "bad.json"); }), HasSubstr("add up to 0.95"));
}

/// The published files: what their own documentation says of them.
TEST(PublishedDahu, TheModelOfTheValidationHasAllCpus) {
  HPLCAST_REFERENCE_FILE(dgemm_csv, "models/dahu/dgemm_models.csv");
  std::ifstream in(dgemm_csv);
  const KernelModel model = read_dgemm_table(in, "dgemm", "2019-04-05_poly_12d0551", hosts("dahu-[1-32]"));
  ASSERT_EQ(model.overrides().size(), 64U);
  EXPECT_EQ(model.level(), "M2");
  double sum = 0;
  for (const CpuLaw& own : model.overrides()) sum += own.law.at({}).mu().coefficient({1, 1, 1});
  EXPECT_NEAR(sum / 64, 7.00314e-11, 1e-16);  // mean_mu_mnk of dgemm_models_index.json, six digits
}

TEST(PublishedDahu, AllKernelsAndNetworksAreRead) {
  HPLCAST_REFERENCE_FILE(kernels_csv, "models/dahu/kernel_models.csv");
  HPLCAST_REFERENCE_FILE(networks_json, "models/dahu/network_models.json");
  std::ifstream in(kernels_csv);
  EXPECT_EQ(read_kernel_table(in, "kernels", KernelSet::full).size(), 12U);
  for (const char* id : {"2018-09-12", "2019-03-08_optimistic", "2020-08-20_realistic", "2021-02_tutorial"}) {
    std::ifstream networks(networks_json);
    const NetworkModel model = read_network_table(networks, "networks", id);
    EXPECT_EQ(model.values().async_small_bytes, 64000U);
  }
  std::ifstream networks(networks_json);
  const NetworkModel realistic = read_network_table(networks, "networks", "2020-08-20_realistic");
  // effective_loopback of that entry: 1887764253.2 B/s from 6 MB on, no latency.
  EXPECT_NEAR(realistic.scope(Scope::local).cost(MessageCost::transfer).mean_s(1e7), 1e7 / 1887764253.2008538, 1e-12);
}

}  // namespace
}  // namespace hplcast::core
