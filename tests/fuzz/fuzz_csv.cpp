// Every reader of CSV on arbitrary bytes: an error of core or a result, never a crash, a hang or undefined behaviour.
#include <cstdint>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/detours.hpp"
#include "hplcast/fit/generative.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "hplcast/fit/kernel_table.hpp"
#include "hplcast/fit/network_fit.hpp"
#include "hplcast/fit/pair_topology.hpp"
#include "hplcast/fit/program_fit.hpp"
#include "hplcast/fit/run_power.hpp"
#include "tests/fuzz/fuzzed_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  const test::FuzzedText attempt(data, size);
  attempt([](std::istream& in) {
    fit::GroupedTables tables;
    fit::KernelCsvOptions options;
    options.by = {"kernel", "host"};
    fit::add_kernel_csv(in, "fuzz", options, tables);
    for (const auto& [group, table] : tables) fit::fit_hpl_kernel(group.front(), table);
  });
  attempt([](std::istream& in) {
    std::vector<core::MpiMeasurement> rows;
    core::read_mpi_csv(in, "fuzz", "recv", [&](const core::MpiMeasurement& row) { rows.push_back(row); });
    fit::NetworkFitOptions options;
    options.noise = fit::SegmentNoiseKind::mixture;
    fit::fit_network(rows, options);
  });
  attempt([](std::istream& in) {
    fit::GenerativeFitOptions options;
    options.parameters = {{{1, 1, 1}, false}, {{}, false}};
    fit::fit_generative(fit::read_daily_regressions(in, "fuzz", options.parameters), options);
  });
  attempt([](std::istream& in) {
    static const core::Hosts hosts = core::Hosts::make({"n-[1-2]", 4, 2, {}, 0});
    core::read_dgemm_table(in, "fuzz", "a", hosts);
  });
  attempt([](std::istream& in) { core::read_kernel_table(in, "fuzz", core::KernelSet::full); });
  attempt([](std::istream& in) { calibration::read_dgemm_design(in, "fuzz"); });
  attempt([](std::istream& in) { calibration::read_mpi_design(in, "fuzz"); });
  attempt([](std::istream& in) { fit::fit_detours(core::join_traces({core::read_detour_trace(in, "fuzz")})); });
  attempt([](std::istream& in) { core::read_collective_csv(in, "fuzz", [](const core::CollectiveRun&) {}); });
  attempt([](std::istream& in) { fit::fit_pair_topology(fit::read_pairs(in, "fuzz")); });
  attempt([](std::istream& in) { fit::read_run_energies(in, "fuzz"); });
  attempt([](std::istream& in) {
    fit::ProgramObservation observation;
    fit::read_reach({in, "fuzz"}, observation);
  });
  attempt([](std::istream& in) {
    std::vector<fit::CpuMessage> rows;
    fit::read_cpu_messages(in, "fuzz", {0, 0, 1, 1, 0, 0, 1, 1}, rows);
    fit::fit_rails(rows);
  });
  attempt([](std::istream& in) {
    std::istringstream times("function,time_s\nMPI_Init,1\nMPI_Barrier,1e-5\n");
    const fit::CountedRun counted = fit::read_counts({in, "fuzz"});
    fit::ProgramObservation observation;
    observation.stretches.runs.push_back("fuzz");
    fit::read_stretches({times, "times"}, counted, 0, observation);
  });
  attempt([](std::istream& in) {
    std::istringstream counts("rank,function,site,instructions\n0,MPI_Init,main+10,5\n0,MPI_Barrier,main+40,70\n");
    const fit::CountedRun counted = fit::read_counts({counts, "counts"});
    fit::ProgramObservation observation;
    observation.stretches.runs.push_back("counts");
    fit::read_stretches({in, "fuzz"}, counted, 0, observation);
  });
  attempt([](std::istream& in) {
    std::istringstream times("what,name,calls,time_s,flop\n");
    fit::ProgramObservation observation;
    fit::read_observed_rank({in, "fuzz"}, {times, "times"}, observation);
  });
  attempt([](std::istream& in) {
    std::istringstream calls("routine,m,n,k,duration_s,calls\n");
    fit::ProgramObservation observation;
    fit::read_observed_rank({calls, "calls"}, {in, "fuzz"}, observation);
  });
  attempt([](std::istream& in) { core::read_watt_per_state(in, "fuzz", {"", {2.3e9, 2.1e9}}); });
  return 0;
}
