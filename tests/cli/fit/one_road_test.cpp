// The two ways of a user from measurements to cluster.json give the same: `fit cluster` on an archive, and `fit
// kernel`, `fit network`, `assemble` on its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/campaign.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/measurement.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Measurements of a machine that does not exist: two hosts with two CPUs of one core each.
class MeasuredCampaign {
 public:
  explicit MeasuredCampaign(fs::path folder) : folder_(std::move(folder)) {
    write("campaign.yaml", "name: invented\n");
    write("surroundings/hosts.json", hosts());
    write("measurements/01-dgemm.csv", dgemm());
    write("measurements/02-kernels.csv", calls_of_hpl());
    write("measurements/03-mpi.csv", messages("none", 1, 5));  // costs that no model should see
    write("measurements/04-mpi.csv", messages("dgemm+iprobe", 1, 1));
    write("measurements/05-mpi.csv", messages("dgemm+iprobe", 2, 9));
    write("measurements/06-saturation.csv", saturation());
    write("measurements/07-thresholds.json",
          R"({"thresholds": [{"scope": "remote", "async_small_bytes": 8000, "detached_bytes": 40000}]})");
  }

  const fs::path& folder() const { return folder_; }
  std::string measured(const std::string& name) const { return (folder_ / "measurements" / name).string(); }

 private:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  static std::string hosts() {
    core::MeasurementContext context;
    for (const char* name : {"b", "a"}) {  // not in the order of the alphabet
      core::MachineDescription machine;
      machine.host = name;
      machine.packages = machine.cores = machine.hardware_threads = 2;
      machine.core_cpu = {0, 1};
      machine.memory_bytes = 8589934592;
      context.machines.push_back(machine);
    }
    for (int rank = 0; rank < 4; ++rank) context.ranks.push_back({rank, rank < 2 ? "b" : "a", rank % 2, rank % 2});
    std::ostringstream out;
    write_json(out, context);
    return out.str();
  }

  double scatter() { return std::exponential_distribution<>(50)(random_); }
  double size(double least, double most) {
    return std::round(least * std::pow(most / least, std::uniform_real_distribution<>()(random_)));
  }

  /// Each CPU at its own speed; matrices of constants are twice as fast. The last CPU has too few shapes for a law.
  std::string dgemm() {
    std::ostringstream out;
    out << core::kernel_csv_header << '\n';
    core::KernelMeasurement row;
    row.kernel = "dgemm";
    for (int i = 0; i < 400; ++i) {
      row.host = i % 4 < 2 ? "b" : "a";
      row.cpu = i % 2;
      if (i % 4 == 3 && i > 40) continue;
      row.content = i % 20 < 16 ? "random" : "constant";
      row.shape = {size(100, 2000), size(100, 2000), size(16, 256)};
      row.start_s = 0.1 * i;
      const double speed = (row.content == "constant" ? 2 : 1) * (1 - 0.03 * (i % 4)) * 2e10;
      row.duration_s = (1e-6 + 2 * row.shape.m * row.shape.n * row.shape.k / speed) * (1 + scatter());
      write_row(out, row);
    }
    return out.str();
  }

  std::string calls_of_hpl() {
    std::ostringstream out;
    out << core::kernel_csv_header << '\n';
    core::KernelMeasurement row;
    row.content = "hpl";
    row.host = "b";
    for (int i = 0; i < 300; ++i) {
      row.kernel = i % 3 == 0 ? "dgemm" : i % 3 == 1 ? "dtrsm" : "daxpy";
      row.shape = {row.kernel == "daxpy" ? 1 : size(64, 128), size(10, 1000), row.kernel == "daxpy" ? 1 : 64.0};
      row.start_s = 0.01 * i;
      row.duration_s = (2e-7 + row.shape.m * row.shape.n * row.shape.k / 1e10) * (1 + scatter());
      if (i == 100) row.error = "no memory";
      write_row(out, row);
      row.error.clear();
    }
    return out.str();
  }

