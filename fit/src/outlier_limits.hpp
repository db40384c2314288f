#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace hplcast::fit::detail {

/// Up to which duration a call counts, as a function of the message size, learned from the calls themselves.
///
/// Interrupted calls last far longer, never shorter, and on a busy machine they are many: so what is usual comes from
/// the lower part of the durations. Neighbouring sizes are put into bins of at least ten calls; the usual duration in a
/// bin is the 30 % quantile along the slope (in logarithms) that the neighbouring bins have. A call is an outlier if it
/// lasts more than three times what is usual by its own bin and by both neighbours (at a jump between two protocols one
/// of them is the right company), or more where calls scatter widely anyway. Where ten calls span more than a factor of
/// ten in size, nobody is an outlier: there is too little to judge by.
class OutlierLimits {
 public:
  /// All calls first, in any order. Memory: a sample of at most 16 calls per size.
  void add(double size, double duration_s);
  /// Ends the adding.
  void close();
  bool is_outlier(double size, double duration_s) const;

 private:
  struct Sample {
    std::vector<double> logs;  // of durations
    long seen = 0;
    std::size_t bin = 0;
  };
  struct Bin {
    std::vector<double> log_sizes, logs;
    double centre = 0;  // log(size)
    double usual = 0;   // log(duration) at the centre
    double slope = 0;   // d log(duration) / d log(size)
    bool wide = false;
  };
  void make_bins();
  void find_slopes();
  double usual_at(double log_size, std::size_t bin) const;

  std::map<double, Sample> samples_;
  std::vector<Bin> bins_;
  double noise_ = 0;  // what a logarithm may exceed the usual one by
};

}  // namespace hplcast::fit::detail
