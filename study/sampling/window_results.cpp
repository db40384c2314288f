#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/fit/least_squares.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/sampling/sampled_prediction.hpp"

namespace hplcast::study {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* file_name = "window.json";

std::string name_of(const RunPlan& plan) {
  const PredictionRequest& request = plan.request();
  const PanelWindow& window = *plan.window();
  std::ostringstream name;
  name << "hplcast " HPLCAST_VERSION " SimGrid " << linked_simgrid_version(simulated_hpl(request.programs)) << ' '
       << core::cluster_sha256(request.cluster) << ' ' << core::to_string(request.parameters) << " seed=" << plan.seed()
       << " mode=" << to_string(plan.mode()) << " noise=" << request.noise
       << (request.observation.phases ? " phases" : "") << (request.observation.energy ? " energy" : "")
       << " panels=" << window.first << '-' << window.simulated_to << " exact from " << window.exact_from << '\n';
  core::write_hpl_dat(name, request.parameters, false);
  return core::sha256_hex(name.str());
}

/// A count: its name in CountsAtPanels, and what a whole simulation has of it.
struct Quantity {
  std::string name;
  std::function<double(const core::Prediction&)> total;
};

/// What windows count becomes what the run counts.
class Integral {
 public:
  Integral(const WindowPlan& plan, const std::vector<HplSimulation>& simulations)
      : plan_(plan), simulations_(simulations) {}

  double operator()(const Quantity& quantity) const {
    const Curve curve = curve_of(quantity);
    double sum = 0;
    for (std::size_t i = 0; i < simulations_.size(); ++i) {
      const PanelWindow& window = plan_.windows[i];
      const bool ends = i + 1 == simulations_.size();
      // The first window begins with the set-up of the run, the last one ends with the solution.
      sum += (ends ? quantity.total(simulations_[i].prediction) : counted(quantity, i, window.counts_to)) -
             (i == 0 ? 0 : counted(quantity, i, window.counts_from));
      if (ends) break;
      for (int panel = window.counts_to; panel < plan_.windows[i + 1].counts_from; ++panel)
        sum += std::max(0.0, curve.at((panel + 0.5) / plan_.panels));
    }
    return sum;
  }

 private:
  /// Over the place in the run, 0 to 1: a quadratic, and how far windows are off it, linear from one to the next.
  struct Curve {
    std::vector<double> coefficients;
    std::vector<std::pair<double, double>> off;  ///< place and distance of each window

    static std::vector<double> terms(double place) { return {1, place, place * place}; }

    double quadratic(double place) const {
      const std::vector<double> row = terms(place);
      return std::inner_product(row.begin(), row.end(), coefficients.begin(), 0.0);
    }

    double at(double place) const {
      const auto right = std::find_if(off.begin(), off.end(), [&](const auto& window) { return window.first > place; });
      if (right == off.begin()) return quadratic(place) + right->second;
      const auto left = std::prev(right);
      if (right == off.end()) return quadratic(place) + left->second;
      const double share = (place - left->first) / (right->first - left->first);
      return quadratic(place) + left->second + share * (right->second - left->second);
    }
  };

  /// Until the panel begins; 0 for a name that the window does not have.
  double counted(const Quantity& quantity, std::size_t window, int panel) const {
    const CountsAtPanels& counts = simulations_[window].counts_at_panels;
    const auto found = counts.find(quantity.name);
    if (found == counts.end()) return 0;
    return found->second.at(static_cast<std::size_t>(panel - plan_.windows[window].first + 1));
  }

  Curve curve_of(const Quantity& quantity) const {
    fit::RegressionData data;
    data.columns.resize(3);
    std::vector<std::size_t> window_of;
    std::vector<double> places;
    for (std::size_t i = 0; i < simulations_.size(); ++i) {
      for (const PanelPiece& piece : steady_pieces(plan_, plan_.windows[i])) {
        places.push_back((piece.first + 0.5 * piece.panels) / plan_.panels);
        const std::vector<double> row = Curve::terms(places.back());
        for (std::size_t term = 0; term < row.size(); ++term) data.columns[term].push_back(row[term]);
        const double count = counted(quantity, i, piece.first + piece.panels) - counted(quantity, i, piece.first);
        data.y.push_back(count / piece.panels);
        window_of.push_back(i);
      }
    }
    Curve curve{fit::solve_least_squares(data).coefficients, {}};
    for (std::size_t begin = 0; begin < places.size();) {
      double place = 0, off = 0, pieces = 0;
      std::size_t end = begin;
      for (; end < places.size() && window_of[end] == window_of[begin]; ++end, ++pieces) {
        place += places[end];
        off += data.y[end] - curve.quadratic(places[end]);
      }
      curve.off.emplace_back(place / pieces, off / pieces);
      begin = end;
    }
    return curve;
  }

