// The energy of predicted runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "tests/study/simulated_cluster.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;

constexpr double idle_w = 100, awake_w = 22, core_w = 6.5;

/// A core adds core_w in kernels and `waiting_w` in everything else.
core::PowerModel::Values power_with(double waiting_w) {
  core::PowerModel::Values power;
  power.idle = idle_w;
  power.awake = awake_w;
  power.states = {{"default", core_w}, {"polling", waiting_w}, {"blocked", waiting_w}, {"messages", waiting_w}};
  return power;
}

double state_s(const core::Energy& energy, const std::string& name) {
  for (const core::StateEnergy& state : energy.states)
    if (state.name == name) return state.time_s;
  return 0;
}

double all_states_s(const core::Energy& energy) {
  return std::accumulate(energy.states.begin(), energy.states.end(), 0.0,
                         [](double sum, const auto& state) { return sum + state.time_s; });
}

struct Bins {
  double energy_j = 0, time_s = 0;
  std::size_t rows = 0, columns = 0;
};

Bins read_bins(const std::filesystem::path& path) {
  Bins bins;
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    core::CsvReader reader(in, name);
    bins.columns = reader.header().size();
    while (reader.next()) {
      EXPECT_NEAR(reader.number(reader.column("time_s")), bins.time_s, 1e-9);
      bins.energy_j += reader.number(reader.column("power_w")) * reader.number(reader.column("duration_s"));
      bins.time_s += reader.number(reader.column("duration_s"));
      ++bins.rows;
    }
  });
  return bins;
}

class EnergyOfHpl : public testing::SimulatedCluster {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    request_.parameters.N = 1000;
    request_.parameters.NB = 64;
    request_.mode = SimulationMode::exact;
    request_.windows.kind = WindowRule::Kind::off;
    request_.observation.energy = true;
    // What a rank does must add up to its time in every run here.
    setenv("HPLCAST_CHECKS", "on", 1);
  }

  core::Prediction predicted(int p, int q, const core::PowerModel::Values& power) {
    request_.cluster.power = core::PowerModel::make(power);
    request_.parameters.P = p;
    request_.parameters.Q = q;
    return predict(request_);
  }
  void use_hosts_of(int cores) {
    request_.cluster.hosts = core::Hosts::make({"node-[1-32]", cores, cores > 1 ? 2 : 1, {}, 0});
    std::map<std::string, core::KernelModel> kernels;
    for (const auto& [name, model] : request_.cluster.kernels)
      kernels[name] = core::KernelModel::make(model.level(), model.cluster_law());
    request_.cluster.kernels = std::move(kernels);
  }
};

TEST_F(EnergyOfHpl, OfOneRankIsTimeTimesPower) {
  const core::Prediction run = predicted(1, 1, power_with(core_w));
  ASSERT_TRUE(run.energy.has_value());
  // Sums of thousands of durations: each rounds by 1e-16 of the time.
  EXPECT_NEAR(run.energy->energy_j, run.time_s * (idle_w + awake_w + core_w), 1e-12 * run.energy->energy_j);
  EXPECT_NEAR(run.energy->mean_power_w, idle_w + awake_w + core_w, 1e-10);
  EXPECT_DOUBLE_EQ(run.energy->gflops_per_w, run.gflops / run.energy->mean_power_w);
  EXPECT_TRUE(run.energy->unstated.empty());
}

TEST_F(EnergyOfHpl, ChangesNoDigitOfTheTime) {
  for (const SimulationMode mode : {SimulationMode::exact, SimulationMode::fast}) {
    request_.mode = mode;
    const double counted_s = predicted(2, 4, power_with(3)).time_s;
    request_.observation.energy = false;
    EXPECT_EQ(predicted(2, 4, power_with(3)).time_s, counted_s);
    request_.observation.energy = true;
  }
}

