// Programs of HIP, rocBLAS and MPI in the simulator: times, contents, what is executed, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/program_run.hpp"
#include "tests/programs/program_cluster.hpp"

namespace hplcast {
namespace {

using testing::HasSubstr;

core::AcceleratorModel example_accelerator() {
  core::AcceleratorModel model;
  model.name = "example";
  model.per_host = 2;
  model.memory_bytes = 64e9;
  model.compute_units = 100;
  model.launch_s = 4e-6;
  model.start_s = 3e-6;
  model.gap_s = 1e-6;
  model.record_s = 5e-7;
  model.sync_s = 2e-6;
  model.flag_s = 1.2e-6;
  model.to_device = {1e-5, 3.6e10, 9e9};
  model.from_device = {1e-5, 2.4e10, std::nullopt};
  model.within_device = {2e-6, 1e12, std::nullopt};
  const auto add = [&](const char* name, core::AcceleratorKernel kernel) { model.kernels[name] = std::move(kernel); };
  add("dgemm", {{}, {}, {}, tests::exact_model({{1, 1, 1}}, {1e-12}), {}});
  add("idamax", {{}, {}, {}, tests::exact_model({{0, 1, 0}}, {1e-12}), {}});
  add("fill", {0, 1, {}, tests::exact_model({{1, 1, 0}}, {1e-9}), {}});
  add("panel", {0, {}, {}, {}, core::HandshakeModel{2, 1, 3, 2e-6, 2.5e-11, 1.25e-11}});
  return model;
}

study::ProgramRunRequest request_of(const std::string& what, int ranks = 1) {
  study::ProgramRunRequest request;
  request.cluster = tests::program_cluster();
  request.cluster.accelerators = example_accelerator();
  request.ranks = ranks;
  request.program = HPLCAST_BINARY_DIR "/tests/accelerators_device-smpi";
  request.arguments = {what};
  request.timeout_s = 120;
  return request;
}

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) numbers.push_back(std::stod(word));
  return numbers;
}

TEST(SimulatedDevice, TakesTheTimesOfItsModel) {
  const study::ProgramRun run = study::run_program(request_of("times"));
  const std::vector<double> found = numbers_in(run.output);
  ASSERT_EQ(found.size(), 3u) << run.output;
  const core::AcceleratorModel a = example_accelerator();
  const double wtime_s = tests::program_cluster().network.values().wtime_s;
  const double host_s = wtime_s + 3 * a.launch_s + 4 * a.record_s;
  const double product_s = 1e-12 * 1000 * 500 * 100, fill_s = 1e-9 * 1000 * 20, copy_s = 1e-5 + 8e6 / 2.4e10;
  const double copied_s = a.record_s + a.launch_s + a.start_s + product_s + 2 * a.gap_s + fill_s + copy_s;
  constexpr double digits = 1e-9;  // printed with nine, of times below 1 ms
  EXPECT_NEAR(found[0], host_s, digits);
  EXPECT_NEAR(found[1], copied_s + a.sync_s + 2 * wtime_s, digits + 2 * wtime_s);
  EXPECT_NEAR(found[2], copied_s - a.record_s, 1e-10 + digits);
  ASSERT_TRUE(run.accelerators.has_value());
  EXPECT_EQ(run.accelerators->kernels.at("dgemm/NT").calls, 1);
  EXPECT_DOUBLE_EQ(run.accelerators->kernels.at("dgemm/NT").time_s, product_s);
  EXPECT_EQ(run.accelerators->kernels.at("dgemm/NT").flop, 1e8);
  EXPECT_DOUBLE_EQ(run.accelerators->kernels.at("fill").time_s, fill_s);
  EXPECT_EQ(run.accelerators->bytes_from_device, 8e6);
  EXPECT_EQ(run.accelerators->peak_bytes, 24e6);
}

TEST(SimulatedDevice, SmallContentsTravelInLongMessagesBetweenDevices) {
  const study::ProgramRun run = study::run_program(request_of("content", 2));
  EXPECT_THAT(run.output, HasSubstr("list 3 1 4 1\n"));
  EXPECT_THAT(run.output, HasSubstr("from host 3 1 4 1\n"));
  EXPECT_THAT(run.output, HasSubstr("replaced 10 of 0\n"));
  EXPECT_THAT(run.output, HasSubstr("replaced 11 of 1\n"));
  EXPECT_THAT(run.output, HasSubstr("filled 33686018 33686018 0\n"));
  // 2 x 80 MB of memory of devices, messages of 32 MB, and copies of 40 MB in rows: nothing of them is committed.
  EXPECT_LT(run.peak_pss_bytes, 60e6);
}

