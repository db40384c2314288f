#include "smpi-models/messages/messages.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "smpi-models/messages/probes.hpp"
#include "smpi-models/platform/platform.hpp"
#include "smpi-models/session/invariants.hpp"
#include "smpi-models/simgrid_port/log.hpp"

HPLCAST_LOG_CATEGORY(messages, "Messages that do not go through SMPI");

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

std::uint64_t wire_bytes(const SentMessage& sent) {
  return static_cast<std::uint64_t>(sent.message.bytes + core::smpi_envelope_bytes);
}

void copy_content(const SentMessage& sent, const hplcast_message& wanted) {
  const hplcast_message& from = sent.message;
  const std::size_t first = std::max(from.content_first, wanted.content_first);
  const std::size_t end =
      std::min(from.content_first + from.content_bytes, wanted.content_first + wanted.content_bytes);
  if (end <= first) return;
  std::memcpy(static_cast<char*>(wanted.content) + (first - wanted.content_first),
              sent.copy.bytes.get() + (first - from.content_first), end - first);
}

port::BellPtr& alarm_of(MessageRequest& request) {
  return request.receives ? request.alarm : request.message->alarm;
}

/// By value: another rank may ring it meanwhile, and the one that waits drops it before SimGrid has come to this call.
void ring(port::BellPtr alarm) {
  if (alarm != nullptr) alarm->ring();
}

/// Its sender has called, and will begin the transfer before anything else happens.
bool is_just_beginning(const MessageRequest* request) {
  const SentMessage* const sent = request->message.get();
  return request->receives && sent != nullptr && !sent->transfer.has_begun();
}

/// Blocks until the transfer of one of them begins; all of them are of one rank. `state`: what it does meanwhile.
void wait_for_bell(const std::vector<MessageRequest*>& not_begun, RankClock& clock, const port::BellPtr& bell,
                   core::CoreState state = core::CoreState::blocked) {
  for (MessageRequest* const request : not_begun) alarm_of(*request) = bell;
  clock.tell(core::CoreState::messages);
  bell->wait();
  clock.tell(state);
  for (MessageRequest* const request : not_begun) alarm_of(*request) = nullptr;
}

/// Moves requests whose transfer has begun to the end, and returns where they begin.
std::vector<MessageRequest*>::iterator let_begin(std::vector<MessageRequest*>& requests) {
  while (std::any_of(requests.begin(), requests.end(), is_just_beginning)) s4u::this_actor::yield();
  return std::partition(requests.begin(), requests.end(), [](const MessageRequest* request) {
    return request->message == nullptr || !request->message->transfer.has_begun();
  });
}

}  // namespace

Messages::Messages(const PlatformCosts& platform, std::deque<Rank>& ranks, bool own_flows, bool checks)
    : costs_(platform.costs),
      ranks_(ranks),
      async_small_bytes_(port::setting<int>("smpi/async-small-thresh")),
      detached_bytes_(port::setting<int>("smpi/send-is-detached-thresh")),
      checks_(checks) {
  if (own_flows) flows_.emplace(platform, checks);
  if (!costs_.differs_by_hosts()) return;
  const std::vector<s4u::Host*>& places = platform.places;
  for (const Rank& rank : ranks)
    host_of_.push_back(static_cast<std::size_t>(std::find(places.begin(), places.end(), rank.host) - places.begin()));
  if (!costs_.rails()) return;
  std::map<std::size_t, int> ranks_on;
  std::map<std::pair<std::size_t, int>, int> ranks_of_cpu;
  for (const std::size_t host : host_of_) {
    const int cpu = platform.hosts.cpu_of(static_cast<int>(host), ranks_on[host]++);
    card_ends_.push_back({cpu, costs_.rails()->card_of(cpu, ranks_of_cpu[{host, cpu}]++)});
  }
}

MessageName Messages::next_name(const hplcast_channel& channel) {
  MessageName name{static_cast<std::uint32_t>(channel.source), static_cast<std::uint32_t>(channel.destination),
                   static_cast<std::uint32_t>(channel.tag)};
  if (!costs_.draws()) return name;
  name.number = at(channel.source).mail.sendings.next(name.destination, name.tag);
  return name;
}

