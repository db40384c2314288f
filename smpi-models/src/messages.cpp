#include "messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "c_boundary.hpp"
#include "hplcast/core/errors.hpp"
#include "runtime.hpp"

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

std::uint64_t wire_bytes(const SentMessage& sent) {
  return static_cast<std::uint64_t>(sent.message.bytes + core::smpi_envelope_bytes);
}

bool same_ends(const hplcast_channel& a, const hplcast_channel& b) {
  return a.source == b.source && a.tag == b.tag && a.destination == b.destination;
}

void copy_content(const SentMessage& sent, const hplcast_message& wanted) {
  const hplcast_message& from = sent.message;
  const std::size_t first = std::max(from.content_first, wanted.content_first);
  const std::size_t end =
      std::min(from.content_first + from.content_bytes, wanted.content_first + wanted.content_bytes);
  if (end <= first) return;
  std::memcpy(static_cast<char*>(wanted.content) + (first - wanted.content_first),
              sent.copy.data() + (first - from.content_first), end - first);
}

}  // namespace

Messages::Messages(const Runtime& runtime, const NetworkCosts& costs, Polling& polling)
    : runtime_(runtime),
      costs_(costs),
      polling_(polling),
      async_small_bytes_(port::setting<int>("smpi/async-small-thresh")),
      detached_bytes_(port::setting<int>("smpi/send-is-detached-thresh")),
      probes_grow_(port::setting<bool>("smpi/grow-injected-times") && port::setting<double>("smpi/iprobe") > 0),
      probes_(port::setting<double>("smpi/iprobe"), probes_grow_) {}

void Messages::add_rank(RankState& state, s4u::Host* host) {
  Rank rank;
  rank.state = &state;
  rank.host = host;
  ranks_.push_back(std::move(rank));
}

core::Scope Messages::scope(int source, int destination) const {
  return at(source).host == at(destination).host ? core::Scope::local : core::Scope::remote;
}

MessageName Messages::next_name(const hplcast_channel& channel) {
  MessageName name{static_cast<std::uint32_t>(channel.source), static_cast<std::uint32_t>(channel.destination),
                   static_cast<std::uint32_t>(channel.tag)};
  if (!costs_.draws()) return name;
  const std::uint64_t where = (static_cast<std::uint64_t>(name.destination) << 32) | name.tag;
  name.number = at(channel.source).sendings[where]++;
  return name;
}

double Messages::overhead_s(core::MessageCost which, const SentMessage& sent) const {
  const hplcast_channel& channel = sent.message.channel;
  return std::max(0.0,
                  costs_.overhead_s(which, scope(channel.source, channel.destination), sent.message.bytes, sent.name));
}

FlowShape Messages::shape_of(const SentMessage& sent) const {
  const hplcast_channel& channel = sent.message.channel;
  return {at(channel.source).host, at(channel.destination).host, wire_bytes(sent), sent.as};
}

/// Making one lets other actors run: done before looking for a match, never between that and acting on it.
void Messages::have_mailbox() {
  while (idle_mailboxes_.empty()) {
    idle_mailboxes_.push_back(s4u::Mailbox::by_name("hplcast-" + std::to_string(mailboxes_++)));
  }
}

s4u::Mailbox* Messages::take_mailbox() {
  s4u::Mailbox* const mailbox = idle_mailboxes_.back();
  idle_mailboxes_.pop_back();
  return mailbox;
}

std::shared_ptr<SentMessage> Messages::prepare(const hplcast_message& message, bool synchronous,
                                               core::MessageCost cost) {
  auto sent = std::make_shared<SentMessage>();
  sent->message = message;
  const hplcast_channel& channel = message.channel;
  sent->name = next_name(channel);
  sent->as = costs_.flow(scope(channel.source, channel.destination), message.bytes, sent->name);
  sent->detached = !synchronous && message.bytes < detached_bytes_;
  if (message.content_bytes > 0) {
    const char* content = static_cast<const char*>(message.content);
    sent->copy.assign(content, content + message.content_bytes);
  }
  Rank& source = at(channel.source);
  // A sender that waits for the end of the transfer has no cost of its own.
  if (sent->detached || synchronous || cost == core::MessageCost::isend) {
    source.state->pending_s += overhead_s(cost, *sent);
  }
  flush(*source.state);
  sent->sent_s = s4u::Engine::get_clock();
  return sent;
}

/// If somebody wants it already, its flow begins.
bool Messages::match_posted(const std::shared_ptr<SentMessage>& sent) {
  std::vector<MessageRequest*>& posted = at(sent->message.channel.destination).posted;
  const auto found = std::find_if(posted.begin(), posted.end(), [&](const MessageRequest* request) {
    return same_ends(request->wanted.channel, sent->message.channel);
  });
  if (found == posted.end()) return false;
  MessageRequest& request = **found;
  posted.erase(found);
  request.message = sent;
  if (request.receiver_waits_in == nullptr) {
    sent->flow = port::begin_flow(shape_of(*sent));
  } else {
    s4u::Mailbox* const mailbox = request.receiver_waits_in;
    request.receiver_waits_in = nullptr;
    sent->flow = port::give_flow(mailbox, shape_of(*sent), sent->detached);
    idle_mailboxes_.push_back(mailbox);
  }
  return true;
}

