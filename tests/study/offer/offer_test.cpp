// `hplcast offer`: probabilities against what follows from the interval, and offers whose order is known.
#include "hplcast/study/offer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::study {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* two = R"(currency: EUR
offers:
  - {name: A, nodes: 2, cores: 8, gflops-per-core: 40, bandwidth: 100 Gb/s, latency: 1.5us, memory: 4 GiB, price: 200,
     watts-idle: 100 W, watts-full: 300 W}
  - {name: B, nodes: 2, cores: 8, gflops-per-core: 40, bandwidth: 100 Gb/s, latency: 1.5us, memory: 4 GiB, price: 100}
)";

OfferQuestion read(const std::string& text) {
  std::istringstream in(text);
  return read_offers(in, "offers.yaml", "/folder");
}

OfferAnswer answer(const OfferQuestion& question) {
  std::vector<OfferEstimate> all;
  for (const Offer& one : question.offers) all.push_back(estimate_offer(question, machine_of_numbers(one)));
  return answer_offers(question, all);
}

TEST(Offer, IsKeptWithTheProbabilityThatItsIntervalGives) {
  OfferQuestion question = read(two);
  const OfferEstimate plain = estimate_offer(question, machine_of_numbers(question.offers[0]));
  EXPECT_FALSE(plain.keeps.has_value());
  const auto keeps = [&](double gflops) {
    Offer offer = question.offers[0];
    offer.committed_gflops = gflops / (1 - question.tolerance);
    return estimate_offer(question, machine_of_numbers(offer)).keeps.value();
  };
  // No term is biased, and the interval has 90 % in its middle.
  EXPECT_NEAR(keeps(plain.gflops()), 0.5, 1e-12);
  EXPECT_NEAR(keeps(plain.interval().low_gflops), 0.95, 1e-9);
  EXPECT_NEAR(keeps(plain.interval().high_gflops), 0.05, 1e-9);
}

TEST(Offer, TakesTheEndsOfTheRangesOfShares) {
  EXPECT_NEAR(read(std::string("interval: 99.9 %\ntolerance: 50%\n") + two).level_percent, 99.9, 1e-9);
  EXPECT_EQ(read(std::string("interval: 0.5\ntolerance: 0\nmemory-fraction: 100%\n") + two).memory_fraction, 1);
  EXPECT_THROW(read(std::string("interval: 99.91 %\n") + two), core::Error);
}

TEST(Offer, OfHalfThePriceIsCheaperAndNotFaster) {
  const OfferAnswer found = answer(read(two));
  EXPECT_EQ(found.estimates[0].offer.name, "B");
  EXPECT_DOUBLE_EQ(found.faster[0][1], 0.5);
  EXPECT_GT(found.better[0][1], 0.9);
  EXPECT_NEAR(found.better[0][1] + found.better[1][0], 1, 1e-12);
  EXPECT_THAT(found.verdict, HasSubstr("Take B: cheaper per Tflop/s than A"));
  EXPECT_DOUBLE_EQ(found.estimates[1].price_per_tflops(), 2 * found.estimates[0].price_per_tflops());
}

TEST(Offer, ThatPromisesTooMuchIsNotTakenHoweverFast) {
  OfferQuestion question = read(two);
  question.offers[0].committed_gflops = 10000;  // 16 cores of 40 Gflop/s
  question.offers[0].price = 1;
  const OfferAnswer found = answer(question);
  EXPECT_EQ(found.estimates[0].offer.name, "B");
  EXPECT_LT(found.estimates[1].keeps.value(), 0.01);
  EXPECT_THAT(found.verdict, HasSubstr("Take B: the only offer"));
  // 640 Gflop/s, of which quick assumes 1/1.03 for the slowest CPU.
  EXPECT_THAT(found.reasons[0], HasSubstr("It promises more than its matrix products alone would give, 621 Gflop/s"));
  question.offers[0].committed_gflops = 100;
  EXPECT_THAT(answer(question).reasons, testing::Contains(HasSubstr("It promises less than half of what is expected")));
}

TEST(Offer, SaysWhoIsLeftOutThoughCheap) {
  OfferQuestion question = read(two);
  question.offers.push_back(question.offers[1]);
  question.offers[2].name = "C";
  question.offers[2].price = 1;
  question.offers[2].committed_gflops = 10000;
  const OfferAnswer found = answer(question);
  EXPECT_EQ(found.verdict.find("Take B: cheaper per Tflop/s than A"), 0u) << found.verdict;
  EXPECT_THAT(
      found.verdict,
      HasSubstr("C is left out, though cheaper per Tflop/s by what is expected: it promises 10.0 Tflop/s, and "));
  EXPECT_THAT(found.reasons, testing::Contains(HasSubstr("B against C: ")));
}

TEST(Offer, NamesTheLikelierSideAndWhoIsKnownLeast) {
  OfferQuestion question = read(two);
  question.offers[1].price = 190;
  const OfferAnswer found = answer(question);
  ASSERT_EQ(found.reasons.size(), 2u);
  EXPECT_THAT(found.reasons[0], HasSubstr("B against A: faster with a probability of 50 %, cheaper per Tflop/s with"));
  EXPECT_THAT(found.reasons[1], HasSubstr("All are known about equally well. Most of the uncertainty is "));
}

TEST(Offer, OfTheSameMachineTwiceCannotBeToldApart) {
  OfferQuestion question = read(two);
  question.offers[1].price = question.offers[0].price;
  const OfferAnswer found = answer(question);
  EXPECT_THAT(found.verdict, HasSubstr("cannot be told apart"));
  std::ostringstream page;
  write_offer_page(page, found);
  EXPECT_THAT(page.str(), HasSubstr("ahead, but not surely"));
  EXPECT_THAT(page.str(), Not(HasSubstr("the offer to take")));
}

