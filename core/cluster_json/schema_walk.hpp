#pragma once

// The schema of cluster.json: rules, and the walk through a document that applies them.

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/described_json.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core::detail {

/// A key of an object, and what its value has to be.
struct Key {
  std::string name;
  Rule rule;
  bool required = true;
};

/// Goes through a document and notes what is wrong in it.
class Walk {
 public:
  void note(const std::string& message, const std::string& hint = "") {
    problems_.push_back({true, path_.empty() ? "/" : path_, message, hint});
  }

  /// Notes a value of another type. Returns `holds`.
  bool expect(bool holds, const Json& json, const char* expected) {
    if (!holds) note(std::string("found ") + json.type_name() + "; expected " + expected);
    return holds;
  }
  bool is_object(const Json& json) { return expect(json.is_object(), json, "an object"); }

  /// `action` on what is at `step` below here.
  template <typename Action>
  void below(const std::string& step, Action action) {
    const std::size_t length = path_.size();
    path_ += "/" + step;
    action();
    path_.resize(length);
  }

  /// An object with these keys and no others. A value null is as good as none.
  void object(const Json& json, const std::vector<Key>& keys) {
    if (!is_object(json)) return;
    std::vector<std::string> names;
    for (const Key& key : keys) names.push_back(key.name);
    for (const auto& [name, value] : json.items()) {
      const auto key =
          std::find_if(keys.begin(), keys.end(), [&, &name = name](const Key& k) { return k.name == name; });
      below(name, [&, &value = value, &name = name] {
        if (key == keys.end()) {
          note("unknown key", name_hint(name, names));
        } else if (!value.is_null()) {
          key->rule(*this, value);
        }
      });
    }
    for (const Key& key : keys) {
      if (!key.required || (json.contains(key.name) && !json.at(key.name).is_null())) continue;
      below(key.name, [&] { note("missing"); });
    }
  }

  void list(const Json& json, Rule rule) {
    if (!expect(json.is_array(), json, "an array")) return;
    for (std::size_t i = 0; i < json.size(); ++i) below(std::to_string(i), [&] { rule(*this, json[i]); });
  }

  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::string path_;
  std::vector<Problem> problems_;
};

inline void anything(Walk&, const Json&) {}

inline void any_object(Walk& walk, const Json& json) {
  walk.is_object(json);
}

inline void text(Walk& walk, const Json& json) {
  walk.expect(json.is_string(), json, "a text");
}

inline void number(Walk& walk, const Json& json) {
  walk.expect(json.is_number(), json, "a number");
}

inline void at_least_zero(Walk& walk, const Json& json) {
  if (!json.is_number()) return number(walk, json);
  if (!(json.get<double>() >= 0)) walk.note("found " + json_text(json) + "; expected a number of at least 0");
}

inline void positive(Walk& walk, const Json& json) {
  if (!json.is_number()) return number(walk, json);
  if (!(json.get<double>() > 0)) walk.note("found " + json_text(json) + "; expected a number above 0");
}

inline void count(Walk& walk, const Json& json) {
  if (!walk.expect(json.is_number_integer(), json, "an integer")) return;
  if (!json.is_number_unsigned() && json.get<std::int64_t>() < 0)
    walk.note("found " + json_text(json) + "; expected an integer of at least 0");
}

inline void boolean(Walk& walk, const Json& json) {
  walk.expect(json.is_boolean(), json, "true or false");
}

template <Rule rule>
void listed(Walk& walk, const Json& json) {
  walk.list(json, rule);
}

inline constexpr Rule numbers = listed<number>;

/// By free names.
template <Rule rule>
void named(Walk& walk, const Json& json) {
  if (!walk.is_object(json)) return;
  for (const auto& [name, value] : json.items()) walk.below(name, [&, &value = value] { rule(walk, value); });
}

template <typename T>
std::vector<Key> keys_of();

/// The rule for a field that has none of its own behind its value; a class with its own JSON always has one.
template <typename T>
struct RuleOf {
  static void check(Walk& walk, const Json& json) {
    if constexpr (std::is_same_v<T, bool>) {
      boolean(walk, json);
    } else if constexpr (std::is_integral_v<T>) {
      count(walk, json);
    } else if constexpr (std::is_floating_point_v<T>) {
      number(walk, json);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) {
      text(walk, json);
    } else if constexpr (IsMade<T>::value) {
      walk.object(json, keys_of<typename T::Values>());
    } else if constexpr (!HasOwnJson<T>::value) {
      walk.object(json, keys_of<T>());
    }
  }
};
template <typename T>
struct RuleOf<std::optional<T>> : RuleOf<T> {};
template <typename T>
struct RuleOf<std::vector<T>> {
  static void check(Walk& walk, const Json& json) { walk.list(json, RuleOf<T>::check); }
};
template <typename T>
struct RuleOf<std::map<std::string, T>> {
  static void check(Walk& walk, const Json& json) { named<RuleOf<T>::check>(walk, json); }
};

/// The keys of what is described (described_json.hpp).
class DescribedKeys {
 public:
  template <typename T>
  void operator()(const char* name, T&, Rule rule = RuleOf<T>::check) {
    keys_.push_back({name, rule, true});
  }
  template <typename T, typename... Usual>
  void if_any(const char* name, T&, Rule rule = RuleOf<T>::check, Usual...) {
    keys_.push_back({name, rule, false});
  }
  template <typename T>
  void if_given(const char* name, T& value, Rule rule = RuleOf<T>::check) {
    if_any(name, value, rule);
  }
  void check(const char*, bool, const char*) {}
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::vector<Key> keys_;
};

template <typename T>
std::vector<Key> keys_of() {
  T value;
  DescribedKeys fields;
  describe(fields, value);
  return fields.keys();
}

// The rules of the pieces that no description gives, each in the source of its JSON.
void kernel(Walk& walk, const Json& json);
void network(Walk& walk, const Json& json);
void power(Walk& walk, const Json& json);

}  // namespace hplcast::core::detail
