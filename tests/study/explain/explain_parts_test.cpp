// The arithmetic behind explain, with values worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "hplcast/core/files.hpp"
#include "study/activity/rank_activity.hpp"
#include "study/explain/explain_parts.hpp"

namespace hplcast::study {
namespace {

using core::Monomial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

core::PiecewiseLaw law_of(double mnk, double constant, double sigma = 0) {
  auto mu = core::Polynomial::make({Monomial{1, 1, 1}, Monomial{}}, {mnk, constant});
  if (sigma == 0) return core::PiecewiseLaw(core::DurationLaw::make(mu, {}, core::NoiseFamily::none));
  const auto sd = core::Polynomial::make({Monomial{}}, {sigma});
  return core::PiecewiseLaw(core::DurationLaw::make(mu, sd, core::NoiseFamily::normal));
}

/// Two hosts with two CPUs of one core each.
core::ClusterModel cluster_of(core::PiecewiseLaw dgemm) {
  core::ClusterModel cluster;
  cluster.hosts = core::Hosts::make({"node-[1-2]", 2, 2, {}, 0});
  cluster.kernels["dgemm"] = core::KernelModel::make("M2", std::move(dgemm));
  return cluster;
}

/// A rank with `calls` calls of dgemm of 10 x 10 x 10 and as many of 100 x 100 x 100.
RankActivity rank_with(int number, int calls, double small_s, double large_s) {
  RankActivity rank;
  rank.rank = number;
  for (const auto& [size, time_s] : {std::pair{10.0, small_s}, {100.0, large_s}}) {
    KernelCalls sum;
    sum.kernel = core::KernelId::dgemm;
    sum.size_class = size_class_of({size, size, size});
    for (int i = 0; i < calls; ++i) add(sum, {size, size, size}, time_s);
    rank.kernel_calls.push_back(sum);
  }
  return rank;
}

TEST(KernelCalls, ClassesArePowersOfFour) {
  EXPECT_EQ(size_class_of({1, 1, 1}), 0);
  EXPECT_EQ(size_class_of({3, 1, 1}), 0);
  EXPECT_EQ(size_class_of({4, 1, 1}), 1);
  EXPECT_EQ(size_class_of({2, 2, 4}), 2);
  EXPECT_EQ(size_class_of({1e9, 1e9, 1e9}), 31);
}

TEST(KernelCalls, AModelIsExactOverCallsOfManySizes) {
  KernelCalls calls;
  double expected = 0;
  for (const core::KernelShape& shape : {core::KernelShape{3, 5, 7}, {2, 9, 6}, {10, 10, 1}}) {
    add(calls, shape, 1);
    expected += 2 * shape.m * shape.n * shape.k + 3 * shape.m * shape.k + 4;
  }
  const auto mu = core::Polynomial::make({Monomial{1, 1, 1}, Monomial{1, 0, 1}, Monomial{}}, {2, 3, 4});
  const core::PiecewiseLaw law(core::DurationLaw::make(mu, {}, core::NoiseFamily::none));
  EXPECT_DOUBLE_EQ(expected_s(calls, law), expected);
  EXPECT_EQ(expected_s({}, law), 0);
}

TEST(KernelCalls, TheSimulationHasNoNegativeDurationsEither) {
  KernelCalls calls;
  add(calls, {10, 10, 10}, 1);
  EXPECT_EQ(expected_s(calls, law_of(1, -2000)), 0);
}

TEST(KernelFindings, OneSlowRankOfFourStandsOut) {
  const auto cluster = cluster_of(law_of(1e-9, 0));
  const auto places = rank_places(cluster, 4);
  std::vector<RankActivity> ranks;
  for (int i = 0; i < 4; ++i) ranks.push_back(rank_with(i, 10, 1e-6, (i == 2 ? 1.1 : 1.0) * 1e-3));
  const auto findings = kernel_findings({&ranks}, cluster, places, 0);
  ASSERT_EQ(findings.size(), 1U);
  const KernelDifference difference = difference_of(findings[0], cluster, places, 1);
  EXPECT_NEAR(difference.level, 1, 1e-9);
  ASSERT_EQ(difference.places.size(), 1U);
  EXPECT_EQ(difference.places[0].group.name, "node-2 CPU 0 (rank 2)");
  EXPECT_NEAR(difference.places[0].factor, 1.1, 1e-3);  // its small calls are not slow
}

TEST(KernelFindings, AllRanksOfAHostAreThatHost) {
  const auto cluster = cluster_of(law_of(1e-9, 0));
  const auto places = rank_places(cluster, 4);
  EXPECT_EQ(rank_groups(cluster, places, {false, false, true, true}).front().name, "node-2");
  EXPECT_EQ(rank_groups(cluster, places, {true, false, false, true}).size(), 2U);
}

TEST(KernelFindings, AFewNoisyCallsAreNoSlowRank) {
  // 4 calls with a standard deviation of half their time: the sum scatters by a quarter.
  const auto cluster = cluster_of(law_of(1e-9, 0, 5e-4));
  const auto places = rank_places(cluster, 2);
  const std::vector<RankActivity> ranks = {rank_with(0, 4, 1e-6, 1e-3), rank_with(1, 4, 1e-6, 1.3e-3)};
  const auto findings = kernel_findings({&ranks}, cluster, places, 0);
  EXPECT_THAT(findings[0].deviation, ElementsAre(1, 1));
}

TEST(KernelFindings, DetoursOfTheModelAreExpectedInKernels) {
  core::ClusterModel cluster = cluster_of(law_of(1e-9, 0));
  core::DetourSource::Values agent;
  agent.name = "agent";
  agent.duration = core::ConstantDuration{0.2};  // of each second
  cluster.detours = {core::DetourSource::make(agent)};
  const auto places = rank_places(cluster, 1);
  const std::vector<RankActivity> ranks = {rank_with(0, 5, 1.25e-6, 1.25e-3)};
  EXPECT_NEAR(difference_of(kernel_findings({&ranks}, cluster, places, 0)[0], cluster, places, 1).level, 1, 1e-12);
  agent.in_kernels = true;
  cluster.detours = {core::DetourSource::make(agent)};
  EXPECT_NEAR(difference_of(kernel_findings({&ranks}, cluster, places, 0)[0], cluster, places, 1).level, 1.25, 1e-12);
}

TEST(KernelFindings, AKernelWithoutAModelIsNotLeftOut) {
  core::ClusterModel cluster = cluster_of(law_of(1e-9, 0));
  cluster.kernels.clear();
  const auto places = rank_places(cluster, 1);
  const std::vector<RankActivity> ranks = {rank_with(0, 1, 1e-6, 1e-3)};
  const auto findings = kernel_findings({&ranks}, cluster, places, 0);
  EXPECT_FALSE(findings[0].has_model);
  EXPECT_EQ(findings[0].model_s(), 0);
  Findings all;
  all.kernels = findings;
  all.predicted_s = 1;
  const auto causes = replacements(all, cluster, places);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_THAT(causes[0].cause.text, HasSubstr("dgemm has no model"));
  EXPECT_NEAR(causes[0].cause.estimated_s, 1.001e-3, 1e-12);
  const core::ClusterModel with = with_measured(cluster, causes[0].parts, places);
  const core::KernelShape large{100, 100, 100};
  const core::KernelShape small{10, 10, 10};
  const core::PiecewiseLaw& law = with.kernels.at("dgemm").law(0, 0);
  EXPECT_NEAR(law.at(large).mean_s(large) + law.at(small).mean_s(small), 1.001e-3, 1e-12);
}

TEST(Longer, HasNoExponent) {
  EXPECT_EQ(longer(102.3, "in the run"), "102 times as long in the run as");
  EXPECT_EQ(longer(2.46, ""), "2.5 times as long as");
  EXPECT_EQ(longer(1.061, ""), "6.1 % longer than");
}

// dgemm with a wide distribution may take 10 % longer by chance; it is not one of "other kernels" that differ a little.
TEST(KernelCauses, OfANoisyModelAreNamed) {
  const auto text_with_noise = [](double sigma) {
    const auto cluster = cluster_of(law_of(1e-9, 0, sigma));
    const auto places = rank_places(cluster, 2);
    const std::vector<RankActivity> ranks = {rank_with(0, 4, 1e-6, 1.1e-3), rank_with(1, 4, 1e-6, 1.1e-3)};
    Findings all;
    all.kernels = kernel_findings({&ranks}, cluster, places, 0);
    all.predicted_s = 4.004e-3;
    const auto causes = replacements(all, cluster, places);
    return causes.size() == 1 ? causes[0].cause.text : std::to_string(causes.size()) + " causes";
  };
  // 8 calls of 1 ms take 0.8 ms more; standard deviations of the sum: 0.4 (with the small calls) and 0.04 ms.
  EXPECT_EQ(text_with_noise(1e-4),
            "dgemm takes 10.0 % longer in the run than in the model, as the noise of its model allows");
  EXPECT_EQ(text_with_noise(1e-5), "dgemm takes 10.0 % longer in the run than in the model");
}

// The share of bandwidth must not jump from nothing to all of it where it passes a limit: what is small is not left
// out.
TEST(NetworkCauses, ThatAreSmallAreOneCause) {
  const auto cluster = cluster_of(law_of(1e-9, 0));
  const auto places = rank_places(cluster, 2);
  Findings all;
  all.predicted_s = 1;
  NetworkFinding& finding = all.network[core::Scope::local];
  finding.latency_s = finding.bytes_s = finding.calls_s = 0.02;  // of both ranks
  const auto causes = [&](double latency, double bandwidth, double calls) {
    finding.latency = latency;
    finding.bandwidth = bandwidth;
    finding.calls = calls;
    return replacements(all, cluster, places);
  };
  const auto three = causes(1.05, 1.5, 0.92);
  ASSERT_EQ(three.size(), 2U);
  EXPECT_EQ(three[0].cause.kind, Cause::Kind::bandwidth);
  EXPECT_NEAR(three[0].cause.estimated_s, 0.005, 1e-12);
  EXPECT_EQ(three[1].cause.kind, Cause::Kind::messages);
  EXPECT_EQ(three[1].cause.scope, core::Scope::local);
  EXPECT_EQ(three[1].cause.text, "latency and calls of messages inside a host differ a little from the model");
  EXPECT_NEAR(three[1].cause.estimated_s, 0.0005 - 0.0008, 1e-12);
  const NetworkFactors& changed = three[1].parts.network.at(core::Scope::local);
  EXPECT_EQ(changed.latency, 1.05);
  EXPECT_EQ(changed.bandwidth, 1);
  EXPECT_EQ(changed.calls, 0.92);
  EXPECT_FALSE(three[1].cause.advice.empty());
  const auto one = causes(1, 1.05, 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].cause.kind, Cause::Kind::bandwidth) << "alone it has its own name";
  EXPECT_TRUE(causes(1.002, 0.998, 1).empty()) << "not worth a simulation";
}

TEST(Counterfactuals, AreAllSubsetsOfThreeCausesAndTwoOrdersOfMore) {
  const std::size_t expected[] = {0, 1, 3, 7, 7, 9, 11};  // without the prediction itself, which is known
  for (std::size_t causes = 0; causes < 7; ++causes) EXPECT_EQ(counterfactuals_of(causes), expected[causes]);
}

TEST(MeasuredCluster, TakesTheTimesOfTheRunClassByClass) {
  const auto cluster = cluster_of(law_of(1e-9, 0));
  const auto places = rank_places(cluster, 2);
  const std::vector<RankActivity> ranks = {rank_with(0, 5, 3e-6, 1.2e-3), rank_with(1, 5, 3e-6, 1.2e-3)};
  const auto findings = kernel_findings({&ranks}, cluster, places, 0);
  Findings all;
  all.kernels = findings;
  all.predicted_s = 1e-3;
  const auto causes = replacements(all, cluster, places);
  ASSERT_EQ(causes.size(), 1U);
  const core::ClusterModel with = with_measured(cluster, causes[0].parts, places);
  const core::PiecewiseLaw& law = with.kernels.at("dgemm").law(1, 1);
  EXPECT_NEAR(law.at({10, 10, 10}).mean_s({10, 10, 10}), 3e-6, 1e-15);
  EXPECT_NEAR(law.at({100, 100, 100}).mean_s({100, 100, 100}), 1.2e-3, 1e-12);
}

TEST(MeasuredCluster, OneRankIsSlowedAndTheOthersAreNot) {
  core::ClusterModel cluster = cluster_of(law_of(1e-9, 0));
  cluster.hosts = core::Hosts::make({"node-[1-2]", 4, 2, {core::RankToCpu::Kind::cyclic, {}}, 0});
  auto& dgemm = cluster.kernels.at("dgemm");
  dgemm = core::KernelModel::make("M2", dgemm.cluster_law(), {{1, 1, law_of(5e-9, 0)}});
  const auto places = rank_places(cluster, 8);
  MeasuredParts parts;
  parts.ranks[core::KernelId::dgemm][7] = 2;
  const core::ClusterModel with = with_measured(cluster, parts, places);
  const core::KernelShape one{1, 1, 1};
  for (int rank = 0; rank < 8; ++rank) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    const double was = cluster.kernels.at("dgemm").law(place.host, place.cpu).at(one).mean_s(one);
    const double is =
        with.kernels.at("dgemm").law(place.host, with.hosts.cpu_of(place.host, place.local)).at(one).mean_s(one);
    EXPECT_DOUBLE_EQ(is, rank == 7 ? 2 * was : was) << rank;
  }
}

