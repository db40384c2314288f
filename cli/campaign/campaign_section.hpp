#pragma once

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "hplcast/calibration/campaign.hpp"
#include "hplcast/study/yaml.hpp"

namespace hplcast::cli {

/// A mapping of a YAML file whose keys are asked for one by one; what nobody asks for is an error.
class Section {
 public:
  Section(const YAML::Node& node, std::string file, std::string name)
      : node_(node), file_(std::move(file)), name_(std::move(name)) {
    if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap()) fail("", "found something else than keys with values");
  }

  bool has(const std::string& key) {
    known_.insert(key);
    return node_.IsMap() && node_[key].IsDefined() && !node_[key].IsNull();
  }

  /// Sets `value` if the key is there.
  template <typename T>
  void read(const std::string& key, T& value) {
    if (!has(key)) return;
    try {
      value = node_[key].as<T>();
    } catch (const YAML::Exception&) {
      constexpr bool is_map = std::is_same_v<T, std::map<std::string, std::string>>;
      constexpr const char* expected = std::is_same_v<T, bool>          ? "true or false"
                                       : std::is_unsigned_v<T>          ? "a whole number from 0 to 2^64 - 1"
                                       : std::is_integral_v<T>          ? "a whole number below 2^31"
                                       : std::is_arithmetic_v<T>        ? "a number"
                                       : std::is_same_v<T, std::string> ? "one value"
                                       : is_map                         ? "a map of single values: {a: b}"
                                                                        : "a list of single values: [a, b]";
      const YAML::Node node = node_[key];
      const std::string found = node.IsScalar() ? '`' + node.Scalar() + '`' : node.IsMap() ? "a map" : "a list";
      fail(key, "found " + found + "; expected " + expected);
    }
  }

  /// Values with units, such as 64KiB or 30s.
  void read_quantity(const std::string& key, double& value, double (*parse)(const std::string&)) {
    std::string text;
    read(key, text);
    if (!text.empty()) at(key, [&] { value = parse(text); });
  }

  /// Replaces `values` by what `parse` makes of the texts of a list.
  template <typename T, typename Parse>
  void read_each(const std::string& key, std::vector<T>& values, Parse parse) {
    if (!has(key)) return;
    std::vector<std::string> texts;
    read(key, texts);
    values.clear();
    at(key, [&] {
      for (const std::string& text : texts) values.push_back(parse(text));
    });
  }

  YAML::Node list(const std::string& key) {
    if (!has(key)) return {};
    if (!node_[key].IsSequence()) fail(key, "expected a list");
    return node_[key];
  }

  /// Runs `action`, and says where if a value turns out to be wrong.
  template <typename Action>
  void at(const std::string& key, Action action) const {
    try {
      action();
    } catch (const core::Error& error) {
      fail(key, error.what());
    }
  }

  /// @throws ParseError for keys that nobody has asked for.
  void finish() const {
    if (!node_.IsMap()) return;
    for (const auto& entry : node_) {
      const std::string key = entry.first.as<std::string>();
      if (known_.count(key) != 0) continue;
      throw core::ParseError(location(entry.first, key), "unknown key",
                             core::name_hint(key, {known_.begin(), known_.end()}));
    }
  }

  /// @throws ParseError with the line of the key.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const {
    const YAML::Node at = !key.empty() && node_.IsMap() && node_[key].IsDefined() ? node_[key] : node_;
    throw core::ParseError(location(at, key), message);
  }

 private:
  core::Location location(const YAML::Node& node, const std::string& key) const {
    return study::yaml_location(file_, node.Mark(), name_ + (name_.empty() || key.empty() ? "" : ".") + key);
  }

  YAML::Node node_;
  std::string file_, name_;
  std::set<std::string> known_;
};

/// Settings that all steps share.
struct CampaignCommon {
  std::uint64_t seed = 1;
  std::filesystem::path programs;
  int ranks_per_host = 1;
  bool several_hosts = false;
  int ranks = 1;          ///< of all hosts
  double free_bytes = 0;  ///< memory of this machine, if it is the only host; 0: not known
  bool oversubscribe = false;
};

/// Step `number` of a campaign, with its design; two for `mpi` without `background`: under load, and idle. `left_out`
/// says why there is nothing to measure; empty: there is.
/// @throws ParseError with line and key, DomainError for designs that cannot be.
std::vector<calibration::CampaignStep> read_step(const YAML::Node& node, const std::string& file, std::size_t number,
                                                 CampaignCommon common, std::string& left_out);

}  // namespace hplcast::cli
