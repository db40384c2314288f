#include <algorithm>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

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

std::string missing(const std::string& what, const std::string& from) {
  return "there is no " + what + from +
         "\n  hint: start two ranks on one host for local, on two hosts for remote measurements";
}

}  // namespace

const char* to_string(Background background) {
  constexpr const char* names[] = {"none", "dgemm", "iprobe", "dgemm+iprobe"};
  return names[static_cast<int>(background)];
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
  if (peers.empty()) {
    throw core::InputError("messages need two ranks\n  hint: mpirun -np 2 ...");
  }
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
  } else {
    const MpiTurn turn = saturated_turn(hosts, choice);
    if (!turn.empty()) turns.push_back(turn);
  }
  if (turns.empty()) {
    throw core::InputError(missing(choice == PeerChoice::local ? "local pair" : "remote pair", " of ranks"));
  }
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
  for (MpiTurn* turn : {&remote, &local}) {
    if (!turn->empty() && wanted(choice, turn->front().scope)) turns.push_back(std::move(*turn));
  }
  return turns;
}

const MpiPair* pair_with(const MpiTurn& turn, int rank) {
  for (const MpiPair& pair : turn)
    if (pair.initiator == rank || pair.responder == rank) return &pair;
  return nullptr;
}

MpiSteps::MpiSteps(const std::vector<std::string>& hosts, const MpiDesign& design, MpiPattern pattern, PeerChoice scope,
                   int warm_up_calls) {
  if (design.empty()) throw core::DomainError("rows of the design", 0.0, "at least 1");
  for (const MpiCall& call : design) {
    if ((call.pairs > 0) != (design.front().pairs > 0))
      throw core::DomainError("pairs", "absent in some rows of the design", "in all rows or in none");
    if (turns_.count(call.pairs) > 0) continue;
    turns_[call.pairs] =
        call.pairs > 0 ? turns_of_pairs(hosts, scope, call.pairs) : choose_turns(hosts, pattern, scope);
  }
  for (const auto& [pairs, turns] : turns_) {
    for (const MpiTurn& turn : turns)
      steps_.insert(steps_.end(), static_cast<std::size_t>(warm_up_calls), {&turn, 0, true, false});
  }
  for (std::size_t row = 0; row < design.size(); ++row) {
    const std::vector<MpiTurn>& turns = turns_.at(design[row].pairs);
    for (const MpiTurn& turn : turns) steps_.push_back({&turn, row, false, &turn == &turns.back()});
  }
  if (steps_.empty()) {
    throw core::InputError("there are too few ranks for every row of the design: " + summary() +
                           "\n  hint: n pairs inside a host need 2n ranks there, n pairs between two hosts n on each");
  }
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
  for (const char* name : {"remote", "local", "too few ranks for"}) {
    if (lists.count(name) > 0) text += (text.empty() ? "" : "; ") + std::string(name) + " " + lists[name];
  }
  return text;
}

}  // namespace hplcast::calibration