TEST_F(EnergyOfHpl, AddsUpOverStatesBinsAndHostsOnEveryGeometry) {
  core::TemporaryFolder folder("hplcast-test");
  request_.observation.power_trace = folder.path() / "power.csv";
  request_.observation.bin_s = 1e-3;
  request_.observation.power_hosts = true;
  request_.parameters.N = 600;
  const std::vector<std::pair<int, int>> grids = {{1, 1}, {2, 2}, {3, 5}, {8, 1}, {1, 6}};
  for (const int cores : {4, 1})
    for (const SimulationMode mode : {SimulationMode::exact, SimulationMode::fast})
      for (const auto& [p, q] : grids)
        for (const double waiting_w : {3.0, 0.0}) {
          use_hosts_of(cores);
          request_.mode = mode;
          const core::Prediction run = predicted(p, q, power_with(waiting_w));
          const std::string where = core::to_string(run.parameters) + " " + run.mode + " " + std::to_string(cores) +
                                    " cores, " + std::to_string(waiting_w) + " W";
          EXPECT_NEAR(all_states_s(*run.energy), run.time_s, 1e-12 * run.time_s) << where;
          const Bins bins = read_bins(request_.observation.power_trace);
          EXPECT_NEAR(bins.energy_j, run.energy->energy_j, 1e-12 * run.energy->energy_j) << where;
          EXPECT_NEAR(bins.time_s, run.time_s, 1e-12 * run.time_s) << where;
          EXPECT_EQ(bins.rows, static_cast<std::size_t>(std::ceil(run.time_s / 1e-3))) << where;
          const int hosts = (p * q + cores - 1) / cores;
          EXPECT_EQ(bins.columns, static_cast<std::size_t>(3 + hosts)) << where;
          EXPECT_DOUBLE_EQ(run.energy->idle_j, hosts * idle_w * run.time_s) << where;
          if (waiting_w > 0) {
            EXPECT_DOUBLE_EQ(run.energy->awake_share, 1) << where;
          } else {
            EXPECT_LE(run.energy->awake_share, 1) << where;
          }
        }
}

TEST_F(EnergyOfHpl, WhereWaitingCostsAsMuchAsWorkIsThatOfAllCores) {
  use_hosts_of(4);
  for (const SimulationMode mode : {SimulationMode::exact, SimulationMode::fast}) {
    request_.mode = mode;
    const core::Prediction run = predicted(2, 4, power_with(core_w));
    EXPECT_NEAR(run.energy->mean_power_w, 2 * (idle_w + awake_w + 4 * core_w), 1e-9) << run.mode;
  }
}

TEST_F(EnergyOfHpl, WhereWaitingIsFreeIsThePublishedModel) {
  use_hosts_of(1);  // one rank per host: it is awake while its rank works
  const core::Prediction run = predicted(2, 3, power_with(0));
  const double works_s =
      run.time_s - state_s(*run.energy, "polling") - state_s(*run.energy, "blocked") - state_s(*run.energy, "messages");
  EXPECT_GT(state_s(*run.energy, "polling"), 0.01 * run.time_s);
  EXPECT_GT(state_s(*run.energy, "blocked"), 0.01 * run.time_s);
  EXPECT_NEAR(run.energy->awake_share, works_s / run.time_s, 1e-12);
  EXPECT_NEAR(run.energy->energy_j, 6 * (idle_w * run.time_s + (awake_w + core_w) * works_s),
              1e-12 * run.energy->energy_j);
}

TEST_F(EnergyOfHpl, CountsEachKernelByItsOwnWatts) {
  core::PowerModel::Values power = power_with(2);
  power.states["dgemm"] = 9;
  power.supply_efficiency = 0.8;
  power.network_w = 320;
  const core::Prediction run = predicted(2, 2, power);
  const double dgemm_s = run.kernels.at("dgemm").time_s;
  EXPECT_NEAR(4 * state_s(*run.energy, "dgemm"), dgemm_s, 1e-12 * dgemm_s);
  for (const core::StateEnergy& state : run.energy->states) {
    const double w = state.name == "dgemm" ? 9 : core::kernel_from_name(state.name) ? core_w : 2;
    EXPECT_NEAR(state.energy_j, 4 * state.time_s * w / 0.8, 1e-12 * run.energy->energy_j) << state.name;
  }
  EXPECT_DOUBLE_EQ(run.energy->network_j, run.time_s * 320 / 32) << "one of 32 hosts is used";
}