TEST(Offer, DrawsWhatItsNodesDrawWithAllCoresAtWork) {
  const OfferQuestion question = read(two);
  EXPECT_NEAR(estimate_offer(question, machine_of_numbers(question.offers[0])).watts.value(), 2 * 300, 1e-9);
  EXPECT_FALSE(estimate_offer(question, machine_of_numbers(question.offers[1])).watts.has_value());
}

// `predict --energy` of what `quick -o` wrote, and `offer --simulate`: waiting ranks poll, and draw what working ones
// do.
TEST(Offer, ADataSheetHasTheSameWattsForCoresThatWait) {
  const core::ClusterModel cluster = machine_of_numbers(read(two).offers[0]).cluster;
  const core::HostPower power(*cluster.power, cluster.hosts, 0);
  for (const core::CoreState state : {core::state_of(core::KernelId::dgemm), core::CoreState::polling,
                                      core::CoreState::blocked, core::CoreState::messages})
    EXPECT_NEAR(power.watts({{0, state, cluster.hosts.cores_of(0)}}), 300, 1e-9);
  EXPECT_NEAR(power.watts({{0, core::CoreState::polling, cluster.hosts.cores_of(0) / 2}}), 200, 1e-9);
  EXPECT_DOUBLE_EQ(power.watts({}), 100);
  EXPECT_THAT(core::unstated(*cluster.power), testing::IsEmpty());
}

TEST(Offer, GetsTheLargestMatrixOfAnNbAskedFor) {
  OfferQuestion question = read(two);
  question.NB = {64, 128};
  const core::Prediction one = estimate_offer(question, machine_of_numbers(question.offers[0])).prediction;
  EXPECT_THAT(question.NB, testing::Contains(one.parameters.NB));
  const double memory = 0.8 * 2 * 4 * (1 << 30), next = static_cast<double>(one.parameters.N + one.parameters.NB);
  EXPECT_LE(core::hpl_matrix_bytes(static_cast<double>(one.parameters.N)), memory);
  EXPECT_GT(core::hpl_matrix_bytes(next), memory);
}

/// The closed form has rings only: 0 to 3.
TEST(Offer, GetsTheBestBroadcastThatTheClosedFormHas) {
  OfferQuestion question = read(two);
  question.NB = {64, 128};
  for (const double bandwidth : {1e8, 1e9, 1e10, 1e11}) {
    Offer offer = question.offers[0];
    offer.machine.bandwidth_bytes_per_s = bandwidth;
    const OfferedMachine machine = machine_of_numbers(offer);
    const core::Prediction chosen = estimate_offer(question, machine).prediction;
    EXPECT_LE(chosen.parameters.BCAST, 3) << bandwidth;
    core::HplParameters p = chosen.parameters;
    for (p.BCAST = 0; p.BCAST <= 3; ++p.BCAST)
      EXPECT_LE(chosen.time_s, closed_form_s(machine.cluster, p) * (1 + 1e-12)) << bandwidth << ' ' << p.BCAST;
  }
}

TEST(Offer, OfACreatedClusterNeedsItsMemory) {
  OfferQuestion question = read(two);
  core::ClusterModel cluster = machine_of_numbers(question.offers[0]).cluster;
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.memory_bytes = 0;
  cluster.hosts = core::Hosts::make(hosts);
  Offer offer = question.offers[0];
  offer.machine.memory_bytes = 0;
  try {
    machine_of_cluster(offer, cluster);
    FAIL() << "expected an error";
  } catch (const core::ParseError& error) {
    EXPECT_EQ(error.location().field, "offers[0].memory");
  }
  offer.machine.memory_bytes = 1e9;
  EXPECT_EQ(machine_of_cluster(offer, cluster, 96).NB, 96);
}

TEST(Offer, HasElasticitiesThatAddUpToOneAndNoMessagesOnOneRank) {
  OfferQuestion question = read(two);
  const core::ClusterModel cluster = machine_of_numbers(question.offers[0]).cluster;
  core::HplParameters p;
  p.N = 8192;
  p.NB = 128;
  p.P = p.Q = 4;
  const Elasticities many = closed_form_elasticities(cluster, p, 0.8);
  EXPECT_NEAR(many[0] + many[2] + many[3], 1, 1e-12);
  EXPECT_GT(many[3], 0);
  p.P = p.Q = 1;
  EXPECT_NEAR(closed_form_elasticities(cluster, p, 0.8)[3], 0, 1e-9);
}

TEST(OfferPage, SaysTheVerdictFirstAndEscapesNames) {
  OfferQuestion question = read(two);
  question.offers[0].name = "<b>A&B";
  std::ostringstream page, json;
  const OfferAnswer found = answer(question);
  write_offer_page(page, found);
  write_offer_json(json, found);
  EXPECT_THAT(page.str(), HasSubstr("&lt;b&gt;A&amp;B"));
  EXPECT_THAT(page.str(), Not(HasSubstr("<b>A&B")));
  EXPECT_LT(page.str().find("Take B"), page.str().find("errors of the offers as independent"));
  EXPECT_LT(page.str().find("errors of the offers as independent"), page.str().find("<svg"));
  const auto read_back = nlohmann::json::parse(json.str());
  EXPECT_EQ(read_back["offers"][0]["name"], "B");
  EXPECT_EQ(read_back["offers"][0]["probability_cheaper"]["<b>A&B"], found.better[0][1]);
}

}  // namespace
}  // namespace hplcast::study