TEST(SimulatedDevice, MessagesFromItsMemoryTakeTheirOwnTime) {
  study::ProgramRunRequest request = request_of("messages", 5);  // ranks 0 to 3 on one host
  core::AcceleratorModel& model = *request.cluster.accelerators;
  model.per_host = 4;
  const auto times_s = [&] { return numbers_in(study::run_program(request).output); };
  const std::vector<double> as_the_network = times_s();
  model.messages = core::DeviceMessages{core::DeviceMessage{1e-4, 2e11, 2}, core::DeviceMessage{2e-4, 5e10, {}},
                                        core::DeviceMessage{5e-4, 1e9, {}}};
  const std::vector<double> found = times_s();
  ASSERT_EQ(found.size(), 7u);
  constexpr double bytes = 3.2e7, calls_s = 2e-5;  // what it takes to leave the barrier, and two looks at the clock
  EXPECT_NEAR(found[0], 1e-4 + bytes / 2e11, calls_s) << "ranks 0 and 1 are near each other";
  EXPECT_NEAR(found[1], 2e-4 + bytes / 5e10, calls_s);
  EXPECT_NEAR(found[2], 2e-4 + bytes / 5e10, calls_s);
  EXPECT_NEAR(found[3], 5e-4 + bytes / 1e9, calls_s) << "the other host";
  EXPECT_NEAR(found[4], as_the_network[4], 1e-12) << "from memory of the host";
  EXPECT_NEAR(as_the_network[0], as_the_network[4], calls_s) << "without costs of their own";
  EXPECT_NEAR(found[6], found[5], calls_s) << "MPI_Sendrecv_replace takes the time of MPI_Sendrecv";
  EXPECT_GT(std::abs(as_the_network[6] / found[6] - 1), 0.01);
  EXPECT_GT(std::abs(as_the_network[3] / found[3] - 1), 0.01);
  model.messages->remote.reset();
  EXPECT_NEAR(times_s()[3], as_the_network[3], calls_s);
}

TEST(SimulatedDevice, DrawsThePowerOfItsKernels) {
  study::ProgramRunRequest request = request_of("times");
  request.observation.energy = true;
  request.cluster.power = core::power_from_loads({{std::nullopt, 100, 150, 200, 0}}, 4);
  const double hosts_j = study::run_program(request).energy->energy_j;
  core::AcceleratorModel& model = *request.cluster.accelerators;
  EXPECT_THAT(study::check(request), testing::Contains(HasSubstr("no `power`, so they draw nothing")));
  model.power = core::AcceleratorPower{50, 100, 250};
  model.kernels.at("dgemm").power_w = 400;
  const study::ProgramRun run = study::run_program(request);
  const double product_s = 1e-12 * 1000 * 500 * 100, fill_s = 1e-9 * 1000 * 20;
  const double waiting_s = run.time_s - product_s - fill_s;
  // One of the two accelerators of the host has a rank.
  const double expected_j = 400 * product_s + 250 * fill_s + 100 * waiting_s + 50 * run.time_s;
  EXPECT_NEAR(run.energy->energy_j - hosts_j, expected_j, 1e-9 * expected_j + 1e-12 * hosts_j);
  EXPECT_NEAR(run.energy->mean_power_w, run.energy->energy_j / run.time_s, 1e-9);
  EXPECT_EQ(run.energy->states.back().name, "accelerators without a rank");
  EXPECT_EQ(run.accelerators->used, 1);
  EXPECT_EQ(run.accelerators->idle, 1);
  core::PowerModel::Values behind_supply = request.cluster.power->values();
  behind_supply.supply_efficiency = 0.5;
  request.cluster.power = core::PowerModel::make(behind_supply);
  EXPECT_NEAR(study::run_program(request).energy->energy_j, 2 * run.energy->energy_j, 1e-9 * run.energy->energy_j);
}

TEST(SimulatedDevice, ShowsTheFlagsOfAKernelWhenItsClockSays) {
  const study::ProgramRun run = study::run_program(request_of("handshake"));
  const std::vector<double> found = numbers_in(run.output);
  ASSERT_EQ(found.size(), 5u) << run.output;
  EXPECT_THAT(run.output, HasSubstr("with rows"));
  const core::AcceleratorModel a = example_accelerator();
  const double search_s = 2e-6 + 2.5e-11 * 10000;
  const double wtime_s = tests::program_cluster().network.values().wtime_s;
  constexpr double digits = 1e-10;
  EXPECT_NEAR(found[0], a.launch_s + a.start_s + search_s + a.flag_s, digits + 2 * wtime_s);
  // The host answers as soon as it has read the clock.
  for (int j : {1, 2}) EXPECT_NEAR(found[j] - found[j - 1], 2 * a.flag_s + search_s, digits + 2 * wtime_s);
  EXPECT_NEAR(found[3] - found[2], a.flag_s + search_s + a.sync_s, digits + 2 * wtime_s);
}

