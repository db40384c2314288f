#include "hplcast/fit/network_fit.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace hplcast::fit {
namespace {

TEST(Thresholds, SayWhetherProbesAreLate) {
  const auto options_of = [](const std::string& more) {
    std::istringstream in(
        "{\"thresholds\": [{\"scope\": \"local\", \"async_small_bytes\": 300, \"detached_bytes\": 400" + more + "}]}");
    NetworkFitOptions options;
    set_thresholds(in, "thresholds.json", options);
    return options;
  };
  EXPECT_TRUE(options_of(", \"late_probes\": true").late_probes);
  EXPECT_FALSE(options_of(", \"late_probes\": false").late_probes);
  EXPECT_FALSE(options_of("").late_probes) << "files of earlier versions";
}

}  // namespace
}  // namespace hplcast::fit
