#include <signal.h>

#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/support/options.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/calibration/measure_detours.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;

struct Options {
  std::string cores = "all";
  bool json = false;
  unsigned seed = 0;
  calibration::NoiseSourceOptions source;
};

std::atomic<bool> stop{false};

void stop_at_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop = true; };
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void print_table(std::ostream& out, const std::vector<calibration::NoiseSourceRow>& rows) {
  TextTable table({"core", "periods", "begun", "late", "lateness", "at most", "busy [s]", "duty"});
  for (const calibration::NoiseSourceRow& row : rows)
    table.add({std::to_string(row.core), std::to_string(row.periods), std::to_string(row.events),
               std::to_string(row.late), significant(1e6 * row.mean_lateness_s, 3) + " us",
               significant(1e6 * row.longest_lateness_s, 3) + " us", significant(row.busy_s),
               significant(100 * row.duty) + " %"});
  table.write(out);
}

nlohmann::ordered_json json_of(const Options& options, const std::vector<calibration::NoiseSourceRow>& rows) {
  nlohmann::ordered_json json;
  json.update(HPLCAST_JSON(options.source, period_s, duration_s, synchronous));
  json["clock"] = options.source.clock == calibration::WorkClock::cpu ? "cpu" : "wall";
  json["cores"] = nlohmann::ordered_json::array();
  for (const calibration::NoiseSourceRow& row : rows)
    json["cores"].push_back(
        HPLCAST_JSON(row, core, periods, events, late, mean_lateness_s, longest_lateness_s, busy_s, wall_s, duty));
  json["warnings"] = calibration::noise_source_warnings(options.source, rows);
  return json;
}

void run(Options& options) {
  options.source.cores = calibration::parse_cores(options.cores, calibration::Topology::of_this_machine().cores());
  options.source.seed = options.seed != 0 ? options.seed : std::random_device{}();
  of_options([&] { calibration::validate(options.source); });
  stop_at_signals();
  const auto rows = calibration::run_noise_source(options.source, stop);
  options.json ? write_result("", json_of(options, rows)) : print_table(std::cout, rows);
  warn_all(calibration::noise_source_warnings(options.source, rows));
}

}  // namespace

int main(int argc, char** argv) {
  Command app("Takes cores away now and then, as an agent or a daemon does: to test detectors of detours.",
              "hplcast-noise-source");
  set_example(app, "hplcast-noise-source --period 1s --duration 10ms --cores 0 --for 2s");
  Options options;
  app.add_option("--period", options.source.period_s, "from one beginning to the next", as_seconds, with_default);
  app.add_option("--duration", options.source.duration_s, "of work in every period", as_seconds, with_default);
  app.add_option("--cores", options.cores, "cores to work on, such as 0-3,8, or all", with_default);
  app.add_flag(
      "--synchronous", options.source.synchronous,
      "begin at multiples of the period of the absolute clock: at once on all cores, and on hosts whose clocks "
      "agree (default: a random phase per core)");
  add_choice(app, "--clock", options.source.clock,
             "what the duration is of: processor time, or wall time, in which another program may have the core");
  app.add_option("--for", options.source.for_s, "end after this time, in whole periods", as_seconds, with_default);
  app.add_option("--seed", options.seed, "of the random phases (default: others every time)");
  app.add_flag("--json", options.json, "what it really did as JSON");
  app.callback([&] { run(options); });
  return run_program(app, argc, argv);
}
