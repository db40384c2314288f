// Segmented regression and the network fit: time by number of distinct sizes, and how it grows.
// Targets: 500 sizes with the objective log in 0.05 s, 100,000 with ols in 2 s.
#include <benchmark/benchmark.h>

#include "hplcast/fit/network_fit.hpp"
#include "hplcast/fit/segmented_regression.hpp"
#include "tests/fit/segmented/memcpy_generator.hpp"

namespace hplcast::fit {
namespace {

std::vector<SizeCell> generated_cells(int sizes, test::MemcpyNoise noise) {
  SamplesBySize samples;
  for (const auto& [x, y] : test::memcpy_rows(sizes, noise, 1)) samples.add(x, y);
  return samples.cells();
}

void fit_sizes(benchmark::State& state, Objective objective) {
  const auto cells = generated_cells(static_cast<int>(state.range(0)), test::MemcpyNoise::homoscedastic);
  SegmentedOptions options;
  options.objective = objective;
  std::size_t segments = 0;
  for (auto _ : state) {
    const SegmentedFit fit = fit_segmented(cells, options);
    segments = fit.segments.size();
    benchmark::DoNotOptimize(segments);
  }
  state.counters["segments"] = static_cast<double>(segments);
  state.SetComplexityN(state.range(0));
}

void segmented_log(benchmark::State& state) {
  fit_sizes(state, Objective::log);
}
void segmented_weighted(benchmark::State& state) {
  fit_sizes(state, Objective::weighted);
}
void segmented_ols(benchmark::State& state) {
  fit_sizes(state, Objective::ols);
}

BENCHMARK(segmented_log)->Arg(100)->Arg(500)->Arg(2000)->Arg(10000)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(segmented_weighted)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(segmented_ols)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond)->Complexity();

void collecting_rows(benchmark::State& state) {
  const auto rows = test::memcpy_rows(1000, test::MemcpyNoise::homoscedastic, 1);
  for (auto _ : state) {
    SamplesBySize samples;
    for (int pass = 0; pass < 100; ++pass)
      for (const auto& [x, y] : rows) samples.add(x, y);
    benchmark::DoNotOptimize(samples.rows());
  }
  state.SetItemsProcessed(state.iterations() * 100000);
}
BENCHMARK(collecting_rows)->Unit(benchmark::kMillisecond);

void network(benchmark::State& state) {
  std::vector<core::MpiMeasurement> rows;
  for (const char* operation : {"send", "isend", "recv", "pingpong"}) {
    for (const auto& [x, y] :
         test::memcpy_rows(static_cast<int>(state.range(0)), test::MemcpyNoise::heteroscedastic, 1)) {
      core::MpiMeasurement row;
      row.operation = operation;
      row.scope = "remote";
      row.size_bytes = x;
      row.duration_s = operation[0] == 'p' ? 4 * y : y;
      rows.push_back(row);
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(fit_network(rows).ok());
}
BENCHMARK(network)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hplcast::fit
