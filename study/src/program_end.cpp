#include "program_end.hpp"

#include <cstring>
#include <regex>
#include <sstream>
#include <vector>

namespace hplcast::study {

namespace {

struct RankEnd {
  int rank;
  std::string code;
};

/// "[node-1:RANK:(2) 0.5] ...: SMPI process did not return 0. Return value : 3", for each rank that ended in this way.
std::vector<RankEnd> rank_ends(const std::string& output) {
  static const std::regex line_of_smpi(
      R"(\[[^\]]*:([0-9]{1,9}):\([0-9]+\) [^\]]*\].*SMPI process did not return 0\. Return value : (-?[0-9]+))");
  std::vector<RankEnd> ends;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("SMPI process did not return 0") == std::string::npos || line.size() > 4096) continue;
    std::smatch match;
    if (std::regex_search(line, match, line_of_smpi)) ends.push_back({std::stoi(match[1]), match[2]});
  }
  return ends;
}

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t most = 4;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text + (ranks.size() > most ? " and " + std::to_string(ranks.size() - most) + " more" : "");
}

std::string how_program_ended(const core::Command& command, const core::CommandResult& result,
                              const std::string& output) {
  if (result.timed_out) return core::how_it_ended(command, result);
  if (const std::vector<RankEnd> ends = rank_ends(output); !ends.empty()) {
    std::vector<int> ranks;
    for (const RankEnd& end : ends)
      if (end.code == ends.front().code) ranks.push_back(end.rank);
    return "the program ended with exit code " + ends.front().code + " on " + ranks_text(ranks);
  }
  constexpr int signals = 128, most_signals = 64;
  if (result.status > signals && result.status <= signals + most_signals)
    return "the program was ended by signal " + std::to_string(result.status - signals) + " (" +
           ::strsignal(result.status - signals) + ")";
  return core::how_it_ended(command, result);
}

}  // namespace hplcast::study
