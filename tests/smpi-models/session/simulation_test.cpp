#include "tests/smpi-models/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::smpi_models {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using tests::example_cluster;
using tests::facts;
using tests::numbers;
using tests::PlatformKind;
using tests::simulate;
using tests::Simulation;

std::string stats_of(const std::string& name) {
  std::ifstream in(tests::simulation_folder(name) / "stats.json");
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// --- delays
// -------------------------------------------------------------------------------------------------------------

TEST(Delays, AreSpentExactlyAndAddUp) {
  const std::vector<std::string> texts = {"1e-9", "3.3e-7", "0.1", "1e-12", "0.7", "25000.3"};
  Simulation simulation{example_cluster(true), 8, {"delays"}};
  simulation.arguments.insert(simulation.arguments.end(), texts.begin(), texts.end());
  const core::CommandResult result = simulate(simulation, "delays");
  ASSERT_EQ(result.status, 0) << result.output;
  double sum = 0;
  for (const std::string& text : texts) sum += std::stod(text);
  for (int rank = 0; rank < 8; ++rank) {
    const std::vector<double> each = numbers(result.output, rank, "one");
    ASSERT_THAT(each, SizeIs(texts.size()));
    // The clock is a double: differences are exact to its rounding, 4e-12 s at 25,000 s and 1e-15 s below 10 s.
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_NEAR(each[i], std::stod(texts[i]), 1e-15 + 1e-12 * std::stod(texts[i]));
    EXPECT_NEAR(numbers(result.output, rank, "each").at(0), sum, 1e-12 * sum);
    EXPECT_NEAR(numbers(result.output, rank, "together").at(0), sum, 1e-12 * sum);
  }
}

TEST(Delays, NeedNoModel) {
  Simulation simulation{example_cluster(true), 2, {"delays", "0.5"}};
  simulation.set_cluster = false;
  const core::CommandResult result = simulate(simulation, "delays_without_model");
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(numbers(result.output, 1, "one"), std::vector<double>{0.5});
}

TEST(Delays, ThatAreNotFiniteEndTheSimulation) {
  const core::CommandResult result = simulate({example_cluster(true), 1, {"delays", "nan"}}, "delay_nan");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("delay"));
}

// --- kernels
// ------------------------------------------------------------------------------------------------------------

/// The duration that the evaluator of core gives to call `call` of a kernel of the probe by `rank`.
double expected_s(const core::ClusterModel& cluster, int rank, core::KernelId kernel, std::uint64_t call, bool noise) {
  const int cores = cluster.hosts.values().cores;
  const auto n = static_cast<double>(call);
  const core::KernelShape shape = kernel == core::KernelId::dgemm ? core::KernelShape{100 + 10 * n, 200, 64}
                                                                  : core::KernelShape{1, 1000 * (n + 1), 1};
  const core::DurationLaw& law = cluster.kernels.at(core::to_string(kernel))
                                     .law(rank / cores, cluster.hosts.cpu_of(rank / cores, rank % cores))
                                     .at(shape);
  const core::Draw draw =
      core::draw({1, core::stream_kernel, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(kernel)}, call);
  return std::max(0.0, noise ? law.sample_s(shape, draw) : law.mean_s(shape));
}

void expect_kernels(const core::CommandResult& result, const core::ClusterModel& cluster, bool noise) {
  ASSERT_EQ(result.status, 0) << result.output;
  for (int rank = 0; rank < 8; ++rank) {
    for (const core::KernelId kernel : {core::KernelId::dgemm, core::KernelId::dscal}) {
      const std::vector<double> times = numbers(result.output, rank, core::to_string(kernel));
      ASSERT_THAT(times, SizeIs(10));
      for (std::size_t call = 0; call < times.size(); ++call) {
        // Differences of two clock readings below 1 s: some units of 1e-16.
        EXPECT_NEAR(times[call], expected_s(cluster, rank, kernel, call, noise), 1e-15) << rank << " " << call;
      }
    }
  }
}

