#include "study/explain/explain_parts.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/statistics.hpp"

namespace hplcast::study {

namespace {

/// Expected seconds; without a model the sum of m n k, as if it took one second for each.
double model_of(const KernelCalls& calls, const core::ClusterModel& cluster, const core::KernelModel* model,
                const RankPlace& place) {
  if (model == nullptr) return sum_of(calls, core::Monomial{1, 1, 1});
  return expected_s(calls, model->law(place.host, place.cpu)) *
         core::aliased_ratio(cluster, core::to_string(calls.kernel), place.leading_dimension);
}

/// Detours that the kernel models do not contain lengthen what ranks do by their share of the time; those of some cores
/// only count as the mean of all, and their ranks stand out.
double stretch_of(const core::ClusterModel& cluster) {
  double share = 0;
  for (const core::DetourSource& source : cluster.detours)
    if (!source.values().in_kernels) share += source.mean_share(cluster.hosts.most_cores());
  return 1 / (1 - share);
}

double sd_s(const core::DurationLaw& law, const core::KernelShape& shape) {
  return law.noise() == core::NoiseFamily::none ? 0 : law.sd_s(shape);
}

/// Variance of one call of mean sizes, times the calls.
double variance_s2(const KernelCalls& calls, const core::KernelModel* model, const RankPlace& place) {
  if (model == nullptr || calls.calls == 0) return 0;
  const core::KernelShape shape = mean_shape(calls);
  const double sd = sd_s(model->law(place.host, place.cpu).at(shape), shape);
  return static_cast<double>(calls.calls) * sd * sd;
}

const core::KernelModel* model_of(const core::ClusterModel& cluster, core::KernelId kernel) {
  const auto found = cluster.kernels.find(core::to_string(kernel));
  return found == cluster.kernels.end() ? nullptr : &found->second;
}

/// Real over model of one rank, with the level of the sizes taken out.
double ratio(const ClassCells& cells, const ClassFactors& level) {
  double real_s = 0;
  double model_s = 0;
  for (std::size_t i = 0; i < shape_classes; ++i) {
    real_s += cells[i].real_s;
    model_s += cells[i].model_s * level[i];
  }
  return model_s > 0 ? real_s / model_s : 1;
}

/// Per class over the ranks for which `counts` says so. Classes with calls that have no level take the next one's.
ClassFactors level_of(const KernelFinding& finding, const std::vector<bool>& stands_out) {
  ClassFactors level;
  level.fill(0);
  for (std::size_t i = 0; i < shape_classes; ++i) {
    double real_s = 0;
    double model_s = 0;
    for (std::size_t rank = 0; rank < finding.ranks.size(); ++rank) {
      if (stands_out[rank]) continue;
      real_s += finding.ranks[rank][i].real_s;
      model_s += finding.ranks[rank][i].model_s;
    }
    if (model_s > 0) level[i] = real_s / model_s;
  }
  double last = 0;
  for (std::size_t i = 0; i < shape_classes; ++i) last = level[i] > 0 ? level[i] : level[i] = last;
  last = 1;
  for (std::size_t i = shape_classes; i-- > 0;) last = level[i] > 0 ? level[i] : level[i] = last;
  return level;
}

/// Whose ratio is far from that of most. Of an even number of ranks, the middle is that nearer to the model.
std::vector<bool> far_ranks(const KernelFinding& finding, const ClassFactors& level, double matters_s) {
  constexpr double least = 0.03;  // CPUs of one kind differ by less (Cornebize 2021: dahu, 1 to 2 %)
  constexpr double sds_of_chance = 5;
  ClassFactors as_modelled;
  as_modelled.fill(1);
  const auto log_ratio = [](const ClassCells& cells, const ClassFactors& of) {
    return std::log(std::max(ratio(cells, of), 1e-6));
  };
  std::vector<double> logs, weights;
  for (const ClassCells& cells : finding.ranks) {
    logs.push_back(log_ratio(cells, level));
    weights.push_back(std::abs(log_ratio(cells, as_modelled)));
  }
  const Spread spread = spread_of(logs, weights, least);
  std::vector<bool> far(finding.ranks.size(), false);
  for (std::size_t i = 0; i < far.size(); ++i) {
    double expected_s = 0;
    double variance = 0;
    for (std::size_t j = 0; j < shape_classes; ++j) {
      expected_s += finding.ranks[i][j].model_s * level[j];
      variance += finding.ranks[i][j].variance_s2 * level[j] * level[j];
    }
    const double change_s = std::abs(std::exp(logs[i]) - std::exp(spread.middle)) * expected_s;
    far[i] = spread.distances[i] > spread.limit && change_s > std::max(matters_s, sds_of_chance * std::sqrt(variance));
  }
  return far;
}

void find_level(KernelFinding& finding, double matters_s) {
  const std::size_t ranks = finding.ranks.size();
  std::vector<bool> far(ranks, false);
  finding.level = level_of(finding, far);
  // Without the ranks that stand out others may: twice is enough, for a level of most ranks moves little.
  for (int i = 0; finding.has_model && i < 2; ++i) {
    far = far_ranks(finding, finding.level, matters_s);
    finding.level = level_of(finding, far);
  }
  finding.deviation.assign(ranks, 1.0);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (far[rank]) finding.deviation[rank] = ratio(finding.ranks[rank], finding.level);
}

/// Durations over expectations, and variances that the model has of them.
struct Scatter {
  double sum = 0, squares = 0, model_variance = 0;
  int samples = 0;
  void add(double relative, double model_sd) {
    sum += relative;
    squares += relative * relative;
    model_variance += model_sd * model_sd;
    ++samples;
  }
  double real() const {
    if (samples < 2) return 0;
    const double mean = sum / samples;
    return std::sqrt(std::max(0.0, (squares - samples * mean * mean) / (samples - 1))) / mean;
  }
  double model() const { return samples == 0 ? 0 : std::sqrt(model_variance / samples); }
};

using Scatters = std::map<core::KernelId, std::array<Scatter, shape_classes>>;

void add_samples(Scatters& scatters, const RankActivity& rank, const core::ClusterModel& cluster,
                 const RankPlace& place) {
  for (const KernelSample& sample : rank.kernel_samples) {
    const core::KernelModel* model = model_of(cluster, sample.kernel);
    if (model == nullptr) continue;
    const core::DurationLaw& law = model->law(place.host, place.cpu).at(sample.shape);
    const double ratio = core::aliased_ratio(cluster, core::to_string(sample.kernel), place.leading_dimension);
    const double expected_s = ratio * law.mean_s(sample.shape);
    if (!(expected_s > 0)) continue;
    Scatter& scatter = scatters[sample.kernel][static_cast<std::size_t>(size_class_of(sample.shape))];
    scatter.add(sample.time_s / expected_s, ratio * sd_s(law, sample.shape) / expected_s);
  }
}

std::vector<KernelSizes> sizes_of(const KernelFinding& finding, const std::array<Scatter, shape_classes>& scatter) {
  std::vector<KernelSizes> sizes;
  for (std::size_t i = 0; i < shape_classes; ++i) {
    KernelSizes one;
    one.least_product = std::pow(4.0, static_cast<double>(i));
    one.most_product = 4 * one.least_product;
    for (const ClassCells& cells : finding.ranks) {
      one.calls += cells[i].calls;
      one.real_s += cells[i].real_s;
      one.model_s += cells[i].model_s;
    }
    one.real_scatter = scatter[i].real();
    one.model_scatter = scatter[i].model();
    one.samples = scatter[i].samples;
    if (one.calls > 0) sizes.push_back(one);
  }
  return sizes;
}

using Groups = std::map<std::pair<int, int>, std::vector<int>>;  // ranks by host and CPU, or by host and -1

/// Takes the groups of which all ranks are chosen. One rank is no host.
void take(const Groups& groups, std::vector<bool>& chosen, const core::Hosts& hosts, std::vector<RankGroup>& taken) {
  for (const auto& [key, ranks] : groups) {
    const bool is_host = key.second < 0;
    const auto is_chosen = [&](int rank) { return chosen[static_cast<std::size_t>(rank)]; };
    if ((is_host && ranks.size() < 2) || !std::all_of(ranks.begin(), ranks.end(), is_chosen)) continue;
    std::string name = hosts.names()[static_cast<std::size_t>(key.first)];
    if (!is_host) name += " CPU " + std::to_string(key.second);
    if (ranks.size() == 1) name += " (rank " + std::to_string(ranks.front()) + ")";
    taken.push_back({name, ranks});
    for (const int rank : ranks) chosen[static_cast<std::size_t>(rank)] = false;
  }
}

}  // namespace

Spread spread_of(const std::vector<double>& values, const std::vector<double>& weights, double least) {
  using Weighted = std::pair<double, double>;  // the value first
  const auto middle_of = [](std::vector<Weighted> all) {
    std::sort(all.begin(), all.end(), [](const Weighted& a, const Weighted& b) { return a.first < b.first; });
    const Weighted& above = all[all.size() / 2];
    const Weighted& below = all[(all.size() - 1) / 2];
    return above.second < below.second ? above.first : below.first;
  };
  Spread spread;
  std::vector<Weighted> weighted, distances;
  for (std::size_t i = 0; i < values.size(); ++i) weighted.emplace_back(values[i], weights[i]);
  spread.middle = middle_of(std::move(weighted));
  for (const double value : values) {
    spread.distances.push_back(std::abs(value - spread.middle));
    distances.emplace_back(spread.distances.back(), spread.distances.back());
  }
  constexpr double robust_sds = 5;
  spread.limit = std::max(least, robust_sds * core::sd_of_median_distance * middle_of(std::move(distances)));
  return spread;
}

std::vector<RankPlace> rank_places(const core::ClusterModel& cluster, int ranks) {
  std::vector<RankPlace> places;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [host, local] = cluster.hosts.place_of(rank);
    places.push_back({host, local, cluster.hosts.cpu_of(host, local), 1});
  }
  return places;
}