TEST_F(EnergyOfHpl, HasTheOverridesOfHostsAndCpus) {
  use_hosts_of(4);
  core::PowerModel::Values power = power_with(core_w);
  core::PowerOverride host, cpu;
  host.host = 1;
  host.idle = idle_w + 50;
  cpu.host = 0;
  cpu.cpu = 1;
  for (const char* state : {"default", "polling", "blocked", "messages"}) cpu.states[state] = core_w + 2;
  power.overrides = {host, cpu};
  const core::Prediction run = predicted(2, 4, power);
  EXPECT_NEAR(run.energy->mean_power_w, 2 * (idle_w + awake_w + 4 * core_w) + 50 + 2 * 2, 1e-9);
}

/// Kernels that take twice as long because of detours cost their watts for as long.
TEST_F(EnergyOfHpl, CountsDetoursAsTheWorkThatTheyStretch) {
  request_.noise = false;
  for (const SimulationMode mode : {SimulationMode::exact, SimulationMode::fast}) {
    request_.mode = mode;
    request_.cluster.detours.clear();
    const core::Prediction clean = predicted(2, 2, power_with(3));
    request_.cluster.detours = {core::DetourSource::make(
        {"agent", core::PeriodicDetours(), 4e-6, core::ConstantDuration{2e-6}, core::DetoursPer::core, false})};
    const core::Prediction held_up = predicted(2, 2, power_with(3));
    EXPECT_NEAR(all_states_s(*held_up.energy), held_up.time_s, 1e-12 * held_up.time_s);
    const double longer = state_s(*held_up.energy, "dgemm") / state_s(*clean.energy, "dgemm");
    EXPECT_NEAR(longer, 2, 0.02) << held_up.mode << ": whole periods but for begin and end of a kernel";
  }
}

TEST_F(EnergyOfHpl, IsTheSameInBothModesToAPart) {
  request_.noise = false;
  request_.parameters.N = 2000;
  const core::Prediction exact = predicted(4, 2, power_with(0));
  request_.mode = SimulationMode::fast;
  const core::Prediction fast = predicted(4, 2, power_with(0));
  // The times differ by what messages do to each other (docs/models/modes.md), and so do the states.
  EXPECT_NEAR(fast.energy->energy_j / exact.energy->energy_j, 1, 0.01);
  for (const char* state : {"dgemm", "dger", "dgemv", "polling", "blocked", "messages"})
    EXPECT_NEAR(state_s(*fast.energy, state), state_s(*exact.energy, state), 0.01 * exact.time_s) << state;
}

TEST_F(EnergyOfHpl, OfSampledPredictionsIsThatOfTheRun) {
  request_.noise = false;
  request_.parameters = core::HplParameters();
  request_.parameters.N = 6000;
  request_.parameters.NB = 32;
  core::PowerModel::Values power = power_with(3);
  power.states["dgemm"] = 8;
  const core::Prediction all = predicted(2, 2, power);
  request_.windows = WindowRule::from("4:16");
  const core::Prediction sampled = predicted(2, 2, power);
  ASSERT_TRUE(sampled.sampling && sampled.energy);
  EXPECT_NEAR(all_states_s(*sampled.energy), sampled.time_s, 1e-9 * sampled.time_s);
  EXPECT_NEAR(sampled.energy->mean_power_w / all.energy->mean_power_w, 1, 0.005);
  EXPECT_NEAR(sampled.energy->energy_j / all.energy->energy_j, 1, 0.02);
  EXPECT_NEAR(state_s(*sampled.energy, "dgemm") / state_s(*all.energy, "dgemm"), 1, 0.02);
  EXPECT_FALSE(sampled.energy->levels) << "there is no power over time";
}

TEST_F(EnergyOfHpl, TellsWhatThePowerModelDoesNotSay) {
  core::PowerModel::Values power = power_with(0);
  power.states = {{"default", core_w}, {"blocked", 3}};
  request_.cluster.power = core::PowerModel::make(power);
  const std::vector<std::string> warnings = resolve(request_).warnings();
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings.back(), HasSubstr("in: polling, messages"));
  EXPECT_EQ(predict(request_).energy->unstated, (std::vector<std::string>{"polling", "messages"}));
}

TEST_F(EnergyOfHpl, KernelsLoadHostsOnlyWhereNoRankWorksInItsPast) {
  request_.diagnosis.load = true;
  const std::string error = tests::error_in([&] { predicted(1, 2, power_with(0)); });
  EXPECT_THAT(error, HasSubstr("false with fast or poll_by_waiting"));
}

