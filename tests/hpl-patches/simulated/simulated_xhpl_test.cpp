// The simulated xhpl under smpirun: with models off it solves its system, with models on it does HPL's work in HPL's
// order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "tests/hpl-patches/runs.hpp"
#include "tests/hpl-patches/totals.hpp"
#include "tests/support/asked.hpp"

namespace hplcast::hpl_patches {
namespace {

using ::testing::HasSubstr;

const std::string platform_library = HPLCAST_BINARY_DIR "/lib/libhplcast-platform.so";

class SimulatedXhpl : public ::testing::Test {
 protected:
  SimulatedXhpl() {
    core::read_file(HPLCAST_SOURCE_DIR "/examples/dahu-like.json",
                    [&](std::istream& in, const std::string& name) { cluster_ = core::read_cluster(in, name); });
    write_cluster_files();
  }

  /// All alike, with one CPU each.
  void use_hosts(const std::string& names, int cores) {
    core::Hosts::Values hosts = cluster_.hosts.values();
    hosts.names = names;
    hosts.cores = cores;
    hosts.cpus = 1;
    hosts.rank_to_cpu = {};
    cluster_.hosts = core::Hosts::make(hosts);
    for (auto& [name, kernel] : cluster_.kernels) {
      kernel = core::KernelModel::make(kernel.level(), kernel.cluster_law(), {}, kernel.range());
    }
  }

  /// Link sharing and the order of events make single runs differ at random, so means over seeds are compared: they
  /// differ by no more than 0.5 % and twice the standard error of the difference.
  void expect_fast_close_to_exact(const core::HplParameters& parameters) {
    std::vector<double> differences;
    const long seeds = test::asked("HPLCAST_SEEDS", 3);
    for (long seed = 1; seed <= seeds; ++seed) {
      settings_.seed = static_cast<std::uint64_t>(seed);
      settings_.fast = false;
      const double exact_s = simulate(parameters).time_s;
      settings_.fast = true;
      differences.push_back(exact_s / simulate(parameters).time_s - 1);
      EXPECT_GT(statistics().at("fast_error_95_s").get<double>(), 0);
    }
    const auto runs = static_cast<double>(differences.size());
    const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / runs;
    double squares = 0;
    for (const double one : differences) squares += (one - mean) * (one - mean);
    EXPECT_LT(std::abs(mean), 0.005 + 2 * std::sqrt(squares / (runs - 1) / runs)) << core::to_string(parameters);
  }

  void write_cluster_files() const {
    core::write_file(folder_ / "cluster.json", [&](std::ostream& out) { core::write_cluster(out, cluster_); });
    core::write_file(folder_ / "platform.xml",
                     [&](std::ostream& out) { platforms::write_platform_xml(out, cluster_); });
  }

  /// Runs the HPL.dat of the folder.
  core::CommandResult smpirun(const std::string& program, int ranks, const std::string& privatization = "no") const {
    core::write_file(folder_ / "hostfile", [&](std::ostream& out) { platforms::write_hostfile(out, cluster_, ranks); });
    core::Command command;
    command.program = HPLCAST_SMPIRUN;
    command.arguments = {"-np", std::to_string(ranks), "-hostfile", "hostfile", "-platform", platform_};
    for (const std::string& option : platforms::smpi_options()) command.arguments.push_back(option);
    command.arguments.push_back("--cfg=smpi/privatization:" + privatization);
    command.arguments.push_back(program);
    command.environment = run_environment();
    core::SimulationSettings settings = settings_;
    settings.result = "stats.json";
    settings.cluster = "cluster.json";
    const std::filesystem::path file = folder_ / "settings.json";
    core::write_file(file, [&](std::ostream& out) { core::write_simulation_settings(out, settings); });
    command.environment["HPLCAST_SIMULATION"] = file.string();
    command.directory = folder_.path();
    command.timeout_s = 300;
    return core::run(command);
  }

  /// The one run of a configuration. Fails the test if there is not exactly one.
  core::HplRun simulate(const core::HplParameters& parameters) const {
    write_dat(folder_.path(), parameters, false);
    const auto result = smpirun(program_path("xhpl-smpi"), parameters.P * parameters.Q);
    EXPECT_EQ(result.status, 0) << result.output;
    const auto runs = runs_in(result.output);
    EXPECT_EQ(runs.size(), 1U) << result.output;
    return runs.empty() ? core::HplRun{} : runs[0];
  }

