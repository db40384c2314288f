#include "hplcast/core/random_stream.hpp"
#include "hplcast/study/quick.hpp"
#include "study/quick/panel_costs.hpp"
#include "study/quick/shared_link.hpp"

// HPL's main loop (HPL_pdgesvK2) with a date for each rank: docs/models/quick.md.

namespace hplcast::study {

namespace {

/// HPL's main loop with a date for each rank. Of many process rows some stand for the others, too: each for the last of
/// several.
class MainLoop {
 public:
  /// `most_ranks`: to have dates.
  MainLoop(const PanelCosts& costs, const core::HplParameters& p, int most_ranks)
      : costs_(costs),
        p_(p),
        panels_(panels_of(p)),
        together_(std::min((p.P + 1) / 2, (p.P * p.Q + most_ranks - 1) / most_ranks)) {
    const auto rows = static_cast<std::size_t>((p.P + together_ - 1) / together_);
    columns_.assign(static_cast<std::size_t>(p.Q), Column{});
    for (int column = 0; column < p.Q; ++column)
      for (std::size_t row = 0; row < rows; ++row) {
        Rank one;
        one.host = costs.host_of(static_cast<int>(row) * together_, column);
        columns_[static_cast<std::size_t>(column)].ranks.push_back(one);
      }
    for (std::size_t i = 0; i < luck_.size(); ++i)
      luck_[i] = costs.waiting().longest(together_, (static_cast<double>(i) + 0.5) / static_cast<double>(luck_.size()));
  }

  static int panels_of(const core::HplParameters& p) { return static_cast<int>((p.N + p.NB - 1) / p.NB); }

  /// From one panel until before another: the time of those from `counted` on.
  double time_s(int first, int counted, int end) {
    for (int panel = first; panel < std::min(first + p_.Q, panels_); ++panel)
      of(panel).left = (panels_ - panel + p_.Q - 1) / p_.Q;
    double begin_s = 0;
    for (int panel = first - 1; panel < end; ++panel) {
      if (panel == counted) begin_s = mean_s();
      step(panel);
    }
    if (end < panels_) return mean_s() - begin_s;
    double end_s = 0;
    for (const Column& one : columns_) end_s = std::max(end_s, one.begin_s());
    return end_s - begin_s;
  }

 private:
  static constexpr double never_s = 1e300;

  /// A row swap: with what it began, and how it ended.
  struct Swapped {
    double begun_s = -1, offered_s = 0, found_s = 0, taken_s = 0, end_s = 0;
  };
  struct Rank {
    double begin_s = 0;  ///< of the iteration
    double ready_s = 0;  ///< when it has swapped its rows
    double taken_s = 0;  ///< when it takes the next panel
    double free_s = 0;   ///< and has passed it on
    double found_s = 0;  ///< `taken_s` as found the last time; 0: not yet
    double chunks = 0;   ///< of the update before that
    double more_s = 0;   ///< for each block of the update, than those with most rows
    double hop_s = 0;    ///< of a panel that comes from another host
    long host = 0;
    const Waiting::Sds *waiting_luck = nullptr, *update_luck = nullptr;
    Swapped last;  ///< time that this was computed
  };
  struct Column {
    int left = 0;                       ///< blocks of columns behind the panel
    int blocks = 0;                     ///< that it updates while it waits for the next panel
    double all_in_s = 0;                ///< when all ranks are in their row swap
    double swap_s = 0;                  ///< of the rows, from then on, if none takes a panel meanwhile
    double stretch = 1;                 ///< of its messages, by those of other columns
    int swapped = -1;                   ///< blocks of `swap`
    double alone_s = 0, crowded_s = 0;  ///< of its messages
    RowSwap swap;
    std::vector<Rank> ranks;