TEST_F(EnergyOfHpl, OfAClusterWithoutPowerIsAnError) {
  request_.cluster.power.reset();
  EXPECT_THROW(predict(request_), core::DomainError);
}

/// What SimGrid's plugin host_energy says of all hosts, in J, of the same run with kernels that load their hosts.
double energy_of_plugin(const PredictionRequest& request, const std::filesystem::path& folder) {
  std::ostringstream command;
  std::ifstream hostfile(folder / "hostfile");
  core::SimulationSettings settings;
  settings.cluster = "cluster.json";
  settings.result = "loaded.json";
  settings.noise = settings.network_noise = request.noise;
  settings.energy.emplace();
  settings.diagnosis.load = true;
  settings.diagnosis.poll_by_waiting = false;
  core::write_file(folder / "loaded-settings.json",
                   [&](std::ostream& out) { core::write_simulation_settings(out, settings); });
  command << "cd '" << folder.string() << "' && HPLCAST_SIMULATION=loaded-settings.json '"
          << smpirun_to_run(request.programs.smpirun) << "' -np " << request.parameters.P * request.parameters.Q
          << " -platform '" << request.programs.platform_library.string() << "' -hostfile hostfile "
          << "--cfg=plugin:host_energy";
  for (const std::string& option : platforms::smpi_options()) command << " '" << option << "'";
  command << " '" << request.programs.xhpl.string() << "' > loaded.log 2>&1";
  EXPECT_EQ(std::system(command.str().c_str()), 0) << command.str();
  // [2.3] [host_energy/INFO] Total energy consumption: 5.6 Joules (used hosts: ...)
  std::ifstream log(folder / "loaded.log");
  const std::string words = "Total energy consumption: ";
  for (std::string line; std::getline(log, line);)
    if (const auto found = line.find(words); found != std::string::npos)
      return std::stod(line.substr(found + words.size()));
  ADD_FAILURE() << "no total in " << folder / "loaded.log";
  return 0;
}

/// Where waiting is free SimGrid's plugin has the same model, if the simulated hosts have the work of the kernels.
TEST_F(EnergyOfHpl, IsThatOfSimGridsPluginWhereWaitingIsFree) {
  request_.parameters.N = 600;
  for (const int cores : {1, 4}) {
    use_hosts_of(cores);
    request_.cluster.hosts = core::Hosts::make({"node-[1-" + std::to_string(4 / cores) + "]", cores, 1, {}, 0});
    core::TemporaryFolder folder("hplcast-test");
    request_.keep = folder.path();
    const core::Prediction run = predicted(2, 2, power_with(0));
    const double plugin_j = energy_of_plugin(request_, folder.path());
    const nlohmann::json loaded = nlohmann::json::parse(std::ifstream(folder.path() / "loaded.json"));
    EXPECT_NEAR(loaded.at("times_s").at(0).get<double>(), run.time_s, 1e-9 * run.time_s) << "it is the same run";
    // The plugin counts from the begin of the simulation to its end; outside of the timed part the hosts are idle.
    const double outside_s = loaded.at("end_s").get<double>() - loaded.at("energy").at("time_s").get<double>();
    const double expected_j =
        loaded.at("energy").at("energy_j").get<double>() + outside_s * idle_w * request_.cluster.hosts.count();
    // It prints six digits behind the point.
    EXPECT_NEAR(plugin_j / expected_j, 1, 1e-6) << cores << " cores";
    EXPECT_NEAR(run.energy->energy_j / loaded.at("energy").at("energy_j").get<double>(), 1, 1e-6);
  }
}

TEST_F(EnergyOfHpl, IsACurveOfTheTrace) {
  core::TemporaryFolder folder("hplcast-test");
  request_.observation.trace = folder.path() / "trace.json";
  request_.observation.bin_s = 1e-3;
  const core::Prediction run = predicted(2, 2, power_with(core_w));
  std::ifstream in(request_.observation.trace);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\"ph\":\"C\",\"name\":\"power [W]\""));
  EXPECT_THAT(text.str(), HasSubstr("\"args\":{\"value\":148}")) << "100 + 22 + 4 x 6.5";
}

}  // namespace
}  // namespace hplcast::study
