#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <type_traits>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/least_squares.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/sampling/sampled_prediction.hpp"

namespace hplcast::study {

namespace {

std::string name_of(const RunPlan& plan) {
  const PredictionRequest& request = plan.request();
  const PanelWindow& window = *plan.window();
  const core::HplParameters parameters = core::same_until(window.simulated_to, request.parameters);
  std::ostringstream name;
  name << "hplcast " HPLCAST_VERSION " SimGrid " << linked_simgrid_version(simulated_hpl(request.programs)) << ' '
       << core::cluster_sha256(request.cluster) << ' ' << core::to_string(parameters) << " seed=" << plan.seed()
       << " mode=" << to_string(plan.mode()) << " noise=" << request.noise
       << (request.observation.phases ? " phases" : "") << (request.observation.energy ? " energy" : "")
       << " panels=" << window.first << '-' << window.simulated_to << " exact from " << window.exact_from
       << (window.out_of_step ? " out of step\n" : "\n");
  core::write_hpl_dat(name, parameters, false);
  return core::sha256_hex(name.str());
}

constexpr const char* file_name = "window.json";

/// Where the next run finds it that has the same window.
fs::path left_for_others(const RunPlan& plan) {
  return plan.request().shared_windows / (name_of(plan) + ".json");
}

/// Hands every count of a prediction to `visit(name, count)`, which may change it: the name is that in
/// core::CountsAtPanels, the count a sum over the ranks. Sums of times are then at least 0.
template <typename Visit>
void visit_counts(core::Prediction& prediction, const Visit& visit) {
  const auto visit_fields = [&](const std::string& kind, auto& counts) {
    for (auto& [name, count] : counts) {
      const auto field = [&, prefix = kind + "/" + name + "/"](const char* key, auto& value) {
        visit(prefix + key, value);
      };
      describe(field, count);
    }
  };
  visit_fields("kernels", prediction.kernels);
  visit_fields("messages", prediction.messages);
  const int ranks = prediction.parameters.P * prediction.parameters.Q;
  const auto visit_mean = [&](const std::string& name, double& mean) {
    double sum = ranks * mean;
    visit(name, sum);
    mean = std::max(0.0, sum) / ranks;
  };
  visit_mean("detours/all/time_s", prediction.detours_s);
  for (core::PhaseSummary& phase : prediction.phases)
    for (const core::PhaseField& field : core::phase_fields)
      if (field.member != &core::PhaseSummary::least_s && field.member != &core::PhaseSummary::most_s)
        visit_mean("phases/" + phase.name + "/" + field.name, phase.*field.member);
  if (!prediction.energy) return;
  for (core::StateEnergy& state : prediction.energy->states) {
    visit_mean("states/" + state.name + "/time_s", state.time_s);
    visit("states/" + state.name + "/energy_j", state.energy_j);
  }
}

/// Counts of the whole run from those of its windows.
class Integral {
 public:
  Integral(const WindowPlan& plan, const std::vector<HplSimulation>& simulations)
      : plan_(plan), simulations_(simulations) {
    core::Prediction last = simulations.back().prediction;
    visit_counts(last, [&](const std::string& name, auto& count) { at_end_[name] = static_cast<double>(count); });
  }

