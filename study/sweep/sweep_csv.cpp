#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/study/sweep_database.hpp"

namespace hplcast::study {

namespace {

/// Factors that have no column of their own, in the order in which they come.
std::vector<std::string> other_factors(const std::vector<SweepResult>& results) {
  std::set<std::string> own = {"grid", "mode"};
  for (const core::HplField& field : core::hpl_fields()) own.insert(field.name);
  std::vector<std::string> names;
  for (const SweepResult& result : results) {
    for (const auto& [factor, value] : result.factors) {
      if (own.count(factor) == 0 && std::find(names.begin(), names.end(), factor) == names.end())
        names.push_back(factor);
    }
  }
  return names;
}

}  // namespace

std::string run_name(const core::Prediction& p) {
  std::string name = core::to_string(p.parameters) + " " + std::to_string(p.seed) + " " + p.mode;
  if (p.sampling) name += " " + std::to_string(p.sampling->windows.size()) + " " + core::shortest(p.sampling->share);
  return name;
}

std::vector<core::Prediction> predictions_of_one_cluster(const std::filesystem::path& path) {
  const SweepDatabase database(path, SweepDatabase::Access::read);
  std::map<std::string, core::Prediction> different;
  std::set<std::string> models;
  for (SweepResult& result : database.results()) {
    const core::Prediction& p = result.prediction;
    models.insert(p.model_sha256);
    different.emplace(run_name(p), p);
  }
  if (models.size() > 1) {
    throw core::Error(core::ExitCode::bad_input,
                      path.string() + " has predictions of " + std::to_string(models.size()) +
                          " clusters\n  hint: make a sweep of the real one, or choose rows of `hplcast sweep export`");
  }
  std::vector<core::Prediction> predictions;
  for (auto& [name, prediction] : different) predictions.push_back(std::move(prediction));
  return predictions;
}

void write_sweep_csv(std::ostream& out, const std::vector<SweepResult>& results) {
  const std::vector<std::string> names = other_factors(results);
  for (const core::HplField& field : core::hpl_fields()) out << field.name << ',';
  for (const std::string& name : names) out << core::csv_field(name) << ',';
  const bool energies = std::any_of(results.begin(), results.end(), [](const auto& r) { return r.prediction.energy; });
  out << "seed,mode,cluster,model_sha256,time_s,error_95_s,gflops,wall_s,peak_pss_bytes"
      << (energies ? ",energy_j,mean_power_w,gflops_per_w\n" : "\n");
  std::vector<const SweepResult*> order;
  for (const SweepResult& result : results) order.push_back(&result);
  std::stable_sort(order.begin(), order.end(), [](const SweepResult* a, const SweepResult* b) {
    const auto key = [](const SweepResult& one) {
      return std::tuple(one.prediction.parameters, to_string(one.factors), one.prediction.seed);
    };
    return key(*a) < key(*b);
  });
  for (const SweepResult* result : order) {
    const core::Prediction& p = result->prediction;
    for (const core::HplField& field : core::hpl_fields()) out << field.get(p.parameters) << ',';
    for (const std::string& name : names) {
      const auto& all = result->factors;
      const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& one) { return one.factor == name; });
      out << (found == all.end() ? "" : core::csv_field(found->value)) << ',';
    }
    out << p.seed << ',' << p.mode << ',' << core::csv_field(p.cluster) << ',' << p.model_sha256 << ','
        << core::shortest(p.time_s) << ',' << core::shortest(p.error_95_s) << ',' << core::shortest(p.gflops) << ','
        << core::shortest(p.wall_s) << ',' << core::shortest(p.peak_pss_bytes);
    if (energies && p.energy)
      out << ',' << core::shortest(p.energy->energy_j) << ',' << core::shortest(p.energy->mean_power_w) << ','
          << core::shortest(p.energy->gflops_per_w);
    out << (energies && !p.energy ? ",,,\n" : "\n");
  }
}

}  // namespace hplcast::study
