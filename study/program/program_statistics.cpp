#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/core/text.hpp"
#include "study/program/simulated_program.hpp"

namespace hplcast::study {

using Json = nlohmann::ordered_json;

namespace {

Json json_of(const std::map<std::string, RoutineUse>& uses) {
  Json json = Json::object();
  for (const auto& [name, use] : uses) {
    json[name] = {{"calls", use.calls},
                  {"outside_range", use.outside_range},
                  {"time_s", use.time_s},
                  {"flop", use.flop},
                  {"has_model", use.has_model}};
  }
  return json;
}

/// Names as the runtime gives them (smpi-models/program/program_times.cpp).
std::string group_of(const std::string& name) {
  constexpr std::array own = {"the rest", "clock", "other", "ended"};
  if (std::find(own.begin(), own.end(), name) != own.end()) return name;
  if (core::begins_with(name, "region ")) return "regions";
  return core::begins_with(name, "MPI_") ? "MPI" : "routines";
}

}  // namespace

void write_program_run(std::ostream& out, const ProgramRun& run, const std::vector<std::string>& warnings) {
  Json json = {{"schema_version", 1},
               {"command", run.command},
               {"cluster", run.cluster},
               {"model_sha256", run.model_sha256},
               {"simulator", run.simulator},
               {"ranks", run.ranks},
               {"seed", run.seed},
               {"rest", to_string(run.rest)},
               {"time_s", run.time_s},
               {"wall_s", run.wall_s},
               {"peak_pss_bytes", run.peak_pss_bytes},
               {"routines_s", run.routines_s()},
               {"regions_s", run.regions_s()},
               {"rest_s", run.rest_s},
               {"detours_s", run.detours_s},
               {"untimed_s", run.untimed_s},
               {"untimed_intervals", run.untimed_intervals},
               {"messages", run.messages},
               {"message_bytes", run.message_bytes},
               {"routines", json_of(run.routines)},
               {"regions", json_of(run.regions)},
               {"warnings", warnings},
               {"output", run.output}};
  for (const core::PhaseSummary& phase : run.phases)
    for (const core::PhaseField& field : core::phase_fields)
      if (field.required || phase.*field.member != 0) json["phases"][phase.name][field.name] = phase.*field.member;
  if (run.energy) json["energy"] = core::parse_json<Json>(core::energy_text(*run.energy));
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::vector<RankPhases> grouped(const std::vector<RankPhases>& phases) {
  std::vector<RankPhases> groups;
  for (const RankPhases& phase : phases) {
    const std::string name = group_of(phase.name);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const RankPhases& one) { return one.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}, {}, {}, {}});
    for (const RankPhaseField& field : rank_phase_fields) {
      std::vector<double>& sums = (*group).*field.member;
      const std::vector<double>& times_s = phase.*field.member;
      sums.resize(std::max(sums.size(), times_s.size()));
      for (std::size_t i = 0; i < times_s.size(); ++i) sums[i] += times_s[i];
    }
  }
  return groups;
}

}  // namespace hplcast::study