TEST(SimulatedDevice, ExecutesWhereNumericsAreRun) {
  study::ProgramRunRequest request = request_of("product");
  const study::ProgramRun modelled = study::run_program(request);
  request.numerics = true;
  const study::ProgramRun executed = study::run_program(request);
  EXPECT_THAT(executed.output, HasSubstr("product 6 largest 3 filled 7\n"));
  EXPECT_THAT(modelled.output, HasSubstr("product 0 "));
  EXPECT_DOUBLE_EQ(modelled.time_s, executed.time_s);
}

TEST(SimulatedDevice, ExecutesKernelsThatTalkWithTheHostAndTheyTakeTheirTimes) {
  study::ProgramRunRequest request = request_of("handshake");
  const std::string modelled = study::run_program(request).output;
  request.numerics = true;
  const std::string executed = study::run_program(request).output;
  const auto times = [](const std::string& output) { return output.substr(0, output.find("determinant")); };
  EXPECT_EQ(times(executed), times(modelled));
  request = request_of("determinant", 2);
  request.numerics = true;
  // Of a matrix of Vandermonde on 1, 2, 3, 4, two rows on each rank: the product of all differences.
  EXPECT_THAT(study::run_program(request).output, HasSubstr("determinant 12\n"));
}

TEST(SimulatedDevice, HasARowPerStreamInTheTrace) {
  study::ProgramRunRequest request = request_of("times");
  request.observation.trace = HPLCAST_BINARY_DIR "/tests/accelerators-trace.json";
  study::run_program(request);
  const std::string trace = core::read_text(request.observation.trace);
  EXPECT_THAT(trace, HasSubstr("accelerator of rank 0"));
  EXPECT_THAT(trace, HasSubstr("\"stream 1\""));
  EXPECT_THAT(trace, HasSubstr("\"name\":\"dgemm/NT\""));
  // A copy of 8 MB, 1e-5 s + 8e6 / 2.4e10 s, on the other stream.
  EXPECT_THAT(trace, testing::ContainsRegex("copy from device.*\"dur\":343.333,.*8000000"));
}

TEST(SimulatedDevice, QueriesEndWithTheWork) {
  const study::ProgramRun run = study::run_program(request_of("queries"));
  const std::vector<double> polls = numbers_in(run.output);
  // The kernel takes 1 ms, a look 2 us.
  EXPECT_NEAR(polls.at(0), 1e-3 / 2e-6, 3) << run.output;
  EXPECT_NEAR(polls.at(1), 1e-3 / 2e-6, 3) << "asked for a time that is not known yet";
  EXPECT_NEAR(polls.at(2), 1, 0.01);
}

TEST(SimulatedDevice, CopiesWithinTheHostAreNoneOfTheDevice) {
  const study::ProgramRun run = study::run_program(request_of("within-host"));
  const std::vector<double> found = numbers_in(run.output);
  ASSERT_EQ(found.size(), 2u);
  constexpr double copy_s = 1e-5 + 8e6 / 2.4e10, calls_s = 2e-5;  // those of the host around it
  for (const double one : found) EXPECT_NEAR(one, copy_s, calls_s);
  EXPECT_THAT(run.output, HasSubstr(" x\n")) << "they are made";
  EXPECT_EQ(run.accelerators->bytes_within_device + run.accelerators->bytes_from_device, 0);
}

struct Refusal {
  std::string what, message;
};

class RefusedProgram : public testing::TestWithParam<Refusal> {};

std::string failure_of(const study::ProgramRunRequest& request) {
  try {
    const study::ProgramRun run = study::run_program(request);
    return "no failure: " + run.output;
  } catch (const core::Error& error) {
    return error.what();
  }
}