TEST(Kernels, TakeTheDrawsOfTheirRankFromTheLawOfItsCpu) {
  const core::ClusterModel cluster = example_cluster(true);
  expect_kernels(simulate({cluster, 8, {"kernels"}}, "kernels"), cluster, true);
  // Host 1 has a law of its own for CPU 1, where local ranks 1 and 2 are: slower by a tenth.
  EXPECT_NEAR(expected_s(cluster, 5, core::KernelId::dgemm, 0, false),
              1.1 * expected_s(cluster, 4, core::KernelId::dgemm, 0, false), 1e-15);
}

TEST(Kernels, WithoutNoiseTakeTheirExpectedTime) {
  const core::ClusterModel cluster = example_cluster(true);
  Simulation simulation{cluster, 8, {"kernels"}};
  simulation.settings.noise = false;
  expect_kernels(simulate(simulation, "kernels_no_noise"), cluster, false);
}

TEST(Kernels, AreTheSameInEveryRunAndOtherWithAnotherSeed) {
  const Simulation simulation{example_cluster(true), 8, {"kernels"}};
  const std::string first = simulate(simulation, "seed").output;
  EXPECT_EQ(simulate(simulation, "seed").output, first);
  Simulation other = simulation;
  other.settings.seed = 2;
  EXPECT_NE(simulate(other, "seed").output, first);
}

TEST(Kernels, AreCountedWithWhatLiesOutsideTheFit) {
  ASSERT_EQ(simulate({example_cluster(true), 8, {"kernels"}}, "counts").status, 0);
  const std::string stats = stats_of("counts");
  // dgemm was fitted up to m = 150: four of ten calls of each rank are larger. The call with m = 0 is none.
  EXPECT_THAT(stats, HasSubstr("\"dgemm\": {\n      \"calls\": 80,\n      \"outside_range\": 32,"));
  EXPECT_THAT(stats, HasSubstr("\"flop\": 296960000.0"));
  EXPECT_THAT(stats,
              HasSubstr("\"dswap\": {\n      \"calls\": 8,\n      \"outside_range\": 0,\n      \"time_s\": 0.0"));
  EXPECT_THAT(stats, HasSubstr("\"isend\": {\n      \"calls\": 2,\n      \"outside_range\": 1,"));
  EXPECT_THAT(stats, HasSubstr("\"ranks\": 8"));
  EXPECT_THAT(stats, ContainsRegex("\"simulator\": \"SimGrid [34]\\.[0-9]+\""));
  EXPECT_THAT(stats, HasSubstr(core::cluster_sha256(example_cluster(true))));
}

TEST(Kernels, WithoutAModelEndTheSimulation) {
  Simulation simulation{example_cluster(true), 2, {"kernels"}};
  simulation.set_cluster = false;
  const core::CommandResult result = simulate(simulation, "no_model");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("HPLCAST_SIMULATION"));
}

TEST(Kernels, OnAPlatformWithoutCostsOfMessagesEndTheSimulation) {
  const std::filesystem::path folder = tests::simulation_folder("own_platform");
  Simulation simulation{example_cluster(true), 2, {"kernels"}};
  ASSERT_EQ(simulate(simulation, "own_platform").status, 0);
  core::write_file(folder / "own.xml", [](std::ostream& out) {
    out << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\"><cluster id=\"mine\" prefix=\"a-\" suffix=\"\" radical=\"1-2\" speed=\"1Gf\" "
           "bw=\"1GBps\" lat=\"1us\"/></platform>\n";
  });
  core::write_file(folder / "own.hosts", [](std::ostream& out) { out << "a-1\na-2\n"; });
  const auto run = [&](const std::string& option) {
    core::Command command;
    command.program = HPLCAST_SMPIRUN;
    command.arguments = {"-np",       "2",           "-platform", "own.xml", "-hostfile",
                         "own.hosts", HPLCAST_PROBE, "delays",    "0.001"};
    if (!option.empty()) command.arguments.insert(command.arguments.begin(), option);
    command.environment["HPLCAST_SIMULATION"] = "own.json";
    command.directory = folder;
    command.timeout_s = 60;
    return core::run(command);
  };
  core::write_file(folder / "own.json",
                   [](std::ostream& out) { core::write_simulation_settings(out, core::SimulationSettings()); });
  const core::CommandResult result = run("");
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("`platform with host` is a-1; expected a platform with measured costs"));
  EXPECT_THAT(result.output, HasSubstr("needs the <config> of `hplcast emit CLUSTER.json --platform platform.xml`"));
  EXPECT_EQ(run("--cfg=smpi/os:0:0:0").status, 0);
}