  /// All pairs in the same columns; those of several pairs have the column `pairs` more.
  std::string messages(const std::string& background, long pairs, double factor) {
    std::ostringstream out;
    out << core::mpi_csv_header << ",pairs\n";
    core::MpiMeasurement row;
    row.background = background;
    for (int i = 0; i < 1200; ++i) {
      const char* const operations[] = {"send", "isend", "recv", "pingpong", "iprobe", "wtime"};
      row.operation = operations[i % 6];
      row.scope = i % 12 < 6 ? "local" : "remote";
      row.size_bytes = i % 6 < 4 ? size(1, 1e6) : 1;
      row.start_s = 0.001 * i;
      const double per_byte = row.scope == "local" ? 1e-10 : 8e-10;
      const double base_s = i % 6 < 3 ? 4e-7 + 0.1 * per_byte * row.size_bytes
                                      : 2 * (2e-6 + per_byte * row.size_bytes) / (i % 6 < 4 ? 1 : 10);
      row.duration_s = factor * base_s * (1 + scatter());
      std::ostringstream line;
      write_row(line, row);
      const std::string text = line.str();
      out << text.substr(0, text.find('\n')) << ',' << pairs << '\n';
    }
    return out.str();
  }

  std::string saturation() {
    std::ostringstream out;
    out << "operation,scope,size_bytes,duration_s,background,pairs,order\n";
    int order = 0;
    for (const int pairs : {1, 2, 4}) {
      for (int turn = 0; turn < 8; ++turn, ++order) {
        const double bytes = (1 + turn % 4) * 1e6;
        for (int pair = 0; pair < pairs; ++pair)
          out << "one_way,remote," << bytes << ','
              << (1e-5 + pairs * bytes / (pairs == 1 ? 1.2e9 : 2e9)) * (1 + scatter() / 10) << ",none," << pairs << ','
              << order << '\n';
      }
    }
    return out.str();
  }

  fs::path folder_;
  std::mt19937 random_{7};
};

class OneRoad : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  json result_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", path("result.json")});
    const Outcome outcome = run_hplcast_words(arguments, folder_.path().string());
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::ifstream in(path("result.json"));
    return json::parse(in, nullptr, false);
  }

  /// The single steps as `fit cluster` takes them; `kernel` and `network` are further options.
  json step_by_step(const std::vector<std::string>& kernel = {}, const std::vector<std::string>& network = {}) const {
    std::vector<std::string> words = {
        "fit", "kernel", measured_.measured("01-dgemm.csv"), measured_.measured("02-kernels.csv"), "--per-cpu",
        "b,a", "--quiet"};
    words.insert(words.end(), kernel.begin(), kernel.end());
    std::ofstream(path("kernels.json")) << result_of(words);
    words = {"fit", "network"};
    for (const char* name : {"03-mpi.csv", "04-mpi.csv", "05-mpi.csv", "06-saturation.csv"})
      words.push_back(measured_.measured(name));
    words.insert(words.end(), {"--thresholds", measured_.measured("07-thresholds.json"), "--quiet", "--objective",
                               "mean", "--noise", "mixture"});
    words.insert(words.end(), network.begin(), network.end());
    std::ofstream(path("network.json")) << result_of(words);
    return without_provenance(
        result_of({"assemble", "--name", "invented", "--hosts", "b,a", "--cores", "2", "--cpus", "2", "--rank-to-cpu",
                   "0,1", "--memory", "8GiB", "--kernel-fits", "kernels.json", "--network-fit", "network.json"}));
  }

  static json without_provenance(json cluster) {
    cluster.erase("provenance");
    cluster.erase("uncertainty");  // of a campaign as a whole
    return cluster;
  }

  core::TemporaryFolder folder_{"hplcast-road"};
  MeasuredCampaign measured_{folder_.path() / "invented"};
};

