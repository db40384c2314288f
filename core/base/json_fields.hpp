#pragma once

// Reading JSON with errors that name the place: shared by the codecs of core.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::core {
struct Problem;
}

namespace hplcast::core::detail {

using Json = nlohmann::ordered_json;

/// A run on all computers there are has some 1e25 flop.
inline constexpr double most_of_any_quantity = 1e30;
inline bool is_quantity(const Json& json) {
  return json.is_number() && std::abs(json.get<double>()) <= most_of_any_quantity;
}

/// Thrown from a value to attempt() where problems are collected: they have it.
struct Noted {};

/// A JSON value with its place in the document.
class Node {
 public:
  /// With a list of problems nothing stops at the first one: they are collected there, and what was read is of no use.
  Node(const Json& value, std::string file, std::string pointer = "", std::vector<Problem>* problems = nullptr)
      : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)), problems_(problems) {}

  /// A problem of this value. @throws ParseError unless problems are collected.
  void note(const std::string& message, const std::string& hint = "") const;
  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const {
    note(message, hint);
    throw Noted();
  }
  bool collects() const { return problems_ != nullptr; }
  std::size_t problem_count() const;

  /// Does `action`; where problems are collected, what follows is looked at even if this fails.
  template <typename Action>
  void attempt(const Action& action) const {
    if (!collects()) return action();
    try {
      action();
    } catch (const Noted&) {
    }
  }

  bool has(const char* key) const { return value_->is_object() && value_->contains(key) && !value_->at(key).is_null(); }

  Node at(const char* key) const {
    object();
    if (!has(key)) below(*value_, key).fail("missing");
    return below(value_->at(key), key);
  }
  Node at(std::size_t index) const { return below(value_->at(index), std::to_string(index)); }
  /// A value of this one by its key or index.
  Node below(const Json& value, const std::string& step) const {
    return Node(value, file_, pointer_ + "/" + step, problems_);
  }

  /// The value. @throws ParseError unless `holds`, which says that it is of the type expected.
  const Json& typed(bool holds, const char* expected) const {
    if (!holds) fail(std::string("found ") + value_->type_name() + "; expected " + expected);
    return *value_;
  }

  const Json& object() const { return typed(value_->is_object(), "an object"); }
  std::size_t size_of_array() const { return typed(value_->is_array(), "an array").size(); }
  /// In SI units; no quantity of ours is beyond most_of_any_quantity.
  double number() const {
    typed(value_->is_number(), "a number");
    if (!is_quantity(*value_)) fail("found " + value_->dump() + "; expected a quantity: at most 1e30");
    return value_->get<double>();
  }
  std::string text() const { return typed(value_->is_string(), "a text").get<std::string>(); }
  bool boolean() const { return typed(value_->is_boolean(), "true or false").get<bool>(); }

  template <typename Integer>
  Integer integer() const {
    typed(value_->is_number_integer(), "an integer");
    if (value_->is_number_unsigned()) {
      const auto found = value_->get<std::uint64_t>();
      if (found <= static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())) return static_cast<Integer>(found);
    } else {
      const auto found = value_->get<std::int64_t>();
      if (found < 0 && collects()) fail("found " + value_->dump() + "; expected an integer of at least 0");
      if (found < 0 && std::is_signed_v<Integer> &&
          found >= static_cast<std::int64_t>(std::numeric_limits<Integer>::min()))
        return static_cast<Integer>(found);
    }
    fail("found " + value_->dump() + "; expected an integer that fits");
  }

  double number_or(const char* key, double otherwise) const { return has(key) ? at(key).number() : otherwise; }

  std::vector<Node> elements() const {
    std::vector<Node> result;
    for (std::size_t i = 0; i < size_of_array(); ++i) result.push_back(at(i));
    return result;
  }

  std::vector<double> numbers() const {
    std::vector<double> result;
    for (const Node& one : elements()) result.push_back(one.number());
    return result;
  }

  /// Runs a validating make() and gives its DomainError this place, unless what it was made of was a problem already.
  template <typename Make>
  auto made(Make make) const {
    const std::size_t before = problem_count();
    try {
      return make();
    } catch (const DomainError& error) {
      if (problem_count() > before) throw Noted();
      fail(error.what());
    }
  }

  const Json& raw() const { return *value_; }
  const std::string& file() const { return file_; }
  const std::string& pointer() const { return pointer_; }

 private:
  const Json* value_;
  std::string file_;
  std::string pointer_;
  std::vector<Problem>* problems_;
};

inline void at_least_zero(const Node& node) {
  if (!(node.number() >= 0)) node.fail("found " + node.raw().dump() + "; expected a number of at least 0");
}

inline void positive(const Node& node) {
  if (!(node.number() > 0)) node.fail("found " + node.raw().dump() + "; expected a number above 0");
}

/// Parses a stream. @throws ParseError as read_json_text().
Json parse_json(std::istream& in, const std::string& name);

/// Refuses a document whose `schema_version` is not from `oldest` to `latest`.
void check_schema(const Node& root, int oldest, int latest);
inline void check_schema(const Node& root, int only) {
  check_schema(root, only, only);
}

/// Keys that are not one of these are problems.
void refuse_others(const Node& node, const std::vector<std::string>& known);

/// A cluster.json where something else is expected: the wrong file, not one that is full of mistakes.
void refuse_cluster(const Node& root, const std::string& expected);

}  // namespace hplcast::core::detail
