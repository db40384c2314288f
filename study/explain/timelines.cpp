#include "study/explain/timelines.hpp"

#include <algorithm>
#include <ostream>
#include <string>

#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

namespace {

/// When the first rank began to factorise a panel; of runs whose phases were not kept, when the first one began.
double start_of(const std::vector<RankActivity>& ranks, const std::vector<HostClock>& clocks) {
  double first_s = -1;
  double begin_s = -1;
  const auto earlier = [](double& so_far, double time_s) {
    if (so_far < 0 || time_s < so_far) so_far = time_s;
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    earlier(begin_s, clocks[i].at_rank_0_s(ranks[i].begin_s));
    for (const ActivityEvent& event : ranks[i].events) {
      const bool factorises =
          event.kind == ActivityEvent::Kind::phase && core::phase_names[event.name] == std::string("factorisation");
      if (factorises) earlier(first_s, clocks[i].at_rank_0_s(ranks[i].begin_s + event.begin_s));
    }
  }
  return first_s < 0 ? begin_s : first_s;
}

/// The events of the chosen ranks, in seconds since the start of the factorisation.
std::vector<Timeline> timelines_of(const ObservedRanks& observed, const ExplainRequest& request,
                                   const std::string& kind) {
  const double start_s = start_of(observed.ranks, observed.clocks);
  std::vector<Timeline> lines;
  for (std::size_t i = 0; i < observed.ranks.size(); ++i) {
    const RankActivity& rank = observed.ranks[i];
    if (rank.rank < request.first_rank || rank.rank > request.last_rank) continue;
    Timeline line;
    line.rank = rank.rank;
    line.kind = kind;
    for (std::size_t j = 0; j < rank.events.size(); ++j) {
      ActivityEvent event = rank.events[j];
      event.begin_s = observed.clocks[i].at_rank_0_s(rank.begin_s + event.begin_s) - start_s;
      event.end_s = observed.clocks[i].at_rank_0_s(rank.begin_s + event.end_s) - start_s;
      line.events.push_back(event);
      line.waited_s.push_back(observed.waits.waited_s[i][j]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void write_event(core::TraceFile& trace, int row, const ActivityEvent& event, double waited_s) {
  const core::TimeSpan span{event.begin_s, event.end_s};
  switch (event.kind) {
    case ActivityEvent::Kind::phase:
      return trace.phase(row, core::phase_names[event.name], span);
    case ActivityEvent::Kind::kernel:
      return trace.routine(row, core::kernel_names[event.name],
                           {static_cast<double>(event.m), static_cast<double>(event.n), static_cast<double>(event.k)},
                           span);
    case ActivityEvent::Kind::message:
      return trace.message(row, core::mpi_names[event.name], {event.peer, event.tag, event.bytes, waited_s}, span);
  }
}

/// Each rank is a process of the viewer with two threads: real above simulated.
void write_trace(const std::filesystem::path& path, const std::vector<Timeline>& lines) {
  core::TraceFile trace(path.string());
  for (const Timeline& line : lines) {
    const int row = 2 * line.rank + (line.kind == "real" ? 0 : 1);
    trace.name_row(row, line.rank, "rank " + std::to_string(line.rank), line.kind);
    for (std::size_t i = 0; i < line.events.size(); ++i) write_event(trace, row, line.events[i], line.waited_s[i]);
  }
  trace.close();
}

}  // namespace

std::string write_timelines(const ExplainRequest& request, const ObservedRanks& real,
                            const std::vector<RankActivity>& simulated) {
  std::vector<Timeline> lines = timelines_of(real, request, "real");
  const std::vector<Timeline> more = timelines_of(observed_ranks(simulated), request, "simulated");
  lines.insert(lines.end(), more.begin(), more.end());
  std::stable_sort(lines.begin(), lines.end(), [](const Timeline& a, const Timeline& b) { return a.rank < b.rank; });
  if (!request.trace.empty()) write_trace(request.trace, lines);
  if (request.picture.empty()) return "";
  const std::string picture = timeline_picture(lines, request);
  core::write_file(request.picture, [&](std::ostream& out) { out << picture; });
  return picture;
}

}  // namespace hplcast::study
