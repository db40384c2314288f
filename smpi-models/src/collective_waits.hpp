#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace hplcast::smpi_models {

/// Who waits for whom in a collective operation: `all`: everybody for the last one that comes; `from`: all for the
/// root; `to`: the root for the last one. What is left of its time are messages.
enum class Meets { all, from, to };

/// How long ranks wait in collective operations until those are there whom they need, whatever messages SMPI makes of
/// them. The ranks of a communicator call its operations in one order: the n-th calls of all are one meeting. Without
/// SimGrid inside.
class CollectiveWaits {
 public:
  struct Call {
    int context = 0;  ///< of the communicator
    int size = 1;     ///< ranks in it
    Meets meets = Meets::all;
    bool is_root = false;
  };

  /// A rank comes to an operation. No rank is in two at a time.
  void enter(int rank, const Call& call, double now_s);
  /// It is over for the rank. @return for how long it has waited, from 0 to the time since enter()
  double leave(int rank, double now_s);

 private:
  struct Meeting {
    int entered = 0, left = 0;
    double last_s = 0;  ///< when the last of those that came until now did
    double root_s = 0;
  };
  using Key = std::pair<int, std::uint64_t>;  // context and number
  struct Entered {
    Key key;
    Call call;
    double begin_s;
  };
  std::map<Key, Meeting> meetings_;                     // until all have left
  std::map<std::pair<int, int>, std::uint64_t> calls_;  // by rank and context
  std::map<int, Entered> inside_;                       // by rank
};

}  // namespace hplcast::smpi_models
