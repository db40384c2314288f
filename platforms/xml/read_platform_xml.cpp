// Reads a platform file of SimGrid: its elements first, then groups of hosts.
#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <set>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "platforms/xml/xml_costs.hpp"

namespace hplcast::platforms {

namespace {

// --- XML, as much as platform files have ---

struct Element {
  core::Location where;  ///< `field`: its tag
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;

  bool is(std::string_view tag) const { return where.field == tag; }
  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const {
    throw core::ParseError(where, message, hint);
  }
  std::string text_or(const std::string& key, const std::string& otherwise) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? otherwise : found->second;
  }
  const std::string& text(const std::string& key) const {
    const auto found = attributes.find(key);
    if (found == attributes.end()) fail("no attribute `" + key + "`; expected one, as SimGrid does");
    return found->second;
  }
  /// The value of `make`, whose errors become those of this element.
  template <typename Make>
  auto made(Make make, const std::string& what = "") const {
    try {
      return make();
    } catch (const core::Error& error) {
      fail(what + error.what());
    }
  }
  double number(const std::string& key, double (*parse)(const std::string&)) const {
    const std::string& value = text(key);
    return made([&] { return parse(value); }, key + ": ");
  }
  double positive(const std::string& key, double (*parse)(const std::string&)) const {
    const double value = number(key, parse);
    if (!(value > 0)) fail("found " + key + "=\"" + text(key) + "\"; expected more than 0");
    return value;
  }
};

std::string unescaped(std::string text) {
  for (const auto& [name, character] :
       {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}})
    text = core::all_replaced(std::move(text), name, character);
  return text;
}

constexpr const char* blanks = " \t\r\n";

/// `tag`: what stands between < and >, without the / of an element that ends at once.
Element element_of(const std::string& tag, core::Location where) {
  const std::size_t begin = std::min(tag.find_first_of(blanks), tag.size());
  where.field = tag.substr(0, begin);
  Element one{std::move(where), {}, {}};
  for (std::size_t at = tag.find_first_not_of(blanks, begin), end = 0; at != std::string::npos;) {
    const std::size_t quote = tag.find_first_of("\"'", at);
    end = quote == std::string::npos ? quote : tag.find(tag[quote], quote + 1);
    const std::size_t name_end = tag.find_first_of("= \t\r\n", at);
    if (end == std::string::npos || tag.find_first_not_of("= \t\r\n", name_end) != quote)
      one.fail("found `" + tag.substr(at, 20) + "`; expected attributes such as id=\"x\"");
    if (!one.attributes.emplace(tag.substr(at, name_end - at), unescaped(tag.substr(quote + 1, end - quote - 1)))
             .second)
      one.fail("found `" + tag.substr(at, name_end - at) + "` twice; expected each attribute once");
    at = tag.find_first_not_of(blanks, end + 1);
  }
  return one;
}

/// The element <platform>.
Element read_elements(std::istream& in, const std::string& name) {
  std::string text;
  std::vector<Element> open(1);  // the file, then elements that have not ended
  std::size_t line = 1;
  const auto fail = [&](const std::string& found) {
    throw core::ParseError({name, line, ""}, "found " + found + "; expected a platform file of SimGrid (XML)");
  };
  constexpr std::size_t most_bytes = 256 * 1024 * 1024;
  for (std::string some(1 << 16, ' '); in.read(some.data(), 1 << 16), in.gcount() > 0;) {
    text.append(some, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_bytes) fail("more than 256 MiB");
  }
  if (!core::is_utf8(text)) fail("bytes that are not UTF-8");
  const auto count_lines = [&](std::size_t from, std::size_t to) {
    line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(from),
                                                text.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  };
  for (std::size_t at = 0, end = 0; (at = text.find('<', end)) != std::string::npos; count_lines(at, end)) {
    count_lines(end, at);
    const std::string close = text.compare(at, 4, "<!--") == 0 ? "-->" : ">";
    end = text.find(close, at);
    if (end == std::string::npos) fail("`<` without `" + close + "`");
    std::string tag = text.substr(at + 1, end - at - 1);
    end += close.size();
    if (tag.empty() || tag.front() == '!' || tag.front() == '?') continue;
    if (tag.front() != '/') {
      const bool ends = tag.back() == '/';
      if (ends) tag.pop_back();
      open.push_back(element_of(tag, {name, line, ""}));
      constexpr std::size_t most_depth = 100;
      if (open.size() > most_depth) fail("elements inside of 100 others");
      if (!ends) continue;
    } else if (open.size() == 1 || !open.back().is(tag.substr(1, tag.find_last_not_of(blanks)))) {
      fail("<" + tag + "> where none ends, or another");
    }
    Element done = std::move(open.back());
    open.pop_back();
    open.back().children.push_back(std::move(done));
  }
  if (open.size() > 1) open.back().fail("found the end of the file; expected </" + open.back().where.field + ">");
  const std::vector<Element>& roots = open.front().children;
  if (roots.size() != 1 || !roots.front().is("platform")) fail(roots.empty() ? "no element" : "no <platform>");
  return roots.front();
}

