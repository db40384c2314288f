#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit {

/// A CPU of a cluster: index of its host, and of the CPU in it.
using CpuPlace = std::pair<int, int>;

/// Calls of a design that were made on each CPU (is_designed(): the sizes of HPL's own differ from rank to rank).
using TablesByCpu = std::map<CpuPlace, KernelTable>;

/// How the calls of one CPU are fitted.
using CpuFit = std::function<KernelFit(const CpuPlace&, const KernelTable&)>;

/// The model with a law of its own for each CPU that was measured with enough shapes (20) and can be fitted, if there
/// are calls of two CPUs or more; else as it was. `notes` gets the CPUs that have no law of their own, and why.
core::KernelModel with_cpu_laws(const core::KernelModel& model, const TablesByCpu& tables, const CpuFit& fit,
                                std::vector<std::string>& notes);

}  // namespace hplcast::fit
