#pragma once

// JSON objects from one description of their fields, for writing and for reading:
//
//     HPLCAST_DESCRIPTION(Thing, thing) {
//       fields("count", thing.count);           // or HPLCAST_FIELDS(thing, count, ...) for several; HPLCAST_RULED
//       fields.if_any("names", thing.names);    // left out where there are none; HPLCAST_FIELDS_IF_ANY
//       fields.if_any("width", thing.width, rule, 1);  // left out where it is 1, as in Thing()
//       fields.if_given("share", thing.share);  // always written; where it is absent it stays as it is
//       fields.check("count", thing.count > 0, "a count above 0");
//     }
//
// in the namespace of Thing; HPLCAST_DESCRIBED(Thing, count, ...); where all fields are just there. Members are
// numbers, texts, enumerations with names (text.hpp), described things, classes whose make() takes described Values,
// and lists, maps by text and optionals of these. A class with a JSON that no description gives has own_json() and
// take_own() in its namespace. A rule behind a value says more of it: at_least_zero, positive (json_fields.hpp).

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/json_fields.hpp"
#include "hplcast/core/text.hpp"

#define HPLCAST_DESCRIBE(name) fields(#name, described.name, its_rule);
#define HPLCAST_DESCRIBE_IF_ANY(name) fields.if_any(#name, described.name, its_rule);
#define HPLCAST_EACH_FIELD(describe_one, rule, thing, ...)               \
  {                                                                      \
    const detail::Rule its_rule = rule;                                  \
    auto& described = thing;                                             \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(describe_one, __VA_ARGS__)) \
  }
/// In a description: members that are fields of the same name; _RULED: all with this rule.
#define HPLCAST_FIELDS(thing, ...) HPLCAST_EACH_FIELD(HPLCAST_DESCRIBE, nullptr, thing, __VA_ARGS__)
#define HPLCAST_FIELDS_IF_ANY(thing, ...) HPLCAST_EACH_FIELD(HPLCAST_DESCRIBE_IF_ANY, nullptr, thing, __VA_ARGS__)
#define HPLCAST_RULED(rule, thing, ...) HPLCAST_EACH_FIELD(HPLCAST_DESCRIBE, rule, thing, __VA_ARGS__)
#define HPLCAST_RULED_IF_ANY(rule, thing, ...) HPLCAST_EACH_FIELD(HPLCAST_DESCRIBE_IF_ANY, rule, thing, __VA_ARGS__)
#define HPLCAST_DESCRIPTION(type, thing) \
  template <typename Fields>             \
  static void describe(Fields& fields, type& thing)
#define HPLCAST_DESCRIBED(type, ...)          \
  HPLCAST_DESCRIPTION(type, thing_itself) {   \
    HPLCAST_FIELDS(thing_itself, __VA_ARGS__) \
  }                                           \
  static_assert(true)

namespace hplcast::core::detail {

using Rule = void (*)(const Node&);

template <typename T, typename = void>
struct HasOwnJson : std::false_type {};
template <typename T>
struct HasOwnJson<T, std::void_t<decltype(own_json(std::declval<const T&>()))>> : std::true_type {};

/// Whether T is made of T::Values.
template <typename T, typename = void>
struct IsMade : std::false_type {};
template <typename T>
struct IsMade<T, std::void_t<decltype(T::make(std::declval<typename T::Values>()))>> : std::true_type {};

/// Makes an object of what is described.
class FieldWriter {
 public:
  template <typename T>
  void operator()(const char* name, T& value, Rule = nullptr) {
    json_[name] = json_of(value);
  }
  template <typename T, typename... Usual>
  void if_any(const char* name, T& value, Rule = nullptr, Usual... usual) {
    if (has_content(value, usual...)) (*this)(name, value);
  }
  template <typename T>
  void if_given(const char* name, T& value, Rule = nullptr) {
    (*this)(name, value);
  }
  void check(const char*, bool, const char*) {}
  bool collects() const { return false; }

  template <typename T>
  static Json json_of(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else if constexpr (std::is_enum_v<T>) {
      return to_string(value);
    } else if constexpr (HasOwnJson<T>::value) {
      return own_json(value);
    } else if constexpr (IsMade<T>::value) {
      return json_of(value.values());
    } else {
      FieldWriter fields;
      describe(fields, value);
      return std::move(fields.json_);
    }
  }
  template <typename T>
  static Json json_of(const T& value) {
    T copy = value;  // descriptions are of what can be changed: a reader does so
    return json_of(copy);
  }
  template <typename T>
  static Json json_of(std::vector<T>& list) {
    Json json = Json::array();
    for (T& one : list) json.push_back(json_of(one));
    return json;
  }
  template <typename T>
  static Json json_of(std::map<std::string, T>& map) {
    Json json = Json::object();
    for (auto& [name, one] : map) json[name] = json_of(one);
    return json;
  }
  template <typename T>
  static Json json_of(std::optional<T>& value) {
    return value ? json_of(*value) : Json();
  }

 private:
  template <typename T>
  static bool has_content(const std::optional<T>& value) {
    return value.has_value();
  }
  template <typename T, typename... Usual>
  static bool has_content(const T& value, Usual... usual) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value != T(usual...);
    } else {
      return !value.empty();
    }
  }
  Json json_ = Json::object();
};

/// Which fields an object must and may have.
enum class Reading {
  whole,    ///< those that are described
  partial,  ///< no others; what is absent stays as it is
  any       ///< others, too, which mean nothing: files of another version
};

