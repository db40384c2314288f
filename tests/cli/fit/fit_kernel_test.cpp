// `hplcast fit kernel` as a user runs it. The fits themselves are tested in tests/fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "tests/support/run_hplcast.hpp"

namespace {

using hplcast::test::Outcome;
using hplcast::test::run_hplcast;
using ::testing::HasSubstr;

const std::string example = "examples/fit-library/dgemm.csv";

class FitKernelCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("hplcast_fit_kernel_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

TEST_F(FitKernelCommand, WritesModelsThatClusterJsonTakes) {
  const Outcome outcome = run_hplcast("fit kernel " + example + " --kernel dgemm --level M2 --noise N2 -o " +
                                      (folder_ / "k.json").string());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("expected time in s = "));
  std::ifstream in(folder_ / "k.json");
  const auto models = hplcast::core::read_kernel_models(in, "k.json");
  ASSERT_EQ(models.count("dgemm"), 1U);
  // The example was made with 7e-11 and noise of 3 percent on 240 calls: 5 standard errors.
  EXPECT_NEAR(models.at("dgemm").cluster_law().at({}).mu().coefficient({1, 1, 1}) / 7e-11, 1, 0.01);
}

TEST_F(FitKernelCommand, GroupsByAnyColumns) {
  const Outcome outcome = run_hplcast("fit kernel " + example + " --by host,content --quiet");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto json = nlohmann::json::parse(outcome.output);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["host"], "node-1");
  EXPECT_EQ(json[0]["content"], "random");
  EXPECT_EQ(json[0]["kernel"], "dgemm");
  EXPECT_TRUE(json[0]["model"].contains("mu"));
}

TEST_F(FitKernelCommand, PerCpuGivesOverrides) {
  std::ostringstream csv;
  csv << "kernel,n,duration_s,host,cpu\n";
  for (int cpu = 0; cpu < 2; ++cpu)
    for (int n = 1; n <= 30; ++n) csv << "daxpy," << n << "," << 1e-9 * n * (1 + cpu) << ",b," << cpu << "\n";
  const Outcome outcome = run_hplcast("fit kernel " + file("m.csv", csv.str()) + " --per-cpu a,b --quiet");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::istringstream in(outcome.output);
  const auto model = hplcast::core::read_kernel_models(in, "out").at("daxpy");
  EXPECT_NEAR(model.law(1, 0).at({}).mean_s({1, 10, 1}), 1e-8, 1e-17);
  EXPECT_NEAR(model.law(1, 1).at({}).mean_s({1, 10, 1}), 2e-8, 1e-17);
  EXPECT_NEAR(model.law(0, 0).at({}).mean_s({1, 10, 1}), 1.5e-8, 1e-17);
}

TEST_F(FitKernelCommand, AFitThatFailsEndsWithFourAndWritesNothing) {
  const std::string output = (folder_ / "k.json").string();
  const Outcome outcome =
      run_hplcast("fit kernel " + file("m.csv", "m,n,k,duration_s\n1,2,3,1e-6\n") + " --level M2 --quiet -o " + output);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.output, HasSubstr("1 distinct shapes for 5 coefficients"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(FitKernelCommand, NothingLeftAfterTheWarmUpIsNoFit) {
  const Outcome outcome = run_hplcast("fit kernel " + example + " --skip-first 1000");
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.output, HasSubstr("there are no measurements"));
}

TEST_F(FitKernelCommand, BadMeasurementsAreNamedWithLineAndColumn) {
  for (const char* row :
       {"10,10,10,nan", "10,10,10,-1e-6", "10,10,10,0", "0,10,10,1e-6", "10,10,inf,1e-6", "10,10,10,", "10,10,10"}) {
    const Outcome outcome =
        run_hplcast("fit kernel " + file("m.csv", std::string("m,n,k,duration_s\n10,10,10,1e-6\n") + row + "\n"));
    EXPECT_EQ(outcome.status, 3) << row << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("m.csv:3")) << row;
  }
  EXPECT_EQ(run_hplcast("fit kernel " + file("m.csv", "m,n,k\n1,2,3\n")).status, 3);
  EXPECT_EQ(run_hplcast("fit kernel " + file("m.csv", "")).status, 3);
  EXPECT_EQ(run_hplcast("fit kernel " + file("m.csv", "m,m,duration_s\n1,2,3\n")).status, 3);
}

TEST_F(FitKernelCommand, DrawsAPictureOfEachFit) {
  const std::string one = (folder_ / "one.svg").string(), two = (folder_ / "two.png").string();
  ASSERT_EQ(run_hplcast("fit kernel " + example + " --kernel dgemm --quiet --plot " + one).status, 0);
  std::ostringstream svg;
  svg << std::ifstream(one).rdbuf();
  EXPECT_THAT(svg.str(), HasSubstr("Relative residuals"));
  EXPECT_THAT(svg.str(), HasSubstr("</svg>"));
  const std::string csv =
      file("m.csv", "kernel,n,duration_s\ndaxpy,1,1e-9\ndaxpy,2,2e-9\ndscal,3,1e-9\ndscal,4,2e-9\n");
  ASSERT_EQ(run_hplcast("fit kernel " + csv + " --quiet --plot " + two).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "two-daxpy.png"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "two-dscal.png"));
  EXPECT_EQ(run_hplcast("fit kernel " + csv + " --plot x.pdf").status, 2);
}

TEST_F(FitKernelCommand, WrongOptionsAreNamed) {
  const Outcome outcome = run_hplcast("fit kernel " + example + " --noise N9");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("N9 not in {N0,N1,N2,mixture}"));
  for (const char* wrong :
       {"--terms mxk", "--terms mnk,mnk", "--level M1 --terms mnk,mn", "--level \"M'\" --breakpoints 5,3",
        "--min-t nan", "--skip-first -1", "--by host,host", "--per-cpu 'n-[4-1]'"})
    EXPECT_EQ(run_hplcast("fit kernel " + example + " " + wrong).status, 2) << wrong;
  EXPECT_EQ(run_hplcast("fit kernel " + example + " --by nowhere").status, 3);
}

}  // namespace
