#pragma once

// What may stand where in cluster.json: rules, and the walk through a document that applies them.

#include <string>
#include <vector>

#include "core/base/json_fields.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core::detail {

class Walk;
using Rule = void (*)(Walk&, const Json&);

/// A key of an object, and what its value has to be.
struct Key {
  const char* name;
  Rule rule;
  bool required = true;
};

/// Goes through a document and notes what is wrong in it.
class Walk {
 public:
  void note(const std::string& message, const std::string& hint = "") {
    problems_.push_back({true, path_.empty() ? "/" : path_, message, hint});
  }

  /// `action` on what is at `step` below here.
  template <typename Action>
  void below(const std::string& step, Action action) {
    const std::size_t length = path_.size();
    path_ += "/" + step;
    action();
    path_.resize(length);
  }

  bool is_object(const Json& json) {
    if (!json.is_object()) note(std::string("found ") + json.type_name() + "; expected an object");
    return json.is_object();
  }

  /// An object with these keys and no others. A value null is as good as none.
  void object(const Json& json, const std::vector<Key>& keys) {
    if (!is_object(json)) return;
    for (const auto& [name, value] : json.items()) {
      const Key* key = find(keys, name);
      below(name, [&, &value = value, &name = name] {
        if (key == nullptr) {
          note("unknown key", name_hint(name, names_of(keys)));
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
    if (!json.is_array()) return note(std::string("found ") + json.type_name() + "; expected an array");
    for (std::size_t i = 0; i < json.size(); ++i) below(std::to_string(i), [&] { rule(*this, json[i]); });
  }

  const std::vector<Problem>& problems() const { return problems_; }

 private:
  static const Key* find(const std::vector<Key>& keys, const std::string& name) {
    for (const Key& key : keys)
      if (name == key.name) return &key;
    return nullptr;
  }

  static std::vector<std::string> names_of(const std::vector<Key>& keys) {
    std::vector<std::string> names;
    for (const Key& key : keys) names.emplace_back(key.name);
    return names;
  }

  std::string path_;
  std::vector<Problem> problems_;
};

inline void anything(Walk&, const Json&) {}

inline void any_object(Walk& walk, const Json& json) {
  walk.is_object(json);
}

inline void text(Walk& walk, const Json& json) {
  if (!json.is_string()) walk.note(std::string("found ") + json.type_name() + "; expected a text");
}

inline void number(Walk& walk, const Json& json) {
  if (!json.is_number()) walk.note(std::string("found ") + json.type_name() + "; expected a number");
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
  if (!json.is_number_integer()) return walk.note(std::string("found ") + json.type_name() + "; expected an integer");
  if (!json.is_number_unsigned() && json.get<std::int64_t>() < 0)
    walk.note("found " + json_text(json) + "; expected an integer of at least 0");
}

inline void boolean(Walk& walk, const Json& json) {
  if (!json.is_boolean()) walk.note(std::string("found ") + json.type_name() + "; expected true or false");
}

inline void numbers(Walk& walk, const Json& json) {
  walk.list(json, number);
}

inline void texts(Walk& walk, const Json& json) {
  walk.list(json, text);
}

void power(Walk& walk, const Json& json);  ///< power_schema.cpp

}  // namespace hplcast::core::detail
