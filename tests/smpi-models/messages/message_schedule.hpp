// Schedules of messages for the program messages_probe: written, played through SMPI and by hplcast, and compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/smpi-models/simulation.hpp"

namespace hplcast::tests {

/// What one rank does, at a time or after what it does before.
struct MessageAction {
  double at_s = 0;
  std::string what;  ///< send, ssend, isend, issend, recv, irecv, wait, probe, exsend (sends while it receives), join
  int peer = 0;
  int tag = 0;
  int bytes = 0;
  int request = 0;         ///< of isend, issend, irecv, and of the wait that belongs to it; of exsend the bytes that it
                           ///< receives; of join the number of a broadcast, whose root is the peer
  std::size_t part = 0;    ///< of the schedule
  double part_starts = 0;  ///< s
};

/// The actions of all ranks, in parts that do not meet: what the ranks of one part do is over when the next begins.
struct MessageSchedule {
  std::vector<std::vector<MessageAction>> ranks;
  std::vector<std::string> parts;  ///< what they are

  void add(int rank, const MessageAction& action) { ranks.at(static_cast<std::size_t>(rank)).push_back(action); }
};

/// When the actions of each rank returned, in s, and what its probes found.
struct PlayedSchedule {
  std::vector<std::vector<double>> returned_s;
  std::vector<std::vector<int>> found;
};

inline PlayedSchedule read_played(const std::string& output, std::size_t ranks) {
  PlayedSchedule played;
  played.returned_s.resize(ranks);
  played.found.resize(ranks);
  std::istringstream in(output);
  std::string word;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::size_t rank = 0;
    std::size_t number = 0;
    std::string what;
    std::string value;
    if (!(words >> rank >> what >> number >> value) || rank >= ranks) continue;
    if (what == "returned") played.returned_s[rank].push_back(std::strtod(value.c_str(), nullptr));
    if (what == "found") played.found[rank].push_back(std::atoi(value.c_str()));
  }
  return played;
}

/// Enough of what a failed program said, without the times before.
inline std::string last_lines(const std::string& output) {
  constexpr std::size_t most = 2000;
  return output.substr(output.size() - std::min(output.size(), most));
}

/// `way`: smpi or direct.
inline PlayedSchedule play(const MessageSchedule& schedule, Simulation simulation, const std::string& way,
                           const std::string& name) {
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    core::write_file(simulation_folder(name) / ("schedule-" + std::to_string(rank)), [&](std::ostream& out) {
      out.precision(17);
      for (const MessageAction& a : schedule.ranks[rank]) {
        out << a.at_s << ' ' << a.what << ' ' << a.peer << ' ' << a.tag << ' ' << a.bytes << ' ' << a.request << '\n';
      }
    });
  }
  simulation.ranks = static_cast<int>(schedule.ranks.size());
  simulation.platform = PlatformKind::library;
  simulation.program = HPLCAST_MESSAGES_PROBE;
  simulation.settings.diagnosis.direct_messages = way == "direct";
  const core::CommandResult result = simulate(simulation, name);
  EXPECT_EQ(result.status, 0) << last_lines(result.output);
  EXPECT_NE(result.output.find("0 way " + way), std::string::npos) << "messages went another way";
  return read_played(result.output, schedule.ranks.size());
}

/// How far two times of one action may be apart.
struct MessageTolerance {
  double absolute_s = 0;
  double relative = 0;  ///< of the time since its part of the schedule began
};

/// Plays the schedule both ways and expects all calls of all ranks to return at the same times. The first differences
/// of a schedule are told one by one.
inline void expect_same_times(const MessageSchedule& schedule, const Simulation& simulation,
                              const MessageTolerance& tolerance, const std::string& name) {
  const PlayedSchedule smpi = play(schedule, simulation, "smpi", name);
  const PlayedSchedule direct = play(schedule, simulation, "direct", name);
  EXPECT_EQ(direct.found, smpi.found);
  std::multimap<double, std::string> differences;  // the first of them says most
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::vector<MessageAction>& actions = schedule.ranks[rank];
    ASSERT_EQ(smpi.returned_s[rank].size(), actions.size()) << "rank " << rank << " through SMPI";
    ASSERT_EQ(direct.returned_s[rank].size(), actions.size()) << "rank " << rank << " by hplcast";
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const double expected_s = smpi.returned_s[rank][i] - actions[i].part_starts;
      const double difference_s = direct.returned_s[rank][i] - smpi.returned_s[rank][i];
      const double allowed_s = tolerance.absolute_s + tolerance.relative * std::abs(expected_s);
      if (std::abs(difference_s) <= allowed_s) continue;
      std::ostringstream text;
      text << schedule.parts.at(actions[i].part) << ": rank " << rank << ", " << actions[i].what << " of "
           << actions[i].bytes << " bytes returned " << std::setprecision(17) << expected_s
           << " s after its start through SMPI, by hplcast " << difference_s << " s later";
      differences.emplace(smpi.returned_s[rank][i], text.str());
    }
  }
  constexpr std::ptrdiff_t told_one_by_one = 10;
  const auto told =
      std::next(differences.begin(), std::min(told_one_by_one, static_cast<std::ptrdiff_t>(differences.size())));
  for (auto each = differences.begin(); each != told; ++each) ADD_FAILURE() << each->second;
  EXPECT_EQ(differences.size(), 0U) << "calls that returned at other times";
}

}  // namespace hplcast::tests
