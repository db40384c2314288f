#include <iostream>
#include <sstream>

#include "cli/measure/measuring_program.hpp"
#include "cli/support/options.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/calibration/measure_dgemm.hpp"

namespace {

using namespace hplcast;

std::string measure(const cli::MeasuringRank& rank, const std::string& design_text, const cli::MeasuringOptions& common,
                    calibration::DgemmMeasureOptions options) {
  options.epoch_s = rank.epoch_s;
  std::istringstream in(design_text);
  calibration::DgemmDesign design = calibration::read_dgemm_design(in, common.design);
  const std::size_t first_row = cli::cut(design, common.rows);
  if (common.check) return "";
  std::unique_ptr<cli::Progress> progress;
  if (rank.world.rank() == 0) {
    progress = std::make_unique<cli::Progress>();
    options.progress = [&](double fraction) {
      progress->update(fraction, "dgemm");
      cli::note_position(first_row, design.size(), fraction);
    };
  }
  auto rows = calibration::measure_dgemm(rank.world, rank.place, design, options);
  for (auto& row : rows) row.order += first_row;
  std::ostringstream mine;
  calibration::write_dgemm_rows(mine, rank.world.rank(), rows);
  const double fewest = -rank.world.max(-static_cast<double>(rows.size()));
  std::ostringstream all;
  calibration::write_dgemm_header(all);
  for (const std::string& text : rank.world.gather(mine.str())) all << text;
  if (progress) {
    progress->clear();
    std::cerr << "measured on " << rank.world.size() << " ranks, each at least " << fewest << " of " << design.size()
              << " calls\n";
  }
  return all.str();
}

}  // namespace

int main(int argc, char** argv) {
  cli::Command app("Measures dgemm on all ranks at once.", "hplcast-measure-dgemm");
  cli::set_example(app, "mpirun -np 2 hplcast-measure-dgemm --design dgemm.csv -o dgemm_measurements.csv");
  cli::MeasuringOptions common;
  calibration::DgemmMeasureOptions options;
  cli::add_measuring_options(app, common);
  app.add_option("--threads", options.threads, "threads of the BLAS in each rank", cli::between(1, 4096),
                 cli::with_default);
  app.add_option("--warm-up", options.warm_up_s, "calls before the first recorded one", cli::as_seconds(),
                 cli::with_default);
  app.add_option("--budget,--budget-s", options.budget_s, "stop after this time, even if the design is not finished",
                 cli::as_seconds());
  app.add_option("--footprint", options.footprint_bytes, "smallest size of the local matrix of each rank",
                 cli::as_bytes(), cli::default_text("256MiB"));
  cli::add_seed(app, options.seed, "of the contents of the matrices");
  return cli::run_measuring_program(app, common, argc, argv,
                                    [&](const cli::MeasuringRank& rank, const std::string& design) {
                                      return measure(rank, design, common, options);
                                    });
}
