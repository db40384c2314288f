#include "kernel_json.hpp"

namespace hplcast::core::detail {

namespace {

Json to_json(const Polynomial& polynomial) {
  Json json = Json::object();
  for (std::size_t i = 0; i < polynomial.terms().size(); ++i) {
    json[to_string(polynomial.terms()[i])] = polynomial.coefficients()[i];
  }
  return json;
}

Polynomial polynomial_from(const Node& node) {
  return node.made([&] {
    std::vector<Monomial> terms;
    std::vector<double> coefficients;
    for (const auto& [key, value] : node.object().items()) {
      terms.push_back(parse_monomial(key));
      coefficients.push_back(node.at(key.c_str()).number());
    }
    return Polynomial::make(std::move(terms), std::move(coefficients));
  });
}

void add_law(Json& json, const DurationLaw& law) {
  json["noise"] = to_string(law.noise());
  json["mu"] = to_json(law.mu());
  if (!law.sigma().empty()) json["sigma"] = to_json(law.sigma());
  if (!law.modes().empty()) json["modes"] = detail::to_json(law.modes());
}

DurationLaw law_from(const Node& node) {
  return node.made([&] {
    const NoiseFamily noise = node.at("noise").made([&] { return noise_family_from_name(node.at("noise").text()); });
    return DurationLaw::make(polynomial_from(node.at("mu")),
                             node.has("sigma") ? polynomial_from(node.at("sigma")) : Polynomial(), noise,
                             node.has("modes") ? modes_from(node.at("modes")) : std::vector<MixtureMode>());
  });
}

/// One law lies flat in `json`; several go under `split` and `pieces`.
void add_piecewise(Json& json, const PiecewiseLaw& law) {
  if (law.pieces().size() == 1) return add_law(json, law.pieces().front().law);
  json["split"] = to_string(law.split());
  json["pieces"] = Json::array();
  for (const LawPiece& piece : law.pieces()) {
    Json one = {{"from", piece.from}};
    add_law(one, piece.law);
    json["pieces"].push_back(std::move(one));
  }
}

PiecewiseLaw piecewise_from(const Node& node) {
  if (!node.has("pieces")) return PiecewiseLaw(law_from(node));
  return node.made([&] {
    std::vector<LawPiece> pieces;
    const Node list = node.at("pieces");
    for (std::size_t i = 0; i < list.size_of_array(); ++i) {
      pieces.push_back({list.at(i).at("from").number(), law_from(list.at(i))});
    }
    return PiecewiseLaw::make(parse_monomial(node.at("split").text()), std::move(pieces));
  });
}

Json to_json(const ShapeRange& range) {
  return {{"m", {range.min.m, range.max.m}}, {"n", {range.min.n, range.max.n}}, {"k", {range.min.k, range.max.k}}};
}

ShapeRange range_from(const Node& node) {
  ShapeRange range;
  const auto read = [&](const char* key, double& min, double& max) {
    const std::vector<double> bounds = node.at(key).numbers();
    if (bounds.size() != 2 || !(bounds[0] <= bounds[1])) node.at(key).fail("expected [smallest, largest]");
    min = bounds[0];
    max = bounds[1];
  };
  read("m", range.min.m, range.max.m);
  read("n", range.min.n, range.max.n);
  read("k", range.min.k, range.max.k);
  return range;
}

Json to_json(const FitQuality& quality) {
  Json json = {{"rows", quality.rows},
               {"shapes", quality.shapes},
               {"rows_set_aside", quality.rows_set_aside},
               {"r2", quality.r2},
               {"bic", quality.bic},
               {"residual_sd_s", quality.residual_sd_s},
               {"mean_abs_relative_error", quality.mean_abs_relative_error}};
  const auto add = [&](const char* key, const std::vector<double>& values) {
    if (!values.empty()) json[key] = values;
  };
  add("mu_standard_errors", quality.mu_standard_errors);
  add("mu_t_values", quality.mu_t_values);
  add("sigma_standard_errors", quality.sigma_standard_errors);
  add("sigma_t_values", quality.sigma_t_values);
  if (!quality.notes.empty()) json["notes"] = quality.notes;
  return json;
}

FitQuality quality_from(const Node& node) {
  FitQuality quality;
  quality.rows = node.at("rows").integer<long>();
  quality.shapes = node.at("shapes").integer<long>();
  quality.rows_set_aside = node.at("rows_set_aside").integer<long>();
  quality.r2 = node.at("r2").number();
  quality.bic = node.at("bic").number();
  quality.residual_sd_s = node.at("residual_sd_s").number();
  quality.mean_abs_relative_error = node.at("mean_abs_relative_error").number();
  const auto read = [&](const char* key, std::vector<double>& values) {
    if (node.has(key)) values = node.at(key).numbers();
  };
  read("mu_standard_errors", quality.mu_standard_errors);
  read("mu_t_values", quality.mu_t_values);
  read("sigma_standard_errors", quality.sigma_standard_errors);
  read("sigma_t_values", quality.sigma_t_values);
  if (node.has("notes")) quality.notes = node.at("notes").texts();
  return quality;
}

}  // namespace

Json to_json(const std::vector<MixtureMode>& modes) {
  Json json = Json::array();
  for (const MixtureMode& mode : modes)
    json.push_back({{"probability", mode.probability}, {"mean", mode.mean}, {"sd", mode.sd}});
  return json;
}

std::vector<MixtureMode> modes_from(const Node& node) {
  std::vector<MixtureMode> modes;
  for (std::size_t i = 0; i < node.size_of_array(); ++i) {
    const Node one = node.at(i);
    modes.push_back({one.at("probability").number(), one.at("mean").number(), one.at("sd").number()});
  }
  return modes;
}

Json to_json(const KernelModel& model) {
  Json json = {{"level", model.level()}};
  add_piecewise(json, model.cluster_law());
  if (!model.overrides().empty()) {
    json["overrides"] = Json::array();
    for (const CpuLaw& one : model.overrides()) {
      Json entry = {{"host", one.host}, {"cpu", one.cpu}};
      add_piecewise(entry, one.law);
      json["overrides"].push_back(std::move(entry));
    }
  }
  if (model.range()) json["range"] = to_json(*model.range());
  if (model.quality().rows > 0) json["quality"] = to_json(model.quality());
  return json;
}

KernelModel kernel_model_from(const Node& node) {
  return node.made([&] {
    std::vector<CpuLaw> overrides;
    if (node.has("overrides")) {
      const Node list = node.at("overrides");
      for (std::size_t i = 0; i < list.size_of_array(); ++i) {
        const Node one = list.at(i);
        overrides.push_back({one.at("host").integer<int>(), one.at("cpu").integer<int>(), piecewise_from(one)});
      }
    }
    return KernelModel::make(node.at("level").text(), piecewise_from(node), std::move(overrides),
                             node.has("range") ? std::optional(range_from(node.at("range"))) : std::nullopt,
                             node.has("quality") ? quality_from(node.at("quality")) : FitQuality());
  });
}

}  // namespace hplcast::core::detail
