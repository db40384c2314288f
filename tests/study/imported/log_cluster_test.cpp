// Cluster models from logs of HPL.
#include "hplcast/study/log_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "hplcast/study/quick.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;

core::HplLog log_in(const std::filesystem::path& path) {
  std::ifstream in(path);
  return core::read_hpl_logs(in, path.filename().string()).at(0);
}

/// The log of a node as `quick` has it: no measurement, no scatter; lines a panel ahead of the work.
core::HplLog log_of_quick(double flop_per_s, double other_kernels) {
  QuickMachine machine;
  machine.flop_per_s_per_core = flop_per_s;
  QuickAssumptions assumed = all_assumptions(&QuickAssumption::expected);
  assumed.other_kernels = other_kernels;
  assumed.waiting = 1;
  const core::ClusterModel cluster = quick_cluster(machine, assumed);
  core::HplLog log;
  log.parameters.N = 40000;
  log.parameters.NB = 200;
  core::HplParameters rest = log.parameters;
  const double whole_s = closed_form_s(cluster, rest);
  for (double column = 800; column < 40000; column += 800) {
    rest.N = std::llround(40000 - (column - 200));
    log.progress.push_back({column, whole_s - closed_form_s(cluster, rest), 0});
  }
  log.result.emplace();
  log.result->parameters = log.parameters;
  log.result->time_s = whole_s;
  log.result->gflops = core::hpl_flop(40000) / whole_s / 1e9;
  return log;
}

std::vector<core::MpiMeasurement> pingpongs(double latency_s, double bytes_per_s) {
  std::vector<core::MpiMeasurement> rows;
  for (double bytes = 1; bytes <= 4194304; bytes *= 2) {
    core::MpiMeasurement row;
    row.operation = "pingpong";
    row.scope = "remote";
    row.size_bytes = bytes;
    row.duration_s = 2 * (latency_s + bytes / bytes_per_s);
    rows.push_back(row);
    row.operation = "stream";
    row.duration_s = bytes / 12e9;
    rows.push_back(row);
  }
  return rows;
}

TEST(LogCluster, RecoversTheMachineOfALogWithoutNoise) {
  LogMachine machine;
  machine.logs = {log_of_quick(1e12, 0.1)};
  machine.threads = 32;
  const LogCluster fit = fit_logs(machine);
  EXPECT_EQ(fit.cluster.hosts.values().threads_per_rank, 32);
  EXPECT_NEAR(fit.dgemm_flop_per_s, 1e12, 1e9);
  EXPECT_NEAR(fit.other_kernels, 0.1, 0.002);
  EXPECT_LT(fit.column_s, 1e-7);
  EXPECT_LT(fit.largest_error, 1e-3) << "nothing but the rounding of sizes";
  EXPECT_EQ(fit.scatter, 0);
  EXPECT_EQ(fit.cluster.hosts.total_cores(), 1);
}

TEST(LogCluster, LongMessagesHaveTheirRateOneByOneAndTheLinkWhatSeveralGet) {
  LogMachine machine;
  machine.logs = {log_of_quick(1e12, 0.1), log_of_quick(0.98e12, 0.1)};
  machine.nodes = 4;
  machine.messages = pingpongs(2e-6, 6e9);
  const LogCluster fit = fit_logs(machine);
  const core::ScopeModel& remote = fit.cluster.network.scope(core::Scope::remote);
  EXPECT_NEAR(remote.bandwidth_bytes_per_s, 6e9, 0.01 * 6e9);
  EXPECT_NEAR(remote.link_bytes_per_s(), 12e9, 1e-6 * 12e9);
  EXPECT_EQ(fit.cluster.hosts.count(), 4);
  EXPECT_NEAR(fit.scatter, 0.0143, 0.001) << "|ln(0.98)| / sqrt(2), of the part of the time that is dgemm";
  EXPECT_GT(fit.cluster.network.values().iprobe_s, 0) << "free probes are endless";
}

TEST(LogCluster, SaysWhyALogWillNotDo) {
  const auto error_with = [](const std::function<void(LogMachine&)>& change) {
    LogMachine machine;
    machine.logs = {log_of_quick(1e12, 0.1)};
    change(machine);
    return tests::error_in([&] { fit_logs(machine); });
  };
  EXPECT_THAT(error_with([](LogMachine& machine) { machine.logs.clear(); }), HasSubstr("no log"));
  EXPECT_THAT(error_with([](LogMachine& machine) { machine.logs[0].parameters.P = 2; }), HasSubstr("2 x 1 ranks"));
  EXPECT_THAT(error_with([](LogMachine& machine) { machine.logs[0].progress.resize(3); }), HasSubstr("3 lines"));
  EXPECT_THAT(error_with([](LogMachine& machine) { machine.logs[0].result.reset(); }), HasSubstr("without a result"));
  EXPECT_THAT(error_with([](LogMachine& machine) { machine.logs[0].result->residual_checked = true; }),
              HasSubstr("residual check has failed"));
  EXPECT_THAT(error_with([](LogMachine& machine) {
                machine.logs.push_back(machine.logs[0]);
                machine.logs[1].parameters.NB = 100;
              }),
              HasSubstr("different N or NB"));
  EXPECT_THAT(error_with([](LogMachine& machine) { machine.nodes = 2; }), HasSubstr("expected osu_latency"));
}

TEST(LogCluster, TenthsOfRecordedRunsAreReproduced) {
  HPLCAST_REFERENCE_FILE(folder, "alaska/hpl");
  LogMachine machine;
  machine.logs = {log_in(folder / "alaska_mkl_1x1_2020-10-22.out")};
  const LogCluster fit = fit_logs(machine);
  EXPECT_LT(fit.largest_error, 0.06) << "the ninth tenth, 0.7 % of the flop, has 4 %; those before are within 1 %";
  EXPECT_NEAR(fit.dgemm_flop_per_s, 1.03e12, 0.03e12) << "the first lines have 1.02e12, with the rest of the panel";
}

}  // namespace
}  // namespace hplcast::study
