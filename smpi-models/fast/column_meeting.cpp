#include "smpi-models/fast/column_meeting.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "smpi-models/simgrid_port/log.hpp"

HPLCAST_LOG_CATEGORY(columns, "Meetings of process columns in fast mode");

namespace hplcast::smpi_models {

namespace {

core::KernelShape vector_of(int count) {
  return {1, static_cast<double>(count), 1};
}

template <typename Members>
auto& at(Members& members, int position) {
  return members[static_cast<std::size_t>(position)];
}

/// HPL_pdmxswp copies a candidate before its messages, and on the process with the diagonal block the current row, too.
/// That one always has rows left: of those that have none (their owner is nobody) nothing is copied.
int copies_before_messages(const PivotCandidate& candidate, std::size_t position, std::size_t size) {
  const bool has_rows = candidate.owner < static_cast<double>(size);
  return has_rows ? (position == 0 ? 2 : 1) : 0;
}

}  // namespace

/// The costs of a column's exchanges.
class ColumnMeetings::Costs : public ColumnCosts {
 public:
  Costs(ColumnMeetings& meetings, Column& column) : meetings_(meetings), column_(column) {
    async_small_bytes = meetings.messages_.async_small_bytes();
    detached_bytes = meetings.messages_.detached_bytes();
  }

 protected:
  struct Ends {
    int source, destination;
    core::Scope scope;
    double latency_ratio;
  };
  Ends ends(int from, int to) const {
    const Rank& source = rank(from);
    const Rank& destination = rank(to);
    return {static_cast<int>(source.number), static_cast<int>(destination.number),
            source.host == destination.host ? core::Scope::local : core::Scope::remote,
            meetings_.messages_.latency_ratio(source.host, destination.host)};
  }
  Rank& rank(int position) const { return *at(column_.members, position).rank; }
  /// @param excess_s  of the transfer, beyond its time alone
  ExchangeMessage cost_of(const Ends& ends, double bytes, const MessageName* name, double excess_s) {
    const NetworkCosts& costs = meetings_.costs_;
    const bool is_own = ends.scope == core::Scope::remote && costs.differs_by_hosts();
    if (is_own || (name != nullptr && costs.draws())) return with_excess(drawn(ends, bytes, name), excess_s);
    const auto same = [&](const Known& one) {
      return one.bytes == bytes && one.scope == ends.scope && one.latency_ratio == ends.latency_ratio;
    };
    auto found = std::find_if(known_.begin(), known_.end(), same);
    if (found == known_.end())
      found = known_.insert(found, {ends.scope, ends.latency_ratio, bytes, drawn(ends, bytes, nullptr)});
    return with_excess(found->message, excess_s);
  }
  ColumnMeetings& meetings_;
  Column& column_;

