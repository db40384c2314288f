#include "detours_json.hpp"

#include <algorithm>

#include "cluster_schema.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

using detail::Json;
using detail::Node;

namespace {

Json to_json(const DetourDuration& duration) {
  return std::visit(
      [](const auto& one) {
        Json json = {{"law", one.kind}};
        Visitor{[&](const ConstantDuration& law) { json["mean_s"] = law.constant_s; },
                [&](const ExponentialDuration& law) { json["mean_s"] = law.expected_s; },
                [&](const UniformDuration& law) {
                  json["least_s"] = law.least_s;
                  json["most_s"] = law.most_s;
                },
                [&](const QuantileDuration& law) { json["quantiles_s"] = law.quantiles_s; }}(one);
        return json;
      },
      duration);
}

DetourDuration duration_from(const Node& node) {
  const std::string law = node.at("law").text();
  const auto only = [&](std::initializer_list<const char*> keys) {
    for (const auto& [key, value] : node.object().items()) {
      const bool known = key == "law" || std::find(keys.begin(), keys.end(), key) != keys.end();
      if (!known && !value.is_null()) node.at(key.c_str()).fail("not a parameter of the law " + law);
    }
  };
  if (law == ConstantDuration::kind) {
    only({"mean_s"});
    return ConstantDuration{node.at("mean_s").number()};
  }
  if (law == ExponentialDuration::kind) {
    only({"mean_s"});
    return ExponentialDuration{node.at("mean_s").number()};
  }
  if (law == UniformDuration::kind) {
    only({"least_s", "most_s"});
    return UniformDuration{node.at("least_s").number(), node.at("most_s").number()};
  }
  if (law == QuantileDuration::kind) {
    only({"quantiles_s"});
    return QuantileDuration{node.at("quantiles_s").numbers()};
  }
  node.at("law").fail("found \"" + law + "\"; expected constant, exponential, uniform or quantiles");
}

Json to_json(const DetourSource& source) {
  const DetourSource::Values& values = source.values();
  Json json = {{"name", values.name}, {"kind", source.kind()}, {"period_s", values.period_s}};
  std::visit(Visitor{[&](const PeriodicDetours& times) {
                       if (times.jitter_s > 0) json["jitter_s"] = times.jitter_s;
                       if (times.phase_s) json["phase_s"] = *times.phase_s;
                     },
                     [](const PoissonDetours&) {}},
             values.times);
  json["duration"] = to_json(values.duration);
  json["per"] = to_string(values.per);
  json["in_kernels"] = values.in_kernels;
  if (!values.cores.empty()) json["cores"] = values.cores;
  return json;
}

DetourTimes times_from(const Node& node) {
  const std::string kind = node.at("kind").text();
  if (kind == PeriodicDetours::kind) {
    PeriodicDetours times{node.number_or("jitter_s", 0), std::nullopt};
    if (node.has("phase_s")) times.phase_s = node.at("phase_s").number();
    return times;
  }
  if (kind != PoissonDetours::kind) node.at("kind").fail("found \"" + kind + "\"; expected periodic or poisson");
  if (node.number_or("jitter_s", 0) != 0) node.at("jitter_s").fail("only of periodic detours; these are poisson");
  if (node.has("phase_s")) node.at("phase_s").fail("only of periodic detours; these are poisson");
  return PoissonDetours();
}

std::vector<int> cores_from(const Node& list) {
  std::vector<int> cores;
  for (std::size_t i = 0; i < list.size_of_array(); ++i) cores.push_back(list.at(i).integer<int>());
  if (cores.empty()) list.fail("found none; expected numbers of cores, or no `cores` at all: all of a host");
  return cores;
}

DetourSource source_from(const Node& node) {
  const Node per = node.at("per");
  DetourSource::Values values{node.at("name").text(),
                              times_from(node),
                              node.at("period_s").number(),
                              duration_from(node.at("duration")),
                              per.made([&] { return detours_per_from_name(per.text()); }),
                              node.has("in_kernels") && node.at("in_kernels").boolean()};
  if (node.has("cores")) values.cores = cores_from(node.at("cores"));
  return node.made([&] { return DetourSource::make(std::move(values)); });
}

}  // namespace

Json detail::to_json(const std::vector<DetourSource>& sources) {
  Json list = Json::array();
  for (const DetourSource& source : sources) list.push_back(core::to_json(source));
  return list;
}

std::vector<DetourSource> detail::detours_from(const Node& list) {
  std::vector<DetourSource> sources;
  for (std::size_t i = 0; i < list.size_of_array(); ++i) sources.push_back(source_from(list.at(i)));
  list.made([&] { check_detours(sources); });
  return sources;
}

std::string detours_json(const std::vector<DetourSource>& sources) {
  return Json({{"detours", detail::to_json(sources)}}).dump(2);
}

std::vector<DetourSource> read_detours(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  detail::refuse_cluster(Node(json, name), "what `hplcast fit detours -o` writes");
  detail::require_none(detail::detours_schema_problems(json), name);
  return detail::detours_from(Node(json, name).at("detours"));
}

}  // namespace hplcast::core
