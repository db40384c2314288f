#include "smpi-models/simgrid_port/simgrid_port.hpp"

#include <simgrid/s4u/NetZone.hpp>

// SimGrid 4 has other names for what adds a part to a zone, and makes the root zone itself.
#if SIMGRID_VERSION >= 40000
#define ADD(part) add_##part
#else
#define ADD(part) create_##part
#endif

namespace hplcast::smpi_models::port {

namespace {

using Numbers = std::vector<unsigned long>;
constexpr auto duplex = s4u::Link::SharingPolicy::SPLITDUPLEX;

/// Makes the zone of a hierarchy.
struct Make {
  const std::string& name;
  double bytes_per_s;
  double latency_s;
#if SIMGRID_VERSION >= 40000
  s4u::NetZone* root;

  s4u::NetZone* operator()(const core::Torus& torus) const {
    return root->add_netzone_torus(name, torus.dimensions, bytes_per_s, latency_s, duplex);
  }
  s4u::NetZone* operator()(const core::FatTree& tree) const {
    return root->add_netzone_fatTree(name, static_cast<unsigned>(tree.children.size()), tree.children, tree.parents,
                                     tree.links, bytes_per_s, latency_s, duplex);
  }
  s4u::NetZone* operator()(const core::Dragonfly& fly) const {
    return root->add_netzone_dragonfly(name, fly.groups, fly.chassis, fly.routers, fly.nodes, bytes_per_s, latency_s,
                                       duplex);
  }
#else
  s4u::ClusterCallbacks leaves;

  s4u::NetZone* operator()(const core::Torus& torus) const {
    return s4u::create_torus_zone(name, nullptr, torus.dimensions, leaves, bytes_per_s, latency_s, duplex);
  }
  s4u::NetZone* operator()(const core::FatTree& tree) const {
    return s4u::create_fatTree_zone(
        name, nullptr, {static_cast<unsigned>(tree.children.size()), tree.children, tree.parents, tree.links}, leaves,
        bytes_per_s, latency_s, duplex);
  }
  s4u::NetZone* operator()(const core::Dragonfly& fly) const {
    return s4u::create_dragonfly_zone(name, nullptr, {fly.groups, fly.chassis, fly.routers, fly.nodes}, leaves,
                                      bytes_per_s, latency_s, duplex);
  }
#endif
};

}  // namespace

s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, const std::vector<double>& flop_per_s) {
  return zone->ADD(host)(name, flop_per_s);
}

s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bytes_per_s) {
  return zone->ADD(link)(name, bytes_per_s);
}

s4u::Link* add_split_duplex_link(s4u::NetZone* zone, const std::string& name, double bytes_per_s) {
  return zone->ADD(split_duplex_link)(name, bytes_per_s);
}

void add_route(s4u::NetZone* zone, const s4u::Host* from, const s4u::Host* to,
               const std::vector<s4u::LinkInRoute>& links) {
#if SIMGRID_VERSION >= 40000
  zone->add_route(from, to, links);
#else
  simgrid::kernel::routing::NetPoint* const destination = to == nullptr ? nullptr : to->get_netpoint();
  zone->add_route(from->get_netpoint(), destination, nullptr, nullptr, links);
#endif
}

s4u::NetZone* make_star(const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star(name);
#else
  return s4u::create_star_zone(name);
#endif
}

s4u::NetZone* make_hierarchy(const std::string& name, const Hierarchy& hierarchy, const Leaves& leaves,
                             double bytes_per_s, double latency_s) {
  const auto loopback = [leaves](s4u::NetZone* zone, const Numbers&, unsigned long id) {
    return leaves.loopback(zone, id);
  };
#if SIMGRID_VERSION >= 40000
  const Make make{name, bytes_per_s, latency_s, s4u::Engine::get_instance()->get_netzone_root()};
  s4u::NetZone* zone = std::visit(make, hierarchy)->set_loopback_cb(loopback);
  return zone->set_host_cb(
      [leaves](s4u::NetZone* in, const Numbers&, unsigned long id) { return leaves.host(in, id); });
#else
  const auto host = [leaves](s4u::NetZone* zone, const Numbers&, unsigned long id) {
    simgrid::kernel::routing::NetPoint* const no_gateway = nullptr;
    return std::pair(leaves.host(zone, id)->get_netpoint(), no_gateway);
  };
  return std::visit(Make{name, bytes_per_s, latency_s, s4u::ClusterCallbacks(host, loopback, {})}, hierarchy);
#endif
}

}  // namespace hplcast::smpi_models::port
