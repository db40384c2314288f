#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "hplcast/calibration/power_pieces.hpp"
#include "hplcast/core/power_samples.hpp"

// A wattmeter that writes a CSV of its own, on a clock of its own.
namespace hplcast::calibration {

/// What is odd about a wattmeter's file, for people.
struct WattmeterDoubts {
  double period_s = 0;   ///< median distance of two rows of a host
  std::size_t gaps = 0;  ///< places where more than two rows are missing
  double longest_gap_s = 0;
  std::vector<std::string> notes;
};

/// The rows of a wattmeter, by host ("" if the file has no column `host`), in order of time, with the domain host and
/// the sensor `wattmeter`. Columns: power_w, and time_s (Unix time) or time (ISO 8601 with Z or an offset such as
/// +01:00). Rows of one moment count by their mean.
/// @throws ParseError with the line for a time without zone, times that go back, watts that are negative, not a number
/// or 0, fewer than two rows of a host.
std::map<std::string, std::vector<core::PowerSample>> read_wattmeter(std::istream& in, const std::string& name,
                                                                     WattmeterDoubts& doubts);

/// Unix time in s of "2026-11-22T16:03:05.25+01:00", also with a blank for the T.
/// @throws core::DomainError for anything else, also for a time without zone.
double parse_iso_time(const std::string& text);

/// By how much a meter's clock is ahead of ours.
struct ClockOffset {
  double offset_s = 0;     ///< to be taken from the meter's times
  double error_s = 0;      ///< half the width of what fits as well
  double explained = 0;    ///< share of the meter's variance that the pieces then explain, times that of pieces with rows
  double second_best = 0;  ///< the same of the best offset elsewhere
};

/// Estimates the offset by correlating the meter with the known begins and ends of the pieces: of all offsets up to
/// `most_s` the one at which pieces of the same kind (state, active cores, frequency) agree best: least squares within
/// kinds. `meter` and `pieces`: by host; all hosts have one meter's clock.
/// @throws core::Error (bad_input) if no offset explains the meter (less than half of its variance), or two explain it
/// alike: the pieces are then not those of this file, or all alike.
ClockOffset estimate_offset(const std::map<std::string, std::vector<core::PowerSample>>& meter,
                            const std::vector<PieceRun>& pieces, double most_s);

/// The meter's rows as samples of the pieces: times less the offset, what is set aside longer by a period of the meter
/// and the offset's error.
/// @throws core::Error (bad_input) if the file has a host that has no pieces, or no row within any.
std::vector<core::PowerSample> place_wattmeter(const std::map<std::string, std::vector<core::PowerSample>>& meter,
                                               const std::vector<PieceRun>& pieces, const SetAside& aside,
                                               const ClockOffset& clock, double period_s);

}  // namespace hplcast::calibration
