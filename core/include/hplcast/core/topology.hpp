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

/// Levels of switches, from the hosts up: "levels;children per level;parents per level;links per level".
struct FatTree {
  static constexpr const char* kind = "fat_tree";
  std::vector<unsigned> children, parents, links;

  static FatTree from(const std::string& parameters);
  std::string parameters() const;
  std::optional<unsigned long> hosts() const;
};

/// "groups,links;chassis,links;routers,links;nodes": at most as many groups as a chassis has routers.
struct Dragonfly {
  static constexpr const char* kind = "dragonfly";
  std::pair<unsigned, unsigned> groups, chassis, routers;  ///< how many, and their links
  unsigned nodes = 0;                                      ///< of each router

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

using Topology = std::variant<SingleSwitch, FatTree, Dragonfly, Torus>;

/// @throws DomainError for an unknown kind or parameters that are not of its form.
Topology topology_from(const std::string& kind, const std::string& parameters);

const char* kind_of(const Topology& topology);
std::string parameters_of(const Topology& topology);
std::optional<unsigned long> hosts_of(const Topology& topology);

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
  static_assert(is_there, "visit_topology() lacks a function for this kind of topology: `a topology` in CONTRIBUTING.md");
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
