#pragma once

// Reading JSON with errors that name the place: shared by the codecs of core.

#include <nlohmann/json.hpp>
#include <string>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::core::detail {

using Json = nlohmann::ordered_json;

/// A run on all computers there are has some 1e25 flop.
inline constexpr double most_of_any_quantity = 1e30;
inline bool is_quantity(const Json& json) {
  return json.is_number() && std::abs(json.get<double>()) <= most_of_any_quantity;
}

/// A JSON value with its place in the document.
class Node {
 public:
  Node(const Json& value, std::string file, std::string pointer = "")
      : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)) {}

  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const {
    throw ParseError({file_, 0, pointer_.empty() ? "/" : pointer_}, message, hint);
  }

  bool has(const char* key) const { return value_->is_object() && value_->contains(key) && !value_->at(key).is_null(); }

  Node at(const char* key) const {
    object();
    if (!has(key)) Node(*value_, file_, pointer_ + "/" + key).fail("missing");
    return Node(value_->at(key), file_, pointer_ + "/" + key);
  }

  Node at(std::size_t index) const { return Node(value_->at(index), file_, pointer_ + "/" + std::to_string(index)); }

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

  /// Runs a validating make() and gives its DomainError this place.
  template <typename Make>
  auto made(Make make) const {
    try {
      return make();
    } catch (const DomainError& error) {
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
};

/// Parses a stream. @throws ParseError as read_json_text().
Json parse_json(std::istream& in, const std::string& name);

/// Refuses a document whose `schema_version` is not from `oldest` to `latest`.
void check_schema(const Node& root, int oldest, int latest);
inline void check_schema(const Node& root, int only) {
  check_schema(root, only, only);
}

/// @throws ParseError for a key that is not one of these.
void refuse_others(const Node& node, const std::vector<std::string>& known);

/// A cluster.json where something else is expected: the wrong file, not one that is full of mistakes.
void refuse_cluster(const Node& root, const std::string& expected);

}  // namespace hplcast::core::detail
