// The measuring programs as a user runs them: under mpirun, with files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/process.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Programs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "skipped: two ranks need two cores";
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("hplcast_programs_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name) const { return folder_ / name; }

  template <typename Design>
  void write(const std::string& name, const Design& design) const {
    core::write_file(file(name), [&](std::ostream& out) { write_design(out, design); });
  }
  void write_text(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  core::Command mpirun(int ranks, const std::string& program, const std::vector<std::string>& arguments) const {
    core::Command command;
    command.program = "mpirun";
    command.arguments = {"-np", std::to_string(ranks), HPLCAST_BINARY_DIR "/bin/" + program};
    // Only where it must be: Open MPI then yields the processor whenever it waits.
    if (ranks > static_cast<int>(std::thread::hardware_concurrency())) {
      command.arguments.insert(command.arguments.begin(), "--oversubscribe");
    }
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
    command.directory = folder_;
    command.timeout_s = 120;
    return command;
  }
  core::CommandResult run(int ranks, const std::string& program, const std::vector<std::string>& arguments) const {
    return core::run(mpirun(ranks, program, arguments));
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }

  fs::path folder_;
};

DgemmDesign small_dgemm_design() {
  DgemmDesignOptions options;
  options.max_size = 200;
  options.nb = 32;
  options.count = 30;
  options.repetitions = 2;
  options.contents = {Content::random(), Content::constant(1)};
  return make_dgemm_design(options);
}

TEST_F(Programs, DgemmMeasuresEveryRowOfTheDesignOnceOnEveryRank) {
  const DgemmDesign design = small_dgemm_design();
  write("design.csv", design);
  const core::CommandResult result = run(2, "hplcast-measure-dgemm",
                                         {"--design", "design.csv", "-o", "out.csv", "--machine", "machine.json",
                                          "--warm-up", "50ms", "--footprint", "1MB", "--monitoring", "sensors.csv"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(files(), (std::set<std::string>{"design.csv", "machine.json", "out.csv", "sensors.csv"}));

  std::map<std::pair<long long, long long>, int> seen;
  std::set<long long> cores;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::CsvReader csv(in, name);
    const auto rank = csv.column("rank"), order = csv.column("order"), m = csv.column("m"), core = csv.column("core");
    while (csv.next()) {
      ++seen[{csv.integer(rank), csv.integer(order)}];
      cores.insert(csv.integer(core));
      EXPECT_EQ(csv.integer(m), design[static_cast<std::size_t>(csv.integer(order))].shape.m);
    }
  });
  EXPECT_EQ(seen.size(), 2 * design.size());
  for (const auto& [row, count] : seen) EXPECT_EQ(count, 1);
  EXPECT_EQ(cores.size(), 2u) << "each rank has a core of its own";

  double last_start_s = 0;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::read_kernel_csv(in, name, "", [&](const core::KernelMeasurement& row) {
      EXPECT_EQ(row.kernel, "dgemm");
      EXPECT_GT(row.duration_s, 0);
      EXPECT_GE(row.start_s, 0);
      EXPECT_TRUE(row.content == "random" || row.content == "constant-1");
      EXPECT_NE(row.host, "");
      last_start_s = std::max(last_start_s, row.start_s);
    });
  });
  EXPECT_LT(last_start_s, 60);

  core::read_file(file("machine.json"), [&](std::istream& in, const std::string& name) {
    const core::MeasurementContext context = core::read_context(in, name);
    ASSERT_EQ(context.ranks.size(), 2u);
    ASSERT_EQ(context.machines.size(), 1u);
    EXPECT_NE(context.ranks[0].core, context.ranks[1].core);
    EXPECT_THAT(context.software.blas_library, HasSubstr("OpenBLAS"));
    EXPECT_NE(context.software.mpi_library, "");
  });
}

