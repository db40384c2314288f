// Faults planted in a machine: the run is a simulation of the machine with the fault, the prediction one without.
#include "hplcast/study/explain.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <iostream>
#include <numeric>

#include "hplcast/core/csv.hpp"
#include "hplcast/study/transform.hpp"
#include "study/explain/explain_parts.hpp"
#include "study/whatif/cluster_changes.hpp"
#include "tests/study/explain/simulated_run.hpp"
#include "tests/study/simulated_cluster.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;

core::KernelModel& kernel(core::ClusterModel& cluster, const std::string& name) {
  return cluster.kernels.at(name);
}

core::ClusterModel slow_dtrsm(core::ClusterModel cluster) {
  core::KernelModel& dtrsm = kernel(cluster, "dtrsm");
  dtrsm = slowed(dtrsm, 1.5);
  return cluster;
}

class Explain : public testing::SimulatedCluster {
 protected:
  void SetUp() override {
    testing::SimulatedCluster::SetUp();
    if (IsSkipped()) return;
    core::ClusterModel cluster = of_like_cpus();
    core::Hosts::Values hosts = cluster.hosts.values();
    hosts.names = "node-[1-2]";
    hosts.cores = hosts.cpus = 2;
    cluster.hosts = core::Hosts::make(hosts);
    // A network that such a small matrix feels.
    request_.cluster = transformed(std::move(cluster), {{"scale-bandwidth", "0.1"}, {"scale-latency", "0.5"}});
    request_.parameters.N = 1500;
    request_.parameters.NB = 64;
    request_.parameters.P = 2;
    request_.parameters.Q = 2;
    request_.windows.kind = WindowRule::Kind::off;
    request_.mode = SimulationMode::exact;
  }

  core::ClusterModel of_like_cpus() const {
    ModelLevels levels;
    levels.per_cpu = false;
    return at_levels(request_.cluster, levels);
  }

  /// A prediction with the model of the fixture, and the run of a machine that differs.
  Explanation of(const core::ClusterModel& machine, bool counterfactuals = true) {
    ExplainRequest request = request_for(machine);
    request.counterfactuals = counterfactuals;
    return explain(request);
  }

  ExplainRequest request_for(const core::ClusterModel& machine) {
    ExplainRequest request;
    PredictionRequest real = request_;
    real.cluster = machine;
    real.seed = real_seed_;
    request.runs = {testing::observed_simulation(real, folder_.path())};
    request.prediction = prediction();
    request.cluster = request_.cluster;
    request.programs = request_.programs;
    request.timeout_s = request_.timeout_s;
    return request;
  }

  /// With the model of the fixture, once for all tests of a size.
  const core::Prediction& prediction() {
    static std::map<long long, core::Prediction> made;
    const auto [place, is_new] = made.try_emplace(request_.parameters.N);
    if (is_new) {
      PredictionRequest predicted = request_;
      predicted.observation.phases = true;
      place->second = predict(predicted);
    }
    return place->second;
  }

  double time_with(const core::ClusterModel& machine) {
    PredictionRequest request = request_;
    request.cluster = machine;
    request.observation.phases = false;
    return predict(request).time_s;
  }

  core::ClusterModel slow_cpu(double factor) const {
    core::ClusterModel machine = request_.cluster;
    core::KernelModel& dgemm = kernel(machine, "dgemm");
    core::PiecewiseLaw law =
        edited(dgemm.cluster_law(), [factor](const core::DurationLaw& piece) { return slowed(piece, factor); });
    dgemm = core::KernelModel::make(dgemm.level(), dgemm.cluster_law(), {{1, 0, std::move(law)}}, dgemm.range());
    return machine;
  }

  core::TemporaryFolder folder_{"hplcast-explain-test"};
  std::uint64_t real_seed_ = 1;  ///< of the prediction: other numbers change such a small run by up to 3 %
};

/// All cores of examples/dahu-like.json.
class ExplainManyRanks : public Explain {
 protected:
  void SetUp() override {
    testing::SimulatedCluster::SetUp();
    if (IsSkipped()) return;
    request_.cluster = of_like_cpus();
    request_.parameters.N = 4000;
    request_.parameters.NB = 128;
    request_.parameters.P = request_.parameters.Q = 32;
    request_.windows.kind = WindowRule::Kind::off;
    request_.mode = SimulationMode::fast;  // of the prediction
  }
};

