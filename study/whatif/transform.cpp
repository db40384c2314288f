#include "hplcast/study/transform.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/units.hpp"
#include "hplcast/fit/generative.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

using core::ClusterModel;

/// The argument of one transformation: parts between separators, read with messages that show the form expected.
class Argument {
 public:
  Argument(const TransformationInfo& info, const std::string& text, char separator = ':') : info_(info), text_(text) {
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts_.push_back(part);
    if (!text.empty() && text.back() == separator) parts_.emplace_back();  // getline() drops it
  }

  [[noreturn]] void fail() const { throw TransformationFormError(info_.name, text_, info_.argument); }
  const Argument& sized(std::size_t least, std::size_t most) const {
    if (parts_.size() < least || parts_.size() > most) fail();
    return *this;
  }
  std::size_t size() const { return parts_.size(); }
  const std::string& text(std::size_t i) const { return parts_.at(i); }
  double number(std::size_t i) const {
    double value = 0;
    if (!core::parse_double(parts_.at(i), value)) fail();
    return value;
  }
  int integer(std::size_t i) const {
    const double value = number(i);
    if (value != std::floor(value) || std::abs(value) > 1e9) fail();
    return static_cast<int>(value);
  }
  double seconds(std::size_t i) const { return quantity(i, core::parse_seconds); }
  double quantity(std::size_t i, double (*parse)(const std::string&)) const {
    try {
      return parse(parts_.at(i));
    } catch (const core::UsageError&) {
      fail();
    }
  }
  core::DetoursPer detours_per(std::size_t i, core::DetoursPer otherwise) const {
    return i < size() ? core::from_name<core::DetoursPer>(parts_[i]) : otherwise;
  }
  /// "3" or "0-3", each below `cores_of_host`; none: all.
  std::vector<int> cores(std::size_t i, int cores_of_host) const {
    if (i >= size()) return {};
    const std::size_t dash = parts_[i].find('-');
    const auto number = [&](const std::string& digits) {
      int value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size()) fail();
      return value;
    };
    const int first = number(parts_[i].substr(0, dash));
    const int last = dash == std::string::npos ? first : number(parts_[i].substr(dash + 1));
    if (last < first) fail();
    if (last >= cores_of_host)
      throw core::DomainError("cores of detours", parts_[i],
                              "below " + std::to_string(cores_of_host) + ", the cores of a host");
    std::vector<int> all(static_cast<std::size_t>(last - first) + 1);
    std::iota(all.begin(), all.end(), first);
    return all;
  }
  /// Of a transformation without a number.
  void require_yes() const {
    if (text_ != "yes") fail();
  }
  int integer_or(std::size_t i, int otherwise) const { return i < size() ? integer(i) : otherwise; }
  SpeedRank rank(std::size_t i, SpeedRank otherwise) const {
    if (i >= size()) return otherwise;
    if (parts_[i] == "slowest") return SpeedRank::slowest;
    if (parts_[i] == "median") return SpeedRank::median;
    if (parts_[i] == "fastest") return SpeedRank::fastest;
    fail();
  }

 private:
  const TransformationInfo& info_;
  std::string text_;
  std::vector<std::string> parts_;
};

using Apply = std::function<ClusterModel(const ClusterModel&, const TransformationInfo&, const std::string&)>;

struct Entry {
  TransformationInfo info;
  Apply apply;
};

/// A transformation with a single number.
Entry of_number(TransformationInfo info, std::function<ClusterModel(const ClusterModel&, double)> apply) {
  return {std::move(info),
          [apply](const ClusterModel& cluster, const TransformationInfo& self, const std::string& text) {
            const double number = Argument(self, text).sized(1, 1).number(0);
            // No machine differs by that much: it is a slip of the pen, or a quantity in place of a factor.
            constexpr double most = 1e6;
            if (self.argument == "FACTOR" && number > 0 && (number > most || number < 1 / most))
              throw TransformationFormError(self.name, text, "a factor from 1e-6 to 1e6");
            return apply(cluster, number);
          }};
}