void Messages::publish(const std::shared_ptr<SentMessage>& sent) {
  const hplcast_message& message = sent->message;
  sent->starts_alone = sent->detached && message.bytes < async_small_bytes_;
  if (!sent->detached) sent->sender_waits_in = take_mailbox();
  Rank& destination = at(message.channel.destination);
  destination.sent.push_back(sent);
  if (sent->starts_alone) {
    sent->flow = port::begin_flow(shape_of(*sent));
  } else if (!sent->detached) {
    sent->flow = port::offer_flow(sent->sender_waits_in, shape_of(*sent));
  }
  if (destination.polled != nullptr && same_ends(*destination.polled, message.channel)) {
    destination.polled = nullptr;
    polling_.wake(destination.state->actor);
  }
}

/// On a half duplex network what the destination is already sending here comes first.
void Messages::let_opposite_pass(const hplcast_channel& channel) {
  if (!costs_.is_half_duplex(scope(channel.source, channel.destination))) return;
  for (const MessageRequest* request : at(channel.source).receiving) {
    if (request->wanted.channel.source != channel.destination) continue;
    const SentMessage* opposite = request->message.get();
    if (opposite == nullptr || opposite->detached || opposite->sent_s == s4u::Engine::get_clock()) continue;
    const port::Flow flow = request->flow == nullptr ? opposite->flow : request->flow;
    if (flow == nullptr) continue;
    port::wait_for_end(flow);
    return;
  }
}

void Messages::send(const hplcast_message& message, bool synchronous) {
  const std::shared_ptr<SentMessage> sent = prepare(message, synchronous, core::MessageCost::send);
  if (!sent->detached) {
    let_opposite_pass(message.channel);
    have_mailbox();
  }
  if (!match_posted(sent)) publish(sent);
  if (!sent->detached) port::wait_for_end(sent->flow);
}

std::unique_ptr<MessageRequest> Messages::isend(const hplcast_message& message, bool synchronous) {
  auto request = std::make_unique<MessageRequest>();
  request->message = prepare(message, synchronous, core::MessageCost::isend);
  if (!request->message->detached) have_mailbox();
  if (!match_posted(request->message)) publish(request->message);
  return request;
}

std::unique_ptr<MessageRequest> Messages::irecv(const hplcast_message& wanted) {
  auto request = std::make_unique<MessageRequest>();
  request->receives = true;
  request->wanted = wanted;
  Rank& rank = at(wanted.channel.destination);
  flush(*rank.state);
  rank.receiving.push_back(request.get());
  const auto found = std::find_if(rank.sent.begin(), rank.sent.end(), [&](const std::shared_ptr<SentMessage>& sent) {
    return same_ends(sent->message.channel, wanted.channel);
  });
  if (found == rank.sent.end()) {
    rank.posted.push_back(request.get());
    return request;
  }
  request->message = *found;
  rank.sent.erase(found);
  SentMessage& sent = *request->message;
  if (sent.sender_waits_in != nullptr) {
    s4u::Mailbox* const mailbox = sent.sender_waits_in;
    sent.sender_waits_in = nullptr;
    request->flow = port::take_flow(mailbox, shape_of(sent));
    idle_mailboxes_.push_back(mailbox);
  } else if (!sent.starts_alone) {
    sent.flow = port::begin_flow(shape_of(sent));
  }
  return request;
}

void Messages::wait(MessageRequest& request) {
  Rank& rank = at(request.receives ? request.wanted.channel.destination : request.message->message.channel.source);
  flush(*rank.state);
  if (!request.receives) {
    if (!request.message->detached) port::wait_for_end(request.message->flow);
    return;
  }
  if (request.message == nullptr) have_mailbox();
  if (request.message == nullptr) {
    request.receiver_waits_in = take_mailbox();
    port::wait_for_offer(request.receiver_waits_in);
  } else {
    const port::Flow& flow = request.flow == nullptr ? request.message->flow : request.flow;
    while (flow == nullptr) s4u::this_actor::yield();  // the sender is just about to start it
    port::wait_for_end(flow);
  }
  finish_receive(request);
}

void Messages::finish_receive(MessageRequest& request) {
  std::vector<MessageRequest*>& receiving = at(request.wanted.channel.destination).receiving;
  receiving.erase(std::find(receiving.begin(), receiving.end(), &request));
  const SentMessage& sent = *request.message;
  copy_content(sent, request.wanted);
  if (sent.detached) {
    at(request.wanted.channel.destination).state->pending_s += overhead_s(core::MessageCost::recv, sent);
  }
}

