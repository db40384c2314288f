#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// How hosts are joined: the one list of topologies is `Topology`. Each has, beside its numbers,
///   kind          its name in cluster.json
///   from()        reads SimGrid's topo_parameters of it; @throws DomainError that shows the form expected
///   parameters()  writes them
///   hosts()       how many hosts it joins; nothing: any number
/// What differs from one to the next elsewhere is a call of visit_topology() with a function for each and none for the
/// rest: a topology that is forgotten does not compile.
namespace hplcast::core {

/// The part of the way between hosts that all of them share.
struct Backbone {
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
};

/// All hosts on one switch.
struct SingleSwitch {
  static constexpr const char* kind = "single_switch";
  std::optional<Backbone> backbone = {};  ///< nothing: the switch is not a bottleneck

  static SingleSwitch from(const std::string&) { return {}; }
  std::string parameters() const { return ""; }
  std::optional<unsigned long> hosts() const { return std::nullopt; }
};

/// One switch, but messages between hosts of different groups (racks, leaf switches) take longer.
struct HostGroups {
  static constexpr const char* kind = "host_groups";
  std::vector<unsigned> groups;  ///< number of that of each host
  double extra_latency_s = 0;    ///< between groups, beyond that inside of a group; at least 0
  double bandwidth_share = 1;    ///< of the rate inside of a group that a message between groups has; in (0, 1]

  static HostGroups from(const std::string&) { return {}; }
  std::string parameters() const { return ""; }
  std::optional<unsigned long> hosts() const { return groups.size(); }
  bool are_apart(std::size_t host, std::size_t other) const { return groups.at(host) != groups.at(other); }
};

/// Which of several ways a message takes.
struct Routing {
  bool adaptive = false;  ///< by the load of links when it is sent; else the same one for all messages of two hosts
  /// Numbers of two neighbours, all of whose links are down: a leaf switch and a top switch, or two groups.
  std::vector<std::pair<unsigned, unsigned>> failed_links = {};

  bool is_static() const { return !adaptive && failed_links.empty(); }
};

/// Levels of switches, from the hosts up: "levels;children per level;parents per level;links per level".
struct FatTree {
  static constexpr const char* kind = "fat_tree";
  std::vector<unsigned> children, parents, links;
  Routing routing = {};

  static FatTree from(const std::string& parameters);
  std::string parameters() const;
  std::optional<unsigned long> hosts() const;
};

/// "groups,links;chassis,links;routers,links;nodes": at most as many groups as a chassis has routers.
struct Dragonfly {
  static constexpr const char* kind = "dragonfly";
  std::pair<unsigned, unsigned> groups, chassis, routers;  ///< how many, and their links
  unsigned nodes = 0;                                      ///< of each router
  Routing routing = {};

  static Dragonfly from(const std::string& parameters);
  std::string parameters() const;
  std::optional<unsigned long> hosts() const;
};

/// "4,4,2": hosts in each dimension.
struct Torus {
  static constexpr const char* kind = "torus";
  std::vector<unsigned long> dimensions;

  static Torus from(const std::string& parameters);
  std::string parameters() const;
  std::optional<unsigned long> hosts() const;
};

using Topology = std::variant<SingleSwitch, FatTree, Dragonfly, Torus, HostGroups>;

/// @throws DomainError for an unknown kind or parameters that are not of its form.
Topology topology_from(const std::string& kind, const std::string& parameters);

const char* kind_of(const Topology& topology);
std::string parameters_of(const Topology& topology);
std::optional<unsigned long> hosts_of(const Topology& topology);

/// Null if there is only one way between two hosts. `AnyTopology`: Topology, which may be const.
template <typename AnyTopology>
auto* routing_of(AnyTopology&& topology) {
  if (auto* tree = std::get_if<FatTree>(&topology)) return &tree->routing;
  auto* fly = std::get_if<Dragonfly>(&topology);
  return fly != nullptr ? &fly->routing : nullptr;
}
bool has_static_routes(const Topology& topology);
/// Whether messages of several hosts cross the same link of a switch.
inline bool has_shared_links(const Topology& topology) {
  return hosts_of(topology) && !std::holds_alternative<HostGroups>(topology);
}

/// @throws DomainError for adaptive routing or failed links where there is only one way, links that are not there, two
/// neighbours that no way is left between, or groups with a latency or share beyond its range.
void check_routes(const Topology& topology);

/// Ways between two hosts, by their places: a way by host x is SimGrid's route from `source` to x without its last
/// link, then that from x to `destination` without its first. The usual one, by `destination` itself, comes first
/// unless a link of it has failed. On a fat tree others lead over other switches to the same leaf switch (as many as it
/// has hosts or the lowest level ways up), between groups of a dragonfly over one more group (Valiant's way; Kim,
/// Dally, Scott and Abts, ISCA 2008, 4.1). At most 32.
std::vector<std::size_t> ways_between(const Topology& topology, std::size_t source, std::size_t destination);

/// Whether so many hosts can be on it: as many as it has places. The last leaf switch of a fat tree may have some left.
bool has_places_for(const Topology& topology, int hosts);

/// Null if there is none. `AnyTopology`: Topology, which may be const.
template <typename AnyTopology>
auto* backbone_of(AnyTopology&& topology) {
  auto* one = std::get_if<SingleSwitch>(&topology);
  return one != nullptr && one->backbone ? &*one->backbone : nullptr;
}

/// Joins functions into one.
template <typename... Functions>
struct Visitor : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Visitor(Functions...) -> Visitor<Functions...>;

template <bool is_there, typename Kind>
struct FunctionFor {
  static_assert(is_there,
                "visit_topology() lacks a function for this kind of topology: `a topology` in CONTRIBUTING.md");
};

/// Calls the one of `functions` that takes this topology: visit_topology(topology, [](const Torus&) { ... }, ...).
/// Without a function for each it does not compile, and says so in one error (std::visit in pages of them).
template <typename... Functions>
decltype(auto) visit_topology(const Topology& topology, Functions... functions) {
  using All = Visitor<Functions...>;
  return std::visit(
      [all = All{std::move(functions)...}](const auto& one) -> decltype(auto) {
        using Kind = std::decay_t<decltype(one)>;
        constexpr bool is_there = std::is_invocable_v<const All&, const Kind&>;
        static_cast<void>(FunctionFor<is_there, Kind>());
        if constexpr (is_there) {
          return all(one);
        } else {  // of the same type as the others, to have one error only
          using Result = std::invoke_result_t<const All&, const SingleSwitch&>;
          return static_cast<Result>(Result());
        }
      },
      topology);
}

}  // namespace hplcast::core