TEST_P(RefusedProgram, EndsWithAReason) {
  EXPECT_THAT(failure_of(request_of(GetParam().what)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedProgram,
    testing::Values(Refusal{"too-much", "hipMalloc of 77.3 GB does not fit: 77.3 of 64 GB"},
                    Refusal{"double-free", "was never allocated there, or is freed twice"},
                    Refusal{"free-host", "frees (hipFree) what is no allocation of its accelerator"},
                    Refusal{"free-inside", "an address inside of one"},
                    Refusal{"free-not-pinned", "frees (hipHostFree, hipHostUnregister) memory that is not pinned"},
                    Refusal{"shape", "a block of 2048 x 1 x 1 threads; expected at most 1024"},
                    Refusal{"no-model", "have no model of kernel unknown"},
                    Refusal{"direction", "its addresses are those of hipMemcpyHostToDevice"},
                    Refusal{"too-long", "100 bytes of the device where its allocation has 80"},
                    Refusal{"pitch", "calls hipMemcpy2D with rows of 16 bytes, and a pitch of 2"},
                    Refusal{"null-fill", "calls hipMemset with a null pointer"},
                    Refusal{"stream", "a stream of HIP that does not exist (7)"},
                    Refusal{"two-devices", "rank 0 works with accelerator 1 (hipSetDevice) beside its own, 0"},
                    Refusal{"spin", "looked at memory 100,000,000 times that no running kernel writes"},
                    Refusal{"no-handle", "calls rocblas_set_stream without a handle"},
                    Refusal{"plain-store", "clears the flag of kernel panel by a plain store"},
                    Refusal{"deadlock", "waits for ever: it synchronises behind a kernel"}),
    [](const testing::TestParamInfo<Refusal>& one) {
      std::string name = one.param.what;
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

TEST(SimulatedDevice, ExecutedKernelsSetTheirFlagsAsOftenAsClusterJsonSaysAndTheHostLooks) {
  study::ProgramRunRequest request = request_of("determinant", 2);
  request.numerics = true;
  request.cluster.accelerators->kernels.at("panel").handshake->columns = 0;  // 2, in place of 4
  EXPECT_THAT(failure_of(request), HasSubstr("sets its flag more often than the 2 times that `columns`"));
  request.arguments = {"handshake"};  // 10000, in place of 3
  EXPECT_THAT(failure_of(request), HasSubstr("sets its flag less often than the 10000 times"));
  request.arguments = {"plain-load"};
  EXPECT_THAT(failure_of(request), HasSubstr("clears the flag of kernel panel that it has not looked at"));
}

TEST(SimulatedDevice, ASpinThatNobodySeesIsToldAndEnds) {
  study::ProgramRunRequest request = request_of("unseen-spin");
  request.timeout_s = 900;  // 30 s of CPU time, also where others take most of it
  EXPECT_THAT(failure_of(request), HasSubstr("computed for 30 s without looking at it"));
}

TEST(SimulatedDevice, FastModeRefusesToProbe) {
  study::ProgramRunRequest request = request_of("probe");
  EXPECT_THAT(study::run_program(request).output, HasSubstr("probed 0"));
  request.fast = true;
  EXPECT_THAT(failure_of(request), HasSubstr("probes (MPI_Probe, MPI_Iprobe): with --fast"));
  request.direct_messages = false;
  EXPECT_THAT(failure_of(request), HasSubstr("--fast beside --messages smpi"));
}

TEST(SimulatedDevice, RefusesTheSizesThatRocBlasRefuses) {
  const std::string output = study::run_program(request_of("sizes")).output;
  EXPECT_THAT(output, HasSubstr("dgemm -5: rocblas_status_invalid_size"));
  EXPECT_THAT(output, HasSubstr("dgemm 20: rocblas_status_invalid_size"));
}

TEST(SimulatedDevice, StaticObjectsMayFreeTheirMemoryWhenTheProgramHasEnded) {
  EXPECT_EQ(study::run_program(request_of("static")).accelerators->peak_bytes, 8);
}

TEST(SimulatedDevice, AProgramForTheSimulatorSaysSoWhenItIsStartedByItself) {
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/tests/accelerators_device-smpi";
  command.output = HPLCAST_BINARY_DIR "/tests/accelerators-by-itself.txt";
  EXPECT_EQ(core::run(command).status, 2);
  EXPECT_THAT(core::read_text(command.output), HasSubstr("compiled for simulation, and runs on no accelerator"));
}

TEST(SimulatedDevice, NeedsAnAcceleratorPerRank) {
  EXPECT_THAT(
      failure_of(request_of("times", 4)),
      HasSubstr("is number 3 of the ranks of its host that use an accelerator; a host of cluster program has 2"));
  study::ProgramRunRequest without = request_of("times");
  without.cluster.accelerators.reset();
  EXPECT_THAT(failure_of(without), HasSubstr("uses an accelerator, and cluster program has none"));
}

}  // namespace
}  // namespace hplcast
