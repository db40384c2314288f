#include "fit/network/network_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/core/network_model.hpp"

namespace hplcast::fit::detail {

namespace {

/// Breakpoints that leave at least `min_sizes` of the sizes measured in every segment; of two that do not, the later
/// one goes, unless it is the threshold.
std::vector<double> supported(const std::vector<double>& breakpoints, const std::vector<SizeCell>& cells,
                              double threshold, int min_sizes) {
  const auto sizes_between = [&](double from, double to) {
    return std::count_if(cells.begin(), cells.end(), [&](const SizeCell& c) { return c.size >= from && c.size < to; });
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> kept;
  for (double b : breakpoints) {
    if (sizes_between(b, infinity) < min_sizes) break;
    while (!kept.empty() && sizes_between(kept.back(), b) < min_sizes && b == threshold) kept.pop_back();
    if (sizes_between(kept.empty() ? 0 : kept.back(), b) >= min_sizes) kept.push_back(b);
  }
  return kept;
}

SegmentedFit regression(const std::vector<SizeCell>& cells, const NetworkFitOptions& options,
                        std::optional<std::vector<double>> breakpoints) {
  SegmentedOptions regression = options.regression;
  regression.non_negative = regression.non_negative || options.physical;
  regression.breakpoints = std::move(breakpoints);
  return fit_segmented(cells, regression);
}

/// The breakpoints found, without those so near to the threshold that they mean it, and with the threshold.
std::vector<double> with_threshold(std::vector<double> found, double threshold) {
  constexpr double near = 1.3;
  if (!(threshold > 0) || !std::isfinite(threshold)) return found;
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](double b) { return b < threshold * near && b > threshold / near; }),
              found.end());
  found.insert(std::upper_bound(found.begin(), found.end(), threshold), threshold);
  return found;
}

/// Published calibrations have one set of segments, and overheads in whole ones.
bool has_published_segments(const NetworkFitOptions& options) {
  return options.breakpoints && options.transfer != TransferArithmetic::simulated;
}

/// The operation that tells the cost of MPI_Send.
SizedOperation sending_of(const ScopeLines& lines) {
  return lines.of[op_send].empty() ? op_isend : op_send;
}

using LogModes = std::vector<core::MixtureMode>;

/// A line on [from, to], and the relative noise around it.
struct Piece {
  double from = 0, to = 0, intercept = 0, slope = 0;
  LogModes noise = {};
  double at(double x) const { return intercept + slope * x; }
};

/// Cost of a message between `from` and `to`, taken apart.
struct Parts {
  Piece round_trip, send, recv, transfer;
};

/// The segment of `operation` that holds `from`.
Piece piece(const ScopeLines& lines, const ScopeResiduals& residuals, SizedOperation operation, double from,
            double to) {
  const std::vector<FittedSegment>& segments = lines.of[operation];
  if (segments.empty()) return {from, to};
  const FittedSegment& s = segment_at(segments, from);
  const std::vector<SegmentNoise>& noise = residuals[operation].noise;
  return {from, to, s.intercept, s.slope,
          noise.empty() ? LogModes() : noise[static_cast<std::size_t>(&s - segments.data())].modes};
}

Piece arithmetic(const Parts& parts, TransferArithmetic how) {
  const Piece &p = parts.round_trip, &s = parts.send, &r = parts.recv;
  switch (how) {
    case TransferArithmetic::half_of_difference:
      return {p.from, p.to, (p.intercept - r.intercept) / 2, (p.slope - r.slope) / 2};
    case TransferArithmetic::half_minus_receive:
      return {p.from, p.to, p.intercept / 2 - r.intercept, p.slope / 2 - r.slope};
    case TransferArithmetic::simulated:
      break;
  }
  return {p.from, p.to, p.intercept / 2 - s.intercept - r.intercept, p.slope / 2 - s.slope - r.slope};
}

