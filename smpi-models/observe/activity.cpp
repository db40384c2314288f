#include "smpi-models/observe/activity.hpp"

#include <algorithm>
#include <utility>

namespace hplcast::smpi_models {

namespace {

bool sends(hplcast_mpi operation) {
  return operation == HPLCAST_MPI_SEND || operation == HPLCAST_MPI_SSEND || operation == HPLCAST_MPI_ISEND ||
         operation == HPLCAST_MPI_ISSEND;
}

bool receives(hplcast_mpi operation) {
  return operation == HPLCAST_MPI_RECV || operation == HPLCAST_MPI_IRECV;
}

bool returns_at_once(hplcast_mpi operation) {
  return operation == HPLCAST_MPI_ISEND || operation == HPLCAST_MPI_ISSEND || operation == HPLCAST_MPI_IRECV;
}

bool has_wildcard(const hplcast_channel& channel) {
  return channel.source < 0 || channel.destination < 0 || channel.tag < 0;
}

}  // namespace

Activity::Activity(core::ObservationSettings settings)
    : settings_(std::move(settings)), measures_(keeps_phases() || settings_.checks) {
  constexpr double no_limit_s = std::numeric_limits<double>::infinity();
  if (!settings_.trace.empty())
    trace_ = std::make_unique<TraceFile>(
        settings_.trace,
        core::TimeSpan{settings_.trace_begin_s, settings_.trace_end_s > 0 ? settings_.trace_end_s : no_limit_s});
}

void Activity::add_rank(int rank, const std::string& host_name) {
  const int host = hosts_.emplace(host_name, static_cast<int>(hosts_.size())).first->second;
  const auto index = static_cast<std::size_t>(rank);
  if (index >= ranks_.size()) ranks_.resize(index + 1);
  ranks_[index].traced = trace_ && (!settings_.trace_ranks || settings_.trace_ranks->contains(rank));
  if (ranks_[index].traced) trace_->name_rank(rank, host, host_name);
}

void Activity::spend(Rank& rank, const Moment& now) {
  if (!measures_) return;
  if (!rank.frames.empty()) {
    PhaseTime& time = rank.times[rank.frames.back().phase];
    time.elapsed_s += now.now_s - rank.phase_since_s;
    time.detours_s += now.detours_s - rank.detours_since_s;
  }
  rank.phase_since_s = now.now_s;
  rank.detours_since_s = now.detours_s;
}

void Activity::phase_begin(int rank, hplcast_phase phase, const Moment& now) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  spend(state, now);
  state.frames.push_back({phase, now.now_s});
}

void Activity::phase_end(int rank, const Moment& now) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  if (state.frames.empty()) return;
  const double now_s = now.now_s;
  spend(state, now);
  const Frame frame = state.frames.back();
  state.frames.pop_back();
  state.gathers = false;
  if (!state.traced || !(now_s > frame.begin_s)) return;
  release_probe(rank, state);
  trace_->phase(rank, phase_names[frame.phase], {frame.begin_s, now_s});
}

void Activity::kernel(int rank, core::KernelId kernel, const core::KernelShape& shape, TimeSpan span,
                      double detours_s) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  if (!state.frames.empty()) state.times[state.frames.back().phase].kernels_s += span.end_s - span.begin_s - detours_s;
  if (!state.traced) return;
  // In fast mode the kernels of a factorisation are gathered before their times are known: no picture of these.
  // Clock and own time are sums, which round: a kernel begins where the last one ended to a fraction of this.
  constexpr double rounding_s = 1e-10;
  if (span.begin_s < state.kernels_end_s - rounding_s) state.gathers = true;
  if (state.gathers) return;
  state.kernels_end_s = span.end_s;
  release_probe(rank, state);
  trace_->routine(rank, core::to_string(kernel), shape, span);
}

