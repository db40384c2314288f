#include <algorithm>
#include <cmath>
#include <optional>

#include "fit/network/network_steps.hpp"
#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::fit::detail {

namespace {

constexpr std::size_t sample_size = 1000;      // calls kept a size; of more it depends on their order which are
constexpr std::size_t bin_size = 10;           // calls in a bin, at least
const double greatest_width = std::log(10.0);  // of a bin
const double always_kept = std::log(3.0);      // noise that a program meets as well, whatever the spread of the rest
constexpr double steepest = 1.2;               // durations grow in proportion to the size at most, but for noise

double log_of_size(double size) {
  return std::log(std::max(1.0, size));
}

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
  /// All calls first, in any order. Memory: a sample of at most so many calls per size.
  void add(double size, double duration_s) {
    Sample& sample = samples_[size];
    ++sample.seen;
    keep_in_reservoir(sample.logs, sample_size, sample.seen, std::log(duration_s));
  }

  /// Ends the adding.
  void close() {
    make_bins();
    find_slopes();
    std::vector<double> spreads;
    for (Bin& bin : bins_) {
      std::vector<double> levelled = bin.logs;
      for (std::size_t i = 0; i < levelled.size(); ++i) levelled[i] -= bin.slope * (bin.log_sizes[i] - bin.centre);
      std::sort(levelled.begin(), levelled.end());
      bin.usual = quantile(levelled, 0.3);
      spreads.push_back(bin.usual - quantile(levelled, 0.1));  // 0.76 standard deviations if normal
    }
    // One number for all sizes: a bin with a jump inside scatters by the jump.
    if (!spreads.empty()) noise_ = std::max(always_kept, 10 * quantile_of(spreads, 0.5));
  }

  bool is_outlier(double size, double duration_s) const {
    const auto found = samples_.find(size);
    if (found == samples_.end()) return false;
    const std::size_t bin = found->second.bin;
    if (bins_[bin].wide) return false;
    const double log_size = log_of_size(size);
    double usual = bins_[bin].usual_at(log_size);
    if (bin > 0) usual = std::max(usual, bins_[bin - 1].usual_at(log_size));
    if (bin + 1 < bins_.size()) usual = std::max(usual, bins_[bin + 1].usual_at(log_size));
    return std::log(duration_s) > usual + noise_;
  }

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
    double usual_at(double log_size) const { return usual + slope * (log_size - centre); }
  };

  void make_bins() {
    std::size_t left = 0;  // calls in no bin yet: too few for one of their own go into the last
    for (const auto& entry : samples_) left += entry.second.logs.size();
    for (auto& [size, sample] : samples_) {
      if (bins_.empty() || (bins_.back().logs.size() >= bin_size && left >= bin_size)) bins_.emplace_back();
      Bin& bin = bins_.back();
      bin.log_sizes.insert(bin.log_sizes.end(), sample.logs.size(), log_of_size(size));
      bin.logs.insert(bin.logs.end(), sample.logs.begin(), sample.logs.end());
      sample.bin = bins_.size() - 1;
      left -= sample.logs.size();
    }
    for (Bin& bin : bins_) {
      bin.wide = bin.logs.size() < bin_size || bin.log_sizes.back() - bin.log_sizes.front() > greatest_width;
      bin.centre = quantile(bin.log_sizes, 0.5);
      bin.usual = quantile_of(bin.logs, 0.3);
    }
  }

  void find_slopes() {
    for (std::size_t b = 0; b < bins_.size(); ++b) {
      const Bin& before = bins_[b > 0 ? b - 1 : 0];
      const Bin& after = bins_[std::min(b + 1, bins_.size() - 1)];
      const double run = after.centre - before.centre;
      bins_[b].slope = run > 0 ? std::clamp((after.usual - before.usual) / run, 0.0, steepest) : 0;
    }
  }

  std::map<double, Sample> samples_;
  std::vector<Bin> bins_;
  double noise_ = 0;  // what a logarithm may exceed the usual one by
};

/// Absolute residuals of logarithms, counted in bins: their median without keeping them.
class ResidualHistogram {
 public:
  void add(double residual) {
    const double at = std::min(std::abs(residual) / width, static_cast<double>(counts_.size() - 1));
    ++counts_[static_cast<std::size_t>(at)];
    ++total_;
  }
  /// From the median: the standard deviation if the residuals are normal.
  double robust_sd() const {
    long seen = 0;
    for (std::size_t i = 0; i < counts_.size() && total_ > 0; ++i) {
      seen += counts_[i];
      if (2 * seen >= total_) return core::sd_of_median_distance * width * (static_cast<double>(i) + 0.5);
    }
    return 0;
  }

 private:
  static constexpr double width = 1e-3;
  std::vector<long> counts_ = std::vector<long>(10000);
  long total_ = 0;
};

struct Collected {
  ResidualHistogram relative;
  std::optional<SegmentNoiseCollector> noise;
};

}  // namespace

KeepRow without_interruptions(const MpiRows& rows) {
  std::array<std::array<OutlierLimits, sized_operation_count>, 2> limits;
  for_sized_rows(rows, [&](core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) {
    limits[static_cast<std::size_t>(scope)][operation].add(row.size_bytes, row.duration_s);
  });
  for (auto& of_scope : limits)
    for (OutlierLimits& one : of_scope) one.close();
  return [limits = std::move(limits)](core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) {
    return !limits[static_cast<std::size_t>(scope)][operation].is_outlier(row.size_bytes, row.duration_s);
  };
}

std::array<ScopeResiduals, 2> summarise_residuals(const MpiRows& rows, const KeepRow& keep, double most_times,
                                                  const std::array<ScopeLines, 2>& lines, double detached_bytes,
                                                  SegmentNoiseKind noise) {
  std::array<std::array<Collected, sized_operation_count>, 2> collected;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t o = 0; o < sized_operation_count; ++o)
      if (!lines[s].of[o].empty()) collected[s][o].noise.emplace(lines[s].of[o], ResidualKind::relative);
  for_sized_rows(rows, [&](core::Scope scope, SizedOperation operation, const core::MpiMeasurement& row) {
    Collected& of_operation = collected[static_cast<std::size_t>(scope)][operation];
    if (!of_operation.noise || !has_line(operation, row.size_bytes, detached_bytes)) return;
    if (keep && !keep(scope, operation, row)) return;
    const double fit = segment_at(lines[static_cast<std::size_t>(scope)].of[operation], row.size_bytes)(row.size_bytes);
    if (!(fit > 0)) return;
    const double counted_s = std::min(row.duration_s, most_times * fit);
    of_operation.relative.add(std::log(counted_s / fit));
    of_operation.noise->add(row.size_bytes, counted_s);
  });
  std::array<ScopeResiduals, 2> summaries;
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t o = 0; o < sized_operation_count; ++o) {
      summaries[s][o].relative_sd = collected[s][o].relative.robust_sd();
      if (noise != SegmentNoiseKind::none && collected[s][o].noise)
        summaries[s][o].noise = collected[s][o].noise->noise(noise);
    }
  }
  return summaries;
}

}  // namespace hplcast::fit::detail
