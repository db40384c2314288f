#include "hplcast/core/cluster_model.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

namespace {

constexpr std::size_t max_hosts = 1'000'000;

DomainError bad_radical(const std::string& radical, const std::string& why) {
  return DomainError("host names", "\"" + radical + "\" (" + why + ")", "names such as node-[1-32,40].site or a,b,c");
}

/// Splits at commas that are not inside brackets.
std::vector<std::string> split_outside_brackets(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '"' || c == '\\')
      throw bad_radical(text, "a blank, quotation mark, backslash or control character");
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth < 0 || depth > 1) throw bad_radical(text, "unbalanced brackets");
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) throw bad_radical(text, "unbalanced brackets");
  return parts;
}

bool all_digits(const std::string& text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "3" or "01-16" to the numbers as text, padded like the first.
std::vector<std::string> expand_range(const std::string& radical, const std::string& range) {
  const std::size_t dash = range.find('-');
  const std::string first = range.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
  if (!all_digits(first) || !all_digits(last)) throw bad_radical(radical, "`" + range + "` is not a range");
  const long from = std::stol(first);
  const long to = std::stol(last);
  if (to < from) throw bad_radical(radical, "`" + range + "` goes down");
  if (static_cast<std::size_t>(to - from) >= max_hosts) throw bad_radical(radical, "more than 1 million hosts");
  std::vector<std::string> numbers;
  for (long i = from; i <= to; ++i) {
    std::string number = std::to_string(i);
    if (number.size() < first.size()) number.insert(0, first.size() - number.size(), '0');
    numbers.push_back(number);
  }
  return numbers;
}

void expand_part(const std::string& radical, const std::string& part, std::vector<std::string>& names) {
  const std::size_t open = part.find('[');
  if (open == std::string::npos) {
    if (part.empty()) throw bad_radical(radical, "an empty name");
    names.push_back(part);
    return;
  }
  const std::size_t close = part.find(']', open);
  std::vector<std::string> tails;
  const std::string rest = part.substr(close + 1);
  if (rest.empty())
    tails.emplace_back();
  else
    expand_part(radical, rest, tails);
  std::size_t begin = open + 1;
  while (begin <= close) {
    const std::size_t end = std::min(part.find(',', begin), close);
    for (const std::string& number : expand_range(radical, part.substr(begin, end - begin))) {
      if (names.size() + tails.size() > max_hosts) throw bad_radical(radical, "more than 1 million hosts");
      for (const std::string& tail : tails) names.push_back(part.substr(0, open) + number + tail);
    }
    begin = end + 1;
  }
}

}  // namespace

std::vector<std::string> expand_hosts(const std::string& radical) {
  std::vector<std::string> names;
  for (const std::string& part : split_outside_brackets(radical)) expand_part(radical, part, names);
  return names;
}

namespace {

constexpr int most_cores_per_host = 1000000;  // as hosts: code goes through all of them

/// Hosts::Values or HostKind.
template <typename Shape>
void check_shape(const Shape& shape) {
  if (shape.cores < 1) throw DomainError("cores", shape.cores, "at least 1 per host");
  if (shape.cores > most_cores_per_host) throw DomainError("cores", shape.cores, "at most 1000000 per host");
  if (shape.cpus < 1) throw DomainError("cpus", shape.cpus, "at least 1 per host");
  require(shape.cpus <= shape.cores, "cpus", shape.cpus, "at most the " + std::to_string(shape.cores) + " cores");
  if (!(shape.memory_bytes >= 0)) throw DomainError("memory_bytes", shape.memory_bytes, "a number >= 0 (0: not known)");
  const RankToCpu& map = shape.rank_to_cpu;
  require(map.kind != RankToCpu::Kind::block || shape.cores % shape.cpus == 0, "cores", shape.cores,
          "a multiple of cpus (" + std::to_string(shape.cpus) + ") for rank_to_cpu `block`");
  if (map.kind == RankToCpu::Kind::list) {
    require(static_cast<int>(map.list.size()) == shape.cores, "rank_to_cpu",
            std::to_string(map.list.size()) + " entries",
            "one for each of the " + std::to_string(shape.cores) + " cores");
    for (const int cpu : map.list)
      if (cpu < 0 || cpu >= shape.cpus)
        throw DomainError("rank_to_cpu", cpu, "CPUs from 0 to " + std::to_string(shape.cpus - 1));
  }
}

std::vector<int> kinds_of(const std::vector<HostKind>& kinds, const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::size_t> index;
  for (const std::string& name : names) index.emplace(name, index.size());
  std::vector<int> result(names.size(), Hosts::no_kind);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const HostKind& kind = kinds[k];
    const std::string of = "kind \"" + kind.name + "\"";
    if (kind.name.empty() || kind.name == "others")
      throw DomainError("name of a kind of hosts", "\"" + kind.name + "\"", "a name other than others");
    for (std::size_t other = 0; other < k; ++other)
      if (kinds[other].name == kind.name) throw DomainError(of, "twice", "each kind once");
    check_shape(kind);
    require(kind.link_share > 0 && kind.link_share <= 1, "link_share of " + of, kind.link_share,
            "a number above 0, at most 1", "the network between hosts is that of the fastest links");
    for (const std::string& name : expand_hosts(kind.hosts)) {
      const auto found = index.find(name);
      if (found == index.end())
        throw DomainError("a host of " + of, name,
                          "hosts among those of the cluster, " + names.front() + " to " + names.back());
      int& own = result[found->second];
      if (own != Hosts::no_kind)
        throw DomainError("kinds of host " + name,
                          "\"" + kinds[static_cast<std::size_t>(own)].name + "\" and \"" + kind.name + "\"",
                          "one kind for each host");
      own = static_cast<int>(k);
    }
  }
  return result;
}

