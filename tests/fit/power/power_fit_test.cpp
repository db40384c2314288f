#include "hplcast/fit/power_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fit/power/power_regression.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;

/// A node of 12 cores with the published all-cores power of taurus-8 under HPL (facts of Heinrich et al. 2017), an
/// awake package as published, and polling as expensive as NAS EP.
struct Truth {
  double idle_w = 93.2;
  std::vector<double> awake = {4.56, 5.7};
  std::vector<double> dgemm = {(108.15 - 93.2 - 4.56) / 12, (7.72 - 5.7) / 12, 16.03 / 12};
  std::vector<double> polling = {(107.32 - 93.2 - 4.56) / 12, (-3.25 - 5.7) / 12, 14.11 / 12};

  static double at(const std::vector<double>& c, double f) {
    return c[0] + (c.size() > 1 ? c[1] * f : 0) + (c.size() > 2 ? c[2] * f * f : 0);
  }
  double watts(const std::string& state, int active, double f) const {
    if (active == 0) return idle_w;
    return idle_w + at(awake, f) + active * at(state == "dgemm" ? dgemm : polling, f);
  }
};

struct Plan {
  std::vector<double> ghz = {1.2, 1.5, 1.8, 2.1, 2.3};
  std::vector<int> counts = {1, 3, 6, 12};
  int repetitions = 3;
  int samples = 10;    ///< used ones of a piece
  double noise_w = 0;  ///< of a sample
  double piece_noise_w = 0;
  std::uint64_t seed = 1;
};

/// Samples of a node's wattmeter; each piece with two samples that are set aside and wrong.
std::vector<core::PowerSample> generate(const Plan& plan, const Truth& truth = {}, const std::string& host = "node") {
  core::RandomStream random({plan.seed, core::stream_generate, 13, 0, 0});
  std::vector<core::PowerSample> samples;
  long piece = 0;
  const auto add = [&](const std::string& state, int active, double f) {
    ++piece;
    const double watts = truth.watts(state, active, f) + plan.piece_noise_w * random.normal();
    for (int i = -1; i <= plan.samples; ++i) {
      core::PowerSample sample;
      sample.host = host;
      sample.sensor = "wattmeter";
      sample.domain = core::PowerDomain::host;
      sample.piece = piece;
      sample.state = state;
      sample.active_cores = active;
      sample.cores = 12;
      sample.frequency_hz = f * 1e9;
      sample.used = i >= 0 && i < plan.samples;
      sample.power_w = sample.used ? watts + plan.noise_w * random.normal() : 50;
      samples.push_back(sample);
    }
  };
  for (int repetition = 0; repetition < plan.repetitions; ++repetition)
    for (const double f : plan.ghz) {
      add("idle", 0, f);
      for (const int count : plan.counts)
        for (const char* state : {"dgemm", "polling"}) add(state, count, f);
    }
  return samples;
}

PowerFit fit_of(const std::vector<core::PowerSample>& samples, const PowerFitOptions& options = {}) {
  return fit_power(power_rows(samples), options);
}

auto flag(const std::string& name) {
  return Contains(Field(&core::QualityFlag::flag, name));
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], i < expected.size() ? expected[i] : 0, tolerance) << "coefficient " << i;
}

TEST(PowerFit, RecoversCoefficientsOfNoiselessSamples) {
  const Truth truth;
  const PowerFit fit = fit_of(generate({}));
  ASSERT_TRUE(fit.ok) << fit.reason;
  // Least squares of 135 rows by QR lose at most some six of sixteen digits.
  EXPECT_NEAR(fit.all.idle_w, truth.idle_w, 1e-8);
  expect_near(fit.all.awake.coefficients, truth.awake, 1e-8);
  expect_near(fit.all.states.at("dgemm").coefficients, truth.dgemm, 1e-8);
  expect_near(fit.all.states.at("polling").coefficients, truth.polling, 1e-8);
  EXPECT_NEAR(fit.all.max_residual_w, 0, 1e-8);
  EXPECT_THAT(fit.flags, IsEmpty());
}