TEST(KindTimes, AreMeansOverTheRanksOfAKind) {
  core::Hosts::Values values{"a,b", 2, 1, {}, 0};
  const auto times = [&] {
    core::ClusterModel cluster;
    cluster.hosts = core::Hosts::make(values);
    const RankPhases one{"update", {5, 5, 5}, {1, 2, 4}, {0, 0, 0}, {4, 3, 1}};
    const RankPhases two{"panel", {1, 1, 1}, {1, 0, 0}, {0, 0, 0}, {0, 1, 1}};
    return kind_times(cluster.hosts, rank_places(cluster, 3), {one, two}, {});
  };
  EXPECT_THAT(times(), IsEmpty());
  values.kinds = {{"slow", "b", 3, 1, {}, 0, 1}};
  const std::vector<KindTimes> kinds = times();
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].kind, "others");
  EXPECT_EQ(kinds[0].ranks, 2);
  EXPECT_EQ(kinds[0].real_kernels_s, 2);  // (1 + 1 + 2 + 0) / 2
  EXPECT_EQ(kinds[0].real_waiting_s, 4);  // (4 + 0 + 3 + 1) / 2
  EXPECT_EQ(kinds[1].kind, "slow");
  EXPECT_EQ(kinds[1].real_kernels_s, 4);
  EXPECT_EQ(kinds[1].real_waiting_s, 2);
  EXPECT_FALSE(kinds[1].predicted_waiting_s);
}