    double begin_s() const {
      double latest_s = 0;
      for (const Rank& one : ranks) latest_s = std::max(latest_s, one.begin_s);
      return latest_s;
    }
  };
  /// Costs that change only where ranks have a block row less.
  struct Rows {
    int blocks = -1, below = -1;
    int longest = 1;    ///< ranks with `blocks` of them
    double widest = 2;  ///< blocks of columns in `update`
    RankWork chunk, update, permutation;
    double factorisation_s = 0, copy_s = 0;
    double near_hop_s = 0, far_hop_s = 0, hop_link_s = 0;
    bool is_detached = false;
  };

  Column& of(int panel) { return columns_[static_cast<std::size_t>(panel % p_.Q)]; }
  int most(int blocks) const { return (blocks + p_.P - 1) / p_.P; }
  double mean_s() const {
    double sum = 0;
    for (const Column& column : columns_)
      for (const Rank& one : column.ranks) sum += one.begin_s;
    return sum / static_cast<double>(columns_.size() * columns_.front().ranks.size());
  }

  void find_rows(int panel) {
    const int behind = panels_ - panel - 1, blocks = most(behind), below = most(std::max(0, behind - 1));
    rows_.longest = behind - (blocks - 1) * p_.P;
    if (blocks == rows_.blocks && below == rows_.below) return;
    const double NB = p_.NB, rows = NB * blocks;
    rows_.blocks = blocks;
    rows_.below = below;
    rows_.widest = std::max(2.0, std::ceil(static_cast<double>(behind) / p_.Q));
    rows_.chunk = costs_.update(rows, NB);
    rows_.update = costs_.update(rows, NB * rows_.widest);
    rows_.permutation = costs_.permutation(NB);
    rows_.copy_s = p_.P == 1 ? 0 : costs_.mean_s("dlatcpy", NB, NB);
    // The rank with one block more loses a row with every column.
    rows_.factorisation_s = costs_.factorisation_s(std::max(rows - NB / 2, NB * below));
    rows_.near_hop_s = costs_.hop_s(core::Scope::local, NB * below);
    rows_.far_hop_s = costs_.hop_s(core::Scope::remote, NB * below);
    rows_.hop_link_s = costs_.hop_link_s(NB * below);
    rows_.is_detached = costs_.hop_is_detached(NB * below);
  }

  /// The calls of the update, of NB columns each, that a rank makes while it waits for the panel.
  double chunks_s(const Rank& rank, double calls) const {
    return calls * (rows_.chunk.mean_s + rank.more_s) + Waiting::in_s(rows_.chunk.repeated(calls), *rank.waiting_luck);
  }
  /// All other blocks in one call.
  double update_s(const Rank& rank, double blocks) const {
    if (blocks <= 0) return 0;
    const double alike_s =
        rows_.chunk.mean_s + (blocks - 1) / (rows_.widest - 1) * (rows_.update.mean_s - rows_.chunk.mean_s);
    RankWork work = rows_.permutation.scaled(blocks);
    work += rows_.chunk.scaled(blocks);
    return alike_s + blocks * rank.more_s + Waiting::in_s(work, *rank.update_luck);
  }

  /// Each rank: what it has more or less to do than those with most rows, and how its calls scatter.
  void draw(int panel) {
    const core::StreamName name{0, core::stream_kernel, 0, 0, static_cast<std::uint64_t>(panel + 1)};
    const auto behind = [&](int row) { return (row - panel - 1 + (panel / p_.P + 2) * p_.P) % p_.P; };
    const auto drawn = [&](double uniform) {
      static constexpr Waiting::Sds none{};  // one rank alone has the mean
      return p_.P * p_.Q == 1 ? &none : &luck_[static_cast<std::size_t>(uniform * static_cast<double>(luck_.size()))];
    };
    std::uint64_t count = 0;
    std::array<double, 4> uniforms{};
    for (Column& column : columns_)
      for (std::size_t row = 0; row < column.ranks.size(); ++row) {
        Rank& one = column.ranks[row];
        const std::size_t place = 2 * (count % 2);
        if (place == 0) uniforms = core::uniforms(name, count / 2);
        ++count;
        one.waiting_luck = drawn(uniforms[place]);
        one.update_luck = drawn(uniforms[place + 1]);
        const int first = static_cast<int>(row) * together_, last = std::min(p_.P, first + together_) - 1;
        one.more_s = 0;
        if (std::min(behind(first), behind(last)) >= rows_.longest) one.more_s -= rows_.chunk.mean_s / rows_.blocks;
        if (panel >= 0 && panel % p_.P / together_ == static_cast<int>(row)) one.more_s += rows_.copy_s;
      }
  }

