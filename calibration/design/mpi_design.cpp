#include "hplcast/calibration/mpi_design.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::calibration {

namespace {

constexpr long smallest_unmatched_bytes = 64;
constexpr long largest_message_bytes = std::numeric_limits<int>::max();

/// The member of a sorted list that is nearest in ratio.
long nearest(const std::vector<long>& sorted, double size) {
  const auto above = std::lower_bound(sorted.begin(), sorted.end(), size,
                                      [](long member, double value) { return static_cast<double>(member) < value; });
  if (above == sorted.begin()) return *above;
  if (above == sorted.end()) return sorted.back();
  const double below = static_cast<double>(*(above - 1));
  return size / below < static_cast<double>(*above) / size ? *(above - 1) : *above;
}

std::vector<long> log_uniform_sizes(const MpiDesignOptions& options, core::RandomStream& random) {
  const double low = std::log(static_cast<double>(options.min_bytes));
  const double width = std::log(static_cast<double>(options.max_bytes)) - low;
  std::vector<long> sizes{options.min_bytes};
  const long inner = std::max(0L, options.count - 2);
  for (long i = 0; i < inner; ++i) {
    const double position = (static_cast<double>(i) + random.uniform()) / static_cast<double>(inner);
    const long size = std::lround(std::exp(low + width * position));
    sizes.push_back(std::clamp(size, options.min_bytes, options.max_bytes));
  }
  if (options.count > 1) sizes.push_back(options.max_bytes);
  if (!options.among.empty()) {
    for (long& size : sizes) size = nearest(options.among, static_cast<double>(size));
  }
  return sizes;
}

/// Headers make the true limit of a protocol a little less than the power of two in its name.
std::vector<long> sizes_around_limits(const MpiDesignOptions& options) {
  std::vector<long> sizes;
  for (long power = smallest_unmatched_bytes; power <= options.max_bytes; power *= 2) {
    sizes.push_back(power - power / 16);
    sizes.push_back(power);
  }
  return sizes;
}

std::vector<long> sizes_of(MpiOperation operation, const MpiDesignOptions& options, const std::vector<long>& sizes) {
  switch (operation) {
    case MpiOperation::iprobe:
    case MpiOperation::test:
      return std::vector<long>(sizes.size(), 1);
    case MpiOperation::wtime:
      return std::vector<long>(sizes.size(), 0);
    case MpiOperation::send_unmatched:
      return sizes_around_limits(options);
    case MpiOperation::panel: {
      std::vector<long> panels;
      for (const long size : sizes)
        if (size >= least_panel_bytes) panels.push_back(size / panel_row_bytes * panel_row_bytes);
      return panels;
    }
    default:
      return sizes;
  }
}

void validate(const MpiDesignOptions& options) {
  if (options.min_bytes < 1) throw core::DomainError("min bytes", options.min_bytes, "at least 1");
  if (options.max_bytes < options.min_bytes || options.max_bytes > largest_message_bytes)
    throw core::DomainError("max bytes", options.max_bytes, "min bytes to 2^31 - 1 (one MPI message)");
  if (options.count < 1) throw core::DomainError("count", options.count, "at least 1");
  if (options.repetitions < 1) throw core::DomainError("repetitions", options.repetitions, "at least 1");
  if (options.operations.empty()) throw core::DomainError("number of operations", 0.0, "at least 1");
  require_few_rows(static_cast<double>(options.count) * options.repetitions *
                   static_cast<double>(options.operations.size()));
}

/// The sizes that follow from a given list.
MpiDesignOptions completed(MpiDesignOptions options) {
  if (options.among.empty()) return options;
  std::sort(options.among.begin(), options.among.end());
  options.min_bytes = options.among.front();
  options.max_bytes = options.among.back();
  return options;
}

std::string scope_of(const std::vector<std::string>& hosts, std::size_t a, std::size_t b) {
  return hosts[a] == hosts[b] ? "local" : "remote";
}

bool wanted(PeerChoice choice, const std::string& scope) {
  return choice == PeerChoice::any || choice == PeerChoice::both || (choice == PeerChoice::local) == (scope == "local");
}

MpiPair pair_of(const std::vector<std::string>& hosts, std::size_t a, std::size_t b) {
  return {static_cast<int>(a), static_cast<int>(b), scope_of(hosts, a, b)};
}

/// Disjoint pairs that are as alike as possible.
MpiTurn saturated_turn(const std::vector<std::string>& hosts, PeerChoice choice) {
  MpiTurn turn;
  if (choice != PeerChoice::local) {
    const std::size_t half = hosts.size() / 2;
    for (std::size_t rank = 0; rank < half; ++rank) {
      const MpiPair pair = pair_of(hosts, rank, rank + half);
      if (wanted(choice, pair.scope)) turn.push_back(pair);
    }
    return turn;
  }
  std::vector<bool> taken(hosts.size(), false);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    for (std::size_t other = rank + 1; other < hosts.size() && !taken[rank]; ++other) {
      if (taken[other] || hosts[other] != hosts[rank]) continue;
      taken[rank] = taken[other] = true;
      turn.push_back(pair_of(hosts, rank, other));
    }
  }
  return turn;
}

