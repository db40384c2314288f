#pragma once

#include <string>
#include <string_view>

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

/// As std::snprintf(), at most 255 characters.
[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...);

}  // namespace hplcast::core