/// The line nearest to `wanted` that SMPI can carry: slope >= least_slope, and something left at its envelope's size
/// before zero. It agrees with `wanted` at the upper end if possible.
Piece possible_transfer(const Piece& wanted, double least_slope) {
  constexpr double envelope = core::smpi_envelope_bytes;
  Piece line = wanted;
  if (line.slope < least_slope) {
    line.slope = least_slope;
    line.intercept = wanted.at(wanted.to) - least_slope * wanted.to;
  }
  if (line.intercept < envelope * line.slope) {
    line.slope = std::max(least_slope, wanted.at(wanted.to) / (wanted.to + envelope));
    line.intercept = envelope * line.slope;
  }
  return line;
}

void put_through(double at_from, double at_to, Piece& piece) {
  piece.slope = piece.to > piece.from ? (at_to - at_from) / (piece.to - piece.from) : 0;
  piece.intercept = at_from - piece.slope * piece.from;
}

/// Makes the transfer possible, and lets the overheads have what it leaves of half a round trip, in the proportion
/// measured: where send and receive were measured to take more than half a round trip, parts of them overlap in it.
/// Without overheads the transfer is half a round trip, even if it grows by less per byte than at the link's rate: it
/// only must not be faster than the link at either end.
void make_physical(Parts& parts, double least_slope, bool overheads, bool simulated) {
  const Piece wanted = parts.transfer;
  if (!overheads && simulated) {
    const auto least = [&](double x) { return least_slope * (x + core::smpi_envelope_bytes); };
    const double at_from = std::max(wanted.at(wanted.from), least(wanted.from));
    const double at_to = std::max(wanted.at(wanted.to), least(wanted.to));
    if (at_from > wanted.at(wanted.from) || at_to > wanted.at(wanted.to)) put_through(at_from, at_to, parts.transfer);
    return;
  }
  parts.transfer = possible_transfer(wanted, least_slope);
  const bool same = parts.transfer.slope == wanted.slope && parts.transfer.intercept == wanted.intercept;
  if (same || !simulated) return;
  const auto left = [&](double x) { return std::max(0.0, parts.round_trip.at(x) / 2 - parts.transfer.at(x)); };
  const double middle = std::sqrt(std::max(1.0, wanted.from) * wanted.to);
  const double send = std::max(0.0, parts.send.at(middle)), recv = std::max(0.0, parts.recv.at(middle));
  const double share = send + recv > 0 ? send / (send + recv) : 0.5;
  put_through(share * left(wanted.from), share * left(wanted.to), parts.send);
  put_through((1 - share) * left(wanted.from), (1 - share) * left(wanted.to), parts.recv);
}

/// Modes that exp() makes scatter so much around the mean 1; the spread is found by halving, since it grows with
/// theirs.
LogModes with_relative_sd(const LogModes& modes, double relative_sd) {
  const auto sd_of = [&](double spread) { return core::relative_sd(core::with_spread(modes, spread)); };
  constexpr int halvings = 50;
  double low = 0, high = 1;
  while (high < 1e3 && sd_of(high) < relative_sd) high *= 2;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (sd_of(middle) < relative_sd ? low : high) = middle;
  }
  return core::with_spread(modes, low);
}

/// The rest of the scatter of round trips, which have two messages, when the overheads have their own; in the shape
/// that round trips have. A number of mean 1 that is at most m scatters by no more than sqrt(m - 1).
LogModes noise_of_transfer(const Parts& parts) {
  static const double most = std::sqrt(most_times_expected - 1);
  const double middle = std::sqrt(std::max(1.0, parts.transfer.from) * parts.transfer.to);
  const auto variance = [&](const Piece& piece) {
    return std::pow(piece.at(middle) * core::relative_sd(piece.noise), 2);
  };
  const double left = variance(parts.round_trip) / 2 - variance(parts.send) - variance(parts.recv);
  const double transfer_s = parts.transfer.at(middle);
  if (!(left > 0) || !(transfer_s > 0)) return {};
  return with_relative_sd(parts.round_trip.noise, std::min(most, std::sqrt(left) / transfer_s));
}

core::Segment core_segment(const Piece& piece) {
  constexpr double negligible = 1e-3;  // nobody knows a cost that well
  core::Segment segment;
  segment.min_bytes = piece.from;
  segment.intercept_s = piece.intercept;
  segment.slope_s_per_byte = piece.slope;
  if (core::relative_sd(piece.noise) >= negligible) segment.log_modes = core::with_spread(piece.noise, 1);
  return segment;
}

