#include <algorithm>
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/hpl_design.hpp"
#include "hplcast/calibration/mpi_design.hpp"

namespace hplcast::cli {

namespace {

/// Rate of dgemm on one core that a budget is reckoned with: what common servers of 2015 to 2025 reach or exceed.
constexpr double assumed_flop_per_s = 2e10;

struct DgemmOptions {
  calibration::DgemmDesignOptions design;
  std::vector<long> for_hpl;
  std::vector<std::string> contents{"random"};
  bool common = true;
  double budget_s = 0;
  double rate_flop_per_s = assumed_flop_per_s;
  std::string output;
};

struct MpiOptions {
  calibration::MpiDesignOptions design;
  std::vector<long> for_hpl;
  double min_bytes = 1;
  double max_bytes = 1 << 20;
  std::vector<std::string> operations;
  std::string output;
};

constexpr const char* for_hpl_help = "choose among the sizes that this run has, so that nothing is extrapolated";

/// Writes a design, and tells that it has so many `calls`, which take some seconds `where` something is assumed.
template <typename Design>
void write(const std::string& output, const Design& design, const std::string& calls, double seconds,
           const std::string& where) {
  write_result(output, [&](std::ostream& out) { calibration::write_design(out, design); });
  std::cerr << design.size() << " " << calls << ", about " << duration_text(seconds) << " " << where << '\n';
}

std::string at_rate(double flop_per_s) {
  return core::printed("at %g Gflop/s per core", flop_per_s / 1e9);
}

void run_dgemm(DgemmOptions options) {
  if (!options.for_hpl.empty()) {
    const core::HplParameters grid = grid_of(options.for_hpl);
    options.design.updates = calibration::hpl_update_shapes(grid);
    options.design.transposition = grid.P > 1 ? calibration::Transposition::yes : calibration::Transposition::no;
  }
  if (options.common) options.design.common = calibration::common_shapes(options.design.max_size);
  options.design.contents.clear();
  for (const std::string& text : options.contents) options.design.contents.push_back(calibration::Content::parse(text));
  const calibration::DgemmDesign design =
      options.budget_s > 0
          ? calibration::make_dgemm_design_within(options.design, options.budget_s, options.rate_flop_per_s)
          : calibration::make_dgemm_design(options.design);
  write(options.output, design, "calls", calibration::estimated_s(design, options.rate_flop_per_s),
        at_rate(options.rate_flop_per_s));
}

void run_mpi(MpiOptions options) {
  if (!options.for_hpl.empty()) {
    options.design.among = calibration::hpl_message_bytes(grid_of(options.for_hpl));
    if (options.design.among.empty()) throw core::UsageError("an HPL run on one process sends no messages");
  }
  options.design.min_bytes = static_cast<long>(options.min_bytes);
  options.design.max_bytes = static_cast<long>(options.max_bytes);
  if (!options.operations.empty()) options.design.operations.clear();
  for (const std::string& name : options.operations)
    options.design.operations.push_back(core::from_name<calibration::MpiOperation>(name));
  const calibration::MpiDesign design = calibration::make_mpi_design(options.design);
  write(options.output, design, "calls", calibration::estimated_s(design), "where messages move at 1 GB/s");
}

void setup_dgemm(Command& parent) {
  Command& command = add_command(parent, "dgemm", "Choose the dgemm calls of a calibration",
                                 "hplcast design dgemm --nb 128 --max-size 4000 --count 60 --budget 1min -o dgemm.csv");
  auto& options = command.runs<DgemmOptions>(run_dgemm);
  calibration::DgemmDesignOptions& design = options.design;
  const Setting without_a_run = excludes(add_for_hpl(command, options.for_hpl, for_hpl_help));
  command.add_option("--nb", design.nb, "HPL's block size: k of most calls; 0: m, n and k all free", with_default,
                     without_a_run);
  command.add_option("--nbmin", design.nbmin, "smallest k of the calls that imitate the panel factorisation",
                     with_default);
  command.add_option("--max-size", design.max_size, "bound on m and n: the local matrix of the runs to predict",
                     with_default);
  command.add_option("--count", design.count, "number of shapes", with_default);
  command.add_option("--repetitions", design.repetitions, "calls of each shape", with_default);
  command.add_option("--max-product", design.max_product,
                     "bound on m*n (with --nb 0: m*n*k); 0: what --max-size allows", with_default, without_a_run);
  command.add_option("--minority", design.minority, "share of the shapes that have a smaller k or n = nb", as_ratio,
                     with_default);
  command.add_flag("--independent", design.independent,
                   "m, n and k uniform over [1, max-size], independent of each other", without_a_run);
  command.add_flag("!--no-common", options.common,
                   "leave out the shapes that all designs have: 1x1x1, and 2048x2048x2048 if --max-size allows");
  command.add_option("--k", design.extra_k, "more values of k, used as often as nb");
  command.add_option("--content", options.contents,
                     "random, constant, constant-VALUE, sequential, masked-BITS; several", with_default);
  add_choice(command, "--transposed", design.transposition, "B transposed as on several process rows")
      ->with(without_a_run);
  add_seed(command, design.seed, "the same seed gives the same design");
  command.add_option("--budget,--budget-s", options.budget_s, "take fewer shapes if they need longer than this",
                     as_time_limit);
  command.add_option("--rate", options.rate_flop_per_s, "of one core (30Gflop/s), to reckon the time with",
                     as_flop_per_s, default_text(significant(options.rate_flop_per_s / 1e9) + "Gflop/s"));
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
}

void setup_mpi(Command& parent) {
  Command& command = add_command(parent, "mpi", "Choose the MPI calls of a calibration",
                                 "hplcast design mpi --max-bytes 8MiB --count 100 -o mpi.csv");
  auto& options = command.runs<MpiOptions>(run_mpi);
  calibration::MpiDesignOptions& design = options.design;
  add_for_hpl(command, options.for_hpl, for_hpl_help);
  command.add_option("--min-bytes", options.min_bytes, "smallest message", as_bytes, with_default);
  command.add_option("--max-bytes", options.max_bytes, "largest message: a panel of the runs to predict", as_bytes,
                     default_text("1MiB"));
  command.add_option("--count", design.count, "number of message sizes", with_default);
  command.add_option("--repetitions", design.repetitions, "calls of each size and operation", with_default);
  command.add_option("--operations", options.operations,
                     "any of recv, isend, send, pingpong, iprobe, test, wtime, exchange, send_unmatched, panel "
                     "(default: all), one_way",
                     by_commas);
  add_seed(command, design.seed, "the same seed gives the same design");
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
}

struct SaturationOptions {
  calibration::SaturationDesignOptions design;
  std::optional<double> min_bytes;
  double max_bytes = 8 << 20;
  std::string output;
};

/// The default of --min-bytes gives way to a small --max-bytes.
void run_saturation(SaturationOptions options) {
  options.design.max_bytes = static_cast<long>(options.max_bytes);
  options.design.min_bytes = static_cast<long>(options.min_bytes.value_or(std::min(1048576.0, options.max_bytes)));
  const calibration::MpiDesign design = calibration::make_saturation_design(options.design);
  write(options.output, design, "rows", calibration::estimated_s(design), "where all pairs together move 1 GB/s");
}

void setup_saturation(Command& parent) {
  Command& command = add_command(parent, "saturation", "Choose long messages of 1, 2, 4 ... pairs of ranks at once",
                                 "hplcast design saturation --pairs 1,2,4 --max-bytes 8MiB -o saturation.csv");
  auto& options = command.runs<SaturationOptions>(run_saturation);
  calibration::SaturationDesignOptions& design = options.design;
  command.add_option("--pairs", design.pairs, "numbers of pairs of ranks that send at the same time: 1,2,4,8",
                     by_commas, required);
  command.add_option("--min-bytes", options.min_bytes, "smallest message", as_bytes, default_text("1MiB"));
  command.add_option("--max-bytes", options.max_bytes, "largest message", as_bytes, default_text("8MiB"));
  command.add_option("--count", design.count, "number of message sizes", with_default);
  command.add_option("--repetitions", design.repetitions, "of each size and number of pairs", with_default);
  add_seed(command, design.seed, "the same seed gives the same design");
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
}

struct KernelOptions {
  calibration::KernelDesignOptions design;
  std::string output;
};

void run_kernels(const KernelOptions& options) {
  const auto design = calibration::make_kernel_design(options.design);
  write(options.output, design, "runs", calibration::estimated_s(design, assumed_flop_per_s),
        at_rate(assumed_flop_per_s));
}

void setup_kernels(Command& parent) {
  Command& command = add_command(parent, "kernels", "Choose the runs of HPL that show its kernels",
                                 "hplcast design kernels --nb 128 --max-size 5000 --ranks 2 -o runs.csv");
  auto& options = command.runs<KernelOptions>(run_kernels);
  calibration::KernelDesignOptions& design = options.design;
  command.add_option("--nb", design.nb, "HPL's block size", with_default);
  command.add_option("--max-size", design.max_size, "largest N", with_default);
  command.add_option("--sizes", design.sizes, "number of values of N, at equal distances", with_default);
  command.add_option("--ranks", design.ranks, "processes: grids 1x1, 1xR, Rx1 and the most square one", with_default);
  add_seed(command, design.seed, "of the order of the runs");
  command.add_option("-o,--output", options.output, "file to write (default: standard output)");
}

}  // namespace

void setup_design(Command& app) {
  Command& design = add_command(app, "design", "Choose the calls that a calibration measures, in random order",
                                "hplcast design dgemm --nb 128 --max-size 4000 -o dgemm.csv");
  design.require_subcommand(1);
  setup_dgemm(design);
  setup_kernels(design);
  setup_mpi(design);
  setup_saturation(design);
}

}  // namespace hplcast::cli
