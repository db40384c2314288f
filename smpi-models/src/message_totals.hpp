#pragma once

namespace hplcast::smpi_models {

/// How many messages, and their bytes.
struct MessageTotals {
  double messages = 0;
  double bytes = 0;

  void add(double message_bytes) {
    ++messages;
    bytes += message_bytes;
  }
  MessageTotals& operator+=(const MessageTotals& more) {
    messages += more.messages;
    bytes += more.bytes;
    return *this;
  }
};

}  // namespace hplcast::smpi_models