TEST(Kernels, OnAHostThatTheModelDoesNotHaveEndTheSimulation) {
  core::ClusterModel other = example_cluster(true);
  other.hosts = core::Hosts::make({"other-[1-2]", 4, 2, {}, 0});
  core::write_file(tests::simulation_folder("foreign") / "other.json",
                   [&](std::ostream& out) { core::write_cluster(out, other); });
  Simulation simulation{example_cluster(true), 2, {"kernels"}};
  simulation.set_cluster = false;
  simulation.settings.cluster = "other.json";
  const core::CommandResult result = simulate(simulation, "foreign");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("`host of rank 0` is n-1"));
}

TEST(Kernels, FromModelHAndFromClusterJsonAreEqualToTheLastDigit) {
  core::ClusterModel cluster = example_cluster(true);
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.kinds = {{"other", "n-2", 5, 3, {core::RankToCpu::Kind::list, {0, 2, 1, 1, 0}}, 0, 1}};  // 1: of its own law
  cluster.hosts = core::Hosts::make(hosts);
  const std::filesystem::path folder = tests::simulation_folder("model_h");
  core::write_file(folder / "model.h", [&](std::ostream& out) { platforms::write_model_h(out, cluster); });
  core::run_checked({HPLCAST_SMPICC,
                     {"-O2", "-I" HPLCAST_SOURCE_DIR "/smpi-models/include", "-I" HPLCAST_SOURCE_DIR "/core/include",
                      "-DPROBE_MODEL_H=\"" + (folder / "model.h").string() + "\"",
                      std::string(HPLCAST_SOURCE_DIR) + "/tests/smpi-models/probes/probe.c", "-o", "probe_with_model",
                      "-L" HPLCAST_LIBRARY_DIR, "-lhplcast-smpi", "-Wl,-rpath," HPLCAST_LIBRARY_DIR},
                     {},
                     folder,
                     {},
                     60,
                     {}});
  Simulation simulation{cluster, 8, {"kernels"}};
  const std::string from_json = simulate(simulation, "model_json").output;
  simulation.set_cluster = false;
  simulation.program = (folder / "probe_with_model").string();
  EXPECT_EQ(simulate(simulation, "model_h").output, from_json);
  EXPECT_THAT(stats_of("model_h"), HasSubstr("\"model_source\": \"model.h\""));
  EXPECT_THAT(stats_of("model_h"), HasSubstr(core::cluster_sha256(cluster)));
  // A copy of the program for each rank registers the model once a rank, and shares the state of the simulation.
  simulation.options = {"--cfg=smpi/privatization:dlopen"};
  EXPECT_EQ(simulate(simulation, "model_h_dlopen").output, from_json);
}

// --- pivots
// -------------------------------------------------------------------------------------------------------------

TEST(Pivots, AreUniformOverTheRowsOfAllRanks) {
  // 4 ranks with 7 candidates each, 4000 columns: the winner is uniform over the 28 rows.
  const core::CommandResult result = simulate({example_cluster(true), 4, {"pivots", "4000", "7"}}, "pivots");
  ASSERT_EQ(result.status, 0) << result.output;
  std::vector<std::vector<double>> largest;
  std::vector<std::vector<double>> rows;
  for (int rank = 0; rank < 4; ++rank) {
    largest.push_back(numbers(result.output, rank, "pivot", 0));
    rows.push_back(numbers(result.output, rank, "pivot", 1));
  }
  std::vector<double> winners(28, 0);
  for (std::size_t column = 0; column < 4000; ++column) {
    std::size_t best = 0;
    for (std::size_t rank = 1; rank < 4; ++rank) {
      if (largest[rank][column] > largest[best][column]) best = rank;
    }
    ++winners[best * 7 + static_cast<std::size_t>(rows[best][column])];
  }
  double chi_square = 0;
  for (const double count : winners) chi_square += std::pow(count - 4000.0 / 28, 2) / (4000.0 / 28);
  EXPECT_LT(chi_square, 55.5);  // 0.999 quantile of chi-square with 27 degrees of freedom; the seed is fixed
}

