#include "hplcast/core/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

Prediction example() {
  Prediction p;
  p.parameters.N = 250000;
  p.parameters.P = 32;
  p.time_s = 0.1 + 0.2;
  p.gflops = 1.0 / 3;
  p.seed = 18446744073709551615u;
  p.mode = "exact";
  p.kernels["dgemm"] = {10, 2, 1.5, 1e12};
  p.messages["send"] = {7, 0, 3e9};
  p.model_levels["noise"] = "off";
  p.model_doubts = {"dgemm: drift: +5 %"};
  p.interval = PredictiveInterval{90, 0.2, 0.4, 0.25, 0.5, 0.01, 0.1, 12.5, "closed-form", {}};
  p.interval->terms = {{"dgemm", 0.08, 15, 0.9, "campaign"}, {"run", 0.06, 0, std::nullopt, "default: idle"}};
  p.phases = {{"broadcast", 0.1, 0.05, 0.2, 0.01, 0.02, 0.07}, {"update", 0.2, 0.1, 0.3, 0.2, 0, 0}};
  return p;
}

TEST(PredictionJson, RoundTripsToTheLastDigit) {
  std::stringstream text;
  write_prediction(text, example());
  const Prediction back = read_prediction(text, "p.json");
  EXPECT_EQ(back.parameters, example().parameters);
  EXPECT_EQ(back.time_s, example().time_s);
  EXPECT_EQ(back.seed, example().seed);
  EXPECT_EQ(back.kernels.at("dgemm").outside_range, 2u);
  EXPECT_EQ(back.model_levels.at("noise"), "off");
  EXPECT_EQ(back.model_doubts, example().model_doubts);
  ASSERT_EQ(back.interval->terms.size(), 2u);
  EXPECT_EQ(back.interval->terms[0].name, "dgemm");
  EXPECT_FALSE(back.interval->terms[1].elasticity);
  ASSERT_EQ(back.phases.size(), 2u);
  EXPECT_EQ(back.phases[0].most_s, 0.2);
  EXPECT_EQ(back.phases[0].waiting_s, 0.07);
  std::ostringstream again;
  write_prediction(again, back);
  EXPECT_EQ(again.str(), text.str());
}

TEST(PredictionJson, NamesTheFieldThatIsWrong) {
  std::ostringstream text;
  write_prediction(text, example());
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string changed = text.str();
    changed.replace(changed.find(from), from.size(), to);
    return tests::error_in([&] {
      std::istringstream in(changed);
      read_prediction(in, "p.json");
    });
  };
  EXPECT_THAT(message("\"gflops\"", "\"flops\""), ::testing::HasSubstr("p.json, field `/flops`: unknown key"));
  EXPECT_THAT(message("\"gflops\": ", "\"wall_s\": "),
              ::testing::HasSubstr("field `/wall_s`: this key is there twice"));
  EXPECT_THAT(message("\"level_percent\": 90", "\"level_percent\": 100"),
              ::testing::HasSubstr("field `/interval/level_percent`: found 100.0; expected a number above 0"));
  EXPECT_THAT(message("\"low_time_s\": 0.2", "\"low_time_s\": 0.5"),
              ::testing::HasSubstr("field `/interval/low_time_s`: found 0.5; expected a time above 0"));
  EXPECT_THAT(message("\"calls\": 10", "\"call\": 10"),
              ::testing::HasSubstr("field `/kernels/dgemm/call`: unknown key\n  hint: did you mean `calls`"));
  EXPECT_THAT(message("\"mode\": \"exact\"", "\"mode\": \"quick\""), ::testing::HasSubstr("expected exact or fast"));
  EXPECT_THAT(message("\"wall_s\": 0", "\"wall_s\": -1"), ::testing::HasSubstr("/wall_s"));
  for (const std::string error : {"error_95_s", "fast_error_95_s"})
    EXPECT_THAT(message("\"seed\"", "\"" + error + "\": -1, \"seed\""),
                ::testing::HasSubstr("field `/" + error + "`: found -1; expected a number of at least 0"));
  EXPECT_THAT(message("\"schema_version\": 1", "\"schema_version\": 2"),
              ::testing::HasSubstr("found version 2; this hplcast reads version 1"));
  EXPECT_THAT(message("\"P\": 32", "\"P\": 0"), ::testing::HasSubstr("`P` is 0; expected at least 1"));
}

TEST(PredictionJson, PiecesOfASampledOneHaveTheirErrors) {
  Prediction sampled = example();
  sampled.sampling = Sampling{0.5, {}, {{0, 1, 1.0, std::nullopt}}, 0, 0};
  std::stringstream text;
  write_prediction(text, sampled);
  EXPECT_THAT(tests::error_in([&] { read_prediction(text, "p.json"); }),
              ::testing::HasSubstr("p.json, field `/sampling/pieces/0/error_95_s`: missing"));
  sampled.sampling->pieces.front() = {0, 1, 1.0, -0.1};
  std::stringstream negative;
  write_prediction(negative, sampled);
  EXPECT_THAT(tests::error_in([&] { read_prediction(negative, "p.json"); }),
              ::testing::HasSubstr("field `/sampling/pieces/0/error_95_s`: found -0.1; expected a number of at least"));
}

}  // namespace
}  // namespace hplcast::core
