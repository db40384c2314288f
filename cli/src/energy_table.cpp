#include "energy_table.hpp"

#include <algorithm>
#include <ostream>

#include "output.hpp"

namespace hplcast::cli {

namespace {

/// The states that take the most energy; the small ones together.
std::vector<core::StateEnergy> largest_states(const core::Energy& energy, double time_s) {
  constexpr double small = 0.005;
  std::vector<core::StateEnergy> large;
  core::StateEnergy rest{"others", 0, 0};
  for (const core::StateEnergy& state : energy.states) {
    if (state.time_s >= small * time_s || state.energy_j >= small * energy.energy_j) {
      large.push_back(state);
    } else {
      rest.time_s += state.time_s;
      rest.energy_j += state.energy_j;
    }
  }
  std::stable_sort(large.begin(), large.end(), [](const auto& a, const auto& b) { return a.time_s > b.time_s; });
  if (rest.time_s > 0) large.push_back(rest);
  return large;
}

void write_levels(std::ostream& out, const core::Prediction& prediction) {
  constexpr double minute_s = 60;
  const core::Energy& energy = *prediction.energy;
  if (!energy.levels) {
    out << "Green500: "
        << (prediction.sampling            ? "levels need the power over time of all panels (--windows off)\n"
            : prediction.time_s < minute_s ? "no level allows a run of less than a minute\n"
                                           : "levels need the power in bins of at most a second (--bin)\n");
    return;
  }
  const core::PowerLevels& levels = *energy.levels;
  const auto [least, most] = std::minmax_element(levels.level2_w.begin(), levels.level2_w.end());
  out << "Green500: level 1 " << significant(levels.level1_w, 5) << " W; level 2 tenths of " << significant(*least, 5)
      << " to " << significant(*most, 5) << " W; level 3 " << significant(levels.level3_j / 1e3, 5) << " kJ\n";
  for (const core::SamplingError& one : levels.sampling)
    out << "  a sample every " << significant(one.interval_s, 3) << " s: " << one.samples << " samples, off by at most "
        << percent(one.worst) << ", " << percent(one.mean) << " on average\n";
}

}  // namespace

void write_energy(std::ostream& out, const std::string& of, const core::Energy& energy, double run_s) {
  constexpr double large_j = 1e5;
  const bool large = energy.energy_j >= large_j;
  out << "\nEnergy by what draws it, " << of << '\n';
  TextTable table({"what", "time [s]", "share", large ? "energy [kJ]" : "energy [J]", "share"});
  const auto add = [&](const std::string& what, double time_s, double energy_j) {
    table.add({what, significant(time_s), percent(time_s / run_s), significant(large ? energy_j / 1e3 : energy_j),
               percent(energy.energy_j > 0 ? energy_j / energy.energy_j : 0)});
  };
  add("hosts, idle", run_s, energy.idle_j);
  add("hosts, awake", energy.awake_share * run_s, energy.awake_j);
  if (energy.network_j > 0) add("network", run_s, energy.network_j);
  for (const core::StateEnergy& state : largest_states(energy, run_s)) add(state.name, state.time_s, state.energy_j);
  table.write(out);
}

void write_energy(std::ostream& out, const core::Prediction& prediction) {
  write_energy(out, core::to_string(prediction.parameters) + " seed=" + std::to_string(prediction.seed),
               *prediction.energy, prediction.time_s);
  write_levels(out, prediction);
}

}  // namespace hplcast::cli