  /// Durations of the swaps, and of panels between hosts, if it is known when ranks take them.
  void find_swaps(bool with_panels) {
    for (Column& one : columns_) {
      one.swap_s = 0;
      if (one.swapped == one.blocks) continue;
      one.swapped = one.blocks;
      const double columns = static_cast<double>(p_.NB) * one.blocks;
      one.swap = one.blocks > 0 ? costs_.row_swap(columns, one.ranks.size(), false) : RowSwap{};
      one.alone_s = one.swap.messages_s();
      one.crowded_s = one.blocks > 0 ? costs_.row_swap(columns, one.ranks.size(), true).messages_s() : 0;
    }
    const auto together = static_cast<std::size_t>(std::max(1L, std::lround(costs_.columns_at_once())));
    on_links_.resize((columns_.size() + together - 1) / together);
    before_.resize(on_links_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Column& one = columns_[i];
      std::vector<OnLink>& all = on_links_[i / together];
      if (i % together == 0) all = before_[i / together];
      all.push_back(
          {i % together, false, one.all_in_s, one.alone_s, one.crowded_s / costs_.columns_at_once(), -1, &one.swap_s});
      if (with_panels && costs_.hosts_are_aligned()) add_panels(i, i % together, all);
      if (i % together == together - 1 || i == columns_.size() - 1) share_link(all, together);
    }
    for (Column& one : columns_) {
      one.stretch = one.alone_s > 0 ? one.swap_s / one.alone_s : 1;
      one.swap_s += one.swap.copies_s();
    }
  }

  /// Panels that come to a process column from other hosts, or leave it for them.
  void add_panels(std::size_t column, std::size_t place, std::vector<OnLink>& all) {
    const auto add = [&](const Rank& from, Rank& to, long direction) {
      if (to.taken_s > 0 && from.host != to.host)
        all.push_back({place, true, to.taken_s, rows_.far_hop_s, rows_.hop_link_s, direction, &to.hop_s});
    };
    const std::size_t Q = columns_.size();
    for (std::size_t row = 0; row < columns_.front().ranks.size(); ++row) {
      Rank& rank = columns_[column].ranks[row];
      add(columns_[(column + Q - 1) % Q].ranks[row], rank, 2 * rank.host);
      add(rank, columns_[(column + 1) % Q].ranks[row], 2 * rank.host + 1);
    }
  }

  /// Neighbours in the row swap of a panel, the one that has the rows of U first: HPL_logsort, by pivots.
  void find_order(int panel) {
    const std::size_t ranks = columns_.front().ranks.size();
    order_.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) order_[i] = i;
    std::swap(order_[0], order_[static_cast<std::size_t>((panel + p_.P) % p_.P / together_)]);
    const core::StreamName name{1, core::stream_kernel, 0, 0, static_cast<std::uint64_t>(panel + 1)};
    for (std::size_t i = 1; i < ranks; ++i)
      std::swap(order_[i],
                order_[i + static_cast<std::size_t>(core::uniforms(name, i)[0] * static_cast<double>(ranks - i))]);
  }

  /// Before the next panel is passed on, once more.
  void begin_broadcast() {
    for (Column& one : columns_)
      for (Rank& rank : one.ranks) {
        rank.free_s = rank.ready_s = rank.begin_s;
        rank.found_s = rank.taken_s;
        rank.chunks = rank.taken_s = 0;
      }
  }
  bool is_settled() const {
    for (const Column& one : columns_)
      for (const Rank& rank : one.ranks)
        if (std::abs(rank.taken_s - rank.found_s) > 1e-6 * rows_.chunk.mean_s) return false;
    return true;
  }

