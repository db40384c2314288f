#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hplcast::core {

/// The draws of one call of a stochastic model: independent of all others and of the order of the calls.
struct Draw {
  double uniform = 0.5;  ///< in (0, 1)
  double normal = 0.0;   ///< standard normal, independent of `uniform`
};
/// No draw is further from 0: sqrt(-2 log 2^-53) = 8.572.
inline constexpr double largest_normal = 8.6;

/// Names a stream of draws. Equal names give equal numbers, on any process and in any order (counter-based:
/// Philox4x64-10, Salmon et al. 2011). `domain` keeps uses apart (kernels, pivots, messages, generation).
struct StreamName {
  std::uint64_t seed = 0;
  std::uint32_t domain = 0;
  std::uint32_t rank = 0;
  std::uint64_t kernel = 0;  ///< below 2^32; wider, so that nothing is between the words that a draw reads
  std::uint64_t detail = 0;  ///< for uses that need a longer name
};

/// Domains in use.
enum StreamDomain : std::uint32_t {
  stream_kernel = 1,
  stream_pivot = 2,
  stream_message = 3,
  stream_generate = 4,
  stream_design = 5,
  stream_fit = 6,
  stream_smpi_message = 7,
  stream_window = 8,
  stream_detour = 9,
  stream_routine = 10,
};

/// The draw number `call` of a stream.
Draw draw(const StreamName& name, std::uint64_t call) noexcept;

/// Four independent numbers in (0, 1): for uses that need no normal one, in less time than four draws.
std::array<double, 4> uniforms(const StreamName& name, std::uint64_t call) noexcept;

/// A stream that counts its calls itself: for sequential use (designs, generation, tests).
class RandomStream {
 public:
  explicit RandomStream(StreamName name) : name_(name) {}
  double uniform() noexcept { return draw(name_, call_++).uniform; }
  double normal() noexcept { return draw(name_, call_++).normal; }
  Draw next() noexcept { return draw(name_, call_++); }
  /// Uniform integer in [0, bound), bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept;

 private:
  StreamName name_;
  std::uint64_t call_ = 0;
};

/// Fisher-Yates: every order is equally likely. std::shuffle gives other orders with other standard libraries.
template <typename T>
void shuffle(std::vector<T>& items, RandomStream& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace hplcast::core
