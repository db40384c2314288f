#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::study::testing {

/// Predictions of the cluster of the examples by the real simulator; skips without it.
class SimulatedCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const other_hpl = std::getenv("HPLCAST_TEST_XHPL");  // tests/hpl-patches/simulated/windows_of_other_hpl
    request_.programs.xhpl = other_hpl == nullptr ? HPLCAST_BINARY_DIR "/bin/xhpl-smpi" : other_hpl;
    request_.programs.platform_library = HPLCAST_BINARY_DIR "/lib/libhplcast-platform.so";
    if (!std::filesystem::exists(request_.programs.xhpl)) GTEST_SKIP() << "skipped: no xhpl-smpi was built";
    const std::string path = HPLCAST_SOURCE_DIR "/examples/dahu-like.json";
    std::ifstream in(path);
    request_.cluster = core::read_cluster(in, path);
    request_.timeout_s = 300;
  }

  PredictionRequest request_;
};

}  // namespace hplcast::study::testing
