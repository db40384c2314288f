#pragma once

#include <algorithm>
#include <array>
#include <vector>

namespace hplcast::study {

/// A row swap of a process column, or a panel that a rank of the column sends or receives, on the link of its host.
struct OnLink {
  std::size_t column;
  bool is_panel;
  double begin_s, alone_s, link_s;  ///< `link_s`: of its bytes, if they have the link for themselves
  double* took_s;                   ///< becomes at least as long; null: has taken what it takes until `end_s`
  double end_s = 0, done = 0;
};

/// Equal shares of what is left by those whose end is known. Who passes on a panel does not swap rows meanwhile. The
/// rows of the process grid are alike: where a panel passes in one of them, the swap of all is as slow.
inline void share_link(std::vector<OnLink>& all, std::size_t columns) {
  std::sort(all.begin(), all.end(), [](const OnLink& a, const OnLink& b) { return a.begin_s < b.begin_s; });
  std::vector<OnLink*> here;
  double now_s = 0;
  for (std::size_t next = 0; next < all.size() || !here.empty();) {
    if (here.empty()) now_s = all[next].begin_s;
    int swaps = 0, panels = 0;
    std::vector<std::array<int, 2>> own(columns);
    double used = 0, used_by_panels = 0;
    for (const OnLink* one : here) {
      const double part = one->link_s / (one->end_s - one->begin_s);
      if (one->took_s != nullptr)
        ++(one->is_panel ? panels : swaps), ++own[one->column][one->is_panel];
      else if (one->is_panel)
        used_by_panels = std::max(used_by_panels, part);
      else
        used += part;
    }
    const auto whole_s = [&](const OnLink& one) {
      const auto [own_swaps, own_panels] = own[one.column];
      const int at_once = one.is_panel ? 1 + swaps - own_swaps : swaps + (panels > own_panels ? 1 : 0);
      const double left = 1 - used - (one.is_panel ? 0 : used_by_panels);
      return std::max({one.alone_s, one.link_s * at_once / std::max(0.01, left), 1e-300});
    };
    double until_s = next < all.size() ? all[next].begin_s : 1e300;
    auto ends = here.end();
    for (auto one = here.begin(); one != here.end(); ++one) {
      const bool is_known = (*one)->took_s == nullptr;
      const double end_s = is_known ? (*one)->end_s : now_s + (1 - (*one)->done) * whole_s(**one);
      if (end_s < until_s) until_s = std::max(now_s, end_s), ends = one;
    }
    for (OnLink* const one : here) one->done += (until_s - now_s) / whole_s(*one);
    now_s = until_s;
    if (ends == here.end()) {
      here.push_back(&all[next++]);
      continue;
    }
    OnLink& one = **ends;
    here.erase(ends);
    if (one.took_s == nullptr) continue;
    one.end_s = now_s;
    *one.took_s = std::max(*one.took_s, now_s - one.begin_s);
  }
}

}  // namespace hplcast::study