std::vector<RankGroup> rank_groups(const core::ClusterModel& cluster, const std::vector<RankPlace>& places,
                                   const std::vector<bool>& chosen) {
  Groups hosts, cpus;
  for (std::size_t i = 0; i < places.size(); ++i) {
    hosts[{places[i].host, -1}].push_back(static_cast<int>(i));
    cpus[{places[i].host, places[i].cpu}].push_back(static_cast<int>(i));
  }
  std::vector<bool> left = chosen;
  std::vector<RankGroup> groups;
  if (hosts.size() > 1) take(hosts, left, cluster.hosts, groups);
  if (cpus.size() > 1) take(cpus, left, cluster.hosts, groups);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    const std::string& host = cluster.hosts.names()[static_cast<std::size_t>(places[i].host)];
    groups.push_back({"rank " + std::to_string(i) + " (" + host + " CPU " + std::to_string(places[i].cpu) + ")",
                      {static_cast<int>(i)}});
  }
  return groups;
}

double KernelFinding::sum_of(double KernelCell::*member) const {
  double sum = 0;
  for (const ClassCells& cells : ranks)
    for (const KernelCell& cell : cells) sum += cell.*member;
  return sum;
}

double KernelFinding::overall_level() const {
  const double all_model_s = sum_of(&KernelCell::model_s);
  double all_levelled_s = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) all_levelled_s += levelled_s(rank);
  return all_model_s > 0 ? all_levelled_s / all_model_s : 1;
}

