#include "hplcast/core/topology.hpp"

#include <algorithm>
#include <cmath>

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
  for (const std::string& part : split(parameters, ';')) {
    lists.emplace_back();
    for (const std::string& item : split(part, ',')) {
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
  return joined(numbers, ",", [](auto number) { return std::to_string(number); });
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

using FailedLink = std::pair<unsigned, unsigned>;

bool has_failed(const Routing& routing, unsigned one, unsigned other) {
  return std::count(routing.failed_links.begin(), routing.failed_links.end(), FailedLink(one, other)) > 0;
}

DomainError bad_link(const FailedLink& link, const std::string& expected) {
  return DomainError("failed link", std::to_string(link.first) + "," + std::to_string(link.second), expected);
}

std::string below(unsigned count) {
  return "0 to " + std::to_string(count - 1);
}

void check_tree(const FatTree& tree) {
  const Routing& routing = tree.routing;
  if (routing.is_static()) return;
  require(tree.parents.front() * tree.links.front() == 1, "topology.parameters", tree.parameters(),
          "hosts with one link, where routes are adaptive or links have failed");
  if (routing.failed_links.empty()) return;
  if (tree.children.size() != 2)
    throw DomainError("levels of the fat tree", static_cast<int>(tree.children.size()), "2 where links have failed");
  const unsigned leaves = tree.children[1], tops = tree.parents[1];
  for (const FailedLink& link : routing.failed_links)
    if (link.first >= leaves || link.second >= tops)
      throw bad_link(link, "a leaf switch of " + below(leaves) + " and a top switch of " + below(tops));
  // A route to a host leads over the top switch of its number: D-mod-k.
  for (unsigned to = 0; to < leaves; ++to)
    for (unsigned from = 0; from < leaves; ++from) {
      bool found = from == to;
      for (unsigned host = 0; host < tree.children[0]; ++host) {
        const unsigned top = (to * tree.children[0] + host) % tops;
        found |= !has_failed(routing, from, top) && !has_failed(routing, to, top);
      }
      if (!found)
        throw DomainError("failed links", static_cast<int>(routing.failed_links.size()),
                          "a way left from leaf switch " + std::to_string(from) + " to " + std::to_string(to));
    }
}

/// By a link between two groups.
bool are_joined(const Routing& routing, unsigned one, unsigned other) {
  return !has_failed(routing, one, other) && !has_failed(routing, other, one);
}

void check_fly(const Dragonfly& fly) {
  const Routing& routing = fly.routing;
  const unsigned groups = fly.groups.first;
  for (const FailedLink& link : routing.failed_links)
    if (link.first >= groups || link.second >= groups || link.first == link.second)
      throw bad_link(link, "two different groups of " + below(groups));
  for (const auto& [one, other] : routing.failed_links) {
    bool found = false;
    for (unsigned by = 0; by < groups; ++by)
      found |= by != one && by != other && are_joined(routing, one, by) && are_joined(routing, by, other);
    if (!found) throw bad_link({one, other}, "a third group that is joined to both");
  }
}

constexpr std::size_t most_ways = 32;

std::vector<std::size_t> ways_on(const FatTree& tree, std::size_t source, std::size_t destination) {
  const std::size_t of_leaf = tree.children.front();
  const std::size_t leaf = destination / of_leaf, from = source / of_leaf;
  if (leaf == from) return {destination};
  const std::size_t ways_up = tree.parents.size() > 1 ? static_cast<std::size_t>(tree.parents[1]) * tree.links[1] : 1;
  const auto is_up = [&](std::size_t host) {
    if (tree.routing.failed_links.empty()) return true;
    const auto top = static_cast<unsigned>(host % tree.parents[1]);
    return !has_failed(tree.routing, static_cast<unsigned>(from), top) &&
           !has_failed(tree.routing, static_cast<unsigned>(leaf), top);
  };
  std::vector<std::size_t> hosts;
  std::vector<bool> seen(ways_up, false);
  // Hosts whose usual way has failed take different ones in turn.
  const std::size_t place = destination % of_leaf, turn = 1 + place / ways_up;
  for (std::size_t i = 0; i <= of_leaf && hosts.size() < most_ways; ++i) {
    const std::size_t host = leaf * of_leaf + (place + (i == 0 ? 0 : (i - 1 + turn) % of_leaf)) % of_leaf;
    if (!is_up(host) || seen[host % ways_up]) continue;
    seen[host % ways_up] = true;
    hosts.push_back(host);
  }
  return hosts;
}

std::vector<std::size_t> ways_on(const Dragonfly& fly, std::size_t source, std::size_t destination) {
  const std::size_t of_group = static_cast<std::size_t>(fly.chassis.first) * fly.routers.first * fly.nodes;
  const auto from = static_cast<unsigned>(source / of_group), to = static_cast<unsigned>(destination / of_group);
  if (from == to) return {destination};
  std::vector<std::size_t> others;
  for (unsigned by = 0; by < fly.groups.first; ++by)
    // A link from group f ends at router f of another group's first chassis: no detour inside of that group.
    if (by != from && by != to && are_joined(fly.routing, from, by) && are_joined(fly.routing, by, to))
      others.push_back(by * of_group + static_cast<std::size_t>(from) * fly.nodes);
  std::vector<std::size_t> hosts;
  if (are_joined(fly.routing, from, to)) hosts.push_back(destination);
  // Each host of a group begins with another one.
  for (std::size_t i = 0; i < others.size() && hosts.size() < most_ways; ++i)
    hosts.push_back(others[(source + to + i) % others.size()]);
  return hosts;
}

}  // namespace

FatTree FatTree::from(const std::string& parameters) {
  constexpr const char* form = "levels;children per level;parents per level;links per level, such as 2;16,2;1,4;1,1";
  const std::vector<Numbers> lists = lists_of(parameters, 4, form);
  const unsigned long levels = lists[0][0];
  if (lists[0].size() != 1 || lists[1].size() != levels || lists[2].size() != levels || lists[3].size() != levels)
    throw bad_parameters(parameters, form);
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
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (lists[i].size() != (i < 3 ? 2U : 1U)) throw bad_parameters(parameters, form);
  // SimGrid crashes otherwise: it looks for the link to group i at router i of a chassis.
  if (lists[0][0] > lists[2][0])
    throw bad_parameters(parameters, "at most as many groups as a chassis has routers, found " +
                                         std::to_string(lists[0][0]) + " groups and " + std::to_string(lists[2][0]) +
                                         " routers");
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
  Numbers dimensions = lists_of(parameters, 1, "dimensions of a torus, such as 4,4,2").front();
  // In a dimension of 1 a host is its own neighbour; SimGrid refuses two such links, which no route takes.
  dimensions.erase(std::remove(dimensions.begin(), dimensions.end(), 1UL), dimensions.end());
  if (dimensions.empty()) dimensions = {1};
  return {std::move(dimensions)};
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

bool has_static_routes(const Topology& topology) {
  const Routing* routing = routing_of(topology);
  return routing == nullptr || routing->is_static();
}

void check_routes(const Topology& topology) {
  visit_topology(
      topology, [](const SingleSwitch&) {}, [](const Torus&) {}, [](const FatTree& tree) { check_tree(tree); },
      [](const Dragonfly& fly) { check_fly(fly); },
      [](const HostGroups& one) {
        if (!(one.extra_latency_s >= 0) || !std::isfinite(one.extra_latency_s))
          throw DomainError("extra_latency_s", one.extra_latency_s, "0 s or more");
        if (!(one.bandwidth_share > 0) || one.bandwidth_share > 1)
          throw DomainError("bandwidth_share", one.bandwidth_share, "above 0 and at most 1");
      });
}

std::vector<std::size_t> ways_between(const Topology& topology, std::size_t source, std::size_t destination) {
  if (const auto* tree = std::get_if<FatTree>(&topology)) return ways_on(*tree, source, destination);
  if (const auto* fly = std::get_if<Dragonfly>(&topology)) return ways_on(*fly, source, destination);
  return {destination};
}

bool has_places_for(const Topology& topology, int hosts) {
  const auto places = hosts_of(topology), wanted = std::optional<unsigned long>(hosts);
  const auto* tree = std::get_if<FatTree>(&topology);
  if (!places || places == wanted) return true;
  return tree != nullptr && *places > *wanted && *places - *wanted < tree->children.front();
}

}  // namespace hplcast::core
