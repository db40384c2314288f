#include "study/explain/differences.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace hplcast::study {

namespace {

using Groups = std::map<std::pair<int, int>, std::vector<int>>;  // ranks by host and CPU, or by host and -1

bool all_of(const std::vector<int>& ranks, const std::vector<bool>& chosen) {
  return std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return chosen[static_cast<std::size_t>(rank)]; });
}

/// Takes the groups of which all ranks are chosen. One rank is no host.
void take(const Groups& groups, std::vector<bool>& chosen, const core::Hosts& hosts, std::vector<RankGroup>& taken) {
  for (const auto& [key, ranks] : groups) {
    const bool is_host = key.second < 0;
    if ((is_host && ranks.size() < 2) || !all_of(ranks, chosen)) continue;
    std::string name = hosts.names()[static_cast<std::size_t>(key.first)];
    if (!is_host) name += " CPU " + std::to_string(key.second);
    if (ranks.size() == 1) name += " (rank " + std::to_string(ranks.front()) + ")";
    taken.push_back({name, ranks});
    for (const int rank : ranks) chosen[static_cast<std::size_t>(rank)] = false;
  }
}

}  // namespace

std::vector<RankPlace> rank_places(const core::ClusterModel& cluster, int ranks) {
  const int cores = cluster.hosts.values().cores;
  std::vector<RankPlace> places;
  for (int rank = 0; rank < ranks; ++rank)
    places.push_back({rank / cores, rank % cores, cluster.hosts.cpu_of(rank % cores)});
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

}  // namespace hplcast::study