double Messages::overhead_s(core::MessageCost which, const SentMessage& sent) const {
  const hplcast_channel& channel = sent.message.channel;
  return std::max(0.0,
                  costs_.overhead_s(which, scope(channel.source, channel.destination), sent.message.bytes, &sent.name));
}

FlowShape Messages::shape_of(const SentMessage& sent) const {
  const hplcast_channel& channel = sent.message.channel;
  return shape_between(channel.source, channel.destination, wire_bytes(sent),
                       between(channel.source, channel.destination, sent.message.bytes, sent.as), sent.message.bytes);
}

FlowShape Messages::shape_between(int source, int destination, std::uint64_t wire_bytes, const core::MessageFlow& as,
                                  double bytes) const {
  FlowShape shape{at(source).host, at(destination).host, wire_bytes, as};
  if (card_ends_.empty() || shape.source == shape.destination) return shape;
  shape.source_card = card_ends_[static_cast<std::size_t>(source)].card;
  shape.destination_card = card_ends_[static_cast<std::size_t>(destination)].card;
  if (costs_.rails()->is_striped(bytes)) shape.source_card = FlowShape::striped;
  return shape;
}

core::MessageFlow Messages::between(int source, int destination, double bytes, core::MessageFlow flow) const {
  if (host_of_.empty()) return flow;
  const auto from = static_cast<std::size_t>(source), to = static_cast<std::size_t>(destination);
  flow = costs_.between(host_of_[from], host_of_[to], flow);
  if (card_ends_.empty() || host_of_[from] == host_of_[to]) return flow;
  const core::Rails::Way way = costs_.rails()->way(card_ends_[from], card_ends_[to], bytes);
  return {flow.latency_s + way.extra_latency_s,
          std::min(flow.bandwidth_bytes_per_s * way.rate,
                   way.link_share * std::max(flow.bandwidth_bytes_per_s, costs_.link_bytes_per_s()))};
}

std::shared_ptr<SentMessage> Messages::prepare(const hplcast_message& message, Sending how, core::MessageCost cost,
                                               const MessageEnd* from) {
  __builtin_prefetch(&at(message.channel.destination).mail);  // publish() is to find it in a cache
  auto sent = std::make_shared<SentMessage>();
  sent->message = message;
  const hplcast_channel& channel = message.channel;
  sent->name = next_name(channel);
  sent->as = costs_.flow(scope(channel.source, channel.destination), message.bytes, &sent->name, message.panel != 0);
  // SMPI's collective operations (negative contexts) know of no devices.
  if (of_devices_ && from != nullptr && channel.context >= 0 && device_memory().bytes_from(from->buffer) > 0)
    if (const core::DeviceMessage* const own = of_devices_(channel.source, channel.destination))
      sent->as = costs_.flow(*own, scope(channel.source, channel.destination), message.bytes);
  sent->detached = how == Sending::buffered || (how == Sending::standard && message.bytes < detached_bytes_);
  sent->starts_alone = sent->detached && message.bytes < async_small_bytes_;
  sent->from = from;
  if (message.content_bytes > 0) {
    const char* bytes = static_cast<const char*>(message.content);
    sent->copy = {std::unique_ptr<char[]>(new char[message.content_bytes]), message.content_bytes};
    std::memcpy(sent->copy.bytes.get(), bytes, message.content_bytes);
  }
  Rank& source = at(channel.source);
  // A sender that waits for the end of the transfer has no cost of its own.
  if (sent->detached || how == Sending::synchronous || cost == core::MessageCost::isend)
    source.clock.spend(overhead_s(cost, *sent));
  sent->sent_s = message.probed ? on_the_clock_s(source.clock) : own_time_s(source.clock, channel);
  LOG(messages, "sends %g bytes to rank %d, tag %d, %s", message.bytes, channel.destination, channel.tag,
      !sent->detached                      ? "rendezvous"
      : message.bytes < async_small_bytes_ ? "eager"
                                           : "detached");
  return sent;
}

double Messages::on_the_clock_s(RankClock& clock) {
  clock.flush();
  return port::clock_s();
}

