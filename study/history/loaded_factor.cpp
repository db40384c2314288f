#include "study/history/loaded_factor.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

using core::day_s;

/// @throws core::Error for a name that is not among those that there are.
void require_known(const char* what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw core::InputError(std::string("the history has no ") + what + " `" + name + "`; it has " +
                         core::comma_separated(known));
}

}  // namespace

bool is_about(const std::string& clusters, const std::string& hosts, const Place& place) {
  return list_names(clusters, place.cluster) && (place.host.empty() ? hosts == "all" : list_names(hosts, place.host));
}

FactorLoader::FactorLoader(const HistoryDatabase& database, const CheckOptions& options)
    : database_(database), options_(options), changes_(database.changes()), outliers_(database.outliers()) {
  for (StoredCampaign& one : database.campaigns()) campaigns_[one.id] = std::move(one);
}

std::vector<std::string> FactorLoader::clusters() const {
  const auto known = database_.clusters();
  if (known.empty())
    throw core::InputError(database_.path().string() +
                           " has no campaigns yet\n  hint: "
                           "`hplcast history add` adds some");
  if (options_.cluster.empty()) return known;
  require_known("cluster", options_.cluster, known);
  return {options_.cluster};
}

std::vector<std::string> FactorLoader::factors() const {
  const auto known = database_.factors();
  if (!options_.factors.empty()) {
    for (const std::string& name : options_.factors) require_known("factor", name, known);
    return options_.factors;
  }
  std::vector<std::string> result;
  for (const FactorInfo& factor : known_factors())
    if (factor.checked && std::find(known.begin(), known.end(), factor.name) != known.end())
      result.emplace_back(factor.name);
  const std::size_t listed = result.size();
  for (const std::string& name : known) {
    const FactorInfo* factor = find_factor(name);  // those of segments have no name in the list
    if (factor != nullptr && factor->checked && name != factor->name) result.push_back(name);
  }
  std::sort(result.begin() + static_cast<std::ptrdiff_t>(listed), result.end(), core::ByNumber());
  return result;
}

fit::CpuHistory FactorLoader::history_of(const StoredSeries& series) const {
  std::vector<std::int64_t> own, of_all;  // times of the changes that apply
  if (options_.use_changes) {
    for (const Change& change : changes_) {
      if (!is_about(change.cluster, change.hosts, series.place)) continue;
      (change.hosts == "all" ? of_all : own).push_back(change.time_s);
    }
  }
  std::vector<const LoggedOutlier*> outliers;
  for (const LoggedOutlier& outlier : outliers_)
    if (is_about(outlier.cluster, outlier.hosts, series.place)) outliers.push_back(&outlier);
  const auto before = [](const std::vector<std::int64_t>& times, std::int64_t time_s) {
    return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time_s) - times.begin());
  };
  fit::CpuHistory history;
  std::size_t switches = 0;  // of the protocol, on this host: hosts may be measured one by one, and not all alike
  const StoredCampaign* before_it = nullptr;
  for (const StoredRun& run : series.runs) {
    const auto found = campaigns_.find(run.campaign);
    if (found == campaigns_.end())
      throw core::InputError("history " + database_.path().string() + ": " + to_string(series.place) +
                             " has a run of campaign " + std::to_string(run.campaign) +
                             ", which is missing\n  hint: was it changed by hand?");
    const StoredCampaign& campaign = found->second;
    const bool is_outlier = std::any_of(outliers.begin(), outliers.end(), [&](const LoggedOutlier* one) {
      return one->job.empty() ? core::day_of(run.time_s) == core::day_of(one->time_s) : one->job == campaign.job;
    });
    if (before_it != nullptr && before_it->protocol != campaign.protocol) ++switches;
    before_it = &campaign;
    const std::size_t single = before(own, run.time_s), common = before(of_all, run.time_s) + switches;
    history.day.push_back(core::day_of(run.time_s - campaign.start_s < day_s / 2 ? campaign.start_s : run.time_s));
    history.time_s.push_back(run.time_s);
    history.value.push_back(run.value);
    history.outlier.push_back(is_outlier);
    history.own_epoch.push_back(single + common);
    history.ratio_epoch.push_back(single);
    history.common_epoch.push_back(common);
  }
  return history;
}