TEST_F(Programs, SayWhichBlasTheyCallAndRefuseAnotherThanAskedFor) {
  const std::string reference = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3";
  if (!std::filesystem::exists(reference)) GTEST_SKIP() << "skipped: no " << reference;
  core::Command command = mpirun(1, "hplcast-measure-dgemm", {"--describe", "--blas", reference});
  const core::CommandResult refused = core::run(command);
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.output, HasSubstr("the ranks call "));
  EXPECT_THAT(refused.output, HasSubstr("-x LD_PRELOAD=" + reference));
  command.arguments.insert(command.arguments.begin(), {"-x", "LD_PRELOAD=" + reference});
  const core::CommandResult described = core::run(command);
  EXPECT_EQ(described.status, 0) << described.output;
  EXPECT_THAT(described.output, HasSubstr("\"blas_library\": \"libblas.so.3"));
}

TEST_F(Programs, DgemmStopsAtItsBudgetAndKeepsWhatItHas) {
  DgemmDesignOptions options;
  options.max_size = 1000;
  options.count = 5000;
  write("design.csv", make_dgemm_design(options));
  const core::CommandResult result =
      run(2, "hplcast-measure-dgemm", {"--design", "design.csv", "-o", "out.csv", "--warm-up", "0", "--budget", "1s"});
  ASSERT_EQ(result.status, 0) << result.output;
  long rows = 0;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::read_kernel_csv(in, name, "", [&](const core::KernelMeasurement&) { ++rows; });
  });
  EXPECT_GT(rows, 2);
  EXPECT_LT(rows, 2 * 15000);
}

/// Each call twice, alone and beside the other rank, in turn which of the two comes first.
TEST_F(Programs, OneRankOfAHostMeasuresDgemmAloneAndBeside) {
  DgemmDesignOptions options;
  options.max_size = 200;
  options.count = 20;
  const DgemmDesign design = make_dgemm_design(options);
  write("design.csv", design);
  const core::CommandResult result =
      run(2, "hplcast-measure-dgemm", {"--design", "design.csv", "-o", "out.csv", "--warm-up", "0", "--alone"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("measured on one rank of each host, each at least " +
                                       std::to_string(design.size()) + " of " + std::to_string(design.size())));
  std::size_t rows = 0;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::read_kernel_csv(in, name, "", [&](const core::KernelMeasurement& row) {
      EXPECT_EQ(row.kernel, rows % 4 == 0 || rows % 4 == 3 ? "dgemm_alone" : "dgemm_beside");
      const DgemmShape& shape = design[rows / 2].shape;
      EXPECT_EQ(row.shape, (core::KernelShape{static_cast<double>(shape.m), static_cast<double>(shape.n),
                                              static_cast<double>(shape.k)}));
      EXPECT_EQ(row.core, 0);
      ++rows;
    });
  });
  EXPECT_EQ(rows, 2 * design.size());
}

TEST_F(Programs, MpiMeasuresEveryRowOfTheDesignOnce) {
  MpiDesignOptions options;
  options.max_bytes = 1 << 18;
  options.count = 12;
  options.repetitions = 2;
  const MpiDesign design = make_mpi_design(options);
  write("design.csv", design);
  const core::CommandResult result =
      run(2, "hplcast-measure-mpi", {"--design", "design.csv", "-o", "out.csv", "--warm-up-calls", "10"});
  ASSERT_EQ(result.status, 0) << result.output;
  std::size_t row = 0;
  std::map<std::string, std::vector<double>> durations;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::read_mpi_csv(in, name, "", [&](const core::MpiMeasurement& measured) {
      ASSERT_LT(row, design.size());
      EXPECT_EQ(measured.operation, to_string(design[row].operation));
      EXPECT_EQ(measured.size_bytes, static_cast<double>(design[row].size_bytes));
      EXPECT_EQ(measured.scope, "local");
      EXPECT_EQ(measured.host, measured.peer);
      EXPECT_EQ(measured.background, "none");
      durations[measured.operation].push_back(measured.duration_s);
      ++row;
    });
  });
  EXPECT_EQ(row, design.size());
  EXPECT_EQ(durations.size(), all_mpi_operations().size());
  // Whatever the limit of this MPI is: 256 KiB cannot leave before the receiver comes, and it comes after 20 ms.
  const std::vector<double>& unmatched = durations["send_unmatched"];
  EXPECT_GT(*std::max_element(unmatched.begin(), unmatched.end()), 0.9 * late_receiver_s);
  EXPECT_LT(*std::min_element(unmatched.begin(), unmatched.end()), 0.9 * late_receiver_s);
}

