#pragma once

#include <map>
#include <vector>

namespace hplcast::smpi_models {

/// Joules in steps of time from 0 on.
class PowerBins {
 public:
  /// @param bin_s  > 0
  explicit PowerBins(double bin_s) : bin_s_(bin_s) {}

  /// Watts from begin to end, 0 <= begin. An end before the begin (by rounding) takes away.
  void add(double begin_s, double end_s, double w);
  /// Nothing comes any more: of a run of `time_s`. The last bin is shorter than the others where they do not fill it.
  /// @throws core::DomainError for more than 10^7 bins.
  void end(double time_s);

  double bin_s() const { return bin_s_; }
  const std::vector<double>& joules() const { return joules_; }

 private:
  double& at(std::size_t bin);
  double bin_s_;
  std::vector<double> joules_;
};

/// When at least one core of a host is active: the union of intervals that come in any order.
class ActiveTime {
 public:
  void add(double begin_s, double end_s);
  /// Gives `sink(begin, end)` every part that is over: nothing more will be added before `until_s`.
  template <typename Sink>
  void take_until(double until_s, Sink sink) {
    while (!parts_.empty() && parts_.begin()->first < until_s) {
      const auto [begin_s, end_s] = *parts_.begin();
      parts_.erase(parts_.begin());
      if (end_s > until_s) {
        sink(begin_s, until_s);
        parts_.emplace(until_s, end_s);
        return;
      }
      sink(begin_s, end_s);
    }
  }
  std::size_t parts() const { return parts_.size(); }

 private:
  std::map<double, double> parts_;  // begin to end; they do not touch each other
};

}  // namespace hplcast::smpi_models
