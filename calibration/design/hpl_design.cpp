#include "hplcast/calibration/hpl_design.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr double start_of_a_run_s = 2;
constexpr long double_bytes = 8;

void require_positive(const char* name, long long value) {
  constexpr long long most = 2147483647;  // HPL's int
  if (value < 1 || value > most) throw core::DomainError(name, value, "1 to 2^31 - 1");
}

void require_grid(const core::HplParameters& grid) {
  require_positive("N", grid.N);
  if (grid.NB < 1 || grid.NB > grid.N) throw core::DomainError("NB", grid.NB, "1 to N");
  if (grid.P < 1) throw core::DomainError("P", grid.P, "at least 1");
  if (grid.Q < 1) throw core::DomainError("Q", grid.Q, "at least 1");
  constexpr long most_panels = 1000000;
  if (grid.N / grid.NB > most_panels) throw core::DomainError("N / NB", grid.N / grid.NB, "at most 1000000 panels");
}

/// P x Q of `ranks` with P <= Q and P as large as it can be.
std::pair<int, int> most_square(int ranks) {
  int rows = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

/// First, middle and last process.
std::set<int> some_of(int count) {
  return {0, count / 2, count - 1};
}

/// One panel as a process sees it: width, local rows below it and local columns right of it.
struct PanelView {
  long width = 0, rows = 0, columns = 0;
};

void for_each_panel(const core::HplParameters& grid, const std::function<void(const PanelView&)>& each) {
  const long N = static_cast<long>(grid.N);
  const long columns = N + 1;  // HPL keeps the right-hand side as the last column
  for (long first = 0; first < N; first += grid.NB) {
    const long width = std::min<long>(grid.NB, N - first);
    const long next = first + width;
    for (const int p : some_of(grid.P)) {
      const long rows = core::local_rows(N, grid.NB, p, grid.P) - core::local_rows(next, grid.NB, p, grid.P);
      for (const int q : some_of(grid.Q))
        each({width, rows, core::local_rows(columns, grid.NB, q, grid.Q) - core::local_rows(next, grid.NB, q, grid.Q)});
    }
  }
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
  for (const auto& [P, Q] : grids)
    for (int i = 1; i <= options.sizes; ++i)
      design.push_back({std::max(1L, options.max_size * i / options.sizes), options.nb, P, Q});
  core::RandomStream random({options.seed, core::stream_design, 0, 3});
  core::shuffle(design, random);
  return design;
}

std::vector<core::HplParameters> make_aliased_design(const std::vector<core::HplParameters>& runs) {
  std::map<std::pair<int, int>, core::HplParameters> smallest;
  int most = 0;
  for (const core::HplParameters& run : runs) most = std::max(most, run.P * run.Q);
  for (const core::HplParameters& run : runs) {
    if (run.P * run.Q < most) continue;
    core::HplParameters& least = smallest.try_emplace({run.P, run.Q}, run).first->second;
    if (run.N < least.N) least = run;
  }
  std::vector<core::HplParameters> design;
  constexpr std::size_t fewest_of_all = 6;
  const std::size_t rounds = smallest.empty() ? 0 : (fewest_of_all + smallest.size() - 1) / smallest.size();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const auto& entry : smallest) {
      core::HplParameters run = entry.second;
      constexpr long long panels_per_process = 4, small_N = 2000;
      run.N = std::min(run.N, std::max(small_N, panels_per_process * run.NB * std::max(run.P, run.Q)));
      const long rows = core::local_rows(static_cast<long>(run.N), run.NB, 0, run.P);
      constexpr long line = 64 / double_bytes;
      for (const long apart : {512L, 1024L, 2048L}) {
        // HPL takes the least multiple of ALIGN that holds the rows and is no power of two.
        run.ALIGN = static_cast<int>(std::max(3L, ((rows + apart - 1) / apart) | 1) * apart);
        design.push_back(run);
        run.ALIGN = static_cast<int>((rows / (line * line) + 1) * line * line + line);
        design.push_back(run);
      }
    }
  }
  return design;
}

void write_design(std::ostream& out, const std::vector<core::HplParameters>& design) {
  const std::vector<core::HplField>& fields = core::hpl_fields();
  constexpr std::size_t of_grid = 4;  // N, NB, P, Q
  std::vector<core::HplField> written(fields.begin(), fields.begin() + of_grid);
  for (std::size_t i = of_grid; i < fields.size(); ++i)
    if (std::any_of(design.begin(), design.end(), [&](const core::HplParameters& run) {
          return fields[i].get(run) != fields[i].get(core::HplParameters{});
        }))
      written.push_back(fields[i]);
  out << core::joined(written, ",", [](const core::HplField& field) { return std::string(field.name); }) << '\n';
  for (const core::HplParameters& run : design)
    out << core::joined(written, ",", [&](const core::HplField& field) { return std::to_string(field.get(run)); })
        << '\n';
}

double estimated_s(const std::vector<core::HplParameters>& design, double rate_flop_per_s) {
  double total_s = 0;
  for (const core::HplParameters& run : design)
    total_s += start_of_a_run_s + core::hpl_flop(static_cast<double>(run.N)) / (rate_flop_per_s * run.P * run.Q);
  return total_s;
}

std::vector<DgemmShape> hpl_update_shapes(const core::HplParameters& grid) {
  require_grid(grid);
  std::set<DgemmShape> shapes;
  for_each_panel(grid, [&](const PanelView& panel) {
    if (panel.rows > 0 && panel.columns > 0) shapes.insert({panel.rows, panel.columns, panel.width});
  });
  return std::vector<DgemmShape>(shapes.begin(), shapes.end());
}

std::vector<long> hpl_message_bytes(const core::HplParameters& grid) {
  require_grid(grid);
  std::set<long> sizes;
  const auto add = [&](long doubles) {
    if (doubles > 0) sizes.insert(double_bytes * doubles);
  };
  for_each_panel(grid, [&](const PanelView& panel) {
    if (grid.P > 1) {
      add(panel.width + 4);
      add(2 * panel.width + 4);
      add(panel.width);
      for (long rows = panel.width; rows > 0; rows /= 2) add(rows * panel.columns);
      add(panel.width * panel.columns / grid.P);
    }
    if (grid.Q > 1) {
      const long length = panel.rows * panel.width + panel.width * panel.width + panel.width + 1;
      add(length);
      add(length / grid.Q);
      add(panel.width);
    }
  });
  return std::vector<long>(sizes.begin(), sizes.end());
}

}  // namespace hplcast::calibration
