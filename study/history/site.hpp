#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hplcast/fit/findings.hpp"
#include "hplcast/fit/run_series.hpp"
#include "hplcast/study/history.hpp"

namespace hplcast::study {

/// What a cell or a point says; the names are classes of the style sheet.
enum class CellKind { untested, inside, below, above, outlier };
const char* to_string(CellKind kind);

/// The runs of one CPU as they are shown.
struct ShownSeries {
  Place place;
  const fit::CpuHistory* history = nullptr;
  std::vector<fit::RunScore> own;  ///< against its own runs
  std::vector<CellKind> kinds;     ///< against its own runs and the others
};

/// A time axis.
struct TimeRange {
  std::int64_t begin_s = 0, end_s = 1;
};

/// Values over time with the region that earlier runs predict, changes as lines, flagged runs and outliers marked.
/// `id`: of this plot in its page.
std::string evolution_svg(const std::string& id, const ShownSeries& series, const TimeRange& time,
                          const std::vector<Change>& changes, const std::string& title, const std::string& unit);

/// One row per CPU, one cell per run; rows are links to pages.
struct OverviewRow {
  const ShownSeries* series = nullptr;
  std::string link;
};
std::string overview_svg(const std::vector<OverviewRow>& rows, const TimeRange& time,
                         const std::vector<Change>& changes);

/// How the newest values of all CPUs are distributed.
std::string histogram_svg(const std::vector<double>& values, const std::string& unit);

}  // namespace hplcast::study