// --- messages
// -----------------------------------------------------------------------------------------------------------

const std::vector<std::string> sizes = {"1", "8000", "8001", "63999", "64000", "1000000"};

/// What a message of the probe takes from the call of the send until it is received.
double one_way_s(const core::NetworkModel& network, core::Scope scope, bool blocking, double size) {
  const core::ScopeModel& costs = network.scope(scope);
  const bool detached = size < static_cast<double>(network.values().detached_bytes);
  double time = costs.cost(core::MessageCost::transfer).mean_s(size);
  if (detached) time += costs.cost(core::MessageCost::recv).mean_s(size);
  if (!blocking) time += costs.cost(core::MessageCost::isend).mean_s(size);
  if (blocking && detached) time += costs.cost(core::MessageCost::send).mean_s(size);
  return time;
}

/// `tolerance` is relative.
void expect_messages(Simulation simulation, core::Scope scope, const core::NetworkModel& network, double tolerance,
                     const std::string& name) {
  const int peer = scope == core::Scope::local ? 3 : 4;
  simulation.ranks = 5;
  simulation.arguments = {"messages", std::to_string(peer)};
  simulation.arguments.insert(simulation.arguments.end(), sizes.begin(), sizes.end());
  const core::CommandResult result = simulate(simulation, name);
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("WARNING")));
  for (const bool blocking : {false, true}) {
    const std::vector<double> times = numbers(result.output, peer, blocking ? "blocking" : "nonblocking", 1);
    ASSERT_THAT(times, SizeIs(sizes.size())) << result.output;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double expected = one_way_s(network, scope, blocking, std::stod(sizes[i]));
      EXPECT_NEAR(times[i], expected, tolerance * expected) << sizes[i] << (blocking ? " send" : " isend");
    }
  }
}

// 1e-6: short messages end some 1e-13 s off at clocks of 100 s, and SimGrid ends an action within surf/precision.
constexpr double message_tolerance = 1e-6;

TEST(Messages, TakeTheTimeOfTheModelOnPlatformXml) {
  const core::ClusterModel cluster = example_cluster(true);
  expect_messages({cluster}, core::Scope::remote, cluster.network, message_tolerance, "xml_remote");
  expect_messages({cluster}, core::Scope::local, cluster.network, message_tolerance, "xml_local");
}

TEST(Messages, OfOneHostTakeItsLocalTimeOnPlatformXml) {
  const core::ClusterModel cluster =
      tests::with_network(example_cluster(false), [](auto& network) { network.remote.reset(); });
  expect_messages({cluster}, core::Scope::local, cluster.network, message_tolerance, "xml_one_host");
}

TEST(Messages, TakeTheTimeOfTheirScopeOnThePlatformLibrary) {
  const core::ClusterModel cluster = example_cluster(false);
  Simulation simulation{cluster};
  simulation.platform = PlatformKind::library;
  expect_messages(simulation, core::Scope::remote, cluster.network, message_tolerance, "library_remote");
  expect_messages(simulation, core::Scope::local, cluster.network, message_tolerance, "library_local");
}

TEST(Messages, ThatShareALinkShareItAlikeWithAndWithoutLatency) {
  // From 4 MB on the line starts below zero: such a message has no latency in SimGrid.
  const core::ClusterModel cluster =
      tests::with_network(example_cluster(false), [](core::NetworkModel::Values& network) {
        network.remote->cost(core::MessageCost::transfer) =
            core::SegmentedLaw::make({{0, 1e-5, 1 / 1.25e10}, {4e6, -1e-6, 1 / 1.25e10}});
      });
  const Simulation simulation{
      cluster, 8, {"together", "3999000", "3999000", "4001000", "4001000"}, PlatformKind::library};
  for (const char* crosstraffic : {"no", "yes"}) {
    Simulation variant = simulation;
    variant.options = {std::string("--cfg=network/crosstraffic:") + crosstraffic};
    const core::CommandResult result = simulate(variant, "together");
    ASSERT_EQ(result.status, 0) << result.output;
    for (int rank = 4; rank < 8; ++rank) {
      // Four flows of 4 MB on one link: 1.28 ms, less what a flow has alone at its start or end (some 10 us).
      EXPECT_NEAR(numbers(result.output, rank, "together", 1).at(0), 4 * 4e6 / 1.25e10, 2e-5) << rank;
    }
  }
}