void Activity::follow(Call& call) {
  if (has_wildcard(call.channel)) return;
  Traffic& traffic = traffic_[call.channel];
  const bool sending = sends(call.operation);
  call.number = sending ? traffic.sent++ : traffic.wanted++;
  const auto place = static_cast<std::size_t>(call.number - traffic.first);
  if (place >= traffic.messages.size()) traffic.messages.resize(place + 1);
  (sending ? traffic.messages[place].sent_s : traffic.messages[place].wanted_s) = call.begin_s;
}

void Activity::call_begin(int rank, const MpiCall& made, const Moment& now) {
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  Call& call = state.call;
  call.inside = true;
  call.operation = made.operation;
  call.channel = sends(made.operation) ? hplcast_channel{rank, made.peer, made.tag, 0}
                                       : hplcast_channel{made.peer, rank, made.tag, 0};
  call.bytes = made.bytes;
  call.begin_s = now.now_s;
  call.detours_before_s = now.detours_s;
  call.request = made.request;
  if (made.waits_on != nullptr) call.channel = *made.waits_on;
  if (!measures_ && knows_waits_) return;
  if (made.operation == HPLCAST_MPI_WAIT) {
    const auto open = find_request(state, made.request);
    if (open == state.requests.end()) return;
    call.channel = open->channel;
    call.bytes = open->bytes;
  } else if (measures_ && made.operation != HPLCAST_MPI_IPROBE) {
    follow(call);
  }
}

std::vector<Activity::Request>::iterator Activity::find_request(Rank& rank, const void* id) {
  return std::find_if(rank.requests.begin(), rank.requests.end(),
                      [id](const Request& request) { return request.id == id; });
}

double Activity::end_message(const hplcast_channel& channel, std::uint64_t number, bool receiving, const Call& call,
                             double now_s) {
  const auto found = traffic_.find(channel);
  if (found == traffic_.end() || number < found->second.first) return 0;
  Traffic& traffic = found->second;
  Message& message = traffic.messages[static_cast<std::size_t>(number - traffic.first)];
  ++message.ended;
  // How long the other side kept us waiting; NaN (it has not come: we did not wait for it) fails every comparison.
  const double other_s = receiving ? message.sent_s : message.wanted_s;
  const double waited = other_s > call.begin_s ? std::min(other_s, now_s) - call.begin_s : 0;
  while (!traffic.messages.empty() && traffic.messages.front().ended == 2) {
    traffic.messages.pop_front();
    ++traffic.first;
  }
  if (traffic.messages.empty() && traffic.sent == traffic.wanted) traffic_.erase(found);
  return waited;
}

/// A probe may have been a sleep until there was something to find (Polling): how long, before that was sent.
double Activity::until_sent_s(const Call& call, double now_s) const {
  const auto found = traffic_.find(call.channel);
  if (found == traffic_.end()) return 0;
  const Traffic& traffic = found->second;
  const auto place = static_cast<std::size_t>(traffic.wanted - traffic.first);  // the next to be received
  if (place >= traffic.messages.size()) return 0;
  const double sent_s = traffic.messages[place].sent_s;
  return sent_s > call.begin_s ? std::min(sent_s, now_s) - call.begin_s : 0;
}

double Activity::waited_s(Rank& rank, double now_s, bool found) {
  const Call& call = rank.call;
  if (call.operation == HPLCAST_MPI_IPROBE) return found ? until_sent_s(call, now_s) : now_s - call.begin_s;
  if (call.operation == HPLCAST_MPI_WAIT) {
    const auto open = find_request(rank, call.request);
    if (open == rank.requests.end()) return 0;
    const Request done = *open;
    rank.requests.erase(open);
    return measures_ ? end_message(done.channel, done.number, done.receives, call, now_s) : 0;
  }
  if (!measures_ || has_wildcard(call.channel)) return 0;
  return end_message(call.channel, call.number, receives(call.operation), call, now_s);
}

