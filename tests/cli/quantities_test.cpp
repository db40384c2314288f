#include "quantities.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/units.hpp"

namespace hplcast::cli {
namespace {

TEST(Quantities, OptionsKeepAllDigits) {
  CLI::App app;
  double seconds = 0;
  app.add_option("--budget", seconds)->transform(as_seconds());
  const char* arguments[] = {"program", "--budget", "0.1us"};
  app.parse(3, arguments);
  EXPECT_EQ(seconds, core::parse_seconds("0.1us"));
}

TEST(Quantities, AWrongOptionIsAnErrorOfTheParser) {
  CLI::App app;
  double seconds = 0;
  app.add_option("--budget", seconds)->transform(as_seconds());
  const char* arguments[] = {"program", "--budget", "soon"};
  EXPECT_THROW(app.parse(3, arguments), CLI::ValidationError);
}

}  // namespace
}  // namespace hplcast::cli
