#include "hplcast/calibration/collective_series.hpp"

#include <algorithm>
#include <set>

#include "hplcast/calibration/shuffle.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

std::vector<SeriesRun> make_series(const SeriesPlan& plan) {
  if (plan.levels.empty()) throw core::DomainError("levels", 0.0, "at least one");
  for (const double level : plan.levels)
    if (!(level >= 0) || !(level < 1)) throw core::DomainError("level", level, "a share of time in [0, 1)");
  if (std::set<double>(plan.levels.begin(), plan.levels.end()).size() != plan.levels.size())
    throw core::DomainError("levels", "there twice", "each level once");
  if (plan.runs < 2) throw core::DomainError("runs", plan.runs, "at least 2 of each level: one has no scatter");
  if (plan.warm_up < 0) throw core::DomainError("warm-up", plan.warm_up, "at least 0");
  std::vector<SeriesRun> runs(static_cast<std::size_t>(plan.warm_up), SeriesRun{0, true});
  core::RandomStream random({plan.seed, core::stream_design, 0, 1, 0});
  const std::size_t clean = std::max<std::size_t>(1, plan.levels.size() / 2);
  for (int block = 0; block < plan.runs; ++block) {
    std::vector<SeriesRun> some(clean);
    for (const double level : plan.levels) some.push_back({level, false});
    shuffle(some, random);
    runs.insert(runs.end(), some.begin(), some.end());
  }
  return runs;
}

}  // namespace hplcast::calibration
