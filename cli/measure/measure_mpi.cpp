#include <iostream>

#include "cli/measure/measuring_program.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/measure_mpi.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;

std::string measure(const MeasuringRank& rank, const std::string& design_text, const MeasuringOptions& common,
                    calibration::MpiMeasureOptions options) {
  options.epoch_s = rank.epoch_s;
  for (const std::string& cpu : rank.world.gather_everywhere(std::to_string(rank.place.cpu)))
    options.cpus.push_back(std::stoi(cpu));
  calibration::MpiDesign design = calibration::read_mpi_design(core::TextStream(design_text), common.design);
  const std::size_t first_row = cut(design, common.rows);
  if (common.check) {
    const calibration::MpiSteps fits(rank.world.hosts(), design, options.pattern, options.scope, 0, options.cpus);
    return "";
  }
  const bool root = rank.world.rank() == 0;
  Progress progress;
  if (root) options.progress = progress_of_rows(progress, "mpi", first_row, design.size());
  auto rows = calibration::measure_mpi(rank.world, design, options);
  for (auto& row : rows) row.order += first_row;
  const std::string all =
      rank.world.gather_rows([&](std::ostream& out) { calibration::write_mpi_rows(out, rank.world.rank(), rows); });
  progress.clear();
  if (root) {
    const std::size_t measured = rows.empty() ? 0 : rows.back().order + 1 - first_row;
    if (design.front().pairs > 0) {
      const calibration::MpiSteps steps(rank.world.hosts(), design, options.pattern, options.scope, 0, options.cpus);
      std::cerr << "pairs of ranks at once: " << steps.summary() << '\n';
    }
    std::cerr << "measured " << measured << " of " << design.size() << " rows of the design on " << rank.world.size()
              << " ranks\n";
  }
  return core::written(calibration::write_mpi_header) + all;
}

}  // namespace

int main(int argc, char** argv) {
  Command app("Measures MPI calls between ranks of one host or of two, idle or under load.", "hplcast-measure-mpi");
  set_example(app, "mpirun -np 2 hplcast-measure-mpi --design mpi.csv -o mpi_measurements.csv");
  MeasuringOptions common;
  calibration::MpiMeasureOptions options;
  add_measuring_options(app, common);
  add_scope_option(app, options.scope);
  add_choice(app, "--pattern", options.pattern,
             "pair: rank 0 with its peers; ring: each rank with the next; saturated: "
             "disjoint pairs, all at once; all-pairs: each host with each, in random rounds "
             "(--scope local: each rank of a host); cpus: ranks of each CPU of a host with those of "
             "each of another; a design with "
             "a column `pairs` says itself how many pairs are at it at once");
  add_choice(app, "--background", options.background, "activity of the ranks between messages");
  app.add_option("--scope-name", options.scope_name, "write this scope, whatever the names of the hosts say",
                 among({"local", "remote"}));
  app.add_option("--warm-up-calls", options.warm_up_calls, "ping-pongs of each pair before the first recorded call",
                 at_least_zero, with_default);
  app.add_option("--budget,--budget-s", options.budget_s, "stop after this time, even if the design is not finished",
                 as_seconds);
  add_seed(app, options.seed, "of the contents of the messages");
  return run_measuring_program(app, common, argc, argv, [&](const MeasuringRank& rank, const std::string& design) {
    return measure(rank, design, common, options);
  });
}
