#include "smpi-models/program/program_messages.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "smpi-models/messages/probes.hpp"
#include "smpi-models/session/c_boundary.hpp"

namespace hplcast::smpi_models {

namespace {

/// Fortran's numbers of SMPI's requests are far below.
constexpr int first_number = 1 << 30;

void set_status(MPI_Status* status, int source, int tag, std::size_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  *status = {};
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->MPI_ERROR = MPI_SUCCESS;
  status->count = static_cast<int>(bytes);
}

/// Of what has no message: MPI_PROC_NULL, sendings.
void set_empty_status(MPI_Status* status, int peer) {
  set_status(status, peer == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

[[noreturn]] void stop(const Rank& rank, const std::string& what) {
  const std::string text = "rank " + std::to_string(rank.number) + " " + what;
  end_simulation(text.c_str(), core::ExitCode::bad_input);
}

}  // namespace

ProgramMessages::ProgramMessages(Messages& messages, std::deque<Rank>& ranks, const Communicator& world,
                                 bool late_probes)
    : messages_(messages),
      ranks_(ranks),
      communicators_(world),
      test_s_(port::setting<double>("smpi/test")),
      iprobe_s_(port::setting<double>("smpi/iprobe")),
      grow_(port::setting<bool>("smpi/grow-injected-times")),
      late_(late_probes),
      failed_(ranks.size()) {
  messages_.set_mover(this);
}

ProgramRequest ProgramMessages::local(Rank& rank, const hplcast_end& end, bool receives, bool synchronous) {
  ProgramRequest request;
  request.end = end;
  request.receives = receives;
  request.synchronous = synchronous;
  request.communicator = communicators_.find(rank.number, end.communicator);
  return request;
}

ProgramRequest& ProgramMessages::make(Rank& rank, const hplcast_end& end, bool receives, bool synchronous) {
  auto request = std::make_unique<ProgramRequest>(local(rank, end, receives, synchronous));
  requests_.insert(request.get());
  return *request.release();  // until end() or free()
}

hplcast_message ProgramMessages::message(Rank& rank, const ProgramRequest& request) const {
  const hplcast_end& end = request.end;
  const Communicator& ranks = request.communicator->ranks;
  if (end.peer != MPI_ANY_SOURCE && (end.peer < 0 || end.peer >= ranks.size))
    stop(rank, "names rank " + std::to_string(end.peer) + " in a communicator of " + std::to_string(ranks.size));
  const int here = static_cast<int>(rank.number);
  const int peer = end.peer == MPI_ANY_SOURCE ? any_value : ranks.world_ranks[end.peer];
  hplcast_message result{};
  result.channel = {request.receives ? peer : here, request.receives ? here : peer,
                    end.tag == MPI_ANY_TAG ? any_value : end.tag, request.communicator->context};
  result.bytes = static_cast<double>(packed_bytes(end.count, end.type));
  result.probed = 1;
  return result;
}

void ProgramMessages::begin(Rank& rank, ProgramRequest& request, bool blocks) {
  request.active = true;
  if (request.end.peer == MPI_PROC_NULL) return;
  const hplcast_message what = message(rank, request);
  if (request.receives) {
    request.message = messages_.irecv(what, &request.end);
    return;
  }
  sent_.add(what.bytes);
  if (blocks) {
    messages_.send(what, request.synchronous, &request.end);
  } else {
    request.message = messages_.isend(what, request.synchronous, &request.end);
  }
}

void ProgramMessages::send(Rank& rank, const hplcast_end& end, bool synchronous) {
  ProgramRequest request = local(rank, end, false, synchronous);
  begin(rank, request, true);
}

void ProgramMessages::receive(Rank& rank, const hplcast_end& end, MPI_Status* status) {
  ProgramRequest request = local(rank, end, true, false);
  begin(rank, request, true);
  if (request.message != nullptr) messages_.wait(*request.message);
  deliver(request, status);
}

/// The program may free it before the message has ended.
void ProgramMessages::keep_type(ProgramRequest& request) {
  if (is_predefined(request.end.type)) return;
  // SMPI's MPI_Type_dup forgets where the content of a type is.
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(1, request.end.type, &copy);
  PMPI_Type_commit(&copy);
  request.end.type = copy;
  request.owns_type = true;
}

ProgramRequest* ProgramMessages::isend(Rank& rank, const hplcast_end& end, bool synchronous) {
  ProgramRequest& request = make(rank, end, false, synchronous);
  keep_type(request);
  begin(rank, request, false);
  return &request;
}

ProgramRequest* ProgramMessages::ireceive(Rank& rank, const hplcast_end& end) {
  ProgramRequest& request = make(rank, end, true, false);
  keep_type(request);
  begin(rank, request, false);
  return &request;
}

ProgramRequest* ProgramMessages::prepare(Rank& rank, const hplcast_end& end, bool receives, bool synchronous) {
  ProgramRequest& request = make(rank, end, receives, synchronous);
  request.persistent = true;
  return &request;
}

void ProgramMessages::start(Rank& rank, ProgramRequest& request) {
  if (request.active) stop(rank, "starts a persistent request that has not ended");
  begin(rank, request, false);
}

double ProgramMessages::polling_cost_s(Rank& rank, double cost_s) {
  return cost_s * (grow_ ? 1 + failed_[rank.number] : 1);
}

bool ProgramMessages::probe(Rank& rank, const hplcast_end& end, bool waits, MPI_Status* status) {
  const ProgramRequest request = local(rank, end, true, false);
  if (end.peer == MPI_PROC_NULL) {
    set_empty_status(status, end.peer);
    return true;
  }
  const hplcast_channel wanted = message(rank, request).channel;
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
  if (found == nullptr) {
    ++failed_[rank.number];
    return false;
  }
  failed_[rank.number] = 0;
  const hplcast_message& what = (*found)->message;
  set_status(status, request.communicator->ranks.number_of(what.channel.source), what.channel.tag,
             static_cast<std::size_t>(what.bytes));
  return true;
}

void ProgramMessages::keep(SentMessage& sent) {
  sent.copy = pack(*sent.from);
  sent.from = nullptr;
}

void ProgramMessages::move(SentMessage& sent, const MessageRequest& request) {
  const hplcast_end& into = *request.into;
  const double expected = static_cast<double>(packed_bytes(into.count, into.type));
  if (sent.message.bytes > expected) {
    const hplcast_channel& channel = sent.message.channel;
    stop(ranks_[static_cast<std::size_t>(channel.destination)],
         "received a message of " + core::shortest(sent.message.bytes) + " bytes with tag " +
             std::to_string(channel.tag) + "; expected at most " + core::shortest(expected));
  }
  if (sent.from != nullptr)
    copy_content(*sent.from, into);
  else
    unpack(sent.copy, into);
  sent.from = nullptr;
  sent.copy = {};
}

/// The status of what has come.
void ProgramMessages::deliver(const ProgramRequest& request, MPI_Status* status) {
  if (request.message == nullptr || !request.receives) {
    set_empty_status(status, request.end.peer);
    return;
  }
  const hplcast_message& sent = request.message->message->message;
  if (status != MPI_STATUS_IGNORE)
    set_status(status, request.communicator->ranks.number_of(sent.channel.source), sent.channel.tag,
               static_cast<std::size_t>(sent.bytes));
}

bool ProgramMessages::wait(ProgramRequest& request, MPI_Status* status) {
  if (request.message != nullptr) messages_.wait(*request.message);
  deliver(request, status);
  return end(request);
}

ProgramMessages::Tested ProgramMessages::test(Rank& rank, ProgramRequest& request, MPI_Status* status) {
  if (request.message != nullptr) {
    rank.clock.is_between_kernels(core::CoreState::polling);
    rank.clock.spend(polling_cost_s(rank, test_s_));
    rank.clock.flush();
    rank.clock.is_between_kernels(core::CoreState::messages);
    if (!messages_.has_ended(*request.message)) {
      ++failed_[rank.number];
      return Tested::open;
    }
    failed_[rank.number] = 0;
  }
  return wait(request, status) ? Tested::gone : Tested::ended;
}

template <typename Wait>
std::size_t ProgramMessages::first_ended(const std::vector<ProgramRequest*>& requests, const Wait& wait) {
  const auto is_over = [this](const ProgramRequest* request) {
    return request->message == nullptr || messages_.has_ended(*request->message);
  };
  auto found = std::find_if(requests.begin(), requests.end(), is_over);
  if (found == requests.end()) {
    std::vector<MessageRequest*> active;
    std::transform(requests.begin(), requests.end(), std::back_inserter(active),
                   [](const ProgramRequest* request) { return request->message.get(); });
    wait(active);
    found = std::find_if(requests.begin(), requests.end(), is_over);
  }
  return static_cast<std::size_t>(found - requests.begin());
}

std::size_t ProgramMessages::wait_any(const std::vector<ProgramRequest*>& requests) {
  return first_ended(requests, [this](const auto& active) { messages_.wait_any(active); });
}

std::size_t ProgramMessages::wait_next(const std::vector<ProgramRequest*>& requests) {
  return first_ended(requests, [this](const auto& active) { messages_.wait_next(active); });
}

bool ProgramMessages::end(ProgramRequest& request) {
  request.message = nullptr;
  request.active = false;
  if (request.persistent) return false;
  free(request);
  return true;
}

void ProgramMessages::free(ProgramRequest& request) {
  if (request.receives && request.message != nullptr)
    end_simulation("MPI_Request_free of a receive that has not ended; `hplcast run --messages smpi` leaves it to SMPI",
                   core::ExitCode::bad_input);
  // A sending that goes on without its request.
  if (request.message != nullptr && request.message->message->from != nullptr) keep(*request.message->message);
  if (request.owns_type) PMPI_Type_free(&request.end.type);
  if (request.number >= 0) by_number_[static_cast<std::size_t>(request.number)] = nullptr;
  requests_.erase(&request);
  delete &request;
}

ProgramRequest* ProgramMessages::find(const void* handle) const {
  auto* const request = static_cast<ProgramRequest*>(const_cast<void*>(handle));
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