/// When what the rank does next on this channel begins. Where only the two ends of a message can notice, it need not be
/// on the clock yet.
double Messages::own_time_s(RankClock& clock, const hplcast_channel& channel) {
  const bool others_notice = channel.source < 0 || costs_.is_half_duplex(scope(channel.source, channel.destination));
  return others_notice || !clock.may_run_ahead() ? on_the_clock_s(clock) : clock.now_s();
}

/// `clock`: of the rank that begins it.
void Messages::begin_transfer(SentMessage& sent, double date_s, const RankClock& clock) {
  sent.begins_s = date_s;
  FlowShape shape = shape_of(sent);
  const core::Scope where = scope(sent.message.channel.source, sent.message.channel.destination);
  const bool takes_nothing = !costs_.is_shared(where) || sent.message.bytes < free_bytes_;
  if (clock.may_run_ahead() && takes_nothing && !costs_.is_half_duplex(where)) {
    shape.as.latency_s *= latency_ratio(shape.source, shape.destination);
    sent.transfer.end_at(date_s + NetworkCosts::time_alone_s(shape.as, static_cast<double>(shape.wire_bytes)));
    return;
  }
  shape.delay_s = std::max(0.0, date_s - port::clock_s());
  if (flows_) return sent.transfer.begin(*flows_, shape);
  sent.transfer.begin(shape);
}

/// A message that waits for its receiver goes from memory to memory, and some of that may be new to the receiver.
void Messages::meet_new_memory(SentMessage& sent, const hplcast_message& wanted) const {
  if (sent.detached || !(wanted.new_bytes > 0)) return;
  const hplcast_channel& channel = sent.message.channel;
  const double new_bytes = std::min(wanted.new_bytes, sent.message.bytes);
  sent.as.latency_s += costs_.first_use_s(scope(channel.source, channel.destination), new_bytes);
}

void Messages::load_links(const FlowShape& shape) {
  if (flows_)
    flows_->begin(shape);
  else
    port::begin_flow(shape, true);
}

/// The transfer has begun. Who sleeps until then, if somebody does, is not woken for nothing but to wait for the end.
void Messages::let_go_on(std::optional<double> slept_s, RankClock& clock, const SentMessage& sent) {
  if (!slept_s) return;
  if (NetworkFlow* const flow = sent.transfer.own_flow())
    clock.wake_at_end(*flow, std::max(*slept_s, sent.begins_s));
  else
    clock.wake();
}

/// Somebody wants it already: its transfer begins.
void Messages::meet(const std::shared_ptr<SentMessage>& sent, MessageRequest& request) {
  request.message = sent;
  if (sent->from != nullptr) move_content(*sent, request);
  meet_new_memory(*sent, request.wanted);
  // The receiver may be done with its request before this goes on.
  const std::optional<double> slept_s = request.receiver_slept_s;
  const port::BellPtr alarm = request.alarm;
  begin_transfer(*sent, sent->starts_alone ? sent->sent_s : std::max(sent->sent_s, request.wanted_s),
                 at(sent->message.channel.source).clock);
  let_go_on(slept_s, at(sent->message.channel.destination).clock, *sent);
  ring(alarm);
}

void Messages::publish(const std::shared_ptr<SentMessage>& sent) {
  const hplcast_message& message = sent->message;
  Rank& destination = at(message.channel.destination);
  const Broadcast& broadcast = destination.mail.broadcast;
  if (checks_ && message.channel == broadcast.probed) {
    const double early_s = broadcast.nothing_until_s - sent->sent_s;
    require(early_s <= 0, sent->name.source, "it sends what it was said not to send yet [s]", early_s);
  }
  if (MessageRequest* const request = destination.mail.open.arrive(sent)) return meet(sent, *request);
  if (sent->from != nullptr && sent->detached) keep_content(*sent);
  if (sent->starts_alone) begin_transfer(*sent, sent->sent_s, at(message.channel.source).clock);
  Probes::wake(destination, message.channel);
}

