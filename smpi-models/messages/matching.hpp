#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"

inline bool operator==(const hplcast_channel& a, const hplcast_channel& b) noexcept {
  return a.source == b.source && a.destination == b.destination && a.tag == b.tag && a.context == b.context;
}

/// Channels are keys of hash tables.
template <>
struct std::hash<hplcast_channel> {
  std::size_t operator()(const hplcast_channel& channel) const noexcept {
    // Knuth's multiplicative hashing, field by field.
    std::uint64_t mixed = 0;
    for (const int field : {channel.source, channel.destination, channel.tag, channel.context}) {
      mixed = (mixed ^ static_cast<std::uint32_t>(field)) * 0x9E3779B97F4A7C15ULL;
      mixed ^= mixed >> 29;
    }
    return static_cast<std::size_t>(mixed);
  }
};

namespace hplcast::smpi_models {

/// As source or tag of what is wanted: any.
constexpr int any_value = std::numeric_limits<int>::min();

/// Whether a message that was sent on one channel is one that is wanted or probed on another, which may have wildcards.
inline bool matches(const hplcast_channel& sent, const hplcast_channel& wanted) noexcept {
  return (sent.source == wanted.source || wanted.source == any_value) && sent.destination == wanted.destination &&
         (sent.tag == wanted.tag || wanted.tag == any_value) && sent.context == wanted.context;
}

/// Waiting messages and receives of one rank. Messages do not overtake each other (MPI 4.0, 3.5): a receive gets the
/// one sent first of those that it may get, and a message goes to the receive posted first of those that may get it. So
/// of two messages of one sender that one receive may get, the first sent is received first, and no message waits
/// beside a receive that may get it.
///
/// Both are pointers, in the order in which they came; channel_of(*pointer) is the channel of what they point at, which
/// in receives may have wildcards.
template <typename Message, typename Receive>
class Matching {
 public:
  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<Receive>& receives() const { return receives_; }

  /// The receive that gets it; null: none, it waits.
  Receive arrive(const Message& message) {
    Receive receive =
        take_first(receives_, [&](const Receive& one) { return matches(channel_of(*message), channel_of(*one)); });
    if (receive == nullptr) messages_.push_back(message);
    return receive;
  }
  /// The message that it gets; null: none, it waits.
  Message post(const Receive& receive) {
    Message message =
        take_first(messages_, [&](const Message& one) { return matches(channel_of(*one), channel_of(*receive)); });
    if (message == nullptr) receives_.push_back(receive);
    return message;
  }
  /// The message that a receive of this channel would get; null: none.
  const Message* find(const hplcast_channel& wanted) const {
    const auto found = std::find_if(messages_.begin(), messages_.end(),
                                    [&](const Message& one) { return matches(channel_of(*one), wanted); });
    return found == messages_.end() ? nullptr : &*found;
  }

 private:
  template <typename Thing, typename Fits>
  static Thing take_first(std::vector<Thing>& waiting, const Fits& fits) {
    const auto found = std::find_if(waiting.begin(), waiting.end(), fits);
    if (found == waiting.end()) return nullptr;
    Thing taken = std::move(*found);
    waiting.erase(found);
    return taken;
  }

  std::vector<Message> messages_;
  std::vector<Receive> receives_;
};

}  // namespace hplcast::smpi_models