int cpu_on(const RankToCpu& map, int core, int cores, int cpus) noexcept {
  switch (map.kind) {
    case RankToCpu::Kind::cyclic:
      return core % cpus;
    case RankToCpu::Kind::list:
      return map.list[static_cast<std::size_t>(core)];
    case RankToCpu::Kind::block:
      break;
  }
  return core / (cores / cpus);
}

}  // namespace

Hosts Hosts::make(Values values) {
  check_shape(values);
  if (values.threads_per_rank < 1) throw DomainError("threads_per_rank", values.threads_per_rank, "at least 1");
  Hosts hosts;
  hosts.names_ = expand_hosts(values.names);
  std::vector<std::string> sorted = hosts.names_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw DomainError("host names", *twice + " twice", "each host once");
  if (!values.kinds.empty()) hosts.kind_of_ = kinds_of(values.kinds, hosts.names_);
  hosts.values_ = std::move(values);
  long long cores = 0;
  for (int host = 0; host <= hosts.count(); ++host) {
    if (cores > std::numeric_limits<int>::max())
      throw DomainError("cores of all hosts", std::to_string(cores), "less than 2^31");
    if (hosts.has_kinds()) hosts.first_core_.push_back(static_cast<int>(cores));
    if (host < hosts.count()) cores += hosts.cores_of(host);
  }
  return hosts;
}

int Hosts::most_cores() const noexcept {
  int most = has_kinds() ? 0 : values_.cores;
  for (std::size_t host = 0; host < kind_of_.size(); ++host) most = std::max(most, cores_of(static_cast<int>(host)));
  return most;
}

int Hosts::most_cpus() const noexcept {
  int most = has_kinds() ? 0 : values_.cpus;
  for (std::size_t host = 0; host < kind_of_.size(); ++host) most = std::max(most, cpus_of(static_cast<int>(host)));
  return most;
}

int Hosts::cpu_of(int host, int local_rank) const noexcept {
  const int cores = cores_of(host);
  const HostKind* kind = own(host);
  return cpu_on(kind == nullptr ? values_.rank_to_cpu : kind->rank_to_cpu, local_rank % cores, cores, cpus_of(host));
}

Hosts::Place Hosts::place_of(int rank) const noexcept {
  if (!has_kinds()) return {rank / values_.cores, rank % values_.cores};
  const auto next = std::upper_bound(first_core_.begin(), std::prev(first_core_.end()), rank);
  return {static_cast<int>(next - first_core_.begin()) - 1, rank - *std::prev(next)};
}

int Hosts::ranks_on(int host, int ranks) const noexcept {
  return std::clamp(ranks - first_core_of(host), 0, cores_of(host));
}

std::string Hosts::text() const {
  const auto hosts_text = [](long hosts, const std::string& of, int cores) {
    return counted(hosts, "host") + of + " of " + counted(cores, "core");
  };
  if (!has_kinds()) return hosts_text(count(), "", values_.cores);
  std::vector<std::string> parts;
  for (int kind = no_kind; kind < static_cast<int>(values_.kinds.size()); ++kind) {
    const long hosts = std::count(kind_of_.begin(), kind_of_.end(), kind);
    const int cores = kind == no_kind ? values_.cores : values_.kinds[static_cast<std::size_t>(kind)].cores;
    if (hosts > 0) parts.push_back(hosts_text(hosts, " (" + kind_name(kind) + ")", cores));
  }
  return comma_separated(parts);
}

