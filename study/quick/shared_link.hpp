#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace hplcast::study {

/// A row swap of a process column, or a panel that a rank of the column sends or receives, on the link of its host.
struct OnLink {
  std::size_t column;
  bool is_panel;
  double begin_s, alone_s, link_s;  ///< `link_s`: of its bytes, if they have the link for themselves
  long direction;                   ///< of a panel: a number of the host, and of the direction
  double* took_s;                   ///< becomes at least as long; null: has taken what it takes until `end_s`
  double end_s = 0, done = 0;
};

/// Equal shares of what is left by those whose end is known. Who passes on a panel does not swap rows meanwhile. The
/// rows of the process grid are alike: where a panel passes in one of them, the swap of all is as slow.
inline void share_link(std::vector<OnLink>& all, std::size_t columns) {
  std::sort(all.begin(), all.end(), [](const OnLink& a, const OnLink& b) { return a.begin_s < b.begin_s; });
  std::vector<OnLink*> here;
  std::vector<std::array<int, 2>> own(columns);  // swaps and panels of each column
  std::map<long, int> panels;
  const auto change = [&](const OnLink& one, int by) {
    if (one.took_s != nullptr) own[one.column][one.is_panel] += by, panels[one.direction] += by;
  };
  double now_s = 0;
  for (std::size_t next = 0; next < all.size() || !here.empty();) {
    if (here.empty()) now_s = all[next].begin_s;
    std::array<int, 2> count{};    // of swaps and panels
    std::array<double, 2> used{};  // parts of the link
    for (const OnLink* one : here) {
      const bool is_panel = one->is_panel;
      const double part = one->link_s / (one->end_s - one->begin_s);
      if (one->took_s == nullptr)
        used[is_panel] = is_panel ? std::max(used[is_panel], part) : used[is_panel] + part;
      else
        ++count[is_panel];
    }
    const auto whole_s = [&](const OnLink& one) {
      const auto [swaps, passed] = own[one.column];
      const int at_once =
          one.is_panel ? count[0] - swaps + panels[one.direction] : count[0] + (count[1] > passed ? 1 : 0);
      const double left = 1 - used[0] - (one.is_panel || columns == 1 ? 0 : used[1]);
      return std::max({one.alone_s, one.link_s * at_once / std::max(0.01, left), 1e-300});
    };
    double until_s = next < all.size() ? all[next].begin_s : 1e300;
    OnLink* ends = nullptr;
    for (OnLink* const one : here) {
      const double end_s = one->took_s == nullptr ? one->end_s : now_s + (1 - one->done) * whole_s(*one);
      if (end_s < until_s) until_s = std::max(now_s, end_s), ends = one;
    }
    for (OnLink* const one : here) one->done += (until_s - now_s) / whole_s(*one);
    now_s = until_s;
    if (ends == nullptr && next == all.size()) return;
    if (ends == nullptr) {
      change(all[next], 1);
      here.push_back(&all[next++]);
      continue;
    }
    change(*ends, -1);
    here.erase(std::find(here.begin(), here.end(), ends));
    if (ends->took_s != nullptr) *ends->took_s = std::max(*ends->took_s, (ends->end_s = now_s) - ends->begin_s);
  }
}

}  // namespace hplcast::study