void expect_sum(const Explanation& e) {
  const double sum_s = std::accumulate(e.causes.begin(), e.causes.end(), e.rest_s,
                                       [](double s, const Cause& cause) { return s + cause.share_s(); });
  EXPECT_NEAR(sum_s, e.difference_s(), 1e-12);
  // The limit: half a percentage point of the time.
  EXPECT_LT(std::abs(e.rest_s), 0.005 * e.predicted_s);
}

/// Within a fifth of the planted effect.
void expect_share(const Cause& cause, double effect_s) {
  EXPECT_NEAR(cause.share_s(), effect_s, std::abs(effect_s) / 5) << cause.text;
}

TEST_F(Explain, NamesASlowCpu) {
  const core::ClusterModel machine = slow_cpu(1.1);
  const double effect_s = time_with(machine) - prediction().time_s;
  const Explanation e = of(machine);
  ASSERT_FALSE(e.causes.empty());
  EXPECT_THAT(verdict(e).front(), HasSubstr("longer in the run than in the model, on node-2 CPU 0 (rank 2) only"));
  expect_share(e.causes.front(), effect_s);
  expect_sum(e);
}

TEST_F(Explain, NamesASlowCpuDespiteOtherRandomNumbers) {
  real_seed_ = 2;
  const Explanation e = of(slow_cpu(1.2));
  EXPECT_THAT(verdict(e).front(), HasSubstr("on node-2 CPU 0 (rank 2) only"));
  EXPECT_NEAR(e.causes.front().factor, 1.2, 0.02);
}

TEST_F(Explain, NamesASlowKernel) {
  const core::ClusterModel machine = slow_dtrsm(request_.cluster);
  const double effect_s = time_with(machine) - prediction().time_s;
  const Explanation e = of(machine);
  EXPECT_THAT(verdict(e).front(), HasSubstr("dtrsm takes 5"));
  EXPECT_NEAR(e.causes.front().factor, 1.5, 0.05);  // its few calls scatter by 4 %
  expect_share(e.causes.front(), effect_s);
  expect_sum(e);
}

TEST_F(Explain, NamesLatency) {
  const core::ClusterModel machine = transformed(request_.cluster, {{"scale-latency", core::shortest(1.0 / 3)}});
  const double effect_s = time_with(machine) - prediction().time_s;
  const Explanation e = of(machine);
  EXPECT_THAT(verdict(e).front(), HasSubstr("The latency of messages between hosts"));
  EXPECT_NEAR(e.causes.front().factor, 3, 0.3);
  expect_share(e.causes.front(), effect_s);
  expect_sum(e);
}

TEST_F(Explain, NamesBandwidth) {
  const core::ClusterModel machine = transformed(request_.cluster, {{"scale-bandwidth", "0.5"}});
  const double effect_s = time_with(machine) - prediction().time_s;
  const Explanation e = of(machine);
  EXPECT_THAT(verdict(e).front(), HasSubstr("The bandwidth of messages between hosts"));
  EXPECT_NEAR(e.causes.front().factor, 2, 0.2);
  expect_share(e.causes.front(), effect_s);
  expect_sum(e);
}

TEST_F(Explain, NamesBothOfTwoFaults) {
  const core::ClusterModel slow_kernel = slow_dtrsm(request_.cluster);
  const double effect_s = time_with(slow_kernel) - prediction().time_s;
  const core::ClusterModel machine = transformed(slow_kernel, {{"scale-bandwidth", "0.5"}});
  const double other_s = time_with(machine) - time_with(slow_kernel);
  const Explanation e = of(machine);
  ASSERT_GE(e.causes.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Cause& cause = e.causes[i];
    if (cause.kind == Cause::Kind::bandwidth) {
      expect_share(cause, other_s);
    } else {
      EXPECT_EQ(cause.kernels, std::vector<std::string>{"dtrsm"}) << cause.text;
      expect_share(cause, effect_s);
    }
  }
  expect_sum(e);
}

