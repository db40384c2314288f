// Counts of flagged runs, for comparing with published numbers.
#include <map>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "loaded_factor.hpp"

namespace hplcast::history {

namespace {

/// The runs of a place that have all factors.
fit::RunSeries joined(const std::vector<const fit::CpuHistory*>& factors) {
  fit::RunSeries series;
  series.dimensions = factors.size();
  std::vector<std::map<std::int64_t, double>> others;
  for (std::size_t f = 1; f < factors.size(); ++f) {
    auto& values = others.emplace_back();
    for (std::size_t i = 0; i < factors[f]->value.size(); ++i) values[factors[f]->time_s[i]] = factors[f]->value[i];
  }
  const fit::CpuHistory& first = *factors.front();
  for (std::size_t i = 0; i < first.value.size(); ++i) {
    std::vector<double> run = {first.value[i]};
    for (const auto& values : others)
      if (const auto found = values.find(first.time_s[i]); found != values.end()) run.push_back(found->second);
    if (run.size() != factors.size()) continue;
    series.values.insert(series.values.end(), run.begin(), run.end());
    series.outlier.push_back(first.outlier[i]);
    series.epoch.push_back(first.own_epoch[i]);
  }
  return series;
}

void count(const fit::RunSeries& series, const CountOptions& options, FlagCounts& counts) {
  const fit::FindingOptions& tests = options.check.tests;
  std::vector<fit::RunScore> scores;
  if (options.published) {
    fit::PublishedTestOptions published;
    published.confidence = tests.confidence;
    published.window = options.window;
    published.least_runs = tests.least_runs;
    published.least_sd = tests.least_sd;
    published.keep = options.keep;
    scores = fit::published_scores(series, published);
  } else {
    fit::RunTests ours({tests.confidence, options.window, tests.least_runs, tests.least_sd});
    scores = ours.scores(series);
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ++counts.rows;
    if (scores[i].region == fit::Region::untested) continue;
    ++counts.tested;
    counts.below += scores[i].region == fit::Region::below ? 1 : 0;
    counts.above += scores[i].region == fit::Region::above ? 1 : 0;
    counts.outside += scores[i].region == fit::Region::outside ? 1 : 0;
    counts.logged += series.outlier[i] && fit::is_flagged(scores[i].region) ? 1 : 0;
  }
}

}  // namespace

std::vector<FlagCounts> count_flags(const HistoryDatabase& database, const CountOptions& options) {
  const FactorLoader loader(database, options.check);
  std::vector<FlagCounts> result;
  for (const std::string& cluster : loader.clusters()) {
    std::vector<LoadedFactor> loaded;
    for (const std::string& factor : loader.factors()) loaded.push_back(loader.load(cluster, factor));
    if (!options.together) {
      for (const LoadedFactor& factor : loaded) {
        FlagCounts& counts = result.emplace_back();
        counts.cluster = cluster;
        counts.factor = factor.factor;
        for (const fit::CpuHistory& cpu : factor.history.cpus) count(joined({&cpu}), options, counts);
      }
      continue;
    }
    FlagCounts& counts = result.emplace_back();
    counts.cluster = cluster;
    counts.factor = core::comma_separated(loader.factors());
    std::map<Place, std::vector<const fit::CpuHistory*>> places;
    for (const LoadedFactor& factor : loaded)
      for (std::size_t i = 0; i < factor.places.size(); ++i)
        places[factor.places[i]].push_back(&factor.history.cpus[i]);
    for (const auto& [place, factors] : places)
      if (factors.size() == loaded.size()) count(joined(factors), options, counts);
  }
  return result;
}

}  // namespace hplcast::history
