#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hplcast::calibration {

/// The partner of rank 0 and where it is.
struct MpiPeer {
  int rank = 1;
  std::string scope;  ///< local or remote
};

/// Which scopes are measured: those that there are, one, or both.
enum class PeerChoice { any, local, remote, both };

/// The first rank of rank 0's own host, the first of another, or both. @throws core::Error (bad_input) if a peer that
/// is asked for does not exist.
std::vector<MpiPeer> choose_peers(const std::vector<std::string>& hosts, PeerChoice choice);

/// Who exchanges messages with whom.
enum class MpiPattern {
  pair,       ///< rank 0 with its peers, in turn
  ring,       ///< every rank with the next, one pair after the other, while the others are the background
  saturated,  ///< disjoint pairs of all ranks, all at once
};

/// One measured pair of ranks: the initiator has the clock.
struct MpiPair {
  int initiator = 0;
  int responder = 1;
  std::string scope;
};

/// Pairs that measure at the same time.
using MpiTurn = std::vector<MpiPair>;

/// The turns of each row of a design. `hosts` has the host of every rank. Saturated pairs are a rank and the one half
/// of the ranks further (remote, any), or two neighbours of one host (local).
/// @throws core::Error (bad_input) if there is no pair of the scope asked for.
std::vector<MpiTurn> choose_turns(const std::vector<std::string>& hosts, MpiPattern pattern, PeerChoice choice);

/// Turns in which exactly `pairs` of ranks exchange at the same time, of the requested scopes with enough ranks: first
/// between the host of rank 0 and the next one, then inside the host of rank 0. All initiators are on that host, rank 0
/// first. Empty if there are too few ranks.
std::vector<MpiTurn> turns_of_pairs(const std::vector<std::string>& hosts, PeerChoice choice, long pairs);

/// Whether a rank has a part in a turn.
bool takes_part(const MpiTurn& turn, int rank);

/// Activity of the ranks between messages, and how they wait for them.
enum class Background {
  none,
  dgemm,         ///< they compute
  iprobe,        ///< they poll with MPI_Iprobe, as HPL does while it waits for a panel
  dgemm_iprobe,  ///< they compute and poll in turn
};

/// The name in measurements: none, dgemm, iprobe, dgemm+iprobe.
const char* to_string(Background background);
inline bool computes(Background background) {
  return background == Background::dgemm || background == Background::dgemm_iprobe;
}
inline bool polls(Background background) {
  return background == Background::iprobe || background == Background::dgemm_iprobe;
}

}  // namespace hplcast::calibration
