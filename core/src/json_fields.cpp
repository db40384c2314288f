#include "json_fields.hpp"

#include <algorithm>
#include <istream>
#include <iterator>
#include <set>

#include "hplcast/core/files.hpp"

namespace hplcast::core::detail {

namespace {

/// Looks at a JSON text before a tree is made of it: how deep it goes, and whether an object has a key twice (the tree
/// would keep one of both without a word).
class Inspector : public nlohmann::json_sax<Json> {
 public:
  explicit Inspector(const std::string& name) : name_(name) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
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
    if (level.keys.insert(key).second) return true;
    throw ParseError({name_, 0, path()}, "this key is there twice", "remove one of both");
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;  // the parser tells it better
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
    if (levels_.size() >= deepest) {
      throw ParseError({name_, 0, ""}, "objects or lists more than " + std::to_string(deepest) + " levels deep",
                       "is this a file of hplcast?");
    }
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

  std::string name_;
  std::vector<Level> levels_;
};

}  // namespace

Json parse_json(std::istream& in, const std::string& name) {
  const std::string text = read_text(in, name, "is this a file of hplcast?");
  try {
    Inspector inspector(name);
    Json::sax_parse(text, &inspector);
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = static_cast<std::size_t>(std::count(text.begin(), end, '\n')) + 1;
    throw ParseError({name, line, ""},
                     text.empty() ? "the file is empty; expected JSON" : std::string("not JSON: ") + error.what());
  } catch (const nlohmann::json::exception& error) {
    throw ParseError({name, 0, ""}, std::string("not JSON: ") + error.what());
  }
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

}  // namespace hplcast::core::detail
