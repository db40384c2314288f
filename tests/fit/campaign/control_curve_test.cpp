// Machines that drift in a known way while they are measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/campaign/campaign_steps.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/fit/campaign.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::fit {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double piece_s = 10;
constexpr int pieces = 16;

/// A control at the begin of each piece and at the end of the last one, on two ranks of h; `slowdown` of a moment.
template <typename Slowdown>
std::string control_csv(Slowdown slowdown) {
  std::string text = "rank,host,core,start_s,shape,calls,wall_s,cpu_s,sd_s,round_trip_s\n";
  for (int i = 0; i <= pieces; ++i)
    for (const int rank : {0, 1})  // the second core is slower all the time: no drift
      text += std::to_string(rank) + ",h," + std::to_string(rank) + "," + core::shortest(piece_s * i) +
              ",640x640x640,18," + core::shortest((rank == 0 ? 0.008 : 0.009) * slowdown(piece_s * i)) +
              ",0.008,1e-5,0\n";
  return text;
}

/// Calls of dgemm at 2e10 flop/s, in every piece on both cores, in an order in which size and time are not related.
template <typename Slowdown>
std::string drifting_dgemm(Slowdown slowdown) {
  std::string text = "kernel,m,n,k,duration_s,start_s,host,cpu,content\n";
  for (int i = 0; i < 8 * pieces; ++i) {
    const double m = 100 * (1 + i * 7 % 5), n = 100 * (1 + i * 3 % 7), k = 16 << (i * 5 % 4);
    const double start_s = piece_s * (i + 0.5) / 8;
    text += "dgemm," + core::shortest(m) + "," + core::shortest(n) + "," + core::shortest(k) + "," +
            core::shortest(1e-10 * m * n * k * slowdown(start_s)) + "," + core::shortest(start_s) + ",h,0,random\n";
  }
  return text;
}

double fitted_s(const CampaignFit& fit) {
  return fit.cluster.kernels.at("dgemm").cluster_law().at({}).mean_s({300, 300, 64});
}
constexpr double true_s = 1e-10 * 300 * 300 * 64;

Campaign campaign_of_one(const std::string& dgemm, const std::string& controls) {
  Campaign campaign;
  campaign.hosts = {{"h", 1e9, {0}}};
  campaign.measurements["measurements/01-dgemm.csv"] = dgemm;
  campaign.controls = controls;
  return campaign;
}

/// 4 percent slower in the second half of the sine, 4 percent faster in the first one.
double sine(double start_s) {
  return 1 - 0.04 * std::sin(2 * 3.14159265358979 * start_s / (piece_s * pieces));
}

TEST(ControlCurve, TellsWhatLastsFromWhatChangesFromOneControlToTheNext) {
  const auto control = [](const auto& slowdown) {
    return nlohmann::json::parse(ControlCurve(control_csv(slowdown), "control.csv").provenance_json());
  };
  // 17 controls; (n - 2) / (n^2 - 1) = 15 / 288 is the square of 0.228.
  const auto to_and_fro =
      control([](double start_s) { return std::exp(std::lround(start_s) % 20 == 0 ? 0.02 : -0.02); });
  EXPECT_EQ(to_and_fro.at("controls"), 17);
  const double sd = 0.02 * std::sqrt(17 / 16. * (1 - 1 / (17. * 17.)));  // nine of one kind and eight of the other
  EXPECT_NEAR(to_and_fro.at("scatter"), sd, 1e-9);
  EXPECT_NEAR(to_and_fro.at("lasting"), sd * std::sqrt(0.2282), 1e-5) << "what chance may hide";
  const auto slow = control(sine);
  EXPECT_LT(slow.at("scatter"), 0.01);
  EXPECT_NEAR(slow.at("lasting"), 0.04 / std::sqrt(2.), 0.003);
}

TEST(ControlCurve, TellsAKnownDriftAndNotTheDifferencesOfCores) {
  const ControlCurve curve(control_csv(sine), "control.csv");
  for (double start_s = 0; start_s <= piece_s * pieces; start_s += 3)
    // A sine of 160 s interpolated at 10 s: off by at most (2 pi 10 / 160)^2 / 8 of its 4 percent. The controls scatter
    // by 1e-5 / 0.008 / sqrt(36): the coefficient is 1 within 1e-4.
    EXPECT_NEAR(curve.slowdown("h", start_s), sine(start_s), 0.04 * 0.02 + 1e-4) << start_s;
  EXPECT_EQ(curve.slowdown("another", 5), 1);
  EXPECT_EQ(ControlCurve().slowdown("h", 5), 1);
  EXPECT_FALSE(ControlCurve().is_disturbed("h", 5));
}

