// The way of a user through the commands: a real program is observed, fitted, run on the simulator, and compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast {
namespace {

using testing::HasSubstr;

const std::string solver = HPLCAST_BINARY_DIR "/tests/programs_solver";

class ProgramRoad : public ::testing::Test {
 protected:
  std::string done(std::vector<std::string> arguments) {
    const test::Outcome outcome = test::run_hplcast_words(arguments, folder_.path().string());
    EXPECT_EQ(outcome.status, 0) << testing::PrintToString(arguments) << outcome.output;
    return outcome.output;
  }
  nlohmann::json json_of(const std::string& name) const {
    std::ifstream in(folder_.path() / name);
    return nlohmann::json::parse(in);
  }
  core::TemporaryFolder folder_{"hplcast-road-test"};
};

TEST_F(ProgramRoad, LeadsFromARealProgramToAComparedPrediction) {
  for (const char* size : {"100", "300"})
    done({"observe", "-np", "1", "--oversubscribe", "-o", std::string(size) + ".zip", "--", solver, size, "20"});
  done({"fit", "program", "100.zip", "300.zip", "--cluster", HPLCAST_SOURCE_DIR "/examples/dahu-like.json", "-o",
        "solver.json"});
  std::filesystem::copy_file(folder_.path() / "100.zip", folder_.path() / "again.zip");
  const std::string fitted = done({"fit", "program", "100.zip", "300.zip", "again.zip", "--cluster",
                                   HPLCAST_SOURCE_DIR "/examples/dahu-like.json", "-o", "twice.json"});
  EXPECT_THAT(fitted, HasSubstr("again.zip is the same run as 100.zip"));
  EXPECT_THAT(fitted, HasSubstr("by size: if all ranges count alike")) << "the columns are explained";
  EXPECT_THAT(fitted, testing::ContainsRegex("dgemm .* %  .* %  .* %")) << "share, error, by size";
  const std::string told =
      done({"run", solver + "-smpi", "--cluster", "solver.json", "-np", "1", "-o", "run.json", "--phases", "--energy",
            "--power-trace", "power.csv", "--trace", "trace.json", "--", "300", "20"});
  EXPECT_THAT(told, HasSubstr("Time per phase in s"));
  EXPECT_THAT(told, HasSubstr("Energy by what draws it"));
  // Of one rank with the calls of an observed run: as large as it says, but that calls that take no time are left out.
  const std::string before = "the trace will have about ";
  ASSERT_THAT(told, HasSubstr(before));
  const double said_bytes = 1e6 * std::stod(told.substr(told.find(before) + before.size()));
  const auto trace_bytes = static_cast<double>(std::filesystem::file_size(folder_.path() / "trace.json"));
  EXPECT_GT(said_bytes, 0.7 * trace_bytes);
  EXPECT_LT(said_bytes, 2 * trace_bytes);
  EXPECT_THAT(done({"run", solver + "-smpi", "--cluster", HPLCAST_SOURCE_DIR "/examples/dahu-like.json", "-np", "1",
                    "--trace", "other.json", "--", "100", "2"}),
              HasSubstr("is not known before"));
  const nlohmann::json run = json_of("run.json");
  double phases_s = 0;
  for (const auto& [name, phase] : run.at("phases").items()) phases_s += phase.at("elapsed_s").get<double>();
  EXPECT_NEAR(phases_s, run.at("time_s").get<double>(), 1e-9);
  EXPECT_GT(run.at("energy").at("energy_j").get<double>(), 0);
  EXPECT_FALSE(json_of("trace.json").at("traceEvents").empty());
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "power.csv"));

  const std::string time_from = "elapsed ([0-9.e+-]+) s";
  EXPECT_THAT(done({"compare", "300.zip", "--predicted", "run.json", "--time-from", time_from}),
              HasSubstr("1 configuration"));
  done({"compare", "300.zip", "--predicted", "run.json", "--time-from", "run", "-o", "compare.json"});
  const nlohmann::json compared = json_of("compare.json");
  EXPECT_EQ(compared.at("rows").at(0).at("predicted_s"), run.at("time_s"));
  EXPECT_EQ(compared.at("rows").at(0).at("real_runs"), 1);
  done({"observe", "-np", "1", "-o", "300.tar.gz", "--", solver, "300", "20"});
  const auto files = calibration::read_archive(folder_.path() / "300.tar.gz");
  for (const char* name : {"control-before.csv", "control-after.csv", "surroundings/hosts.json"})
    EXPECT_EQ(files.count(name), 1U) << name;
  EXPECT_TRUE(calibration::read_observed_run(files, "300.tar.gz")->control);
  EXPECT_EQ(calibration::read_archive(folder_.path() / "300.zip").count("control-before.csv"), 0U)
      << "ranks share cores";
  done({"compare", "300.tar.gz", "--predicted", "run.json", "--time-from", "run"});
}

TEST_F(ProgramRoad, DrawsThePowerOfARunAndLeavesDetoursOut) {
  done({"transform", HPLCAST_SOURCE_DIR "/examples/dahu-like.json", "--add-detours", "1ms:500us", "-o", "noisy.json"});
  const std::vector<std::string> run = {"run", solver + "-smpi", "--cluster", "noisy.json", "-np", "1", "--json"};
  auto with = run, without = run;
  with.insert(with.end(), {"--power-trace", "power.svg", "--", "300", "20"});
  without.insert(without.end(), {"--detours", "off", "--", "300", "20"});
  const auto json_in = [](const std::string& text) {
    return nlohmann::json::parse(text.substr(text.find("\n{\n") + 1));
  };
  const nlohmann::json noisy = json_in("\n" + done(with)), quiet = json_in("\n" + done(without));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "power.svg"));
  EXPECT_NEAR(noisy.at("time_s").get<double>() / quiet.at("time_s").get<double>(), 2, 0.1) << "half of the time";
  EXPECT_GT(noisy.at("detours_s").get<double>(), 0);
  EXPECT_EQ(quiet.at("detours_s").get<double>(), 0);
}

}  // namespace
}  // namespace hplcast
