#include "hplcast/calibration/mpi_steps.hpp"

#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

MpiSteps::MpiSteps(const std::vector<std::string>& hosts, const MpiDesign& design, MpiPattern pattern, PeerChoice scope,
                   int warm_up_calls) {
  if (design.empty()) throw core::DomainError("rows of the design", 0.0, "at least 1");
  for (const MpiCall& call : design) {
    if ((call.pairs > 0) != (design.front().pairs > 0))
      throw core::DomainError("pairs", "absent in some rows of the design", "in all rows or in none");
    if (turns_.count(call.pairs) > 0) continue;
    turns_[call.pairs] =
        call.pairs > 0 ? turns_of_pairs(hosts, scope, call.pairs) : choose_turns(hosts, pattern, scope);
  }
  for (const auto& [pairs, turns] : turns_) {
    for (const MpiTurn& turn : turns)
      steps_.insert(steps_.end(), static_cast<std::size_t>(warm_up_calls), {&turn, 0, true, false});
  }
  for (std::size_t row = 0; row < design.size(); ++row) {
    const std::vector<MpiTurn>& turns = turns_.at(design[row].pairs);
    for (const MpiTurn& turn : turns) steps_.push_back({&turn, row, false, &turn == &turns.back()});
  }
  if (steps_.empty()) {
    throw core::Error(core::ExitCode::bad_input,
                      "there are too few ranks for every row of the design: " + summary() +
                          "\n  hint: n pairs inside a host need 2n ranks there, n pairs between two hosts n on each");
  }
}

std::string MpiSteps::summary() const {
  std::map<std::string, std::string> lists;
  for (const auto& [pairs, turns] : turns_) {
    const auto add = [&, count = pairs](const std::string& name) {
      std::string& list = lists[name];
      list += (list.empty() ? "" : ", ") + std::to_string(count);
    };
    for (const MpiTurn& turn : turns) add(turn.front().scope);
    if (turns.empty()) add("too few ranks for");
  }
  std::string text;
  for (const char* name : {"remote", "local", "too few ranks for"}) {
    if (lists.count(name) > 0) text += (text.empty() ? "" : "; ") + std::string(name) + " " + lists[name];
  }
  return text;
}

}  // namespace hplcast::calibration
