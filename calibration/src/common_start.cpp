#include "common_start.hpp"

#include "hplcast/calibration/clock.hpp"
#include "messages.hpp"

namespace hplcast::calibration {

namespace {

/// For the news to reach everybody: some messages within a host, and one after the other.
constexpr double notice_s = 2e-5, notice_per_rank_s = 5e-6;

}  // namespace

double wait_for_common_start(const std::vector<int>& ranks, int own_rank) {
  double start_s = 0;
  if (own_rank == ranks.front()) {
    for (const int rank : ranks)
      if (rank != own_rank) receive_signal(rank, tag_together);
    start_s = now_s() + notice_s + notice_per_rank_s * static_cast<double>(ranks.size());
    for (const int rank : ranks)
      if (rank != own_rank) send(&start_s, sizeof start_s, rank, tag_start);
  } else {
    send_signal(ranks.front(), tag_together);
    receive(&start_s, sizeof start_s, ranks.front(), tag_start);
  }
  while (now_s() < start_s) {
  }
  return start_s;
}

}  // namespace hplcast::calibration
