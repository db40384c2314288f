#include "hplcast/core/text.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace hplcast::core {

std::string printed(const char* format, ...) {
  std::array<char, 256> text{};
  std::va_list values;
  va_start(values, format);
  (void)std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return text.data();
}

}  // namespace hplcast::core