/// All cores in one state all the time: its watts cannot be told from the idle ones.
TEST(PowerFit, OneStateOfAllCoresIsIdle) {
  PowerRow row;
  row.state = "dgemm";
  row.active_cores = row.cores = 12;
  row.frequency_hz = 2e9;
  std::vector<PowerRow> rows;
  for (const double watts : {99., 100., 101.}) {
    row.power_w = watts;
    rows.push_back(row);
  }
  const HostPowerFit fit = regress_power(rows, 0);  // preset asan sees memory that is not there any more
  EXPECT_NEAR(fit.idle_w, 100, 1e-12);
  EXPECT_THAT(fit.states, IsEmpty());
  EXPECT_THAT(fit.notes.degree_lowered, IsEmpty());
}

TEST(PowerFit, TheModelSaysTheWattsOfTheSamples) {
  const Truth truth;
  const PowerFit fit = fit_of(generate({}));
  ASSERT_TRUE(fit.ok);
  const core::Hosts hosts = core::Hosts::make({"node", 12, 2, {}, 0});
  const core::HostPower power(fit.model, hosts, 0, 1.5e9);
  const auto dgemm = core::core_state_from_name("dgemm").value();
  EXPECT_NEAR(power.watts({{0, dgemm, 6}, {1, dgemm, 6}}), truth.watts("dgemm", 12, 1.5), 1e-6);
  EXPECT_NEAR(power.watts({{0, core::CoreState::polling, 3}}), truth.watts("polling", 3, 1.5), 1e-6);
  EXPECT_NEAR(power.watts({}), truth.idle_w, 1e-6);
  EXPECT_NEAR(fit.model.frequency_hz(0, 0).value(), 2.3e9, 1) << "the highest, unless told otherwise";
}

/// Of 200 sets of samples with the noise of a wattmeter (1 W a sample) and of temperature (0.5 W a piece).
TEST(PowerFit, FindsTheTruthWithinTwoStandardErrorsAsOftenAsItShould) {
  constexpr int sets = 200;
  const Truth truth;
  std::map<std::string, int> within;
  const auto count = [&](const std::string& name, double found, double error, double expected) {
    within[name] += std::abs(found - expected) <= 2 * error ? 1 : 0;
  };
  const auto count_all = [&](const std::string& name, const FittedWatts& found, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < found.coefficients.size(); ++i)
      count(name + std::to_string(i), found.coefficients[i], found.standard_errors[i],
            i < expected.size() ? expected[i] : 0);
  };
  for (int set = 0; set < sets; ++set) {
    Plan plan;
    plan.noise_w = 1;
    plan.piece_noise_w = 0.5;
    plan.seed = static_cast<std::uint64_t>(set) + 1;
    const PowerFit fit = fit_of(generate(plan));
    ASSERT_TRUE(fit.ok) << fit.reason;
    count("idle", fit.all.idle_w, fit.all.idle_error_w, truth.idle_w);
    count_all("awake", fit.all.awake, truth.awake);
    count_all("dgemm", fit.all.states.at("dgemm"), truth.dgemm);
    count_all("polling", fit.all.states.at("polling"), truth.polling);
  }
  EXPECT_EQ(within.size(), 10U);
  // Student's t of 125 degrees of freedom is within 2 with probability 0.9523; binomial, four standard deviations.
  const double p = 0.9523, tolerance = 4 * std::sqrt(sets * p * (1 - p));
  for (const auto& [name, hits] : within) {
    EXPECT_NEAR(hits, sets * p, tolerance) << name;
    RecordProperty("within_" + name, hits);
  }
}

TEST(PowerFit, SingleWrongSamplesDoNotCount) {
  Plan plan;
  plan.noise_w = 0.5;
  std::vector<core::PowerSample> samples = generate(plan);
  const double before = fit_of(samples).all.idle_w;
  for (std::size_t i = 5; i < samples.size(); i += 40)
    if (samples[i].used) samples[i].power_w = i % 80 == 5 ? 1 : 50;
  const PowerFit fit = fit_of(samples);
  EXPECT_NEAR(fit.all.idle_w, before, 0.2) << "a sample less of some of 15 pieces, each with 0.5 / sqrt(10) W";
  EXPECT_THAT(fit.flags, flag("outliers"));
}

