// The exports of `hplcast emit` say what cluster.json says: HPL takes the same time when plain smpirun runs it with
// platform.xml, hostfile and a program with model.h built in, as in `predict`, which reads none of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hplcast/core/files.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "tests/study/simulated_cluster.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr int ranks = 8;

/// SimGrid resolves 1e-12 s, here in each of some 1000 delays in a row, in runs of at least 2 ms.
constexpr double rounding = 5e-7;

/// All messages cost what those between hosts do, and all links are filled by one: platform.xml can say everything.
void lose_nothing(core::NetworkModel::Values& network) {
  std::vector<core::Segment> transfer = network.remote->cost(core::MessageCost::transfer).segments();
  for (core::Segment& segment : transfer) segment.slope_s_per_byte = 1 / network.remote->link_bytes_per_s();
  network.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make(transfer);
  network.local = *network.remote;
}

class Exports : public testing::SimulatedCluster {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(fs::exists(request_.programs.platform_library));
    core::Hosts::Values hosts = request_.cluster.hosts.values();
    hosts.names = "node-[1-4]";
    hosts.cores = 2;
    request_.cluster.hosts = core::Hosts::make(hosts);
    move_slow_cpus();
    use_network([](core::NetworkModel::Values& network) {
      network.async_small_bytes = 600;  // pivots are eager, rows of the swap detached or, like panels, rendezvous
      network.detached_bytes = 2000;
    });
    request_.parameters.N = 400;
    request_.parameters.NB = 32;
    request_.parameters.P = 4;
    request_.parameters.Q = 2;
    request_.parameters.DEPTH = 1;
    request_.mode = SimulationMode::exact;  // fast mode computes messages: there are none on platform.xml
    request_.seed = 3;
  }

  /// Those of the example to the first four hosts.
  void move_slow_cpus() {
    for (auto& [name, kernel] : request_.cluster.kernels) {
      std::map<std::pair<int, int>, core::CpuLaw> laws;
      for (const core::CpuLaw& law : kernel.overrides())
        laws.insert({{law.host % 4, law.cpu}, {law.host % 4, law.cpu, law.law}});
      std::vector<core::CpuLaw> moved;
      for (const auto& [place, law] : laws) moved.push_back(law);
      kernel = core::KernelModel::make(kernel.level(), kernel.cluster_law(), std::move(moved), kernel.range());
    }
    ASSERT_FALSE(request_.cluster.kernels.at("dgemm").overrides().empty());
  }

  void use_network(const std::function<void(core::NetworkModel::Values&)>& change) {
    core::NetworkModel::Values network = request_.cluster.network.values();
    change(network);
    request_.cluster.network = core::NetworkModel::make(network);
  }

  /// The time in s that `predict` finds, with messages through SMPI or direct.
  double predicted_s(const std::string& messages, const std::string& polling = "probe") {
    request_.keep = folder_.path() / ("predicted-" + messages);
    request_.diagnosis.direct_messages = messages == "direct";
    request_.diagnosis.poll_by_waiting = polling == "wait";
    const core::Prediction prediction = predict(request_);
    EXPECT_FALSE(fs::exists(request_.keep / "platform.xml")) << "predict reads no export";
    return prediction.time_s;
  }

  /// Writes the exports and builds a program from them; what `emit` has said.
  std::string emit() {
    core::write_file(folder_.path() / "cluster.json",
                     [&](std::ostream& out) { core::write_cluster(out, request_.cluster); });
    const test::Outcome emitted =
        test::run_hplcast_words({"emit", "cluster.json", "--platform", "platform.xml", "--hostfile", "hostfile",
                                 "--model-h", "model.h", "--ranks", std::to_string(ranks)},
                                folder_.path().string());
    EXPECT_EQ(emitted.status, 0) << emitted.output;
    const core::CommandResult built = core::run({HPLCAST_BINARY_DIR "/bin/hplcast-build-xhpl",
                                                 {"--model", "model.h", "-o", "xhpl"},
                                                 {},
                                                 folder_.path(),
                                                 {},
                                                 60,
                                                 {}});
    EXPECT_EQ(built.status, 0) << built.output;
    fs::remove(folder_.path() / "cluster.json");  // nothing can read it any more
    return emitted.output;
  }

  /// The time in s that plain smpirun finds with what emit() has left.
  double exported_s(const std::string& polling = "probe") const {
    core::write_file(folder_.path() / "HPL.dat",
                     [&](std::ostream& out) { core::write_hpl_dat(out, request_.parameters, false); });
    core::Command command;
    command.program = HPLCAST_SMPIRUN;
    command.arguments = {"-np", std::to_string(ranks), "-platform", "platform.xml", "-hostfile", "hostfile"};
    for (const std::string& option : platforms::smpi_options()) command.arguments.push_back(option);
    command.arguments.push_back("./xhpl");
    core::SimulationSettings settings;
    settings.seed = request_.seed;
    settings.result = "stats.json";
    settings.diagnosis.poll_by_waiting = polling == "wait";
    core::write_file(folder_.path() / "settings.json",
                     [&](std::ostream& out) { core::write_simulation_settings(out, settings); });
    command.environment = {{"HPLCAST_SIMULATION", "settings.json"}};
    command.directory = folder_.path();
    command.timeout_s = 120;
    const core::CommandResult result = core::run(command);
    EXPECT_EQ(result.status, 0) << result.output;
    const nlohmann::json statistics = nlohmann::json::parse(core::read_text(folder_.path() / "stats.json"));
    EXPECT_EQ(statistics.at("model_source"), "model.h");
    EXPECT_EQ(statistics.at("model_sha256"), core::cluster_sha256(request_.cluster));
    return statistics.at("times_s").at(0);
  }

  core::TemporaryFolder folder_{"hplcast-exports"};
};

