#include "program_phases.hpp"

#include <algorithm>
#include <array>

#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

/// Names as the runtime gives them (smpi-models/src/program_times.cpp).
std::string group_of(const std::string& name) {
  constexpr std::array own = {"the rest", "clock", "other", "ended"};
  if (std::find(own.begin(), own.end(), name) != own.end()) return name;
  if (core::begins_with(name, "region ")) return "regions";
  return core::begins_with(name, "MPI_") ? "MPI" : "routines";
}

void add(std::vector<double>& to, const std::vector<double>& values) {
  if (to.size() < values.size()) to.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) to[i] += values[i];
}

}  // namespace

std::vector<RankPhases> grouped(const std::vector<RankPhases>& phases) {
  std::vector<RankPhases> groups;
  for (const RankPhases& phase : phases) {
    const std::string name = group_of(phase.name);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const RankPhases& one) { return one.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}, {}, {}, {}});
    add(group->elapsed_s, phase.elapsed_s);
    add(group->kernels_s, phase.kernels_s);
    add(group->messages_s, phase.messages_s);
    add(group->waiting_s, phase.waiting_s);
    add(group->detours_s, phase.detours_s);
  }
  return groups;
}

}  // namespace hplcast::study