TEST(KindTimes, AreThoseOfTheRanksOnACardWhereEachRankHasOne) {
  core::ClusterModel cluster;
  cluster.hosts = core::Hosts::make({"a,b", 3, 1, {}, 0});
  const RankPhases phase{"update", {5, 5, 5, 5}, {1, 2, 3, 4}, {0, 0, 0, 0}, {4, 3, 2, 1}};
  const auto times = [&](std::optional<core::Rails> rails) {
    return card_times(rails, rank_places(cluster, 4), {phase}, {phase});
  };
  EXPECT_THAT(times(std::nullopt), IsEmpty());
  core::Rails rails = core::equal_rails(2, 1);
  const std::vector<KindTimes> cards = times(rails);  // ranks 0, 2 of host a, and 3, the first of host b
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_EQ(cards[0].kind, "card 0");
  EXPECT_EQ(cards[0].ranks, 3);
  EXPECT_DOUBLE_EQ(cards[0].real_waiting_s, (4 + 2 + 1) / 3.0);
  EXPECT_EQ(cards[1].ranks, 1);
  EXPECT_EQ(cards[1].predicted_waiting_s, 3);
  Explanation explanation;
  explanation.real_s = explanation.predicted_s = 5;
  explanation.cards = cards;
  EXPECT_THAT(verdict(explanation), testing::Contains(testing::HasSubstr("Ranks on card 1 wait for those of card 0")));
  rails.use = core::Rails::Use::striped;
  EXPECT_THAT(times(rails), IsEmpty()) << "long messages take all cards";
}

