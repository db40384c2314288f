// GOAL, the schedules of LogGOPSim and ATLAHS (Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, ICPP
// 2009): per rank `calc` in ns, `send` and `recv`, each with the operations that it requires.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>
#include <vector>

#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::platforms {

namespace {

using Json = nlohmann::json;
constexpr double ns_per_us = 1e3;

struct TracedEvent {
  std::string category, name;
  double begin_us = 0, end_us = 0, waited_us = 0;
  int peer = -1, tag = 0;
  double bytes = 0;

  bool sends() const { return name == "send" || name == "ssend" || name == "isend" || name == "issend"; }
  bool receives() const { return name == "recv" || name == "irecv"; }
  bool is_known() const {
    return std::find(core::mpi_names.begin(), core::mpi_names.end(), name) != core::mpi_names.end();
  }
  bool goes_on() const { return name == "isend" || name == "issend" || name == "irecv"; }
};

using EventsOfRanks = std::map<int, std::vector<TracedEvent>>;

EventsOfRanks events_in(std::istream& in, const std::string& name) {
  EventsOfRanks ranks;
  try {
    const Json json = core::parse_json<Json>(core::read_json_text(in, name));
    for (const Json& one : json.at("traceEvents")) {
      if (one.at("ph") != "X") continue;
      TracedEvent event;
      event.category = one.at("cat").get<std::string>();
      event.name = one.at("name").get<std::string>();
      event.begin_us = one.at("ts").get<double>();
      event.end_us = event.begin_us + one.at("dur").get<double>();
      if (event.category == "mpi") {
        const Json arguments = one.value("args", Json::object());
        event.peer = arguments.value("peer", -1);
        event.tag = arguments.value("tag", 0);
        event.bytes = arguments.value("bytes", 0.0);
        event.waited_us = arguments.value("waited_us", 0.0);
      }
      const double largest = std::max({std::abs(event.begin_us), std::abs(event.end_us), std::abs(event.bytes)});
      if (!(largest <= 1e18) || event.bytes < 0)
        throw core::ParseError({name, 0, "/traceEvents"},
                               core::printed("an event of %g to %g us and %g bytes; expected at most 1e18, and no "
                                             "negative bytes",
                                             event.begin_us, event.end_us, event.bytes));
      ranks[one.at("tid").get<int>()].push_back(std::move(event));
    }
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, error.what(), "expected a trace that `hplcast predict --trace` wrote");
  }
  if (ranks.empty()) throw core::ParseError({name, 0, "/traceEvents"}, "found no events");
  for (auto& [rank, events] : ranks)
    std::stable_sort(events.begin(), events.end(),
                     [](const TracedEvent& a, const TracedEvent& b) { return a.begin_us < b.begin_us; });
  return ranks;
}

[[noreturn]] void refuse(const std::string& name, const std::string& found) {
  throw core::ParseError({name, 0, ""}, found + "; expected a trace of all ranks, of the whole run, in exact mode",
                         "`hplcast predict --mode exact --trace FILE` without --trace-ranks and --trace-time");
}

/// Every message that is sent must be received, or the schedule never ends.
void check(const EventsOfRanks& ranks, const std::string& name) {
  std::map<std::tuple<int, int, int>, long> open;  // source, destination, tag
  const int count = static_cast<int>(ranks.size());
  if (ranks.rbegin()->first != count - 1 || ranks.begin()->first != 0)
    refuse(name,
           "it has " + std::to_string(count) + " ranks, the last one is " + std::to_string(ranks.rbegin()->first));
  for (const auto& [rank, events] : ranks) {
    for (const TracedEvent& event : events) {
      if (event.category == "mpi" && !event.is_known())
        refuse(name, "it has " + event.name + ", of which it says no peer and no bytes: it is not of HPL");
      if (event.category != "mpi" || !(event.sends() || event.receives())) continue;
      if (event.peer < 0 || event.peer >= count)
        refuse(name, "rank " + std::to_string(rank) + " has a message whose other side is not known");
      if (event.sends())
        ++open[{rank, event.peer, event.tag}];
      else
        --open[{event.peer, rank, event.tag}];
    }
  }
  for (const auto& [channel, balance] : open) {
    if (balance == 0) continue;
    const auto [source, destination, tag] = channel;
    refuse(name, "of the messages of rank " + std::to_string(source) + " to rank " + std::to_string(destination) +
                     " with tag " + std::to_string(tag) + " " + std::to_string(std::abs(balance)) + " are only " +
                     (balance > 0 ? "sent" : "received"));
  }
}

/// The schedule of one rank: what it does between its messages is `calc`, what it waits is not.
class Schedule {
 public:
  Schedule(std::ostream& out, double begin_us) : out_(out), reached_us_(begin_us) {}

  void add(const TracedEvent& event) {
    if (event.category != "mpi") {
      last_us_ = std::max(last_us_, event.end_us);
      return;
    }
    work(event.begin_us - reached_us_);
    reached_us_ = std::max(reached_us_, event.end_us);
    if (event.sends() || event.receives()) {
      const long operation = next(core::printed("%s %.0fb %s %d tag %d", event.sends() ? "send" : "recv", event.bytes,
                                                event.sends() ? "to" : "from", event.peer, event.tag));
      if (event.goes_on())
        open_.push_back({operation, event.peer, event.tag});
      else
        after_ = operation;
    } else if (event.name == "wait") {
      wait_for(event);
    } else {
      work(event.end_us - event.begin_us - event.waited_us);  // probes
    }
  }

  void end() {
    work(last_us_ - reached_us_);
    for (const Open& one : open_) join(one.operation);
  }

 private:
  struct Open {
    long operation;
    int peer, tag;
  };

  long next(const std::string& what) {
    const long operation = ++operations_;
    out_ << 'l' << operation << ": " << what << '\n';
    if (after_ > 0) out_ << 'l' << operation << " requires l" << after_ << '\n';
    return operation;
  }

  void work(double duration_us) {
    const double ns = std::round(duration_us * ns_per_us);
    if (ns >= 1) after_ = next(core::printed("calc %.0f", ns));
  }

  void join(long operation) {
    after_ = next("calc 0");
    out_ << 'l' << after_ << " requires l" << operation << '\n';
  }

  void wait_for(const TracedEvent& event) {
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const Open& one) { return one.peer == event.peer && one.tag == event.tag; });
    if (found == open_.end()) return;
    const long operation = found->operation;
    open_.erase(found);
    join(operation);
  }

  std::ostream& out_;
  double reached_us_, last_us_ = 0;
  long operations_ = 0, after_ = 0;
  std::vector<Open> open_;
};

}  // namespace

void write_goal(std::ostream& out, std::istream& trace, const std::string& name) {
  const EventsOfRanks ranks = events_in(trace, name);
  check(ranks, name);
  double begin_us = ranks.begin()->second.front().begin_us;
  for (const auto& [rank, events] : ranks) begin_us = std::min(begin_us, events.front().begin_us);
  out << "num_ranks " << ranks.size() << '\n';
  for (const auto& [rank, events] : ranks) {
    out << "\nrank " << rank << " {\n";
    Schedule schedule(out, begin_us);
    for (const TracedEvent& event : events) schedule.add(event);
    schedule.end();
    out << "}\n";
  }
}

}  // namespace hplcast::platforms