TEST(PowerFit, WithOneFrequencyWattsAreNumbers) {
  Plan plan;
  plan.ghz = {2.3};
  const PowerFit fit = fit_of(generate(plan));
  ASSERT_TRUE(fit.ok);
  EXPECT_EQ(fit.all.states.at("dgemm").coefficients.size(), 1U);
  EXPECT_FALSE(fit.model.values().frequency);
  EXPECT_NEAR(fit.all.states.at("dgemm").coefficients[0], Truth::at(Truth().dgemm, 2.3), 1e-8);
}

TEST(PowerFit, WithOneCountAwakeIsInTheWattsOfTheCores) {
  Plan plan;
  plan.ghz = {2.3};
  plan.counts = {12};
  const PowerFit fit = fit_of(generate(plan));
  ASSERT_TRUE(fit.ok) << fit.reason;
  EXPECT_THAT(fit.flags, flag("awake_unknown"));
  EXPECT_NEAR(fit.all.idle_w + 12 * fit.all.states.at("dgemm").at(2.3), Truth().watts("dgemm", 12, 2.3), 1e-8);
  EXPECT_TRUE(fit.all.awake.coefficients.empty());
}

TEST(PowerFit, AStateThatAddsNothingSleeps) {
  Truth truth;
  truth.polling = {-0.5};
  Plan plan;
  plan.ghz = {2.3};
  std::vector<core::PowerSample> samples = generate(plan, truth);
  for (core::PowerSample& sample : samples)
    if (sample.state == "polling") {
      sample.state = "blocked";
      if (sample.used) sample.power_w = truth.idle_w;
    }
  const PowerFit fit = fit_of(samples);
  ASSERT_TRUE(fit.ok) << fit.reason;
  EXPECT_THAT(fit.flags, flag("sleeps"));
  EXPECT_NEAR(fit.all.idle_w, truth.idle_w, 1e-8);
  EXPECT_NEAR(fit.all.states.at("dgemm").at(2.3), Truth::at(truth.dgemm, 2.3), 1e-8);
  EXPECT_EQ(fit.model.core(0, 0, core::CoreState::blocked).at(std::nullopt), 0);
}

TEST(PowerFit, ACapIsSeenByPowerThatStaysWhileTheFrequencyMoves) {
  Plan plan;
  plan.ghz = {2.3};
  std::vector<core::PowerSample> samples = generate(plan);
  long pieces = 0;
  for (core::PowerSample& sample : samples)
    if (sample.state == "dgemm" && sample.active_cores == 12) {
      pieces = std::max(pieces, sample.piece);
      sample.frequency_hz = 2e9 + 3e6 * static_cast<double>(sample.piece);
    }
  EXPECT_THAT(fit_of(samples).flags, flag("cap_at_work"));
  for (core::PowerSample& sample : samples) {
    sample.frequency_hz = 2.3e9;
    if (sample.state == "dgemm" && sample.active_cores == 12) sample.limit_w = Truth().watts("dgemm", 12, 2.3) * 1.0005;
  }
  EXPECT_THAT(fit_of(samples).flags, flag("cap_at_work"));
  EXPECT_THAT(fit_of(generate(plan)).flags, Not(flag("cap_at_work")));
}

TEST(PowerFit, TooFewPiecesAndASlowMeterAreTold) {
  Plan plan;
  plan.ghz = {2.3};
  plan.repetitions = 1;
  plan.counts = {1, 12};
  plan.samples = 2;
  const PowerFit fit = fit_of(generate(plan));
  ASSERT_TRUE(fit.ok);
  EXPECT_THAT(fit.flags, flag("too_few_samples"));
  EXPECT_THAT(fit.flags, flag("meter_too_slow"));
  plan.counts = {12};
  EXPECT_FALSE(fit_of(generate(plan)).ok) << "three pieces for three coefficients";
}

TEST(PowerFit, PowerThatSagsOverTheCoresIsTold) {
  Plan plan;
  plan.ghz = {2.3};
  plan.noise_w = 0.5;
  std::vector<core::PowerSample> samples = generate(plan);
  EXPECT_THAT(fit_of(samples).flags, Not(flag("nonlinear")));
  for (core::PowerSample& sample : samples)
    if (sample.state == "dgemm" && sample.used) sample.power_w -= 0.15 * sample.active_cores * sample.active_cores;
  EXPECT_THAT(fit_of(samples).flags, flag("nonlinear"));
}

