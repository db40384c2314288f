#include "hplcast/calibration/kernel_design.hpp"

#include <cmath>
#include <ostream>
#include <set>
#include <utility>

#include "design_limit.hpp"
#include "hplcast/calibration/shuffle.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

constexpr double start_of_a_run_s = 2;

void require_positive(const char* name, long value) {
  constexpr long most = 2147483647;  // HPL's int
  if (value < 1 || value > most) throw core::DomainError(name, static_cast<double>(value), "1 to 2^31 - 1");
}

/// P x Q of `ranks` with P <= Q and P as large as it can be.
std::pair<int, int> most_square(int ranks) {
  int rows = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

}  // namespace

std::vector<core::HplParameters> make_kernel_design(const KernelDesignOptions& options) {
  require_positive("max size", options.max_size);
  require_positive("nb", options.nb);
  require_positive("ranks", options.ranks);
  require_positive("sizes", options.sizes);
  constexpr double grid_count = 4;
  require_few_rows(grid_count * static_cast<double>(options.sizes));
  const std::set<std::pair<int, int>> grids = {
      {1, 1}, {1, options.ranks}, {options.ranks, 1}, most_square(options.ranks)};
  std::vector<core::HplParameters> design;
  for (const auto& [P, Q] : grids) {
    for (int i = 1; i <= options.sizes; ++i) {
      core::HplParameters run;
      run.N = std::max(1L, options.max_size * i / options.sizes);
      run.NB = options.nb;
      run.P = P;
      run.Q = Q;
      design.push_back(run);
    }
  }
  core::RandomStream random({options.seed, core::stream_design, 0, 3});
  shuffle(design, random);
  return design;
}

void write_design(std::ostream& out, const std::vector<core::HplParameters>& design) {
  out << "N,NB,P,Q\n";
  for (const core::HplParameters& run : design) out << run.N << ',' << run.NB << ',' << run.P << ',' << run.Q << '\n';
}

double estimated_s(const std::vector<core::HplParameters>& design, double rate_flop_per_s) {
  double total_s = 0;
  for (const core::HplParameters& run : design)
    total_s += start_of_a_run_s + core::hpl_flop(static_cast<double>(run.N)) / (rate_flop_per_s * run.P * run.Q);
  return total_s;
}

}  // namespace hplcast::calibration