TEST(ControlCurve, DoesNotTakeItsOwnScatterForADrift) {
  // Calls scatter by 30 percent, so the mean of 2 x 18 by 5 percent: more than the controls differ.
  std::string text = control_csv(sine);
  for (std::size_t at = text.find(",1e-5,"); at != std::string::npos; at = text.find(",1e-5,"))
    text.replace(at, 6, ",0.0026,");
  const ControlCurve curve(text, "control.csv");
  EXPECT_EQ(curve.slowdown("h", 40), 1);
}

TEST(ControlCurve, WantsTheSameHostsInAllControls) {
  const std::string text = control_csv(sine) + "0,g,0,500,640x640x640,18,0.008,0.008,0,0\n";
  EXPECT_THAT(tests::error_in([&] { ControlCurve(text, "control.csv"); }), HasSubstr("in some of the controls only"));
}

TEST(FitCampaign, TakesKernelsToTheSpeedOfTheControl) {
  // The first half of the time alone, in which all calls are faster: without the control the model is 2 percent off.
  const auto late = [](double start_s) { return start_s < piece_s * pieces / 4 ? 1.06 : 1.0; };
  const CampaignFit plain = fit_campaign(campaign_of_one(drifting_dgemm(late), ""));
  EXPECT_GT(fitted_s(plain) / true_s, 1.005);
  EXPECT_THAT(plain.cluster.provenance, ::testing::Not(HasSubstr("\"control\"")));
  const CampaignFit corrected = fit_campaign(campaign_of_one(drifting_dgemm(late), control_csv(late)));
  // Only in the piece with the step is the interpolated control off, by 6 percent at most: one of 16.
  EXPECT_NEAR(fitted_s(corrected) / true_s, 1, 0.06 / pieces);
  const auto control = nlohmann::json::parse(corrected.cluster.provenance).at("control");
  EXPECT_EQ(control.at("shape"), "640x640x640");
  EXPECT_NEAR(control.at("wall_s"), 0.009, 0.009 * 1e-4) << "of the slower core; the coefficient is 1 within 1e-4";
  EXPECT_DOUBLE_EQ(control.at("high"), 0.009 * 1.06);
  EXPECT_EQ(control.at("pieces"), pieces);
  EXPECT_EQ(control.at("set_aside"), 0);
  EXPECT_THAT(corrected.notes, Contains(HasSubstr("control: dgemm 640x640x640 takes 9 ms (9 to 9.54) in 16 pieces")));
}

TEST(FitCampaign, TellsTheControlOfTheSpeedThatTheModelHas) {
  // Kernels in the first third; later messages, on one core that is half as fast meanwhile: the median of the slower
  // core's controls is from there.
  std::string controls = "rank,host,core,start_s,shape,calls,wall_s,cpu_s,sd_s,round_trip_s\n";
  for (int i = 0; i <= pieces; ++i)
    for (const int rank : {0, 1})
      controls += std::to_string(rank) + ",h," + std::to_string(rank) + "," + core::shortest(piece_s * i) +
                  ",640x640x640,18," + (rank == 1 && 3 * i > pieces ? "0.016" : "0.008") + ",0.008,1e-5,0\n";
  std::istringstream all(drifting_dgemm([](double) { return 1; }));
  std::string line, early;
  std::getline(all, line);
  early = line + "\n";
  for (int i = 0; std::getline(all, line) && 3 * (i / 8 + 1) < pieces; ++i) early += line + "\n";
  const CampaignFit fit = fit_campaign(campaign_of_one(early, controls));
  const double wall_s = nlohmann::json::parse(fit.cluster.provenance).at("control").at("wall_s");
  // dgemm of 1e-10 s per product, at controls of 0.008 s: whatever the model was taken to, so was the control.
  EXPECT_NEAR(wall_s / 0.008, fitted_s(fit) / true_s, 1e-3);
}

TEST(FitCampaign, SetsPiecesAsideInWhichTheControlIsFarAboveTheMedian) {
  // The third piece: both of its controls, and so half of its neighbours'.
  const auto disturbed = [](double start_s) { return start_s >= 20 && start_s <= 30 ? 1.5 : 1.0; };
  const CampaignFit fit = fit_campaign(campaign_of_one(drifting_dgemm(disturbed), control_csv(disturbed)));
  EXPECT_DOUBLE_EQ(fitted_s(fit) / true_s, 1);
  const auto control = nlohmann::json::parse(fit.cluster.provenance).at("control");
  EXPECT_EQ(control.at("set_aside"), 3);
  EXPECT_DOUBLE_EQ(control.at("high"), 0.009);
  EXPECT_THAT(fit.notes, Contains(HasSubstr("in 3 pieces it is above 1.1 times the median")));
}

TEST(FitCampaign, KeepsTheSpeedThatTheMachineHasMostOfTheTime) {
  const auto busy = [](double start_s) { return start_s >= 30 ? 1.5 : 1.0; };
  const CampaignFit fit = fit_campaign(campaign_of_one(drifting_dgemm(busy), control_csv(busy)));
  const auto control = nlohmann::json::parse(fit.cluster.provenance).at("control");
  EXPECT_EQ(control.at("set_aside"), 0);
  EXPECT_NEAR(fitted_s(fit) / true_s, 1.5, 0.1);
}