TEST(Messages, CrossEveryTopologyOfBothPlatforms) {
  for (const core::Topology& topology :
       {core::Topology{core::FatTree{{2}, {1}, {1}}}, core::Topology{core::Torus{{2, 1}}},
        core::Topology{core::Dragonfly{{1, 1}, {1, 1}, {1, 1}, 2}},
        core::Topology{core::SingleSwitch{core::Backbone{1e11, 2e-7}}}}) {
    const std::string kind = core::kind_of(topology);
    const core::ClusterModel cluster =
        tests::with_network(example_cluster(true), [&](auto& network) { network.topology = topology; });
    for (const PlatformKind platform : {PlatformKind::xml, PlatformKind::library}) {
      Simulation simulation{cluster, 5, {"messages", "4", "1000"}, platform};
      const core::CommandResult result = simulate(simulation, "topology");
      ASSERT_EQ(result.status, 0) << kind << "\n" << result.output;
      // A torus has one link where others, and the network that was measured, have two.
      const core::ScopeModel& remote = cluster.network.scope(core::Scope::remote);
      const core::Segment& transfer = remote.cost(core::MessageCost::transfer).at(1000);
      const core::MessageFlow flow =
          core::message_flow(remote.cost(core::MessageCost::transfer).mean_s(1000), 0, transfer.slope_s_per_byte,
                             1000 + core::smpi_envelope_bytes, core::link_limit(remote, core::Scope::remote));
      const double expected =
          one_way_s(cluster.network, core::Scope::remote, true, 1000) - (kind == "torus" ? flow.latency_s / 2 : 0);
      EXPECT_NEAR(numbers(result.output, 4, "blocking", 1).at(0), expected, message_tolerance * expected) << kind;
    }
  }
}

TEST(Messages, OfANoisyNetworkAreTheSameInEveryRun) {
  const core::ClusterModel cluster =
      tests::with_network(example_cluster(false), [](core::NetworkModel::Values& network) {
        network.remote->cost(core::MessageCost::transfer) =
            core::SegmentedLaw::make({{0, 0, 1e-10, 0, {{0.5, 1e-6, 1e-7}, {0.5, 3e-6, 0}}}});
      });
  Simulation simulation{cluster, 5, {"messages", "4", "100", "100", "100", "100"}, PlatformKind::library};
  const std::string first = simulate(simulation, "noisy").output;
  const std::vector<double> times = numbers(first, 4, "blocking", 1);
  ASSERT_THAT(times, SizeIs(4)) << first;
  EXPECT_GT(*std::max_element(times.begin(), times.end()), *std::min_element(times.begin(), times.end()));
  EXPECT_EQ(simulate(simulation, "noisy").output, first);
  simulation.settings.network_noise = false;
  EXPECT_NEAR(numbers(simulate(simulation, "noisy").output, 4, "blocking", 1).at(0),
              one_way_s(cluster.network, core::Scope::remote, true, 100), 1e-12);
}

// --- settings
// ------------------------------------------------------------------------------------------------------------

TEST(Settings, AreTheDefaultsWhereNobodyNamesAFile) {
  Simulation simulation{example_cluster(true), 2, {"delays", "0.5"}};
  simulation.name_settings = false;
  std::filesystem::remove(tests::simulation_folder("no_settings") / "stats.json");
  const core::CommandResult result = simulate(simulation, "no_settings");
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(numbers(result.output, 1, "one"), std::vector<double>{0.5});
  EXPECT_FALSE(std::filesystem::exists(tests::simulation_folder("no_settings") / "stats.json"));
}

