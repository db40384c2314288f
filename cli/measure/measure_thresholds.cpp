#include "cli/measure/measuring_program.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/measure_mpi.hpp"

int main(int argc, char** argv) {
  using namespace hplcast;
  using namespace hplcast::cli;
  Command app("Finds where MPI_Send stops being eager, and where it begins to wait for the receiver.",
              "hplcast-measure-thresholds");
  set_example(app, "mpirun -np 2 hplcast-measure-thresholds -o thresholds.json");
  MeasuringOptions common;
  common.takes_design = false;
  common.time_limit_s = 120;
  calibration::ThresholdOptions options;
  double max_bytes = static_cast<double>(options.max_bytes);
  calibration::PeerChoice choice = calibration::PeerChoice::any;
  add_measuring_options(app, common);
  add_scope_option(app, choice);
  app.add_option("--max-bytes", max_bytes, "largest message to try", as_bytes, default_text("16MiB"));
  app.add_option("--absence", options.absence_s, "how long a receiver stays away", as_seconds, with_default);
  app.add_option("--repetitions", options.repetitions, "probes of each size; one that does not wait decides",
                 with_default);
  return run_measuring_program(app, common, argc, argv, [&](const MeasuringRank& rank, const std::string&) {
    options.max_bytes = static_cast<long>(max_bytes);
    const auto peers = calibration::choose_peers(rank.world.hosts(), choice);
    calibration::validate(options);
    if (common.check) return std::string();
    const auto thresholds = calibration::measure_thresholds(rank.world, peers, options);
    if (rank.world.rank() == 0 && thresholds.empty()) throw InputError("nothing was measured: no pair of ranks");
    return core::written([&](std::ostream& out) { calibration::write_json(out, thresholds); });
  });
}