 private:
  ExchangeMessage drawn(const Ends& ends, double bytes, const MessageName* name) const {
    const NetworkCosts& costs = meetings_.costs_;
    core::MessageFlow flow =
        meetings_.messages_.between(ends.source, ends.destination, bytes, costs.flow(ends.scope, bytes, name));
    flow.latency_s *= ends.latency_ratio;
    return {std::max(0.0, costs.overhead_s(core::MessageCost::send, ends.scope, bytes, name)),
            NetworkCosts::time_alone_s(flow, bytes + core::smpi_envelope_bytes),
            std::max(0.0, costs.overhead_s(core::MessageCost::recv, ends.scope, bytes, name)),
            costs.exchange_s(ends.scope, bytes), costs.is_half_duplex(ends.scope)};
  }
  static ExchangeMessage with_excess(ExchangeMessage message, double excess_s) {
    message.transfer_s = std::max(0.0, message.transfer_s + excess_s);
    return message;
  }
  /// An exchange has three sizes.
  struct Known {
    core::Scope scope;
    double latency_ratio;
    double bytes;
    ExchangeMessage message;
  };
  std::vector<Known> known_;
};

/// Costs of exchanges that were sampled, message by message: nothing is counted. Messages cost what they did then:
/// whoever waits for one of several waits longer if they scatter, and computed exchanges do that, too.
class ColumnMeetings::SampledCosts final : public Costs {
 public:
  using Costs::Costs;
  ExchangeMessage message(int from, int to, double bytes) override {
    const Ends between = ends(from, to);
    MessageName name{rank(from).number, rank(to).number, static_cast<std::uint32_t>(column_.tag)};
    name.number = at(column_.members, from).sendings.next(name.destination, name.tag);
    return cost_of(between, bytes, &name, 0);
  }
  double copy_s(int position, int count) override {
    return meetings_.kernels_.expected_s(rank(position), core::KernelId::dcopy, vector_of(count));
  }
  /// They are over: the rank's own detours are past that.
  double after(int position, Work what, double begin_s, double work_s) override {
    RankDetours& detours = at(column_.members, position).detours;
    return detours.any() ? detours.after(what, begin_s, work_s) : begin_s + work_s;
  }
};

/// Costs of exchanges that happen.
class ColumnMeetings::DrawnCosts final : public Costs {
 public:
  DrawnCosts(ColumnMeetings& meetings, Column& column) : Costs(meetings, column) {
    stretches = std::any_of(column.members.begin(), column.members.end(), [](const Member& member) {
      RankClock& clock = member.rank->clock;
      return clock.detours().any() || clock.meter() != nullptr;
    });
  }
  /// For all exchanges from now on: what sampled ones taught, and how many messages of one follow on each other.
  void learn_from(const ExchangeLessons& lessons, int part, int steps) {
    excess_s_ = lessons.excess_s(part) / steps;
    load_share_ = lessons.load_share(part);
  }
  ExchangeMessage message(int from, int to, double bytes) override {
    const Ends between = ends(from, to);
    meetings_.counts_.add_message(rank(from).panel_place, HPLCAST_MPI_SEND, bytes);
    if (between.scope == core::Scope::remote) note_sent(from, to, load_share_ * (bytes + core::smpi_envelope_bytes));
    const MessageName name = meetings_.messages_.next_name({between.source, between.destination, column_.tag, 0});
    return cost_of(between, bytes, &name, excess_s_);
  }
  double copy_s(int position, int count) override {
    const double copy_s = meetings_.kernels_.spend_s(rank(position), core::KernelId::dcopy, vector_of(count));
    if (StateMeter* meter = rank(position).clock.meter())
      meter->add_noted(core::state_of(core::KernelId::dcopy), copy_s);
    return copy_s;
  }
  double after(int position, Work what, double begin_s, double work_s) override {
    RankClock& clock = rank(position).clock;
    const double end_s = clock.after(what, begin_s, work_s);
    if (what == Work::kernel && clock.meter() != nullptr) clock.meter()->stretch_noted(end_s - begin_s - work_s);
    return end_s;
  }
  void waited(int position, double duration_s) override {
    if (StateMeter* meter = rank(position).clock.meter()) meter->add_noted(core::CoreState::blocked, duration_s);
  }
  /// The first note has all its time, detours and all; when the others begin was not known.
  double after_note(int position, double begin_s, const RankClock::Noted& note, bool first) {
    if (first || !rank(position).clock.detours().any()) return begin_s + note.elapsed_s;
    return after(position, Work::other, after(position, Work::kernel, begin_s, note.kernels_s), note.other_s);
  }

 private:
  void note_sent(int from, int to, double wire_bytes) {
    auto& sent = at(column_.members, from).sent;
    const auto found = std::find_if(sent.begin(), sent.end(), [to](const auto& one) { return one.first == to; });
    if (found == sent.end())
      sent.emplace_back(to, wire_bytes);
    else
      found->second += wire_bytes;
  }
  double excess_s_ = 0;
  double load_share_ = 1;
};

ColumnMeetings::Column& ColumnMeetings::open(Rank& rank, const hplcast_column& column) {
  std::unique_ptr<Column>& found = columns_[column.ranks[0]];
  const auto size = static_cast<std::size_t>(column.size);
  if (!found || found->members.size() != size) {
    found = std::make_unique<Column>();
    found->members.resize(size);
    found->barrier = std::make_unique<port::Barrier>(size);
  }
  found->panel_columns = column.panel_columns;
  found->tag = column.tag;
  at(found->members, column.position).rank = &rank;
  return *found;
}

void ColumnMeetings::note(Rank& rank, const hplcast_column& column, int index, const PivotCandidate& candidate) {
  Column& here = open(rank, column);
  std::vector<Note>& notes = at(here.members, column.position).notes;
  if (!here.meeting) {
    here.meeting = std::make_shared<Meeting>();
    here.meeting->pivots.first_index = index;
  }
  if (const int next = here.meeting->pivots.first_index + static_cast<int>(notes.size()); index != next)
    throw core::DomainError("exchange that rank " + std::to_string(rank.number) + " notes", index,
                            std::to_string(next));
  if (notes.capacity() == 0 && !spare_notes_.empty()) {
    notes = std::move(spare_notes_.back());
    spare_notes_.pop_back();
  }
  notes.push_back({rank.clock.take_note(), candidate});
}

void ColumnMeetings::begin_sampled(Rank& rank, const hplcast_column& column, int index,
                                   const PivotCandidate& candidate) {
  Column& here = open(rank, column);
  here.sampled_part = sampled_.part(index, column.panel_columns);
  Member& member = at(here.members, column.position);
  if (member.sampled.empty()) {
    member.detours = rank.clock.detours();
    member.sendings = rank.mail.sendings;
  }
  member.sampled.push_back({rank.clock.now_s(), 0, candidate});
}

void ColumnMeetings::end_sampled(Rank& rank, const hplcast_column& column) {
  Column& here = open(rank, column);
  std::vector<SampledExchange>& sampled = at(here.members, column.position).sampled;
  sampled.back().left_s = rank.clock.now_s();
  if (static_cast<int>(sampled.size()) < sampled_.run_length(here.sampled_part, here.panel_columns)) return;
  if (++here.through == column.size) learn(here);
}

/// Excess of the last run of sampled exchanges over the time that it would have taken alone. A run has several: whoever
/// is held up in one holds up the others in the next.
void ColumnMeetings::learn(Column& column) {
  column.through = 0;
  const std::size_t size = column.members.size();
  const std::size_t run = column.members.front().sampled.size();
  SampledCosts costs(*this, column);
  std::vector<double> times_s(size);
  std::vector<PivotCandidate> candidates(size);
  for (std::size_t j = 0; j < run; ++j) {
    for (std::size_t i = 0; i < size; ++i) {
      const Member& member = column.members[i];
      const SampledExchange& sampled = member.sampled[j];
      times_s[i] = j == 0 ? sampled.entered_s : times_s[i] + sampled.entered_s - member.sampled[j - 1].left_s;
      const double copies_s =
          copies_before_messages(sampled.candidate, i, size) * costs.copy_s(static_cast<int>(i), column.panel_columns);
      times_s[i] = costs.after(static_cast<int>(i), Work::kernel, times_s[i], copies_s);
      candidates[i] = sampled.candidate;
    }
    exchange_column(column.panel_columns, costs, times_s, candidates);
  }
  double excess_s = 0;
  double took_s = 0;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<SampledExchange>& sampled = column.members[i].sampled;
    excess_s += sampled.back().left_s - times_s[i];
    took_s += sampled.back().left_s - sampled.front().entered_s;
    sampled.clear();
  }
  const auto exchanges = static_cast<double>(size * run);
  LOG(columns, "part %d: %zu sampled exchanges took %g s, %g s longer than expected", column.sampled_part, run,
      took_s / static_cast<double>(size), excess_s / static_cast<double>(size));
  lessons_.add(column.sampled_part, {took_s / exchanges, excess_s / exchanges});
}

