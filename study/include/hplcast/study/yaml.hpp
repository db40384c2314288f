#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

/// YAML as plans and campaigns are written.
namespace hplcast::study {

inline core::Location yaml_location(const std::string& file, const YAML::Mark& mark, const std::string& field = "") {
  return {file, mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line) + 1, field};
}

/// Looks at each event before a tree is made of them: an anchor may contain itself, or multiply without end.
class YamlLimits : public YAML::EventHandler {
 public:
  explicit YamlLimits(std::string name) : name_(std::move(name)) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override { ended_ = true; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!ended_) node(mark, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string&) override {
    node(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    enter(mark, anchor);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    enter(mark, anchor);
  }
  void OnMapEnd() override { --depth_; }

 private:
  [[noreturn]] void refuse(const YAML::Mark& mark) const {
    throw core::ParseError(yaml_location(name_, mark), "an anchor (&) or alias (*)",
                           "write the value out at each place");
  }
  void node(const YAML::Mark& mark, YAML::anchor_t anchor) {
    constexpr std::size_t most = 1000000;
    if (ended_)
      throw core::ParseError(yaml_location(name_, mark), "a second document after ---; expected one",
                             "make a file of each");
    if (anchor != 0) refuse(mark);
    if (++nodes_ > most) throw core::ParseError(yaml_location(name_, mark), "more than 1000000 values");
  }
  void enter(const YAML::Mark& mark, YAML::anchor_t anchor) {
    constexpr int deepest = 50;  // ours have five
    node(mark, anchor);
    if (++depth_ > deepest)
      throw core::ParseError(yaml_location(name_, mark), "lists or mappings more than 50 levels deep");
  }

  std::string name_;
  std::size_t nodes_ = 0;
  int depth_ = 0;
  bool ended_ = false;
};

/// @throws ParseError for a mapping with a key twice, of which the library would keep one without a word, and for keys
/// that are not plain words.
inline void require_unique_keys(const YAML::Node& node, const std::string& file, const std::string& place = "") {
  if (node.IsSequence()) {
    std::size_t index = 0;
    for (const auto& entry : node) require_unique_keys(entry, file, place + "[" + std::to_string(index++) + "]");
  }
  if (!node.IsMap()) return;
  std::set<std::string> keys;
  for (const auto& entry : node) {
    const YAML::Mark mark = entry.first.Mark();
    if (!entry.first.IsScalar()) throw core::ParseError(yaml_location(file, mark, place), "a key that is not a word");
    const std::string field = place + (place.empty() ? "" : ".") + entry.first.Scalar();
    if (!keys.insert(entry.first.Scalar()).second)
      throw core::ParseError(yaml_location(file, mark, field), "this key is there twice", "remove one of both");
    require_unique_keys(entry.second, file, field);
  }
}

/// @throws ParseError for bytes that are not UTF-8: they would be names of files and hosts that no JSON takes.
inline void require_utf8(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  std::size_t number = 1;
  for (std::string line; std::getline(in, line); ++number)
    if (!core::is_utf8(line))
      throw core::ParseError({name, number, ""}, "found bytes that are not UTF-8",
                             "iconv -f latin1 -t utf8 may mend the file");
}

/// Gives the document to `use`, and returns its result. @throws ParseError for a syntax error, bytes that are not
/// UTF-8, an anchor or alias, a second document, a key twice, more than 4 MiB, 50 levels or a million values, and where
/// `use` finds a list or mapping in place of a word.
template <typename Use>
auto with_yaml(const std::string& text, const std::string& name, Use use) {
  constexpr std::size_t largest = std::size_t{1} << 22;
  if (text.size() > largest)
    throw core::ParseError({name, 0, ""}, "more than 4 MiB", "is this a YAML file of hplcast?");
  require_utf8(text, name);
  try {
    std::istringstream in(text);
    YamlLimits limits(name);
    for (YAML::Parser parser(in); parser.HandleNextDocument(limits);) continue;
    const YAML::Node root = YAML::Load(text);
    require_unique_keys(root, name);
    return use(root);
  } catch (const YAML::RepresentationException& error) {
    throw core::ParseError(yaml_location(name, error.mark), "a value of another kind than is expected here",
                           "a list or mapping in place of a word, or a word in place of a number?");
  } catch (const YAML::Exception& error) {
    throw core::ParseError(yaml_location(name, error.mark), "not YAML that this file can be: " + error.msg,
                           text.find("\n\t") == std::string::npos ? "" : "YAML is indented by blanks, not by tabs");
  }
}

/// The common part of readers of plans and offers; messages name line and field.
class YamlReader {
 protected:
  /// Functions that take the value of each key of a mapping.
  using Keys = std::vector<std::pair<std::string, std::function<void(const YAML::Node&)>>>;

  explicit YamlReader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(const YAML::Node& node, const std::string& field, const std::string& message,
                         const std::string& hint = "") const {
    throw core::ParseError(yaml_location(file_, node.Mark(), field), message, hint);
  }

  /// The fields are called `place` and their keys. Other keys are refused.
  void read(const YAML::Node& map, const std::string& place, const Keys& keys) {
    const auto names = core::mapped(keys, [](const auto& key) { return key.first; });
    for (const auto& entry : map) {
      const std::string& name = entry.first.Scalar();
      const auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& one) { return one.first == name; });
      if (key == keys.end()) fail(entry.first, place + name, "unknown key", core::name_hint(name, names));
      field_ = place + name;
      key->second(entry.second);
    }
  }

  std::string text(const YAML::Node& node, const std::string& field) const {
    if (!node.IsScalar() || node.Scalar().empty()) fail(node, field, "expected one value");
    return node.Scalar();
  }

  double number(const YAML::Node& node, const std::string& field, double least, double most,
                const std::string& expected, bool whole = false) const {
    double value = 0;
    const bool fits = core::parse_double(text(node, field), value) && value >= least && value <= most;
    if (!fits || (whole && value != std::floor(value)))
      fail(node, field, "found `" + node.Scalar() + "`; expected " + expected);
    return value;
  }

  static constexpr const char* some_entries = "expected a list with at least one entry";
  const YAML::Node& sequence(const YAML::Node& node, const std::string& field, const std::string& expected) const {
    if (!node.IsSequence() || node.size() == 0) fail(node, field, expected);
    return node;
  }
  /// A value, or each of a list.
  template <typename Use>
  void each(const YAML::Node& node, const std::string& field, const std::string& expected, const Use& use) const {
    if (node.IsScalar()) return use(node);
    for (const YAML::Node& one : sequence(node, field, expected)) use(one);
  }

  std::string file_;
  std::string field_;  ///< that is read
};

}  // namespace hplcast::study