/// On a half duplex network what the destination is already sending here comes first.
void Messages::let_opposite_pass(const hplcast_channel& channel) {
  if (!costs_.is_half_duplex(scope(channel.source, channel.destination))) return;
  for (const MessageRequest* request : at(channel.source).mail.receiving) {
    if (request->wanted.channel.source != channel.destination) continue;
    const SentMessage* opposite = request->message.get();
    if (opposite == nullptr || opposite->detached || opposite->sent_s == port::clock_s()) continue;
    if (!opposite->transfer.has_begun()) continue;
    opposite->transfer.wait(at(channel.source).clock);
    return;
  }
}

std::shared_ptr<SentMessage> Messages::send(const hplcast_message& message, Sending how, const MessageEnd* from) {
  std::shared_ptr<SentMessage> sent = prepare(message, how, core::MessageCost::send, from);
  if (!sent->detached) let_opposite_pass(message.channel);
  publish(sent);
  if (!sent->detached) wait_for_end(sent);
  return sent;
}

/// Where only the end of both matters, the rank waits once for the message that it sends and the one that it receives:
/// each time that it goes on, its memory has to come into a cache again.
void Messages::send_within(const hplcast_message& message, MessageRequest& receive) {
  const core::Scope where = scope(message.channel.source, message.channel.destination);
  if (!flows_ || !at(message.channel.source).clock.is_unseen() || costs_.is_half_duplex(where)) {
    send(message, Sending::standard);
    return;
  }
  std::shared_ptr<SentMessage> sent = prepare(message, Sending::standard, core::MessageCost::send, nullptr);
  publish(sent);
  if (!sent->detached) receive.sent_within = std::move(sent);
}

/// The rank waits until the other side is there as well, if it is not, and then for the end of the transfer.
/// `sleep_until_there`, of the rank's own time: whether it is at the end then.
template <typename Sleep>
void Messages::wait_for_both(RankClock& clock, const std::shared_ptr<SentMessage>& sent,
                             const Sleep& sleep_until_there) {
  const double began_s = clock.now_s();
  const bool waits = sent == nullptr || !sent->transfer.has_begun() || sent->begins_s > began_s;
  if (waits) clock.tell(core::CoreState::messages);
  clock.pause();
  if (sleep_until_there(began_s)) return;
  clock.go_on_from(std::max(began_s, sent->begins_s));
  if (waits) clock.tell(core::CoreState::blocked);
  sent->transfer.wait(clock);
}

void Messages::wait_for_end(const std::shared_ptr<SentMessage>& sent) {
  Rank& source = at(sent->message.channel.source);
  wait_for_both(source.clock, sent, [&](double now_s) {
    if (sent->transfer.has_begun()) return false;
    sent->sender_slept_s = now_s;
    return source.clock.sleep();  // for a receive
  });
  source.clock.resume();
  source.let_in_s = source.clock.now_s();
}

std::unique_ptr<MessageRequest> Messages::isend(const hplcast_message& message, Sending how, const MessageEnd* from) {
  auto request = std::make_unique<MessageRequest>();
  request->message = prepare(message, how, core::MessageCost::isend, from);
  publish(request->message);
  return request;
}

std::unique_ptr<MessageRequest> Messages::irecv(const hplcast_message& wanted, const MessageEnd* into) {
  auto request = std::make_unique<MessageRequest>();
  request->receives = true;
  request->wanted = wanted;
  request->into = into;
  Rank& rank = at(wanted.channel.destination);
  request->wanted_s = own_time_s(rank.clock, wanted.channel);
  LOG(messages, "wants a message of rank %d, tag %d", wanted.channel.source, wanted.channel.tag);
  Mail& mail = rank.mail;
  mail.receiving.push_back(request.get());
  if (wanted.channel == mail.broadcast.probed) mail.broadcast.is_posted = true;
  request->message = mail.open.post(request.get());
  if (request->message == nullptr) return request;
  SentMessage& sent = *request->message;
  if (into != nullptr) move_content(sent, *request);
  if (sent.starts_alone) return request;
  meet_new_memory(sent, wanted);
  begin_transfer(sent, std::max(sent.sent_s, request->wanted_s), rank.clock);
  let_go_on(sent.sender_slept_s, at(sent.message.channel.source).clock, sent);
  ring(sent.alarm);
  return request;
}

