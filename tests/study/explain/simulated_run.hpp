// Files of a real run, made of a simulation: what is in them is known exactly, so faults can be planted in the model.
#pragma once

#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>

#include "hplcast/core/files.hpp"
#include "hplcast/study/explain.hpp"
#include "hplcast/study/predict.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/explain/explain_parts.hpp"

namespace hplcast::study::testing {

/// The innermost phase that an event lies in.
inline std::uint8_t phase_around(const ActivityEvent& event, const std::vector<ActivityEvent>& events) {
  const double middle_s = (event.begin_s + event.end_s) / 2;
  const ActivityEvent* found = nullptr;
  for (const ActivityEvent& phase : events) {
    if (phase.kind != ActivityEvent::Kind::phase || phase.begin_s > middle_s || phase.end_s < middle_s) continue;
    if (found == nullptr || phase.end_s - phase.begin_s < found->end_s - found->begin_s) found = &phase;
  }
  return found == nullptr ? 0 : found->name;
}

inline void write_sum(std::ostream& out, const char* kind, const std::string& phase, const char* name,
                      const CallSum& sum) {
  if (sum.calls > 0)
    out << kind << ',' << phase << ',' << name << ',' << sum.calls << ',' << sum.time_s << ',' << sum.amount << '\n';
}

/// run-RANK.activity, as xhpl-instrumented would have written it in the place of a simulated rank.
inline void write_activity(std::ostream& out, const RankActivity& rank, const core::HplParameters& p,
                           const std::string& host, int first_rank_of_host, const std::vector<RankPhases>& phases) {
  out << std::setprecision(12) << "hplcast-activity,2\nrun,1\nrank," << rank.rank << ',' << rank.ranks << "\nhost,"
      << host << ',' << first_rank_of_host << "\ntimed,1,0," << rank.end_s << "\nhpl," << p.N << ',' << p.NB << ','
      << p.P << ',' << p.Q << "\ncpu,-1,-1\n";
  std::array<PhaseSums, core::phase_names.size()> sums{};
  std::vector<ActivityEvent> events;
  for (ActivityEvent event : rank.events) {
    event.phase = phase_around(event, rank.events);
    if (event.kind == ActivityEvent::Kind::phase) {
      events.push_back(event);
      continue;
    }
    PhaseSums& phase = sums[event.phase];
    CallSum& sum = event.kind == ActivityEvent::Kind::kernel ? phase.kernels[event.name] : phase.messages[event.name];
    ++sum.calls;
    sum.time_s += event.end_s - event.begin_s;
    if (event.kind != ActivityEvent::Kind::message) continue;
    if (is(event.name, "iprobe")) phase.empty_probes = sum;
    events.push_back(event);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (const RankPhases& phase : phases)
      if (phase.name == core::phase_names[i])
        out << "phase," << phase.name << ',' << phase.elapsed_s[static_cast<std::size_t>(rank.rank)] << '\n';
    for (std::size_t j = 0; j < core::kernel_names.size(); ++j)
      write_sum(out, "kernel", core::phase_names[i], core::kernel_names[j], sums[i].kernels[j]);
    for (std::size_t j = 0; j < core::mpi_names.size(); ++j)
      write_sum(out, "mpi", core::phase_names[i], core::mpi_names[j], sums[i].messages[j]);
    write_sum(out, "empty", core::phase_names[i], "iprobe", sums[i].empty_probes);
  }
  for (const KernelCalls& calls : rank.kernel_calls) {
    out << "calls," << core::to_string(calls.kernel) << ',' << calls.size_class << ',' << calls.calls << ','
        << calls.time_s;
    for (const double sum : calls.sums) out << ',' << sum;
    out << '\n';
  }
  if (rank.rank == 0 && rank.ranks > 1)
    for (int other = 1; other < rank.ranks; ++other)
      out << "clock," << other << ",0,0,0\nclock," << other << ",1,0,0\n";
  out << "overhead,0\nevents," << events.size() << ",1,0\n" << std::setprecision(9) << std::fixed;
  for (const ActivityEvent& event : events) {
    const bool phase = event.kind == ActivityEvent::Kind::phase;
    out << (phase ? "P," : "M,") << event.begin_s << ',' << event.end_s << ",-1,"
        << (phase ? core::phase_names[event.name] : core::mpi_names[event.name]);
    if (!phase)
      out << ',' << core::phase_names[event.phase] << ',' << event.peer << ',' << event.tag << ','
          << std::setprecision(0) << event.bytes << std::setprecision(9) << ',' << (event.sends ? "out" : "in") << ','
          << event.number;
    out << '\n';
  }
  out << "end\n";
}

/// Simulates `request` and writes what a real run of the same would have left into `folder`.
inline ObservedRun observed_simulation(PredictionRequest request, const std::filesystem::path& folder) {
  request.mode = SimulationMode::exact;
  request.windows.kind = WindowRule::Kind::off;
  request.observation.trace = folder / "trace.json";
  request.observation.phases_csv = folder / "phases.csv";
  const core::Prediction prediction = predict(request);
  const std::vector<RankPhases> phases = read_phases_csv(request.observation.phases_csv);
  const core::HplParameters& p = request.parameters;
  const core::Hosts& hosts = request.cluster.hosts;
  for (const RankActivity& rank : simulated_ranks(request.observation.trace, p.P * p.Q)) {
    std::ofstream out(folder / ("run-" + std::to_string(rank.rank) + ".activity"));
    const int host = rank.rank / hosts.values().cores;
    write_activity(out, rank, p, hosts.names()[static_cast<std::size_t>(host)], host * hosts.values().cores, phases);
  }
  nlohmann::ordered_json json = {{"time_s", prediction.time_s}, {"gflops", prediction.gflops}};
  for (const core::HplField& field : core::hpl_fields()) json["parameters"][field.name] = field.get(p);
  std::ofstream(folder / "phases.json") << json.dump(2);
  return observed_runs(folder).front();
}

}  // namespace hplcast::study::testing
