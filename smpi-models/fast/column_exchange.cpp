#include "smpi-models/fast/column_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hplcast::smpi_models {

void ExchangeLessons::add(int part, const Sample& sample) {
  Part& here = parts_[part];
  if (here.samples > 0) {
    const double change_s = sample.excess_s - here.latest_s;
    squared_changes_s2_ += change_s * change_s;
    ++changes_;
  }
  here.latest_s = sample.excess_s;
  here.samples += 1;
  here.took_s += sample.took_s;
  here.excess_s += sample.excess_s;
  here.squared_excess_s2 += sample.excess_s * sample.excess_s;
}

double ExchangeLessons::excess_s(int part) const {
  const auto found = parts_.find(part);
  return found == parts_.end() ? 0 : found->second.latest_s;
}

double ExchangeLessons::load_share(int part) const {
  const auto found = parts_.find(part);
  if (found == parts_.end() || !(found->second.excess_s > 0)) return 1;
  const Part& here = found->second;
  const double mean_s = here.took_s / here.samples;              // t + p x
  const double excess_s = here.excess_s / here.samples;          // p x
  const double busy_s = here.squared_excess_s2 / here.excess_s;  // x
  if (!(mean_s > excess_s)) return 1;
  return std::min(1.0, mean_s / (mean_s - excess_s + busy_s));
}

double ExchangeLessons::error_95_s() const {
  if (changes_ == 0) return 0;
  return 2 * static_cast<double>(computed_) * std::sqrt(squared_changes_s2_ / 2) / static_cast<double>(changes_);
}

namespace {

int greatest_power_of_two(int processes) {
  int power = 1;
  while (2 * power <= processes) power *= 2;
  return power;
}

bool better(const PivotCandidate& challenger, const PivotCandidate& champion) {
  const double a = std::abs(challenger.value);
  const double b = std::abs(champion.value);
  return a > b || (a == b && challenger.owner < champion.owner);
}

/// One exchange; the names of the counts are HPL's.
class Exchange {
 public:
  Exchange(int panel_columns, ColumnCosts& costs, std::vector<double>& times_s, std::vector<PivotCandidate>& candidates)
      : n0_(panel_columns),
        cnt_(panel_columns + 4),
        cnt0_(cnt_ + panel_columns),
        costs_(costs),
        times_s_(times_s),
        candidates_(candidates) {}

  void run() {
    const int size = static_cast<int>(times_s_.size());
    const int paired = greatest_power_of_two(size);
    for (int upper = paired; upper < size; ++upper) fold(upper, upper - paired, upper == paired);
    for (int distance = 1, k = 0; distance < paired; distance *= 2, ++k) {
      for (int i = 0; i < paired; ++i)
        if ((i & distance) == 0) swap_rows(i, i | distance, k);
    }
    if (size - paired > 1) broadcast_row(paired, size - paired);
    for (int upper = paired; upper < size; ++upper) {
      one_way(upper - paired, upper, cnt_);
      candidates_[at(upper)] = candidates_[at(upper - paired)];
    }
  }

 private:
  static std::size_t at(int position) { return static_cast<std::size_t>(position); }
  double after(int position, Work what, double begin_s, double work_s) {
    return costs_.stretches ? costs_.after(position, what, begin_s, work_s) : begin_s + work_s;
  }
  void waited(int position, double duration_s) {
    if (costs_.stretches) costs_.waited(position, duration_s);
  }

  /// A message on its way: when it arrives, and when its sender goes on. The receiver looks from `wanted_s` on.
  struct Passage {
    double sender_s, arrival_s, receiver_cost_s;
    double exchange_s;  ///< more than that if both send to each other
    double there_s;     ///< when the sender has come: until then the receiver waits for it
    double alone_s;     ///< that others wait for it on a half duplex network
  };
  Passage pass(int from, int to, int count, double sent_s, double wanted_s) {
    const double size = 8.0 * count;
    const ExchangeMessage message = costs_.message(from, to, size);
    if (size >= costs_.detached_bytes) {
      const double arrival_s = std::max(sent_s, wanted_s) + message.transfer_s;
      if (wanted_s > sent_s) waited(from, wanted_s - sent_s);
      return {arrival_s, arrival_s, 0, message.exchange_s, sent_s, message.half_duplex ? message.transfer_s : 0};
    }
    const double leaves_s = after(from, Work::other, sent_s, message.send_s);
    const double starts_s = size < costs_.async_small_bytes ? leaves_s : std::max(leaves_s, wanted_s);
    return {leaves_s, starts_s + message.transfer_s, message.recv_s, message.exchange_s, leaves_s, 0};
  }