/// A transformation with parts between colons.
Entry of_parts(TransformationInfo info, std::size_t least, std::size_t most,
               std::function<ClusterModel(const ClusterModel&, const Argument&)> apply) {
  return {std::move(info), [=](const ClusterModel& cluster, const TransformationInfo& self, const std::string& text) {
            return apply(cluster, Argument(self, text).sized(least, most));
          }};
}

std::vector<Entry> speed_entries() {
  return {of_number({"scale-dgemm", "FACTOR", "speed of dgemm; 2 is twice as fast"},
                    [](const ClusterModel& c, double f) { return scale_kernel(c, "dgemm", f); }),
          of_number({"scale-kernels", "FACTOR", "speed of all kernels"}, scale_kernels),
          of_number({"scale-bandwidth", "FACTOR", "bandwidth between hosts"}, scale_bandwidth),
          of_number({"scale-capacity", "FACTOR", "total bandwidth of several messages through the link of a host"},
                    scale_capacity),
          of_number({"scale-latency", "FACTOR", "latency between hosts; 2 is half the latency"}, scale_latency),
          of_number({"scale-all", "FACTOR", "speed of everything: kernels and network"}, scale_all)};
}

ClusterModel capped(const ClusterModel& cluster, const Argument& argument) {
  const std::string limited = argument.size() > 1 ? argument.text(1) : "cpu";
  if (limited != "cpu" && limited != "host") argument.fail();
  return with_power_cap(cluster, argument.quantity(0, core::parse_watts), limited == "host");
}

std::vector<Entry> power_entries() {
  return {
      of_parts(
          {"frequency", "NUMBERGHz", "of all CPUs, 1.8GHz or 1800MHz; needs power.frequency in cluster.json"}, 1, 1,
          [](const ClusterModel& c, const Argument& a) { return at_frequency(c, a.quantity(0, core::parse_hertz)); }),
      of_parts({"power-cap", "WATTS[:cpu|host]", "limit of each CPU (or host), 125W: lowers the frequency to it"}, 1, 2,
               capped)};
}

std::vector<Entry> variability_entries() {
  const auto spatial = [](const ClusterModel& c, const Argument& a) {
    const int seed = a.integer_or(1, 1);
    if (seed < 0) a.fail();
    return with_spatial_cv(c, a.number(0), static_cast<std::uint64_t>(seed));
  };
  return {of_number({"temporal-cv", "CV", "coefficient of variation between calls of dgemm; 0: none"},
                    [](const ClusterModel& c, double cv) { return with_temporal_cv(c, "dgemm", cv); }),
          of_number({"kernels-temporal-cv", "CV", "the same for all kernels"},
                    [](const ClusterModel& c, double cv) { return with_temporal_cv(c, std::nullopt, cv); }),
          of_number({"scale-network-noise", "FACTOR", "scatter of message costs; 0: none"}, scale_network_noise),
          of_parts({"spatial-cv", "CV[:SEED]", "coefficient of variation of dgemm between CPUs; 0: all alike"}, 1, 2,
                   spatial)};
}

/// "MODEL.json;seed=7;day=0;hosts=node-[1-64];spatial=1;temporal=1"
ClusterModel generated(const ClusterModel& cluster, const TransformationInfo& info, const std::string& text) {
  const Argument argument(info, text, ';');
  if (argument.size() < 1) argument.fail();
  core::GenerativeModel model;
  core::read_file(argument.text(0),
                  [&](std::istream& in, const std::string& name) { model = core::read_generative(in, name); });
  ClusterModel base = cluster;
  fit::GenerateOptions options;
  for (std::size_t i = 1; i < argument.size(); ++i) {
    const std::string& part = argument.text(i);
    const std::size_t equal = part.find('=');
    const std::string key = part.substr(0, equal);
    const std::string value = equal == std::string::npos ? "" : part.substr(equal + 1);
    double number = 0;
    const bool numeric = core::parse_double(value, number) && number >= 0;
    if (key == "hosts" && !value.empty()) {
      core::Hosts::Values hosts = base.hosts.values();
      hosts.names = value;
      base.hosts = core::Hosts::make(std::move(hosts));
      for (auto& [kernel, law] : base.kernels) law = core::KernelModel::make(law.level(), law.cluster_law());
    } else if (numeric && (key == "seed" || key == "day") && number == std::floor(number)) {
      (key == "seed" ? options.seed : options.day) = static_cast<std::uint64_t>(number);
    } else if (numeric && (key == "spatial" || key == "temporal")) {
      (key == "spatial" ? options.spatial : options.temporal) = number;
    } else {
      argument.fail();
    }
  }
  return fit::sample_cluster(base, model, options);
}

