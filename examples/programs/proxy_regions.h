/* Regions of the proxy applications of get-proxies whose code has to be executed in a simulation, too: it moves data
 * that messages and later steps depend on. There the region takes the time of its model, and the code none. */
#ifndef PROXY_REGIONS_H
#define PROXY_REGIONS_H

#include "hplcast/region.h"

#ifdef HPLCAST_SIMULATED
#define EXECUTED_BEGIN(name, m, n, k) HPLCAST_REGION_BEGIN(name, m, n, k) HPLCAST_REGION_END(name)
#define EXECUTED_END(name)
#else
#define EXECUTED_BEGIN(name, m, n, k) HPLCAST_REGION_BEGIN(name, m, n, k)
#define EXECUTED_END(name) HPLCAST_REGION_END(name)
#endif

#ifdef __cplusplus
#ifdef HPLCAST_SIMULATED
#include <algorithm>
#include <utility>
#include <vector>

/* miniVite looks at all pairs of vertices for those that are near each other. A simulation takes the time of that, and
 * finds them by their sorted coordinates: the indices j > i, ascending, with |x[j] - x_i| <= distance. To be called
 * with i = 0 first. */
inline std::vector<long> near_indices(const std::vector<double>& x, double x_i, long i, double distance) {
  static std::vector<std::pair<double, long>> sorted;
  if (i == 0) {
    sorted.clear();
    for (std::size_t j = 0; j < x.size(); ++j) sorted.emplace_back(x[j], static_cast<long>(j));
    std::sort(sorted.begin(), sorted.end());
  }
  /* A little farther than the distance: the program itself decides, whatever was rounded here. */
  const double reach = distance * (1 + 1e-9);
  std::vector<long> found;
  for (auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair<double, long>(x_i - reach, -1));
       at != sorted.end() && at->first <= x_i + reach; ++at)
    if (at->second > i) found.push_back(at->second);
  std::sort(found.begin(), found.end());
  return found;
}
#define FOR_PAIRS(j, others, i, x_i, n, distance) for (const long j : near_indices(others, x_i, i, distance))
#else
#define FOR_PAIRS(j, others, i, x_i, n, distance) for (GraphElem j = i + 1; j < n; j++)
#endif
#endif

#endif