/// In a virtual machine with page tables of its own (this one, in November 2026) the first message into a page takes 9
/// us more; memory that a network card knows is of the same kind. 64 KiB 200 times are a part of the buffer, 700 times
/// more than all of it.
TEST_F(Programs, MemoryThatMpiMeetsForTheFirstTimeCostsNoMeasuredMessage) {
  write("design.csv", MpiDesign(700, {MpiOperation::recv, 1 << 16, 0}));
  const core::CommandResult result = run(2, "hplcast-measure-mpi", {"--design", "design.csv", "-o", "out.csv"});
  ASSERT_EQ(result.status, 0) << result.output;
  std::vector<double> durations;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::read_mpi_csv(in, name, "",
                       [&](const core::MpiMeasurement& measured) { durations.push_back(measured.duration_s); });
  });
  ASSERT_EQ(durations.size(), 700U);
  const auto median_of = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + 100, values.end());
    return values[100];
  };
  EXPECT_LT(median_of({durations.begin(), durations.begin() + 200}),
            2 * median_of({durations.end() - 200, durations.end()}));
}

/// Four ranks as four places: what `fit topology` reads.
TEST_F(Programs, AllPairsOfRanksGiveATopology) {
  MpiDesign design;
  for (int repetition = 0; repetition < 5; ++repetition)
    for (const long size : {1L, 1L << 18}) design.push_back({MpiOperation::pingpong, size, repetition});
  write("design.csv", design);
  const core::CommandResult result = run(4, "hplcast-measure-mpi",
                                         {"--design", "design.csv", "-o", "out.csv", "--pattern", "all-pairs",
                                          "--scope", "local", "--allow-oversubscription", "--warm-up-calls", "1"});
  ASSERT_EQ(result.status, 0) << result.output;
  const test::Outcome fitted = test::run_hplcast_words({"fit", "topology", file("out.csv").string(), "--json"});
  ASSERT_EQ(fitted.status, 0) << fitted.output;
  const auto topology = nlohmann::json::parse(fitted.output);
  std::set<std::string> names;
  for (const auto& group : topology.at("groups"))
    for (const auto& host : group) names.insert(host.get<std::string>());
  EXPECT_EQ(names.size(), 4U) << fitted.output;
}

TEST_F(Programs, PatternsMeasureEveryRowUnderEveryBackground) {
  MpiDesignOptions options;
  options.max_bytes = 1 << 17;
  options.count = 3;
  options.repetitions = 1;
  options.operations = {MpiOperation::recv, MpiOperation::isend, MpiOperation::pingpong, MpiOperation::iprobe};
  const MpiDesign design = make_mpi_design(options);
  write("design.csv", design);
  const std::map<std::string, std::size_t> clocks{{"pair", 1}, {"ring", 2}, {"saturated", 1}};  // of two ranks
  for (const auto& [pattern, initiators] : clocks) {
    // Each pattern as in HPL, one of them also with the others.
    const std::vector<std::string> backgrounds =
        pattern == "ring" ? std::vector<std::string>{"none", "dgemm", "iprobe", "dgemm+iprobe"}
                          : std::vector<std::string>{"dgemm+iprobe"};
    for (const std::string& background : backgrounds) {
      const core::CommandResult result =
          run(2, "hplcast-measure-mpi",
              {"--design", "design.csv", "-o", "out.csv", "--pattern", pattern, "--background", background});
      ASSERT_EQ(result.status, 0) << pattern << " " << background << "\n" << result.output;
      std::set<std::pair<long long, long long>> rows;
      core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
        core::CsvReader csv(in, name);
        const auto rank = csv.column("rank"), order = csv.column("order"), label = csv.column("background");
        while (csv.next()) {
          EXPECT_TRUE(rows.insert({csv.integer(rank), csv.integer(order)}).second) << "a row twice";
          EXPECT_EQ(csv.text(label), background);
        }
      });
      EXPECT_EQ(rows.size(), initiators * design.size()) << pattern << " " << background;
    }
  }
}

