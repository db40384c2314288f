#pragma once

#include <functional>
#include <string>

#include "hplcast/core/errors.hpp"

namespace hplcast::tests {

/// The message of the Error that `action` throws, or "" if it throws none.
inline std::string error_in(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace hplcast::tests