double KernelFinding::levelled_s(std::size_t rank) const {
  double sum_s = 0;
  for (std::size_t i = 0; i < shape_classes; ++i) sum_s += ranks[rank][i].model_s * level[i];
  return sum_s;
}

double KernelFinding::level_change_s(std::size_t rank) const {
  double sum_s = 0;
  for (std::size_t i = 0; i < shape_classes; ++i)
    sum_s += ranks[rank][i].model_s * (has_model ? level[i] - 1 : level[i]);
  return sum_s;
}

std::vector<KernelFinding> kernel_findings(const std::vector<const std::vector<RankActivity>*>& runs,
                                           const core::ClusterModel& cluster, const std::vector<RankPlace>& places,
                                           double matters_s) {
  std::map<core::KernelId, KernelFinding> findings;
  Scatters scatters;
  for (const std::vector<RankActivity>* run : runs) {
    for (std::size_t rank = 0; rank < run->size(); ++rank) {
      for (const KernelCalls& calls : (*run)[rank].kernel_calls) {
        KernelFinding& finding = findings[calls.kernel];
        finding.ranks.resize(places.size());
        const core::KernelModel* model = model_of(cluster, calls.kernel);
        finding.has_model = model != nullptr;
        finding.stretch = stretch_of(cluster);
        KernelCell& cell = finding.ranks[rank][static_cast<std::size_t>(calls.size_class)];
        cell.calls += static_cast<double>(calls.calls);
        cell.real_s += calls.time_s;
        cell.model_s += finding.stretch * model_of(calls, cluster, model, places[rank]);
        cell.variance_s2 += variance_s2(calls, model, places[rank]);
      }
      add_samples(scatters, (*run)[rank], cluster, places[rank]);
    }
  }
  std::vector<KernelFinding> result;
  for (auto& [kernel, finding] : findings) {
    finding.kernel = kernel;
    find_level(finding, matters_s);
    finding.sizes = sizes_of(finding, scatters[kernel]);
    result.push_back(std::move(finding));
  }
  return result;
}

KernelDifference difference_of(const KernelFinding& finding, const core::ClusterModel& cluster,
                               const std::vector<RankPlace>& places, double runs) {
  KernelDifference difference;
  difference.kernel = core::to_string(finding.kernel);
  difference.has_model = finding.has_model;
  difference.real_s = finding.real_s() / runs;
  difference.model_s = finding.model_s() / runs;
  difference.level = finding.has_model ? finding.overall_level() : 1;
  std::vector<bool> far(places.size());
  for (std::size_t rank = 0; rank < places.size(); ++rank) far[rank] = finding.deviation[rank] != 1;
  difference.sizes = finding.sizes;
  for (KernelSizes& sizes : difference.sizes) {
    sizes.calls /= runs;
    sizes.real_s /= runs;
    sizes.model_s = finding.has_model ? sizes.model_s / runs : 0;
    difference.calls += sizes.calls;
  }
  for (RankGroup& group : rank_groups(cluster, places, far)) {
    double real_s = 0;
    double expected_s = 0;
    for (const int rank : group.ranks) {
      const auto i = static_cast<std::size_t>(rank);
      real_s += finding.deviation[i] * finding.levelled_s(i);
      expected_s += finding.levelled_s(i);
    }
    difference.places.push_back({std::move(group), real_s / expected_s});
  }
  return difference;
}

}  // namespace hplcast::study