/// A round robin: the first stays, the others go round it (the circle method). Of an odd number the one that would be
/// with the last place waits.
std::vector<MpiTurn> all_pairs(const std::vector<std::string>& hosts, PeerChoice choice) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const bool local = choice == PeerChoice::local && hosts[rank] == hosts[0];
    const bool first_there = std::find(hosts.begin(), hosts.end(), hosts[rank]) - hosts.begin() == std::ptrdiff_t(rank);
    if (local || (choice != PeerChoice::local && first_there)) ranks.push_back(rank);
  }
  std::vector<MpiTurn> turns;
  if (ranks.size() < 2) return turns;
  std::vector<std::size_t> others(ranks.begin() + 1, ranks.end());
  core::RandomStream random({0, core::stream_design, 0, 0, 0});
  core::shuffle(others, random);
  const bool odd = ranks.size() % 2 == 1;
  const std::size_t nobody = hosts.size();
  if (odd) others.push_back(nobody);
  for (std::size_t round = 0; round < others.size(); ++round) {
    MpiTurn turn;
    const auto add = [&](std::size_t a, std::size_t b) {
      if (a != nobody && b != nobody) turn.push_back(pair_of(hosts, a, b));
    };
    add(0, others.back());
    for (std::size_t i = 0; i < others.size() / 2; ++i) add(others[i], others[others.size() - 2 - i]);
    turns.push_back(std::move(turn));
    std::rotate(others.begin(), others.begin() + 1, others.end());
  }
  return turns;
}

/// Another order of the rounds for each row. One with rank 0 comes last: it decides whether another row follows.
void mix_rounds(std::vector<const MpiTurn*>& turns, std::size_t row) {
  core::RandomStream random({0, core::stream_design, 1, 0, row});
  core::shuffle(turns, random);
  const auto of_rank_0 = [](const MpiTurn* turn) { return turn->front().initiator == 0; };
  std::iter_swap(std::find_if(turns.rbegin(), turns.rend(), of_rank_0), turns.rbegin());
}

std::string missing(const std::string& what, const std::string& from) {
  return "there is no " + what + from +
         "\n  hint: start two ranks on one host for local, on two hosts for remote measurements";
}

}  // namespace

std::vector<MpiOperation> all_mpi_operations() {
  std::vector<MpiOperation> all;
  for (int i = 0; i < static_cast<int>(MpiOperation::one_way); ++i) all.push_back(static_cast<MpiOperation>(i));
  return all;
}

MpiDesign make_mpi_design(const MpiDesignOptions& given) {
  const MpiDesignOptions options = completed(given);
  validate(options);
  core::RandomStream random({options.seed, core::stream_design, 1, 0});
  const std::vector<long> sizes = log_uniform_sizes(options, random);
  MpiDesign design;
  for (const MpiOperation operation : options.operations) {
    for (const long size : sizes_of(operation, options, sizes))
      for (int repetition = 0; repetition < options.repetitions; ++repetition)
        design.push_back({operation, size, repetition});
  }
  core::require(!design.empty(), "max bytes", options.max_bytes,
                "at least 64 for a design of send_unmatched alone, 65536 for one of panel");
  core::shuffle(design, random);
  return design;
}

std::vector<long> doubling_pairs(long most) {
  if (most < 1) throw core::DomainError("pairs", most, "at least 1");
  std::vector<long> pairs;
  for (long count = 1; count < most; count *= 2) pairs.push_back(count);
  pairs.push_back(most);
  return pairs;
}

MpiDesign make_saturation_design(const SaturationDesignOptions& options) {
  const MpiDesignOptions sizes_of_it{options.min_bytes, options.max_bytes, options.count, {}, options.repetitions};
  validate(sizes_of_it);
  if (options.pairs.empty()) throw core::DomainError("numbers of pairs", 0.0, "at least one");
  require_few_rows(static_cast<double>(options.count) * options.repetitions *
                   static_cast<double>(options.pairs.size()));
  core::RandomStream random({options.seed, core::stream_design, 2, 0});
  const std::vector<long> sizes = log_uniform_sizes(sizes_of_it, random);
  MpiDesign design;
  for (const long pairs : options.pairs) {
    if (pairs < 1) throw core::DomainError("pairs", pairs, "at least 1");
    if (std::count(options.pairs.begin(), options.pairs.end(), pairs) > 1)
      throw core::DomainError("pairs", pairs, "each number once");
    for (const long size : sizes)
      for (int repetition = 0; repetition < options.repetitions; ++repetition)
        design.push_back({MpiOperation::one_way, size, repetition, pairs});
  }
  core::shuffle(design, random);
  return design;
}