/// Takes what is described from an object.
class FieldReader {
 public:
  FieldReader(const Node& node, Reading reading)
      : node_(node), reading_(reading), problems_before_(node.problem_count()) {}

  template <typename T>
  void operator()(const char* name, T& value, Rule rule = nullptr) {
    if (!reads(name) || (reading_ != Reading::whole && !node_.has(name))) return;
    node_.attempt([&] {
      const Node field = node_.at(name);
      if (rule != nullptr) rule(field);
      take(field, value);
    });
  }
  template <typename T, typename... Usual>
  void if_any(const char* name, T& value, Rule rule = nullptr, Usual...) {
    if (!names_known_ || node_.has(name)) (*this)(name, value, rule);
  }
  template <typename T>
  void if_given(const char* name, T& value, Rule rule = nullptr) {
    if_any(name, value, rule);
  }
  void check(const char* name, bool holds, const char* expected) {
    if (holds || !names_known_) return;
    if (node_.problem_count() > problems_before_) throw Noted();  // its fields may not have what they say
    const Node wrong = node_.has(name) ? node_.at(name) : node_;
    wrong.fail("found " + (wrong.raw().empty() ? "none" : wrong.raw().dump()) + "; expected " + expected);
  }

  bool collects() const { return node_.collects(); }

  /// The value described at `node`.
  template <typename T>
  static T read(const Node& node, Reading reading = Reading::whole) {
    T value{};
    node.attempt([&] { FieldReader(node, reading).take(node, value); });
    return value;
  }
  /// The same below a key.
  template <typename T>
  static T read(const Node& node, const char* key) {
    T value{};
    node.attempt([&] { value = read<T>(node.at(key)); });
    return value;
  }
  /// An empty T where it is absent.
  template <typename T>
  static T read_if_any(const Node& node, const char* key) {
    return node.has(key) ? read<T>(node.at(key)) : T();
  }

 private:
  template <typename T>
  void take(const Node& node, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = node.boolean();
    } else if constexpr (std::is_integral_v<T>) {
      value = node.template integer<T>();
    } else if constexpr (std::is_floating_point_v<T>) {
      value = node.number();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = node.text();
    } else if constexpr (std::is_enum_v<T>) {
      value = node.made([&] { return from_name<T>(node.text()); });
    } else if constexpr (HasOwnJson<T>::value) {
      take_own(node, value);
    } else if constexpr (IsMade<T>::value) {
      value = node.made([&] { return T::make(read<typename T::Values>(node, reading_)); });
    } else {
      FieldReader fields(node, reading_);
      describe(fields, value);  // the names
      node.object();
      if (reading_ != Reading::any) refuse_others(node, fields.names_);
      fields.names_known_ = true;
      describe(fields, value);
    }
  }
  template <typename T>
  void take(const Node& node, std::vector<T>& list) {
    list.resize(node.size_of_array());
    for (std::size_t i = 0; i < list.size(); ++i) node.attempt([&] { take(node.at(i), list[i]); });
  }
  /// There may be millions: places are made of those that are wrong only.
  void take(const Node& node, std::vector<double>& list) {
    list.resize(node.size_of_array());
    for (std::size_t i = 0; i < list.size(); ++i)
      node.attempt([&] { list[i] = is_quantity(node.raw()[i]) ? node.raw()[i].get<double>() : node.at(i).number(); });
  }
  template <typename T>
  void take(const Node& node, std::map<std::string, T>& map) {
    for (const auto& [name, one] : node.object().items())
      node.attempt([&, &name = name, &one = one] { take(node.below(one, name), map[name]); });
  }
  template <typename T>
  void take(const Node& node, std::optional<T>& value) {
    take(node, value.emplace());
  }

  /// False as long as only names are asked for.
  bool reads(const char* name) {
    if (!names_known_) names_.emplace_back(name);
    return names_known_;
  }

  const Node node_;
  const Reading reading_;
  const std::size_t problems_before_;
  bool names_known_ = false;
  std::vector<std::string> names_;
};

/// A list as an object: the field `name` of each is its key there.
template <typename T>
struct ByName {
  std::vector<T>& list;
  bool empty() const { return list.empty(); }
};

template <typename T>
Json own_json(const ByName<T>& named) {
  Json json = Json::object();
  for (T& one : named.list) {
    Json& fields = json[one.name] = FieldWriter::json_of(one);
    fields.erase("name");
  }
  return json;
}

template <typename T>
void take_own(const Node& node, ByName<T>& named) {
  named.list.clear();
  for (const auto& [name, value] : node.object().items()) {
    Json fields = node.at(name.c_str()).object();
    if (!fields.emplace("name", name).second) node.at(name.c_str()).at("name").fail("unknown key");
    named.list.push_back(FieldReader::read<T>(Node(fields, node.file(), node.pointer() + "/" + name)));
  }
}

/// The text of a file with `schema_version`, and what is described.
template <typename T>
std::string described_text(T& value) {
  Json json = {{"schema_version", T::schema_version}};
  json.update(FieldWriter::json_of(value));
  return json_text(json, 2) + "\n";
}

/// Reads described_text(). @throws ParseError for another version, too.
template <typename T>
T read_described(std::istream& in, const std::string& name, Reading reading) {
  Json json = parse_json(in, name);
  check_schema(Node(json, name), T::schema_version);
  json.erase("schema_version");
  return FieldReader::read<T>(Node(json, name), reading);
}

}  // namespace hplcast::core::detail
