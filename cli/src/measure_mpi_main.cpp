#include <iostream>
#include <memory>
#include <sstream>

#include "hplcast/calibration/measure_mpi.hpp"
#include "measuring_program.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "quantities.hpp"

namespace {

using namespace hplcast;

std::string measure(const cli::MeasuringRank& rank, const std::string& design_text, const std::string& design_name,
                    calibration::PeerChoice choice, calibration::MpiMeasureOptions options) {
  std::istringstream in(design_text);
  const calibration::MpiDesign design = calibration::read_mpi_design(in, design_name);
  std::unique_ptr<cli::Progress> progress;
  if (rank.world.rank() == 0) {
    progress = std::make_unique<cli::Progress>();
    options.progress = [&](double fraction) { progress->update(fraction, "mpi"); };
  }
  const auto peers = calibration::choose_peers(rank.world.hosts(), choice);
  const auto rows = calibration::measure_mpi(rank.world, design, peers, options);
  std::ostringstream all;
  calibration::write_mpi_header(all);
  calibration::write_mpi_rows(all, rows);
  if (progress) {
    progress->clear();
    std::cerr << "measured " << rows.size() << " of " << design.size() * peers.size() << " calls\n";
  }
  return all.str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures MPI calls between rank 0 and a rank of the same host, of another, or both.",
               "hplcast-measure-mpi");
  cli::set_example(app, "mpirun -np 2 hplcast-measure-mpi --design mpi.csv -o mpi_measurements.csv");
  cli::MeasuringOptions common;
  calibration::MpiMeasureOptions options;
  calibration::PeerChoice choice = calibration::PeerChoice::any;
  cli::add_measuring_options(app, common);
  cli::add_scope_option(app, choice);
  app.add_option("--scope-name", options.scope_name, "write this scope, whatever the names of the hosts say")
      ->check(CLI::IsMember({"local", "remote"}));
  app.add_option("--warm-up", options.warm_up_s, "ping-pongs before the first recorded call")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_option("--budget,--budget-s", options.budget_s, "stop after this time, whatever is left of the design")
      ->transform(cli::as_seconds());
  app.add_option("--seed", options.seed, "of the contents of the messages")->capture_default_str();
  return cli::run_measuring_program(app, common, argc, argv,
                                    [&](const cli::MeasuringRank& rank, const std::string& design) {
                                      return measure(rank, design, common.design, choice, options);
                                    });
}
