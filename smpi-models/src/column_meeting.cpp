#include "column_meeting.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime.hpp"

namespace hplcast::smpi_models {

namespace {

double now_s() {
  return simgrid::s4u::Engine::get_clock();
}

core::KernelShape vector_of(int count) {
  return {1, static_cast<double>(count), 1};
}

}  // namespace

/// The costs of a column's exchanges. `real`: they happen, so they draw and count; else they are expected.
class ColumnMeetings::Costs final : public ColumnCosts {
 public:
  Costs(ColumnMeetings& meetings, Column& column, bool real) : meetings_(meetings), column_(column), real_(real) {
    async_small_bytes = meetings.messages_.async_small_bytes();
    detached_bytes = meetings.messages_.detached_bytes();
  }

  /// For all exchanges from now on: what sampled ones taught, and how many messages of one follow on each other.
  void learn_from(const ExchangeLessons& lessons, int part, int steps) {
    extra_s_ = lessons.excess_s(part) / steps;
    load_share_ = lessons.load_share(part);
  }

  ExchangeMessage message(int from, int to, double bytes) override {
    const int source = member(from).rank;
    const int destination = member(to).rank;
    const core::Scope scope = meetings_.messages_.scope(source, destination);
    const NetworkCosts& costs = meetings_.costs_;
    ExchangeMessage message;
    if (real_) {
      meetings_.runtime_.count_message(HPLCAST_MPI_SEND, bytes);
      if (scope == core::Scope::remote) note_sent(from, to, load_share_ * (bytes + core::smpi_envelope_bytes));
      const MessageName name = meetings_.messages_.next_name({source, destination, column_.tag});
      message = {costs.overhead_s(core::MessageCost::send, scope, bytes, name), costs.transfer_s(scope, bytes, name),
                 costs.overhead_s(core::MessageCost::recv, scope, bytes, name)};
    } else {
      message = {costs.mean_overhead_s(core::MessageCost::send, scope, bytes), costs.mean_transfer_s(scope, bytes),
                 costs.mean_overhead_s(core::MessageCost::recv, scope, bytes)};
    }
    message.transfer_s = std::max(0.0, message.transfer_s + extra_s_);
    return message;
  }
  double copy_s(int position, int count) override {
    RankState& state = *member(position).state;
    return real_ ? meetings_.runtime_.spend_kernel(state, core::KernelId::dcopy, vector_of(count))
                 : meetings_.runtime_.mean_kernel_s(state, core::KernelId::dcopy, vector_of(count));
  }

 private:
  void note_sent(int from, int to, double wire_bytes) {
    auto& sent = member(from).sent;
    const auto found = std::find_if(sent.begin(), sent.end(), [to](const auto& one) { return one.first == to; });
    if (found == sent.end())
      sent.emplace_back(to, wire_bytes);
    else
      found->second += wire_bytes;
  }
  Member& member(int position) { return column_.members[static_cast<std::size_t>(position)]; }
  ColumnMeetings& meetings_;
  Column& column_;
  bool real_;
  double extra_s_ = 0;
  double load_share_ = 1;
};

ColumnMeetings::ColumnMeetings(Runtime& runtime, Messages& messages, const NetworkCosts& costs,
                               const RealExchanges& real)
    : runtime_(runtime), messages_(messages), costs_(costs), real_(real) {}

ColumnMeetings::Column& ColumnMeetings::open(const hplcast_column& column) {
  std::unique_ptr<Column>& found = columns_[column.ranks[0]];
  const auto size = static_cast<std::size_t>(column.size);
  if (!found || found->members.size() != size) {
    found = std::make_unique<Column>();
    found->members.resize(size);
    found->barrier = simgrid::s4u::Barrier::create(static_cast<unsigned>(column.size));
  }
  found->panel_columns = column.panel_columns;
  found->tag = column.tag;
  Member& member = found->members[static_cast<std::size_t>(column.position)];
  member.state = &runtime_.rank();
  member.rank = static_cast<int>(member.state->rank);
  return *found;
}

void ColumnMeetings::note(const hplcast_column& column, int index, const PivotCandidate& candidate) {
  Column& here = open(column);
  Member& member = here.members[static_cast<std::size_t>(column.position)];
  if (member.notes.empty()) here.first_index = index;
  member.notes.push_back({member.state->pending_s, candidate});
  member.state->pending_s = 0;
}

void ColumnMeetings::begin_real(const hplcast_column& column, int index, const PivotCandidate& candidate) {
  Column& here = open(column);
  here.real_part = real_.part(index, column.panel_columns);
  Member& member = here.members[static_cast<std::size_t>(column.position)];
  member.real.push_back({now_s() + member.state->pending_s, 0, candidate});
}

void ColumnMeetings::end_real(const hplcast_column& column) {
  Column& here = open(column);
  Member& member = here.members[static_cast<std::size_t>(column.position)];
  member.real.back().left_s = now_s() + member.state->pending_s;
  if (static_cast<int>(member.real.size()) < real_.run_length(here.real_part, here.panel_columns)) return;
  if (++here.through == column.size) learn(here);
}

/// What the last run of real exchanges took beyond what it would have taken alone. More than one in a row: whoever is
/// held up in one holds up the others in the next.
void ColumnMeetings::learn(Column& column) {
  column.through = 0;
  const std::size_t size = column.members.size();
  const std::size_t run = column.members.front().real.size();
  Costs costs(*this, column, false);
  std::vector<double> times_s(size);
  std::vector<PivotCandidate> candidates(size);
  for (std::size_t j = 0; j < run; ++j) {
    for (std::size_t i = 0; i < size; ++i) {
      const Member& member = column.members[i];
      const RealExchange& real = member.real[j];
      times_s[i] = j == 0 ? real.entered_s : times_s[i] + real.entered_s - member.real[j - 1].left_s;
      const int copies = (real.candidate.owner < static_cast<double>(size) ? 1 : 0) + (i == 0 ? 1 : 0);
      times_s[i] += copies * costs.copy_s(static_cast<int>(i), column.panel_columns);
      candidates[i] = real.candidate;
    }
    exchange_column(column.panel_columns, costs, times_s, candidates);
  }
  double excess_s = 0;
  double took_s = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double left_s = column.members[i].real.back().left_s;
    excess_s += left_s - times_s[i];
    took_s += left_s - column.members[i].real.front().entered_s;
    column.members[i].real.clear();
  }
  const auto exchanges = static_cast<double>(size * run);
  lessons_.add(column.real_part, {took_s / exchanges, excess_s / exchanges});
}

