#include <istream>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/offer.hpp"
#include "hplcast/study/yaml.hpp"

namespace hplcast::study {

namespace {

/// Keys of an offer that say what it rests on, and what they cannot stand beside.
const std::vector<std::string> keys_of_numbers = {"cores", "gflops-per-core", "bandwidth", "latency", "ranks-per-node"};
const std::vector<std::string> keys_of_logs = {"logs", "osu"};

class OfferReader : YamlReader {
 public:
  OfferReader(std::string name, fs::path folder) : YamlReader(std::move(name)), folder_(std::move(folder)) {}

  OfferQuestion question(const YAML::Node& root) {
    if (!root.IsMap()) fail(root, "", "not a map; expected keys such as committed, offers");
    OfferQuestion result;
    std::optional<double> committed;
    const Keys keys = {{"question", [&](const auto& node) { result.title = text(node, field_); }},
                       {"currency", [&](const auto& node) { result.currency = text(node, field_); }},
                       {"committed", [&](const auto& node) { committed = rate(node); }},
                       {"tolerance", [&](const auto& node) { result.tolerance = share(node, 0, 0.5); }},
                       {"interval", [&](const auto& node) { result.level_percent = 100 * share(node, 0.5, 0.999); }},
                       {"memory-fraction", [&](const auto& node) { result.memory_fraction = share(node, 0.01, 1); }},
                       {"nb", [&](const auto& node) { result.NB = blocks(node); }},
                       {"offers", [&](const auto& node) { add_offers(node, result); }}};
    read(root, "", keys);
    if (result.offers.empty()) fail(root, "offers", "missing; expected a list of two or more offers");
    for (Offer& offer : result.offers)
      if (!offer.committed_gflops) offer.committed_gflops = committed;
    return result;
  }

 private:
  std::vector<std::string> paths(const YAML::Node& node) const {
    std::vector<std::string> all;
    each(node, field_, "expected a file, or a list of files", [&](const auto& one) { all.push_back(path(one)); });
    return all;
  }

  std::string path(const YAML::Node& node) const {
    const fs::path given = text(node, field_);
    return given.is_absolute() ? given.string() : (folder_ / given).lexically_normal().string();
  }

  int count(const YAML::Node& node, int most) const {
    const std::string expected = "a whole number from 1 to " + std::to_string(most);
    return static_cast<int>(number(node, field_, 1, most, expected, true));
  }

  double share(const YAML::Node& node, double least, double most) const {
    std::string value = text(node, field_);
    const bool is_percent = value.back() == '%';
    if (is_percent) value.pop_back();
    while (!value.empty() && value.back() == ' ') value.pop_back();
    double result = 0;
    const bool is_number = core::parse_double(value, result);
    if (is_percent) result /= 100;
    constexpr double rounding = 1e-12;  // 99.9 / 100 is above 0.999
    if (!is_number || !(result >= least && result <= most + rounding))
      fail(node, field_,
           "found `" + node.Scalar() + "`; expected a share from " + core::short_percent(least) + " to " +
               core::short_percent(most));
    return result;
  }

  /// A quantity above 0 whose unit is written: a bare number could be meant in several.
  double quantity(const YAML::Node& node, double (*parse)(const std::string&), const char* example) const {
    const std::string value = text(node, field_);
    constexpr double most = 1e24;  // of SI units; the product with a unit may be infinite
    double plain = 0;
    const std::string expected = std::string("; expected a number above 0 with its unit, such as ") + example;
    if (core::parse_double(value, plain)) fail(node, field_, "found `" + value + "`" + expected);
    try {
      const double result = parse(value);
      if (result > 0 && result <= most) return result;
    } catch (const core::UsageError& error) {
      fail(node, field_, error.what(), "such as " + std::string(example));
    }
    fail(node, field_, "found `" + value + "`" + expected);
  }

  double rate(const YAML::Node& node) const { return quantity(node, core::parse_flop_per_s, "1.2 Tflop/s") / 1e9; }

  std::vector<int> blocks(const YAML::Node& node) const {
    constexpr int most = 4096;
    std::vector<int> all;
    each(node, field_, "expected a list of block sizes", [&](const auto& one) { all.push_back(count(one, most)); });
    return all;
  }

  void add_offers(const YAML::Node& node, OfferQuestion& result) {
    constexpr std::size_t most = 12;
    const std::string field = field_;
    if (!node.IsSequence() || node.size() < 2 || node.size() > most)
      fail(node, field_,
           "expected a list of 2 to " + std::to_string(most) + " offers" +
               (node.IsSequence() ? "; found " + std::to_string(node.size()) : ""),
           "a single machine is a question for `hplcast quick`");
    std::set<std::string> names;
    for (std::size_t i = 0; i < node.size(); ++i) {
      const std::string place = field + "[" + std::to_string(i) + "].";
      if (!node[i].IsMap()) fail(node[i], place, "not a map; expected keys such as name, nodes, memory");
      Offer offer = this->offer(node[i], place);
      if (!names.insert(offer.name).second) fail(node[i], place + "name", "`" + offer.name + "` is there twice");
      if (i > 0 && offer.price.has_value() != result.offers.front().price.has_value())
        fail(node[i], place + "price", "some offers have a price, and some have none",
             "give it to all: the cost per Tflop/s is compared then");
      result.offers.push_back(std::move(offer));
    }
  }

