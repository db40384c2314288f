#include "smpi-models/program/program_times.hpp"

#include <algorithm>

#include "hplcast/core/panel_windows.hpp"

namespace hplcast::smpi_models {

void CollectiveWaits::enter(int rank, const Call& call, double now_s) {
  const Key key{call.context, calls_[{rank, call.context}]++};
  Meeting& meeting = meetings_[key];
  meeting.last_s = meeting.entered == 0 ? now_s : std::max(meeting.last_s, now_s);
  ++meeting.entered;
  if (call.is_root) meeting.root_s = now_s;
  inside_[rank] = {key, call, now_s};
}

double CollectiveWaits::leave(int rank, double now_s) {
  const auto found = inside_.find(rank);
  if (found == inside_.end()) return 0;
  const Entered entered = found->second;
  inside_.erase(found);
  Meeting& meeting = meetings_[entered.key];
  const bool for_all = entered.call.meets == Meets::all || (entered.call.meets == Meets::to && entered.call.is_root);
  const bool for_root = entered.call.meets == Meets::from && !entered.call.is_root;
  const double until_s = for_all ? meeting.last_s : for_root ? meeting.root_s : entered.begin_s;
  if (++meeting.left == entered.call.size) meetings_.erase(entered.key);
  return std::clamp(until_s - entered.begin_s, 0.0, std::max(0.0, now_s - entered.begin_s));
}

std::pair<long, double> ProgramPanels::come(std::size_t rank, long panel, long panels, long round, double now_s) {
  if (rule_.empty()) return {panel, 0};
  if (panels_.empty()) {
    const auto number = [](long one) { return static_cast<int>(std::clamp(one, -1L, 0x7fffffffL)); };
    marked_ = {number(panels), number(round), {}};
    panels_ = core::WindowPlan::of_program(marked_.panels, marked_.round, core::WindowRule::from(rule_)).simulated();
    marked_.marks_s.resize(panels_.size());
  }
  std::size_t& marks = marks_[rank];
  const long next = marks == 0 ? 0 : panels_[marks - 1] + 1;
  const auto text = [](long one, long all, long turn) {
    return std::to_string(one) + " of " + std::to_string(all) + " in rounds of " + std::to_string(turn);
  };
  if (panel != next || panels != marked_.panels || round != marked_.round || marks == panels_.size())
    throw core::InputError(
        "rank " + std::to_string(rank) + " marks panel " + text(panel, panels, round) + "; expected " +
        (marks == panels_.size() ? "none behind the last one, " : text(next, marked_.panels, marked_.round) + ", ") +
        "as --windows needs it: all ranks mark each panel once, in order\n  hint: --windows off");
  const int go = panels_[marks];
  if (go != panel && std::exchange(begin_, marks) != marks) late_s_ = came_s_;
  marked_.marks_s[marks] += now_s;
  double wait_s = 0;
  if (begin_ > 0 && marks == begin_ + 1) wait_s = late_s_[rank] - *std::min_element(late_s_.begin(), late_s_.end());
  if (go % round == 1 % round && marks + 3 < panels_.size() && panels_[marks + 3] == go + 3)
    came_s_[rank] = now_s + wait_s;
  ++marks;
  return {go, wait_s};
}

std::optional<core::MarkedPanels> ProgramPanels::result() const {
  if (rule_.empty()) return std::nullopt;
  for (std::size_t rank = 0; rank < marks_.size(); ++rank)
    if (panels_.empty() || marks_[rank] != panels_.size())
      throw core::InputError(
          (panels_.empty() ? "the program marks no panels"
                           : "rank " + std::to_string(rank) + " marked " + std::to_string(marks_[rank]) + " of the " +
                                 std::to_string(panels_.size()) + " panels that were to be simulated") +
          "; expected a call of hplcast_panel() by every rank at each (docs/use/any-program.md)\n  hint: --windows "
          "off");
  core::MarkedPanels means = marked_;
  for (double& mark_s : means.marks_s) mark_s /= static_cast<double>(marks_.size());
  return means;
}

namespace {

std::string name_in_files(ProgramTimes::Part part, const std::string& name) {
  return part == ProgramTimes::Part::region ? "region " + name : name;
}

}  // namespace

bool polls(std::string_view function) {
  for (const char* part : {"_Iprobe", "_Test", "clock"})
    if (function.find(part) != std::string_view::npos) return true;
  return false;
}

PhaseTime& ProgramTimes::time_of(Rank& rank, Part part, const std::string& name) {
  const std::size_t number = numbers_.try_emplace({part, name}, numbers_.size()).first->second;
  if (rank.times.size() <= number) rank.times.resize(numbers_.size());
  return rank.times[number];
}

void ProgramTimes::pass(int number, Part part, const std::string& name, double waited_s, const Moment& now) {
  Rank& rank = at(number);
  const double elapsed_s = now.now_s - rank.last.now_s;
  const double detours_s = now.detours_s - rank.last.detours_s;
  rank.last = now;
  PhaseTime& time = time_of(rank, part, name);
  time.elapsed_s += elapsed_s;
  time.detours_s += detours_s;
  time.waiting_s += waited_s;
  (part == Part::mpi ? time.messages_s : time.kernels_s) += elapsed_s - waited_s - detours_s;
}

/// Time that nobody has told of: inside MPI it belongs to the function; else the program slept, or had not begun.
void ProgramTimes::pass_until(int number, const Moment& begin) {
  const Rank& rank = at(number);
  if (!(begin.now_s > rank.last.now_s)) return;
  if (rank.calls.empty())
    pass(number, Part::other, "other", 0, begin);
  else
    pass(number, Part::mpi, rank.calls.back().function, 0, begin);
}

void ProgramTimes::code(int rank, Part part, const std::string& name, const core::KernelShape& shape,
                        const Moment& begin, const Moment& now) {
  pass_until(rank, begin);
  pass(rank, part, name, 0, now);
  TraceFile* const trace = activity_.trace_of(rank);
  if (part != Part::routine || trace == nullptr || !(now.now_s > begin.now_s)) return;
  release(rank);
  trace->routine(rank, name, shape, {begin.now_s, now.now_s});
}

void ProgramTimes::region_ends(int rank, const std::string& name, const TimeSpan& span) {
  TraceFile* const trace = activity_.trace_of(rank);
  if (trace == nullptr || !(span.end_s > span.begin_s)) return;
  release(rank);
  trace->region(rank, name, span);
}

void ProgramTimes::enter(int rank, const char* function, const Moment& now) {
  pass_until(rank, now);
  at(rank).calls.push_back({function, now.now_s});
}

void ProgramTimes::note(int rank, const TracedMessage& message) {
  if (!at(rank).calls.empty()) at(rank).calls.back().message = message;
}

void ProgramTimes::leave(int number, double waited_s, const Moment& now) {
  Rank& rank = at(number);
  if (rank.calls.empty()) return;
  const Call call = rank.calls.back();
  pass(number, Part::mpi, call.function, waited_s, now);
  rank.calls.pop_back();
  TraceFile* const trace = activity_.trace_of(number);
  if (trace == nullptr || !(now.now_s > call.begin_s)) return;
  HeldCall& held = rank.held;
  if (held.function == call.function && held.span.end_s == call.begin_s) {
    held.waited_s += waited_s;
    held.span.end_s = now.now_s;
    return;
  }
  release(number);
  if (polls(call.function)) {
    held = {call.function, waited_s, {call.begin_s, now.now_s}};
  } else if (call.message) {
    TracedMessage message = *call.message;
    message.waited_s = waited_s;
    trace->message(number, call.function, message, {call.begin_s, now.now_s});
  } else {
    trace->call(number, call.function, waited_s, {call.begin_s, now.now_s});
  }
}

void ProgramTimes::release(int number) {
  HeldCall& held = at(number).held;
  if (held.function.empty()) return;
  activity_.trace_of(number)->call(number, held.function, held.waited_s, held.span);
  held.function.clear();
}

void ProgramTimes::finish() {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) release(rank);
}

std::vector<NamedTimes> ProgramTimes::until(double end_s) const {
  std::vector<NamedTimes> list;
  for (const auto& [name, number] : numbers_) {
    NamedTimes times{name_in_files(name.first, name.second), {}};
    double sum_s = 0;
    for (const Rank& rank : ranks_) {
      times.ranks.push_back(number < rank.times.size() ? rank.times[number] : PhaseTime());
      sum_s += times.ranks.back().elapsed_s;
    }
    if (sum_s > 0) list.push_back(std::move(times));  // most functions of MPI take no time
  }
  NamedTimes ended{"ended", {}};
  bool any = false;
  for (const Rank& rank : ranks_) {
    const double after_s = std::max(0.0, end_s - rank.last.now_s);
    any = any || after_s > 0;
    ended.ranks.push_back({after_s, 0, 0, after_s, 0});
  }
  if (any) list.push_back(std::move(ended));
  return list;
}

}  // namespace hplcast::smpi_models
