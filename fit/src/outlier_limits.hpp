#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace hplcast::fit::detail {

/// Up to which duration a call counts, as a function of the message size, learned from the calls themselves.
///
/// Interrupted calls last far longer, never shorter, and on a busy machine they are many: so the limit comes from the lower
/// part of the durations of like sizes. A call is an outlier if it lasts more than three times (more where the calls of all
/// sizes scatter widely) the 30 % quantile of the calls of its own and the next smaller sizes, and also that of its own and the
/// next larger sizes: at a jump between two protocols one of the two is the right company.
class OutlierLimits {
 public:
  /// All sizes first, in any order. Memory: a sample of at most 16 calls a size.
  void add(double size, double duration_s);
  /// Ends the adding.
  void close();
  bool is_outlier(double size, double duration_s) const;

 private:
  struct Sample {
    std::vector<double> logs;
    long seen = 0;
    double limit = 0;  // of log(duration)
  };
  std::map<double, Sample> samples_;
};

}  // namespace hplcast::fit::detail
