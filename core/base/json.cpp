#include "hplcast/core/json.hpp"

#include <algorithm>
#include <cctype>
#include <istream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/json_fields.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

using Json = nlohmann::ordered_json;

namespace {

/// Looks at a JSON text before a tree is made of it: how deep it goes, and whether an object has a key twice (the tree
/// would keep one of both without a word).
class Inspector : public nlohmann::json_sax<Json> {
 public:
  Inspector(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override {
    constexpr std::size_t most_texts = 2500000;  // a million CPUs with laws of their own have one each
    if (++texts_ > most_texts)
      throw ParseError({name_, 0, path()}, "more than 2500000 texts", "is this a file of hplcast?");
    return value();
  }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override {
    enter();
    levels_.back().is_array = true;
    return true;
  }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& key) override {
    Level& level = levels_.back();
    level.key = key;
    constexpr std::size_t most_keys = 20000;  // the tree looks through all of them for each
    if (level.keys.size() == most_keys)
      throw ParseError({name_, 0, path()}, "an object of more than 20000 keys", "is this a file of hplcast?");
    if (level.keys.insert(key).second) return true;
    throw ParseError({name_, 0, path()}, "this key is there twice", "remove one of both");
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
    const auto line = static_cast<std::size_t>(std::count(text_.begin(), end, '\n')) + 1;
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) throw ParseError({name_, line, ""}, "the file is empty; expected JSON");
    if (text_[first] == '<')
      throw ParseError({name_, line, ""}, "XML; expected JSON",
                       "a platform.xml of SimGrid becomes a cluster.json by `hplcast import --platform`");
    if (text_[first] != '{' && text_[first] != '[') {
      constexpr std::size_t shown = 30;
      const std::string begin = text_.substr(first, std::min(shown, text_.find_first_of("\r\n", first) - first));
      throw ParseError({name_, line, ""}, "not JSON: it begins with `" + begin + "`; expected `{`",
                       "is this a file of hplcast?");
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string what = error.what(), place = ", column ";
    const std::size_t column = what.find(place);
    const std::size_t end_of_place = column == std::string::npos ? column : what.find(": ", column);
    throw ParseError({name_, line, ""},
                     "not JSON" + (end_of_place == std::string::npos ? ": " + what : what.substr(end_of_place)));
  }

 private:
  struct Level {
    bool is_array = false;
    std::size_t index = 0;
    std::string key;
    std::set<std::string> keys;
  };

  bool value() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }

  bool enter() {
    constexpr std::size_t deepest = 100;  // files of hplcast have at most ten levels; provenance is free
    if (levels_.size() >= deepest)
      throw ParseError({name_, 0, ""}, "objects or lists more than " + std::to_string(deepest) + " levels deep",
                       "is this a file of hplcast?");
    levels_.emplace_back();
    return true;
  }

  bool leave() {
    levels_.pop_back();
    return value();
  }

  std::string path() const {
    std::string text;
    for (const Level& level : levels_) text += "/" + (level.is_array ? std::to_string(level.index) : level.key);
    return text;
  }

  const std::string& text_;
  const std::string& name_;
  std::vector<Level> levels_;
  std::size_t texts_ = 0;
};

}  // namespace

bool begins_as_json(const std::string& text) {
  constexpr const char* blanks = " \t\r\n\xEF\xBB\xBF";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos || text[first] != '[') return first != std::string::npos && text[first] == '{';
  const std::size_t second = text.find_first_not_of(blanks, first + 1);
  return second == std::string::npos || text[second] == '{' || text[second] == ']';
}

void check_json(const std::string& text, const std::string& name) {
  Inspector inspector(text, name);
  Json::sax_parse(text, &inspector);
  if (text.find('\0') != std::string::npos)
    throw ParseError({name, 0, ""}, "bytes of 0 behind its end; expected nothing", "was it written to its end?");
}

std::string read_json_text(std::istream& in, const std::string& name) {
  // A text that does not begin as JSON does is not read to its end.
  const int first = in.peek();
  const bool may_be_json = first == '{' || first == '[' || first == 0xEF || std::isspace(first) != 0;
  std::string text =
      read_text(in, name, "is this a file of hplcast?", may_be_json ? most_bytes_of_text : most_bytes_of_plan);
  check_json(text, name);
  return text;
}

template <typename Tree>
Tree parse_json(const std::string& text) {
  return Tree::parse(text);
}
template Json parse_json(const std::string& text);
template nlohmann::json parse_json(const std::string& text);

template <typename Tree>
double number_at(const Tree& json, const char* pointer) {
  const typename Tree::json_pointer place(pointer);
  return json.contains(place) && json.at(place).is_number() ? json.at(place).template get<double>() : 0;
}
template double number_at(const Json& json, const char* pointer);
template double number_at(const nlohmann::json& json, const char* pointer);

namespace {

template <typename Tree>
std::string dumped(const Tree& json, int indent) {
  try {
    return json.dump(indent);
  } catch (const nlohmann::json::type_error&) {  // of numbers and trees there is none
    const std::string text = json.dump(-1, ' ', false, Tree::error_handler_t::replace);
    const std::size_t at = text.find("\xEF\xBF\xBD"), begin = at - std::min<std::size_t>(at, 60);
    throw InputError("a text to be written as JSON is not UTF-8: a name of a host, a program, a folder or an option: " +
                     text.substr(begin, 80));
  }
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return dumped(json, indent);
}

std::string json_text(const nlohmann::json& json, int indent) {
  return dumped(json, indent);
}

}  // namespace hplcast::core

namespace hplcast::core::detail {

void Node::note(const std::string& message, const std::string& hint) const {
  const std::string field = pointer_.empty() ? "/" : pointer_;
  if (!collects()) throw ParseError({file_, 0, field}, message, hint);
  problems_->push_back({true, field, message, hint});
}

std::size_t Node::problem_count() const {
  return collects() ? problems_->size() : 0;
}

Json parse_json(std::istream& in, const std::string& name) {
  return Json::parse(read_json_text(in, name));
}

void check_schema(const Node& root, int oldest, int latest) {
  const int found = root.at("schema_version").integer<int>();
  if (found >= oldest && found <= latest) return;
  const std::string expected = oldest == latest
                                   ? "version " + std::to_string(latest)
                                   : "versions " + std::to_string(oldest) + " to " + std::to_string(latest);
  root.at("schema_version")
      .fail("found version " + std::to_string(found) + "; this hplcast reads " + expected,
            found > latest ? "the file was written by a newer hplcast" : "make the file anew with this hplcast");
}

void refuse_others(const Node& node, const std::vector<std::string>& known) {
  for (const auto& [key, value] : node.object().items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    node.below(value, key).note("unknown key", name_hint(key, known));
  }
}

void refuse_cluster(const Node& root, const std::string& expected) {
  if (root.has("hosts") && root.has("kernels") && root.has("network"))
    root.fail("this is a cluster.json; expected " + expected);
}

}  // namespace hplcast::core::detail