TEST_F(OneRoad, ArchiveAndItsFilesGiveTheSameCluster) {
  calibration::write_archive(folder_.path() / "invented.zip", measured_.folder(), "invented");
  const json cluster = result_of({"fit", "cluster", "invented.zip", "--name", "invented", "--quiet"});
  EXPECT_EQ(step_by_step(), without_provenance(cluster));
  // What the rules are about is in it: else both could have left it out.
  EXPECT_EQ(cluster.at("kernels").at("dgemm").at("overrides").size(), 3U);
  EXPECT_EQ(cluster.at("network").at("thresholds").at("detached_bytes"), 40000);
  EXPECT_EQ(cluster.at("network").at("remote").at("capacity").at("origin"), "measured");
  EXPECT_THAT(cluster.at("kernels").at("dgemm").at("quality").dump(),
              HasSubstr("the matrices do not hold random numbers"));
  EXPECT_THAT(cluster.at("provenance").at("notes").dump(), HasSubstr("1200 rows are left out: others were measured"));
  EXPECT_THAT(cluster.at("provenance").at("notes").dump(), HasSubstr("1200 rows are left out: several pairs"));
}

TEST_F(OneRoad, TheReportOfAnArchiveIsADozenLinesAndAWarningPerKind) {
  calibration::write_archive(folder_.path() / "invented.zip", measured_.folder(), "invented");
  const auto report = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"fit", "cluster", "invented.zip", "-o", path("c.json"), "--force"};
    words.insert(words.end(), more.begin(), more.end());
    return run_hplcast_words(words, folder_.path().string()).output;
  };
  std::istringstream lines(report({}));
  int count = 0;
  std::set<std::string> kinds;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t warning = line.find("warning: ");
    if (warning == std::string::npos) {
      ++count;
      continue;
    }
    const std::size_t kind = line.find(": ", warning + 9) + 2;
    EXPECT_TRUE(kinds.insert(line.substr(kind, line.find(':', kind) - kind)).second) << line;
  }
  EXPECT_GT(count, 4);
  EXPECT_LE(count, 12);
  EXPECT_FALSE(kinds.empty()) << "its dgemm has contents that are not random";
  const std::string verbose = report({"--verbose"});
  EXPECT_GT(std::count(verbose.begin(), verbose.end(), '\n'), 20);
}

TEST_F(OneRoad, SingleStepsKeepTheRowsOnRequest) {
  const json usual = step_by_step();
  const json all = step_by_step({"--all-contents"}, {"--all-backgrounds"});
  const auto rows = [](const json& cluster) {
    return cluster.at("kernels").at("dgemm").at("quality").at("rows").get<int>();
  };
  EXPECT_GT(rows(all), rows(usual));
  EXPECT_NE(all.at("network").at("remote").at("operations"), usual.at("network").at("remote").at("operations"));
}

TEST_F(OneRoad, SingleStepsSayWhatTheySetAside) {
  const Outcome kernel = run_hplcast_words({"fit", "kernel", measured_.measured("01-dgemm.csv"), "-o", path("k.json")});
  EXPECT_THAT(kernel.output, HasSubstr("rows set aside, the matrices do not hold random numbers, as those of HPL do"));
  const Outcome network = run_hplcast_words(
      {"fit", "network", measured_.measured("03-mpi.csv"), measured_.measured("04-mpi.csv"), "-o", path("n.json")});
  EXPECT_THAT(network.output, HasSubstr("note: 1200 rows are left out: others were measured with the background "
                                        "dgemm+iprobe, as in HPL"));
  const Outcome by_content =
      run_hplcast_words({"fit", "kernel", measured_.measured("01-dgemm.csv"), "--by", "content", "--quiet"});
  EXPECT_EQ(json::parse(by_content.output).size(), 2U) << "groups by content are about content";
}

}  // namespace
}  // namespace hplcast::test
