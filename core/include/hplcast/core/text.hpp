#pragma once

#include <string>

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

}  // namespace hplcast::core
