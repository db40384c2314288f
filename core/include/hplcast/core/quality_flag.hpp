#pragma once

#include <string>

namespace hplcast::core {

/// A doubt about measurements, or about a model made from them, in words for people.
struct QualityFlag {
  std::string subject;  ///< a kernel, an operation of MPI, a host, a scope, topology
  std::string flag;     ///< too_few_repetitions, drift, capacity_unknown ... (docs/use/fit-cluster.md)
  std::string detail;   ///< with numbers
};

}  // namespace hplcast::core
