#include "hplcast/core/kernel_model.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {
namespace {

const std::vector<LawParameter> parameters = {{{1, 1, 1}, false}, {{}, false}, {{1, 1, 1}, true}};

NodeKind kind(const std::string& name, double share) {
  return {name,
          share,
          {7e-11, 2e-6, 3e-12},
          {{6e-24, 0, 0}, {0, 2e-15, 1e-21}, {0, 1e-21, 7e-27}},
          {{3e-25, 0, 0}, {0, 2e-14, 0}, {0, 0, 3e-25}},
          64,
          1456};
}

GenerativeModel make(std::vector<NodeKind> kinds) {
  return GenerativeModel::make("dgemm", NoiseFamily::half_normal, parameters, std::move(kinds));
}

TEST(GenerativeModel, ARoundTripChangesNothing) {
  std::ostringstream first, second;
  NodeKind slow = kind("slow", 0.25);
  slow.common_days = {{2e-25, 0, 0}, {0, 1e-14, 0}, {0, 0, 3e-25}};
  write_generative(first, make({kind("normal", 0.75), slow}));
  std::istringstream in(first.str());
  write_generative(second, read_generative(in, "g.json"));
  EXPECT_EQ(first.str(), second.str());
}

TEST(GenerativeModel, CoefficientsBecomeALaw) {
  const DurationLaw law = make({kind("normal", 1)}).law({7e-11, 2e-6, 3e-12});
  EXPECT_DOUBLE_EQ(law.mean_s({10, 20, 30}), 7e-11 * 6000 + 2e-6);
  EXPECT_DOUBLE_EQ(law.sd_s({10, 20, 30}), 3e-12 * 6000);
}

TEST(GenerativeModel, ParametersAreNamedAsInDayByDayRegressions) {
  for (const char* name : {"mnk", "intercept", "mnk_residual", "intercept_residual", "mn"}) {
    EXPECT_EQ(to_string(parse_law_parameter(name)), name);
  }
  EXPECT_THROW(parse_law_parameter("_residual"), DomainError);
  EXPECT_THROW(parse_law_parameter("speed"), DomainError);
}

TEST(GenerativeModel, WhatCannotBeDrawnFromIsRefused) {
  NodeKind negative = kind("a", 1), asymmetric = kind("a", 1), too_strong = kind("a", 1), short_mean = kind("a", 1);
  negative.between_cpus[0][0] = -1e-24;
  asymmetric.between_cpus[1][2] = 5e-22;
  too_strong.between_days[0][1] = too_strong.between_days[1][0] = 1e-18;
  short_mean.mean.pop_back();
  NodeKind more_in_common_than_there_is = kind("a", 1);
  more_in_common_than_there_is.common_days = {{4e-25, 0, 0}, {0, 1e-14, 0}, {0, 0, 3e-25}};
  for (const NodeKind& bad : {negative, asymmetric, too_strong, short_mean, more_in_common_than_there_is})
    EXPECT_THROW(make({bad}), DomainError);
  NodeKind takes_no_time = kind("a", 1);
  takes_no_time.mean[0] = -7e-11;
  EXPECT_THROW(make({takes_no_time}), DomainError);
  const NodeKind scatter_only = {"a", 1, {3e-12}, {{7e-27}}, {{3e-25}}, 64, 1456};
  EXPECT_THROW(GenerativeModel::make("dgemm", NoiseFamily::normal, {parameters[2]}, {scatter_only}), DomainError);
  EXPECT_THROW(make({kind("a", 0.5)}), DomainError);
  EXPECT_THROW(make({}), DomainError);
  EXPECT_THROW(GenerativeModel::make("dgem", NoiseFamily::none, parameters, {kind("a", 1)}), DomainError);
  EXPECT_THROW(
      GenerativeModel::make("dgemm", NoiseFamily::none, {parameters[0], parameters[0], parameters[1]}, {kind("a", 1)}),
      DomainError);
}

TEST(GenerativeModel, BadFilesAreNamedWithTheFieldAtFault) {
  const auto message = [](const std::string& text) -> std::string {
    std::istringstream in(text);
    try {
      read_generative(in, "g.json");
    } catch (const ParseError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message("[]").find("expected an object"), std::string::npos);
  EXPECT_NE(message(R"({"schema_version": 2})").find("/schema_version"), std::string::npos);
  EXPECT_NE(
      message(
          R"({"schema_version": 1, "kernel": "dgemm", "noise": "none", "parameters": ["mnk"], "kinds": [{"name": "a", "share": 1, "mu": ["x"]}]})")
          .find("/kinds/0/mu/0"),
      std::string::npos);
}

}  // namespace
}  // namespace hplcast::core
