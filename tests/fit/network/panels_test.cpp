// Round trips of panels, which HPL describes by an MPI datatype, beside those of contiguous messages.
#include <gtest/gtest.h>

#include "tests/fit/network/local_rows.hpp"

namespace hplcast::fit {
namespace {

constexpr double send_s = 4e-6, recv_s = 3e-6;

/// Sends up to `threshold` do not wait; then 4 and 3 us of a message are of its calls.
std::vector<core::MpiMeasurement> rows_of(double noise, bool with_panels, double threshold = 4000) {
  return testing::local_rows(noise, [&](double size, const auto& add) {
    const bool detached = size < threshold;
    const double calls_s = detached && threshold > 65536 ? send_s + recv_s : 0;
    add("pingpong", 2 * (1e-6 + 2e-10 * size + calls_s));
    add("send", detached ? send_s : 1e-6 + 2e-10 * size);
    add("recv", detached ? recv_s : 1e-6 + 2e-10 * size);
    add("send_unmatched", detached ? send_s : 0.02);
    if (with_panels && size >= 65536) add("panel", 2 * (8e-6 + 6e-11 * size + calls_s));
  });
}

TEST(Panels, HaveATransferOfTheirOwn) {
  for (const double noise : {0.0, 0.1}) {
    NetworkFitOptions options;
    options.noise = SegmentNoiseKind::mixture;
    const NetworkFit fit = fit_network(rows_of(noise, true), options);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    const core::ScopeModel& model = fit.model.scope(core::Scope::local);
    ASSERT_TRUE(model.panels);
    // A tenth of noise on 70 sizes: a standard error of 1.2 % in the middle, of twice that at the ends.
    const double tolerance = noise > 0 ? 0.1 : 1e-3;
    for (const double size : {1.3e5, 1e6, 7e6}) {
      EXPECT_NEAR(model.panels->mean_s(size) / (8e-6 + 6e-11 * size), 1, tolerance) << size;
      EXPECT_NEAR(model.cost(core::MessageCost::transfer).mean_s(size) / (1e-6 + 2e-10 * size), 1, tolerance) << size;
    }
    EXPECT_EQ(model.panels->segments().front().has_noise(), noise > 0);
  }
}

// The simulation adds the costs of both calls to messages below the threshold.
TEST(Panels, HaveNoCostsOfCallsInThem) {
  const NetworkFit fit = fit_network(rows_of(0, true, 1e6));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const core::ScopeModel& model = fit.model.scope(core::Scope::local);
  for (const double size : {1e5, 5e5, 4e6})
    EXPECT_NEAR(model.panels.value().mean_s(size) / (8e-6 + 6e-11 * size), 1, 0.01) << size;
}

TEST(Panels, WithoutRowsHaveNone) {
  const NetworkFit fit = fit_network(rows_of(0, false));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_FALSE(fit.model.scope(core::Scope::local).panels);
}

}  // namespace
}  // namespace hplcast::fit
