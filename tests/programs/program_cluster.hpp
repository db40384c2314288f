#pragma once

#include "tests/support/example_cluster.hpp"

namespace hplcast::tests {

inline core::KernelModel exact_model(std::vector<core::Monomial> terms, std::vector<double> coefficients) {
  return core::KernelModel::make(
      "M2", core::PiecewiseLaw(core::DurationLaw::make(
                core::Polynomial::make(std::move(terms), std::move(coefficients)), {}, core::NoiseFamily::none)));
}

/// Two hosts of four cores; times per product of the sizes of the routines that the fixtures call, without noise.
inline core::ClusterModel program_cluster() {
  core::ClusterModel cluster = example_cluster(false);
  cluster.name = "program";
  cluster.kernels.clear();
  core::ProgramModel program;
  program.routines["dgemm"] = exact_model({{1, 1, 1}}, {1e-10});
  program.routines["dtrsm/R"] = exact_model({{1, 1, 1}}, {2e-10});
  program.routines["dgemv/N"] = exact_model({{1, 1, 0}}, {3e-9});
  program.routines["dgemv/T"] = exact_model({{1, 1, 0}}, {7e-9});
  program.routines["dcopy"] = exact_model({{0, 1, 0}}, {5e-9});
  program.routines["dcopy/strided"] = exact_model({{0, 1, 0}}, {1e-8});
  program.routines["dscal"] = exact_model({{0, 1, 0}}, {1e-6});
  program.routines["idamax"] = exact_model({{0, 1, 0}}, {1e-9});
  program.routines["ddot"] = exact_model({{0, 1, 0}}, {1e-9});
  cluster.program = program;
  return cluster;
}

}  // namespace hplcast::tests
