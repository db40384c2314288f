#include "hplcast/study/history_models.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/study/transform.hpp"
#include "study/history/loaded_factor.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

/// Every coefficient that the history keeps of dgemm.
const std::vector<std::string> coefficient_names = {
    "mnk",          "mn",          "mk",          "nk",          "intercept",
    "mnk_residual", "mn_residual", "mk_residual", "nk_residual", "intercept_residual"};

/// "mnk_residual" is dgemm_mnk_sd there.
std::string factor_of(const std::string& coefficient) {
  const std::string residual = "_residual";
  if (!core::ends_with(coefficient, residual)) return "dgemm_" + coefficient;
  return "dgemm_" + coefficient.substr(0, coefficient.size() - residual.size()) + "_sd";
}

struct RunKey {
  Place place;
  std::int64_t time_s = 0, day = 0;  ///< day: that it counts for; hosts measured in turn share one beyond midnight
  bool operator<(const RunKey& other) const { return std::tie(place, time_s) < std::tie(other.place, other.time_s); }
};

/// Calls `each` with the runs of a factor in the span that are no outliers, and their values.
template <typename Each>
void for_runs(const HistoryDatabase& database, const HistorySpan& span, const std::string& factor, Each each) {
  CheckOptions options;
  options.until_s = span.end_s;
  const LoadedFactor loaded = FactorLoader(database, options).load(span.cluster, factor);
  for (std::size_t c = 0; c < loaded.places.size(); ++c) {
    const fit::CpuHistory& cpu = loaded.history.cpus[c];
    for (std::size_t i = 0; i < cpu.value.size(); ++i)
      if (cpu.time_s[i] >= span.begin_s.value_or(cpu.time_s[i]) && !cpu.outlier[i])
        each(RunKey{loaded.places[c], cpu.time_s[i], cpu.day[i]}, cpu.value[i]);
  }
}

/// Coefficients of every run by the names asked for; absent ones are 0.
std::map<RunKey, std::vector<double>> coefficients(const HistoryDatabase& database, const HistorySpan& span,
                                                   const std::vector<std::string>& names) {
  std::map<RunKey, std::vector<double>> runs;
  for_runs(database, span, factor_of("mnk"), [&](const RunKey& key, double) { runs[key].assign(names.size(), 0); });
  for (std::size_t i = 0; i < names.size(); ++i)
    for_runs(database, span, factor_of(names[i]), [&](const RunKey& key, double value) {
      if (const auto found = runs.find(key); found != runs.end()) found->second[i] = value;
    });
  return runs;
}

using HostIndex = std::map<std::string, int, core::ByNumber>;

struct CpuMean {
  std::vector<double> sum;
  double runs = 0;
};

/// The law with these coefficients of dgemm: those that are 0 are no terms of it.
core::PiecewiseLaw law_of(const std::vector<double>& values, core::NoiseFamily noise) {
  std::vector<core::LawParameter> parameters;
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    parameters.push_back(core::parse_law_parameter(coefficient_names[i]));
    kept.push_back(values[i]);
  }
  const core::SquareMatrix zero(kept.size(), std::vector<double>(kept.size(), 0));
  const auto model = core::GenerativeModel::make("dgemm", noise, parameters, {{"history", 1, kept, zero, zero, 1, 1}});
  return core::PiecewiseLaw(model.law(kept));
}

core::KernelModel dgemm_of(const std::map<Place, CpuMean>& cpus, const HostIndex& index,
                           const core::ClusterModel& base) {
  const auto old = base.kernels.find("dgemm");
  core::NoiseFamily noise = core::NoiseFamily::half_normal;
  std::optional<core::ShapeRange> range;
  if (old != base.kernels.end()) {
    range = old->second.range();
    const core::NoiseFamily found = old->second.cluster_law().pieces().front().law.noise();
    if (found != core::NoiseFamily::mixture) noise = found;  // the history has no modes
  }
  std::vector<double> all(coefficient_names.size(), 0);
  std::vector<core::CpuLaw> laws;
  for (const auto& [place, cpu] : cpus) {
    std::vector<double> mean = cpu.sum;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] /= cpu.runs;
      all[i] += mean[i] / static_cast<double>(cpus.size());
    }
    laws.push_back({index.at(place.host), place.cpu, law_of(mean, noise)});
  }
  const bool more_terms = all[1] != 0 || all[2] != 0 || all[3] != 0;
  core::FitQuality quality;
  quality.notes = {"history: means of the coefficients of all runs of each CPU"};
  return core::KernelModel::make(more_terms ? "M2" : "M1", law_of(all, noise), laws, range, quality);
}

/// Days before and after a change of the whole cluster differ by more than days do. One of the future is not yet.
std::optional<std::int64_t> last_change_of_all(const HistoryDatabase& database, const HistorySpan& span) {
  std::optional<std::int64_t> last;
  const std::int64_t now_s = std::time(nullptr), end_s = std::min(now_s, span.end_s.value_or(now_s));
  for (const Change& change : database.changes())
    if (is_about(change.cluster, change.hosts, {span.cluster, "", -1}) && change.time_s <= end_s)
      last = std::max(last.value_or(change.time_s), change.time_s);
  return last;
}

