#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hplcast/core/errors.hpp"

namespace hplcast {
using Json = nlohmann::ordered_json;  ///< keeps the order of keys
}

namespace hplcast::core {

/// Every JSON that hplcast reads from a file is looked at here before a tree is made of it. @throws ParseError with the
/// line of a syntax error, and for more than 100 levels, or a key that an object has twice (with its path: the tree
/// would keep one of both without a word).
void check_json(const std::string& text, const std::string& name);

/// Does it begin as files of hplcast do, by an object or a list of objects? Output of programs may begin with a
/// bracket, too: `[0] MPI startup(): ...` of Intel MPI, `[node1:123] ...` of Open MPI.
bool begins_as_json(const std::string& text);

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

/// The number at "/a/b"; 0 where there is none.
template <typename Json>
double number_at(const Json& json, const char* pointer);
extern template double number_at(const nlohmann::ordered_json& json, const char* pointer);
extern template double number_at(const nlohmann::json& json, const char* pointer);

#define HPLCAST_JSON_MEMBER(name) json_of_members[#name] = members.name;

/// HPLCAST_JSON(thing, a, b): the object {"a": thing.a, "b": thing.b}, whose fields are called as the members.
#define HPLCAST_JSON(thing, ...)                                                \
  [](nlohmann::ordered_json json_of_members, const auto& members) {             \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(HPLCAST_JSON_MEMBER, __VA_ARGS__)) \
    return json_of_members;                                                     \
  }(nlohmann::ordered_json::object(), thing)

}  // namespace hplcast::core