void ColumnMeetings::compute(Column& column) {
  Costs costs(*this, column, true);
  const std::size_t size = column.members.size();
  std::vector<double> times_s(size);
  std::vector<PivotCandidate> candidates(size);
  for (std::size_t i = 0; i < size; ++i) times_s[i] = column.members[i].finish_s;
  column.pivot_rows.clear();
  const std::size_t exchanges = column.members.front().notes.size();
  lessons_.count_computed(exchanges);
  const int steps = exchange_steps(static_cast<int>(size));
  for (std::size_t j = 0; j < exchanges; ++j) {
    const int part = real_.part(column.first_index + static_cast<int>(j), column.panel_columns);
    costs.learn_from(lessons_, part, steps);
    for (std::size_t i = 0; i < size; ++i) {
      const Note& note = column.members[i].notes[j];
      times_s[i] += note.compute_s;
      candidates[i] = note.candidate;
    }
    exchange_column(column.panel_columns, costs, times_s, candidates);
    column.pivot_rows.push_back(candidates.front().row);
  }
  for (std::size_t i = 0; i < size; ++i) {
    column.members[i].finish_s = times_s[i];
    column.members[i].notes.clear();
  }
}

/// The computed exchanges take their part of the links until their members are done: as one flow per member, whose
/// bytes go now to this, now to that of the members that it has sent to.
void ColumnMeetings::load_links(Column& column) {
  const std::size_t turn = column.loads++;
  for (Member& member : column.members) {
    const double left_s = member.finish_s - now_s();
    double wire_bytes = 0;
    for (const auto& [to, bytes] : member.sent) wire_bytes += bytes;
    if (wire_bytes >= 1 && left_s > 0) {
      const Member& other = column.members[static_cast<std::size_t>(member.sent[turn % member.sent.size()].first)];
      port::begin_flow({messages_.host(member.rank),
                        messages_.host(other.rank),
                        static_cast<std::uint64_t>(wire_bytes),
                        {0, wire_bytes / left_s}},
                       true);
    }
    member.sent.clear();
  }
}

void ColumnMeetings::settle(const hplcast_column& column, double* pivot_rows) {
  Column& here = open(column);
  Member& member = here.members[static_cast<std::size_t>(column.position)];
  if (member.notes.empty()) return;
  member.finish_s = now_s();  // notes cost no simulated time: this is also when they began
  if (++here.arrived == column.size) {
    here.arrived = 0;
    compute(here);
    load_links(here);
  }
  here.barrier->wait();
  member.state->pending_s += std::max(0.0, member.finish_s - now_s());
  std::copy(here.pivot_rows.begin(), here.pivot_rows.end(), pivot_rows + here.first_index);
}

}  // namespace hplcast::smpi_models