double estimated_s(const MpiDesign& design, double bandwidth_bytes_per_s) {
  core::require(bandwidth_bytes_per_s > 0, "bandwidth", bandwidth_bytes_per_s, "a positive number of bytes/s");
  constexpr double per_call_s = 1e-4;  // the handshake before each call, see measure_mpi.cpp
  double total_s = 0;
  for (const MpiCall& call : design) {
    // recv waits twice the time of a message; an exchange has three that may come one after the other.
    const bool three = call.operation == MpiOperation::recv || call.operation == MpiOperation::exchange;
    double legs = three ? 3 : 2;
    if (call.operation == MpiOperation::one_way) legs = static_cast<double>(std::max(1L, call.pairs));
    total_s += per_call_s + legs * static_cast<double>(call.size_bytes) / bandwidth_bytes_per_s;
    if (call.operation == MpiOperation::send_unmatched) total_s += late_receiver_s;
  }
  return total_s;
}

long max_bytes(const MpiDesign& design) {
  long largest = 0;
  for (const MpiCall& call : design) largest = std::max(largest, call.size_bytes);
  return largest;
}

std::vector<MpiPair> choose_peers(const std::vector<std::string>& hosts, PeerChoice choice) {
  std::vector<MpiPair> peers;
  for (const char* scope : {"local", "remote"}) {
    if (!wanted(choice, scope)) continue;
    std::size_t rank = 1;
    while (rank < hosts.size() && scope_of(hosts, 0, rank) != scope) ++rank;
    if (rank < hosts.size()) {
      peers.push_back(pair_of(hosts, 0, rank));
    } else if (choice != PeerChoice::any) {
      throw core::InputError(missing(std::string(scope) + " rank to measure with from ", hosts[0]));
    }
  }
  if (peers.empty()) throw core::InputError("messages need two ranks\n  hint: mpirun -np 2 ...");
  return peers;
}

std::vector<MpiTurn> choose_turns(const std::vector<std::string>& hosts, MpiPattern pattern, PeerChoice choice) {
  std::vector<MpiTurn> turns;
  const std::vector<MpiPair> peers = choose_peers(hosts, pattern == MpiPattern::pair ? choice : PeerChoice::any);
  if (pattern == MpiPattern::pair) {
    for (const MpiPair& peer : peers) turns.push_back({peer});
  } else if (pattern == MpiPattern::ring) {
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      const MpiPair pair = pair_of(hosts, rank, (rank + 1) % hosts.size());
      if (wanted(choice, pair.scope)) turns.push_back({pair});
    }
  } else if (pattern == MpiPattern::all_pairs) {
    turns = all_pairs(hosts, choice);
  } else if (pattern == MpiPattern::cpus) {
    throw core::DomainError("pattern", "cpus", "turns_of_cpus()");
  } else {
    const MpiTurn turn = saturated_turn(hosts, choice);
    if (!turn.empty()) turns.push_back(turn);
  }
  if (turns.empty())
    throw core::InputError(missing(choice == PeerChoice::local ? "local pair" : "remote pair", " of ranks"));
  return turns;
}

std::vector<MpiTurn> turns_of_pairs(const std::vector<std::string>& hosts, PeerChoice choice, long pairs) {
  std::vector<std::size_t> here, there;  // ranks of the host of rank 0, of the next one
  const auto other = std::find_if(hosts.begin(), hosts.end(), [&](const std::string& h) { return h != hosts[0]; });
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == hosts[0]) here.push_back(rank);
    if (other != hosts.end() && hosts[rank] == *other) there.push_back(rank);
  }
  const auto count = static_cast<std::size_t>(pairs);
  MpiTurn remote, local;
  for (std::size_t i = 0; i < count && count <= std::min(here.size(), there.size()); ++i)
    remote.push_back(pair_of(hosts, here[i], there[i]));
  for (std::size_t i = 0; i < count && 2 * count <= here.size(); ++i)
    local.push_back(pair_of(hosts, here[2 * i], here[2 * i + 1]));
  std::vector<MpiTurn> turns;
  for (MpiTurn* turn : {&remote, &local})
    if (!turn->empty() && wanted(choice, turn->front().scope)) turns.push_back(std::move(*turn));
  return turns;
}