  /// HPL_send and HPL_recv.
  void one_way(int from, int to, int count) {
    const Passage message = pass(from, to, count, times_s_[at(from)], times_s_[at(to)]);
    times_s_[at(from)] = after(from, Work::other, message.sender_s, 0);
    times_s_[at(to)] = received(to, times_s_[at(to)], message);
  }

  /// HPL_sdrv of both: MPI_Irecv, MPI_Send, MPI_Wait.
  void both_ways(int a, int b, int count_of_a, int count_of_b) {
    const double a_s = times_s_[at(a)];
    const double b_s = times_s_[at(b)];
    Passage to_b = pass(a, b, count_of_a, a_s, b_s);
    Passage to_a = pass(b, a, count_of_b, b_s, a_s);
    for (Passage* const one : {&to_a, &to_b}) one->receiver_cost_s += one->exchange_s;
    if (to_a.alone_s > 0 && to_b.alone_s > 0 && a_s != b_s) {
      Passage& later = a_s < b_s ? to_a : to_b;
      later.sender_s = later.arrival_s += (a_s < b_s ? to_b : to_a).alone_s;
    }
    times_s_[at(a)] = received(a, to_b.sender_s, to_a);
    times_s_[at(b)] = received(b, to_a.sender_s, to_b);
  }

  /// When a process that looks for the message from `begin_s` on has received it.
  double received(int position, double begin_s, const Passage& message) {
    if (message.there_s > begin_s) waited(position, message.there_s - begin_s);
    const double arrived_s = std::max(begin_s, message.arrival_s);
    return after(position, Work::other, arrived_s, message.receiver_cost_s);
  }

  void copy(int position, int count) {
    double& time_s = times_s_[at(position)];
    time_s = after(position, Work::kernel, time_s, costs_.copy_s(position, count));
  }

  /// A process beyond the power of two hands over its candidate; the first of them gets the current row in return.
  void fold(int upper, int lower, bool first) {
    if (first)
      both_ways(upper, lower, cnt_, n0_);
    else
      one_way(upper, lower, cnt_);
    if (!better(candidates_[at(upper)], candidates_[at(lower)])) return;
    copy(lower, cnt_);
    candidates_[at(lower)] = candidates_[at(upper)];
  }

  /// Step k of the pairs: those that have the current row already send it along.
  void swap_rows(int i, int partner, int k) {
    const bool has_row = (i >> k) == 0;
    both_ways(i, partner, has_row ? cnt0_ : cnt_, cnt_);
    const PivotCandidate mine = candidates_[at(i)];
    const PivotCandidate other = candidates_[at(partner)];
    if (better(other, mine)) {
      copy(i, cnt_);
      candidates_[at(i)] = other;
    }
    if (better(mine, other)) {
      copy(partner, has_row ? cnt0_ : cnt_);
      candidates_[at(partner)] = mine;
    } else if (has_row) {
      copy(partner, n0_);
    }
  }

  /// The current row for those beyond the power of two, from the first of them.
  void broadcast_row(int root, int size) {
    int step = 1;
    int mask = 1;
    for (int k = size - 1; k > 1; k >>= 1) {
      step <<= 1;
      mask = (mask << 1) + 1;
    }
    for (; step > 0; step >>= 1) {
      mask ^= step;
      for (int i = 0; i < size; ++i)
        if ((i & mask) == 0 && (i & step) == 0 && (i ^ step) < size) one_way(root + i, root + (i ^ step), n0_);
    }
  }

  int n0_, cnt_, cnt0_;
  ColumnCosts& costs_;
  std::vector<double>& times_s_;
  std::vector<PivotCandidate>& candidates_;
};

}  // namespace

void exchange_column(int panel_columns, ColumnCosts& costs, std::vector<double>& times_s,
                     std::vector<PivotCandidate>& candidates) {
  Exchange(panel_columns, costs, times_s, candidates).run();
}

int exchange_steps(int processes) {
  const int paired = greatest_power_of_two(processes);
  int steps = processes == paired ? 0 : 2;
  for (int distance = 1; distance < paired; distance *= 2) ++steps;
  return steps;
}

}  // namespace hplcast::smpi_models