  const WindowPlan& plan_;
  const std::vector<HplSimulation>& simulations_;
};

/// The names that any of the windows has.
template <typename Map>
std::set<std::string> names(const std::vector<HplSimulation>& simulations, Map core::Prediction::*map) {
  std::set<std::string> all;
  for (const HplSimulation& one : simulations)
    for (const auto& [name, count] : one.prediction.*map) all.insert(name);
  return all;
}

/// A field of the count `name` in a map; 0 where it is not there.
template <typename Map, typename Field>
Quantity quantity(Map core::Prediction::*map, const std::string& kind, const std::string& name,
                  const std::string& field, Field member) {
  return {kind + "/" + name + "/" + field, [=](const core::Prediction& prediction) {
            const auto found = (prediction.*map).find(name);
            return found == (prediction.*map).end() ? 0.0 : static_cast<double>(found->second.*member);
          }};
}

std::uint64_t whole(double count) {
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, count)));
}

const core::PhaseSummary* find_phase(const core::Prediction& prediction, const std::string& name) {
  const auto& all = prediction.phases;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& phase) { return phase.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Mean over the ranks in one field of a phase.
double integrated(const Integral& integral, const core::PhaseField& field, const std::string& phase, int ranks) {
  return integral({"phases/" + phase + "/" + field.name,
                   [&](const core::Prediction& prediction) {
                     const core::PhaseSummary* found = find_phase(prediction, phase);
                     return found == nullptr ? 0.0 : ranks * found->*field.member;
                   }}) /
         ranks;
}

core::PhaseSummary integrated_phase(const Integral& integral, const std::vector<HplSimulation>& simulations,
                                    const std::string& name, int ranks) {
  core::PhaseSummary phase;
  phase.name = name;
  for (const core::PhaseField& field : core::phase_fields)
    if (field.member != &core::PhaseSummary::least_s && field.member != &core::PhaseSummary::most_s)
      phase.*field.member = std::max(0.0, integrated(integral, field, name, ranks));
  double mean = 0, least = 0, most = 0;
  for (const HplSimulation& one : simulations) {
    if (const core::PhaseSummary* found = find_phase(one.prediction, name)) {
      mean += found->elapsed_s;
      least += found->least_s;
      most += found->most_s;
    }
  }
  phase.least_s = mean > 0 ? phase.elapsed_s * least / mean : 0;
  phase.most_s = mean > 0 ? phase.elapsed_s * most / mean : 0;
  return phase;
}

void integrate_phases(const Integral& integral, const std::vector<HplSimulation>& simulations,
                      core::Prediction& prediction) {
  const int ranks = prediction.parameters.P * prediction.parameters.Q;
  double sum_s = 0;
  for (core::PhaseSummary& phase : prediction.phases) {
    phase = integrated_phase(integral, simulations, phase.name, ranks);
    sum_s += phase.elapsed_s;
  }
  for (core::PhaseSummary& phase : prediction.phases)
    for (const core::PhaseField& field : core::phase_fields) phase.*field.member *= prediction.time_s / sum_s;
}

const core::StateEnergy* find_state(const core::Prediction& prediction, const std::string& name) {
  if (!prediction.energy) return nullptr;
  const auto& all = prediction.energy->states;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& state) { return state.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Mean time over the ranks and energy of a state, not below 0.
core::StateEnergy integrated_state(const Integral& integral, const std::string& name, int ranks) {
  const auto sum = [&](const char* field, auto member, int times) {
    return std::max(0.0, integral({"states/" + name + "/" + field, [&](const core::Prediction& window) {
                                     const core::StateEnergy* state = find_state(window, name);
                                     return state == nullptr ? 0.0 : times * state->*member;
                                   }}));
  };
  return {name, sum("time_s", &core::StateEnergy::time_s, ranks) / ranks,
          sum("energy_j", &core::StateEnergy::energy_j, 1)};
}

/// States of cores are scaled as phases are. What hosts draw whatever their cores do goes with the time; how long they
/// are awake is the mean over the windows.
void integrate_energy(const Integral& integral, const std::vector<HplSimulation>& simulations,
                      core::Prediction& prediction) {
  if (!prediction.energy) return;
  const core::Prediction& first = simulations.front().prediction;
  core::Energy energy = *first.energy;
  energy.states.clear();
  std::set<std::string> names;
  double windows_s = 0, awake_s = 0, sum_s = 0;
  for (const HplSimulation& one : simulations) {
    for (const core::StateEnergy& state : one.prediction.energy->states) names.insert(state.name);
    windows_s += one.prediction.time_s;
    awake_s += one.prediction.energy->awake_share * one.prediction.time_s;
  }
  for (const std::string& name : names) {
    energy.states.push_back(integrated_state(integral, name, prediction.parameters.P * prediction.parameters.Q));
    sum_s += energy.states.back().time_s;
  }
  for (core::StateEnergy& state : energy.states) {
    state.time_s *= prediction.time_s / sum_s;
    state.energy_j *= prediction.time_s / sum_s;
  }
  const double longer = prediction.time_s / first.time_s;
  energy.idle_j *= longer;
  energy.network_j *= longer;
  if (energy.awake_share > 0) energy.awake_j *= longer * (awake_s / windows_s) / energy.awake_share;
  energy.awake_share = awake_s / windows_s;
  energy.add_up(prediction.time_s, prediction.gflops);
  prediction.energy = std::move(energy);
}

}  // namespace

WindowResult::WindowResult(const RunPlan& plan, const std::filesystem::path& folder)
    : path_(folder / file_name), request_(name_of(plan)) {}

std::optional<HplSimulation> WindowResult::read() const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return std::nullopt;
  Json json;
  core::read_file(path_, [&](std::istream& in, const std::string& name) {
    json = core::parse_json<Json>(core::read_json_text(in, name));
  });
  if (json.value("request", "") != request_) return std::nullopt;
  HplSimulation simulation;
  std::istringstream prediction(core::json_text(json.at("prediction")));
  simulation.prediction = core::read_prediction(prediction, path_.string());
  simulation.panel_marks_s = json.at("panel_marks_s").get<std::vector<double>>();
  simulation.counts_at_panels = json.at("counts_at_panels").get<CountsAtPanels>();
  return simulation;
}