std::vector<MpiTurn> turns_of_cpus(const std::vector<std::string>& hosts, const std::vector<int>& cpus, long pairs) {
  const auto other = std::find_if(hosts.begin(), hosts.end(), [&](const std::string& h) { return h != hosts[0]; });
  if (other == hosts.end()) throw core::InputError(missing("second host", " to send to"));
  std::map<int, std::vector<std::size_t>> here, there;  // ranks by CPU
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == hosts[0]) here[cpus.at(rank)].push_back(rank);
    if (hosts[rank] == *other) there[cpus.at(rank)].push_back(rank);
  }
  std::vector<MpiTurn> turns;
  if (pairs <= 0) {
    for (const auto& [cpu, senders] : here)
      for (const auto& [peer_cpu, receivers] : there) turns.push_back({pair_of(hosts, senders[0], receivers[0])});
    return turns;
  }
  std::map<int, MpiTurn> alone;
  auto count = static_cast<std::size_t>(pairs);
  for (const auto& [cpu, ranks] : here)
    if (there.count(cpu) > 0) count = std::min({count, ranks.size(), there[cpu].size()});
  for (const auto& [cpu, ranks] : here)
    for (std::size_t i = 0; i < count && there.count(cpu) > 0; ++i)
      alone[cpu].push_back(pair_of(hosts, ranks[i], there[cpu][i]));
  for (auto first = alone.begin(); first != alone.end(); ++first) {
    for (auto second = std::next(first); second != alone.end(); ++second) {
      turns.push_back(first->second);
      turns.back().insert(turns.back().end(), second->second.begin(), second->second.end());
    }
  }
  const auto couples = static_cast<std::ptrdiff_t>(turns.size());
  for (const auto& [cpu, turn] : alone) turns.insert(cpu == cpus[0] ? turns.end() : turns.begin() + couples, turn);
  return turns;
}

const MpiPair* pair_with(const MpiTurn& turn, int rank) {
  for (const MpiPair& pair : turn)
    if (pair.initiator == rank || pair.responder == rank) return &pair;
  return nullptr;
}

MpiSteps::MpiSteps(const std::vector<std::string>& hosts, const MpiDesign& design, MpiPattern pattern, PeerChoice scope,
                   int warm_up_calls, const std::vector<int>& cpus) {
  if (design.empty()) throw core::DomainError("rows of the design", 0.0, "at least 1");
  for (const MpiCall& call : design) {
    if ((call.pairs > 0) != (design.front().pairs > 0))
      throw core::DomainError("pairs", "absent in some rows of the design", "in all rows or in none");
    if (turns_.count(call.pairs) > 0) continue;
    turns_[call.pairs] = pattern == MpiPattern::cpus ? turns_of_cpus(hosts, cpus, call.pairs)
                         : call.pairs > 0            ? turns_of_pairs(hosts, scope, call.pairs)
                                                     : choose_turns(hosts, pattern, scope);
  }
  for (const auto& [pairs, turns] : turns_)
    for (const MpiTurn& turn : turns)
      steps_.insert(steps_.end(), static_cast<std::size_t>(warm_up_calls), {&turn, 0, true, false});
  for (std::size_t row = 0; row < design.size(); ++row) {
    std::vector<const MpiTurn*> turns;
    for (const MpiTurn& turn : turns_.at(design[row].pairs)) turns.push_back(&turn);
    if (pattern == MpiPattern::all_pairs) mix_rounds(turns, row);
    for (const MpiTurn* turn : turns) steps_.push_back({turn, row, false, turn == turns.back()});
  }
  if (steps_.empty())
    throw core::InputError("there are too few ranks for every row of the design: " + summary() +
                           "\n  hint: n pairs inside a host need 2n ranks there, n pairs between two hosts n on each");
}

std::string MpiSteps::summary() const {
  std::map<std::string, std::string> lists;
  for (const auto& [pairs, turns] : turns_) {
    const auto add = [&, count = pairs](const std::string& name) {
      std::string& list = lists[name];
      list += (list.empty() ? "" : ", ") + std::to_string(count);
    };
    for (const MpiTurn& turn : turns) add(turn.front().scope);
    if (turns.empty()) add("too few ranks for");
  }
  std::string text;
  for (const char* name : {"remote", "local", "too few ranks for"})
    if (lists.count(name) > 0) text += (text.empty() ? "" : "; ") + std::string(name) + " " + lists[name];
  return text;
}

}  // namespace hplcast::calibration
