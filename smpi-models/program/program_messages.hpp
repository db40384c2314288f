#pragma once

#include <smpi/smpi.h>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "smpi-models/messages/communicators.hpp"
#include "smpi-models/messages/message.hpp"
#include "smpi-models/messages/messages.hpp"
#include "smpi-models/observe/statistics.hpp"

namespace hplcast::smpi_models {

/// Where the content of a datatype is: `blocks` blocks of `block_bytes`, of which each begins `stride_bytes` after the
/// one before it. Elements of the type follow each other at distances of `extent_bytes`.
struct DatatypeLayout {
  std::ptrdiff_t blocks = 0, block_bytes = 0, stride_bytes = 0, extent_bytes = 0;

  bool is_contiguous() const { return (blocks == 1 || block_bytes == stride_bytes) && extent_bytes == size(); }
  std::ptrdiff_t size() const { return blocks * block_bytes; }
};

/// Whether it is one of MPI's own.
bool is_predefined(MPI_Datatype type);
/// Of predefined types, and of contiguous ones and vectors of these; null for other types.
std::optional<DatatypeLayout> layout_of(MPI_Datatype type);

/// Whether a message of this type costs more than one without gaps, because it is packed in pieces of less than a cache
/// line; of types of which the layout is not known: whether they have gaps.
bool has_short_blocks(MPI_Datatype type);

/// Bytes of `count` elements of a type, packed.
std::size_t packed_bytes(int count, MPI_Datatype type);

// Contents of messages. SMPI packs types of which the layout is not known. Memory that ranks share (SharedMemory) is
// neither read nor written: what is in it means nothing, and arrives as ones.

/// What is at an end, side by side; without bytes if that is in shared memory.
MessageContent pack(const hplcast_end& from);
/// And back. Content that is shorter than what is expected fills the first elements.
void unpack(const MessageContent& content, const hplcast_end& into);
/// pack() and unpack() in one, for ends of which none is shorter than the content.
void copy_content(const hplcast_end& from, const hplcast_end& into);

/// What an MPI_Request of a program points at.
struct ProgramRequest {
  hplcast_end end;
  bool receives = false;
  bool synchronous = false;
  bool persistent = false;
  ProgramCommunicators::Pointer communicator;
  std::unique_ptr<MessageRequest> message;  ///< null: there is none to wait for
  bool active = false;
  bool owns_type = false;  ///< a copy of the program's, which it may free before the message has ended
  int number = -1;         ///< in Fortran
};

/// MPI's point-to-point messages of any program: communicators, datatypes, wildcards, requests and statuses around
/// Messages, which has the times.
///
/// Nothing here may be called inside guarded(): most of it blocks.
class ProgramMessages : private ContentMover {
 public:
  /// Reads the cost of a failed MPI_Test and MPI_Iprobe from SMPI's settings. All must outlive this.
  ProgramMessages(Messages& messages, std::deque<Rank>& ranks, const Communicator& world, bool late_probes);

  ProgramCommunicators& communicators() { return communicators_; }
  const MessageTotals& sent() const { return sent_; }

  /// As the functions of hplcast_program_messages.h, for the calling rank.
  void send(Rank& rank, const hplcast_end& end, bool synchronous);
  void receive(Rank& rank, const hplcast_end& end, MPI_Status* status);
  ProgramRequest* isend(Rank& rank, const hplcast_end& end, bool synchronous);
  ProgramRequest* ireceive(Rank& rank, const hplcast_end& end);
  ProgramRequest* prepare(Rank& rank, const hplcast_end& end, bool receives, bool synchronous);
  void start(Rank& rank, ProgramRequest& request);
  bool probe(Rank& rank, const hplcast_end& end, bool waits, MPI_Status* status);

  /// Blocks until it has ended, and ends it. True if the request is gone: it is not persistent.
  bool wait(ProgramRequest& request, MPI_Status* status);
  /// Likewise where it has ended.
  enum class Tested { open, ended, gone };
  Tested test(Rank& rank, ProgramRequest& request, MPI_Status* status);
  /// Which of them, which are all active, has ended; wait() is still to be called.
  std::size_t wait_any(const std::vector<ProgramRequest*>& requests);
  /// Likewise, but one that was sent meanwhile may come before what is told.
  std::size_t wait_next(const std::vector<ProgramRequest*>& requests);
  void free(ProgramRequest& request);

  /// Null for what is no request of ours.
  ProgramRequest* find(const void* handle) const;
  int number(ProgramRequest& request);
  ProgramRequest* of_number(int number) const;

 private:
  ProgramRequest local(Rank& rank, const hplcast_end& end, bool receives, bool synchronous);
  ProgramRequest& make(Rank& rank, const hplcast_end& end, bool receives, bool synchronous);
  void begin(Rank& rank, ProgramRequest& request, bool blocks);
  hplcast_message message(Rank& rank, const ProgramRequest& request) const;
  static void keep_type(ProgramRequest& request);
  void keep(SentMessage& sent) override;
  void move(SentMessage& sent, const MessageRequest& request) override;
  static void deliver(const ProgramRequest& request, MPI_Status* status);
  bool end(ProgramRequest& request);
  template <typename Wait>
  std::size_t first_ended(const std::vector<ProgramRequest*>& requests, const Wait& wait);
  double polling_cost_s(Rank& rank, double cost_s);

  Messages& messages_;
  std::deque<Rank>& ranks_;
  ProgramCommunicators communicators_;
  double test_s_, iprobe_s_;
  bool grow_;
  bool late_;  ///< core::NetworkModel::Values::late_probes
  MessageTotals sent_;
  std::vector<int> failed_;  // polls in a row, by rank
  std::unordered_set<const ProgramRequest*> requests_;
  std::vector<ProgramRequest*> by_number_;  // those that Fortran knows; null: free
};

}  // namespace hplcast::smpi_models
