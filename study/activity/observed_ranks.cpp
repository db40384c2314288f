#include "study/activity/observed_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

namespace {

using Ranks = std::vector<RankActivity>;

fs::path file_of(const fs::path& folder, int rank) {
  return folder / ("run-" + std::to_string(rank) + ".activity");
}

std::string grid(long long n, int nb, int p, int q) {
  return "N=" + std::to_string(n) + " NB=" + std::to_string(nb) + " P=" + std::to_string(p) + " Q=" + std::to_string(q);
}

/// @throws core::Error unless the file of rank `rank` belongs to a run of `parameters`, the run of `first`.
void check_rank(const RankActivity& one, int rank, const RankActivity& first, const core::HplParameters& parameters,
                const fs::path& path) {
  if (one.rank != rank || one.ranks != parameters.P * parameters.Q)
    throw core::InputError(path.string() + " is of rank " + std::to_string(one.rank) + " of " +
                           std::to_string(one.ranks) + "; expected rank " + std::to_string(rank) + " of " +
                           std::to_string(parameters.P * parameters.Q));
  if (one.first_rank_of_host < 0 || one.first_rank_of_host > rank)
    throw core::InputError(path.string() + " says that rank " + std::to_string(one.first_rank_of_host) +
                           " is the first of its host; expected one from 0 to " + std::to_string(rank) +
                           "\n  hint: the file is damaged; repeat the run");
  if (one.run != first.run)
    throw core::InputError(path.string() + " is of another run (" + one.run + ") than that of rank 0 (" + first.run +
                           "); expected the files of one run\n  hint: repeat the run in an empty folder");
  if (one.runs != 1)
    throw core::InputError(path.string() + " is of " + std::to_string(one.runs) +
                           " runs of HPL_pdgesv; expected one configuration in HPL.dat");
  if (one.n != parameters.N || one.nb != parameters.NB || one.p != parameters.P || one.q != parameters.Q)
    throw core::InputError(path.string() + " is of a run with " + grid(one.n, one.nb, one.p, one.q) + "; expected " +
                           grid(parameters.N, parameters.NB, parameters.P, parameters.Q));
}

/// When both sides came, by the clock of rank 0.
struct BothSides {
  double sent_s = std::numeric_limits<double>::quiet_NaN();
  double wanted_s = std::numeric_limits<double>::quiet_NaN();
};

using Messages = std::unordered_map<MessageKey, BothSides, MessageHash>;

Messages both_sides(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks) {
  Messages messages;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const ActivityEvent& event : ranks[i].events) {
      if (!is_known(event) || is(event.name, "wait") || is(event.name, "iprobe")) continue;
      BothSides& sides = messages[key_of(ranks[i].rank, event)];
      (event.sends ? sides.sent_s : sides.wanted_s) = clocks[i].at_rank_0_s(ranks[i].begin_s + event.begin_s);
    }
  }
  return messages;
}

/// Adds what a rank did in a phase. Probes that found nothing are waiting; of calls that block, the same share as of
/// those whose other side is known.
void add_rank(RankPhases& to, const PhaseSums& sums, const KnownTime& known) {
  double kernels_s = 0, messages_s = 0, blocking_s = 0, waiting_s = sums.empty_probes.time_s;
  for (const CallSum& kernel : sums.kernels) kernels_s += kernel.time_s;
  for (std::size_t i = 0; i < sums.messages.size(); ++i) {
    messages_s += sums.messages[i].time_s;
    if (may_wait(static_cast<std::uint8_t>(i))) blocking_s += sums.messages[i].time_s;
  }
  if (known.calls_s > 0) waiting_s += blocking_s * known.waited_s / known.calls_s;
  to.elapsed_s.push_back(sums.elapsed_s);
  to.kernels_s.push_back(kernels_s);
  to.messages_s.push_back(messages_s - waiting_s);
  to.waiting_s.push_back(waiting_s);
}

std::vector<RankPhases> phases_of(const Ranks& ranks, const MessageWaits& waits) {
  std::vector<RankPhases> phases(core::phase_names.size());
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    phases[phase].name = core::phase_names[phase];
    for (std::size_t i = 0; i < ranks.size(); ++i)
      add_rank(phases[phase], ranks[i].phases[phase], waits.known[i][phase]);
  }
  return phases;
}

}  // namespace

std::vector<RankActivity> read_ranks(const fs::path& folder, const core::HplParameters& parameters) {
  const int count = parameters.P * parameters.Q;
  std::vector<int> missing;
  for (int rank = 0; rank < count; ++rank)
    if (!fs::exists(file_of(folder, rank))) missing.push_back(rank);
  if (static_cast<int>(missing.size()) == count)
    throw core::InputError(
        "no rank wrote its activities into " + folder.string() +
        "; expected run-RANK.activity\n  hint: --xhpl must be xhpl-instrumented of this hplcast; only that keeps them");
  if (!missing.empty())
    throw core::InputError("rank " + std::to_string(missing.front()) + " wrote no " +
                           file_of(folder, missing.front()).string() + " (" + std::to_string(missing.size()) + " of " +
                           std::to_string(count) +
                           " ranks)\n  hint: all hosts must have this folder: --outputs on a shared file system");
  Ranks ranks;
  for (int rank = 0; rank < count; ++rank) {
    const fs::path path = file_of(folder, rank);
    ranks.push_back(core::read_from(path, read_rank_activity));
    check_rank(ranks.back(), rank, ranks.front(), parameters, path);
  }
  return ranks;
}

