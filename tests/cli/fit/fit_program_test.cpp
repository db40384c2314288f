// `hplcast fit program --messages-from`: observed runs whose messages take another time than simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast {
namespace {

using testing::HasSubstr;

core::ClusterModel cluster_in(const std::string& path) {
  std::ifstream in(path);
  return core::read_cluster(in, path);
}

const std::string dahu = HPLCAST_SOURCE_DIR "/examples/dahu-like.json";

class FitProgramMessages : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Of two ranks, that were in messages for so long together.
  void observe(const std::string& name, double exchanged_s) const {
    const core::TemporaryFolder run("hplcast-run");
    std::ofstream(run.path() / "program.json")
        << R"({"schema_version": 1, "program": "solver", "arguments": [], "ranks": 2})";
    for (const char* rank : {"rank-0", "rank-1"}) {
      std::ofstream(run.path() / (std::string(rank) + ".calls.csv"))
          << "routine,m,n,k,duration_s,calls\ndgemm,10,10,10,1e-6,1\ndgemm,100,100,100,1e-4,1\n";
      std::ofstream(run.path() / (std::string(rank) + ".times.csv"))
          << "what,name,calls,time_s,flop\nroutine,dgemm,2,1.01e-4,0\nmpi,MPI_Init,1,0.5,0\nmpi,MPI_Send,4,"
          << exchanged_s / 2 << ",0\ntotal,,0,1.01e-4,0\n";
    }
    calibration::write_archive(path(name), run.path(), "run");
  }

  /// Of one of them, in which each rank takes so long for messages, and waits twice as long.
  void simulate(const std::string& name, double messages_s, const std::string& cluster) const {
    const nlohmann::json phase = {{"messages_s", messages_s}, {"waiting_s", 2 * messages_s}};
    const nlohmann::json run = {{"model_sha256", core::cluster_sha256(cluster_in(cluster))},
                                {"ranks", 2},
                                {"time_s", 10},
                                {"phases", {{"MPI_Send", phase}, {"MPI_Init", phase}, {"dgemm", phase}}}};
    std::ofstream(path(name)) << run;
  }

  test::Outcome fit(const std::string& archives, const std::string& simulated) const {
    return test::run_hplcast("fit program " + archives + " --cluster \"" + dahu + "\" --messages-from " + simulated +
                             " -o " + path("fitted.json"));
  }

  core::TemporaryFolder folder_{"hplcast-fit-program"};
};

// The usual one of three repetitions counts: 3.5 and 10.5 s real, 4 and 12 s simulated, two thirds of them waiting. So
// messages are to take 2 s less of 16 / 3 s.
TEST_F(FitProgramMessages, TakeAsLongAsInTheObservedRuns) {
  for (const auto& [name, exchanged_s] : {std::pair("a.zip", 3.3), {"b.zip", 3.5}, {"c.zip", 35.0}, {"d.zip", 10.5}})
    observe(name, exchanged_s);
  simulate("small.json", 4.0 / 2 / 3, dahu);
  simulate("large.json", 12.0 / 2 / 3, dahu);
  const std::string small = path("small.json");
  const test::Outcome outcome = fit(path("a.zip") + " " + path("b.zip") + " " + path("c.zip") + " " + path("d.zip"),
                                    small + "," + small + "," + small + "," + path("large.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("MPI_Send: real 3.500 s, simulated 1.333 s and 2.667 s of waiting, 20.0 % of the run"));
  EXPECT_THAT(outcome.output, HasSubstr("messages take 0.6250 times as long as in dahu-like"));
  const core::NetworkModel before = cluster_in(dahu).network, after = cluster_in(path("fitted.json")).network;
  const auto transfer_s = [](const core::NetworkModel& network, core::Scope scope) {
    return network.scope(scope).cost(core::MessageCost::transfer).mean_s(1e5);
  };
  EXPECT_NEAR(transfer_s(after, core::Scope::local) / transfer_s(before, core::Scope::local), 0.625, 1e-9);
  EXPECT_EQ(transfer_s(after, core::Scope::remote), transfer_s(before, core::Scope::remote))
      << "both ranks of the runs were on one host";
}

TEST_F(FitProgramMessages, StayWhereTheyTakeNoTime) {
  observe("a.zip", 5);
  simulate("a.json", 1e-3, dahu);
  const test::Outcome outcome = fit(path("a.zip"), path("a.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("messages stay as they are"));
}

TEST_F(FitProgramMessages, AreRefusedOfOtherRuns) {
  observe("a.zip", 5);
  simulate("other.json", 1, HPLCAST_SOURCE_DIR "/examples/stampede-like.json");
  simulate("far.json", 1e3, dahu);
  std::ofstream(path("plain.json")) << "{}";
  std::ofstream(path("wide.json")) << nlohmann::json{
      {"model_sha256", core::cluster_sha256(cluster_in(dahu))}, {"ranks", 4}, {"phases", nlohmann::json::object()}};
  for (const auto& [name, words] : {std::pair("other.json", "on another model than that of --cluster"),
                                    {"far.json", "0.1 to 10"},
                                    {"plain.json", "--phases"},
                                    {"wide.json", "4 ranks, but 2 were observed"}}) {
    const test::Outcome outcome = fit(path("a.zip"), path(name));
    EXPECT_EQ(outcome.status, 3) << name;
    EXPECT_THAT(outcome.output, HasSubstr(words));
  }
}

}  // namespace
}  // namespace hplcast
