#include "hplcast/study/predict.hpp"
#include "tests/support/example_cluster.hpp"
#include "tests/support/text_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/fake_programs.hpp"

namespace hplcast::study {
namespace {

using study::testing::good_statistics;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using tests::error_in;

class Predict : public ::testing::Test {
 protected:
  /// A request whose smpirun is a script with this body.
  PredictionRequest request(const std::string& smpirun_body) {
    PredictionRequest result;
    result.cluster = tests::plain_cluster("node-[1-2]", 2);
    result.cluster.name = "two nodes";
    result.parameters.N = 3000;
    result.parameters.P = 2;
    result.parameters.Q = 2;
    result.programs.smpirun = programs_.script("smpirun", smpirun_body).string();
    result.programs.xhpl = programs_.script("xhpl-smpi", "exit 99");
    return result;
  }
  std::string error_of(const PredictionRequest& request) {
    return error_in([&] { predict(request); });
  }

  testing::FakePrograms programs_;
};

TEST_F(Predict, TakesTheExactTimeFromTheStatistics) {
  const auto prediction = predict(request(testing::print_hpl_result("2.00", "9.0") + good_statistics));
  EXPECT_EQ(prediction.time_s, 2.0000000123);
  EXPECT_DOUBLE_EQ(prediction.gflops, core::hpl_flop(3000) / 2.0000000123 / 1e9);
  EXPECT_EQ(prediction.parameters.N, 3000);
  EXPECT_EQ(prediction.simulator, "SimGrid 3.32.0");
  EXPECT_EQ(prediction.kernels.at("dgemm").calls, 7U);
  EXPECT_EQ(prediction.kernels.at("dgemm").outside_range, 2U);
  EXPECT_EQ(prediction.messages.at("send").bytes, 4096.0);
  EXPECT_EQ(prediction.model_sha256.size(), 64U);
  EXPECT_GT(prediction.wall_s, 0.0);
}

TEST_F(Predict, HandsSeedNoiseRanksAndProgramToTheSimulation) {
  auto asked = request("echo \"$@\" > \"$OUT\"; cat \"$HPLCAST_SIMULATION\" >> \"$OUT\"\n" +
                       testing::print_hpl_result("2.00", "9.0") + good_statistics);
  const auto record = programs_.folder() / "record";
  setenv("OUT", record.c_str(), 1);
  asked.seed = 18446744073709551615ULL;
  asked.noise = false;
  predict(asked);
  const std::string text = test::text_of(record);
  EXPECT_THAT(text, HasSubstr("-np 4 -platform "));
  EXPECT_THAT(text, ContainsRegex(" [.]/link-[0-9a-f]+/xhpl-smpi\n"));  // smpirun cannot take paths with spaces
  EXPECT_THAT(text, HasSubstr("\"seed\": 18446744073709551615"));
  EXPECT_THAT(text, HasSubstr("\"noise\": false"));
  EXPECT_THAT(text, HasSubstr("\"network_noise\": false"));
}

TEST_F(Predict, KeepsItsFilesWhereAskedTo) {
  auto asked = request(testing::print_hpl_result("2.00", "9.0") + good_statistics);
  asked.keep = programs_.folder() / "kept" / "here";
  predict(asked);
  for (const char* file : {"HPL.dat", "cluster.json", "settings.json", "simulation.log", "statistics.json"}) {
    EXPECT_TRUE(std::filesystem::exists(asked.keep / file)) << file;
  }
}

TEST_F(Predict, ACrashIsAnExternalErrorThatNamesTheLogWhichStays) {
  const auto asked = request("echo one; echo 'the last words' >&2; kill -SEGV $$");
  EXPECT_THROW(predict(asked), core::ExternalError);
  const std::string message = error_of(asked);
  EXPECT_THAT(message, StartsWith("the simulation of N=3000 NB=128"));
  EXPECT_THAT(message, HasSubstr("it said: the last words"));
  const std::string first = message.substr(0, message.find('\n'));
  const std::string before = "was ended by signal 11 (Segmentation fault); its output is in ";
  ASSERT_THAT(first, HasSubstr(before));
  const std::filesystem::path log = first.substr(first.find(before) + before.size());
  EXPECT_EQ(test::text_of(log), "one\nthe last words\n");
  EXPECT_TRUE(std::filesystem::exists(log.parent_path() / "HPL.dat"));
}

TEST_F(Predict, ATimeoutIsAnExternalErrorAndLeavesNoProcess) {
  auto asked = request("echo $$ > \"$OUT\"; sleep 60");
  const auto record = programs_.folder() / "pid";
  setenv("OUT", record.c_str(), 1);
  asked.timeout_s = 3;
  EXPECT_THROW(predict(asked), core::ExternalError);
  EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(std::stoi(test::text_of(record)))));
}

