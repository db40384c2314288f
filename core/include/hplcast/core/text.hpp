#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hplcast::core {

/// "a, b, c": for messages. `texts`: a range of anything that a std::string can be made of.
template <typename Texts>
std::string comma_separated(const Texts& texts) {
  std::string result;
  for (const auto& text : texts) {
    if (!result.empty()) result += ", ";
    result += text;
  }
  return result;
}

inline bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

inline bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

/// The parts of a line that are separated by blanks.
std::vector<std::string> words_of(const std::string& line);

/// As std::snprintf(), at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...);

}  // namespace hplcast::core

/// Names that a user may have mistyped: of keys, columns, options.
namespace hplcast::core {

/// Without blanks at its ends, in lower case: what two spellings of one name have in common.
std::string folded(std::string_view name);

/// The one of `names` that is nearest to `name` (letters inserted, left out, replaced or swapped; case does not count);
/// empty if none is near enough to be meant: at most a third of the letters may differ.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

/// A hint for a name that is not known: "did you mean `x`?", or the list of all names.
std::string name_hint(std::string_view name, const std::vector<std::string>& names);

/// Text as it may stand in XML, HTML and SVG, also inside quoted attributes.
std::string xml_escaped(const std::string& text);

}  // namespace hplcast::core
