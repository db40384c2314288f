#pragma once

#include <smpi/smpi.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"
#include "smpi-models/messages/communicators.hpp"
#include "smpi-models/messages/message.hpp"
#include "smpi-models/messages/messages.hpp"
#include "smpi-models/observe/statistics.hpp"

namespace hplcast::smpi_models {

/// A copy of a type that the program may free before its message has ended; null for MPI's own, which stay.
MPI_Datatype lasting_copy(MPI_Datatype type);

/// Bytes of `count` elements of a type, packed.
std::size_t packed_bytes(int count, MPI_Datatype type);
/// How MPI_Pack moves elements of a type: the variant of its model, and the sizes that this goes by (observed_calls.h).
struct Packing {
  std::string_view strides;  ///< "/strided" and such: m bytes in each of n blocks, below a cache line, k bytes apart
  core::KernelShape shape;   ///< without: n bytes, of one piece, of longer blocks or of a layout that is not known
  bool is_slow = false;      ///< in short blocks, or not known: a message costs more than one without gaps
};
Packing packing_of(int count, MPI_Datatype type);

/// Status without a message: MPI_PROC_NULL, sendings, requests that are not active.
void set_empty_status(MPI_Status* status, int peer = MPI_ANY_SOURCE);
std::int64_t bytes_of(const MPI_Status& status);

/// Defines hplcast_MPI_Send and so on, with the parameters of MPI_Send.
#define OURS_FOR(NAME, ...)                                                        \
  extern "C" __attribute__((visibility("default"))) decltype(NAME) hplcast_##NAME; \
  int hplcast_##NAME(__VA_ARGS__)

struct RequestKind {
  bool receives = false;
  Sending sending = Sending::standard;
  bool persistent = false;
};

/// Object behind an MPI_Request of a program.
struct ProgramRequest {
  MessageEnd end;
  RequestKind kind;
  ProgramCommunicators::Pointer communicator;
  std::unique_ptr<MessageRequest> message;    ///< null: there is none to wait for
  bool active = false;                        ///< false: a persistent one that was not started
  bool is_over = false;                       ///< test() has seen the end of the message
  MPI_Datatype own_type = MPI_DATATYPE_NULL;  ///< lasting_copy()
  int number = -1;                            ///< in Fortran
};

/// MPI's point-to-point messages of any program: communicators, datatypes, wildcards, requests and statuses around
/// Messages, which has the times. Arguments and results are those of MPI.
///
/// Nothing here may be called inside guarded(): most of it blocks.
class ProgramMessages {
 public:
  /// Reads the cost of a failed MPI_Test and MPI_Iprobe from SMPI's settings. All must outlive this.
  /// `fast`: the program neither probes, nor tests, nor receives from anybody; if it does, the simulation ends.
  ProgramMessages(Messages& messages, const Communicator& world, bool late_probes, bool fast);

  ProgramCommunicators& communicators() { return communicators_; }
  const MessageTotals& sent() const { return sent_; }

  void send(Rank& rank, const MessageEnd& end, Sending how);
  void receive(Rank& rank, const MessageEnd& end, MPI_Status* status);
  /// MPI_Sendrecv.
  void exchange(Rank& rank, const MessageEnd& out, const MessageEnd& in, MPI_Status* status);
  /// MPI_Buffer_detach: blocks until long messages of MPI_Bsend have arrived; short ones have left at once.
  void wait_for_buffered(Rank& rank);
  /// Begins, unless it is persistent.
  MPI_Request make(Rank& rank, const MessageEnd& end, const RequestKind& kind);
  void start(Rank& rank, ProgramRequest& request);
  /// MPI_Iprobe, or MPI_Probe: `waits`.
  bool probe(Rank& rank, const MessageEnd& end, bool waits, MPI_Status* status);

  /// Blocks until an active request has ended, and ends it: then it is MPI_REQUEST_NULL, or persistent.
  void wait(MPI_Request& handle, MPI_Status* status);
  /// Whether its message has ended; wait() is still to be called.
  bool test(Rank& rank, ProgramRequest& request);
  /// Which of those that are active has ended; -1: none is active. wait() is still to be called.
  /// @param until_one  Messages::wait_any, or wait_next: then one that was sent meanwhile may come before what is told
  int place_of_ended(int count, const MPI_Request* handles,
                     void (Messages::*until_one)(const std::vector<MessageRequest*>&));
  void free(MPI_Request& handle);

  /// Null for what is no request of ours.
  ProgramRequest* find(MPI_Request handle) const;
  int number(ProgramRequest& request);
  ProgramRequest* of_number(int number) const;

 private:
  ProgramRequest request(const Rank& rank, const MessageEnd& end, const RequestKind& kind) {
    return {end, kind, communicators_.find(rank.number, end.communicator), nullptr};
  }
  void begin(Rank& rank, ProgramRequest& request, bool blocks);
  hplcast_message message(const Rank& rank, const ProgramRequest& request) const;
  static void deliver(const ProgramRequest& request, MPI_Status* status);
  double polling_cost_s(const Rank& rank, double cost_s) const {
    return cost_s * (grow_ ? 1 + failed_[rank.number] : 1);
  }
  void require_exact(const Rank& rank, const char* what) const;

  Messages& messages_;
  ProgramCommunicators communicators_;
  double test_s_, iprobe_s_;
  bool grow_;
  bool late_;  ///< core::NetworkModel::Values::late_probes
  bool fast_;
  MessageTotals sent_;
  std::vector<std::vector<std::shared_ptr<SentMessage>>> buffered_;  // by rank: long ones, perhaps not arrived
  std::vector<int> failed_;                                          // polls in a row, by rank
  std::unordered_set<const ProgramRequest*> requests_;
  std::vector<ProgramRequest*> by_number_;  // those that Fortran knows; null: free
};

}  // namespace hplcast::smpi_models