// --- groups of hosts ---

/// "1Gf", "98.095Mf,50Mf" (of states of frequency, the first counts), "1Gflops".
double speed_of(const std::string& text) {
  const std::string first = text.substr(0, text.find(','));
  return core::parse_flop_per_s(core::ends_with(first, "f") ? first + "lop/s" : first);
}

Wire wire_of(const Element& one, const std::string& bandwidth, const std::string& latency, const std::string& policy) {
  const bool instant = one.attributes.count(latency) == 0;
  return {one.positive(bandwidth, core::parse_bytes_per_s), instant ? 0 : one.number(latency, core::parse_seconds),
          policy};
}

void add_hosts(const Element& one, const std::string& names, const Wire& link, HostGroup& group) {
  double cores = 0;
  if (!core::parse_double(one.text_or("core", "1"), cores) || cores < 1 || cores > 1e6 || cores != std::floor(cores))
    one.fail("found core=\"" + one.text("core") + "\"; expected a whole number from 1 to 1000000");
  const double flop_per_s = one.positive("speed", speed_of);
  for (const std::string& name : one.made([&] { return core::expand_hosts(names); }))
    group.hosts.push_back({name, flop_per_s, static_cast<int>(cores), link});
  group.names += (group.names.empty() ? "" : ",") + names;
}

/// Adds the hosts of a <cluster> or <cabinet>.
void add_numbered(const Element& one, HostGroup& group) {
  add_hosts(one, one.text("prefix") + "[" + one.text("radical") + "]" + one.text("suffix"),
            wire_of(one, "bw", "lat", one.text_or("sharing_policy", "SPLITDUPLEX")), group);
}

HostGroup cluster_element(const Element& one) {
  HostGroup group;
  group.id = one.text("id");
  group.router = one.text_or("router_id", one.text("prefix") + group.id + "_router" + one.text("suffix"));
  add_numbered(one, group);
  if (one.attributes.count("bb_bw") > 0) group.backbone = wire_of(one, "bb_bw", "bb_lat", "");
  if (one.attributes.count("loopback_bw") > 0) group.loopback = wire_of(one, "loopback_bw", "loopback_lat", "FATPIPE");
  const std::string kind = core::folded(one.text_or("topology", "FLAT"));
  if (kind == "flat") return group;
  group.topology = one.made([&] { return core::topology_from(kind, one.text_or("topo_parameters", "")); });
  const std::optional<unsigned long> places = core::hosts_of(group.topology);
  if (places && *places != group.hosts.size())
    one.fail("found " + std::to_string(group.hosts.size()) + " hosts; expected " + std::to_string(*places) +
             " by topo_parameters");
  return group;
}

using Links = std::vector<const Wire*>;

Wire route_of(const Links& links) {
  Wire route{std::numeric_limits<double>::infinity(), 0, ""};
  for (const Wire* one : links) {
    route.latency_s += one->latency_s;
    route.bytes_per_s = std::min(route.bytes_per_s, one->bytes_per_s);
  }
  return route;
}

/// Hosts and routers, and the routes between them.
struct Graph {
  std::map<std::string, std::size_t> nodes;
  std::vector<std::map<std::size_t, Links>> routes;

  std::size_t node(const std::string& id) {
    const auto [at, is_new] = nodes.emplace(id, nodes.size());
    if (is_new) routes.emplace_back();
    return at->second;
  }
  /// In both directions, unless `route` says otherwise.
  void add(const Element& route, const std::string& from, const std::string& to, const Links& links) {
    const std::size_t source = node(from), destination = node(to);
    routes[source][destination] = links;
    if (core::folded(route.text_or("symmetrical", "yes")) != "no") routes[destination].emplace(source, links);
  }
};