void Activity::release_probe(int number, Rank& rank) {
  if (!rank.probe.held) return;
  rank.probe.held = false;
  trace_->message(number, "iprobe", rank.probe.message, rank.probe.span);
}

void Activity::trace_call(int number, Rank& rank, double waited, double now_s, bool found) {
  const Call& call = rank.call;
  const int peer = call.channel.source == number ? call.channel.destination : call.channel.source;
  const TracedMessage message{peer, call.channel.tag, call.bytes, waited};
  if (call.operation != HPLCAST_MPI_IPROBE) {
    release_probe(number, rank);
    trace_->message(number, mpi_names[call.operation], message, {call.begin_s, now_s});
    return;
  }
  // A polling loop is one event, not thousands.
  HeldProbe& probe = rank.probe;
  const bool goes_on =
      probe.held && probe.message.peer == peer && probe.message.tag == message.tag && probe.span.end_s == call.begin_s;
  if (!goes_on) {
    release_probe(number, rank);
    probe = {true, message, {call.begin_s, now_s}};
  } else {
    probe.message.waited_s += waited;
    probe.span.end_s = now_s;
  }
  if (found) release_probe(number, rank);
}

void Activity::end_call(int rank, Rank& state, const void* request, bool found, const Moment& now) {
  const double now_s = now.now_s;
  const Call& call = state.call;
  const bool opened = returns_at_once(call.operation) && request != nullptr;
  if (opened) {
    state.requests.push_back({request, receives(call.operation), call.channel, call.number, call.bytes});
  }
  if (!measures_ && call.operation != HPLCAST_MPI_WAIT) return;
  // Who waits loses nothing to detours: they are of the rest of the call.
  const double undisturbed_s = now_s - call.begin_s - (now.detours_s - call.detours_before_s);
  const double waited = opened ? 0 : std::min(waited_s(state, now_s, found), undisturbed_s);
  if (!state.frames.empty()) {
    PhaseTime& time = state.times[state.frames.back().phase];
    time.waiting_s += waited;
    time.messages_s += undisturbed_s - waited;
  }
  if (state.traced) trace_call(rank, state, waited, now_s, found);
}

void Activity::begin_panel(int rank, std::size_t mark, const Moment& now) {
  if (!settings_.phases) return;
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  spend(state, now);
  if (at_marks_.size() <= mark) at_marks_.resize(mark + 1);
  for (std::size_t phase = 0; phase < state.times.size(); ++phase) {
    PhaseTime& sum = at_marks_[mark][phase];
    sum.elapsed_s += state.times[phase].elapsed_s;
    sum.kernels_s += state.times[phase].kernels_s;
    sum.messages_s += state.times[phase].messages_s;
    sum.waiting_s += state.times[phase].waiting_s;
    sum.detours_s += state.times[phase].detours_s;
  }
}

std::vector<NamedTimes> Activity::phase_times() const {
  std::vector<NamedTimes> result;
  for (std::size_t phase = 0; phase < phase_names.size(); ++phase) {
    result.push_back({phase_names[phase], {}});
    for (const Rank& rank : ranks_) result.back().ranks.push_back(rank.times[phase]);
  }
  return result;
}

std::vector<core::BlockedRank> Activity::blocked() const {
  std::vector<core::BlockedRank> result;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Call& call = ranks_[i].call;
    if (!call.inside) continue;
    const auto& frames = ranks_[i].frames;
    result.push_back({static_cast<int>(i), mpi_names[call.operation], call.channel.source, call.channel.destination,
                      call.channel.tag, call.begin_s, frames.empty() ? "" : phase_names[frames.back().phase]});
  }
  return result;
}

void Activity::counter(const char* name, double time_s, double value) {
  if (trace_) trace_->counter(name, time_s, value);
}

void Activity::finish() {
  if (!trace_) return;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (ranks_[i].traced) release_probe(static_cast<int>(i), ranks_[i]);
  trace_->close();
  trace_.reset();
}

}  // namespace hplcast::smpi_models