/// Overheads end at the threshold, however few sizes are beyond it; with one set of breakpoints, as published, at one
/// of these.
std::vector<double> starts_of(const ScopeLines& lines, double threshold, double max_bytes, bool one_set) {
  std::vector<double> starts;
  if (!one_set && threshold > 0 && threshold < max_bytes) starts.push_back(threshold);
  for (int operation : {op_pingpong, sending_of(lines), op_recv}) {
    for (const FittedSegment& s : lines.of[static_cast<std::size_t>(operation)]) starts.push_back(s.min);
    if (one_set) break;
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

/// Rate of the link: the fastest of the messages long enough for latencies not to matter. No `physical` message
/// of any size carries more bytes in half a round trip.
double link_slope(const std::vector<Parts>& all, bool physical) {
  constexpr double long_message_bytes = 65536;
  double slope = 0;
  for (const Parts& parts : all) {
    const bool last = &parts == &all.back();
    if (!last && parts.transfer.to <= long_message_bytes) continue;
    double here = parts.transfer.slope;
    if (!(here > 0)) here = parts.round_trip.slope / 2;
    if (here > 0 && (slope == 0 || here < slope)) slope = here;
  }
  for (const Parts& parts : all) {
    for (const double x : {parts.round_trip.from, parts.round_trip.to}) {
      const double per_byte = physical && x > 0 ? parts.round_trip.at(x) / 2 / x : 0;
      if (per_byte > 0 && slope > 0) slope = std::min(slope, per_byte);
    }
  }
  constexpr double no_cost_seen = 1e-12;  // 1 TB/s: the sizes measured were too small to tell
  return slope > 0 ? slope : no_cost_seen;
}

double least_latency(const std::vector<Parts>& all) {
  for (const Parts& parts : all)
    if (parts.transfer.intercept > 0) return parts.transfer.intercept;
  return 1e-9;
}

/// Round trips of an operation in a range of sizes, and what the calls take of them.
Parts parts_of(SizedOperation round_trip, const ScopeLines& lines, const ScopeResiduals& residuals,
               const Thresholds& thresholds, const Piece& range, bool last) {
  Parts parts{};
  parts.round_trip = piece(lines, residuals, round_trip, range.from, range.to);
  parts.send = parts.recv = range;
  // Published fits count a segment as below the threshold if it ends there at the latest.
  if (last ? thresholds.detached_bytes > range.to : range.to <= thresholds.detached_bytes) {
    parts.send = piece(lines, residuals, sending_of(lines), range.from, range.to);
    parts.recv = piece(lines, residuals, op_recv, range.from, range.to);
  }
  return parts;
}

/// The costs between all starts of segments, before they are made to agree.
std::vector<Parts> take_apart(const ScopeLines& lines, const ScopeResiduals& residuals, const Thresholds& thresholds,
                              double max_bytes, const NetworkFitOptions& options) {
  const std::vector<double> starts =
      starts_of(lines, thresholds.detached_bytes, max_bytes, has_published_segments(options));
  std::vector<Parts> all;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const bool last = i + 1 == starts.size();
    const double from = starts[i], to = last ? std::max(max_bytes, from + 1) : starts[i + 1];
    Parts parts = parts_of(op_pingpong, lines, residuals, thresholds, {from, to}, last);
    parts.transfer = arithmetic(parts, options.transfer);
    all.push_back(std::move(parts));
  }
  return all;
}

/// Transfers of panels: half of their round trips, without the costs of calls below the threshold.
std::optional<core::SegmentedLaw> panels_of(const ScopeLines& lines, const ScopeResiduals& residuals,
                                            const Thresholds& thresholds, double max_bytes) {
  const std::vector<FittedSegment>& fitted = lines.of[op_panel];
  if (fitted.empty()) return std::nullopt;
  std::vector<core::Segment> segments;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    const bool last = i + 1 == fitted.size();
    const double from = fitted[i].min, to = last ? std::max(max_bytes, from + 1) : fitted[i + 1].min;
    Parts parts = parts_of(op_panel, lines, residuals, thresholds, {from, to}, last);
    constexpr double least_slope = 1e-12;  // s per byte: 1 TB/s
    parts.transfer = possible_transfer(arithmetic(parts, TransferArithmetic::simulated), least_slope);
    parts.transfer.noise = noise_of_transfer(parts);
    segments.push_back(core_segment(parts.transfer));
  }
  return core::SegmentedLaw::make(std::move(segments));
}

}  // namespace