  /// When a rank takes a panel that it has not found in its swap: after a call of the update (a block of columns each),
  /// or when it has nothing else to do.
  double taken_s(const Column& column, const Rank& rank, double ready_s, double offered_s, double& calls) const {
    const double most = column.blocks;
    calls = std::clamp(std::floor((offered_s - ready_s) / rows_.chunk.mean_s) - 1, 1.0, most);
    while (calls < most && ready_s + chunks_s(rank, calls) < offered_s) ++calls;
    return calls < most ? ready_s + chunks_s(rank, calls) : std::max(offered_s, ready_s + chunks_s(rank, most));
  }
  /// As far as is known before its swap.
  double expected_s(const Column& column, const Rank& rank, double offered_s) const {
    if (offered_s <= rank.begin_s || column.blocks == 0) return std::max(offered_s, rank.begin_s);
    const double ready_s = column.begin_s() + column.swap_s;
    double calls = 0;
    return offered_s <= ready_s ? offered_s : taken_s(column, rank, ready_s, offered_s, calls);
  }

  /// Who sends to the process column `distance` behind the one that has factored the panel.
  int from(int distance) const {
    const int half = (p_.Q + 1) / 2;
    const bool two_rings = p_.BCAST == 2 || p_.BCAST == 3, first_alone = p_.BCAST % 2 == 1;
    if (distance == 1 || (first_alone && distance == 2) || (two_rings && distance == half)) return 0;
    return distance - 1;
  }

  /// A panel from one rank to another of its row.
  double hop_s(const Rank& from, const Rank& to) const { return from.host == to.host ? rows_.near_hop_s : to.hop_s; }

  /// Swaps the rows of a process column: the messages of its ranks, one after the other, between which they look for
  /// the panel that `sender` offers (null: none, or they have it). Who takes it passes it on to `next`, and so holds up
  /// those that wait for it in the swap, who find their panels only afterwards.
  void swap_rows(Column& column, const Column* sender, const Column* next) {
    if (ends_as_before(column, sender, next)) return;
    const std::size_t ranks = column.ranks.size();
    const RowSwap& swap = column.swap;
    now_s_.resize(ranks);
    offered_s_.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      now_s_[i] = column.ranks[order_[i]].last.begun_s;
      offered_s_[i] = column.ranks[order_[i]].last.offered_s;
    }
    const auto look = [&](std::size_t i) {
      if (offered_s_[i] > now_s_[i]) return;
      offered_s_[i] = never_s;
      Rank& one = column.ranks[order_[i]];
      one.taken_s = now_s_[i];
      now_s_[i] += hop_s(sender->ranks[order_[i]], one);
      if (next == nullptr || rows_.is_detached) return;
      const Rank& to = next->ranks[order_[i]];
      now_s_[i] = std::max(to.found_s > 0 ? to.found_s : expected_s(*next, to, now_s_[i]), now_s_[i]) + hop_s(one, to);
    };
    const auto exchange = [&](std::size_t one, std::size_t other, double message_s) {
      now_s_[one] = now_s_[other] = std::max(now_s_[one], now_s_[other]) + column.stretch * message_s;
      look(one);
      look(other);
    };
    for (std::size_t i = 0; i < ranks; ++i) look(i);
    column.all_in_s = *std::max_element(now_s_.begin(), now_s_.end());
    if (column.blocks > 0) {
      now_s_[0] += swap.source_copy_s;
      for (std::size_t level = 0; level < swap.tree_s.size(); ++level) {
        const std::size_t apart = std::size_t{1} << (swap.tree_s.size() - 1 - level);
        for (std::size_t i = 0; i + apart < ranks; ++i)
          if (swap.rolls == 0 ? (i & apart) == 0 : i % (2 * apart) == 0) exchange(i, i + apart, swap.tree_s[level]);
      }
      for (std::size_t i = 1; i < ranks; ++i) now_s_[i] += swap.other_copy_s;
      for (std::size_t i = 0; i < swap.rolls; ++i) exchange(i, i + 1, swap.equil_s);
      for (std::size_t step = 0; step < swap.rolls; ++step)
        for (std::size_t i = step % 2; i < ranks; i += 2) exchange(i, i + 1 < ranks ? i + 1 : 0, swap.roll_s);
    }
    for (std::size_t i = 0; i < ranks; ++i) {
      Rank& one = column.ranks[order_[i]];
      one.last.taken_s = one.taken_s;
      one.last.end_s = now_s_[i];
      one.ready_s = now_s_[i] + swap.permutation_s;
    }
  }

