#pragma once

#include <yaml-cpp/yaml.h>

#include <set>
#include <string>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

/// A mapping of a YAML file whose keys are asked for one by one; what nobody asks for is an error.
/// Defined in campaign_yaml.cpp.
class Section {
 public:
  Section(const YAML::Node& node, std::string file, std::string name);

  bool has(const std::string& key);

  /// Sets `value` if the key is there.
  template <typename T>
  void read(const std::string& key, T& value) {
    if (!has(key)) return;
    try {
      value = node_[key].as<T>();
    } catch (const YAML::Exception&) {
      fail(key, "the value does not have the type expected here");
    }
  }

  /// Values with units, such as 64KiB or 30s.
  void read_quantity(const std::string& key, double& value, double (*parse)(const std::string&));

  YAML::Node list(const std::string& key);

  /// Runs `action`, and says where if a value turns out to be wrong.
  template <typename Action>
  void at(const std::string& key, Action action) {
    try {
      action();
    } catch (const core::DomainError& error) {
      fail(key, error.what());
    }
  }

  /// @throws ParseError for keys that nobody has asked for.
  void finish() const;

  /// @throws ParseError with the line of the key.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

 private:
  core::Location location(const YAML::Node& node, const std::string& key) const;

  YAML::Node node_;
  std::string file_, name_;
  std::set<std::string> known_;
};

}  // namespace hplcast::cli
