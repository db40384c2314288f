#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::study {

namespace {

using Provenance = nlohmann::ordered_json;

int integer_at(const Provenance& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
}

double number_at(const Provenance& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

/// The share of the change that counts: the rest is the scatter of its calls.
double certain_exponent(double ratio, double standard_error) {
  const double change = std::pow(std::log(ratio), 2);
  return change > 0 ? std::max(0.0, 1 - std::pow(standard_error / ratio, 2) / change) : 0;
}

}  // namespace

std::string with_busy_ranks(core::ClusterModel& cluster, int ranks_per_host) {
  if (cluster.provenance.empty()) return "";
  auto provenance = core::parse_json<Provenance>(cluster.provenance);
  if (!provenance.is_object() || provenance.contains("busy_ranks")) return "";
  const int measured = integer_at(provenance, "ranks_per_host");
  if (ranks_per_host >= measured || cluster.kernels.count("dgemm") == 0) return "";
  const std::string differs = "the kernels of " + cluster.name + " were measured with " + std::to_string(measured) +
                              " busy ranks per host, and this run has " + std::to_string(ranks_per_host) + ": ";
  const auto alone = provenance.find("alone");
  const double ratio = alone != provenance.end() ? number_at(*alone, "dgemm") : 0;
  if (!(ratio > 0)) return differs + "they may be faster then; the step dgemm of a campaign measures it";
  const double part = static_cast<double>(measured - ranks_per_host) / static_cast<double>(measured - 1);
  const double factor = std::pow(ratio, part * certain_exponent(ratio, number_at(*alone, "standard_error")));
  cluster = transformed(std::move(cluster), {{"scale-dgemm", core::shortest(1 / factor)}});
  provenance = core::parse_json<Provenance>(cluster.provenance);
  provenance["busy_ranks"] = {{"per_host", ranks_per_host}, {"dgemm", factor}};
  cluster.provenance = core::json_text(provenance);
  return differs + core::printed("dgemm takes %.3f times as long then%s", factor,
                                 ranks_per_host == 1 ? "" : ", by interpolation");
}

}  // namespace hplcast::study