TEST_F(Predict, SilenceIsNotASuccess) {
  EXPECT_THAT(error_of(request("true")), HasSubstr("no result line"));
}

TEST_F(Predict, ResultsOfAnotherConfigurationAreRefused) {
  const auto asked = request("echo 'WR11C2C4 3001 128 2 2 2.00 9.0'\n" + std::string(good_statistics));
  EXPECT_THAT(error_of(asked), HasSubstr("not one run of N=3000"));
}

TEST_F(Predict, MissingOrBrokenStatisticsAreSaid) {
  const std::string result = testing::print_hpl_result("2.00", "9.0");
  EXPECT_THAT(error_of(request(result)), HasSubstr("left no statistics"));
  EXPECT_THAT(error_of(request(result + "echo '{\"simulator\": ' > statistics.json")), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(request(result + good_statistics + "sed -i 's/version\": 2/version\": 1/' statistics.json")),
              AllOf(HasSubstr("found version 1; this hplcast reads version 2"), HasSubstr("anew")));
  EXPECT_THAT(error_of(request(result + good_statistics + "sed -i 's/ranks/rangs/' statistics.json")),
              HasSubstr("rangs"));
}

// SimGrid ends well on a full disk, too.
TEST_F(Predict, ATraceOfSimGridThatIsCutIsToldOf) {
  const auto traced = [&](const std::string& lines) {
    auto asked = request("name=$(printf '%s\\n' \"$@\" | sed -n 's/^--cfg=tracing.filename://p'); printf '" + lines +
                         "' > $name\n" + testing::print_hpl_result("2.00", "9.0") + good_statistics);
    asked.observation.paje = programs_.folder() / "paje.trace";  // in a folder with a blank
    asked.mode = SimulationMode::exact;
    return error_of(asked);
  };
  const std::filesystem::path trace = programs_.folder() / "paje.trace";
  EXPECT_EQ(traced("12 0.5 2 4\\n13 0.5 2 4\\n"), "");
  EXPECT_EQ(test::text_of(trace), "12 0.5 2 4\n13 0.5 2 4\n");
  EXPECT_THAT(traced("12 0.5 2 4\\n13 0.5"), HasSubstr("paje.trace is cut in the middle of a line"));
  EXPECT_EQ(test::text_of(trace), "12 0.5 2 4\n13 0.5 2 4\n") << "the trace of an earlier run stays";
  EXPECT_FALSE(std::filesystem::exists(trace.string() + ".part"));
}

// Gigabytes of many ranks stayed where a run was interrupted, or the disk full.
TEST_F(Predict, AHalfTraceGoesWithItsSimulation) {
  const std::filesystem::path trace = programs_.folder() / "trace.json";
  auto asked = request("echo half > '" + trace.string() + ".part'; exit 1");
  asked.observation.trace = trace;
  asked.mode = SimulationMode::exact;
  EXPECT_THAT(error_of(asked), HasSubstr("ended with status 1"));
  EXPECT_FALSE(std::filesystem::exists(trace.string() + ".part"));
}

TEST_F(Predict, ADeadlockTellsWhatEachRankWaitsFor) {
  const auto asked = request(
      "cat > statistics.json <<END\n"
      "{\"schema_version\": 2, \"cluster\": \"\", \"model_sha256\": \"\", \"model_source\": \"\", \"simulator\": "
      "\"SimGrid\",\n"
      " \"mode\": \"exact\", \"fast_error_95_s\": 0, \"seed\": 1, \"noise\": true, \"ranks\": 4, \"deadlock\": true,\n"
      " \"end_s\": 1.5, \"times_s\": [], \"kernels\": {}, \"messages\": {}, \"blocked\": [{\"rank\": 3, \"operation\": "
      "\"recv\", \"source\": 1,\n"
      " \"destination\": 3, \"tag\": 9, \"since_s\": 0.5, \"phase\": \"broadcast\"}]}\nEND\n");
  const std::string error = error_of(asked);
  EXPECT_THAT(error, HasSubstr("deadlocked at 1.5 s"));
  EXPECT_THAT(error, HasSubstr("rank 3 waits in recv for rank 1, tag 9, since 0.5 s (broadcast)"));
}