  /// Most swaps change in few of the passes. Who has not found a panel does not find a later one either.
  static bool ends_as_before(Column& column, const Column* sender, const Column* next) {
    bool all = true;
    for (std::size_t row = 0; row < column.ranks.size(); ++row) {
      Rank& one = column.ranks[row];
      Swapped now{one.ready_s, sender == nullptr ? never_s : sender->ranks[row].free_s,
                  next == nullptr ? 0 : next->ranks[row].found_s, one.last.taken_s, one.last.end_s};
      all = all && now.begun_s == one.last.begun_s &&
            (now.taken_s == 0 ? now.offered_s > now.end_s
                              : now.offered_s == one.last.offered_s && now.found_s == one.last.found_s);
      one.last = now;
    }
    if (!all) return false;
    for (Rank& one : column.ranks) {
      one.taken_s = one.last.taken_s;
      one.ready_s = one.last.end_s + column.swap.permutation_s;
    }
    return true;
  }

  void broadcast(int panel) {
    for (int distance = 1; distance < p_.Q; ++distance) {
      Column &column = of(panel + 1 + distance), &sender = of(panel + 1 + from(distance));
      const bool is_last = distance + 1 == p_.Q || from(distance + 1) != distance;
      swap_rows(column, &sender, is_last ? nullptr : &of(panel + 2 + distance));
      for (std::size_t row = 0; row < column.ranks.size(); ++row) {
        Rank &one = column.ranks[row], &before = sender.ranks[row];
        if (one.taken_s == 0)
          one.taken_s = column.blocks == 0 ? std::max(before.free_s, one.begin_s)
                                           : taken_s(column, one, one.ready_s, before.free_s, one.chunks);
        one.free_s = one.taken_s + hop_s(before, one);
        if (!rows_.is_detached) before.free_s = one.free_s;
      }
    }
    Column& owner = of(panel + 1);
    for (Rank& one : owner.ranks) one.ready_s = one.free_s;
    swap_rows(owner, nullptr, nullptr);
  }

  /// The rest of the update. Without look-ahead, all of it.
  void finish(Column& column) const {
    for (Rank& one : column.ranks) {
      const double rest_s = update_s(one, column.blocks - one.chunks);
      one.begin_s = std::max(one.free_s, one.chunks == 0 ? one.ready_s : 0) + rest_s;
    }
  }

  /// For the next panel: links are in use until these end.
  void leave_links() {
    before_.swap(on_links_);
    for (std::vector<OnLink>& all : before_) {
      const auto is_over = [](const OnLink& one) { return one.took_s == nullptr || one.end_s <= one.begin_s; };
      all.erase(std::remove_if(all.begin(), all.end(), is_over), all.end());
      for (OnLink& one : all) one.took_s = nullptr;
    }
    for (Column& one : columns_)
      for (Rank& rank : one.ranks) rank.hop_s = rows_.far_hop_s;
  }