TEST(MeasuredCluster, PiecesOfALawKeepTheirBorders) {
  const core::PiecewiseLaw pieces = core::PiecewiseLaw::make(
      Monomial{1, 1, 1}, {{0, law_of(1e-9, 0).pieces()[0].law}, {500, law_of(2e-9, 0).pieces()[0].law}});
  const auto cluster = cluster_of(pieces);
  MeasuredParts parts;
  KernelLevel& level = parts.levels[core::KernelId::dgemm];
  level.classes.fill(1);
  for (std::size_t i = 5; i < level.classes.size(); ++i) level.classes[i] = 3;  // from 4^5 = 1024
  const core::ClusterModel with = with_measured(cluster, parts, rank_places(cluster, 1));
  const auto time_s = [&](double m) {
    const core::KernelShape shape{m, 1, 1};
    return with.kernels.at("dgemm").law(0, 0).at(shape).mean_s(shape) / m * 1e9;
  };
  EXPECT_NEAR(time_s(499), 1, 1e-9);
  EXPECT_NEAR(time_s(501), 2, 1e-9);
  EXPECT_NEAR(time_s(1023), 2, 1e-9);
  EXPECT_NEAR(time_s(1025), 6, 1e-9);
}

/// 1 us and 1 ns per byte between hosts, rendezvous.
core::NetworkModel network() {
  core::NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e10;
  values.local.latency_s = 1e-7;
  values.remote = values.local;
  values.remote->bandwidth_bytes_per_s = 1e9;
  values.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 1e-9, 0, {}}});
  return core::NetworkModel::make(values);
}

