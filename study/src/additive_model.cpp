#include "additive_model.hpp"

namespace hplcast::study {

AdditiveModel::AdditiveModel(const std::vector<Configuration>& configurations, const std::vector<double>& values) {
  if (values.empty()) return;
  for (const double value : values) mean_ += value / static_cast<double>(values.size());
  effects_.resize(configurations.front().size());
  constexpr int iterations = 50;  // far more than balanced or random designs need
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t f = 0; f < effects_.size(); ++f) {
      std::map<std::string, std::pair<double, double>> rests;  // sum and count
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& level = configurations[i][f].value;
        auto& [sum, count] = rests[level];
        const auto known = effects_[f].find(level);
        sum += values[i] - at(configurations[i]) + (known == effects_[f].end() ? 0 : known->second);
        ++count;
      }
      for (const auto& [level, rest] : rests) effects_[f][level] = rest.first / (rest.second + 1);
    }
  }
}

double AdditiveModel::at(const Configuration& configuration) const {
  double value = mean_;
  for (std::size_t f = 0; f < effects_.size(); ++f) {
    const auto effect = effects_[f].find(configuration[f].value);
    if (effect != effects_[f].end()) value += effect->second;
  }
  return value;
}

}  // namespace hplcast::study