/// The fit of n-1 and n-2, hosts of a cluster.
PowerFit fit_of_two_hosts(std::vector<core::PowerSample> samples, const std::vector<core::PowerSample>& more) {
  samples.insert(samples.end(), more.begin(), more.end());
  const core::Hosts hosts = core::Hosts::make({"n-[1-2]", 12, 2, {}, 0});
  PowerFitOptions options;
  options.hosts = &hosts;
  return fit_of(samples, options);
}

TEST(PowerFit, EachHostHasWattsOfItsOwnInACluster) {
  Truth warm;
  warm.idle_w += 11;  // as taurus-12 in the published measurements
  Plan plan;
  plan.ghz = {2.3};
  const PowerFit fit = fit_of_two_hosts(generate(plan, {}, "n-1"), generate(plan, warm, "n-2"));
  ASSERT_TRUE(fit.ok) << fit.reason;
  ASSERT_EQ(fit.hosts.size(), 2U);
  EXPECT_NEAR(fit.all.idle_w, Truth().idle_w + 5.5, 1e-8) << "as many pieces of both";
  EXPECT_NEAR(fit.model.idle(1).at(std::nullopt), warm.idle_w, 1e-8);
  EXPECT_NEAR(fit.model.idle(0).at(std::nullopt), Truth().idle_w, 1e-8);
  EXPECT_THAT(fit.flags, flag("hosts_differ"));
}

/// Without idle pieces, and with power that grows faster than the active cores.
std::vector<core::PowerSample> growing(const std::string& host) {
  Plan plan;
  plan.ghz = {2.3};
  std::vector<core::PowerSample> samples;
  for (core::PowerSample& sample : generate(plan, {}, host)) {
    if (sample.active_cores == 0) continue;
    sample.power_w = 1 + 2.0 * sample.active_cores * sample.active_cores;
    samples.push_back(sample);
  }
  return samples;
}

TEST(PowerFit, IdleBelowZeroIsNoFit) {
  const PowerFit fit = fit_of(growing("node"));
  EXPECT_FALSE(fit.ok);
  EXPECT_THAT(fit.reason, ::testing::HasSubstr("idle hosts would draw -"));
}

TEST(PowerFit, AHostThatCannotBeFittedHasTheWattsOfAll) {
  Plan plan;
  plan.ghz = {2.3};
  const PowerFit fit = fit_of_two_hosts(growing("n-2"), generate(plan, {}, "n-1"));
  ASSERT_TRUE(fit.ok) << fit.reason;
  EXPECT_THAT(fit.flags, flag("not_fitted"));
  ASSERT_EQ(fit.model.values().overrides.size(), 1U);
  EXPECT_EQ(fit.model.values().overrides[0].host, 0);
}

TEST(PowerRows, PackagesAndMemoriesAddUpAndPsysDoesNot) {
  std::vector<core::PowerSample> samples;
  const auto add = [&](const std::string& sensor, core::PowerDomain domain, double watts, long piece) {
    core::PowerSample sample;
    sample.host = "node";
    sample.sensor = sensor;
    sample.domain = domain;
    sample.power_w = watts;
    sample.piece = piece;
    sample.state = "dgemm";
    sample.active_cores = 2;
    sample.cores = 2;
    samples.push_back(sample);
  };
  for (const long piece : {1, 2}) {
    add("package-0", core::PowerDomain::package, 100, piece);
    add("package-0 dram", core::PowerDomain::dram, 12, piece);
    add("psys", core::PowerDomain::platform, 150, piece);
  }
  add("package-0", core::PowerDomain::package, 100, 3);  // its memory has vanished
  const PowerRows rows = power_rows(samples);
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows.rows.front().power_w, 112);
  EXPECT_EQ(rows.incomplete, 1U);
  EXPECT_DOUBLE_EQ(power_rows(samples, {"psys"}).rows.front().power_w, 150);
  EXPECT_THROW(power_rows(samples, {"dcmi"}), core::Error);
}

}  // namespace
}  // namespace hplcast::fit
