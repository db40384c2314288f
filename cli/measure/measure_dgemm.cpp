#include <iostream>

#include "cli/measure/measuring_program.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/measure_dgemm.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;

std::string measure(const MeasuringRank& rank, const std::string& design_text, const MeasuringOptions& common,
                    calibration::DgemmMeasureOptions options) {
  options.epoch_s = rank.epoch_s;
  options.check = common.check;
  calibration::DgemmDesign design = calibration::read_dgemm_design(core::TextStream(design_text), common.design);
  const std::size_t first_row = cut(design, common.rows);
  const bool root = rank.world.rank() == 0;
  Progress progress;
  if (root) options.progress = progress_of_rows(progress, "dgemm", first_row, design.size());
  auto rows = calibration::measure_dgemm(rank.world, rank.place, design, options);
  if (common.check) return "";
  for (auto& row : rows) row.order += first_row;
  const bool sleeps = options.alone && rank.world.local_rank() > 0;
  const std::size_t made = sleeps ? design.size() : rows.size() / (options.alone ? 2 : 1);
  const double fewest = -rank.world.max(-static_cast<double>(made));
  const std::string all =
      rank.world.gather_rows([&](std::ostream& out) { calibration::write_dgemm_rows(out, rank.world.rank(), rows); });
  progress.clear();
  if (root)
    std::cerr << "measured on "
              << (options.alone ? "one rank of each host" : std::to_string(rank.world.size()) + " ranks")
              << ", each at least " << fewest << " of " << design.size() << " calls\n";
  return core::written(calibration::write_dgemm_header) + all;
}

/// The file of --control.
std::string control(const MeasuringRank& rank) {
  const core::ControlRow mine = calibration::measure_control(rank.world, rank.place, rank.epoch_s);
  return std::string(core::control_csv_header) + '\n' +
         rank.world.gather_rows([&](std::ostream& out) { core::write_row(out, mine); });
}

}  // namespace

int main(int argc, char** argv) {
  Command app("Measures dgemm on all ranks at once.", "hplcast-measure-dgemm");
  set_example(app, "mpirun -np 2 hplcast-measure-dgemm --design dgemm.csv -o dgemm_measurements.csv");
  MeasuringOptions common;
  calibration::DgemmMeasureOptions options;
  add_measuring_options(app, common);
  app.add_option("--warm-up", options.warm_up_s, "calls before the first recorded one", as_seconds, with_default);
  app.add_option("--budget,--budget-s", options.budget_s, "stop after this time, even if the design is not finished",
                 as_seconds);
  app.add_option("--footprint", options.footprint_bytes, "smallest size of the local matrix of each rank", as_bytes,
                 default_text("256MiB"));
  app.add_flag(
      "--alone", options.alone,
      "one rank of each host makes each call twice, while the others of the host sleep and while they compute: rows of "
      "kernels dgemm_alone and dgemm_beside");
  add_seed(app, options.seed, "of the contents of the matrices");
  app.add_flag("!--control", common.takes_design,
               "only the control measurement: 0.2 s of one shape on every core, and a message; no design");
  return run_measuring_program(app, common, argc, argv, [&](const MeasuringRank& rank, const std::string& design) {
    return common.takes_design ? measure(rank, design, common, options) : control(rank);
  });
}