void ColumnMeetings::compute(Column& column) {
  Meeting& meeting = *column.meeting;
  DrawnCosts costs(*this, column);
  const std::size_t size = column.members.size();
  std::vector<PivotCandidate> candidates(size);
  for (const Member& member : column.members) meeting.finish_s.push_back(member.came_s);
  const std::size_t exchanges = column.members.front().notes.size();
  lessons_.count_computed(exchanges);
  const int steps = exchange_steps(static_cast<int>(size));
  for (std::size_t j = 0; j < exchanges; ++j) {
    const int index = meeting.pivots.first_index + static_cast<int>(j);
    costs.learn_from(lessons_, sampled_.part(index, column.panel_columns), steps);
    for (std::size_t i = 0; i < size; ++i) {
      const Note& note = column.members[i].notes.at(j);
      meeting.finish_s[i] = costs.after_note(static_cast<int>(i), meeting.finish_s[i], note.work, j == 0);
      candidates[i] = note.candidate;
    }
    exchange_column(column.panel_columns, costs, meeting.finish_s, candidates);
    meeting.pivots.rows.push_back(candidates.front().row);
  }
  for (Member& member : column.members) {
    member.notes.clear();
    if (member.notes.capacity() > 0) spare_notes_.push_back(std::exchange(member.notes, {}));
  }
}

/// The computed exchanges take their part of the links until their members are done: as one flow per member, whose
/// bytes go now to this, now to that of the members that it has sent to.
void ColumnMeetings::load_links(Column& column) {
  const std::size_t turn = column.loads++;
  for (std::size_t i = 0; i < column.members.size(); ++i) {
    Member& member = column.members[i];
    const double left_s = column.meeting->finish_s[i] - clock_s();
    double wire_bytes = 0;
    for (const auto& [to, bytes] : member.sent) wire_bytes += bytes;
    if (wire_bytes >= 1 && left_s > 0) {
      const Member& other = at(column.members, member.sent[turn % member.sent.size()].first);
      messages_.load_links(
          messages_.shape_between(static_cast<int>(member.rank->number), static_cast<int>(other.rank->number),
                                  static_cast<std::uint64_t>(wire_bytes), {0, wire_bytes / left_s}, 0));
    }
    member.sent.clear();
  }
}

PivotRows ColumnMeetings::settle(Rank& rank, const hplcast_column& column) {
  Column& here = open(rank, column);
  Member& member = at(here.members, column.position);
  if (member.notes.empty()) return {};
  const std::shared_ptr<Meeting> meeting = here.meeting;
  member.came_s = clock_s();  // notes cost no simulated time: this is also when they began
  if (++here.arrived == column.size) {
    compute(here);
    load_links(here);
    here.arrived = 0;
    here.meeting = nullptr;
  }
  here.barrier->wait();
  LOG(columns, "%zu exchanges from %d on take until %.12g s", meeting->pivots.rows.size(), meeting->pivots.first_index,
      at(meeting->finish_s, column.position));
  rank.clock.go_on_noted(at(meeting->finish_s, column.position));
  rank.let_in_s = at(meeting->finish_s, column.position);
  return meeting->pivots;
}

}  // namespace hplcast::smpi_models