TEST_F(Predict, PanelsThatHplCannotCountAreRefused) {
  auto asked = request("echo never");
  asked.parameters.N = 3000000;
  asked.parameters.NB = 3000;
  EXPECT_THAT(error_of(asked), HasSubstr("less than 2^31 elements"));
}

TEST_F(Predict, AProgramWithAnotherModelIsRefused) {
  const auto asked = request("cluster=/dev/null\n" + testing::print_hpl_result("2.00", "9.0") + good_statistics);
  EXPECT_THAT(error_of(asked), HasSubstr("used the model e3b0c442"));  // SHA-256 of nothing
}

TEST_F(Predict, AMissingSimulatorOrProgramIsSaid) {
  auto asked = request("true");
  asked.programs.smpirun = "no-such-smpirun";
  EXPECT_THROW(predict(asked), core::ExternalError);
  asked = request("true");
  asked.programs.xhpl = programs_.folder() / "nowhere";
  EXPECT_THAT(error_of(asked), HasSubstr("nowhere is not there or cannot be run"));
}

TEST_F(Predict, TwoVersionsOfSimGridAreRefusedBeforeTheyMeet) {
  auto asked = request("VERSION=\"SimGrid version 4.1\"\ntouch started");
  asked.programs.xhpl = programs_.script("xhpl-smpi", "# libsimgrid.so.3.32");
  asked.keep = programs_.folder() / "kept";
  EXPECT_THAT(error_of(asked), AllOf(HasSubstr("smpirun is of SimGrid 4.1"),
                                     HasSubstr("xhpl-smpi is linked with SimGrid 3.32"), HasSubstr("--smpirun")));
  EXPECT_FALSE(std::filesystem::exists(asked.keep / "started"));
}

TEST_F(Predict, MoreRanksThanCoresAreRefused) {
  auto asked = request("true");
  asked.parameters.Q = 3;
  EXPECT_THROW(predict(asked), core::DomainError);
  EXPECT_THAT(error_of(asked), HasSubstr("2 x 3 = 6 ranks"));
  EXPECT_THAT(error_of(asked), HasSubstr("at most 4, the cores of two nodes (2 hosts of 2 cores)"));
}

TEST_F(Predict, AMatrixLargerThanTheMemoryIsRefusedUnlessForced) {
  auto asked = request(testing::print_hpl_result("2.00", "9.0") + good_statistics);
  auto hosts = asked.cluster.hosts.values();
  hosts.memory_bytes = 35e6;  // half of the matrix, 8 * 3000^2 / 2, is 36 MB
  asked.cluster.hosts = core::Hosts::make(hosts);
  EXPECT_THAT(error_of(asked), HasSubstr("--force"));
  asked.force = true;
  EXPECT_EQ(error_of(asked), "");
  hosts.memory_bytes = 37e6;
  asked.cluster.hosts = core::Hosts::make(hosts);
  asked.force = false;
  EXPECT_EQ(error_of(asked), "");
}

/// Flows of 4 GB/s on cards that two ranks share.
core::NetworkModel::Values slow_flows() {
  core::NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e10;
  values.local.latency_s = 1e-6;
  values.local.max_bytes = 1e7;
  values.local.cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 1e-10}});
  values.remote = values.local;
  values.remote->bandwidth_bytes_per_s = 4e9;
  values.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 0.25e-9}});
  return values;
}

PredictionRequest with_network(PredictionRequest asked, const core::NetworkModel::Values& values) {
  asked.cluster.network = core::NetworkModel::make(values);
  return asked;
}

TEST_F(Predict, SimulationsAtATimeNeedTheirMemoryTogether) {
  PredictionRequest asked = request("true");
  EXPECT_NO_THROW(resolve(asked));
  asked.at_a_time = 1000000000;  // of some MiB each: petabytes
  try {
    resolve(asked);
    ADD_FAILURE() << "no machine has that memory";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.code(), core::ExitCode::bad_input);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("1000000000 at a time"), HasSubstr("memory")));
  }
  asked.force = true;
  EXPECT_NO_THROW(resolve(asked));
}

