#include "fit/program/program_steps.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace detail {

namespace {

std::string rounded(double value) {
  return core::shortest(std::round(100 * value) / 100);
}

/// Other programs take CPU time from the caches, too. The start of MPI waits for some tenths of a second.
void add_starved(const ProgramObservation& seen, ProgramFit& fit) {
  constexpr double much_longer = 2, start_s = 1;
  const ProgramObservation::RankRest* worst = nullptr;
  for (const auto& one : seen.rests) {
    const double cpu_s = one.executed_s + one.mpi_s;
    if (one.wall_s < much_longer * cpu_s + start_s) continue;
    if (worst == nullptr || one.wall_s - cpu_s > worst->wall_s - worst->executed_s - worst->mpi_s) worst = &one;
  }
  if (worst == nullptr) return;
  fit.warnings.push_back(
      "a rank of " + worst->name + " took " + rounded(worst->wall_s) + " s, but only " + rounded(worst->executed_s) +
      " s of CPU time and " + rounded(worst->mpi_s) +
      " s in MPI: other programs had the CPU (or it slept, or waited for files), and its times may be "
      "too long; see `hplcast doctor`, and observe again on an idle machine");
}

/// Rate of one rank in a product of matrices.
struct Rate {
  const ProgramObservation::RankRest* rank;
  double flop_per_call, flop_per_s;
};

/// Ranks that were slower at calls as large as those of another one, in the same run or not: the model follows both.
void add_disagreeing(const ProgramObservation& seen, ProgramFit& fit) {
  constexpr double matters = 0.05, as_large = 0.9, much_slower = 0.75;
  std::map<std::string, std::vector<Rate>> routines;
  for (const auto& rank : seen.rests)
    for (const auto& [name, sum] : rank.products)
      if (sum.time_s > matters * rank.executed_s && sum.calls > 0 && sum.flop > 0)
        routines[name].push_back({&rank, sum.flop / sum.calls, sum.flop / sum.time_s});
  for (const auto& [name, rates] : routines) {
    const Rate *slow = nullptr, *quick = nullptr;
    for (const Rate& one : rates) {
      for (const Rate& other : rates) {
        const double least = slow == nullptr ? much_slower : slow->flop_per_s / quick->flop_per_s;
        if (one.flop_per_call < as_large * other.flop_per_call || !(one.flop_per_s < least * other.flop_per_s))
          continue;
        slow = &one;
        quick = &other;
      }
    }
    if (slow == nullptr) continue;
    const auto gflops = [](const Rate& rate) { return rounded(rate.flop_per_s / 1e9) + " Gflop/s"; };
    fit.warnings.push_back(name + " made " + gflops(*slow) + " in " + slow->rank->name + ", but " + gflops(*quick) +
                           " in " + quick->rank->name +
                           " with calls that are no larger: something slowed the first one down, or its CPU is "
                           "slower. The model follows both; observe again on an idle machine, or leave it out");
  }
}

}  // namespace

void add_warnings(const ProgramObservation& seen, ProgramFit& fit) {
  constexpr double much = 0.05;
  if (seen.rest_s > much * seen.executed_s && seen.stretches.cells.empty()) {
    fit.warnings.push_back(core::short_percent(seen.rest_s / seen.executed_s) +
                           " of the CPU time outside of MPI was neither in BLAS nor in a region: give counts of what "
                           "it executed (--counts), mark regions (hplcast/region.h), or run with --rest bench" +
                           (seen.routines.empty() ? "" : " or --rest model"));
  }
  // Threads of the MPI library itself take some ms at its start.
  constexpr double threads_of_mpi_s = 0.1;
  if (seen.other_threads_s >
          std::max(much * seen.executed_s, threads_of_mpi_s * static_cast<double>(seen.rests.size())) ||
      seen.foreign_calls > 0) {
    fit.warnings.push_back("other threads of the program took " + core::shortest(seen.other_threads_s) +
                           " s: threads are not observed and not simulated; run it with one thread per rank "
                           "(OMP_NUM_THREADS=1)");
  }
  if (seen.routines.empty())
    fit.warnings.push_back(
        "no routine of BLAS was seen: if the program calls BLAS, is it linked statically? The observer sees shared "
        "libraries only");
  add_starved(seen, fit);
  add_disagreeing(seen, fit);
}

}  // namespace detail

std::vector<std::string> far_off(const ProgramObservation& seen, const std::map<std::string, ModelError>& errors) {
  constexpr double matters = 0.01, much = 0.15;
  std::vector<std::string> texts;
  for (const auto& [name, error] : errors) {
    const bool is_region = core::begins_with(name, detail::region_prefix);
    const std::string its_name = is_region ? name.substr(detail::region_prefix.size()) : name;
    const ObservedSum& sum = is_region ? seen.regions.at(its_name) : seen.routines.at(its_name);
    if (sum.time_s < matters * seen.executed_s || error.by_time < much) continue;
    texts.push_back((is_region ? "region " : "") + its_name + ": its model is off by " +
                    core::short_percent(error.by_time) + " of the observed time, by " +
                    core::short_percent(error.by_size) +
                    " if all ranges of sizes count alike: observe runs of more sizes, among them those of the "
                    "prediction" +
                    (is_region ? ", and give the region the sizes that its time goes with" : ""));
  }
  return texts;
}

std::vector<std::string> few_sizes(const ProgramObservation& seen, const std::map<std::string, KernelFit>& fits) {
  constexpr double much = 0.02;
  constexpr auto enough = 6;  // as for kernels
  std::vector<std::string> texts;
  for (const auto& [name, sum] : seen.routines) {
    const auto one = fits.find(name);
    if (one == fits.end() || !one->second.ok() || sum.time_s < much * seen.executed_s) continue;
    const auto shapes = one->second.model.quality().shapes;
    if (shapes < enough)
      texts.push_back(name + ": its calls have " + std::to_string(shapes) +
                      " different sizes only, so its model may be far off at others; observe runs of several sizes");
  }
  return texts;
}

std::vector<std::string> lost_inside(const ProgramObservation& seen, const core::ProgramModel& program) {
  std::vector<std::string> texts;
  for (const auto& [name, inside] : seen.inside) {
    const auto region = program.regions.find(name);
    if (region == program.regions.end() || region->second.is_executed()) continue;
    const std::string blas = inside.time_s > 0 ? core::time_text(inside.time_s) + " of routines of BLAS and " : "";
    texts.push_back("region " + name + ": " + blas + core::counted(std::lround(inside.calls), "call") +
                    " of MPI inside of it are neither in its time nor simulated, because its code is not executed: end "
                    "it before them and begin it again behind them, or have it executed (--factors-from)");
  }
  return texts;
}

}  // namespace hplcast::fit
