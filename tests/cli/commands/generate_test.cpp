// `hplcast fit generative` and `hplcast generate` as a user runs them; the mathematics is tested in tests/fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/kernel_model.hpp"
#include "tests/support/run_hplcast.hpp"

namespace {

using hplcast::test::Outcome;
using hplcast::test::run_hplcast;
using ::testing::HasSubstr;

const std::string generate = "generate examples/generative/generative.json --base examples/dahu-like.json ";

hplcast::core::ClusterModel generated(const std::string& options) {
  const Outcome outcome = run_hplcast(generate + options);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  std::istringstream in(outcome.output);
  return hplcast::core::read_cluster(in, "stdout");
}

TEST(FitGenerativeCommand, FindsTheKindsOfTheExample) {
  const Outcome outcome = run_hplcast("fit generative examples/generative/daily.csv --find-kinds 2>/dev/null");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::istringstream in(outcome.output);
  const auto model = hplcast::core::read_generative(in, "stdout");
  ASSERT_EQ(model.kinds().size(), 2U);
  EXPECT_DOUBLE_EQ(model.kinds()[1].share, 4.0 / 16);  // nodes 13 to 16 of 16 were made slow
}

TEST(FitGenerativeCommand, KindsCanBeGiven) {
  const Outcome outcome =
      run_hplcast("fit generative examples/generative/daily.csv --kind 'slow=[13-16]' --leave-out 3:0");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("slow: 8 CPUs, 64 regressions, 25.0 % of the nodes"));
  EXPECT_THAT(outcome.output, HasSubstr("normal: 23 CPUs"));
}

TEST(FitGenerativeCommand, ANodeIsOfOneKind) {
  const std::string fit = "fit generative examples/generative/daily.csv --kind 'slow=[13-16]' --kind ";
  EXPECT_EQ(run_hplcast(fit + "'slow=[12-13]'").status, 0);
  const Outcome outcome = run_hplcast(fit + "'hot=[12-13]'");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("node 13 is of the kinds slow and hot"));
}

TEST(FitGenerativeCommand, CoefficientsOfZeroHaveAScatterInSeconds) {
  const hplcast::core::TemporaryFolder folder("hplcast-generative-zero");
  const std::string file = (folder.path() / "daily.csv").string();
  std::ofstream(file) << "node,cpu,day,mnk,intercept,mnk_residual\n1,0,1,7e-11,0,1e-12\n2,0,1,7.1e-11,0,1e-12\n";
  const Outcome outcome = run_hplcast("fit generative " + file);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("intercept: mean 0, between CPUs +-0 s, between days +-0 s"));
  EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("nan")));
}

TEST(FitGenerativeCommand, NumbersThatNoMachineHasAreWarnedOf) {
  const hplcast::core::TemporaryFolder folder("hplcast-generative-units");
  const std::string file = (folder.path() / "daily.csv").string();
  const auto warnings_of = [&](const std::string& more) {
    std::ofstream(file) << "node,cpu,day,mnk,intercept,mnk_residual\n1,0,1" << more << "\n2,0,1" << more << '\n';
    return run_hplcast("fit generative " + file).output;
  };
  EXPECT_THAT(warnings_of(",7e-8,2e-3,1e-9"), HasSubstr("warning: /kernels/dgemm: 0.0286 Gflop/s")) << "ms";
  EXPECT_THAT(warnings_of(",28.6,2e-6,1e-12"), HasSubstr("warning: /kernels/dgemm: ")) << "Gflop/s";
  EXPECT_THAT(warnings_of(",7e-11,2.5,1e-12"), HasSubstr("1 x 1 x 1 takes 2.5 s")) << "us beside s";
  EXPECT_THAT(warnings_of(",7e-11,2e-6,1e-6"), HasSubstr("warning: /kernels/dgemm/sigma: ")) << "us beside s";
  EXPECT_THAT(warnings_of(",7e-11,2e-6,1e-12"), ::testing::Not(HasSubstr("warning")));
}

TEST(FitGenerativeCommand, TermsThatAreLeftOutAreTold) {
  const hplcast::core::TemporaryFolder folder("hplcast-generative-terms");
  const std::string file = (folder.path() / "daily.csv").string();
  const std::string database = (folder.path() / "history.db").string();
  std::ofstream(file) << "node,cpu,jobid,start_time,cluster,mnk,intercept,mn,mk,nk,mnk_residual\n"
                         "1,0,1,1600000000,toy,7e-11,2e-6,0,1e-9,3e-9,1e-12\n"
                         "2,0,1,1600000000,toy,7e-11,2e-6,0,1e-9,3e-9,1e-12\n";
  const std::string other = (folder.path() / "other.csv").string();
  std::ofstream(other) << "node,cpu,start_time,mnk,intercept,mn,mnk_residual\n"
                          "1,0,1600000000,7e-11,2e-6,NA,1e-12\n"
                          "2,0,1600000000,7e-11,2e-6,NA,1e-12\n";
  EXPECT_EQ(run_hplcast("fit generative " + other).status, 0) << "R writes NA for terms that it has dropped";
  ASSERT_EQ(run_hplcast("history import " + file + " --database " + database).status, 0);
  for (const std::string& from : {file, database}) {
    EXPECT_THAT(run_hplcast("fit generative " + from).output, HasSubstr("further terms: mk nk;"));
    EXPECT_THAT(run_hplcast("fit generative " + from + " --parameters mnk,nk").output, HasSubstr("further terms: mk;"));
    EXPECT_THAT(run_hplcast("fit generative " + from + " --parameters mnk,mk,nk").output,
                ::testing::Not(HasSubstr("further terms")));
  }
}

