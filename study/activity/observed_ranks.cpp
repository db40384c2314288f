#include "study/activity/observed_ranks.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

using Ranks = std::vector<RankActivity>;

fs::path file_of(const fs::path& folder, int rank) {
  return folder / ("run-" + std::to_string(rank) + ".activity");
}

[[noreturn]] void refuse(const std::string& message) {
  throw core::Error(core::ExitCode::bad_input, message);
}

std::string grid(long long n, int nb, int p, int q) {
  return "N=" + std::to_string(n) + " NB=" + std::to_string(nb) + " P=" + std::to_string(p) + " Q=" + std::to_string(q);
}

/// @throws core::Error unless the file of rank `rank` belongs to a run of `parameters`, the run of `first`.
void check_rank(const RankActivity& one, int rank, const RankActivity& first, const core::HplParameters& parameters,
                const fs::path& path) {
  if (one.rank != rank || one.ranks != parameters.P * parameters.Q)
    refuse(path.string() + " is of rank " + std::to_string(one.rank) + " of " + std::to_string(one.ranks) +
           "; expected rank " + std::to_string(rank) + " of " + std::to_string(parameters.P * parameters.Q));
  if (one.run != first.run)
    refuse(path.string() + " is of another run (" + one.run + ") than that of rank 0 (" + first.run +
           "); expected the files of one run\n  hint: repeat the run in an empty folder");
  if (one.runs != 1)
    refuse(path.string() + " is of " + std::to_string(one.runs) +
           " runs of HPL_pdgesv; expected one configuration in HPL.dat");
  if (one.n != parameters.N || one.nb != parameters.NB || one.p != parameters.P || one.q != parameters.Q)
    refuse(path.string() + " is of a run with " + grid(one.n, one.nb, one.p, one.q) + "; expected " +
           grid(parameters.N, parameters.NB, parameters.P, parameters.Q));
}

/// The times of one rank in one phase, in the order of RankPhases.
struct PhaseSplit {
  double kernels_s = 0, messages_s = 0, waiting_s = 0;
};

/// Probes that found nothing are waiting; of calls that block, the same share as of those whose other side is known.
PhaseSplit split(const PhaseSums& sums, const KnownTime& known) {
  PhaseSplit result;
  double blocking_s = 0;
  for (const CallSum& kernel : sums.kernels) result.kernels_s += kernel.time_s;
  for (std::size_t i = 0; i < sums.messages.size(); ++i) {
    result.messages_s += sums.messages[i].time_s;
    if (may_wait(static_cast<std::uint8_t>(i))) blocking_s += sums.messages[i].time_s;
  }
  result.waiting_s = sums.empty_probes.time_s;
  if (known.calls_s > 0) result.waiting_s += blocking_s * known.waited_s / known.calls_s;
  result.messages_s -= result.waiting_s;
  return result;
}

std::vector<RankPhases> phases_of(const Ranks& ranks, const MessageWaits& waits) {
  std::vector<RankPhases> phases;
  for (std::size_t phase = 0; phase < core::phase_names.size(); ++phase) {
    RankPhases& one = phases.emplace_back();
    one.name = core::phase_names[phase];
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const PhaseSplit times = split(ranks[i].phases[phase], waits.known[i][phase]);
      one.elapsed_s.push_back(ranks[i].phases[phase].elapsed_s);
      one.kernels_s.push_back(times.kernels_s);
      one.messages_s.push_back(times.messages_s);
      one.waiting_s.push_back(times.waiting_s);
    }
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
    refuse(
        "no rank wrote its activities into " + folder.string() +
        "; expected run-RANK.activity\n  hint: --xhpl must be xhpl-instrumented of this hplcast; only that keeps them");
  if (!missing.empty())
    refuse("rank " + std::to_string(missing.front()) + " wrote no " + file_of(folder, missing.front()).string() + " (" +
           std::to_string(missing.size()) + " of " + std::to_string(count) +
           " ranks)\n  hint: all hosts must have this folder: --outputs on a shared file system");
  Ranks ranks;
  for (int rank = 0; rank < count; ++rank) {
    const fs::path path = file_of(folder, rank);
    core::read_file(path,
                    [&](std::istream& in, const std::string& name) { ranks.push_back(read_rank_activity(in, name)); });
    check_rank(ranks.back(), rank, ranks.front(), parameters, path);
  }
  return ranks;
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

}  // namespace hplcast::study