void WindowResult::write(const HplSimulation& simulation) const {
  std::ostringstream prediction;
  core::write_prediction(prediction, simulation.prediction);
  const Json json = {{"request", request_},
                     {"prediction", core::parse_json<Json>(prediction.str())},
                     {"panel_marks_s", simulation.panel_marks_s},
                     {"counts_at_panels", simulation.counts_at_panels}};
  core::write_file(path_, [&](std::ostream& out) { out << core::json_text(json, 1) << '\n'; });
}

void integrate_counts(const WindowPlan& plan, const std::vector<HplSimulation>& simulations,
                      core::Prediction& prediction) {
  const Integral integral(plan, simulations);
  using core::KernelCount;
  using core::MessageCount;
  using core::Prediction;
  for (const std::string& name : names(simulations, &Prediction::kernels)) {
    const auto of = [&](const char* field, auto member) {
      return integral(quantity(&Prediction::kernels, "kernels", name, field, member));
    };
    const std::uint64_t calls = whole(of("calls", &KernelCount::calls));
    prediction.kernels[name] = {calls, std::min(calls, whole(of("outside_range", &KernelCount::outside_range))),
                                of("time_s", &KernelCount::time_s), of("flop", &KernelCount::flop)};
  }
  for (const std::string& name : names(simulations, &Prediction::messages)) {
    const auto of = [&](const char* field, auto member) {
      return integral(quantity(&Prediction::messages, "messages", name, field, member));
    };
    const std::uint64_t calls = whole(of("calls", &MessageCount::calls));
    prediction.messages[name] = {calls, std::min(calls, whole(of("outside_range", &MessageCount::outside_range))),
                                 of("bytes", &MessageCount::bytes)};
  }
  const int ranks = prediction.parameters.P * prediction.parameters.Q;
  const double detours_s =
      integral({"detours/all/time_s", [ranks](const Prediction& window) { return ranks * window.detours_s; }});
  prediction.detours_s = std::max(0.0, detours_s) / ranks;
  integrate_phases(integral, simulations, prediction);
  integrate_energy(integral, simulations, prediction);
}

}  // namespace hplcast::study
