// `hplcast fit accelerator` on calls whose costs are known, and hplcast-measure-accelerator on the fake accelerator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"

namespace {

using hplcast::test::Outcome;
using hplcast::test::run_hplcast;
using ::testing::HasSubstr;

class FitAccelerator : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content = "") const {
    const std::string path = (folder_.path() / name).string();
    if (!content.empty()) std::ofstream(path) << content;
    return path;
  }

  hplcast::core::TemporaryFolder folder_{"hplcast-fit-accelerator"};
};

/// Calls of an accelerator with costs known, without noise.
std::string known_calls() {
  std::ostringstream csv;
  csv.precision(17);
  csv << "kernel,m,n,k,duration_s,content,accelerator,memory_bytes,compute_units\n";
  const auto add = [&](const std::string& kernel, int m, int n, int k, double duration_s) {
    csv << kernel << ',' << m << ',' << n << ',' << k << ',' << duration_s << ",random,a card,64e9,110\n";
  };
  std::mt19937 random(3);
  const auto size = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int i = 0; i < 40; ++i) {
    {
      const double odd = i % 2 == 0 ? 0.5 : 2;  // around a median that 21 of 40 rows have
      const double factor = i < 21 ? 1 : odd;
      add("launch", 1, 1, 1, 4e-6 * factor);
      add("record", 1, 1, 1, 1e-6 * factor);
      add("gap", 1, 1, 1, 2e-6 * factor);
      add("wait", 1, 1, 1, 6e-6 * factor);
      add("flag", 1, 1, 1, 1.2e-6 * factor);
      const int bytes = 16 * size(1000000);
      add("to_device", 1, bytes, 1, 1e-5 + bytes / 3.6e10);
      add("to_device_pageable", 1, bytes, 1, 2e-5 + bytes / 8e9);
      add("from_device", 1, bytes, 1, 1e-5 + bytes / 2.4e10);
      add("within_device", 1, bytes, 1, 2e-6 + bytes / 1e12);
    }
    const int m = size(8000), n = size(8000), k = 32 * size(16);
    add("dgemm/NT", m, n, k, 7.5e-14 * m * n * k + 3e-12 * m * n + 5e-6);
    add("gather_rows", k, n, 1, 2e-11 * k * n + 1e-6);
  }
  return csv.str();
}

