// Fits the durations of dgemm in a CSV and says how long a further call takes:
//   example_fit_library dgemm.csv 1000 2000 128
// It links hplcast::fit only. The measurements here, dgemm.csv, were made up: 7e-11 mnk + 2e-9 mk + 3e-9 nk + 1e-6
// seconds with half-normal noise of 3 percent.

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace {

int fit_and_predict(const char* file, const hplcast::core::KernelShape& shape) {
  using namespace hplcast;
  std::ifstream in(file);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file);
    return 3;
  }
  // Reading: one table, since nothing is grouped. Memory grows with the number of shapes, not of rows.
  fit::GroupedTables tables;
  fit::add_kernel_csv(in, file, {}, tables);
  if (tables.empty()) {
    std::fprintf(stderr, "%s has no measurements\n", file);
    return 3;
  }
  // Fitting: M2 with noise N2. A fit that fails is a status with a reason, not an exception.
  const fit::KernelFit fit = fit::fit_kernel(tables.begin()->second);
  std::fputs(fit::describe("dgemm", fit).c_str(), stdout);
  if (!fit.ok()) return 4;

  const core::DurationLaw& law = fit.model.cluster_law().at(shape);
  const fit::Bounds mean = fit::mean_interval_s(fit, shape), call = fit::prediction_interval_s(fit, shape);
  std::printf("%g x %g x %g takes %.3e s (%.3e to %.3e with 95 percent confidence); one call %.3e to %.3e s\n", shape.m,
              shape.n, shape.k, law.mean_s(shape), mean.lower, mean.upper, call.lower, call.upper);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s FILE.csv M N K\n", argv[0]);
    return 2;
  }
  try {
    return fit_and_predict(argv[1], {std::atof(argv[2]), std::atof(argv[3]), std::atof(argv[4])});
  } catch (const hplcast::core::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
