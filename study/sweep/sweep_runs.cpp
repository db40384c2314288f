// Configurations of a plan: factors crossed, listed, drawn.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/resolve.hpp"
#include "hplcast/study/sweep_plan.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::study {

namespace {

std::string value_at(const SampledFactor& factor, double uniform) {
  if (!factor.levels.empty()) {
    const auto count = static_cast<double>(factor.levels.size());
    return factor.levels[static_cast<std::size_t>(std::min(uniform * count, count - 1))];
  }
  // With a step, every one of the values has the same share of the range, the last one up to `max` included.
  constexpr double rounding = 1e-9;
  const double steps = factor.step > 0 ? std::floor((factor.max - factor.min) / factor.step + rounding) + 1 : 0;
  const double high = steps > 0 ? factor.min + steps * factor.step : factor.max;
  double value = factor.logarithmic ? factor.min * std::pow(high / factor.min, uniform)
                                    : factor.min + uniform * (high - factor.min);
  if (factor.step > 0) value = factor.min + std::floor((value - factor.min) / factor.step) * factor.step;
  value = std::min(value, factor.max);
  constexpr double exact = 9007199254740992.0;  // HPL's parameters are read as whole numbers: 100000, not 1e+05
  if (value == std::floor(value) && std::abs(value) < exact) return std::to_string(static_cast<long long>(value));
  return core::shortest(value);
}

std::vector<Configuration> drawn(const Sample& sample) {
  std::vector<Configuration> result(static_cast<std::size_t>(sample.count));
  for (std::size_t f = 0; f < sample.factors.size(); ++f) {
    core::RandomStream random({sample.seed, core::stream_design, static_cast<std::uint32_t>(f), 1});
    std::vector<int> strata(result.size());  // a part of the range for each, in a random order
    std::iota(strata.begin(), strata.end(), 0);
    core::shuffle(strata, random);
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

/// A number, true, false or null as such, anything else as a text.
Json json_value(const std::string& text) {
  constexpr std::size_t longest_number = 64;
  if (text.size() > longest_number) return Json(text);
  const Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() || value.is_structured() ? Json(text) : value;
}

/// @throws core::DomainError for a value that this cluster cannot have; core::ParseError where none can have the field
core::ClusterModel with_field(const core::ClusterModel& cluster, const std::string& pointer, const std::string& value) {
  Json json = core::parse_json<Json>(core::written([&](std::ostream& out) { core::write_cluster(out, cluster); }));
  bool is_there = false;
  try {
    const Json::json_pointer place(pointer);
    Json& holder = json.at(place.parent_pointer());
    is_there = json.contains(place);
    (is_there || !holder.is_object() ? json.at(place) : holder[place.back()]) = json_value(value);
  } catch (const Json::exception&) {
    throw core::ParseError({"the cluster " + cluster.name, 0, pointer}, "no such field; expected one of cluster.json");
  }
  try {
    return core::read_cluster(core::TextStream(core::json_text(json)), cluster.name);
  } catch (const core::ParseError& error) {
    if (!is_there && std::string(error.what()).find("unknown key") != std::string::npos) throw;
    throw core::DomainError(pointer, value, std::string("a valid cluster.json: ") + error.what());
  }
}

/// Whether it is a level of the models, for levels_of().
bool is_level(const std::string& factor) {
  static const std::set<std::string> all = {"noise", "network-noise", "detours", "per-cpu", "kernel-model"};
  return all.count(factor) > 0;
}

bool acts_on_cluster(const std::string& factor) {
  return factor == "cluster" || factor.front() == '/' || is_transformation(factor) || is_level(factor);
}

/// Clusters are made once for all runs that share their settings.
class Clusters {
 public:
  struct Made {
    std::string sha256;
    std::string problem;  ///< why there is none
    std::map<std::string, std::string> levels;
  };

  explicit Clusters(std::map<std::string, core::ClusterModel>& models) : models_(models) {}

  const Made& get(const Configuration& configuration) {
    Configuration changes;
    for (const Setting& setting : configuration)
      if (acts_on_cluster(setting.factor)) changes.push_back(setting);
    const auto [entry, is_new] = made_.emplace(to_string(changes), Made{});
    if (is_new) entry->second = make(changes);
    return entry->second;
  }

 private:
  Made make(const Configuration& changes) {
    std::string path;
    for (const Setting& change : changes)
      if (change.factor == "cluster") path = change.value;
    core::ClusterModel cluster = file(path);
    std::map<std::string, std::string> levels;
    try {
      for (const Setting& change : changes) {
        if (is_level(change.factor)) {
          levels.erase(change.factor);
          if (change.value != "on" && change.value != "full") levels.emplace(change.factor, change.value);
        } else if (change.factor != "cluster") {
          cluster = change.factor.front() == '/' ? with_field(cluster, change.factor, change.value)
                                                 : transformed(cluster, {{change.factor, change.value}});
        }
      }
      cluster = at_levels(std::move(cluster), levels_of(levels));
    } catch (const TransformationFormError&) {
      throw;  // wrong for any cluster
    } catch (const core::DomainError& error) {
      return {"", error.what(), {}};
    }
    const std::string sha256 = core::cluster_sha256(cluster);
    models_.emplace(sha256, std::move(cluster));
    return {sha256, "", levels};
  }

  const core::ClusterModel& file(const std::string& path) {
    const auto found = files_.find(path);
    if (found != files_.end()) return found->second;
    return files_.emplace(path, core::read_from(path, core::read_cluster)).first->second;
  }

  std::map<std::string, core::ClusterModel>& models_;
  std::map<std::string, core::ClusterModel> files_;
  std::map<std::string, Made> made_;
};

/// Settings of HPL and of the prediction; those of the cluster are done already.
void apply(const Setting& setting, SweepRun& run) {
  if (setting.factor == "mode") {
    run.mode = setting.value;
  } else if (setting.factor == "windows") {
    run.windows = WindowRule::from(setting.value);
  } else if (setting.factor == "target-error") {
    run.target_error = target_error_of(setting.value);
  } else if (setting.factor == "energy") {
    run.energy = setting.value == "on";
  } else if (setting.factor == "grid") {
    const std::size_t x = setting.value.find('x');
    run.parameters.P = std::stoi(setting.value.substr(0, x));
    run.parameters.Q = std::stoi(setting.value.substr(x + 1));
  }
  for (const core::HplField& field : core::hpl_fields())
    if (setting.factor == field.name) field.set(run.parameters, std::stoll(setting.value));
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
    const auto with_level = [&](const std::string& level) { return Configuration{{factor.name, level}}; };
    result = crossed(result, core::mapped(factor.levels, with_level));
  }
  if (!plan.list.empty()) result = crossed(result, plan.list);
  if (plan.sample) result = crossed(result, drawn(*plan.sample));
  return result;
}

std::string to_string(const Configuration& configuration) {
  return core::joined(configuration, " ", [](const Setting& one) { return one.factor + "=" + one.value; });
}

double target_error_of(const std::string& text) {
  double percent = 0;
  if (text.empty() || text.back() != '%' || !core::parse_double(text.substr(0, text.size() - 1), percent) ||
      !(percent > 0 && percent < 100))
    throw core::DomainError("target-error", text, "a share of the time between 0% and 100%, such as 1%");
  return percent / 100;
}

PredictionRequest request_of(const SweepRun& run) {
  PredictionRequest request;
  request.parameters = run.parameters;
  request.seed = run.seed;
  for (const SimulationMode mode : {SimulationMode::exact, SimulationMode::fast})
    if (run.mode == to_string(mode)) request.mode = mode;
  request.windows = run.windows;
  request.target_error = run.target_error;
  request.observation.energy = run.energy;
  return request;
}

std::string run_id(const SweepRun& run) {
  const bool as_usual = run.windows.kind == WindowRule::Kind::automatic;
  return core::sha256_hex("hplcast run 1\n" + run.model_sha256 + "\n" + core::to_string(run.parameters) + "\nseed " +
                          std::to_string(run.seed) + "\nmode " + run.mode +
                          (as_usual ? "" : "\nwindows " + to_string(run.windows)) +
                          (run.target_error > 0 ? "\ntarget error " + core::shortest(run.target_error) : "") +
                          (run.energy ? "\nenergy" : ""));
}

SweepRuns runs_of(const SweepPlan& plan) {
  SweepRuns result;
  Clusters clusters(result.clusters);
  std::set<std::string> ids;
  std::set<std::string> warnings;
  for (const Configuration& configuration : configurations(plan)) {
    const Configuration factors(configuration.begin() + static_cast<std::ptrdiff_t>(plan.fixed.size()),
                                configuration.end());
    const Clusters::Made& made = clusters.get(configuration);
    if (!made.problem.empty()) {
      result.skipped.push_back({factors, made.problem});
      continue;
    }
    SweepRun run;
    run.model_sha256 = made.sha256;
    run.mode = "auto";
    run.levels = made.levels;
    for (const Setting& setting : configuration) apply(setting, run);
    PredictionRequest request = request_of(run);
    request.cluster = result.clusters.at(made.sha256);
    try {
      const RunPlan planned = resolve(std::move(request));
      for (const std::string& warning : planned.warnings())
        if (warnings.insert(warning).second) result.warnings.push_back(warning);
      // Runs that a sweep compares should have one mode.
      run.mode = to_string(planned.unsampled_mode());
    } catch (const core::UsageError&) {
      throw;  // no configuration could be run like that
    } catch (const core::Error& error) {
      result.skipped.push_back({factors, error.what()});
      continue;
    }
    for (const std::uint64_t seed : plan.seeds) {
      run.seed = seed;
      run.id = run_id(run);
      result.points.push_back({factors, run.id});
      if (ids.insert(run.id).second) result.runs.push_back(run);
    }
  }
  return result;
}

}  // namespace hplcast::study