/// `base` with the hosts of the history: a part of its own with all that is theirs, or others of the same kind.
core::ClusterModel with_hosts_of(const HostIndex& index, int cpus, core::ClusterModel base) {
  const core::Hosts::Values& values = base.hosts.values();
  if (cpus > values.cpus)
    throw core::InputError("the history has CPUs " + std::to_string(cpus - 1) + ", the base has " +
                           std::to_string(values.cpus) +
                           " per host\n  hint: --base gives cluster.json of such hosts (their cores, CPUs, network)");
  std::vector<std::string> others;
  for (const std::string& name : base.hosts.names())
    if (index.count(name) == 0) others.push_back(name);
  if (others.size() + index.size() == base.hosts.names().size()) return remove_named_nodes(base, others);
  const auto watts = base.power ? base.power->values().overrides : std::vector<core::PowerOverride>();
  if (std::holds_alternative<core::HostGroups>(base.network.values().topology) ||
      std::any_of(watts.begin(), watts.end(), [](const core::PowerOverride& one) { return one.host.has_value(); }))
    throw core::InputError(
        "the base has groups or watts of single hosts, and the history has hosts that the base lacks"
        "\n  hint: --base gives cluster.json of all of them, or of one switch and hosts that draw the same");
  for (auto& kernel : base.kernels) kernel.second = kernel.second.with_overrides({});
  return with_host_names(std::move(base), core::joined(index, ",", [](const auto& host) { return host.first; }));
}

}  // namespace

std::vector<fit::DailyRegression> daily_regressions(const HistoryDatabase& database, const HistorySpan& span,
                                                    const std::vector<core::LawParameter>& parameters) {
  std::vector<std::string> names;
  for (const core::LawParameter& parameter : parameters) {
    names.push_back(to_string(parameter));
    if (find_factor(factor_of(names.back())) == nullptr)
      throw core::InputError("a history does not keep the coefficient " + names.back() + "; expected some of " +
                             core::comma_separated(coefficient_names));
  }
  constexpr std::size_t products = 4;
  for (std::size_t i = 0; i < products; ++i)
    if (std::count(names.begin(), names.end(), coefficient_names[i]) == 0) names.push_back(coefficient_names[i]);
  std::vector<fit::DailyRegression> rows;
  for (auto& [key, values] : coefficients(database, span, names)) {
    std::string left_out;
    for (std::size_t i = parameters.size(); i < names.size(); ++i) left_out += values[i] != 0 ? " " + names[i] : "";
    values.resize(parameters.size());
    rows.push_back(
        {key.place.host, std::to_string(key.place.cpu), std::move(values), date_text(key.day * core::day_s), left_out});
  }
  return rows;
}

DayToDay day_to_day(const HistoryDatabase& database, const HistorySpan& span) {
  std::map<Place, std::map<std::int64_t, std::vector<double>>> speeds;  // by day
  for_runs(database, span, "dgemm_gflops",
           [&](const RunKey& key, double value) { speeds[key.place][key.day].push_back(value); });
  std::map<std::int64_t, std::vector<double>> ratios;
  for (const auto& [place, days] : speeds) {
    const double mean = core::mean(core::mapped(days, [](const auto& day) { return core::median(day.second); }));
    for (const auto& [day, values] : days) ratios[day].push_back(std::log(core::median(values) / mean));
  }
  const auto medians = core::mapped(ratios, [](const auto& day) { return core::median(day.second); });
  return {static_cast<long>(medians.size()), medians.size() < 2 ? 0 : fit::summarize(medians).sd};
}

HistoryCluster cluster_of_history(const HistoryDatabase& database, const HistorySpan& span,
                                  const core::ClusterModel& base) {
  HistoryCluster result;
  std::map<Place, CpuMean> cpus;
  HostIndex index;
  int most_cpus = 0;
  for (const auto& [key, values] : coefficients(database, span, coefficient_names)) {
    const Place& place = key.place;
    if (place.cpu < 0) continue;
    CpuMean& cpu = cpus[place];
    cpu.sum.resize(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) cpu.sum[i] += values[i];
    ++cpu.runs;
    ++result.runs;
    index[place.host];
    most_cpus = std::max(most_cpus, place.cpu + 1);
  }
  if (cpus.empty())
    throw core::InputError(
        "the history has no models of dgemm by CPU in this span\n  hint: `history add` of "
        "archives has them; imported runs need a column mnk, the coefficient of dgemm");
  result.cpus = cpus.size();
  result.cluster = with_hosts_of(index, most_cpus, base);
  int next = 0;
  for (const std::string& name : result.cluster.hosts.names()) index[name] = next++;
  result.cluster.kernels["dgemm"] = dgemm_of(cpus, index, base);
  result.days = day_to_day(database, {span.cluster, last_change_of_all(database, span), span.end_s});
  constexpr long enough_days = 3;
  if (result.days.days >= enough_days) {
    if (!result.cluster.uncertainty) result.cluster.uncertainty.emplace();
    result.cluster.uncertainty->days = result.days.days;
    result.cluster.uncertainty->between_days =
        core::EstimatedSd{result.days.sd, static_cast<double>(result.days.days - 1)};
  }
  auto provenance = core::parse_json<Json>(base.provenance);
  provenance["history"] = {{"cluster", span.cluster}, {"runs", result.runs}, {"cpus", result.cpus}};
  if (span.begin_s) provenance["history"]["from"] = date_text(*span.begin_s);
  if (span.end_s) provenance["history"]["to"] = date_text(*span.end_s);
  result.cluster.provenance = core::json_text(provenance);
  return result;
}

core::ClusterModel on_random_day(core::ClusterModel cluster, std::uint64_t seed) {
  if (!cluster.uncertainty || !cluster.uncertainty->between_days)
    throw core::InputError("the model " + cluster.name + " does not know how days differ" +
                           "\n  hint: `hplcast history export` of three days or more, or `fit cluster` of campaigns of "
                           "several days, tells it");
  constexpr std::uint32_t of_days = 0xffffffff;
  const double z = core::draw({seed, core::stream_generate, of_days, 0}, 0).normal;
  const double faster = std::exp(-cluster.uncertainty->between_days->sd * z);
  return transformed(std::move(cluster), {{"scale-dgemm", core::shortest(faster)}});
}

}  // namespace hplcast::study
