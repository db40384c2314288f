#include "hplcast/study/history_models.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

constexpr double mean_s = 8e-11, between_cpus = 0.03, common_day = 0.008, own_day = 0.003, fault = 1.06;
constexpr int hosts = 32, days = 120, fault_host = 7, fault_day = 80;
constexpr std::int64_t first_day_s = 1577836800;  // 2020-01-01

double normal(std::uint32_t kind, std::uint64_t number) {
  return core::draw({20, core::stream_generate, kind, 0}, number).normal;
}

/// Four months of 32 hosts with two CPUs each, of which one is cooled badly from its 80th day on, and a day on which
/// node-3 was logged as bad.
class HistoryModels : public ::testing::Test {
 protected:
  void SetUp() override {
    HistoryDatabase database(path_, HistoryDatabase::Access::write);
    database.add_source({"x", "x.csv"}, [&](const auto& add) {
      for (int day = 0; day < days; ++day) {
        CampaignRecord record;
        record.start_s = record.end_s = first_day_s + day * core::day_s + 3600;
        record.cluster = "c";
        for (int host = 1; host <= hosts; ++host) {
          const std::string name = "node-" + std::to_string(host);
          record.hosts.push_back(name);
          for (const int cpu : {0, 1}) {
            const auto number = static_cast<std::uint64_t>(2 * host + cpu);
            double mnk = mean_s * (1 + between_cpus * normal(1, number)) *
                         (1 + common_day * normal(2, static_cast<std::uint64_t>(day)) +
                          own_day * normal(3, number * days + static_cast<std::uint64_t>(day)));
            if (host == fault_host && day >= fault_day) mnk *= fault;
            if (host == 3 && day == 5) mnk *= 2;
            record.observations.push_back({{"c", name, cpu}, "dgemm_mnk", record.start_s, mnk});
            record.observations.push_back({{"c", name, cpu}, "dgemm_mnk_sd", record.start_s, 0.03 * mnk});
            record.observations.push_back({{"c", name, cpu}, "dgemm_gflops", record.start_s, 2e-9 / mnk});
          }
        }
        add(record);
      }
    });
    database.add_outlier({first_day_s + 5 * core::day_s, "all", "node-3", "", "another job"});
  }

  core::ClusterModel base(int cpus = 2) const {
    core::ClusterModel base;
    base.hosts = core::Hosts::make({"a,b", 4, cpus, {}, 1e9, 1});
    return base;
  }
  HistoryCluster between(int first, int last) const {
    const HistoryDatabase database(path_, HistoryDatabase::Access::read);
    return cluster_of_history(database, {"c", first_day_s + first * core::day_s, first_day_s + last * core::day_s},
                              base());
  }

  core::TemporaryFolder folder_{"hplcast-history-models"};
  std::filesystem::path path_ = folder_.path() / "history.db";
};

double mnk_of(const core::ClusterModel& cluster, const std::string& host, int cpu) {
  const auto& names = cluster.hosts.names();
  const auto index = std::find(names.begin(), names.end(), host) - names.begin();
  return cluster.kernels.at("dgemm").law(static_cast<int>(index), cpu).at({}).mean_s({1000, 1000, 1000}) / 1e9;
}

/// sqrt(freedom / chi^2) at 97.5 and 2.5 percent for 63 CPUs and 79 days: how far an estimated sd may be off.
constexpr double least_of_63 = 0.853, most_of_63 = 1.213, least_of_79 = 0.866, most_of_79 = 1.184;

TEST_F(HistoryModels, GiveWhatCpusAndDaysDifferBy) {
  const HistoryDatabase database(path_, HistoryDatabase::Access::read);
  fit::GenerativeFitOptions options;
  options.parameters = {core::parse_law_parameter("mnk"), core::parse_law_parameter("mnk_residual")};
  const HistorySpan healthy = {"c", std::nullopt, first_day_s + fault_day * core::day_s};
  const auto rows = daily_regressions(database, healthy, options.parameters);
  EXPECT_EQ(rows.size(), 2U * hosts * fault_day - 2) << "without the outlier, which node-3 had on both CPUs";
  const fit::GenerativeFit fit = fit_generative(rows, options);
  ASSERT_TRUE(fit.ok) << fit.reason;
  const core::NodeKind& kind = fit.model.kinds().front();
  EXPECT_NEAR(kind.mean[0] / mean_s, 1, 4 * between_cpus / std::sqrt(2.0 * hosts));
  const double cpus = std::sqrt(kind.between_cpus[0][0]) / mean_s / between_cpus;
  EXPECT_GT(cpus, least_of_63);
  EXPECT_LT(cpus, most_of_63);
  const double of_days = std::sqrt(kind.between_days[0][0]) / mean_s / std::hypot(common_day, own_day);
  EXPECT_GT(of_days, least_of_79);
  EXPECT_LT(of_days, most_of_79);
  const double common = day_to_day(database, healthy).sd / common_day;
  EXPECT_GT(common, least_of_79);
  EXPECT_LT(common, most_of_79);
}

