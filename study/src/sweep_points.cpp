// Configurations of a plan: factors crossed, listed, drawn.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/study/sweep_plan.hpp"

namespace hplcast::study {

namespace {

std::string value_at(const SampledFactor& factor, double uniform) {
  if (!factor.levels.empty()) {
    const auto count = static_cast<double>(factor.levels.size());
    return factor.levels[static_cast<std::size_t>(std::min(uniform * count, count - 1))];
  }
  // With a step, every one of the values has the same share of the range, the last one included.
  const double high = factor.max + factor.step;
  double value = factor.logarithmic ? factor.min * std::pow(high / factor.min, uniform)
                                    : factor.min + uniform * (high - factor.min);
  if (factor.step > 0) value = factor.min + std::floor((value - factor.min) / factor.step) * factor.step;
  value = std::min(value, factor.max);
  constexpr double exact = 9007199254740992.0;  // HPL's parameters are read as whole numbers: 100000, not 1e+05
  if (value == std::floor(value) && std::abs(value) < exact) return std::to_string(static_cast<long long>(value));
  return core::shortest(value);
}

/// The numbers 0 .. count-1 in a random order (Fisher-Yates).
std::vector<int> shuffled(int count, core::RandomStream& random) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

std::vector<Configuration> drawn(const Sample& sample) {
  std::vector<Configuration> result(static_cast<std::size_t>(sample.count));
  for (std::size_t f = 0; f < sample.factors.size(); ++f) {
    core::RandomStream random({sample.seed, core::stream_design, static_cast<std::uint32_t>(f), 1});
    const std::vector<int> strata = shuffled(sample.count, random);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double uniform = sample.latin_hypercube ? (strata[i] + random.uniform()) / sample.count : random.uniform();
      result[i].push_back({sample.factors[f].name, value_at(sample.factors[f], uniform)});
    }
  }
  return result;
}

std::vector<Configuration> crossed(const std::vector<Configuration>& left, const std::vector<Configuration>& right) {
  std::vector<Configuration> result;
  result.reserve(left.size() * right.size());
  for (const Configuration& a : left) {
    for (const Configuration& b : right) {
      result.push_back(a);
      result.back().insert(result.back().end(), b.begin(), b.end());
    }
  }
  return result;
}

}  // namespace

double run_count(const SweepPlan& plan) {
  auto count = static_cast<double>(plan.seeds.size());
  for (const Factor& factor : plan.factors) count *= static_cast<double>(factor.levels.size());
  if (!plan.list.empty()) count *= static_cast<double>(plan.list.size());
  if (plan.sample) count *= plan.sample->count;
  return count;
}

std::vector<Configuration> configurations(const SweepPlan& plan) {
  std::vector<Configuration> result = {plan.fixed};
  for (const Factor& factor : plan.factors) {
    std::vector<Configuration> levels;
    for (const std::string& level : factor.levels) levels.push_back({{factor.name, level}});
    result = crossed(result, levels);
  }
  if (!plan.list.empty()) result = crossed(result, plan.list);
  if (plan.sample) result = crossed(result, drawn(*plan.sample));
  return result;
}

std::string to_string(const Configuration& configuration) {
  std::string text;
  for (const Setting& setting : configuration) text += (text.empty() ? "" : " ") + setting.factor + "=" + setting.value;
  return text;
}

}  // namespace hplcast::study
