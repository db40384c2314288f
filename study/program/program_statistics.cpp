#include <algorithm>
#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "hplcast/core/energy.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/program/simulated_program.hpp"

namespace hplcast::study {

using Json = nlohmann::ordered_json;

namespace {

RoutineUse use_from(const Json& json) {
  RoutineUse use;
  use.calls = json.at("calls").get<double>();
  use.outside_range = json.value("outside_range", 0.0);
  use.time_s = json.at("time_s").get<double>();
  use.flop = json.value("flop", 0.0);
  use.has_model = json.at("has_model").get<bool>();
  return use;
}

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

}  // namespace

ProgramStatistics read_program_statistics(std::istream& in, const std::string& name) {
  ProgramStatistics statistics;
  const std::string text = core::read_json_text(in, name);
  std::istringstream again(text);
  statistics.counted = read_statistics(again, name);
  try {
    const Json json = core::parse_json<Json>(text);
    ProgramRun& run = statistics.run;
    run.simulator = json.at("simulator").get<std::string>();
    run.model_sha256 = json.at("model_sha256").get<std::string>();
    run.time_s = json.at("end_s").get<double>();
    statistics.deadlock = json.at("deadlock").get<bool>();
    if (json.contains("detours_s"))
      for (const double detours_s : json.at("detours_s").get<std::vector<double>>()) run.detours_s += detours_s;
    if (!json.contains("program")) return statistics;
    const Json& program = json.at("program");
    for (const auto& [routine, use] : program.at("routines").items()) run.routines[routine] = use_from(use);
    for (const auto& [region, use] : program.at("regions").items()) run.regions[region] = use_from(use);
    statistics.unfinished = program.at("unfinished").get<std::vector<int>>();
    run.rest_s = program.at("rest_s").get<double>();
    run.untimed_s = program.at("untimed_s").get<double>();
    run.untimed_intervals = program.at("untimed_intervals").get<double>();
    run.messages = program.at("messages").get<double>();
    run.message_bytes = program.at("message_bytes").get<double>();
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("not the statistics of a simulated program: ") + error.what());
  }
  return statistics;
}

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

namespace {

/// Names as the runtime gives them (smpi-models/program/program_times.cpp).
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