TEST(Settings, ThatAreUnknownOrOfAnotherVersionEndTheSimulation) {
  Simulation simulation{example_cluster(true), 2, {"delays", "0.5"}};
  for (const auto& [text, why] :
       {std::pair(R"({"schema_version": 1, "observation": {"phase": true}})", "observation/phase"),
        std::pair(R"({"schema_version": 7})", "version 7"), std::pair("{}", "missing"),
        std::pair("HPLCAST_SEED=1", "not JSON")}) {
    simulation.settings_text = text;
    const core::CommandResult result = simulate(simulation, "wrong_settings");
    EXPECT_EQ(result.status, 3) << text;
    EXPECT_THAT(result.output, HasSubstr(why));
  }
}

// --- polling
// ------------------------------------------------------------------------------------------------------------

TEST(Polling, FindsAMessageAtMostOneProbeLaterThanWithEveryProbe) {
  Simulation simulation{example_cluster(true), 2, {"polling", "0.01"}};
  const std::string waited = simulate(simulation, "polling").output;
  simulation.settings.diagnosis.poll_by_waiting = false;
  const std::string probed = simulate(simulation, "polling_probe").output;
  const double probe_s = example_cluster(true).network.values().iprobe_s;
  EXPECT_NEAR(numbers(waited, 1, "found").at(0), numbers(probed, 1, "found").at(0), 1.01 * probe_s);
  EXPECT_LT(numbers(waited, 1, "found", 1).at(0), 30) << "the send takes the time of some probes to be seen";
  EXPECT_GT(numbers(probed, 1, "found", 1).at(0), 40000);
}

TEST(Polling, BetweenPiecesOfWorkFindsAMessageWithTheSameProbeAsEveryProbe) {
  Simulation simulation{example_cluster(true), 2, {"working", "0.01", "0.0003"}, PlatformKind::library};
  const std::string asleep = simulate(simulation, "working").output;
  simulation.settings.diagnosis.poll_by_waiting = false;
  const std::string probed = simulate(simulation, "working_probe").output;
  const std::vector<double> probes = numbers(asleep, 1, "found", 1);
  ASSERT_THAT(probes, SizeIs(1)) << asleep;
  EXPECT_EQ(probes, numbers(probed, 1, "found", 1));
  // 0.01 s are 33 pieces and a part of the next.
  EXPECT_EQ(probes.at(0), 35);
  const double probe_s = example_cluster(true).network.values().iprobe_s;
  // Sums of the same 69 durations in another order: each rounds 0.01 s.
  constexpr double rounding_s = 69 * 0.01 * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(numbers(asleep, 1, "found").at(0), 34 * 0.0003 + 35 * probe_s, rounding_s);
  EXPECT_NEAR(numbers(probed, 1, "found").at(0), 34 * 0.0003 + 35 * probe_s, rounding_s);
}

TEST(Polling, OfARankThatSendsBeforeItHasFoundItsMessageEndsTheSimulation) {
  const Simulation simulation{example_cluster(true), 2, {"working", "0.01", "0.0003", "leaves"}, PlatformKind::library};
  const core::CommandResult result = simulate(simulation, "working_leaves");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("sends or receives in its own past"));
}

TEST(Polling, ForAMessageThatNobodySendsIsADeadlock) {
  const core::CommandResult result = simulate({example_cluster(true), 2, {"polling", "-1"}}, "polling_deadlock");
  EXPECT_FALSE(result.timed_out);
  EXPECT_THAT(result.output, HasSubstr("Deadlock"));
  EXPECT_THAT(stats_of("polling_deadlock"), HasSubstr("\"deadlock\": true"));
}

TEST(PlatformLibrary, SaysWhatIsWrongWithTheTopology) {
  const core::ClusterModel cluster =
      tests::with_network(example_cluster(false), [](auto& network) { network.topology = core::Torus{{3}}; });
  const core::CommandResult result = simulate({cluster, 2, {"delays", "1"}, PlatformKind::library}, "bad_topology");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("torus of 3 hosts; expected one of 2 hosts"));
}

TEST(PlatformLibrary, NeedsAClusterFile) {
  Simulation simulation{example_cluster(false), 2, {"delays", "1"}, PlatformKind::library};
  simulation.set_cluster = false;
  const core::CommandResult result = simulate(simulation, "library_without_cluster");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("HPLCAST_SIMULATION"));
}

}  // namespace
}  // namespace hplcast::smpi_models