LoadedFactor FactorLoader::load(const std::string& cluster, const std::string& factor) const {
  LoadedFactor result{cluster, factor, {}, {}};
  for (StoredSeries& series : database_.series(cluster, factor, options_.until_s)) {
    result.places.push_back(series.place);
    result.history.cpus.push_back(history_of(series));
    series.runs = {};
  }
  return result;
}

std::optional<Change> FactorLoader::nearest_change(const Place& place, std::int64_t time_s) const {
  std::optional<Change> nearest;
  for (const Change& change : changes_) {
    const std::int64_t distance = std::abs(change.time_s - time_s);
    if (!is_about(change.cluster, change.hosts, place) || distance > 30 * day_s) continue;
    if (!nearest || distance < std::abs(nearest->time_s - time_s)) nearest = change;
  }
  return nearest;
}

// --- as pages show it

namespace {

/// How unlikely a run is that is not flagged, and on which side: 0, or a shade.
class Likelihood {
 public:
  int shade(const fit::RunScore& score) {
    if (score.region == fit::Region::untested) return 0;
    auto& limits = limits_[score.reference_runs];
    for (std::size_t i = 0; limits.size() < 3; ++i)
      limits.push_back(fit::f_limit(confidences[i], 1, score.reference_runs));
    const auto above = std::count_if(limits.begin(), limits.end(), [&](double one) { return score.statistic > one; });
    return score.observed < score.expected ? -static_cast<int>(above) : static_cast<int>(above);
  }

 private:
  static constexpr double confidences[] = {0.9, 0.99, 0.999};
  std::map<std::size_t, std::vector<double>> limits_;  // by the number of earlier runs
};

/// Flags of the ratios to what all CPUs had in common; untested where there is none.
std::vector<std::vector<fit::RunScore>> ratio_scores(const LoadedFactor& factor, const CheckOptions& options,
                                                     fit::RunTests& tests) {
  std::vector<std::vector<fit::RunScore>> result;
  for (const fit::CpuHistory& cpu : factor.history.cpus) result.emplace_back(cpu.value.size());
  const auto ratios = fit::ratios_of(factor.history, options.tests.least_cpus);
  for (std::size_t c = 0; ratios && c < result.size(); ++c) {
    const fit::RatioRuns& runs = ratios->cpus[c];
    const auto scores = tests.scores(runs.runs);
    for (std::size_t i = 0; i < scores.size(); ++i) result[c][runs.places[i]] = scores[i];
  }
  return result;
}

CellKind kind_of(bool outlier, const fit::RunScore& own, const fit::RunScore& ratio) {
  if (outlier) return CellKind::outlier;
  for (const fit::RunScore* score : {&ratio, &own})
    if (fit::is_flagged(score->region)) return score->region == fit::Region::below ? CellKind::below : CellKind::above;
  const bool tested = own.region != fit::Region::untested || ratio.region != fit::Region::untested;
  return tested ? CellKind::inside : CellKind::untested;
}

}  // namespace

void show(LoadedFactor loaded, const CheckOptions& options, ShownFactor& factor) {
  factor.loaded = std::move(loaded);
  if (const FactorInfo* info = find_factor(factor.loaded.factor)) factor.unit = info->unit;
  fit::RunTests tests({options.tests.confidence, 1, options.tests.least_runs, options.tests.least_sd});
  const auto ratios = ratio_scores(factor.loaded, options, tests);
  Likelihood likelihood;
  for (std::size_t c = 0; c < factor.loaded.places.size(); ++c) {
    const fit::CpuHistory& cpu = factor.loaded.history.cpus[c];
    ShownSeries& one = factor.series.emplace_back(ShownSeries{
        &factor, factor.loaded.places[c], &cpu, tests.scores({1, cpu.value, cpu.outlier, cpu.own_epoch}), {}, {}});
    for (std::size_t i = 0; i < cpu.value.size(); ++i) {
      one.kinds.push_back(kind_of(cpu.outlier[i], one.own[i], ratios[c][i]));
      const int own = likelihood.shade(one.own[i]), ratio = likelihood.shade(ratios[c][i]);
      one.shades.push_back(std::abs(own) > std::abs(ratio) ? own : ratio);
    }
  }
}

}  // namespace hplcast::study