TEST_F(HistoryModels, ShowTheFaultOfAHostInTheModelOfThatWeek) {
  const HistoryCluster before = between(0, 60), after = between(100, 107);
  EXPECT_EQ(before.cluster.hosts.count(), hosts);
  EXPECT_EQ(before.cpus, 2U * hosts);
  EXPECT_EQ(before.cluster.hosts.names()[1], "node-2") << "not node-10";
  // A week and two months share neither common nor own days: 4 standard deviations of their difference.
  const double error = 4 * std::hypot(common_day, own_day) * std::sqrt(1.0 / 7 + 1.0 / 60);
  EXPECT_NEAR(mnk_of(after.cluster, "node-7", 0) / mnk_of(before.cluster, "node-7", 0), fault, fault * error);
  EXPECT_NEAR(mnk_of(after.cluster, "node-8", 1) / mnk_of(before.cluster, "node-8", 1), 1, error);
  EXPECT_NEAR(mnk_of(before.cluster, "node-3", 0) / (mean_s * (1 + between_cpus * normal(1, 6))), 1, error)
      << "the outlier does not count";
  ASSERT_TRUE(after.cluster.uncertainty && after.cluster.uncertainty->between_days);
  EXPECT_EQ(after.cluster.uncertainty->days, 107);
  EXPECT_THAT(after.cluster.provenance, HasSubstr("\"history\""));
}

TEST_F(HistoryModels, LeaveHostsTheirGroupsAndWatts) {
  const HistoryDatabase database(path_, HistoryDatabase::Access::read);
  core::ClusterModel whole = base();
  whole.hosts = core::Hosts::make({"node-40,node-7,node-[1-6],node-[8-32]", 4, 2, {}, 1e9, 1});
  core::HostGroups groups;
  groups.groups.assign(33, 0);
  groups.groups[0] = groups.groups[1] = 1;
  groups.extra_latency_s = 1e-6;
  core::NetworkModel::Values network = whole.network.values();
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-6;
  network.topology = groups;
  whole.network = core::NetworkModel::make(network);
  core::PowerModel::Values power;
  core::PowerOverride seventh;
  seventh.host = 1;
  seventh.idle = 75;
  power.overrides = {seventh};
  whole.power = core::PowerModel::make(power);
  const core::ClusterModel made = cluster_of_history(database, {"c", {}, {}}, whole).cluster;
  ASSERT_EQ(made.hosts.count(), hosts) << "without node-40";
  const auto& left = std::get<core::HostGroups>(made.network.values().topology);
  ASSERT_EQ(left.groups.size(), 32U);
  for (int host = 0; host < hosts; ++host) {
    const bool is_seventh = made.hosts.names()[static_cast<std::size_t>(host)] == "node-7";
    EXPECT_EQ(left.groups[static_cast<std::size_t>(host)], is_seventh ? 1U : 0U) << host;
    EXPECT_EQ(made.power->idle(host).at({}), is_seventh ? 75 : 0) << host;
  }
  EXPECT_NEAR(
      mnk_of(made, "node-7", 0) / mnk_of(cluster_of_history(database, {"c", {}, {}}, base()).cluster, "node-7", 0), 1,
      1e-12);
  whole.hosts = core::Hosts::make({"node-[2-34]", 4, 2, {}, 1e9, 1});
  EXPECT_THAT(error_in([&] {
                cluster_of_history(database, {"c", {}, {}}, whole);
              }),
              HasSubstr("groups or watts of single hosts, and the history has hosts that the base lacks"));
}

// Kinds of hosts are such laws, too.
TEST_F(HistoryModels, KeepTheLawsOfOtherKernelsOfHostsThatStay) {
  const HistoryDatabase database(path_, HistoryDatabase::Access::read);
  const auto law = [](double mnk) {
    const auto mu = core::Polynomial::make({{1, 1, 1}}, {mnk});
    return core::PiecewiseLaw(core::DurationLaw::make(mu, {}, core::NoiseFamily::none));
  };
  core::ClusterModel whole = base();
  whole.kernels["dtrsm"] = core::KernelModel::make("M1", law(1e-10), {{7, 1, law(2e-10)}});
  const auto overrides = [&](const char* names) {
    whole.hosts = core::Hosts::make({names, 4, 2, {}, 1e9, 1});
    return cluster_of_history(database, {"c", {}, {}}, whole).cluster.kernels.at("dtrsm").overrides();
  };
  const auto kept = overrides("node-40,node-[1-32]");  // node-7, which is host 6 without node-40
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].host, 6);
  EXPECT_EQ(kept[0].cpu, 1);
  EXPECT_TRUE(overrides("others-[1-33]").empty());
}