  /// Times in s with sleeping ranks, and with every probe simulated.
  std::pair<double, double> waited_and_probed_s(int n, int p, int q) {
    core::HplParameters parameters = configuration(n, 32, p, q);
    parameters.DEPTH = 1;
    settings_.diagnosis.poll_by_waiting = true;
    const double waited_s = simulate(parameters).time_s;
    settings_.diagnosis.poll_by_waiting = false;
    return {waited_s, simulate(parameters).time_s};
  }

  /// Runs the HPL.dat of the folder with messages through SMPI and without, and compares times and counts.
  void expect_times_of_smpi(int ranks, int runs) {
    platform_ = platform_library;
    settings_.diagnosis.poll_by_waiting = false;
    settings_.network_noise = false;  // draws are made in another order
    std::map<std::string, std::vector<double>> times_s;
    std::map<std::string, nlohmann::json> messages;
    for (const char* way : {"smpi", "direct"}) {
      settings_.diagnosis.direct_messages = way == std::string("direct");
      const auto result = smpirun(program_path("xhpl-smpi"), ranks);
      ASSERT_EQ(result.status, 0) << result.output;
      times_s[way] = statistics().at("times_s").get<std::vector<double>>();
      messages[way] = statistics().at("messages");
    }
    ASSERT_EQ(times_s["smpi"].size(), static_cast<std::size_t>(runs));
    // SimGrid resolves 1e-12 s, here in each of some 1000 delays in a row, in runs of some 5 ms.
    for (std::size_t i = 0; i < times_s["smpi"].size(); ++i) {
      EXPECT_NEAR(times_s["direct"].at(i) / times_s["smpi"][i], 1, 2e-7) << "run " << i;
    }
    EXPECT_EQ(messages["direct"], messages["smpi"]);
  }

  nlohmann::json statistics() const { return nlohmann::json::parse(read_text(folder_ / "stats.json")); }

  double flop_of_last_run() const {
    const nlohmann::json kernels = statistics().at("kernels");
    double flop = 0;
    for (const auto& [kernel, count] : kernels.items()) flop += count.at("flop").get<double>();
    return flop;
  }

  core::CommandResult build_xhpl(const std::vector<std::string>& arguments) const {
    return core::run({program_path("hplcast-build-xhpl"), arguments, {}, folder_.path(), {}, 60, {}});
  }