TEST(FitCampaign, DoesNotChooseTheFastMomentsOfAMachineThatScatters) {
  // Controls and calls from -8 to +8 %, another speed in each piece: all pieces count, and the model is their mean.
  const auto scatter = [](double start_s) {
    return 1 + 0.02 * static_cast<double>(std::lround(start_s / piece_s) * 5 % 9 - 4);
  };
  const CampaignFit fit = fit_campaign(campaign_of_one(drifting_dgemm(scatter), control_csv(scatter)));
  EXPECT_EQ(nlohmann::json::parse(fit.cluster.provenance).at("control").at("set_aside"), 0);
  EXPECT_NEAR(fitted_s(fit) / true_s, 1, 0.02);
}

TEST(FitCampaign, KeepsAKernelThatWasMeasuredInADisturbedPieceOnly) {
  const auto disturbed = [](double start_s) { return start_s >= 20 && start_s <= 30 ? 1.5 : 1.0; };
  std::string rows = drifting_dgemm(disturbed);
  for (int i = 1; i <= 12; ++i)
    rows += "daxpy," + std::to_string(100 * i) + ",1,1," + core::shortest(1.5e-9 * 100 * i) + ",25,h,0,random\n";
  const CampaignFit fit = fit_campaign(campaign_of_one(rows, control_csv(disturbed)));
  EXPECT_EQ(fit.kernels.count("daxpy"), 1u);
  EXPECT_DOUBLE_EQ(fitted_s(fit) / true_s, 1) << "disturbed rows of dgemm are still set aside";
  EXPECT_THAT(fit.notes, Contains(HasSubstr("01-dgemm.csv (daxpy) were measured while it was above 1.1 times")));
}

TEST(FitCampaign, KnowsOtherKernelsAsWellAsTheRowsThatItCounts) {
  const auto error = [](const auto& slowdown) {
    std::string rows = drifting_dgemm(slowdown);
    for (int i = 0; i < 16 * pieces; ++i) {
      const double start_s = piece_s * (i + 0.5) / 16;
      rows += "daxpy,1," + std::to_string(100 * (1 + i * 7 % 5)) + ",1," +
              core::shortest(1e-9 * 100 * (1 + i * 7 % 5) * slowdown(start_s)) + "," + core::shortest(start_s) +
              ",h,0,hpl\n";
    }
    const CampaignFit fit = fit_campaign(campaign_of_one(rows, control_csv(slowdown)));
    return core::Uncertainty(*fit.cluster.uncertainty).of(core::ErrorGroup::other_kernels).value();
  };
  const auto disturbed = [](double start_s) { return start_s >= 20 && start_s <= 30 ? 1.5 : 1.0; };
  // Nothing scatters but in the three pieces that are set aside.
  EXPECT_LT(error(disturbed).sd, 1e-9);
  // The interpolated control is off by 0.04 * 0.02 at most (see above); uncorrected it is some 0.028 / sqrt(80).
  EXPECT_LT(error(sine).sd, 0.04 * 0.02 + 1e-4);
}

TEST(FitCampaign, IsNotLedAstrayByControlsThatOneMomentSpoiled) {
  // Every third control takes three times as long, the calls do not: two pieces of three lie beside one. Beyond 10
  // percent a control says too little, so it corrects by 10 percent at most.
  const auto spoiled = [](double start_s) { return std::lround(start_s / piece_s) % 3 == 2 ? 3.0 : 1.0; };
  const CampaignFit fit =
      fit_campaign(campaign_of_one(drifting_dgemm([](double) { return 1.0; }), control_csv(spoiled)));
  EXPECT_GT(fitted_s(fit) / true_s, 1 / 1.1);
  EXPECT_LT(fitted_s(fit) / true_s, 1.001);
}

TEST(FitCampaign, PairsOfCallsInADisturbedPieceAreNoKernelOfTheirOwn) {
  const auto disturbed = [](double start_s) { return start_s >= 20 && start_s <= 30 ? 1.5 : 1.0; };
  Campaign campaign = campaign_of_one(drifting_dgemm(disturbed), control_csv(disturbed));
  std::string pairs = "kernel,m,n,k,duration_s,start_s,host,content\n";
  for (const double start_s : {25., 75., 85., 95.})
    for (const char* kernel : {"dgemm_alone", "dgemm_beside"})
      pairs += kernel + (",300,300,64,6e-4," + core::shortest(start_s)) + ",h,random\n";
  campaign.measurements["measurements/01-dgemm-alone.csv"] = pairs;
  EXPECT_EQ(fit_campaign(campaign).cluster.kernels.size(), 1u) << "dgemm";
}

}  // namespace
}  // namespace hplcast::fit
