#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

/// Every JSON that hplcast reads from a file is looked at here before a tree is made of it. @throws ParseError with the
/// line of a syntax error, and for more than 100 levels, or a key that an object has twice (with its path: the tree
/// would keep one of both without a word).
void check_json(const std::string& text, const std::string& name);

/// The text of a stream, which check_json() has looked at. @throws ParseError also for more than 256 MiB.
std::string read_json_text(std::istream& in, const std::string& name);

/// The tree of a text that read_json_text() or hplcast itself made: nlohmann::ordered_json keeps the order of keys,
/// nlohmann::json sorts them. Compiled here once: parsing and printing are most of what JSON costs a source.
template <typename Json>
Json parse_json(const std::string& text);
extern template nlohmann::ordered_json parse_json(const std::string& text);
extern template nlohmann::json parse_json(const std::string& text);

/// Json's own dump(): in one line, or with as many blanks before each level.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
std::string json_text(const nlohmann::json& json, int indent = -1);

/// Goes through a YAML document (`Node` is YAML::Node: core itself does not know that library). @throws ParseError for
/// a mapping with a key twice, of which the library would keep one without a word, and for keys that are not plain
/// words.
template <typename Node>
void require_unique_keys(const Node& node, const std::string& file, const std::string& place = "") {
  const auto at = [&](const Node& here, const std::string& field) {
    const int line = here.Mark().line;
    return Location{file, line < 0 ? 0 : static_cast<std::size_t>(line) + 1, field};
  };
  if (node.IsSequence()) {
    std::size_t index = 0;
    for (const auto& entry : node) require_unique_keys<Node>(entry, file, place + "[" + std::to_string(index++) + "]");
  }
  if (!node.IsMap()) return;
  std::set<std::string> keys;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) throw ParseError(at(entry.first, place), "a key that is not a word");
    const std::string field = place + (place.empty() ? "" : ".") + entry.first.Scalar();
    if (!keys.insert(entry.first.Scalar()).second)
      throw ParseError(at(entry.first, field), "this key is there twice", "remove one of both");
    require_unique_keys<Node>(entry.second, file, field);
  }
}

}  // namespace hplcast::core
