// What programs leave while they run, on arbitrary bytes: activities of ranks, samples of power, logs of HPL, of
// benchmarks and of frameworks, controls, results and settings of simulations; ledgers and the published history beside
// them.
#include <cstdint>

#include "hplcast/calibration/power_design.hpp"
#include "hplcast/calibration/power_meter.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "hplcast/study/compare.hpp"
#include "hplcast/study/explain.hpp"
#include "hplcast/study/follow.hpp"
#include "hplcast/study/history.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/report.hpp"
#include "study/activity/rank_activity.hpp"
#include "tests/fuzz/fuzzed_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  const test::FuzzedText attempt(data, size);
  attempt([](std::istream& in) { study::read_rank_activity(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_power_csv(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_power_samples(in, "fuzz", "", {}); });
  attempt([](std::istream& in) { core::read_benchmark_output(in, "fuzz", "remote"); });
  attempt([](std::istream& in) { core::read_perflog(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_ramble(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_sacct(in, "fuzz"); });
  attempt([](std::istream& in) {
    std::ostringstream goal;
    platforms::write_goal(goal, in, "fuzz");
  });
  attempt([](std::istream& in) {
    study::ReportData report;
    study::add_study_file(in, "fuzz", report);
  });
  attempt([](std::istream& in) { core::read_controls(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_simulation_settings(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_simulation_result(in, "fuzz"); });
  attempt([](std::istream& in) { calibration::read_pieces(in, "fuzz"); });
  attempt([](std::istream& in) {
    calibration::WattmeterDoubts doubts;
    calibration::read_wattmeter(in, "fuzz", doubts);
  });
  attempt([](std::istream& in) { study::read_program_output(in, "fuzz"); });
  attempt([](std::istream& in) { study::read_explanation(in, "fuzz"); });
  attempt([](std::istream& in) { study::read_ledger(in, "fuzz"); });
  attempt([](std::istream& in) { study::read_changes(in, "fuzz"); });
  attempt([](std::istream& in) { study::read_outliers(in, "fuzz"); });
  attempt([](std::istream& in) { study::import_runs(in, "fuzz", "", [](const study::CampaignRecord&) {}); });
  attempt([](std::istream& in) {
    for (const core::HplLog& run : core::read_hpl_logs(in, "fuzz")) {
      study::RunFollower follower(run.parameters, std::nullopt);
      for (const core::HplProgress& line : run.progress) follower.take(line);
    }
  });
  return 0;
}
