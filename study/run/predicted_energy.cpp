#include "study/run/hpl_simulation.hpp"

#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

void require_power(const core::ClusterModel& cluster) {
  if (cluster.power) return;
  throw core::DomainError("power of cluster " + cluster.name, "missing", "watts of its hosts",
                          "the energy of a run needs `power` in cluster.json: docs/use/energy.md");
}

std::vector<std::string> power_warnings(const core::ClusterModel& cluster) {
  if (!cluster.power) return {};
  std::string names;
  for (const core::CoreState state : core::unstated(*cluster.power))
    names += (names.empty() ? "" : ", ") + std::string(core::to_string(state));
  if (names.empty()) return {};
  return {"power of " + cluster.name + " does not say what a core adds while it is in: " + names +
          "; taken as 0 W, which real cores do not have: waiting alone was 9 to 17 % of a node's power "
          "(docs/use/energy.md)"};
}

core::Energy added_energy(const core::ClusterModel& cluster, int ranks, double time_s, double gflops,
                          core::Energy counted) {
  for (core::StateEnergy& state : counted.states) state.time_s /= ranks;
  counted.add_up(time_s, gflops);
  for (const core::CoreState state : core::unstated(*cluster.power))
    counted.unstated.emplace_back(core::to_string(state));
  return counted;
}

core::Energy energy_of(const RunPlan& plan, const core::Prediction& prediction, const core::SimulatedEnergy& counted) {
  core::Energy energy =
      added_energy(plan.cluster(), plan.ranks(), prediction.time_s, prediction.gflops, counted.energy);
  if (!plan.window()) energy.levels = core::power_levels(counted.trace);
  return energy;
}

void write_power_csv(const std::filesystem::path& path, const core::PowerTrace& trace) {
  core::write_file(path, [&](std::ostream& out) {
    out << "time_s,duration_s,power_w";
    for (const core::PowerTrace::Host& host : trace.hosts) out << ',' << core::csv_field(host.name);
    out << '\n';
    for (std::size_t i = 0; i < trace.bins_j.size(); ++i) {
      out << core::shortest(static_cast<double>(i) * trace.bin_s) << ',' << core::shortest(trace.duration_s(i)) << ','
          << core::shortest(trace.power_w(trace.bins_j, i));
      for (const core::PowerTrace::Host& host : trace.hosts)
        out << ',' << core::shortest(trace.power_w(host.bins_j, i));
      out << '\n';
    }
  });
}

}  // namespace hplcast::study