bool may_wait(std::uint8_t operation) {
  return is(operation, "send") || is(operation, "ssend") || is(operation, "recv") || is(operation, "wait");
}

std::vector<HostClock> clocks_of(const std::vector<RankActivity>& ranks) {
  std::unordered_map<int, std::vector<ClockComparison>> comparisons;
  for (const ClockComparison& one : ranks.front().clocks) comparisons[one.rank].push_back(one);
  std::vector<HostClock> clocks;
  for (const RankActivity& rank : ranks) {
    const auto found = comparisons.find(rank.first_rank_of_host);
    if (rank.first_rank_of_host == 0) {
      clocks.emplace_back();
    } else if (found != comparisons.end()) {
      clocks.emplace_back(found->second);
    } else {
      throw core::InputError("rank 0 did not compare its clock with that of rank " +
                             std::to_string(rank.first_rank_of_host) + " on host " + rank.host +
                             "; expected one comparison before and one after the run\n  hint: repeat the run");
    }
  }
  return clocks;
}

MessageWaits message_waits(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks) {
  const Messages messages = both_sides(ranks, clocks);
  constexpr double rounding_s = 2e-9;  // times in files have 9 decimals
  double clock_error_s = rounding_s;   // of both sides
  for (const HostClock& clock : clocks) clock_error_s = std::max(clock_error_s, 2 * clock.error_s() + rounding_s);
  MessageWaits result;
  result.known.resize(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::vector<double>& waited = result.waited_s.emplace_back(ranks[i].events.size(), 0.0);
    for (std::size_t j = 0; j < waited.size(); ++j) {
      const ActivityEvent& event = ranks[i].events[j];
      if (!is_known(event) || !may_wait(event.name)) continue;
      const auto found = messages.find(key_of(ranks[i].rank, event));
      const double begin_s = clocks[i].at_rank_0_s(ranks[i].begin_s + event.begin_s);
      const double end_s = clocks[i].at_rank_0_s(ranks[i].begin_s + event.end_s);
      const double other_s = found == messages.end() ? std::numeric_limits<double>::quiet_NaN()
                             : event.sends           ? found->second.wanted_s
                                                     : found->second.sent_s;
      if (std::isnan(other_s)) continue;
      // A sender may be done before the receiver comes; a receiver never is before the sender comes.
      if (!event.sends && other_s > end_s + clock_error_s) {
        ++result.too_early;
        result.most_early_s = std::max(result.most_early_s, other_s - end_s);
      }
      if (other_s > begin_s && (other_s <= end_s || !event.sends)) waited[j] = std::min(other_s, end_s) - begin_s;
      KnownTime& known = result.known[i][event.phase];
      known.calls_s += event.end_s - event.begin_s;
      known.waited_s += waited[j];
    }
  }
  return result;
}

ObservedRanks observed_ranks(std::vector<RankActivity> ranks) {
  ObservedRanks observed;
  observed.ranks = std::move(ranks);
  observed.clocks = clocks_of(observed.ranks);
  observed.waits = message_waits(observed.ranks, observed.clocks);
  observed.phases = phases_of(observed.ranks, observed.waits);
  return observed;
}

double known_share(const ObservedRanks& observed) {
  const auto& [ranks, clocks, waits, phases] = observed;
  double known_s = 0;
  double all_s = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t phase = 0; phase < core::phase_names.size(); ++phase) {
      known_s += waits.known[i][phase].calls_s;
      for (std::size_t j = 0; j < core::mpi_names.size(); ++j)
        if (may_wait(static_cast<std::uint8_t>(j))) all_s += ranks[i].phases[phase].messages[j].time_s;
    }
  }
  return all_s > 0 ? std::min(1.0, known_s / all_s) : 1;
}

void write_event(core::TraceFile& trace, int row, const ActivityEvent& event, const core::TimeSpan& span,
                 double waited_s) {
  switch (event.kind) {
    case ActivityEvent::Kind::phase:
      return trace.phase(row, core::phase_names[event.name], span);
    case ActivityEvent::Kind::kernel:
      return trace.routine(row, core::kernel_names[event.name],
                           {static_cast<double>(event.m), static_cast<double>(event.n), static_cast<double>(event.k)},
                           span);
    case ActivityEvent::Kind::message:
      return trace.message(row, core::mpi_names[event.name], {event.peer, event.tag, event.bytes, waited_s}, span);
  }
}

}  // namespace hplcast::study
