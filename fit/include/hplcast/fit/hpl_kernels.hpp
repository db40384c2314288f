#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit {

/// The one of `forms` (the simplest first) that fit_hpl_kernel() would take; not ok if none can be fitted. `weights`:
/// what the relative error of each of table.shapes() counts; empty: the time spent in it.
KernelFit fit_best_form(const KernelTable& table, const std::vector<KernelFitOptions>& forms,
                        const std::vector<double>& weights = {});

/// Fits a kernel of HPL for prediction: of the forms that can be fitted the one with the least BIC of the relative
/// errors of the shapes, weighted by the time spent in them, where a more complicated one has to win by 10 (very strong
/// evidence, Kass and Raftery 1995) and to take away a tenth of the relative error, by time or by calls. With too few
/// shapes for any: one product without constant, then a constant. The status is only not ok without rows.
KernelFit fit_hpl_kernel(const std::string& kernel, const KernelTable& table);

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