int ClusterModel::needed_schema_version() const {
  if (!empty_call_s.empty()) return schema_version;
  if (!aliased.empty()) return 11;
  for (const HostKind& kind : hosts.values().kinds)
    if (kind.accelerators) return 10;
  if (frequency_changes(power)) return 9;
  if (network.values().rails) return 8;
  if (hosts.has_kinds()) return 7;
  const Topology& topology = network.values().topology;
  if (!has_static_routes(topology) || std::holds_alternative<HostGroups>(topology)) return 6;
  return accelerators ? 5 : 4;
}

double EstimatedRatio::certainty() const noexcept {
  const double change = std::pow(std::log(ratio), 2);
  return change > 0 ? std::max(0.0, 1 - std::pow(standard_error / ratio, 2) / change) : 0;
}

EstimatedRatio aliased_entry(const ClusterModel& cluster, const std::string& kernel, long leading_dimension) {
  EstimatedRatio ratio{1, 0};
  for (const AliasedColumns& aliased : cluster.aliased) {
    if (columns_apart_bytes(leading_dimension) < aliased.bytes) continue;
    if (const auto found = aliased.kernels.find(kernel);
        found != aliased.kernels.end() && found->second.certainty() > 0)
      ratio = found->second;
  }
  return ratio;
}

double aliased_ratio(const ClusterModel& cluster, const std::string& kernel, long leading_dimension) {
  const EstimatedRatio found = aliased_entry(cluster, kernel, leading_dimension);
  return std::pow(found.ratio, found.certainty());
}

const AcceleratorModel* ClusterModel::accelerators_of(int host) const {
  const int kind = hosts.kind_of(host);
  const std::optional<AcceleratorModel>* own = &accelerators;
  if (kind != Hosts::no_kind && hosts.values().kinds[static_cast<std::size_t>(kind)].accelerators)
    own = &hosts.values().kinds[static_cast<std::size_t>(kind)].accelerators;
  return own->has_value() && (*own)->per_host > 0 ? &**own : nullptr;
}

bool ClusterModel::has_accelerators() const {
  const auto& kinds = hosts.values().kinds;
  return accelerators || std::any_of(kinds.begin(), kinds.end(), [](const HostKind& kind) {
           return kind.accelerators && kind.accelerators->per_host > 0;
         });
}

static void check_rails(const Rails& rails, const ClusterModel& cluster) {
  const Topology& topology = cluster.network.values().topology;
  if (std::holds_alternative<Torus>(topology))
    throw DomainError("rails", rails.cards.size(), "none in a torus: its hosts have no links to a switch");
  if (static_cast<int>(rails.near.size()) < cluster.hosts.most_cpus())
    throw DomainError("rails.near", "cards of " + std::to_string(rails.near.size()) + " CPUs",
                      "those of all " + std::to_string(cluster.hosts.most_cpus()) + " CPUs of a host");
}

void check_links(const ClusterModel& cluster) {
  const Topology& topology = cluster.network.values().topology;
  require(has_places_for(topology, cluster.hosts.count()), "topology",
          kind_of(topology) + (" of " + counted(hosts_of(topology).value_or(0), "host")),
          "one of " + counted(cluster.hosts.count(), "host"),
          "`topology` of the network: without it all hosts are on a single switch");
  if (cluster.network.values().rails) check_rails(*cluster.network.values().rails, cluster);
  if (std::holds_alternative<SingleSwitch>(topology) || std::holds_alternative<HostGroups>(topology)) return;
  for (const HostKind& kind : cluster.hosts.values().kinds)
    require(kind.link_share >= 1, "link_share of kind \"" + kind.name + "\"", kind.link_share,
            std::string("1 in a ") + kind_of(topology),
            "kinds of hosts have links of their own on a single_switch and in host_groups only");
}

std::string stretch_name(const std::string& before, const std::string& after, StretchLevel level) {
  const auto function_of = [](const std::string& call) { return call.substr(0, call.find('+')); };
  switch (level) {
    case StretchLevel::site:
      return before + " > " + after;
    case StretchLevel::function:
      return function_of(before) + " > " + function_of(after);
    case StretchLevel::any:
      break;
  }
  return "any > any";
}

std::string call_site_name(const std::string& function, const std::string& site) {
  return function + (site.empty() ? "" : " in " + site);
}

double largest_face(const KernelShape& shape) noexcept {
  return std::max({shape.m * shape.n, shape.m * shape.k, shape.n * shape.k});
}

}  // namespace hplcast::core
