#include "hplcast/core/topology.hpp"

#include <cmath>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

using Numbers = std::vector<unsigned long>;

DomainError bad_parameters(const std::string& parameters, const std::string& expected) {
  return DomainError("topology.parameters", parameters, expected);
}

/// "4,8;1,2" to {{4, 8}, {1, 2}}.
std::vector<Numbers> lists_of(const std::string& parameters, std::size_t count, const char* form) {
  constexpr double most = 1e6;
  std::vector<Numbers> lists;
  std::istringstream all(parameters);
  for (std::string part; std::getline(all, part, ';');) {
    lists.emplace_back();
    std::istringstream list(part);
    for (std::string item; std::getline(list, item, ',');) {
      double number = 0;
      const bool whole = parse_double(item, number) && number == std::floor(number);
      if (!whole || number < 1 || number > most) throw bad_parameters(parameters, form);
      lists.back().push_back(static_cast<unsigned long>(number));
    }
    if (lists.back().empty()) throw bad_parameters(parameters, form);
  }
  if (lists.size() != count) throw bad_parameters(parameters, form);
  return lists;
}

template <typename List>
std::string text_of(const List& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

template <typename List>
unsigned long product(const List& numbers) {
  unsigned long result = 1;
  for (const auto number : numbers) result *= number;
  return result;
}

/// Calls `what` with each topology in turn, made by default.
template <std::size_t index = 0, typename What>
void for_each_topology(const What& what) {
  if constexpr (index < std::variant_size_v<Topology>) {
    what(std::variant_alternative_t<index, Topology>());
    for_each_topology<index + 1>(what);
  }
}

}  // namespace

FatTree FatTree::from(const std::string& parameters) {
  constexpr const char* form = "levels;children per level;parents per level;links per level, such as 2;16,2;1,4;1,1";
  const std::vector<Numbers> lists = lists_of(parameters, 4, form);
  const unsigned long levels = lists[0][0];
  if (lists[0].size() != 1 || lists[1].size() != levels || lists[2].size() != levels || lists[3].size() != levels) {
    throw bad_parameters(parameters, form);
  }
  const auto per_level = [&](std::size_t i) { return std::vector<unsigned>(lists[i].begin(), lists[i].end()); };
  return {per_level(1), per_level(2), per_level(3)};
}

std::string FatTree::parameters() const {
  return std::to_string(children.size()) + ";" + text_of(children) + ";" + text_of(parents) + ";" + text_of(links);
}

std::optional<unsigned long> FatTree::hosts() const {
  return product(children);
}

Dragonfly Dragonfly::from(const std::string& parameters) {
  constexpr const char* form = "groups,links;chassis,links;routers,links;nodes, such as 3,4;3,2;3,1;2";
  const std::vector<Numbers> lists = lists_of(parameters, 4, form);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].size() != (i < 3 ? 2U : 1U)) throw bad_parameters(parameters, form);
  }
  // SimGrid crashes otherwise: it looks for the link to group i at router i of a chassis.
  if (lists[0][0] > lists[2][0]) {
    throw bad_parameters(parameters, "at most as many groups as a chassis has routers, found " +
                                         std::to_string(lists[0][0]) + " groups and " + std::to_string(lists[2][0]) +
                                         " routers");
  }
  const auto level = [&](std::size_t i) {
    return std::pair(static_cast<unsigned>(lists[i][0]), static_cast<unsigned>(lists[i][1]));
  };
  return {level(0), level(1), level(2), static_cast<unsigned>(lists[3][0])};
}

std::string Dragonfly::parameters() const {
  std::string text;
  for (const auto& [count, links] : {groups, chassis, routers}) text += text_of(Numbers{count, links}) + ";";
  return text + std::to_string(nodes);
}

std::optional<unsigned long> Dragonfly::hosts() const {
  return product(Numbers{groups.first, chassis.first, routers.first, nodes});
}

Torus Torus::from(const std::string& parameters) {
  return {lists_of(parameters, 1, "dimensions such as 4,4,2").front()};
}

std::string Torus::parameters() const {
  return text_of(dimensions);
}

std::optional<unsigned long> Torus::hosts() const {
  return product(dimensions);
}

Topology topology_from(const std::string& kind, const std::string& parameters) {
  std::optional<Topology> found;
  std::string kinds;
  for_each_topology([&](const auto& one) {
    if (kind == one.kind) found = one.from(parameters);
    kinds += (kinds.empty() ? "" : ", ") + std::string(one.kind);
  });
  if (!found) throw DomainError("topology.kind", kind, kinds);
  return *found;
}

const char* kind_of(const Topology& topology) {
  return std::visit([](const auto& one) { return one.kind; }, topology);
}

std::string parameters_of(const Topology& topology) {
  return std::visit([](const auto& one) { return one.parameters(); }, topology);
}

std::optional<unsigned long> hosts_of(const Topology& topology) {
  return std::visit([](const auto& one) { return one.hosts(); }, topology);
}

bool has_places_for(const Topology& topology, int hosts) {
  const auto places = hosts_of(topology), wanted = std::optional<unsigned long>(hosts);
  const auto* tree = std::get_if<FatTree>(&topology);
  if (!places || places == wanted) return true;
  return tree != nullptr && *places > *wanted && *places - *wanted < tree->children.front();
}

}  // namespace hplcast::core