TEST_F(Predict, WarnsIfRanksShareACardOfUnknownCapacity) {
  auto asked = with_network(request("true"), slow_flows());
  EXPECT_THAT(resolve(asked).warnings(),
              ElementsAre(AllOf(HasSubstr("2 ranks share the card of a host, but"),
                                HasSubstr("it is assumed to be the bandwidth of a single flow, 4 GB/s"))));
  asked.parameters.P = 1;  // both ranks on one host
  EXPECT_THAT(resolve(asked).warnings(), IsEmpty());
  asked.parameters.P = 2;
  asked.parameters.Q = 1;
  auto hosts = asked.cluster.hosts.values();
  hosts.cores = 1;  // a card each
  asked.cluster.hosts = core::Hosts::make(hosts);
  EXPECT_THAT(resolve(asked).warnings(), IsEmpty());
}

TEST_F(Predict, WarnsIfOnlyTheCapacityBetweenHostsWasMeasured) {
  auto values = slow_flows();
  values.remote->capacity = core::LinkCapacity{12e9, 0, 0, core::LinkCapacity::Origin::measured};
  auto asked = with_network(request("true"), values);
  EXPECT_THAT(resolve(asked).warnings(), IsEmpty()) << "two ranks of a host have one message at a time";
  auto hosts = asked.cluster.hosts.values();
  hosts.cores = 3;
  asked.cluster.hosts = core::Hosts::make(hosts);
  EXPECT_THAT(resolve(asked).warnings(),
              ElementsAre(HasSubstr("local: the capacity for several messages inside a host")));
}

TEST_F(Predict, WarnsOfANetworkThatContradictsItself) {
  auto values = slow_flows();
  values.remote->capacity = core::LinkCapacity{1e9};
  values.topology = core::SingleSwitch{core::Backbone{2e9}};
  EXPECT_THAT(resolve(with_network(request("true"), values)).warnings(),
              ElementsAre(HasSubstr("but the capacity is 1 GB/s"), HasSubstr("all hosts share has 2 GB/s")));
}

TEST_F(Predict, SaysWhatAPajeTraceCosts) {
  auto values = slow_flows();
  values.remote->capacity = core::LinkCapacity{16e9};
  auto asked = with_network(request("true"), values);
  asked.observation.paje = programs_.folder() / "paje.trace";
  asked.mode = SimulationMode::exact;
  EXPECT_THAT(resolve(asked).warnings(),
              ElementsAre(AllOf(HasSubstr("with --paje messages go through SMPI"), HasSubstr("f is 0.25 at least"))));
}

TEST_F(Predict, RefusesPlatformXmlWhereFlowsShareLinksUnlessForced) {
  setenv("HPLCAST_PLATFORM_LIBRARY", "/nowhere.so", 1);
  auto values = slow_flows();
  values.remote->capacity = core::LinkCapacity{16e9};
  auto asked = with_network(request(testing::print_hpl_result("2.00", "9.0") + good_statistics), values);
  EXPECT_THAT(error_of(asked), HasSubstr("cannot be predicted with several ranks per host"));
  EXPECT_THAT(error_of(asked), HasSubstr("HPLCAST_PLATFORM_LIBRARY says; `hplcast predict --force`"));
  asked.force = true;
  EXPECT_EQ(error_of(asked), "");
  EXPECT_THAT(resolve(asked).warnings(), Contains(HasSubstr("remote messages that share a link")));
  asked.force = false;
  values.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 1e-6, 1 / 16e9}});
  EXPECT_EQ(error_of(with_network(asked, values)), "") << "every flow fills the link";
  unsetenv("HPLCAST_PLATFORM_LIBRARY");
}

TEST_F(Predict, WrongParametersAreRefusedBeforeAnythingRuns) {
  auto asked = request("echo never");
  asked.parameters.BCAST = 6;
  EXPECT_THROW(predict(asked), core::DomainError);
  asked.parameters.BCAST = 1;
  asked.parameters.N = 0;
  EXPECT_THROW(predict(asked), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
