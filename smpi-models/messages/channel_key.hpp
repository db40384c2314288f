#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::smpi_models {

inline bool same_ends(const hplcast_channel& a, const hplcast_channel& b) noexcept {
  return a.source == b.source && a.destination == b.destination && a.tag == b.tag && a.context == b.context;
}

/// As source or tag of what is wanted: any.
constexpr int any_value = std::numeric_limits<int>::min();

/// Whether a message that was sent on one channel is one that is wanted or probed on another, which may have wildcards.
inline bool matches(const hplcast_channel& sent, const hplcast_channel& wanted) noexcept {
  return (sent.source == wanted.source || wanted.source == any_value) && sent.destination == wanted.destination &&
         (sent.tag == wanted.tag || wanted.tag == any_value) && sent.context == wanted.context;
}

/// Channels as keys of hash tables.
struct ChannelHash {
  std::size_t operator()(const hplcast_channel& channel) const noexcept {
    // Knuth's multiplicative hashing, field by field.
    std::uint64_t hash = 0;
    for (const int field : {channel.source, channel.destination, channel.tag, channel.context}) {
      hash = (hash ^ static_cast<std::uint32_t>(field)) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

struct ChannelEqual {
  bool operator()(const hplcast_channel& a, const hplcast_channel& b) const noexcept { return same_ends(a, b); }
};

}  // namespace hplcast::smpi_models