ScopeLines fit_lines(const ScopeSamples& samples, const Thresholds& thresholds, const NetworkFitOptions& options) {
  ScopeLines lines;
  const auto cells_of = [&](int operation) {
    return samples.sized[static_cast<std::size_t>(operation)].by_size.cells();
  };
  const std::vector<SizeCell> round_trips = cells_of(op_pingpong);
  if (round_trips.size() < 2) {
    lines.problem = round_trips.empty()
                        ? "no rows of operation `pingpong`"
                        : "rows of operation `pingpong` have one message size only; expected two or more";
    return lines;
  }
  const double threshold = thresholds.detached_bytes;
  const auto breakpoints_for = [&](const std::vector<SizeCell>& cells) {
    if (options.breakpoints) return *options.breakpoints;
    return with_threshold(regression(cells, options, std::nullopt).breakpoints(), threshold);
  };
  const std::vector<double> shared = breakpoints_for(round_trips);
  for (const SizedOperation operation : {op_pingpong, op_isend, op_send, op_recv, op_panel}) {
    std::vector<SizeCell> cells = cells_of(operation);
    if (!has_published_segments(options)) cells = with_line(std::move(cells), operation, threshold);
    if (cells.empty()) continue;
    std::vector<double> breakpoints = options.breakpoint_choice == BreakpointChoice::shared && operation != op_panel
                                          ? shared
                                          : breakpoints_for(cells);
    const int min_sizes = options.breakpoints ? 2 : options.regression.min_sizes;
    breakpoints = supported(breakpoints, cells, threshold, min_sizes);
    SegmentedFit fitted = regression(cells, options, std::move(breakpoints));
    if (fitted.status == SegmentedStatus::bad_values) lines.problem = fitted.reason;
    lines.of[static_cast<std::size_t>(operation)] = std::move(fitted.segments);
  }
  return lines;
}

core::ScopeModel make_scope_model(const ScopeLines& lines, const ScopeResiduals& residuals,
                                  const Thresholds& thresholds, double max_bytes, const NetworkFitOptions& options) {
  std::vector<Parts> all = take_apart(lines, residuals, thresholds, max_bytes, options);
  core::ScopeModel model;
  model.max_bytes = max_bytes;
  const double slope =
      options.bandwidth_bytes_per_s ? 1 / *options.bandwidth_bytes_per_s : link_slope(all, options.physical);
  model.bandwidth_bytes_per_s = 1 / slope;
  if (options.physical) {
    for (Parts& parts : all) {
      const bool overheads =
          parts.send.intercept != 0 || parts.send.slope != 0 || parts.recv.intercept != 0 || parts.recv.slope != 0;
      make_physical(parts, slope, overheads, options.transfer == TransferArithmetic::simulated);
    }
  }
  for (Parts& parts : all) parts.transfer.noise = noise_of_transfer(parts);
  model.latency_s = options.latency_s ? *options.latency_s : least_latency(all);

  std::array<std::vector<core::Segment>, core::message_cost_count> segments;
  const auto add = [&](core::MessageCost cost, const Piece& p) {
    segments[static_cast<std::size_t>(cost)].push_back(core_segment(p));
  };
  for (const Parts& parts : all) {
    add(core::MessageCost::send, parts.send);
    add(core::MessageCost::recv, parts.recv);
    add(core::MessageCost::transfer, parts.transfer);
  }
  const SizedOperation isending = lines.of[op_isend].empty() ? op_send : op_isend;
  for (const FittedSegment& s : lines.of[isending])
    add(core::MessageCost::isend, piece(lines, residuals, isending, s.min, s.min));
  if (lines.of[isending].empty()) add(core::MessageCost::isend, {});
  for (std::size_t c = 0; c < segments.size(); ++c) model.costs[c] = core::SegmentedLaw::make(segments[c]);
  model.panels = panels_of(lines, residuals, thresholds, max_bytes);
  return model;
}

}  // namespace hplcast::fit::detail