TEST_F(Explain, HasTheSameSharesWithAPicture) {
  request_.parameters.N = 800;
  request_.parameters.NB = 16;
  ExplainRequest request = request_for(slow_dtrsm(request_.cluster));
  PredictionRequest sampled = request_;
  sampled.windows = WindowRule::from("3");
  sampled.observation.phases = true;
  request.prediction = predict(sampled);
  ASSERT_TRUE(request.prediction.sampling);
  request.counterfactuals = true;
  const Explanation plain = explain(request);
  request.picture = folder_.path() / "picture.svg";
  const Explanation drawn = explain(request);
  ASSERT_FALSE(plain.causes.empty());
  ASSERT_EQ(drawn.causes.size(), plain.causes.size());
  for (std::size_t i = 0; i < plain.causes.size(); ++i)
    EXPECT_NEAR(drawn.causes[i].share_s(), plain.causes[i].share_s(), 1e-9 * plain.predicted_s);
}

/// A rank whose dgemm takes longer.
Replacement slow_rank(int rank, double factor) {
  Replacement one;
  one.parts.ranks[core::KernelId::dgemm][rank] = factor;
  return one;
}

// Slow ranks wait for each other: the one that is replaced first changes more than the others.
TEST_F(Explain, SharesDoNotDependOnTheOrderOfTheCauses) {
  ExplainRequest request;
  request.cluster = request_.cluster;
  request.programs = request_.programs;
  request.prediction = prediction();
  const std::vector<RankPlace> places = rank_places(request.cluster, 4);
  for (const std::size_t count : {2, 4}) {
    std::vector<Replacement> forward;
    for (std::size_t rank = 0; rank < count; ++rank) forward.push_back(slow_rank(static_cast<int>(rank), 1.1));
    std::vector<Replacement> backward(forward.rbegin(), forward.rend());
    MeasuredParts all;
    for (const Replacement& one : forward) merge(all, one.parts);
    const double effect_s = time_with(with_measured(request.cluster, all, places)) - request.prediction.time_s;
    for (std::vector<Replacement>* list : {&forward, &backward})
      simulate_causes(request, places, request.prediction.time_s, *list);
    double sum_s = 0, ends_s = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Cause &one = forward[i].cause, &same = backward[count - 1 - i].cause;
      EXPECT_NEAR(*one.simulated_s, *same.simulated_s, 1e-9 * effect_s);  // rounding
      EXPECT_LE(one.least_s, *one.simulated_s);
      EXPECT_GE(one.most_s, *one.simulated_s);
      sum_s += *one.simulated_s;
      ends_s = std::max(ends_s, one.most_s - one.least_s);
    }
    EXPECT_NEAR(sum_s, effect_s, 1e-9 * effect_s);                   // rounding
    EXPECT_GT(ends_s, 0.1 * effect_s / static_cast<double>(count));  // the order does matter to single steps
  }
}

// Sums of all ranks, and the messages of which both ends were kept: no counterfactuals.
TEST_F(ExplainManyRanks, TakesSecondsAndFindsTheKernel) {
  core::ClusterModel machine = request_.cluster;
  core::KernelModel& dgemm = kernel(machine, "dgemm");
  dgemm = core::KernelModel::make(
      dgemm.level(), edited(dgemm.cluster_law(), [](const core::DurationLaw& piece) { return slowed(piece, 1.1); }), {},
      dgemm.range());
  const ExplainRequest request = request_for(machine);
  double bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path()))
    if (file.path().extension() == ".activity") bytes += static_cast<double>(file.file_size());
  const auto begin = std::chrono::steady_clock::now();
  const Explanation e = explain(request);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "1024 ranks, " << bytes / 1e6 << " MB: explained in " << took.count() << " s\n";
  EXPECT_LT(took.count(), 30);
  const auto found =
      std::find_if(e.kernels.begin(), e.kernels.end(), [](const auto& one) { return one.kernel == "dgemm"; });
  ASSERT_NE(found, e.kernels.end());
  EXPECT_NEAR(found->level, 1.1, 1e-3);
  EXPECT_TRUE(found->places.empty());
}

}  // namespace
}  // namespace hplcast::study
