#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/fit/quality.hpp"

namespace hplcast::fit {

/// One row of a saturation measurement: `pairs` of ranks sent a message of this size at the same time, the last of
/// which had arrived after `duration_s`.
struct SaturatedTurn {
  long pairs = 1;
  double size_bytes = 0;
  double duration_s = 0;
};

/// Collects the turns of both scopes from rows of operation `one_way`. Rows of one design row (`order`) that were made
/// at the same time are one turn, as long as its slowest; a row without `order` is a turn of its own.
class SaturatedTurns {
 public:
  /// Rows of other operations are ignored. @throws core::DomainError for an unknown scope.
  void add(const core::MpiMeasurement& row);
  const std::vector<SaturatedTurn>& of(core::Scope scope) const;
  /// Turns of which a row failed or is missing; they do not count.
  long incomplete(core::Scope scope) const;

 private:
  struct Open {
    SaturatedTurn turn;
    long rows = 0;
    bool failed = false;
  };
  struct OfScope {
    std::vector<SaturatedTurn> turns;
    std::map<std::vector<double>, Open> open;  // by order, pairs, size
    long failed = 0;
  };
  OfScope scopes_[2];
};

/// A rate in bytes/s with its 95 % interval.
struct RateEstimate {
  double bytes_per_s = 0;
  double low_bytes_per_s = 0, high_bytes_per_s = 0;
};

/// Total rate of a number of pairs at once.
struct SaturationPoint {
  long pairs = 1;
  long turns = 0;
  RateEstimate total;
};

enum class SaturationStatus {
  ok,
  no_rows,
  too_few_rows,  ///< for every number of pairs
  one_pair_only  ///< no row gives the rate of several
};

const char* to_string(SaturationStatus status);

/// Result of fit_link_capacity(). `capacity` is valid if ok.
struct LinkCapacityFit {
  SaturationStatus status = SaturationStatus::no_rows;
  std::string reason;
  std::vector<SaturationPoint> points;  ///< by number of pairs
  std::optional<RateEstimate> single;   ///< of one pair: the rate of a flow
  RateEstimate capacity;
  long plateau_from_pairs = 0, plateau_to_pairs = 0;
  std::vector<QualityFlag> flags;  ///< capacity_lower_bound, capacity_falls (docs/models/network-models.md)
  std::vector<std::string> notes;
  bool ok() const noexcept { return status == SaturationStatus::ok; }
};

/// The capacity of a link from turns with several numbers of pairs.
///
/// Only long messages count: those of a sixteenth of the largest size or more. A turn of n pairs takes a constant and
/// n size / rate; the total rate of n pairs is one over the slope of its turns over n size: the median of the slopes
/// between any two of them (Theil 1950), its interval that of Sen (1968, with ties). Where all sizes are equal, or
/// durations scatter so much that they might not grow with the size at all: the median of n size / duration, and the
/// interval of its order statistics. A number of pairs needs five turns.
///
/// From one number of pairs to the next the total grows if the intervals do not overlap and it is more than 3 % more.
/// The plateau begins where it grows no more; its rate is that of all its turns together, slopes being taken between
/// turns of the same number of pairs. If it still grows with the largest number of pairs, the total there is a lower
/// bound of the capacity (flag). If it falls after the plateau, by the same criterion, those numbers of pairs do not
/// count: the plateau is the capacity (flag).
LinkCapacityFit fit_link_capacity(core::Scope scope, const std::vector<SaturatedTurn>& turns);

/// The capacity as the network model has it. @throws nothing; `fit` must be ok.
core::LinkCapacity measured_capacity(const LinkCapacityFit& fit);

}  // namespace hplcast::fit