/// A message from rank 0 to rank 2; the receiver asks first, and has it `time_s` after it was sent.
void add_message(std::vector<RankActivity>& ranks, std::uint32_t number, double bytes, double time_s) {
  const double sent_s = 1 + number;
  ActivityEvent send;
  send.kind = ActivityEvent::Kind::message;
  send.peer = 2;
  send.sends = true;
  send.begin_s = sent_s;
  send.end_s = sent_s + time_s;
  send.bytes = bytes;
  send.number = number;
  ActivityEvent receive = send;
  receive.name = 4;  // recv
  receive.peer = 0;
  receive.sends = false;
  receive.begin_s = sent_s - 0.5;
  ranks[0].events.push_back(send);
  ranks[2].events.push_back(receive);
}

TEST(NetworkFindings, TellLatencyFromBandwidth) {
  const auto cluster = cluster_of(law_of(1e-9, 0));
  ObservedRanks observed;
  observed.ranks.resize(4);
  for (int i = 0; i < 4; ++i) observed.ranks[static_cast<std::size_t>(i)].rank = i;
  std::uint32_t number = 0;
  // Three times the latency, half of the bandwidth, and one message that was held up for half a second.
  for (const double bytes : {100.0, 1000.0, 1e4, 1e5})
    for (int i = 0; i < 5; ++i) add_message(observed.ranks, number++, bytes, 3e-6 + 2e-9 * bytes);
  add_message(observed.ranks, number++, 1000, 0.5);
  observed.clocks.resize(4);
  const auto seen = seen_messages(observed, network(), rank_places(cluster, 4));
  ASSERT_EQ(seen.size(), 21U);
  const auto findings = network_findings(seen, {}, 1);
  ASSERT_EQ(findings.count(core::Scope::remote), 1U);
  EXPECT_EQ(findings.count(core::Scope::local), 0U);
  // The envelope of 16 bytes counts in the model, not here.
  EXPECT_NEAR(findings.at(core::Scope::remote).latency, 3, 0.05);
  EXPECT_NEAR(findings.at(core::Scope::remote).bandwidth, 2, 0.05);
  EXPECT_NEAR(findings.at(core::Scope::remote).held_up_s, 0.5, 1e-3);
  // The one that was held up is in the mean of its class, and not in what most messages take.
  const auto& sizes = findings.at(core::Scope::remote).sizes;
  const auto disturbed = std::find_if(sizes.begin(), sizes.end(), [](const auto& one) { return one.messages == 6; });
  ASSERT_NE(disturbed, sizes.end());
  EXPECT_NEAR(disturbed->usual_real_s, 5e-6, 1e-12);
  EXPECT_NEAR(disturbed->real_s, (5 * 5e-6 + 10 * 5e-6) / 6, 1e-12) << "cut at ten medians";
  EXPECT_NEAR(disturbed->usual_model_s, disturbed->model_s, 1e-12);
}

// A model whose bandwidth is twice as high must be found twice as far off: by runs that scatter, with sizes that differ
// within each class, that no latency and bandwidth fit, too.
TEST(NetworkFindings, OfAWrongModelAreThoseOfTheRightOneAndItsError) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> log_bytes(std::log(100.0), std::log(4e6));
  std::exponential_distribution<double> late(1 / 0.3);
  const auto finding_of = [&](double latency_error, double bandwidth_error) {
    engine.seed(1);
    std::vector<SeenMessage> seen;
    for (int i = 0; i < 2000; ++i) {
      SeenMessage one;
      one.bytes = std::exp(log_bytes(engine));
      const double latency_s = 2e-6, bytes_s = 1e-10 * one.bytes;
      one.real_s = (latency_s + std::pow(bytes_s, 0.9) * 0.2) * (0.8 + late(engine));
      one.latency_s = latency_s / latency_error;
      one.bytes_s = bytes_s / bandwidth_error;
      one.model_s = one.latency_s + one.bytes_s + 1e-7;
      one.receiver_in_time = true;
      seen.push_back(one);
    }
    return network_findings(seen, {}, 1).at(core::Scope::local);
  };
  const NetworkFinding right = finding_of(1, 1), wrong = finding_of(3, 2);
  EXPECT_NEAR(wrong.bandwidth / right.bandwidth, 2, 2 * 3e-4) << "it ends when nothing changes by 1e-4";
  EXPECT_NEAR(wrong.latency / right.latency, 3, 3 * 3e-4);
}

