#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::study {

namespace {

using Provenance = nlohmann::ordered_json;

double number_at(const Provenance& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

/// Threads of each rank when it was measured.
double threads_at(const Provenance& provenance) {
  const nlohmann::json::json_pointer place("/surroundings/software/blas_threads");
  return provenance.contains(place) && provenance.at(place).is_number()
             ? std::max(1.0, provenance.at(place).get<double>())
             : 1;
}

/// The share of the change that counts: the rest is the scatter of its calls.
double certain_exponent(double ratio, double standard_error) {
  const double change = std::pow(std::log(ratio), 2);
  return change > 0 ? std::max(0.0, 1 - std::pow(standard_error / ratio, 2) / change) : 0;
}

}  // namespace

BusyRanks with_busy_ranks(const core::ClusterModel& cluster, int ranks_per_host) {
  if (cluster.provenance.empty()) return {};
  auto provenance = core::parse_json<Provenance>(cluster.provenance);
  if (!provenance.is_object() || provenance.contains("busy_cores")) return {};
  const double threads = threads_at(provenance), measured = threads * number_at(provenance, "ranks_per_host");
  const double busy = static_cast<double>(ranks_per_host) * cluster.hosts.values().threads_per_rank;
  if (busy >= measured || cluster.kernels.count("dgemm") == 0) return {};
  const std::string differs = core::printed(
      "the kernels of %s were measured with %g busy cores per host, and this run has %g: ", cluster.name.c_str(),
      measured, busy);
  const auto alone = provenance.find("alone");
  const double ratio = alone != provenance.end() ? number_at(*alone, "dgemm") : 0;
  if (!(ratio > 0)) return {differs + "they may be faster then; the step dgemm of a campaign measures it", {}};
  const double part = std::min(1.0, (measured - busy) / std::max(1.0, measured - threads));
  const double factor = std::pow(ratio, part * certain_exponent(ratio, number_at(*alone, "standard_error")));
  if (factor == 1)
    return {differs + "dgemm was measured so, too, and differs by no more than the machine scatters", {}};
  core::ClusterModel changed = transformed(cluster, {{"scale-dgemm", core::shortest(1 / factor)}});
  provenance = core::parse_json<Provenance>(changed.provenance);
  provenance["busy_cores"] = {{"per_host", busy}, {"dgemm", factor}};
  changed.provenance = core::json_text(provenance);
  return {differs + core::printed("dgemm takes %.3f times as long then%s", factor,
                                  busy == threads ? "" : ", by interpolation"),
          std::move(changed)};
}

}  // namespace hplcast::study