/// The way with the fewest links to each node.
std::map<std::size_t, Links> shortest_ways(const Graph& graph, std::size_t source) {
  std::map<std::size_t, Links> ways = {{source, {}}};
  std::set<std::pair<std::size_t, std::size_t>> next = {{0, source}};  // length, node
  while (!next.empty()) {
    const std::size_t from = next.begin()->second;
    next.erase(next.begin());
    for (const auto& [to, links] : graph.routes[from]) {
      const auto old = ways.find(to);
      const std::size_t length = ways[from].size() + links.size();
      if (old != ways.end() && old->second.size() <= length) continue;
      if (old != ways.end()) next.erase({old->second.size(), to});
      Links way = ways[from];
      way.insert(way.end(), links.begin(), links.end());
      ways[to] = std::move(way);
      next.insert({length, to});
    }
  }
  return ways;
}

using Routes = std::vector<std::pair<std::array<std::size_t, 2>, Wire>>;  // between two hosts, by their places

class PlatformReader {
 public:
  PlatformFile read(const Element& root, const std::string& zone);

 private:
  void look_at(const Element& one);
  void visit(const Element& zone);
  void find_ways(const Element& root);
  const Wire& link(const Element& one, const std::string& id) const;
  Links links_of(const Element& route) const;
  HostGroup switch_zone(const Element& zone);
  Graph graph_of(const Element& zone, HostGroup& group);
  HostGroup routed_zone(const Element& zone);
  void judge(const Routes& routes, const std::map<const Wire*, std::size_t>& uses, double latency_s, HostGroup& group);

  PlatformFile file_;
  std::map<std::string, Wire> links_;
  std::map<std::string, long> not_read_;
  std::vector<HostGroup> groups_;
  std::vector<const Element*> zones_;
};

/// Links and settings, and whatever is not read.
void PlatformReader::look_at(const Element& one) {
  static const std::set<std::string> known = {"platform",  "config",   "zone",      "AS",       "cluster", "cabinet",
                                              "host",      "router",   "link",      "backbone", "route",   "prop",
                                              "zoneRoute", "link_ctn", "host_link", "ASroute"};
  const std::string& tag = one.where.field;
  if (known.count(tag) == 0) ++not_read_["<" + tag + ">"];
  if (one.is("link"))
    links_[one.text("id")] = wire_of(one, "bandwidth", "latency", one.text_or("sharing_policy", "SHARED"));
  if (one.is("prop")) ++not_read_["property " + one.text("id")];
  for (const char* key : {"id", "prefix", "suffix"})
    if ((one.is("host") || key != std::string_view("id")) &&
        one.text_or(key, "").find_first_of("[],") != std::string::npos)
      one.fail("found " + std::string(key) + "=\"" + one.text(key) + "\"; expected a name without brackets and commas");
  for (const auto& [key, value] : one.attributes)
    if (core::ends_with(key, "_file") || key == "limiter_link" || key == "pstate")
      ++not_read_[key + " of <" + tag + ">"];
  for (const Element& child : one.children) {
    if (!one.is("config") || !child.is("prop")) {
      look_at(child);
      continue;
    }
    file_.settings[child.text("id")] = child.text("value");
    file_.config = one.where;
  }
}

const Wire& PlatformReader::link(const Element& one, const std::string& id) const {
  auto found = links_.find(id);
  for (const std::string direction : {"_UP", "_DOWN"})
    if (found == links_.end() && core::ends_with(id, direction))
      found = links_.find(id.substr(0, id.size() - direction.size()));
  if (found == links_.end()) one.fail("found the link `" + id + "`; expected the id of a <link>");
  return found->second;
}

Links PlatformReader::links_of(const Element& route) const {
  Links links;
  for (const Element& one : route.children)
    if (one.is("link_ctn")) links.push_back(&link(one, one.text("id")));
  return links;
}

void PlatformReader::visit(const Element& zone) {
  long hosts = 0;
  zones_.push_back(&zone);
  for (const Element& child : zone.children) {
    if (child.is("cluster")) groups_.push_back(cluster_element(child));
    if (child.is("zone") || child.is("AS")) visit(child);
    if (child.is("host") || child.is("cabinet") || child.is("peer")) ++hosts;
  }
  if (hosts == 0) return;
  const std::string routing = zone.text("routing");
  if (routing == "Cluster")
    groups_.push_back(switch_zone(zone));
  else if (routing == "Full" || routing == "Floyd" || core::begins_with(routing, "Dijkstra"))
    groups_.push_back(routed_zone(zone));
  else
    ++not_read_["zone " + zone.text("id") + " with routing " + routing];
  if (!groups_.empty() && groups_.back().hosts.empty()) zone.fail("no hosts that can be read; expected <host>");
}

