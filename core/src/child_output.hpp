#pragma once

#include <sys/types.h>

#include <string>

#include "hplcast/core/process.hpp"

namespace hplcast::core {

/// Copies what a program writes into a file to the stream of show_output(), line by line; nothing without a stream, or
/// if the program has no purpose. Several threads may each have one.
class ShownOutput {
 public:
  /// `fd`: the file, which must be readable.
  ShownOutput(const Command& command, int fd);
  ~ShownOutput();  ///< copies the rest
  ShownOutput(const ShownOutput&) = delete;
  ShownOutput& operator=(const ShownOutput&) = delete;

  /// The whole lines that have come since the last call.
  void copy();

 private:
  void show(const std::string& lines) const;

  const Command& command_;
  int fd_;
  bool shown_;
  off_t position_ = 0;
  std::string begun_;  ///< a line that has no end yet
};

}  // namespace hplcast::core