std::vector<Entry> node_entries() {
  return {of_parts({"remove-nodes", "COUNT[:slowest|median|fastest]", "without hosts, the slowest first"}, 1, 2,
                   [](const ClusterModel& c, const Argument& a) {
                     return remove_nodes(c, a.integer(0), a.rank(1, SpeedRank::slowest));
                   }),
          {{"remove-hosts", "NAMES", "without these hosts: node-[3,7]"},
           [](const ClusterModel& c, const TransformationInfo&, const std::string& text) {
             return remove_named_nodes(c, core::expand_hosts(text));
           }},
          of_parts({"add-nodes", "COUNT[:slowest|median|fastest]", "more hosts, copies of the median one"}, 1, 2,
                   [](const ClusterModel& c, const Argument& a) {
                     return add_nodes(c, a.integer(0), a.rank(1, SpeedRank::median));
                   }),
          of_parts({"replace-nodes", "COUNT[:WHICH[:BY]]", "hosts (slowest) become like another (median)"}, 1, 3,
                   [](const ClusterModel& c, const Argument& a) {
                     return replace_nodes(c, a.integer(0), a.rank(1, SpeedRank::slowest), a.rank(2, SpeedRank::median));
                   }),
          of_parts({"sort-nodes", "fastest|slowest", "hosts in the order of their speed, these first"}, 1, 1,
                   [](const ClusterModel& c, const Argument& a) {
                     const SpeedRank first = a.rank(0, SpeedRank::fastest);
                     if (first == SpeedRank::median) a.fail();
                     return sort_nodes(c, first == SpeedRank::fastest);
                   }),
          {{"generate", "MODEL.json[;seed=N][;day=N][;hosts=NAMES][;spatial=F][;temporal=F]",
            "dgemm of every CPU drawn from a generative model"},
           generated}};
}

ClusterModel with_detours_of(const ClusterModel& cluster, const TransformationInfo&, const std::string& path) {
  ClusterModel changed = cluster;
  core::read_file(path,
                  [&](std::istream& in, const std::string& name) { changed.detours = core::read_detours(in, name); });
  core::check_detour_cores(changed.detours, changed.hosts.values().cores);
  return changed;
}

std::vector<Entry> detour_entries() {
  return {
      {{"set-detours", "FILE", "those of a file that `fit detours` wrote, in place of the cluster's"}, with_detours_of},
      of_parts(
          {"add-detours", "PERIOD:DURATION[:core|host|cluster[:CORES]]",
           "one more cause of detours, 1s:10ms:core; what is hit at the same instant (core); on these cores of each "
           "host only, 0 or 0-3 (all)"},
          2, 4,
          [](const ClusterModel& c, const Argument& a) {
            return add_detours(c, a.seconds(0), a.seconds(1), a.detours_per(2, core::DetoursPer::core),
                               a.cores(3, c.hosts.values().cores));
          }),
      of_number({"scale-detours", "FACTOR", "durations of all detours; 0: none"}, scale_detours),
      of_parts({"synchronise-detours", "yes", "all detours hit all cores at the same instant"}, 1, 1,
               [](const ClusterModel& c, const Argument& a) {
                 a.require_yes();
                 return synchronise_detours(c);
               })};
}

