#include "window_counts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "hplcast/fit/least_squares.hpp"

namespace hplcast::study {

namespace {

using Quantity = std::function<double(const core::Prediction&)>;

/// What each window counts becomes what the run counts.
class Extrapolation {
 public:
  Extrapolation(const WindowPlan& plan, const std::vector<HplSimulation>& simulations)
      : plan_(plan), simulations_(simulations) {}

  double operator()(const Quantity& quantity) const {
    const auto terms = [&](double panel) {
      const double remaining = 1 - panel / plan_.panels;
      return std::vector<double>{1, remaining, remaining * remaining};
    };
    fit::RegressionData data;
    data.columns.resize(3);
    for (std::size_t i = 0; i + 1 < simulations_.size(); ++i) {
      const PanelWindow& window = plan_.windows[i];
      const std::vector<double> row = terms(0.5 * (window.first + window.simulated_to));
      for (std::size_t term = 0; term < row.size(); ++term) data.columns[term].push_back(row[term]);
      data.y.push_back(quantity(simulations_[i].prediction) / (window.simulated_to - window.first));
    }
    const std::vector<double> coefficients = fit::solve_least_squares(data).coefficients;
    double sum = quantity(simulations_.back().prediction);
    for (int panel = 0; panel < plan_.windows.back().first; ++panel) {
      const std::vector<double> row = terms(panel + 0.5);
      double cost = 0;
      for (std::size_t term = 0; term < row.size(); ++term) cost += coefficients[term] * row[term];
      sum += std::max(0.0, cost);
    }
    return sum;
  }

  std::uint64_t count(const Quantity& quantity) const {
    return static_cast<std::uint64_t>(std::llround((*this)(quantity)));
  }

 private:
  const WindowPlan& plan_;
  const std::vector<HplSimulation>& simulations_;
};

/// Names that any of the windows has.
template <typename Map>
std::set<std::string> names(const std::vector<HplSimulation>& simulations, Map core::Prediction::*map) {
  std::set<std::string> all;
  for (const HplSimulation& one : simulations)
    for (const auto& [name, count] : one.prediction.*map) all.insert(name);
  return all;
}

/// A field of the count `name` in a map; 0 where it is not there.
template <typename Map, typename Field>
Quantity field_of(Map core::Prediction::*map, const std::string& name, Field field) {
  return [=](const core::Prediction& prediction) {
    const auto found = (prediction.*map).find(name);
    return found == (prediction.*map).end() ? 0.0 : static_cast<double>(found->second.*field);
  };
}

}  // namespace

void extrapolate_counts(const WindowPlan& plan, const std::vector<HplSimulation>& simulations,
                        core::Prediction& prediction) {
  const Extrapolation extrapolated(plan, simulations);
  using core::KernelCount;
  using core::MessageCount;
  using core::Prediction;
  for (const std::string& name : names(simulations, &Prediction::kernels)) {
    const auto field = [&](auto member) { return field_of(&Prediction::kernels, name, member); };
    prediction.kernels[name] = {extrapolated.count(field(&KernelCount::calls)),
                                extrapolated.count(field(&KernelCount::outside_range)),
                                extrapolated(field(&KernelCount::time_s)), extrapolated(field(&KernelCount::flop))};
  }
  for (const std::string& name : names(simulations, &Prediction::messages)) {
    const auto field = [&](auto member) { return field_of(&Prediction::messages, name, member); };
    prediction.messages[name] = {extrapolated.count(field(&MessageCount::calls)),
                                 extrapolated.count(field(&MessageCount::outside_range)),
                                 extrapolated(field(&MessageCount::bytes))};
  }
}

}  // namespace hplcast::study