TEST_F(Programs, ADesignOfSaturationMeasuresEachRowWithItsNumberOfPairs) {
  SaturationDesignOptions options;
  options.pairs = {1, 2, 4};
  options.max_bytes = 1 << 20;
  options.min_bytes = 1 << 18;
  options.count = 2;
  options.repetitions = 3;
  const MpiDesign design = make_saturation_design(options);
  write("design.csv", design);
  const core::CommandResult result =
      run(5, "hplcast-measure-mpi",
          {"--design", "design.csv", "-o", "out.csv", "--allow-oversubscription", "--warm-up-calls", "1"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("pairs of ranks at once: local 1, 2; too few ranks for 4"));
  std::map<long, std::vector<core::MpiMeasurement>> turns;
  core::read_file(file("out.csv"), [&](std::istream& in, const std::string& name) {
    core::read_mpi_csv(in, name, "", [&](const core::MpiMeasurement& row) { turns[row.order].push_back(row); });
  });
  EXPECT_EQ(turns.size(), 12U) << "the rows of one and of two pairs";
  double clocks_apart_s = NAN;
  for (const auto& [order, rows] : turns) {
    const MpiCall& call = design[static_cast<std::size_t>(order)];
    EXPECT_EQ(rows.size(), static_cast<std::size_t>(call.pairs));
    for (const core::MpiMeasurement& row : rows) {
      EXPECT_EQ(row.operation, "one_way");
      EXPECT_EQ(row.pairs, call.pairs);
      EXPECT_EQ(row.size_bytes, static_cast<double>(call.size_bytes));
      EXPECT_EQ(row.scope, "local");
    }
    if (rows.size() < 2) continue;
    // Both pairs begin a turn at one moment, which each tells by a clock of its own that began at the end of a barrier.
    const double apart_s = std::abs(rows[1].start_s - rows[0].start_s);
    if (std::isnan(clocks_apart_s)) clocks_apart_s = apart_s;
    EXPECT_NEAR(apart_s, clocks_apart_s, 1e-6);
  }
}

TEST_F(Programs, ABudgetEndsAllRanksOfASeries) {
  SaturationDesignOptions options;
  options.pairs = {1, 2};
  options.max_bytes = 1 << 20;
  options.repetitions = 20000;
  write("design.csv", make_saturation_design(options));
  const core::CommandResult result = run(4, "hplcast-measure-mpi",
                                         {"--design", "design.csv", "-o", "out.csv", "--budget", "1s",
                                          "--allow-oversubscription", "--warm-up-calls", "1"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("of 160000 rows of the design on 4 ranks"));
}

TEST_F(Programs, ABudgetEndsAllRanksOfAPattern) {
  MpiDesignOptions options;
  options.operations = {MpiOperation::send_unmatched};
  options.repetitions = 100;  // 20 ms each: a minute
  write("design.csv", make_mpi_design(options));
  const core::CommandResult result =
      run(3, "hplcast-measure-mpi",
          {"--design", "design.csv", "-o", "out.csv", "--pattern", "ring", "--background", "dgemm+iprobe", "--budget",
           "1s", "--allow-oversubscription", "--warm-up-calls", "1"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rows of the design on 3 ranks"));
}

TEST_F(Programs, ScopeCanBeNamed) {
  write("design.csv", MpiDesign{{MpiOperation::pingpong, 8, 0}});
  const std::vector<std::string> arguments{"--design", "design.csv", "--scope-name", "remote"};
  const core::CommandResult result = run(2, "hplcast-measure-mpi", arguments);
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("pingpong,remote,8,"));
}

TEST_F(Programs, ThresholdsAreThoseThatOpenMpiIsToldToHave) {
  constexpr long eager_limit = 20000;
  core::Command command = mpirun(2, "hplcast-measure-thresholds", {"-o", "out.json", "--max-bytes", "1MiB"});
  // Over TCP Open MPI counts its header as part of the message: 56 or 64 bytes in version 4, 80 in version 5.
  constexpr long longest_header = 80;
  // Version 5 takes TCP to the own host only when told to use its interface.
  const std::vector<std::string> over_tcp{"--mca", "btl",   "tcp,self",           "--mca", "btl_tcp_eager_limit",
                                          "20000", "--mca", "btl_tcp_if_include", "lo"};
  command.arguments.insert(command.arguments.begin(), over_tcp.begin(), over_tcp.end());
  const core::CommandResult result = core::run(command);
  ASSERT_EQ(result.status, 0) << result.output;
  core::read_file(file("out.json"), [&](std::istream& in, const std::string&) {
    const auto found = nlohmann::json::parse(in).at("thresholds").at(0);
    EXPECT_EQ(found.at("scope"), "local");
    EXPECT_TRUE(found.at("late_probes").get<bool>()) << "Open MPI looks first, and lets messages in afterwards";
    // 0 on a busy machine; 400 us per page is more than any takes.
    EXPECT_GE(found.at("first_use_s_per_byte").get<double>(), 0);
    EXPECT_LT(found.at("first_use_s_per_byte").get<double>(), 1e-7);
    for (const char* name : {"async_small_bytes", "detached_bytes"}) {
      EXPECT_LE(found.at(name).get<long>(), eager_limit + 1) << name;
      EXPECT_GE(found.at(name).get<long>(), eager_limit + 1 - longest_header) << name;
    }
  });
}

TEST_F(Programs, ATimeLimitEndsAllRanks) {
  const core::CommandResult result =
      run(2, "hplcast-measure-thresholds", {"-o", "out.json", "--absence", "10s", "--time-limit", "1s"});
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.output, HasSubstr("not done within the time limit of 1 s"));
  EXPECT_TRUE(files().empty());
}

TEST_F(Programs, BadInputEndsWithAMessageItsCodeAndNoFile) {
  struct Case {
    const char* design;
    int ranks;
    std::vector<std::string> arguments;
    int status;
    const char* message;
  };
  write_text("no_k.csv", "m,n\n1,1\n");
  write_text("zero.csv", "m,n,k\n5,5,5\n5,0,5\n");
  write_text("huge.csv", "m,n,k\n5,5,5\n2000000,2000000,5\n");
  write_text("small.csv", "m,n,k\n5,5,5\n");
  const std::vector<Case> cases = {
      {"no_k.csv", 2, {}, 3, "no_k.csv:1, field `k`: no such column; the columns are: m, n"},
      {"zero.csv", 2, {}, 3, "zero.csv:3, field `n`: found 0; expected at least 1"},
      {"huge.csv", 2, {}, 3, "the largest call is row 1: m=2000000, n=2000000, k=5"},
      {"missing.csv", 2, {}, 3, "missing.csv"},
      {"small.csv", static_cast<int>(std::thread::hardware_concurrency()) + 1, {}, 3, "start fewer ranks per host"},
      {"small.csv", 2, {"--warm-up", "soon"}, 2, "soon"},
      {"small.csv", 2, {"--machine", "small.csv"}, 3, "is a file that is read"},
      {"small.csv", 2, {"--monitoring", "out.csv"}, 2, "out.csv is given for two outputs"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments{"--design", c.design, "-o", "out.csv"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const core::CommandResult result = run(c.ranks, "hplcast-measure-dgemm", arguments);
    EXPECT_EQ(result.status, c.status) << c.design << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr(c.message));
    EXPECT_FALSE(fs::exists(file("out.csv"))) << c.design;
  }
  EXPECT_EQ(run(2, "hplcast-measure-dgemm", {}).status, 2);
}

TEST_F(Programs, MessagesNeedTwoRanksOfTheScopeAskedFor) {
  write("design.csv", MpiDesign{{MpiOperation::pingpong, 8, 0}});
  const core::CommandResult alone = run(1, "hplcast-measure-mpi", {"--design", "design.csv", "-o", "out.csv"});
  EXPECT_EQ(alone.status, 3);
  EXPECT_THAT(alone.output, HasSubstr("messages need two ranks"));
  const core::CommandResult remote =
      run(2, "hplcast-measure-mpi", {"--design", "design.csv", "-o", "out.csv", "--scope", "remote"});
  EXPECT_EQ(remote.status, 3);
  EXPECT_THAT(remote.output, HasSubstr("there is no remote rank"));
  EXPECT_FALSE(fs::exists(file("out.csv")));
}

TEST_F(Programs, ThresholdsOfNobodyAreAnErrorAndNoFile) {
  EXPECT_THAT(run(1, "hplcast-measure-thresholds", {"-o", "out.json"}).output, HasSubstr("messages need two ranks"));
  const core::CommandResult remote = run(2, "hplcast-measure-thresholds", {"-o", "out.json", "--scope", "remote"});
  EXPECT_EQ(remote.status, 3);
  EXPECT_THAT(remote.output, HasSubstr("there is no remote rank"));
  EXPECT_EQ(run(2, "hplcast-measure-thresholds", {"-o", "out.json", "--repetitions", "0", "--check"}).status, 3);
  EXPECT_FALSE(fs::exists(file("out.json")));
}

TEST_F(Programs, KernelsOfWhichNoCallIsKeptAreAnErrorAndNoFile) {
  write_text("runs.csv", "N,NB,P,Q\n60,16,1,1\n");
  const auto measured_by = [&](const std::string& body) {
    write_text("xhpl", "#!/bin/sh\n" + body + "\n");
    fs::permissions(file("xhpl"), fs::perms::owner_all);
    core::Command command;
    command.program = HPLCAST_BINARY_DIR "/bin/hplcast-measure-kernels";
    command.arguments = {"--configurations", "runs.csv", "-o", "out.csv", "--program", "./xhpl"};
    command.directory = folder_;
    return core::run(command);
  };
  const core::CommandResult none = measured_by("echo kernel,m,n,k,duration_s > \"$HPLCAST_KERNEL_TRACE-0.csv\"");
  EXPECT_EQ(none.status, 3) << none.output;
  EXPECT_THAT(none.output, HasSubstr("nothing was measured: no call of a kernel was kept"));
  const core::CommandResult other = measured_by("exit 0");
  EXPECT_EQ(other.status, 3) << other.output;
  EXPECT_THAT(other.output, HasSubstr("has left no trace of its kernels"));
  EXPECT_FALSE(fs::exists(file("out.csv")));
  const core::CommandResult one =
      measured_by("printf 'kernel,m,n,k,duration_s,host\\ndgemm,8,8,8,1e-6,h\\n' > \"$HPLCAST_KERNEL_TRACE-0.csv\"");
  EXPECT_EQ(one.status, 0) << one.output;
  EXPECT_THAT(core::read_text(file("out.csv")), HasSubstr(",1,72\n")) << "one rank; 64 is a power of two";
}

TEST_F(Programs, OversubscriptionMustBeAllowed) {
  const int ranks = 2 * static_cast<int>(std::thread::hardware_concurrency());
  write_text("design.csv", "m,n,k\n5,5,5\n");
  EXPECT_EQ(run(ranks, "hplcast-measure-dgemm",
                {"--design", "design.csv", "--warm-up", "0", "--footprint", "1MB", "--allow-oversubscription"})
                .status,
            0);
}

TEST_F(Programs, AnInterruptedMeasurementLeavesNothingBehind) {
  DgemmDesignOptions options;
  options.max_size = 1000;
  options.count = 5000;
  write("design.csv", make_dgemm_design(options));
  core::Command command = mpirun(2, "hplcast-measure-dgemm", {"--design", "design.csv", "-o", "out.csv"});
  int calls = 0;
  command.while_running = [&](int pid) {
    if (++calls == 20) kill(pid, SIGTERM);
  };
  EXPECT_NE(core::run(command).status, 0);
  EXPECT_EQ(files(), std::set<std::string>{"design.csv"});
}

}  // namespace
}  // namespace hplcast::calibration