TEST(FitGenerativeCommand, WrongOptionsAndFilesAreNamed) {
  EXPECT_EQ(run_hplcast("fit generative examples/generative/daily.csv --kind slow").status, 2);
  EXPECT_EQ(run_hplcast("fit generative examples/generative/daily.csv --leave-out 3").status, 2);
  EXPECT_EQ(run_hplcast("fit generative examples/generative/daily.csv --parameters speed").status, 2);
  EXPECT_EQ(run_hplcast("fit generative examples/generative/daily.csv --parameters mn").status, 3);
  EXPECT_EQ(run_hplcast("fit generative examples/fit-library/dgemm.csv").status, 3);
}

TEST(FitGenerativeCommand, NodesThatAreNotThereAreNamed) {
  for (const char* wrong :
       {"--kind slow=[98-99]", "--leave-out 99:0", "--parameters foo", "--parameters mnk,mnk", "--kind 'slow=[4-1]'"})
    EXPECT_EQ(run_hplcast("fit generative examples/generative/daily.csv " + std::string(wrong)).status, 2) << wrong;
  const Outcome some = run_hplcast("fit generative examples/generative/daily.csv --kind slow=1,2,99");
  EXPECT_EQ(some.status, 0);
  EXPECT_THAT(some.output, ::testing::HasSubstr("kind slow: no regressions of node 99"));
}

TEST(FitGenerativeCommand, DrawsAPicture) {
  const hplcast::core::TemporaryFolder folder("hplcast-generative-plot");
  const std::string picture = (folder.path() / "kinds.svg").string();
  ASSERT_EQ(run_hplcast("fit generative examples/generative/daily.csv --find-kinds --quiet --plot " + picture).status,
            0);
  std::ostringstream svg;
  svg << std::ifstream(picture).rdbuf();
  EXPECT_THAT(svg.str(), ::testing::HasSubstr("Between CPUs"));
  EXPECT_THAT(svg.str(), ::testing::HasSubstr("</svg>"));
  EXPECT_EQ(run_hplcast("fit generative examples/generative/daily.csv --plot kinds.pdf").status, 2);
}

TEST(GenerateCommand, DrawsAClusterOfAnySize) {
  const auto cluster = generated("--hosts 'node-[1-100]' --name drawn --seed 7");
  EXPECT_EQ(cluster.name, "drawn");
  EXPECT_EQ(cluster.hosts.count(), 100);
  EXPECT_EQ(cluster.kernels.at("dgemm").overrides().size(), 100U * static_cast<unsigned>(cluster.hosts.values().cpus));
}

TEST(GenerateCommand, HostsMustFitTheirTree) {
  const hplcast::core::TemporaryFolder folder("hplcast-generate");
  const std::string tree = (folder.path() / "tree.json").string();
  ASSERT_EQ(run_hplcast("transform examples/dahu-like.json --fat-tree 8:4:2 -o " + tree).status, 0);
  const std::string from_tree = "generate examples/generative/generative.json --base " + tree;
  const Outcome outcome = run_hplcast(from_tree + " --hosts 'node-[1-8]'");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output, HasSubstr("the 32 hosts that its fat_tree joins"));
  EXPECT_EQ(run_hplcast(from_tree + " --hosts 'other-[1-32]'").status, 0);
}

TEST(GenerateCommand, EqualSeedsGiveEqualFiles) {
  EXPECT_EQ(run_hplcast(generate + "--seed 3").output, run_hplcast(generate + "--seed 3").output);
  EXPECT_NE(run_hplcast(generate + "--seed 3").output, run_hplcast(generate + "--seed 4").output);
  EXPECT_NE(run_hplcast(generate + "--seed 3").output, run_hplcast(generate + "--seed 3 --day 1").output);
}

TEST(GenerateCommand, WrongKindsAndMultipliersAreNamed) {
  EXPECT_EQ(run_hplcast(generate + "--kind slow").status, 2);
  EXPECT_EQ(run_hplcast(generate + "--kind no-such-kind=32").status, 3);
  for (const char* wrong : {"--spatial=-1", "--temporal=nan", "--seed=-1", "--hosts 'n-[4-1]'"})
    EXPECT_EQ(run_hplcast(generate + wrong).status, 2) << wrong;
  EXPECT_EQ(run_hplcast("generate no.json --base examples/dahu-like.json").status, 3);
}

}  // namespace