  /// All update their columns with this panel; the one that has the next factors and sends it before.
  void step(int panel) {
    find_rows(panel);
    leave_links();
    draw(panel);
    const bool has_next = panel + 1 < panels_, is_first = columns_.front().swapped < 0;
    if (panel >= 0 && !is_first) --of(panel).left;
    for (Column& one : columns_) one.blocks = is_first ? 0 : one.left;
    Column& next = of(panel + 1);
    double factored_s = next.begin_s();
    if (p_.DEPTH == 0 || p_.Q == 1) {  // as HPL does
      step_without_look_ahead(panel);
      factored_s = next.begin_s();
    } else if (has_next && !is_first) {
      --next.blocks;
      RankWork ahead = rows_.permutation;
      ahead += rows_.chunk;
      const RowSwap swap = costs_.row_swap(p_.NB, next.ranks.size(), false);
      factored_s += swap.copies_s() + swap.messages_s() + rows_.chunk.mean_s + costs_.waiting().mean_s(ahead, p_.P);
    }
    if (has_next)
      for (Rank& one : next.ranks) one.begin_s = factored_s + rows_.factorisation_s;
    for (Column& one : columns_) {
      one.all_in_s = one.begin_s();
      for (Rank& rank : one.ranks) rank.taken_s = 0;
    }
    find_order(panel);
    find_swaps(false);
    // When a rank takes the panel depends on those before it, and on those behind it, which hold up its column.
    for (int pass = 0; pass == 0 || (has_next && pass <= p_.Q && !(pass > 1 && is_settled())); ++pass) {
      // Ranks that pass on the panel hold up swaps, so that other swaps share the link: what they cost, once more.
      if (pass == 1) find_swaps(true);
      if (pass <= 1)
        for (Column& one : columns_)
          for (Rank& rank : one.ranks) rank.last = {};
      begin_broadcast();
      if (has_next)
        broadcast(panel);
      else
        for (Column& one : columns_) swap_rows(one, nullptr, nullptr);
    }
    for (Column& one : columns_) finish(one);
  }

  void step_without_look_ahead(int panel) {
    for (Column& one : columns_) one.all_in_s = one.begin_s();
    find_order(panel);
    find_swaps(false);
    begin_broadcast();
    for (Column& one : columns_) {
      for (Rank& rank : one.ranks) rank.last = {};
      swap_rows(one, nullptr, nullptr);
      finish(one);
      one.blocks = 0;
    }
  }

  const PanelCosts& costs_;
  const core::HplParameters& p_;
  int panels_;
  int together_;  ///< ranks that a row stands for
  std::vector<Column> columns_;
  std::vector<std::vector<OnLink>> on_links_, before_;  ///< of the process columns of each host; of the panel before
  std::vector<std::size_t> order_;                      ///< of the rows, in the row swap
  std::vector<double> now_s_, offered_s_;               ///< in that order; of swap_rows()
  std::array<Waiting::Sds, 1024> luck_{};
  Rows rows_;
};

/// Some windows of a long run, by the quadrature of Gauss and Legendre: the cost of panels changes slowly.
double factorisation_s(const PanelCosts& costs, const core::HplParameters& p, int most_ranks) {
  constexpr std::array<std::pair<double, double>, 5> nodes = {{{0.0469100770306680, 0.1184634425280945},
                                                               {0.2307653449471585, 0.2393143352496832},
                                                               {0.5, 0.2844444444444444},
                                                               {0.7692346550528415, 0.2393143352496832},
                                                               {0.9530899229693320, 0.1184634425280945}}};
  constexpr int most_counted = 64;
  constexpr double quickly_done = 20000;  // panels times ranks: some ms
  const int panels = MainLoop::panels_of(p), counted = std::min(p.Q, most_counted);
  if (panels <= 4 * counted * static_cast<int>(nodes.size()) || 1.0 * panels * p.P * p.Q <= quickly_done)
    return MainLoop(costs, p, most_ranks).time_s(0, -1, panels);
  double sum_s = 0;
  for (const auto& [place, weight] : nodes) {
    const int begin = static_cast<int>(std::lround(place * panels)) - counted / 2;
    sum_s +=
        weight * MainLoop(costs, p, most_ranks).time_s(std::max(0, begin - counted), begin, begin + counted) / counted;
  }
  return sum_s * panels;
}

}  // namespace

double closed_form_s(const core::ClusterModel& cluster, const core::HplParameters& parameters, int most_ranks) {
  const PanelCosts costs(cluster, parameters);
  return factorisation_s(costs, parameters, most_ranks) + costs.solution_s(MainLoop::panels_of(parameters));
}

}  // namespace hplcast::study