  Offer offer(const YAML::Node& node, const std::string& place) {
    Offer offer;
    QuickMachine& machine = offer.machine;
    constexpr int most_nodes = 1000000, most_cores = 100000;
    const Keys keys = {
        {"name", [&](const auto& one) { offer.name = text(one, field_); }},
        {"nodes", [&](const auto& one) { machine.nodes = count(one, most_nodes); }},
        {"cores", [&](const auto& one) { machine.cores = count(one, most_cores); }},
        {"gflops-per-core",
         [&](const auto& one) {
           double plain = 0;
           const bool is_plain = core::parse_double(text(one, field_), plain) && plain > 0;
           const double gflops = is_plain ? plain : rate(one);
           if (!(gflops >= 0.001 && gflops <= 1000))
             fail(one, field_, "found `" + one.Scalar() + "`; expected 0.001 to 1000 Gflop/s of one core, such as 30",
                  "that of a node is divided by its cores");
           machine.flop_per_s_per_core = 1e9 * gflops;
         }},
        {"bandwidth",
         [&](const auto& one) { machine.bandwidth_bytes_per_s = quantity(one, core::parse_bytes_per_s, "100 Gb/s"); }},
        {"latency", [&](const auto& one) { machine.latency_s = quantity(one, core::parse_seconds, "1.5 us"); }},
        {"memory", [&](const auto& one) { machine.memory_bytes = quantity(one, core::parse_bytes, "256 GiB"); }},
        {"threads", [&](const auto& one) { machine.threads = text(one, field_); }},
        {"ranks-per-node", [&](const auto& one) { machine.ranks_per_node = count(one, most_cores); }},
        {"watts-idle", [&](const auto& one) { machine.idle_w = quantity(one, core::parse_watts, "250 W"); }},
        {"watts-full", [&](const auto& one) { machine.full_w = quantity(one, core::parse_watts, "850 W"); }},
        {"cluster", [&](const auto& one) { offer.cluster = path(one); }},
        {"logs", [&](const auto& one) { offer.logs = paths(one); }},
        {"osu", [&](const auto& one) { offer.benchmarks = paths(one); }},
        {"committed", [&](const auto& one) { offer.committed_gflops = rate(one); }},
        {"price", [&](const auto& one) {
           offer.price =
               number(one, field_, 1e-3, 1e15, "a number above 0, in the unit of `currency`, without separators");
         }}};
    read(node, place, keys);
    offer.where = yaml_location(file_, node.Mark(), place + "name");
    offer.basis = !offer.cluster.empty() ? OfferBasis::cluster
                  : !offer.logs.empty()  ? OfferBasis::logs
                                         : OfferBasis::numbers;
    require_keys(node, place, offer);
    machine.name = offer.name;
    return offer;
  }

  /// Each basis has keys of its own: those of another one would be ignored without a word.
  void require_keys(const YAML::Node& node, const std::string& place, const Offer& offer) const {
    const auto require = [&](const char* key, const char* why) {
      if (!node[key]) fail(node, place + key, std::string("missing; ") + why);
    };
    const auto refuse = [&](const std::vector<std::string>& keys, const std::string& beside) {
      for (const std::string& key : keys)
        if (node[key]) fail(node[key], place + key, "cannot stand beside `" + beside + "`, which says it");
    };
    require("name", "expected a name of the offer");
    if (node["watts-full"]) require("watts-idle", "expected the watts of a node without work, beside `watts-full`");
    if (node["watts-idle"]) require("watts-full", "expected the watts with all cores at work, beside `watts-idle`");
    if (offer.basis == OfferBasis::cluster) {
      refuse(keys_of_numbers, "cluster");
      refuse(keys_of_logs, "cluster");
      return refuse({"nodes", "threads"}, "cluster");
    }
    require("nodes", "expected the number of nodes");
    require("memory", "expected the memory of a node, such as 256 GiB: N follows from it");
    if (offer.basis == OfferBasis::logs) {
      refuse(keys_of_numbers, "logs");
      if (offer.machine.nodes > 1) require("osu", "several nodes need what osu_latency or IMB PingPong printed");
      return;
    }
    if (node["osu"]) fail(node["osu"], place + "osu", "only beside `logs`; numbers have bandwidth and latency");
    require("cores", "expected the cores of a node");
    require("gflops-per-core", "expected what dgemm reaches on a core: 80 to 90 % of the nominal peak");
    if (offer.machine.nodes == 1) return;
    require("bandwidth", "expected that of the link of a node, such as 100 Gb/s");
    require("latency", "expected that of a short message between nodes, such as 1.5 us");
  }

  fs::path folder_;
};

}  // namespace

OfferQuestion read_offers(std::istream& in, const std::string& name, const fs::path& folder) {
  return with_yaml(core::read_text(in, name, "is this a file of offers?", core::most_bytes_of_plan), name,
                   [&](const YAML::Node& root) { return OfferReader(name, folder).question(root); });
}

}  // namespace hplcast::study
