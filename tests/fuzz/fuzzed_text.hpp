#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "hplcast/core/errors.hpp"

namespace hplcast::test {

/// The bytes of a fuzzer, for readers of streams. Each may refuse them by core::Error, and do nothing else.
class FuzzedText {
 public:
  FuzzedText(const std::uint8_t* data, std::size_t size) : text_(reinterpret_cast<const char*>(data), size) {}

  template <typename Read>
  void operator()(Read read) const {
    std::istringstream in(text_);
    try {
      read(in);
    } catch (const core::Error&) {  // what bad input is meant to end with
    }
  }

 private:
  std::string text_;
};

}  // namespace hplcast::test
