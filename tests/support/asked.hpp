#pragma once

#include <cstdlib>

namespace hplcast::test {

/// How much a test does: more on request, by an environment variable.
inline long asked(const char* variable, long otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atol(value);
}

}  // namespace hplcast::test