HostGroup PlatformReader::switch_zone(const Element& zone) {
  HostGroup group;
  group.id = zone.text("id");
  std::map<std::string, const Wire*> wires;
  for (const Element& one : zone.children) {
    if (one.is("host_link")) {
      const Wire &up = link(one, one.text("up")), &down = link(one, one.text("down"));
      if (up.bytes_per_s != down.bytes_per_s || up.latency_s != down.latency_s)
        ++not_read_["down of <host_link> other than up"];
      wires[one.text("id")] = &up;
    }
    if (one.is("cabinet")) add_numbered(one, group);
    if (one.is("router")) group.router = one.text("id");
    if (one.is("backbone")) group.backbone = wire_of(one, "bandwidth", "latency", "");
    if (!one.is("route")) continue;
    if (one.text("src") == one.text("dst") && one.children.size() == 1)
      group.loopback = *links_of(one).front();
    else
      ++not_read_["<route> beside the switch"];
  }
  for (const Element& one : zone.children) {
    if (!one.is("host")) continue;
    const auto wire = wires.find(one.text("id"));
    if (wire == wires.end()) one.fail("no <host_link>; expected one for each host of a zone with routing Cluster");
    add_hosts(one, one.text("id"), *wire->second, group);
  }
  return group;
}

/// Adds the hosts, and the loopback if there is one.
Graph PlatformReader::graph_of(const Element& zone, HostGroup& group) {
  Graph graph;
  for (const char* tag : {"host", "router"})
    for (const Element& one : zone.children) {
      if (!one.is(tag)) continue;
      if (one.is("host")) add_hosts(one, one.text("id"), {}, group);
      graph.node(one.text("id"));
    }
  for (const Element& one : zone.children) {
    if (!one.is("route")) continue;
    const std::string &source = one.text("src"), &destination = one.text("dst");
    if (graph.nodes.count(source) == 0 || graph.nodes.count(destination) == 0)
      one.fail("found a route from `" + source + "` to `" + destination + "`; expected hosts or routers of its zone");
    const Links links = links_of(one);
    if (source == destination) {
      group.loopback = route_of(links);
      group.loopback->policy = links.empty() ? "" : links.front()->policy;
      continue;
    }
    graph.add(one, source, destination, links);
  }
  return graph;
}

/// Hosts with routes between each two of them, as one switch.
HostGroup PlatformReader::routed_zone(const Element& zone) {
  HostGroup group;
  group.id = zone.text("id");
  group.loopback = Wire{498e6, 15e-6, "FATPIPE"};  // SimGrid's own of hosts without one, but in clusters
  const Graph graph = graph_of(zone, group);
  const std::size_t hosts = group.hosts.size();
  constexpr std::size_t most_hosts = 1000;
  if (hosts > most_hosts) zone.fail("found " + std::to_string(hosts) + " hosts; expected at most 1000 with routes");
  Routes routes;
  std::vector<double> latencies;
  std::map<const Wire*, std::size_t> uses;
  for (std::size_t from = 0; from < hosts; ++from) {
    const auto ways = zone.text("routing") == "Full" ? graph.routes[from] : shortest_ways(graph, from);
    for (std::size_t to = 0; to < hosts; ++to) {
      if (to == from) continue;
      const auto way = ways.find(to);
      if (way == ways.end() || way->second.empty())
        zone.fail("no route from " + group.hosts[from].name + " to " + group.hosts[to].name +
                  "; expected one between each two hosts");
      const Wire& route = routes.emplace_back(std::array{from, to}, route_of(way->second)).second;
      latencies.push_back(route.latency_s);
      for (const Wire* wire : way->second) ++uses[wire];
      for (const std::size_t end : {from, to})
        group.hosts[end].link.bytes_per_s = std::max(group.hosts[end].link.bytes_per_s, route.bytes_per_s);
    }
  }
  if (hosts > 1) judge(routes, uses, core::median(latencies), group);
  return group;
}