TEST(NetworkFindings, OfSendsThatAreMostlyFreeInTheModelAreFinite) {
  std::vector<SeenMessage> real(10);
  for (SeenMessage& one : real) {
    one.bytes = 100;
    one.latency_s = one.bytes_s = 1e-6;
    one.real_s = one.model_s = 2e-6;
    one.receiver_in_time = one.sender_returns = true;
  }
  real[0].send_model_s = real[1].send_model_s = 1e-7;
  std::vector<SeenMessage> simulated = real;
  for (SeenMessage& one : simulated) one.send_s = one.send_model_s;
  for (SeenMessage& one : real) one.send_s = 1e-6;
  EXPECT_NEAR(network_findings(real, simulated, 1).at(core::Scope::local).calls, 10e-6 / 2e-7, 1e-9);
}

TEST(NetworkFindings, MixturesOfPublishedNetworksTakeTheirMean) {
  core::NetworkModel::Values values = network().values();
  core::Segment mixture{0, 0, 1e-9, 0};  // read without an intercept beside the modes
  mixture.modes = {{0.5, 1e-6, 0}, {0.5, 3e-6, 0}};
  for (core::ScopeModel* scope : {&values.local, &*values.remote})
    scope->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({mixture});
  ObservedRanks observed;
  observed.ranks.resize(4);
  observed.ranks[2].rank = 2;
  add_message(observed.ranks, 0, 1000, 1e-6);
  observed.clocks.resize(4);
  const auto seen =
      seen_messages(observed, core::NetworkModel::make(values), rank_places(cluster_of(law_of(1e-9, 0)), 4));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_NEAR(seen[0].latency_s + seen[0].bytes_s, 3e-6, 1e-12);
}

TEST(NetworkFindings, AMessageThatWasThereBeforeItsReceiverSaysNothing) {
  const auto cluster = cluster_of(law_of(1e-9, 0));
  core::NetworkModel::Values values = network().values();
  values.async_small_bytes = values.detached_bytes = 1000;
  ObservedRanks observed;
  observed.ranks.resize(4);
  observed.ranks[2].rank = 2;
  add_message(observed.ranks, 0, 100, 1e-6);
  ActivityEvent& receive = observed.ranks[2].events[0];
  receive.begin_s = 5;
  receive.end_s = 5.1;
  observed.clocks.resize(4);
  const auto seen = seen_messages(observed, core::NetworkModel::make(values), rank_places(cluster, 4));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen[0].receiver_in_time);
  EXPECT_TRUE(seen[0].sender_returns);
}

TEST(ObservedRuns, AreNotTakenFromFoldersOfStoppedSessions) {
  const core::TemporaryFolder folder("hplcast-observed");
  const std::filesystem::path csv = folder.path() / "observed.csv",
                              base = HPLCAST_SOURCE_DIR "/tests/cli/bad_inputs/base";
  std::filesystem::copy(base / "observed.csv", csv);
  std::filesystem::copy(base / "observed.csv.d", csv.string() + ".d", std::filesystem::copy_options::recursive);
  for (int i = 0; i < 30; ++i) std::filesystem::create_directory(csv.string() + ".d/0001-N96-" + std::to_string(i));
  const std::vector<ObservedRun> runs = observed_runs(csv);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().run.parameters.N, 64);
}

TEST(PhaseDifferences, NameRanksThatStandOut) {
  const std::vector<double> zero(5, 0.0);
  const std::vector<RankPhases> predicted = {{"update", {5, 5, 5, 5, 5}, zero, zero, zero}};
  const std::vector<RankPhases> real = {{"update", {5.1, 5.1, 5.1, 6, 5.1}, zero, zero, zero}};
  const auto differences = phase_differences(real, predicted, {}, 10);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_THAT(differences[0].far_ranks, ElementsAre(3));
  EXPECT_NEAR(differences[0].real.elapsed_s - differences[0].predicted.elapsed_s, 0.28, 1e-12);
  EXPECT_THAT(phase_differences(real, {}, {{"update", 5, 5, 5, 0, 0, 0}}, 10)[0].far_ranks, IsEmpty());
}

}  // namespace
}  // namespace hplcast::study
