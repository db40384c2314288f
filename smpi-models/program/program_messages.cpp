#include "smpi-models/program/program_messages.hpp"

#include <algorithm>

#include "smpi-models/messages/probes.hpp"

namespace hplcast::smpi_models {

namespace {

/// Fortran's numbers of SMPI's requests are far below.
constexpr int first_number = 1 << 30;

void set_status(MPI_Status* status, int source, int tag, double bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  *status = {};
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->MPI_ERROR = MPI_SUCCESS;
  // Too short for long messages: what is beyond is beside the bit of `cancelled`, which no message of ours is.
  const auto whole = static_cast<std::uint64_t>(bytes);
  status->count = static_cast<int>(whole);
  status->cancelled = static_cast<int>(whole >> 32 << 1);
}

/// Status of a message that has come.
void set_status(MPI_Status* status, const ProgramRequest& request, const hplcast_message& sent) {
  if (status == MPI_STATUS_IGNORE) return;
  set_status(status, request.communicator->ranks.number_of(sent.channel.source), sent.channel.tag, sent.bytes);
}

}  // namespace

void set_empty_status(MPI_Status* status, int peer) {
  set_status(status, peer == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

std::int64_t bytes_of(const MPI_Status& status) {
  return static_cast<std::int64_t>(status.cancelled >> 1) << 32 | static_cast<std::uint32_t>(status.count);
}

ProgramMessages::ProgramMessages(Messages& messages, const Communicator& world, bool late_probes, bool fast)
    : messages_(messages),
      communicators_(world),
      test_s_(port::setting<double>("smpi/test")),
      iprobe_s_(port::setting<double>("smpi/iprobe")),
      grow_(port::setting<bool>("smpi/grow-injected-times")),
      late_(late_probes),
      fast_(fast),
      buffered_(static_cast<std::size_t>(world.size)),
      failed_(static_cast<std::size_t>(world.size)) {}

hplcast_message ProgramMessages::message(const Rank& rank, const ProgramRequest& request) const {
  const MessageEnd& end = request.end;
  const Communicator& ranks = request.communicator->ranks;
  if (end.peer != MPI_ANY_SOURCE && (end.peer < 0 || end.peer >= ranks.size))
    end_simulation_of(rank.number,
                      "names rank " + std::to_string(end.peer) + " in a communicator of " + std::to_string(ranks.size));
  const bool receives = request.kind.receives;
  const bool is_tag = end.tag >= 0 || (receives && end.tag == MPI_ANY_TAG) || rank.collective_on != nullptr;
  if (end.count < 0 || !is_tag)
    end_simulation_of(rank.number, (receives ? "receives " : "sends ") + std::to_string(end.count) +
                                       " elements with the tag " + std::to_string(end.tag) +
                                       "; expected numbers from 0 (was an int too small?)");
  const int here = static_cast<int>(rank.number);
  const int peer = end.peer == MPI_ANY_SOURCE ? any_value : ranks.world_ranks[end.peer];
  hplcast_message result{};
  result.channel = {receives ? peer : here, receives ? here : peer, end.tag == MPI_ANY_TAG ? any_value : end.tag,
                    rank.collective_on != nullptr ? ~request.communicator->context : request.communicator->context};
  result.bytes = static_cast<double>(packed_bytes(end.count, end.type));
  result.probed = fast_ ? 0 : 1;
  if (end.peer == MPI_ANY_SOURCE) require_exact(rank, "receives from anybody (MPI_ANY_SOURCE)");
  return result;
}

void ProgramMessages::require_exact(const Rank& rank, const char* what) const {
  if (fast_)
    end_simulation_of(rank.number,
                      std::string(what) + ": with --fast a rank does not know what has come until now; leave it out");
}

void ProgramMessages::begin(Rank& rank, ProgramRequest& request, bool blocks) {
  request.active = true;
  if (request.end.peer == MPI_PROC_NULL) return;
  const hplcast_message what = message(rank, request);
  if (request.kind.receives) {
    request.message = messages_.irecv(what, &request.end);
    return;
  }
  sent_.add(what.bytes);
  const Sending how = request.kind.sending;
  if (!blocks) request.message = messages_.isend(what, how, &request.end);
  const auto sent = blocks ? messages_.send(what, how, &request.end) : request.message->message;
  if (how != Sending::buffered || what.bytes < messages_.detached_bytes()) return;
  auto& kept = buffered_[rank.number];
  if (!kept.empty() && kept.front()->transfer.has_ended()) kept.erase(kept.begin());
  kept.push_back(sent);
}

void ProgramMessages::wait_for_buffered(Rank& rank) {
  rank.clock.flush();
  for (const auto& sent : std::exchange(buffered_[rank.number], {})) messages_.wait_for_end(sent);
}

void ProgramMessages::send(Rank& rank, const MessageEnd& end, Sending how) {
  ProgramRequest sending = request(rank, end, {false, how});
  begin(rank, sending, true);
}

void ProgramMessages::receive(Rank& rank, const MessageEnd& end, MPI_Status* status) {
  ProgramRequest receiving = request(rank, end, {true});
  begin(rank, receiving, true);
  if (receiving.message != nullptr) messages_.wait(*receiving.message);
  deliver(receiving, status);
}

void ProgramMessages::exchange(Rank& rank, const MessageEnd& out, const MessageEnd& in, MPI_Status* status) {
  ProgramRequest sending = request(rank, out, {}), receiving = request(rank, in, {true});
  begin(rank, sending, false);
  // MPI_Sendrecv_replace overwrites it.
  if (out.buffer == in.buffer && sending.message != nullptr && sending.message->message->from != nullptr)
    keep_content(*sending.message->message);
  begin(rank, receiving, false);
  if (receiving.message != nullptr) messages_.wait(*receiving.message);
  deliver(receiving, status);
  if (sending.message == nullptr) return;
  messages_.wait(*sending.message);
  if (sending.message->message->from != nullptr) keep_content(*sending.message->message);
}

MPI_Request ProgramMessages::make(Rank& rank, const MessageEnd& end, const RequestKind& kind) {
  auto* const made = new ProgramRequest(request(rank, end, kind));  // until free()
  requests_.insert(made);
  made->own_type = lasting_copy(end.type);
  if (made->own_type != MPI_DATATYPE_NULL) made->end.type = made->own_type;
  if (!kind.persistent) begin(rank, *made, false);
  return reinterpret_cast<MPI_Request>(made);
}

void ProgramMessages::start(Rank& rank, ProgramRequest& request) {
  if (request.active) end_simulation_of(rank.number, "starts a persistent request that has not ended");
  begin(rank, request, false);
}

bool ProgramMessages::probe(Rank& rank, const MessageEnd& end, bool waits, MPI_Status* status) {
  require_exact(rank, "probes (MPI_Probe, MPI_Iprobe)");
  const ProgramRequest probing = request(rank, end, {true});
  if (end.peer == MPI_PROC_NULL) {
    set_empty_status(status, end.peer);
    return true;
  }
  const hplcast_channel wanted = message(rank, probing).channel;
  rank.clock.is_between_kernels(core::CoreState::polling);
  rank.clock.spend(polling_cost_s(rank, iprobe_s_));
  rank.clock.flush();
  const std::shared_ptr<SentMessage>* found = rank.mail.open.find(wanted);
  if (late_ && !waits && !rank.mail.has(wanted, rank.let_in_s)) found = nullptr;
  rank.let_in_s = rank.clock.now_s();
  if (found == nullptr && waits) {
    Probes::sleep_until_sent(rank, wanted);
    rank.clock.tell(core::CoreState::blocked);
    rank.clock.resume();
    found = rank.mail.open.find(wanted);
  }
  rank.clock.is_between_kernels(core::CoreState::messages);
  failed_[rank.number] = found == nullptr ? failed_[rank.number] + 1 : 0;
  if (found != nullptr) set_status(status, probing, (*found)->message);
  return found != nullptr;
}

/// The status of what has come.
void ProgramMessages::deliver(const ProgramRequest& request, MPI_Status* status) {
  if (request.message == nullptr || !request.kind.receives)
    set_empty_status(status, request.end.peer);
  else
    set_status(status, request, request.message->message->message);
}

void ProgramMessages::wait(MPI_Request& handle, MPI_Status* status) {
  ProgramRequest& request = *find(handle);
  if (request.message != nullptr && !request.is_over) messages_.wait(*request.message);
  deliver(request, status);
  request.message = nullptr;
  request.active = request.is_over = false;
  if (!request.kind.persistent) free(handle);
}

bool ProgramMessages::test(Rank& rank, ProgramRequest& request) {
  require_exact(rank, "tests a request (MPI_Test...)");
  if (request.message == nullptr || request.is_over) return true;
  rank.clock.is_between_kernels(core::CoreState::polling);
  rank.clock.spend(polling_cost_s(rank, test_s_));
  rank.clock.flush();
  rank.clock.is_between_kernels(core::CoreState::messages);
  request.is_over = messages_.has_ended(*request.message);
  failed_[rank.number] = request.is_over ? 0 : failed_[rank.number] + 1;
  if (request.is_over) messages_.wait(*request.message);
  return request.is_over;
}

int ProgramMessages::place_of_ended(int count, const MPI_Request* handles,
                                    void (Messages::*until_one)(const std::vector<MessageRequest*>&)) {
  std::vector<std::pair<int, MessageRequest*>> active;  // place, message
  for (int place = 0; place < count; ++place) {
    const ProgramRequest* const request = find(handles[place]);
    if (request != nullptr && request->active) active.emplace_back(place, request->message.get());
  }
  if (active.empty()) return -1;
  const auto is_over = [this](const auto& one) { return one.second == nullptr || messages_.has_ended(*one.second); };
  auto ended = std::find_if(active.begin(), active.end(), is_over);
  if (ended == active.end()) {
    std::vector<MessageRequest*> waiting;
    for (const auto& [place, request] : active) waiting.push_back(request);
    (messages_.*until_one)(waiting);
    ended = std::find_if(active.begin(), active.end(), is_over);
  }
  return ended->first;
}

void ProgramMessages::free(MPI_Request& handle) {
  ProgramRequest& request = *find(handle);
  if (request.kind.receives && request.message != nullptr && !request.is_over)
    end_simulation("MPI_Request_free of a receive that has not ended; `hplcast run --messages smpi` leaves it to SMPI");
  // A sending that goes on without its request.
  if (request.message != nullptr && request.message->message->from != nullptr) keep_content(*request.message->message);
  if (request.own_type != MPI_DATATYPE_NULL) PMPI_Type_free(&request.own_type);
  if (request.number >= 0) by_number_[static_cast<std::size_t>(request.number)] = nullptr;
  requests_.erase(&request);
  delete &request;
  handle = MPI_REQUEST_NULL;
}

ProgramRequest* ProgramMessages::find(MPI_Request handle) const {
  auto* const request = reinterpret_cast<ProgramRequest*>(handle);
  return requests_.count(request) > 0 ? request : nullptr;
}

int ProgramMessages::number(ProgramRequest& request) {
  if (request.number < 0) {
    const auto place = std::find(by_number_.begin(), by_number_.end(), nullptr);
    request.number = static_cast<int>(place - by_number_.begin());
    if (place == by_number_.end())
      by_number_.push_back(&request);
    else
      *place = &request;
  }
  return first_number + request.number;
}

ProgramRequest* ProgramMessages::of_number(int number) const {
  const std::size_t place = static_cast<std::size_t>(number) - first_number;
  return number >= first_number && place < by_number_.size() ? by_number_[place] : nullptr;
}

}  // namespace hplcast::smpi_models
