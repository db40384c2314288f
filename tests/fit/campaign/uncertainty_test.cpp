// How well a campaign knows what it has measured: `uncertainty` of the cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "hplcast/core/csv.hpp"
#include "hplcast/fit/campaign.hpp"

namespace hplcast::fit {
namespace {

using ::testing::HasSubstr;

constexpr const char* header = "kernel,m,n,k,duration_s,start_s,host,cpu,content\n";
constexpr std::array sizes = {100., 200., 400., 800.};

/// A call of dgemm, m x 300 x 64 at 2e10 flop/s.
std::string dgemm(double m, double slower, double start_s, const std::string& host = "h") {
  return "dgemm," + core::shortest(m) + ",300,64," + core::shortest(slower * 1e-10 * m * 300 * 64) + "," +
         core::shortest(start_s) + "," + host + ",0,random\n";
}

/// 16 pieces of 2 s, alternately 2 percent slower and faster; the calls of a piece are alike.
std::string pieces_of_time(const std::string& host = "h", double slower = 1) {
  std::string text = header;
  for (int piece = 0; piece < 16; ++piece)
    for (const double m : sizes) text += dgemm(m, slower * (piece % 2 == 0 ? 0.98 : 1.02), 2 * piece + m / 500, host);
  return text;
}
// Means of 16 blocks of sd 0.02 scatter by 0.005; of 16 draws the sd is right within a factor of 1.8 (99.9 percent).
constexpr double sd_of_16 = 0.02 / 4, drawn_within = 1.8;

core::Uncertainty uncertainty_of(const std::string& csv) {
  Campaign campaign;
  campaign.hosts = {{"h", 1e9, {0}}};
  campaign.measurements = {{"01-dgemm.csv", csv}};
  return fit_campaign(campaign).cluster.uncertainty.value();
}

TEST(FitCampaign, KnowsHowWellFromPiecesOfTime) {
  Campaign campaign;
  campaign.hosts = {{"h", 1e9, {0}}};
  campaign.measurements = {{"01-dgemm.csv", pieces_of_time()}};
  const CampaignFit fit = fit_campaign(campaign);
  ASSERT_TRUE(fit.cluster.uncertainty);
  core::Uncertainty uncertainty = *fit.cluster.uncertainty;
  const core::EstimatedSd dgemm = uncertainty.of(core::ErrorGroup::dgemm).value();
  EXPECT_GT(dgemm.sd, sd_of_16 / drawn_within);
  EXPECT_LT(dgemm.sd, sd_of_16 * drawn_within);
  EXPECT_EQ(dgemm.nu, 15);
  // ln(1.02 / 0.98) from each piece to the next, fifteen times.
  EXPECT_NEAR(uncertainty.pieces.value().sd, std::log(1.02 / 0.98) / std::sqrt(2), 1e-9);
  EXPECT_NEAR(uncertainty.pieces->nu, 10, 1e-12);
  EXPECT_EQ(uncertainty.piece_s, 2);
  EXPECT_EQ(uncertainty.days, 1);
  EXPECT_THAT(fit.notes, ::testing::Contains(HasSubstr("measured on one day")));
}

TEST(FitCampaign, OfSeveralDaysKnowsHowTheyDiffer) {
  std::string text = header;
  for (int day = 0; day < 3; ++day)
    for (const double m : sizes) text += dgemm(m, 1 + 0.01 * day, 86400 * day + m / 1000);
  const core::Uncertainty uncertainty = uncertainty_of(text);
  EXPECT_EQ(uncertainty.days, 3);
  // Logarithms of 1, 1.01, 1.02 scatter by 0.0099.
  EXPECT_NEAR(uncertainty.between_days->sd, 0.0099, 1e-4);
  EXPECT_EQ(uncertainty.between_days->nu, 2);
}

/// Five sessions of 30 s that differ by 2 percent from day to day, and by 1 percent within: in three pieces each.
TEST(FitCampaign, DifferencesOfDaysAreNotThoseOfPieces) {
  std::string text = header;
  for (int day = 0; day < 5; ++day)
    for (int second = 0; second < 30; ++second)
      text += dgemm(sizes[static_cast<std::size_t>(second) % sizes.size()],
                    1 + 0.02 * day + (second / 10 == 1 ? 0.01 : 0), 86400 * day + second);
  core::Uncertainty uncertainty = uncertainty_of(text);
  EXPECT_EQ(uncertainty.days, 5);
  // Sixteen pieces of all that was measured: of 5 x 29 s, and the short last call of each day.
  EXPECT_NEAR(uncertainty.piece_s, 5 * 29 / 16., 1e-3);
  EXPECT_EQ(uncertainty.of(core::ErrorGroup::dgemm)->nu, 14) << "15 blocks";
  // Of days that are 1 to 1.08 times as slow, 1 percent is 0.93 to 1 percent.
  ASSERT_TRUE(uncertainty.pieces);
  EXPECT_LT(uncertainty.pieces->sd, std::log(1.01) / std::sqrt(2));
  EXPECT_GT(uncertainty.pieces->sd, std::log(1.09 / 1.08) / std::sqrt(2));
  EXPECT_NEAR(uncertainty.pieces->nu, 2 / 3. * 10, 1e-12) << "two differences on each day";
}

/// i has pieces like those of h, and takes twice as long.
TEST(FitCampaign, TheDifferenceOfKindsOfHostsIsKnown) {
  Campaign campaign;
  campaign.hosts = {{"h", 1e9, {0}}, {"i", 1e9, {0}}};
  campaign.kinds = {{"slow", {"i"}}};
  campaign.measurements = {{"01-dgemm.csv", pieces_of_time()}, {"02-dgemm.csv", pieces_of_time("i", 2)}};
  std::string& messages = campaign.measurements["03-mpi.csv"] = "operation,scope,size_bytes,duration_s,background\n";
  for (int i = 0; i < 40; ++i)
    messages += "pingpong,local," + std::to_string(1000 * i + 1) + "," + core::shortest(2e-6 + 1e-9 * i) + ",none\n";
  const double sd = fit_campaign(campaign).cluster.uncertainty.value().of(core::ErrorGroup::dgemm).value().sd;
  EXPECT_GT(sd, sd_of_16 / std::sqrt(2.) / drawn_within);
  EXPECT_LT(sd, sd_of_16 / std::sqrt(2.) * drawn_within);
}

/// Two kernels that are both 1.1 times as slow in every second piece share the state of the machine, in whatever order
/// the rows are: traces of HPL have a kernel after the other.
TEST(FitCampaign, CallsOfSeveralKernelsShareThePiecesOfTime) {
  const auto row = [](const char* kernel, int call) {  // ten pieces of 2 s
    return std::string(kernel) + ",1," + std::to_string(100 + call) + ",1," +
           core::shortest((call / 4 % 2 == 0 ? 1 : 1.1) * 1e-9 * (100 + call)) + "," +
           core::shortest(0.25 + 0.5 * call) + ",h,0,hpl\n";
  };
  std::string in_time, by_kernel;
  for (int call = 0; call < 40; ++call) in_time += row("daxpy", call) + row("dcopy", call);
  for (const char* kernel : {"daxpy", "dcopy"})
    for (int call = 0; call < 40; ++call) by_kernel += row(kernel, call);
  const auto error = [](const std::string& rows) {
    return uncertainty_of(pieces_of_time() + rows).of(core::ErrorGroup::other_kernels).value();
  };
  EXPECT_EQ(error(by_kernel).nu, 9) << "ten blocks";
  // Sums of the same durations in another order.
  EXPECT_NEAR(error(by_kernel).sd, error(in_time).sd, 1e-12);
}

}  // namespace
}  // namespace hplcast::fit