  double operator()(const std::string& name) const {
    const Curve curve = curve_of(name);
    double sum = 0;
    for (std::size_t i = 0; i < simulations_.size(); ++i) {
      const PanelWindow& window = plan_.windows[i];
      const bool ends = i + 1 == simulations_.size();
      // The first window begins with the set-up of the run, the last one ends with the solution.
      sum += (ends ? total_at_end(name) : counted(name, i, window.counts_to)) -
             (i == 0 ? 0 : counted(name, i, window.counts_from));
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

  double total_at_end(const std::string& name) const {
    const auto found = at_end_.find(name);
    return found == at_end_.end() ? 0 : found->second;
  }

  /// Until the panel begins; 0 for a name that the window does not have.
  double counted(const std::string& name, std::size_t window, int panel) const {
    const core::CountsAtPanels& counts = simulations_[window].panels.counts;
    const auto found = counts.find(name);
    if (found == counts.end()) return 0;
    return found->second.at(static_cast<std::size_t>(panel - plan_.windows[window].first + 1));
  }

  Curve curve_of(const std::string& name) const {
    fit::RegressionData data;
    data.columns.resize(3);
    std::vector<std::size_t> window_of;
    std::vector<double> places;
    for (std::size_t i = 0; i < simulations_.size(); ++i) {
      for (const PanelPiece& piece : steady_pieces(plan_, plan_.windows[i])) {
        places.push_back((piece.first + 0.5 * piece.panels) / plan_.panels);
        const std::vector<double> row = Curve::terms(places.back());
        for (std::size_t term = 0; term < row.size(); ++term) data.columns[term].push_back(row[term]);
        const double count = counted(name, i, piece.first + piece.panels) - counted(name, i, piece.first);
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
  std::map<std::string, double> at_end_;  ///< all that the last window counts
};

/// The extremes over ranks are as far from the mean as in the windows; all times add up to that of the prediction.
void scale_phases(const std::vector<HplSimulation>& simulations, core::Prediction& prediction) {
  double sum_s = 0;
  for (core::PhaseSummary& phase : prediction.phases) {
    double mean = 0, least = 0, most = 0;
    for (const HplSimulation& one : simulations) {
      for (const core::PhaseSummary& counted : one.prediction.phases) {
        if (counted.name != phase.name) continue;
        mean += counted.elapsed_s;
        least += counted.least_s;
        most += counted.most_s;
      }
    }
    phase.least_s = mean > 0 ? phase.elapsed_s * least / mean : 0;
    phase.most_s = mean > 0 ? phase.elapsed_s * most / mean : 0;
    sum_s += phase.elapsed_s;
  }
  for (core::PhaseSummary& phase : prediction.phases)
    for (const core::PhaseField& field : core::phase_fields) phase.*field.member *= prediction.time_s / sum_s;
}

/// States of cores are scaled as phases are. What hosts draw whatever their cores do goes with the time; how long they
/// are awake is the mean over the windows.
void scale_energy(const std::vector<HplSimulation>& simulations, core::Prediction& prediction) {
  core::Energy& energy = *prediction.energy;
  double windows_s = 0, awake_s = 0, sum_s = 0;
  for (const HplSimulation& one : simulations) {
    windows_s += one.prediction.time_s;
    awake_s += one.prediction.energy->awake_share * one.prediction.time_s;
  }
  for (const core::StateEnergy& state : energy.states) sum_s += state.time_s;
  for (core::StateEnergy& state : energy.states) {
    state.time_s *= prediction.time_s / sum_s;
    state.energy_j = std::max(0.0, state.energy_j) * (prediction.time_s / sum_s);
  }
  const double longer = prediction.time_s / simulations.front().prediction.time_s;
  energy.idle_j *= longer;
  energy.network_j *= longer;
  if (energy.awake_share > 0) energy.awake_j *= longer * (awake_s / windows_s) / energy.awake_share;
  energy.awake_share = awake_s / windows_s;
  energy.add_up(prediction.time_s, prediction.gflops);
}

/// All kernels, messages and states that any of the windows has.
void take_names(const std::vector<HplSimulation>& simulations, core::Prediction& prediction) {
  std::set<std::string> states;
  for (const HplSimulation& one : simulations) {
    prediction.kernels.insert(one.prediction.kernels.begin(), one.prediction.kernels.end());
    prediction.messages.insert(one.prediction.messages.begin(), one.prediction.messages.end());
    if (!one.prediction.energy) continue;
    for (const core::StateEnergy& state : one.prediction.energy->states) states.insert(state.name);
  }
  if (!prediction.energy) return;
  prediction.energy->states.clear();
  for (const std::string& name : states) prediction.energy->states.push_back({name, 0, 0});
}

}  // namespace

std::optional<HplSimulation> read_window(const RunPlan& plan, const fs::path& folder) {
  const fs::path path = folder / file_name;
  std::error_code error;
  if (!plan.request().shared_windows.empty()) {
    fs::create_directories(folder, error);
    fs::rename(left_for_others(plan), path, error);
  }
  if (!fs::exists(path, error)) return std::nullopt;
  const Json json = core::parse_json<Json>(core::read_from(path, core::read_json_text));
  if (json.value("request", "") != name_of(plan)) return std::nullopt;
  HplSimulation simulation;
  std::vector<double>& marks = simulation.panels.marks_s;
  core::CountsAtPanels& counts = simulation.panels.counts;
  try {
    simulation.prediction =
        core::read_prediction(core::TextStream(core::json_text(json.at("prediction"))), path.string());
    json.at("panel_marks_s").get_to(marks);
    json.at("counts_at_panels").get_to(counts);
  } catch (const Json::exception&) {
    marks.clear();
  }
  // One before the first panel, one at the begin of each and one at the end.
  const auto all = static_cast<std::size_t>(plan.window()->simulated_panels() + 2);
  if (marks.size() != all || counts.empty() ||
      std::any_of(counts.begin(), counts.end(), [&](const auto& one) { return one.second.size() != all; }))
    throw core::ParseError({path.string(), 0, "panel_marks_s"}, "a window of which something is missing",
                           "remove the file: the window is simulated again");
  simulation.prediction.parameters = plan.parameters();
  return simulation;
}

void write_window(const RunPlan& plan, const fs::path& folder, const HplSimulation& simulation) {
  const std::string prediction =
      core::written([&](std::ostream& out) { core::write_prediction(out, simulation.prediction); });
  const Json json = {{"request", name_of(plan)},
                     {"prediction", core::parse_json<Json>(prediction)},
                     {"panel_marks_s", simulation.panels.marks_s},
                     {"counts_at_panels", simulation.panels.counts}};
  const fs::path path = plan.request().shared_windows.empty() ? folder / file_name : left_for_others(plan);
  core::write_file(path, [&](std::ostream& out) { out << core::json_text(json, 1) << '\n'; });
}

void integrate_counts(const WindowPlan& plan, const std::vector<HplSimulation>& simulations,
                      core::Prediction& prediction) {
  const Integral integral(plan, simulations);
  take_names(simulations, prediction);
  visit_counts(prediction, [&](const std::string& name, auto& count) {
    const double sum = integral(name);
    if constexpr (std::is_integral_v<std::remove_reference_t<decltype(count)>>) {
      count = static_cast<std::uint64_t>(std::llround(std::max(0.0, sum)));
    } else {
      count = sum;
    }
  });
  const auto finish = [](auto& counts) {
    for (auto one = counts.begin(); one != counts.end();) {
      one->second.outside_range = std::min(one->second.calls, one->second.outside_range);
      one = one->second.calls == 0 ? counts.erase(one) : std::next(one);  // behind all that counts
    }
  };
  finish(prediction.kernels);
  finish(prediction.messages);
  scale_phases(simulations, prediction);
  if (prediction.energy) scale_energy(simulations, prediction);
}

}  // namespace hplcast::study