std::vector<Entry> topology_entries() {
  const auto torus = [](const ClusterModel& c, const TransformationInfo& self, const std::string& text) {
    const Argument argument(self, text, 'x');
    std::vector<int> dimensions;
    for (std::size_t i = 0; i < argument.size(); ++i) dimensions.push_back(argument.integer(i));
    if (dimensions.empty()) argument.fail();
    return with_torus(c, dimensions);
  };
  return {of_parts({"single-switch", "yes", "all hosts on one switch"}, 1, 1,
                   [](const ClusterModel& c, const Argument& a) {
                     a.require_yes();
                     return with_single_switch(c);
                   }),
          of_parts({"fat-tree", "HOSTS_PER_LEAF:TOP_SWITCHES[:LINKS]", "two levels of switches"}, 2, 3,
                   [](const ClusterModel& c, const Argument& a) {
                     return with_fat_tree(c, {a.integer(0), a.integer(1), a.integer_or(2, 1)});
                   }),
          of_parts({"top-switches", "COUNT", "another number of top switches of the fat tree"}, 1, 1,
                   [](const ClusterModel& c, const Argument& a) { return with_top_switches(c, a.integer(0)); }),
          {{"dragonfly", "GROUPS,LINKS;CHASSIS,LINKS;ROUTERS,LINKS;NODES", "SimGrid's dragonfly"},
           [](const ClusterModel& c, const TransformationInfo&, const std::string& text) {
             return with_dragonfly(c, text);
           }},
          {{"torus", "AxBxC", "a torus with these dimensions"}, torus}};
}

std::vector<Entry> placement_entries() {
  return {of_parts({"ranks-per-node", "COUNT", "ranks on each host; other cores stay idle"}, 1, 1,
                   [](const ClusterModel& c, const Argument& a) { return with_ranks_per_node(c, a.integer(0)); }),
          of_parts({"threads-per-rank", "COUNT[:EFFICIENCY]", "threads that share dgemm and dtrsm of a rank"}, 1, 2,
                   [](const ClusterModel& c, const Argument& a) {
                     return with_threads_per_rank(c, a.integer(0), a.size() > 1 ? a.number(1) : 1);
                   })};
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> joined;
    for (const auto& group : {speed_entries(), power_entries(), variability_entries(), detour_entries(), node_entries(),
                              topology_entries(), placement_entries()}) {
      joined.insert(joined.end(), group.begin(), group.end());
    }
    return joined;
  }();
  return all;
}

const Entry* find(const std::string& name) {
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return &entry;
  }
  return nullptr;
}

void note_provenance(ClusterModel& cluster, const Transformation& transformation) {
  auto provenance = core::parse_json<nlohmann::ordered_json>(cluster.provenance);
  provenance["transformations"].push_back(transformation.name + "=" + transformation.argument);
  cluster.provenance = core::json_text(provenance);
}

ClusterModel with_change(const ClusterModel& cluster, const Transformation& transformation) {
  const Entry* entry = find(transformation.name);
  if (entry == nullptr) {
    throw core::DomainError("transformation", transformation.name, "one that `hplcast transform --help` lists");
  }
  if (transformation.argument == "none") return cluster;
  ClusterModel result = entry->apply(cluster, entry->info, transformation.argument);
  note_provenance(result, transformation);
  return result;
}

}  // namespace

const std::vector<TransformationInfo>& transformations() {
  static const std::vector<TransformationInfo> infos = [] {
    std::vector<TransformationInfo> result;
    for (const Entry& entry : entries()) result.push_back(entry.info);
    return result;
  }();
  return infos;
}

bool is_transformation(const std::string& name) {
  return find(name) != nullptr;
}

ClusterModel transformed(ClusterModel cluster, const std::vector<Transformation>& transformations) {
  for (const Transformation& transformation : transformations) cluster = with_change(cluster, transformation);
  return cluster;
}

}  // namespace hplcast::study
