#pragma once

#include <cstdint>
#include <unordered_map>

namespace hplcast::smpi_models {

/// What sampled exchanges (made with messages that share links) teach about those that are computed. A panel is in
/// parts (SampledExchanges); each part has lessons of its own, because row swaps fill the links at its beginning more
/// than at its end. Times in s are of one exchange.
class ExchangeLessons {
 public:
  /// A run of sampled exchanges, as means over its exchanges and the processes of the column.
  struct Sample {
    double took_s = 0;    ///< with the work between exchanges
    double excess_s = 0;  ///< of that, beyond what it would have taken in an empty network
  };
  void add(int part, const Sample& sample);
  void count_computed(std::size_t exchanges) { computed_ += exchanges; }

  /// Of the latest sample of the part; 0 before the first.
  double excess_s(int part) const;

  /// How much of the bytes of computed exchanges the links feel, if these bytes go at a constant rate: from 0 to 1.
  ///
  /// Say that a share p of the exchanges meets busy links and then takes x longer than the time t alone, and all others
  /// take t. Busy links get the bytes of p exchanges. As they are busy for p (t + x) / (t + p x) of the time, a
  /// constant rate would give them so much instead. The ratio of both is (t + p x) / (t + x); the mean excess is p x,
  /// the mean of its square p x^2.
  double load_share(int part) const;

  /// Twice the standard error in s of the time of all computed exchanges together. Half the mean square of the
  /// differences of neighbouring samples of a part is their variance, whatever slow trend there is (von Neumann 1941);
  /// their mean, which stands for every computed exchange, has this over their number. 0 before the second sample.
  double error_95_s() const;

 private:
  struct Part {
    double latest_s = 0;
    double samples = 0, took_s = 0, excess_s = 0, squared_excess_s2 = 0;  // sums
  };
  std::unordered_map<int, Part> parts_;
  std::uint64_t computed_ = 0;
  std::uint64_t changes_ = 0;
  double squared_changes_s2_ = 0;
};

}  // namespace hplcast::smpi_models
