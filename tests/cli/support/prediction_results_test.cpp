// What --resume takes from a file of predictions, and what tables tell of them.
#include "cli/support/prediction_results.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::cli {
namespace {

class ResumedPrediction : public ::testing::Test {
 protected:
  ResumedPrediction() {
    request_.cluster = tests::plain_cluster("node-[1-16]", 16);
    request_.parameters.N = 200000;
    request_.parameters.P = request_.parameters.Q = 16;
    request_.programs.platform_library = "/somewhere/libhplcast-platform.so";
    request_.mode = study::SimulationMode::exact;
    request_.windows = study::WindowRule::from("3:32");
  }

  /// A file with the prediction of the request, of 100 s with an error of 1 s if it is sampled.
  void write() const {
    const study::RunPlan plan = study::resolve_unchecked(request_);
    core::Prediction prediction;
    prediction.parameters = plan.parameters();
    prediction.seed = plan.seed();
    prediction.mode = study::to_string(plan.mode());
    prediction.model_sha256 = core::cluster_sha256(plan.cluster());
    prediction.time_s = 100;
    prediction.gflops = 1;
    if (plan.is_sampled()) {
      prediction.error_95_s = 1;
      core::Sampling& sampling = prediction.sampling.emplace();
      for (const study::PanelWindow& one : plan.windows().windows)
        sampling.windows.push_back({one.counts_from, one.counts_to - one.counts_from, 1, {}});
    }
    std::ofstream out(file_);
    core::write_predictions(out, {prediction});
  }

  /// Predictions that are made again, of one.
  std::size_t made() const {
    const std::vector<study::RunPlan> plans = {study::resolve_unchecked(request_)};
    PredictionResults results(plans, {}, file_);
    results.resume();
    EXPECT_EQ(results.there().size(), 1U) << "stays until another is there";
    const std::size_t missing = results.missing().size();
    results.add(0, results.there().front());
    EXPECT_TRUE(results.missing().empty());
    return missing;
  }

  study::PredictionRequest request_;
  const core::TemporaryFolder folder_{"hplcast-resume-test"};
  const std::string file_ = folder_.path() / "predictions.json";
};

TEST_F(ResumedPrediction, IsMadeAgainForASmallerError) {
  write();
  EXPECT_EQ(made(), 0U);
  request_.target_error = 0.011;
  EXPECT_EQ(made(), 0U);
  request_.target_error = 0.009;
  EXPECT_EQ(made(), 1U);
}

TEST_F(ResumedPrediction, IsRefusedIfItIsOfOtherWindows) {
  write();
  request_.windows = study::WindowRule::from("3:64");
  EXPECT_THROW(made(), core::InputError);
}

TEST_F(ResumedPrediction, IsMadeAgainForFilesOfItsSimulation) {
  request_.windows = study::WindowRule::from("off");
  write();
  EXPECT_EQ(made(), 0U);
  for (auto file : {&study::Observation::trace, &study::Observation::paje, &study::Observation::phases_csv,
                    &study::Observation::power_trace}) {
    request_.observation = {};
    request_.observation.*file = "file";
    EXPECT_EQ(made(), 1U);
  }
}

// What took hours is not lost because something else was written less than a second ago.
TEST(PredictionResults, AreWrittenAtOnceIfTheyTookLong) {
  study::PredictionRequest request;
  request.cluster = tests::plain_cluster("node-[1-2]", 2);
  request.parameters.N = 1000;
  const std::vector<study::RunPlan> plans(3, study::resolve_unchecked(request));
  const core::TemporaryFolder folder("hplcast-results-test");
  const std::string file = folder.path() / "predictions.json";
  PredictionResults results(plans, {}, file);
  core::Prediction prediction;
  prediction.parameters = request.parameters;
  prediction.time_s = prediction.gflops = 1;
  prediction.wall_s = 0.1;
  results.add(0, prediction);
  EXPECT_FALSE(std::filesystem::exists(file)) << "cheap ones at most once a second";
  prediction.wall_s = 7200;
  results.add(1, prediction);
  std::ifstream in(file);
  EXPECT_EQ(core::read_predictions(in, file).size(), 2U);
}

TEST(PredictionTable, TellsTheMemoryOfSimulationsThatWereLongEnoughForALook) {
  core::Prediction prediction;
  prediction.parameters.N = 1000;
  prediction.time_s = prediction.gflops = 1;
  prediction.peak_pss_bytes = 36.9e6;
  const auto table = [&](double wall_s) {
    prediction.wall_s = wall_s;
    return core::written(
        [&](std::ostream& out) { write_prediction_table(out, {prediction}, tests::plain_cluster("node-[1-2]", 2)); });
  };
  EXPECT_NE(table(0.5).find(" 36.9\n"), std::string::npos) << table(0.5);
  EXPECT_EQ(table(0.1).find("36.9"), std::string::npos);
  EXPECT_NE(table(0.1).find(" -\n"), std::string::npos) << table(0.1);
}

}  // namespace
}  // namespace hplcast::cli