/// Makes one switch, maybe with a backbone, of the routes, and tells where they differ.
void PlatformReader::judge(const Routes& routes, const std::map<const Wire*, std::size_t>& uses, double latency_s,
                           HostGroup& group) {
  const std::size_t of_a_host = 2 * (group.hosts.size() - 1);
  std::size_t odd_links = 0, odd_routes = 0;
  for (const auto& [wire, count] : uses) {
    if (count == routes.size() && group.hosts.size() > 2)
      group.backbone = *wire;
    else if (count != of_a_host)
      ++odd_links;
  }
  for (XmlHost& host : group.hosts) {
    host.link.latency_s = (latency_s - (group.backbone ? group.backbone->latency_s : 0)) / 2;
    host.link.policy = uses.begin()->first->policy;
  }
  double most_s = 0, least_bytes_per_s = std::numeric_limits<double>::infinity();
  for (const auto& [ends, route] : routes) {
    const double bytes_per_s = std::min(group.hosts[ends[0]].link.bytes_per_s, group.hosts[ends[1]].link.bytes_per_s);
    if (differ(route.latency_s, latency_s) || differ(route.bytes_per_s, bytes_per_s)) ++odd_routes;
    most_s = std::max(most_s, route.latency_s);
    least_bytes_per_s = std::min(least_bytes_per_s, route.bytes_per_s);
  }
  if (odd_links > 0)
    file_.losses.push_back("links that are neither of one host nor of all: " + std::to_string(odd_links) +
                           "; here each host has one link of its own");
  if (odd_routes > 0)
    file_.losses.push_back(std::to_string(odd_routes) + " of " + std::to_string(routes.size()) +
                           " routes differ from those of a switch (up to " + core::time_text(most_s) + ", down to " +
                           core::rate_text(least_bytes_per_s) + "): here all have the median latency, " +
                           core::time_text(latency_s) + ", and the bandwidth of the best route of either host");
}

/// The ways with the fewest links from the first host of each group to that of each other.
void PlatformReader::find_ways(const Element& root) {
  Graph graph;
  for (const Element* zone : zones_)
    for (const Element& one : zone->children) {
      const bool of_zones = one.is("zoneRoute") || one.is("ASroute");
      if (of_zones || (one.is("route") && zone->text_or("routing", "") != "Cluster"))
        graph.add(one, one.text(of_zones ? "gw_src" : "src"), one.text(of_zones ? "gw_dst" : "dst"), links_of(one));
    }
  for (const HostGroup& group : groups_) {
    Links links = {nullptr};
    if (group.backbone) links.push_back(&*group.backbone);
    for (const XmlHost& host : group.hosts) {
      links.front() = &host.link;
      if (!group.router.empty()) graph.add(root, host.name, group.router, links);
    }
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto ways = shortest_ways(graph, graph.node(groups_[i].hosts.front().name));
    for (std::size_t k = i + 1; k < groups_.size(); ++k) {
      const auto way = ways.find(graph.node(groups_[k].hosts.front().name));
      if (way == ways.end() || way->second.empty())
        root.fail("no route from the zone " + groups_[i].id + " to the zone " + groups_[k].id +
                      "; expected one between each two zones of hosts",
                  "--zone takes one");
      file_.between[{i, k}] = route_of(way->second);
    }
  }
}

PlatformFile PlatformReader::read(const Element& root, const std::string& zone) {
  look_at(root);
  visit(root);
  if (groups_.empty()) root.fail("no hosts in zones that can be read; expected a <cluster>, or a <zone> of hosts");
  if (zone.empty() && groups_.size() > 1) {
    find_ways(root);
    file_.id = root.children.back().text_or("id", "platform");
  }
  for (HostGroup& group : groups_)
    if (zone.empty() || group.id == zone) file_.groups.push_back(std::move(group));
  if (file_.groups.empty())
    root.fail("no zone `" + zone + "`; expected " +
              core::joined(groups_, ", ", [](const HostGroup& one) { return one.id; }));
  if (!zone.empty() && file_.groups.size() > 1) root.fail("found the zone `" + zone + "` twice; expected it once");
  for (const auto& [what, count] : not_read_)
    file_.losses.push_back("not read: " + what + (count > 1 ? ", " + std::to_string(count) + " times" : ""));
  return std::move(file_);
}

}  // namespace

PlatformFile read_platform_file(std::istream& in, const std::string& name, const std::string& zone) {
  return PlatformReader().read(read_elements(in, name), zone);
}

}  // namespace hplcast::platforms
