#include "study/activity/observed_ranks.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::study {

namespace {

constexpr double s_per_us = 1e-6;

template <typename Names>
std::uint8_t place_in(const Names& names, const std::string& name) {
  return static_cast<std::uint8_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Messages of a rank in the order in which it began them: by channel, the next number, and of those that do not block,
/// the ones that a wait has not ended yet.
struct Channels {
  std::map<std::tuple<bool, int, int>, std::uint32_t> next;
  std::map<std::tuple<bool, int, int>, std::vector<std::uint32_t>> open;
};

/// A wait says rank, tag and bytes of the message that it ends, not whether that was sent or received.
void number(ActivityEvent& event, Channels& channels) {
  if (is(event.name, "iprobe")) return;
  if (is(event.name, "wait")) {
    for (const bool sends : {true, false}) {
      auto& open = channels.open[{sends, event.peer, event.tag}];
      if (open.empty()) continue;
      event.sends = sends;
      event.number = open.front();
      open.erase(open.begin());
      return;
    }
    event.number = ActivityEvent::no_number;
    return;
  }
  event.sends = core::mpi_names[event.name] != std::string("recv") && !is(event.name, "irecv");
  const std::tuple channel(event.sends, event.peer, event.tag);
  event.number = channels.next[channel]++;
  const bool returns_at_once = is(event.name, "isend") || is(event.name, "issend") || is(event.name, "irecv");
  if (returns_at_once) channels.open[channel].push_back(event.number);
}

ActivityEvent event_of(const nlohmann::json& json) {
  ActivityEvent event;
  event.begin_s = json.at("ts").get<double>() * s_per_us;
  event.end_s = event.begin_s + json.at("dur").get<double>() * s_per_us;
  const std::string category = json.at("cat").get<std::string>();
  const std::string name = json.at("name").get<std::string>();
  if (category == "phase") {
    event.kind = ActivityEvent::Kind::phase;
    event.name = place_in(core::phase_names, name);
    return event;
  }
  const auto& arguments = json.at("args");
  if (category == "kernel") {
    event.kind = ActivityEvent::Kind::kernel;
    event.name = place_in(core::kernel_names, name);
    event.m = arguments.at("m").get<int>();
    event.n = arguments.at("n").get<int>();
    event.k = arguments.at("k").get<int>();
    return event;
  }
  event.kind = ActivityEvent::Kind::message;
  event.name = place_in(core::mpi_names, name);
  event.peer = arguments.at("peer").get<int>();
  event.tag = arguments.at("tag").get<int>();
  event.bytes = arguments.at("bytes").get<double>();
  return event;
}

struct SimulatedRank {
  RankActivity activity;
  Channels channels;
};

void add_event(SimulatedRank& rank, ActivityEvent event) {
  RankActivity& activity = rank.activity;
  if (event.kind == ActivityEvent::Kind::message) number(event, rank.channels);
  if (event.kind == ActivityEvent::Kind::kernel) {
    const core::KernelShape shape{static_cast<double>(event.m), static_cast<double>(event.n),
                                  static_cast<double>(event.k)};
    const auto kernel = static_cast<core::KernelId>(event.name);
    const int size_class = size_class_of(shape);
    auto found = std::find_if(
        activity.kernel_calls.begin(), activity.kernel_calls.end(),
        [&](const KernelCalls& calls) { return calls.kernel == kernel && calls.size_class == size_class; });
    if (found == activity.kernel_calls.end())
      found = activity.kernel_calls.insert(found, {kernel, size_class, 0, 0, {}});
    add(*found, shape, event.end_s - event.begin_s);
  }
  activity.events.push_back(event);
}

}  // namespace

std::vector<RankActivity> simulated_ranks(const std::filesystem::path& trace, int ranks) {
  std::vector<SimulatedRank> all(static_cast<std::size_t>(ranks));
  core::read_file(trace, [&](std::istream& in, const std::string& name) {
    std::size_t number = 0;
    try {
      // One event per line: so a large trace needs no tree of all of it.
      for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.compare(0, 6, "{\"ph\":") != 0) continue;
        if (line.back() == ',') line.pop_back();
        const auto json = core::parse_json<nlohmann::json>(line);
        if (json.at("ph") != "X") continue;
        add_event(all.at(json.at("tid").get<std::size_t>()), event_of(json));
      }
    } catch (const std::exception& error) {
      throw core::ParseError({name, number, ""}, std::string("not the trace of a simulation: ") + error.what());
    }
  });
  std::vector<RankActivity> result;
  for (int rank = 0; rank < ranks; ++rank) {
    RankActivity& activity = all[static_cast<std::size_t>(rank)].activity;
    activity.run = "simulated";
    activity.rank = rank;
    activity.ranks = ranks;
    for (const ActivityEvent& event : activity.events) activity.end_s = std::max(activity.end_s, event.end_s);
    result.push_back(std::move(activity));
  }
  return result;
}

}  // namespace hplcast::study