/// The lookahead of a rank that waits for a rank that waits for ... Only so many are asked, which needs no proof: to
/// give up says that the lookahead is not known, and the probe becomes an event like any other, at the same time.
bool Messages::sends_nothing_until(int rank, double date_s) const {
  constexpr int most_steps = 8;
  for (int steps = 0; rank >= 0 && steps < most_steps; ++steps) {
    const RankClock::Wait& wait = at(rank).clock.waits_for();
    if (wait.flow != nullptr)
      return !wait.flow->has_ended && flows_->earliest_end_s(*wait.flow) > date_s + 2 * port::resolution_s;
    if (wait.date_s > date_s) return true;
    rank = wait.other;
  }
  return false;
}

void Messages::join_broadcast(Rank& rank, int number, int root, double bytes) const {
  Broadcast& broadcast = rank.mail.broadcast;
  if (broadcast.number == number && broadcast.root == root && broadcast.bytes == bytes) return;
  broadcast = {number, root, bytes};
  // A message that needs no receiver moves before; and who knows between which hosts.
  if (bytes < async_small_bytes_ || costs_.differs_by_hosts()) return;
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote})
    broadcast.least_s[static_cast<std::size_t>(scope)] = costs_.least_time_s(scope, bytes);
}

/// Who has not yet posted the receive of what it is to forward will do so no earlier than now, and its message then
/// takes its time. If that is not even sent, the same holds of who is to send it.
bool Messages::forwards_nothing_until(Rank& rank, double date_s) const {
  Broadcast& own = rank.mail.broadcast;
  if (date_s < own.nothing_until_s) return true;
  if (own.root < 0) return sends_nothing_until(own.probed.source, date_s);
  constexpr int most_steps = 8;
  int source = own.probed.source;
  double left_s = date_s + rounding_of_dates_s(date_s);
  for (int steps = 0; steps < most_steps; ++steps) {
    const Broadcast& its = at(source).mail.broadcast;
    const bool knows_source = its.number == own.number && its.probed.source >= 0;
    const bool is_to_receive = source != own.root && its.number <= own.number && !(knows_source && its.is_posted);
    if (is_to_receive)
      left_s -= knows_source ? own.least_s[static_cast<std::size_t>(scope(its.probed.source, source))]
                             : std::min(own.least_s[0], own.least_s[1]);
    const double known_s = port::clock_s() - left_s;
    if (known_s > 0 || sends_nothing_until(source, left_s)) {
      own.nothing_until_s = date_s + std::max(0.0, known_s);
      return true;
    }
    if (!is_to_receive || !knows_source || at(source).mail.has(its.probed)) return false;
    source = its.probed.source;
  }
  return false;
}

bool Messages::has_ended(const MessageRequest& request) const {
  const SentMessage* const sent = request.message.get();
  if (sent == nullptr) return false;
  if (!request.receives && sent->detached) return true;
  return sent->transfer.has_ended();
}

void Messages::wait_any(const std::vector<MessageRequest*>& requests) {
  const auto is_over = [this](const MessageRequest* request) { return has_ended(*request); };
  RankClock& clock = rank_of(*requests.front()).clock;
  const bool ahead = free_bytes_ > 0 && clock.may_run_ahead();
  const double began_s = clock.now_s();
  ahead ? clock.pause() : clock.flush();
  // Transfers that have begun ring at their end, others when they begin.
  const port::BellPtr bell = std::make_shared<port::Bell>();
  std::vector<MessageRequest*> not_begun = requests;
  std::vector<std::unique_ptr<Alarm>> alarms;
  while (std::none_of(requests.begin(), requests.end(), is_over)) {
    const auto begun = let_begin(not_begun);
    std::transform(begun, not_begun.end(), std::back_inserter(alarms),
                   [&](const MessageRequest* request) { return request->message->transfer.ring_at_end(bell); });
    not_begun.erase(begun, not_begun.end());
    const bool waits = not_begun.size() == requests.size();
    wait_for_bell(not_begun, clock, bell, waits ? core::CoreState::blocked : core::CoreState::messages);
  }
  if (ahead) clock.go_on_from(began_s);
}