  ScratchFolder folder_;
  core::ClusterModel cluster_;
  std::string platform_ = "platform.xml";
  core::SimulationSettings settings_;
};

/// Lists of HPL.dat, as many values as there are words.
struct Lists {
  std::string p = "2 3 1", q = "3 2 6";
  std::string pfact = "0 1 2";
};

/// HPL.dat with every broadcast and depth, on three grids of six ranks with every panel factorisation, or as `lists`
/// say.
std::string factorial_dat(int n, int nb, int swap, int l1, int u, bool check, const Lists& lists = {}) {
  const auto line = [](auto value) { return std::to_string(value) + "\n"; };
  const auto count = [&](const std::string& list) { return line(1 + std::count(list.begin(), list.end(), ' ')); };
  return "HPL\nfactorial\nHPL.out\n6\n1\n" + line(n) + "1\n" + line(nb) + "0\n" + count(lists.p) + lists.p + "\n" +
         lists.q + "\n" + (check ? "16.0\n" : "-1.0\n") + count(lists.pfact) + lists.pfact +
         "\n1\n4\n1\n2\n1\n2\n6\n0 1 2 3 4 5\n3\n0 1 2\n" + line(swap) + "40\n" + line(l1) + line(u) + "1\n8\n";
}
constexpr int factorial_runs = 3 * 3 * 6 * 3;

/// The same with one panel factorisation: that of the number of `SWAP`.
Lists one_factorisation(int swap) {
  Lists lists;
  lists.pfact = std::to_string(swap);
  return lists;
}

TEST_F(SimulatedXhpl, SolvesItsSystemWithModelsOff) {
  for (const std::string privatization : {"no", "dlopen"}) {
    const bool all = privatization == "no";
    write_text(folder_ / "HPL.dat", factorial_dat(120, 16, 1, 0, 0, true, all ? Lists{} : one_factorisation(1)));
    const auto result = smpirun(program_path("xhpl-smpi-real"), 6, privatization);
    ASSERT_EQ(result.status, 0) << result.output;
    const auto runs = runs_in(result.output);
    EXPECT_EQ(runs.size(), static_cast<std::size_t>(factorial_runs / (all ? 1 : 3)));
    for (const auto& run : runs) EXPECT_TRUE(run.residual_passed) << core::to_string(run.parameters);
  }
}

TEST_F(SimulatedXhpl, EndsForEveryAlgorithmOfHpl) {
  for (const auto& [swap, l1, u] : {std::tuple{0, 0, 0}, {1, 1, 1}, {2, 0, 1}}) {
    write_text(folder_ / "HPL.dat", factorial_dat(100, 16, swap, l1, u, false, one_factorisation(swap)));
    const auto result = smpirun(program_path("xhpl-smpi"), 6);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(runs_in(result.output).size(), static_cast<std::size_t>(factorial_runs / 3)) << "SWAP=" << swap;
    EXPECT_EQ(statistics().at("times_s").size(), static_cast<std::size_t>(factorial_runs / 3));
  }
}

TEST_F(SimulatedXhpl, GivesTheSameTimesWithAndWithoutPrivatization) {
  write_dat(folder_.path(), configuration(1000, 64, 2, 3), false);
  for (const std::string& platform : {platform_, std::string(platform_library)}) {
    platform_ = platform;  // messages of SMPI, and those that need no pivots where ranks share them
    const auto shared = runs_in(smpirun(program_path("xhpl-smpi"), 6, "no").output);
    const auto separate = runs_in(smpirun(program_path("xhpl-smpi"), 6, "dlopen").output);
    ASSERT_EQ(shared.size(), 1U);
    ASSERT_EQ(separate.size(), 1U);
    EXPECT_EQ(shared[0].time_s, separate[0].time_s);
  }
}

TEST_F(SimulatedXhpl, CountsTheFlopOfTheFactorisation) {
  simulate(configuration(3000, 64, 1, 3));
  EXPECT_NEAR(flop_of_last_run() / core::hpl_flop(3000), 1, 0.01);
}

TEST_F(SimulatedXhpl, CountsTheFlopThatEachProcessRowRepeats) {
  // Each of the P process rows solves for all of U (jb x n left of each panel) and so does NB N^2 / 2 flop that HPL
  // counts once.
  simulate(configuration(4000, 64, 2, 2));
  const double repeated = (2 - 1) * 64.0 * 4000 * 4000 / 2;
  EXPECT_NEAR(flop_of_last_run() / (core::hpl_flop(4000) + repeated), 1, 0.01);
}

TEST_F(SimulatedXhpl, CallsItsKernelsAsTheRealOneDoes) {
  // With DEPTH 0 the number of calls does not depend on when a panel arrives; those of the row swap depend on the
  // pivots.
  for (const auto& [p, q] : {std::pair{1, 1}, {1, 2}, {2, 1}}) {
    auto parameters = configuration(500, 48, p, q);
    parameters.DEPTH = 0;
    simulate(parameters);
    const auto simulated = statistics().at("kernels");
    write_dat(folder_.path(), parameters, false);
    ASSERT_EQ(
        mpirun(folder_.path(), "xhpl-instrumented", p * q, {{"HPLCAST_KERNEL_TRACE", (folder_ / "trace").string()}})
            .status,
        0);
    std::map<std::string, KernelTotal> real;
    for (int rank = 0; rank < p * q; ++rank) {
      for (const auto& [kernel, total] : read_totals(folder_ / ("trace-" + std::to_string(rank) + ".totals.csv"))) {
        real[kernel].calls += total.calls;
        real[kernel].flop += total.flop;
      }
    }
    for (const char* kernel : {"dgemv", "dtrsv", "dscal", "idamax", "dlatcpy", "dlocswpT"}) {
      EXPECT_EQ(simulated.at(kernel).at("calls").get<long long>(), real.at(kernel).calls)
          << kernel << " on " << p << "x" << q;
    }
    // Row counts of a rank depend on nothing but the grid; the loop that waits for a panel cuts dgemm and dtrsm in
    // pieces.
    for (const char* kernel : {"dgemm", "dtrsm", "dgemv", "dscal"}) {
      EXPECT_EQ(simulated.at(kernel).at("flop").get<double>(), real.at(kernel).flop)
          << kernel << " on " << p << "x" << q;
    }
  }
}

TEST_F(SimulatedXhpl, RepeatsItselfToTheLastDigit) {
  const auto first = simulate(configuration(1500, 64, 2, 2));
  const auto second = simulate(configuration(1500, 64, 2, 2));
  EXPECT_EQ(first.time_s, second.time_s);
  EXPECT_GT(first.time_s, 0);
}

// High process columns probe between the steps of the row swap: a rank that slept there would hold up its column (it
// did: N=20,000 on 8x8 took 700 times too long).
TEST_F(SimulatedXhpl, WaitingInsteadOfPollingDoesNotChangeTheTime) {
  for (const auto& [p, q] : {std::pair(16, 2), std::pair(4, 4)}) {
    const auto [waited_s, probed_s] = waited_and_probed_s(400, p, q);
    // Every one of the 13 panels may be found one probe late by each of the Q ranks that forward it.
    const double bound_s = 13 * q * cluster_.network.values().iprobe_s;
    EXPECT_NEAR(waited_s, probed_s, bound_s) << p << "x" << q;
  }
}

// Some 10,000 delays in a row, each resolved to 1e-12 s, in some 5 ms.
constexpr double resolved = 2e-6;

TEST_F(SimulatedXhpl, WaitingInsteadOfPollingIsExactWithoutSmpi) {
  platform_ = platform_library;
  for (const auto& [p, q] : {std::pair(4, 4), std::pair(1, 6)}) {
    const auto [waited_s, probed_s] = waited_and_probed_s(800, p, q);
    EXPECT_NEAR(waited_s / probed_s, 1, resolved) << p << "x" << q;
  }
}

/// Every message takes another time, so that no two ranks do anything at the same instant.
void make_noisy(core::NetworkModel::Values& network) {
  for (core::ScopeModel* scope : {&network.local, &*network.remote}) {
    std::vector<core::Segment> transfer = scope->cost(core::MessageCost::transfer).segments();
    for (core::Segment& segment : transfer) segment.sd_s = 1e-7;
    scope->cost(core::MessageCost::transfer) = core::SegmentedLaw::make(transfer);
  }
}

// A probe of one rank makes those of all others longer, so that its time depends on the order of probes at one instant:
// there must be none.
TEST_F(SimulatedXhpl, GrowingProbesThatAreComputedTakeAsLongAsThoseThatAreSimulated) {
  platform_ = platform_library;
  core::NetworkModel::Values network = cluster_.network.values();
  make_noisy(network);
  cluster_.network = core::NetworkModel::make(network);
  write_cluster_files();
  const double constant_s = waited_and_probed_s(800, 4, 4).second;
  network.growing_probes = true;
  cluster_.network = core::NetworkModel::make(network);
  write_cluster_files();
  const std::array grids = {std::pair(4, 4), std::pair(1, 6), std::pair(2, 8)};
  for (int seed = 1; seed <= 3; ++seed) {
    settings_.seed = static_cast<std::uint64_t>(seed);
    const auto [p, q] = grids[static_cast<std::size_t>(seed) % grids.size()];
    const auto [waited_s, probed_s] = waited_and_probed_s(800, p, q);
    EXPECT_NEAR(waited_s / probed_s, 1, resolved) << p << "x" << q << ", seed " << seed;
    if (p == 4) {
      EXPECT_GT(waited_s, constant_s);
    }
  }
}

// A panel that comes during a chunk of an update is found one chunk later. A rank that sleeps instead of probing must
// know that, too.
TEST_F(SimulatedXhpl, LateProbesFindPanelsOneChunkLater) {
  platform_ = platform_library;
  core::NetworkModel::Values network = cluster_.network.values();
  make_noisy(network);
  const std::array grids = {std::pair(1, 2), std::pair(1, 6), std::pair(4, 4), std::pair(2, 8)};
  for (const auto& [p, q] : grids) {
    network.growing_probes = p == 4;
    std::array<double, 2> took_s{};
    for (const bool late : {false, true}) {
      network.late_probes = late;
      cluster_.network = core::NetworkModel::make(network);
      write_cluster_files();
      const auto [waited_s, probed_s] = waited_and_probed_s(800, p, q);
      EXPECT_NEAR(waited_s / probed_s, 1, resolved) << p << "x" << q << (late ? ", late" : "");
      took_s[late ? 1 : 0] = waited_s;
    }
    EXPECT_GT(took_s[1], took_s[0]) << p << "x" << q;
  }
}

// The panels of N=1000, NB=128 on 1x2 that the malloc of glibc gives new memory to, as `strace -e mmap,brk` shows it.
// Without look-ahead: the first of each rank; and the second of rank 0, whose heap has only the first 132,104 bytes (of
// a panel of its own). With DEPTH 1 the heap of rank 0 has been as far as its first panel, freed unused; that of rank 1
// has not. Without kernels one message comes after the other.
TEST_F(SimulatedXhpl, FirstPanelsOfARunGoToNewMemory) {
  platform_ = platform_library;
  cluster_.kernels.clear();
  constexpr double s_per_byte = 1e-6;
  const auto panel_bytes = [](int panel) { return 8.0 * ((1000 - 128 * (panel + 1)) * 128 + 128 * 128 + 129); };
  const auto first_use_s = [&](int depth) {
    std::array<double, 2> took_s{};
    for (const bool costs : {false, true}) {
      core::NetworkModel::Values network = cluster_.network.values();
      network.local.first_use_s_per_byte = costs ? s_per_byte : 0;
      cluster_.network = core::NetworkModel::make(network);
      write_cluster_files();
      core::HplParameters parameters = configuration(1000, 128, 1, 2);
      parameters.DEPTH = depth;
      took_s[costs ? 1 : 0] = simulate(parameters).time_s;
    }
    return took_s[1] - took_s[0];
  };
  const double third = panel_bytes(3) + 64;  // HPL asks for 64 more, to align
  const double expected_s = s_per_byte * (panel_bytes(0) + panel_bytes(1) + third - (132104 + 64));
  EXPECT_NEAR(first_use_s(0), expected_s, 1e-4 * s_per_byte * third);  // the share of the heap counts for all of it
  EXPECT_NEAR(first_use_s(1), s_per_byte * (panel_bytes(0) + panel_bytes(1) + panel_bytes(2)), 1e-9);
  settings_.window = core::IndexRange{0, 3};
  EXPECT_EQ(first_use_s(0), 0) << "panels of a window come after others";
}

TEST_F(SimulatedXhpl, MessagesTakeTheTimesThatTheyTakeOnSmpi) {
  for (const int swap : {0, 1}) {
    SCOPED_TRACE("SWAP " + std::to_string(swap));
    write_text(folder_ / "HPL.dat", factorial_dat(100, 16, swap, 0, 0, false, one_factorisation(swap)));
    expect_times_of_smpi(6, factorial_runs / 3);
  }
}

/// Bandwidth factors of 1, with which SMPI and hplcast must agree on links that are shared, and messages of every kind:
/// pivots are eager, rows of the swap detached or, like panels, rendezvous.
void fill_links(core::NetworkModel::Values& network) {
  network.async_small_bytes = 600;
  network.detached_bytes = 2000;
  network.local.capacity = core::LinkCapacity{network.local.bandwidth_bytes_per_s};
  for (core::ScopeModel* scope : {&network.local, &*network.remote}) {
    std::vector<core::Segment> transfer = scope->cost(core::MessageCost::transfer).segments();
    for (core::Segment& segment : transfer) segment.slope_s_per_byte = 1 / scope->link_bytes_per_s();
    scope->cost(core::MessageCost::transfer) = core::SegmentedLaw::make(transfer);
  }
}

TEST_F(SimulatedXhpl, MessagesBetweenHostsTakeTheTimesThatTheyTakeOnSmpi) {
  constexpr int ranks = 8;
  for (const auto& [per_host, fat_tree] :
       std::map<int, std::string>{{1, "2;4,2;1,2;1,1"}, {2, "2;2,2;1,2;1,1"}, {4, ""}}) {
    use_hosts("node-[1-" + std::to_string(ranks / per_host) + "]", per_host);
    core::NetworkModel::Values network = cluster_.network.values();
    fill_links(network);
    network.topology = fat_tree.empty() ? core::Topology{} : core::FatTree::from(fat_tree);
    cluster_.network = core::NetworkModel::make(network);
    write_cluster_files();
    for (const int swap : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(per_host) + " ranks a host, SWAP " + std::to_string(swap));
      // PFACT too; each grid with each number of ranks per host.
      const Lists lists{swap == 1 ? "4" : "2", swap == 1 ? "2" : "4", std::to_string(swap)};
      write_text(folder_ / "HPL.dat", factorial_dat(100, 16, swap, 0, 0, false, lists));
      expect_times_of_smpi(ranks, 6 * 3);
    }
  }
}

// In a roll of the row swap two ranks send to each other; a broadcast on two ranks goes one way.
TEST_F(SimulatedXhpl, AHalfDuplexNetworkSlowsRowSwapsAndNotBroadcasts) {
  platform_ = platform_library;
  settings_.noise = settings_.network_noise = false;
  core::Hosts::Values hosts = cluster_.hosts.values();
  hosts.cores = 1;
  hosts.cpus = 1;
  hosts.rank_to_cpu = {};
  cluster_.hosts = core::Hosts::make(hosts);
  for (auto& [name, kernel] : cluster_.kernels)
    kernel = core::KernelModel::make(kernel.level(), kernel.cluster_law(), {}, kernel.range());
  core::NetworkModel::Values network = cluster_.network.values();
  network.async_small_bytes = network.detached_bytes = 3000;  // between pivots and the rows of a roll
  // A slow network: rolls are a good part of the time.
  constexpr double slower = 50;
  std::vector<core::Segment> transfer = network.remote->cost(core::MessageCost::transfer).segments();
  for (core::Segment& segment : transfer) segment.slope_s_per_byte *= slower;
  network.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make(transfer);
  network.remote->bandwidth_bytes_per_s /= slower;
  for (const int p : {1, 2}) {
    std::map<bool, double> time_s;
    for (const bool half_duplex : {false, true}) {
      network.remote->half_duplex = half_duplex;
      cluster_.network = core::NetworkModel::make(network);
      write_cluster_files();
      auto parameters = configuration(400, 32, p, 2 / p);
      parameters.SWAP = 1;
      time_s[half_duplex] = simulate(parameters).time_s;
    }
    if (p == 1) {
      EXPECT_EQ(time_s[true], time_s[false]);
    } else {
      EXPECT_GT(time_s[true], 1.1 * time_s[false]);
    }
  }
}

// One process column, one rank a host: only the next message of the same process can share a link with a message, for a
// part of the 0.5 us that one takes alone; up to four processes nothing does.
TEST_F(SimulatedXhpl, FastModeIsExactWhereNothingSharesALink) {
  platform_ = platform_library;
  core::Hosts::Values hosts = cluster_.hosts.values();
  hosts.names = "dahu-[1-9]";
  hosts.cores = 1;
  hosts.cpus = 1;
  hosts.rank_to_cpu = {};
  cluster_.hosts = core::Hosts::make(hosts);
  for (auto& [name, kernel] : cluster_.kernels) {
    kernel = core::KernelModel::make(kernel.level(), kernel.cluster_law(), {}, kernel.range());
  }
  write_cluster_files();
  settings_.noise = settings_.network_noise = false;
  for (const int p : {2, 3, 4, 6, 9}) {
    for (const int pfact : {0, 1, 2}) {
      auto parameters = configuration(300, 32, p, 1);
      parameters.PFACT = parameters.RFACT = pfact;
      settings_.fast = false;
      const double exact_s = simulate(parameters).time_s;
      const auto sent = statistics().at("messages").at("send");
      settings_.fast = true;
      settings_.diagnosis.sampled_exchanges = {1, 1000, 1};
      const double fast_s = simulate(parameters).time_s;
      EXPECT_NEAR(fast_s / exact_s, 1, p <= 4 ? 1e-6 : 5e-4) << "P=" << p << " PFACT=" << pfact;
      EXPECT_EQ(statistics().at("messages").at("send"), sent);
      EXPECT_EQ(statistics().at("mode"), "fast");
    }
  }
}

TEST_F(SimulatedXhpl, FastModeIsCloseToExactOnSharedLinks) {
  platform_ = platform_library;
  struct Case {
    int n, nb, p, q, depth, bcast, swap, pfact;
  };
  for (const auto& [n, nb, p, q, depth, bcast, swap, pfact] :
       {Case{3000, 64, 8, 4, 1, 0, 0, 0}, Case{3000, 64, 4, 8, 0, 1, 1, 1}, Case{3000, 64, 16, 2, 1, 2, 0, 2},
        Case{4000, 128, 4, 4, 1, 3, 2, 0}, Case{2000, 32, 6, 5, 0, 4, 1, 1}, Case{4000, 96, 8, 8, 1, 5, 0, 2}}) {
    auto parameters = configuration(n, nb, p, q);
    parameters.DEPTH = depth;
    parameters.BCAST = bcast;
    parameters.SWAP = swap;
    parameters.PFACT = pfact;
    expect_fast_close_to_exact(parameters);
  }
}

// Tall grids, whose exchanges and row swaps meet on links that a single flow does not fill.
TEST_F(SimulatedXhpl, FastModeIsCloseToExactOnHostsOfAnySizeAndOnTrees) {
  platform_ = platform_library;
  for (const auto& [per_host, fat_tree] :
       {std::pair(1, ""), std::pair(2, ""), std::pair(4, ""), std::pair(2, "2;4,2;1,2;1,1")}) {
    const int ranks = 16;
    SCOPED_TRACE(std::to_string(per_host) + " ranks per host, fat tree " + fat_tree);
    use_hosts("node-[1-" + std::to_string(ranks / per_host) + "]", per_host);
    core::NetworkModel::Values network = cluster_.network.values();
    network.topology = *fat_tree == 0 ? core::Topology{} : core::FatTree::from(fat_tree);
    network.remote->cost(core::MessageCost::transfer) =
        core::SegmentedLaw::make({{0, 1e-6, 3e-10}, {8000, 1e-5, 1e-9}, {64000, 2e-5, 4e-10}});
    network.remote->capacity = core::LinkCapacity{5e9};
    cluster_.network = core::NetworkModel::make(network);
    write_cluster_files();
    expect_fast_close_to_exact(configuration(3000, 64, 8, 2));
  }
}

TEST_F(SimulatedXhpl, TakesLongerForALargerMatrix) {
  double last_s = 0;
  for (const int n : {500, 1000, 2000, 4000}) {
    const double time_s = simulate(configuration(n, 64, 2, 2)).time_s;
    EXPECT_GT(time_s, last_s) << n;
    last_s = time_s;
  }
}

TEST_F(SimulatedXhpl, IsFasterWithAFasterDgemm) {
  const double before_s = simulate(configuration(2000, 64, 2, 2)).time_s;
  const auto& law = cluster_.kernels.at("dgemm").cluster_law().pieces().front().law;
  cluster_.kernels["dgemm"] =
      core::KernelModel::make("M2", core::PiecewiseLaw(core::DurationLaw::make(
                                        core::scaled(law.mu(), 0.5), core::scaled(law.sigma(), 0.5), law.noise())));
  write_cluster_files();
  EXPECT_LT(simulate(configuration(2000, 64, 2, 2)).time_s, before_s);
}

TEST_F(SimulatedXhpl, StopsWithAMessageWithoutHplDat) {
  const auto result = smpirun(program_path("xhpl-smpi"), 2);
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("HPL.dat"));
}

TEST_F(SimulatedXhpl, IsNotBuiltFromWrongInput) {
  EXPECT_EQ(build_xhpl({"--help"}).status, 0);
  EXPECT_EQ(build_xhpl({}).status, 2);
  EXPECT_EQ(build_xhpl({"--nonsense"}).status, 2);
  EXPECT_EQ(build_xhpl({"-o"}).status, 2);
  EXPECT_EQ(build_xhpl({"--real", "--model", "model.h", "-o", "x"}).status, 2);
  EXPECT_EQ(build_xhpl({"--model", "absent.h", "-o", "x"}).status, 3);
  EXPECT_EQ(build_xhpl({"-o", "absent/x"}).status, 3);
  write_text(folder_ / "broken.h", "this is not C\n");
  EXPECT_EQ(build_xhpl({"--model", "broken.h", "-o", "x"}).status, 6);
  EXPECT_FALSE(fs::exists(folder_ / "x")) << "nothing half-built is left";
}

}  // namespace
}  // namespace hplcast::hpl_patches
