#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"

namespace hplcast::fit {

/// The speed of each host over a campaign, from its controls (docs/models/control.md). Pieces are what was measured
/// between two controls.
class ControlCurve {
 public:
  ControlCurve() = default;  ///< no controls: nothing is disturbed or slower
  /// `csv`: control.csv; empty: no controls. @throws core::ParseError
  ControlCurve(const std::string& csv, const std::string& name);

  /// Whether the controls around this moment (slowest rank of the host, mean of both) are above 1.1 times the best.
  bool is_disturbed(const std::string& host, double start_s) const;
  /// Duration of a kernel at this moment over that at the median of all controls: the interpolated change of the
  /// median rank of the host, to the power of the share of its variance that is not the control's own scatter.
  double slowdown(const std::string& host, double start_s) const;
  /// Whether at least half of the rows of a CSV are left without the disturbed ones. @throws core::ParseError
  bool leaves_enough(const std::string& csv, const std::string& name) const;

  bool is_empty() const noexcept { return pieces() == 0; }
  std::string provenance_json() const;  ///< `control` in the provenance: a JSON object
  std::string note() const;             ///< the same for people

 private:
  struct Host {
    std::vector<double> ratios, slowest;  ///< per control: median and slowest rank, each over its own median
    double best = 1;                      ///< least slowest rank of a piece
    double coefficient = 0;
  };
  struct Counted {
    core::Control control;
    std::size_t set_aside = 0;
    double coefficient = 0;  ///< mean over the hosts
  };

  std::size_t pieces() const noexcept { return times_s_.size() < 2 ? 0 : times_s_.size() - 1; }
  std::size_t piece_at(double start_s) const;
  bool is_disturbed(const Host& host, std::size_t piece) const;
  static double slowest(const Host& host, std::size_t piece) {
    return (host.slowest[piece] + host.slowest[piece + 1]) / 2;
  }
  const Host* host(const std::string& name) const;
  Counted counted() const;

  std::vector<core::ControlRows> controls_;
  std::vector<double> times_s_;  ///< when each control began
  std::map<std::string, Host> hosts_;
};

}  // namespace hplcast::fit
