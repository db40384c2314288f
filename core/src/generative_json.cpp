#include <ostream>

#include "hplcast/core/generative_model.hpp"
#include "json_fields.hpp"

namespace hplcast::core {

using detail::Json;
using detail::Node;

namespace {

SquareMatrix matrix_from(const Node& node) {
  SquareMatrix matrix;
  for (std::size_t i = 0; i < node.size_of_array(); ++i) matrix.push_back(node.at(i).numbers());
  return matrix;
}

NodeKind kind_from(const Node& node) {
  NodeKind kind;
  kind.name = node.at("name").text();
  kind.share = node.at("share").number();
  kind.mean = node.at("mu").numbers();
  kind.between_cpus = matrix_from(node.at("Sigma_S"));
  kind.between_days = matrix_from(node.at("Sigma_T"));
  if (node.has("cpus")) kind.cpus = node.at("cpus").integer<long>();
  if (node.has("rows")) kind.rows = node.at("rows").integer<long>();
  return kind;
}

}  // namespace

void write_generative(std::ostream& out, const GenerativeModel& model) {
  Json json = {{"schema_version", GenerativeModel::schema_version},
               {"kernel", model.kernel()},
               {"noise", to_string(model.noise())}};
  json["parameters"] = Json::array();
  for (const LawParameter& parameter : model.parameters()) json["parameters"].push_back(to_string(parameter));
  json["kinds"] = Json::array();
  for (const NodeKind& kind : model.kinds())
    json["kinds"].push_back({{"name", kind.name},
                             {"share", kind.share},
                             {"cpus", kind.cpus},
                             {"rows", kind.rows},
                             {"mu", kind.mean},
                             {"Sigma_S", kind.between_cpus},
                             {"Sigma_T", kind.between_days}});
  out << json.dump(2) << '\n';
}

GenerativeModel read_generative(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  root.object();
  detail::check_schema(root, GenerativeModel::schema_version);
  return root.made([&] {
    std::vector<LawParameter> parameters;
    for (const std::string& text : root.at("parameters").texts()) parameters.push_back(parse_law_parameter(text));
    std::vector<NodeKind> kinds;
    const Node list = root.at("kinds");
    for (std::size_t i = 0; i < list.size_of_array(); ++i) kinds.push_back(kind_from(list.at(i)));
    return GenerativeModel::make(root.at("kernel").text(), noise_family_from_name(root.at("noise").text()),
                                 std::move(parameters), std::move(kinds));
  });
}

}  // namespace hplcast::core