TEST_F(Exports, PredictTheSameWhereNothingIsLost) {
  use_network(lose_nothing);
  EXPECT_THAT(emit(), Not(HasSubstr("loses")));
  for (const auto& [p, q, swap] : {std::tuple(4, 2, 0), std::tuple(2, 4, 1), std::tuple(8, 1, 2)}) {
    SCOPED_TRACE(std::to_string(p) + "x" + std::to_string(q));
    request_.parameters.P = p;
    request_.parameters.Q = q;
    request_.parameters.SWAP = swap;
    const double exported = exported_s();
    EXPECT_NEAR(predicted_s("smpi") / exported, 1, rounding);
    EXPECT_NEAR(predicted_s("direct") / exported, 1, rounding);
  }
}

TEST_F(Exports, PredictTheSameWithSleepingRanksButForAProbe) {
  use_network(lose_nothing);
  emit();
  // As users run both. Each of the 13 panels may be found one probe late by each of the Q ranks that forward it, and
  // on platform.xml only: there SMPI finds messages.
  const double bound_s = 13 * request_.parameters.Q * request_.cluster.network.values().iprobe_s;
  const double exported = exported_s("wait");
  EXPECT_NEAR(predicted_s("smpi", "wait"), exported, bound_s);
  EXPECT_NEAR(predicted_s("direct", "wait"), exported, bound_s);
}

TEST_F(Exports, ShareLinksAsMessagesOfSmpiDoAndLoseNoMoreThanEmitStates) {
  use_network([](core::NetworkModel::Values& network) {
    network.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 4e-9}});
    network.remote->capacity = core::LinkCapacity{1e9};  // four flows fill it
    network.local = *network.remote;
  });
  const std::vector<platforms::SharingLoss> losses = platforms::sharing_losses(request_.cluster);
  ASSERT_FALSE(losses.empty());
  EXPECT_THAT(emit(), HasSubstr(to_string(losses.front())));
  const double exported = exported_s();
  EXPECT_NEAR(predicted_s("smpi") / exported, 1, rounding);
  // Flows that share a link get at least f of what they get in `predict`, so no part of the run takes longer than 1/f.
  const double direct = predicted_s("direct");
  EXPECT_GT(exported, 1.1 * direct);  // half of the run are messages: the loss is there to be bounded
  EXPECT_LT(exported, direct / losses.front().least_factor);
}

TEST_F(Exports, TakeTheCostsOfRemoteMessagesForLocalOnesAsEmitStates) {
  const core::ScopeModel cheap = request_.cluster.network.values().local;
  use_network(lose_nothing);
  use_network([&](core::NetworkModel::Values& network) {
    for (const core::MessageCost cost : {core::MessageCost::send, core::MessageCost::isend, core::MessageCost::recv})
      network.local.cost(cost) = cheap.cost(cost);
  });
  EXPECT_THAT(emit(), HasSubstr("local send: platform.xml has one list for all messages, that of remote ones is used"));
  const double exported = exported_s();
  EXPECT_LT(predicted_s("direct"), exported);
  use_network([](core::NetworkModel::Values& network) { network.local = *network.remote; });
  EXPECT_NEAR(predicted_s("direct") / exported, 1, rounding);
}

}  // namespace
}  // namespace hplcast::study
