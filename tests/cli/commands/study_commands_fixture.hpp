#pragma once

// A folder with real runs, predictions and programs that only pretend, for commands that need them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/prediction.hpp"
#include "tests/support/fake_programs.hpp"
#include "tests/support/run_hplcast.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::test {

inline const std::string example_cluster = HPLCAST_SOURCE_DIR "/examples/dahu-like.json";

class StudyCommands : public ::testing::Test {
 protected:
  /// Path of a file with this content in the test's folder.
  std::string file(const std::string& name, const std::string& content) const {
    const auto path = programs_.folder() / name;
    std::ofstream(path) << content;
    return path.string();
  }

  std::string text_of(const std::string& name) const { return test::text_of(programs_.folder() / name); }

  void expect(const std::vector<std::string>& arguments, int status, const std::string& message) const {
    const auto outcome = run_hplcast_words(arguments, programs_.folder().string());
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_THAT(outcome.output, ::testing::HasSubstr(message));
  }

  /// A prediction of 10 Gflop/s for N=1000, and real runs of 8.
  std::string prediction_file(const std::vector<int>& pfacts = {core::HplParameters().PFACT}) const {
    std::vector<core::Prediction> predictions(pfacts.size());
    for (std::size_t i = 0; i < pfacts.size(); ++i) {
      core::Prediction& prediction = predictions[i];
      prediction.parameters.N = 1000;
      prediction.parameters.PFACT = pfacts[i];
      prediction.time_s = 1;
      prediction.gflops = 10;
    }
    std::ostringstream text;
    core::write_predictions(text, predictions);
    return file("prediction.json", text.str());
  }
  std::string real_file() const { return file("real.csv", "N,NB,P,Q,time_s,gflops\n1000,128,1,1,1.25,8\n"); }

  study::testing::FakePrograms programs_;
};

}  // namespace hplcast::test