TEST_F(FitAccelerator, FindsTheCostsThatTheCallsWereMadeWith) {
  const Outcome outcome = run_hplcast("fit accelerator " + file("calls.csv", known_calls()) +
                                      " --per-host 8 --same dlaswp01T=gather_rows:1,0 --quiet -o " + file("a.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto json = nlohmann::json::parse(std::ifstream(file("a.json")));
  EXPECT_EQ(json["name"], "a card");
  EXPECT_EQ(json["per_host"], 8);
  EXPECT_EQ(json["compute_units"], 110);
  EXPECT_EQ(json["memory_bytes"], 64e9);
  EXPECT_EQ(json["launch_s"], 4e-6);
  EXPECT_EQ(json["record_s"], 1e-6);
  EXPECT_EQ(json["gap_s"], 0);  // it is in the durations
  EXPECT_EQ(json["start_s"], 3e-6);
  EXPECT_EQ(json["sync_s"], 3e-6);
  EXPECT_EQ(json["flag_s"], 1.2e-6);
  constexpr double exact = 1e-6;  // reweighted least squares of noiseless rows
  const auto near = [](double found, double truth) { return std::abs(found / truth - 1) < exact; };
  EXPECT_PRED2(near, json["to_device"]["bytes_per_s"].get<double>(), 3.6e10);
  EXPECT_PRED2(near, json["to_device"]["latency_s"].get<double>(), 1e-5);
  EXPECT_PRED2(near, json["to_device"]["pageable_bytes_per_s"].get<double>(), 8e9);
  EXPECT_PRED2(near, json["from_device"]["bytes_per_s"].get<double>(), 2.4e10);
  EXPECT_PRED2(near, json["within_device"]["bytes_per_s"].get<double>(), 1e12);
  const auto& kernels = json["kernels"];
  EXPECT_PRED2(near, kernels["dgemm/NT"]["model"]["mu"]["mnk"].get<double>(), 7.5e-14);
  EXPECT_EQ(kernels["dgemm"], kernels["dgemm/NT"]) << "the variants that were not measured";
  EXPECT_PRED2(near, kernels["gather_rows"]["model"]["mu"]["mn"].get<double>(), 2e-11);
  EXPECT_EQ(kernels["gather_rows"]["m"], 0);
  EXPECT_EQ(kernels["dlaswp01T"]["m"], 1);
  EXPECT_EQ(kernels["dlaswp01T"]["n"], 0);
  EXPECT_EQ(kernels["dlaswp01T"]["model"], kernels["gather_rows"]["model"]);
  EXPECT_FALSE(kernels.contains("launch"));
}

TEST_F(FitAccelerator, RowsThatComeFromACacheUpToSomeNumberOfColumnsHaveTwoSlopes) {
  std::ostringstream csv;
  csv.precision(17);
  csv << known_calls();
  std::mt19937 random(5);
  const auto truth_s = [](double m, double n) { return 1e-6 + (n < 2000 ? 2e-11 : 6e-11) * m * n; };
  for (unsigned i = 0; i < 60; ++i) {
    const unsigned m = 100 + static_cast<unsigned>(random() % 400),
                   n = 525 + 50 * i;  // half of them below: pieces begin every five
    csv << "scatter_rows," << m << ',' << n << ",1," << truth_s(m, n) << ",random,a card,64e9,110\n";
  }
  const Outcome outcome = run_hplcast("fit accelerator " + file("calls.csv", csv.str()) +
                                      " --cluster examples/dahu-like.json --quiet -o " + file("a.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::ifstream in(file("a.json"));
  const auto accelerators = hplcast::core::read_cluster(in, "a.json").accelerators.value();
  const auto& law = accelerators.kernels.at("scatter_rows").model->cluster_law();
  for (const double n : {600.0, 1900.0, 2100.0, 3400.0}) {
    const hplcast::core::KernelShape shape{300, n, 1};
    constexpr double exact = 1e-6;  // reweighted least squares of noiseless rows
    EXPECT_NEAR(law.at(shape).mean_s(shape) / truth_s(300, n), 1, exact) << n;
  }
}

TEST_F(FitAccelerator, PublishedCurvesReplaceWhatTheClusterHas) {
  const std::string cluster = file("c.json"), calls = file("calls.csv", known_calls());
  Outcome outcome =
      run_hplcast("fit accelerator " + calls + " --cluster examples/dahu-like.json --quiet -o " + cluster);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::string curve = "kernel,m,n,k,duration_s\n";
  for (const int size : {1024, 2048, 4096, 8192})
    curve += "dgemm," + std::to_string(size) + "," + std::to_string(size) + "," + std::to_string(size) + "," +
             std::to_string(2.0 * size * size * size / 20e12) + "\n";
  outcome = run_hplcast("fit accelerator " + file("curve.csv", curve) + " --cluster " + cluster + " --quiet -o " +
                        file("d.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::ifstream in(file("d.json"));
  const auto after = hplcast::core::read_cluster(in, "d.json");
  const auto& accelerators = after.accelerators.value();
  EXPECT_EQ(accelerators.launch_s, 4e-6);
  EXPECT_EQ(accelerators.kernels.count("gather_rows"), 1u);
  const hplcast::core::KernelShape shape{4096, 4096, 4096};
  constexpr double printed = 1e-3;  // durations have six decimals
  EXPECT_NEAR(accelerators.kernels.at("dgemm").model->cluster_law().at(shape).mean_s(shape) /
                  (2.0 * 4096 * 4096 * 4096 / 20e12),
              1, printed);
  // A curve alone says nothing of launches.
  outcome = run_hplcast("fit accelerator " + file("curve.csv"));
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("no rows of launch, record, flag, wait, gap, to_device"));
}

TEST_F(FitAccelerator, AKindOfHostsHasItsOwn) {
  const std::string mixed = file("mixed.json"), dahu = "examples/dahu-like.json";
  ASSERT_EQ(run_hplcast("transform " + dahu + " --replace-nodes 8:last:" + dahu + " --quiet -o " + mixed).status, 0);
  const Outcome outcome = run_hplcast("fit accelerator " + file("calls.csv", known_calls()) + " --cluster " + mixed +
                                      " --kind dahu-like --per-host 4 --quiet -o " + file("own.json"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::ifstream in(file("own.json"));
  const auto cluster = hplcast::core::read_cluster(in, "own.json");
  EXPECT_EQ(cluster.accelerators_of(23), nullptr);
  ASSERT_NE(cluster.accelerators_of(24), nullptr);
  EXPECT_EQ(cluster.accelerators_of(24)->per_host, 4);
}

TEST_F(FitAccelerator, BadInputIsToldOf) {
  const std::string calls = file("calls.csv", known_calls());
  const auto says = [&](const std::string& arguments, int status, const std::string& words) {
    const Outcome outcome = run_hplcast("fit accelerator " + arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_THAT(outcome.output, HasSubstr(words)) << arguments;
  };
  says(calls + " --same dlaswp", 2, "expected NAME=MEASURED");
  says(calls + " --same dlaswp=rows", 3, "rows was not measured; there are dgemm, dgemm/NT, gather_rows");
  says(calls + " --same dlaswp=gather_rows:0,x", 2, "expected places");
  says(calls + " --same dlaswp=gather_rows:0,1,2,3", 2, "up to three arguments");
  says(calls + " --same dlaswp=gather_rows", 2, "expected the places of its sizes, too");
  says(calls + " --same a=gather_rows:0,1 --same a=gather_rows:1,0", 2, "names `a` twice");
  says(calls + " --per-host 0", 2, "--per-host");
  says(calls + " --memory 0", 2, "--memory");
  says(calls + " " + calls, 2, "twice");
  const std::string head = "kernel,m,n,k,duration_s,accelerator\n", row = "dgemm,10,10,10,1e-5,";
  says(file("one.csv", head + row + "this card\n") + " " + file("other.csv", head + row + "that card\n"), 3,
       "calls of accelerator `that card`; expected those of `this card`");
  says(file("none.csv", "kernel,m,n,k,duration_s\n"), 3, "there are no measurements");
  says(file("flat.csv",
            "kernel,n,duration_s,memory_bytes\nlaunch,1,1,1\nrecord,1,1,1\nflag,1,1,1\nwait,1,1,1\n"
            "gap,1,1,1\nto_device,10,3,1\nto_device,20,2,1\nto_device,30,1,1\n"),
       4, "no acceptable fit of to_device");
}

/// Rows as {kernel, m, n, k}, in their order.
std::vector<std::string> designed(const std::string& csv) {
  std::vector<std::string> rows;
  std::istringstream in(csv);
  for (std::string line; std::getline(in, line);) {
    std::size_t end = 0;
    for (int i = 0; i < 4; ++i) end = line.find(',', end + 1);
    rows.push_back(line.substr(0, end));
  }
  return rows;
}

Outcome measure(const std::string& arguments) {
  hplcast::core::Command command;
  command.program = "/bin/sh";
  command.arguments = {"-c", "\"" HPLCAST_BINARY_DIR "/bin/hplcast-measure-accelerator\" " + arguments};
  command.timeout_s = 300;
  return hplcast::core::run(command);
}

TEST_F(FitAccelerator, MeasuresEachKindInAnOrderThatTheSeedSays) {
  const std::string words = "--fake --max-size 128 --nb 32 --inner 8 --calls 2 --warm-up 0s -o ";
  const Outcome outcome = measure(words + file("first.csv"));
  if (outcome.status == 2 && outcome.output.find("real accelerators") != std::string::npos)
    GTEST_SKIP() << "skipped: built for real accelerators";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  ASSERT_EQ(measure(words + file("again.csv") + " --seed 1").status, 0);
  ASSERT_EQ(measure(words + file("other.csv") + " --seed 2").status, 0);
  const std::vector<std::string> first = designed(hplcast::core::read_text(file("first.csv")));
  EXPECT_EQ(first, designed(hplcast::core::read_text(file("again.csv"))));
  EXPECT_NE(first, designed(hplcast::core::read_text(file("other.csv"))));
  std::map<std::string, int> rows;
  for (const std::string& row : first) ++rows[row.substr(0, row.find(','))];
  EXPECT_EQ(rows["dgemm/NN"], 4);  // of the update and of the panel
  for (const char* kind : {"dtrsm/R",
                           "dger",
                           "dscal",
                           "daxpy",
                           "dcopy",
                           "dgemv/N",
                           "dtrsv/N",
                           "idamax",
                           "gather_rows",
                           "scatter_rows",
                           "order_rows",
                           "copy_block",
                           "to_device",
                           "from_device",
                           "within_device",
                           "to_device_pageable",
                           "from_device_pageable",
                           "launch",
                           "record",
                           "gap",
                           "wait",
                           "flag"})
    EXPECT_EQ(rows[kind], 2) << kind;
}

TEST_F(FitAccelerator, MeasuredVectorsAreAllTouched) {
  ASSERT_EQ(setenv("HPLCAST_FAKE_CALLS", file("calls").c_str(), 1), 0);
  const Outcome outcome =
      measure("--fake --max-size 2000 --nb 16 --inner 8 --calls 3 --warm-up 0s -o " + file("a.csv"));
  unsetenv("HPLCAST_FAKE_CALLS");
  if (outcome.status == 2) GTEST_SKIP() << "skipped: built for real accelerators";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::map<std::string, double> least_s;  // per element
  for (const auto& one : std::filesystem::directory_iterator(folder_.path()))
    if (one.path().filename().string().rfind("calls-", 0) == 0)
      hplcast::core::read_file(one.path().string(), [&](std::istream& in, const std::string& name) {
        hplcast::core::CsvReader rows(in, name);
        while (rows.next()) {
          double& least = least_s.emplace(rows.text(rows.find_column("kernel")), 1).first->second;
          least = std::min(least, rows.positive(rows.find_column("duration_s")) / rows.positive(rows.find_column("n")));
        }
      });
  // Each element is read and written, and by daxpy another one is read; a scaling by 1, which OpenBLAS leaves out,
  // takes 0.05 us whatever the length.
  EXPECT_GT(least_s.at("dscal"), 0.4 * least_s.at("daxpy"));
  EXPECT_LT(least_s.at("dscal"), 2.5 * least_s.at("daxpy"));
}

TEST_F(FitAccelerator, MeasuringSaysWhatItCannotDo) {
  const auto says = [&](const std::string& arguments, int status, const std::string& words) {
    const Outcome outcome = measure(arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_THAT(outcome.output, HasSubstr(words)) << arguments;
  };
  if (measure("--fake --nb 8").output.find("real accelerators") != std::string::npos)
    GTEST_SKIP() << "skipped: built for real accelerators";
  says("", 6, "built where ROCm is not");
  says("--fake --nb 64 --max-size 32", 2, "expected inner <= nb <= largest size");
  says("--fake --max-size 100000", 3, "of the accelerator's memory");
  says("--fake --device 1", 3, "this host has 1, numbered from 0");
  says("--fake --calls 0", 2, "--calls");
  says("--fake -o nowhere/out.csv", 3, "nowhere");
}

}  // namespace