void Messages::wait_next(const std::vector<MessageRequest*>& requests) {
  RankClock& clock = rank_of(*requests.front()).clock;
  clock.flush();
  std::vector<MessageRequest*> waiting = requests;
  auto begun = let_begin(waiting);
  if (begun == waiting.end()) {
    wait_for_bell(waiting, clock, std::make_shared<port::Bell>());
    begun = let_begin(waiting);
  }
  const auto has_flow = [](const MessageRequest* request) { return request->message->transfer.has_flow(); };
  if (!std::all_of(begun, waiting.end(), has_flow)) {
    wait_any(requests);
    return;
  }
  std::vector<port::Flow> flows;
  std::transform(begun, waiting.end(), std::back_inserter(flows),
                 [](const MessageRequest* request) { return request->message->transfer.flow(); });
  port::wait_for_any(flows);
  clock.tell(core::CoreState::messages);
}

void Messages::wait(MessageRequest& request) {
  Rank& rank = rank_of(request);
  const bool ahead = rank.clock.may_run_ahead();
  if (!request.receives) {
    if (!ahead || free_bytes_ == 0) rank.clock.flush();
    if (!request.message->detached) wait_for_end(request.message);
    return;
  }
  if (!ahead) rank.clock.flush();
  // The longer one probably ends last.
  if (request.sent_within != nullptr && request.sent_within->message.bytes > request.wanted.bytes)
    wait_for_end(request.sent_within);
  wait_for_both(rank.clock, request.message, [&](double now_s) {
    if (request.message == nullptr) {
      request.receiver_slept_s = now_s;
      if (rank.clock.sleep(request.wanted.channel.source)) return true;
    }
    while (!request.message->transfer.has_begun()) s4u::this_actor::yield();  // the sender is just about to begin it
    return false;
  });
  if (request.sent_within != nullptr) wait_for_end(request.sent_within);
  finish_receive(request);
}

void Messages::finish_receive(MessageRequest& request) {
  LOG(messages, "has the message of rank %d, tag %d", request.wanted.channel.source, request.wanted.channel.tag);
  Rank& rank = at(request.wanted.channel.destination);
  std::vector<MessageRequest*>& receiving = rank.mail.receiving;
  receiving.erase(std::find(receiving.begin(), receiving.end(), &request));
  const SentMessage& sent = *request.message;
  if (checks_) check_receive(sent, rank.clock.now_s());
  copy_content(sent, request.wanted);
  rank.clock.resume();
  rank.let_in_s = rank.clock.now_s();
  double calls_s = sent.detached ? overhead_s(core::MessageCost::recv, sent) : 0;
  const hplcast_channel& channel = sent.message.channel;
  if (request.wanted.exchanged != 0)
    calls_s += costs_.exchange_s(scope(channel.source, channel.destination), sent.message.bytes);
  if (calls_s > 0) rank.clock.spend(calls_s);
}

/// Causality: nobody receives from the future. The bytes of a message move when it was sent and no faster than alone,
/// after its latency, of which a neighbour on a torus has half.
void Messages::check_receive(const SentMessage& sent, double received_s) const {
  const auto receiver = static_cast<std::uint32_t>(sent.message.channel.destination);
  const double rounding_s = rounding_of_dates_s(received_s);
  const double early_s = sent.sent_s - sent.begins_s;
  require(early_s <= rounding_s, receiver, "a message to it moves before it was sent [s]", early_s);
  const core::MessageFlow as = shape_of(sent).as;
  const double alone_s = as.latency_s / 2 + static_cast<double>(wire_bytes(sent)) / as.bandwidth_bytes_per_s;
  const double ahead_s = sent.begins_s + alone_s * (1 - 1e-9) - received_s;  // 1e-9: maxmin/precision of SimGrid
  require(ahead_s <= rounding_s, receiver, "it receives a message of its future [s]", ahead_s);
}

void Messages::check_end() const {
  if (flows_) flows_->check_end();
}

}  // namespace hplcast::smpi_models