TEST_F(HistoryModels, CountDaysSinceTheLastChangeOfAll) {
  HistoryDatabase database(path_, HistoryDatabase::Access::write);
  database.add_change({first_day_s + 90 * core::day_s, "all", "all", "BIOS", "new"});
  EXPECT_EQ(between(100, 107).days.days, 17);
  constexpr std::int64_t year_3000_s = 32503680000;
  database.add_change({year_3000_s, "all", "all", "BIOS", "planned"});
  EXPECT_EQ(cluster_of_history(database, {"c", {}, {}}, base()).days.days, days - 90);
}

// Ten nights of four hosts, measured in turn from ten to midnight on: the last two after it.
TEST(HistoryModelsOfNights, CountACampaignBeyondMidnightOnce) {
  const core::TemporaryFolder folder("hplcast-history-nights");
  HistoryDatabase database(folder.path() / "history.db", HistoryDatabase::Access::write);
  database.add_source({"x", "x.csv"}, [&](const auto& add) {
    for (std::uint64_t night = 0; night < 10; ++night) {
      CampaignRecord record;
      record.start_s = record.end_s = first_day_s + static_cast<std::int64_t>(night + 1) * core::day_s - 600;
      record.cluster = "c";
      for (int host = 0; host < 4; ++host) {
        const Place place{"c", "node-" + std::to_string(host), 0};
        const double mnk = mean_s * (1 + common_day * normal(2, night));
        record.hosts.push_back(place.host);
        record.observations.push_back({place, "dgemm_mnk", record.start_s + 400 * host, mnk});
        record.observations.push_back({place, "dgemm_gflops", record.start_s + 400 * host, 2e-9 / mnk});
      }
      add(record);
    }
  });
  EXPECT_EQ(day_to_day(database, {"c", {}, {}}).days, 10);
  std::map<std::string, int> hosts_of_days;
  for (const auto& row : daily_regressions(database, {"c", {}, {}}, {core::parse_law_parameter("mnk")}))
    ++hosts_of_days[row.day];
  EXPECT_EQ(hosts_of_days.size(), 10U);
  EXPECT_EQ(hosts_of_days["2020-01-01"], 4);
}

TEST_F(HistoryModels, DrawDaysThatDifferAsTheHistorySays) {
  core::ClusterModel cluster = between(0, 79).cluster;
  const double expected = cluster.uncertainty->between_days->sd, mean = mnk_of(cluster, "node-1", 0);
  constexpr int draws = 400;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    const core::ClusterModel day = on_random_day(cluster, seed);
    squares += std::pow(std::log(mnk_of(day, "node-1", 0) / mean), 2) / draws;
  }
  EXPECT_NEAR(std::sqrt(squares) / expected, 1, 4 / std::sqrt(2.0 * draws));
  cluster.uncertainty.reset();
  EXPECT_THAT(error_in([&] { on_random_day(cluster, 1); }), HasSubstr("does not know how days differ"));
}

TEST_F(HistoryModels, RefuseWhatTheHistoryDoesNotHave) {
  const HistoryDatabase database(path_, HistoryDatabase::Access::read);
  EXPECT_THAT(error_in([&] { between(200, 210); }), HasSubstr("no models of dgemm by CPU in this span"));
  EXPECT_THAT(error_in([&] {
                cluster_of_history(database, {"c", {}, {}}, base(1));
              }),
              HasSubstr("has CPUs 1, the base has 1"));
  EXPECT_THAT(error_in([&] {
                daily_regressions(database, {"c", {}, {}}, {core::parse_law_parameter("m")});
              }),
              HasSubstr("does not keep the coefficient m"));
  core::ClusterModel torus = base();
  core::NetworkModel::Values network = torus.network.values();
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-6;
  network.topology = core::Torus{{2, 1, 1}};
  torus.network = core::NetworkModel::make(network);
  EXPECT_THAT(error_in([&] {
                cluster_of_history(database, {"c", {}, {}}, torus);
              }),
              HasSubstr("the 2 hosts that its torus joins"));
}

}  // namespace
}  // namespace hplcast::study