bool Messages::in_sight(const Rank& rank, const hplcast_channel& channel) {
  return std::any_of(rank.sent.begin(), rank.sent.end(), [&](const std::shared_ptr<SentMessage>& sent) {
    return same_ends(sent->message.channel, channel);
  });
}

void Messages::sleep_until_sent(Rank& rank, const hplcast_channel& channel) {
  rank.polled = &channel;
  polling_.sleep(rank.state->actor);
}

void Messages::skip_probes_until_sent(Rank& rank, const hplcast_channel& channel) {
  RankState& state = *rank.state;
  const double began_s = s4u::Engine::get_clock();
  probes_.begin(state.actor, began_s + state.pending_s + probes_.cost_s(began_s));
  sleep_until_sent(rank, channel);
  const double now_s = s4u::Engine::get_clock();
  state.pending_s = probes_.stop(state.actor, now_s).end_s - now_s;
}

/// Sleeps until there is something to find. What the rank would have done is for later, in its own past.
void Messages::work_later(Rank& rank, const hplcast_channel& channel) {
  RankState& state = *rank.state;
  const double began_s = s4u::Engine::get_clock();
  if (!probes_grow_) {
    sleep_until_sent(rank, channel);
    state.pending_s -= s4u::Engine::get_clock() - began_s;
    return;
  }
  // Its probes concern all others: when they are made must be known as they come.
  if (polling_.pieces(state.actor) == 0 || !state.piece.is_known()) return;
  probes_.begin_work(state.actor, began_s, runtime_.repeated_s(state, polling_.pieces(state.actor)));
  sleep_until_sent(rank, channel);
  const double now_s = s4u::Engine::get_clock();
  const ProbeSeries::Stop stop = probes_.stop(state.actor, now_s);
  rank.catch_up = {true, stop.failed, stop.end_s, stop.probes};
  state.pending_s = stop.end_s - now_s - stop.work_s;
}

/// True if the probe was one of those that failed while the rank slept.
bool Messages::catches_up(Rank& rank) {
  if (rank.catch_up.failed_probes > 0) {
    --rank.catch_up.failed_probes;
    return true;
  }
  RankState& state = *rank.state;
  const double left_s = rank.catch_up.done_s - s4u::Engine::get_clock();
  // Sums of the same durations in another order are closer than that, and a kernel takes longer.
  constexpr double rounding_s = 1e-9;
  if (const double too_much_s = state.pending_s - left_s; std::abs(too_much_s) > rounding_s) {
    std::ostringstream text;
    text << "rank " << state.rank << " worked " << too_much_s
         << " s longer than announced; expected the kernels that it had called before its last probe "
            "(hplcast_polling_loop)";
    end_simulation(text.str().c_str(), core::ExitCode::bad_input);
  }
  state.pending_s = std::max(0.0, left_s);
  rank.catch_up.active = false;
  return false;
}

void Messages::probe_in_the_past(RankState& state) {
  const double probe_s = probes_.cost_s(s4u::Engine::get_clock());
  state.pending_s += probe_s;
  if (state.pending_s >= 0 || !polling_.only_probes(state.actor)) return;
  state.pending_s = probe_s > 0 ? state.pending_s + std::ceil(-state.pending_s / probe_s) * probe_s : 0;
}

/// Goes on to the end of this probe. False: it is in the past, and failed.
bool Messages::spend_probe(Rank& rank, const hplcast_channel& channel) {
  RankState& state = *rank.state;
  if (rank.catch_up.active) {
    if (catches_up(rank)) return false;
    if (rank.catch_up.probes) {
      flush(state);
      return true;
    }
  } else if (state.pending_s < 0) {
    probe_in_the_past(state);
    if (state.pending_s < 0) return false;
    flush(state);
    return true;
  }
  if (polling_.may_sleep(state.actor) && !in_sight(rank, channel)) {
    skip_probes_until_sent(rank, channel);
    // The sleep took most of it; only where probes grow does it matter to others when this one ends.
    if (probes_grow_) flush(state);
    return true;
  }
  // What it costs is known when it begins; what messages have cost before it is too short to matter.
  if (probes_grow_ && state.worked) flush(state);
  state.pending_s += probes_.cost_s(s4u::Engine::get_clock());
  flush(state);
  return true;
}

bool Messages::probe(const hplcast_channel& channel) {
  Rank& rank = at(channel.destination);
  RankState& state = *rank.state;
  bool found = false;
  if (spend_probe(rank, channel)) {
    found = in_sight(rank, channel);
    polling_.end_probe(state.actor, found);
    probes_.ended(s4u::Engine::get_clock(), found);
    if (!found && polling_.may_work_later(state.actor)) work_later(rank, channel);
  }
  state.piece.clear();
  return found;
}

}  // namespace hplcast::smpi_models
