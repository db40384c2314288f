#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/text.hpp"

namespace hplcast::core {

/// A time in which a core did not run the program that watched it. Times are in s after the trace's epoch.
struct DetourEvent {
  double start_s = 0;
  double duration_s = 0;
};

/// A time in which a core was watched.
struct DetourWindow {
  double start_s = 0;
  double end_s = 0;
};

/// Output of a program that only counts: no times of single events.
struct DetourSummary {
  std::string host;
  long core = 0;
  double watched_s = 0;
  double lost_s = 0;
  double events = 0;     ///< that took the time; 0 if the program does not say
  double longest_s = 0;  ///< of a single one
};

/// Events of one core, in the order of their times.
struct CoreDetours {
  std::string host;
  long core = 0;
  std::vector<DetourWindow> windows;
  std::vector<DetourEvent> events;
  double resolution_s = 0;  ///< a detour begins so much later than it says, at most: passes and quanta hide where
  double watched_s() const;
  double lost_s() const;
};

/// Detours as measured: of cores one by one, or in sums.
struct DetourTrace {
  double epoch_unix_s = 0;   ///< Unix time of the times' zero, whole seconds; 0: not known
  bool common_clock = true;  ///< of all hosts; false: of several files, one of which does not know that time
  std::vector<CoreDetours> cores;
  std::vector<DetourSummary> summaries;
  std::string format;              ///< hplcast, selfish, ftq, osnoise
  std::vector<std::string> notes;  ///< what is doubtful
};

/// Kind of a row of our CSV.
enum class DetourRowKind {
  epoch,   ///< start_s is the Unix time that all other times of the file count from
  window,  ///< the core was watched; unit_s is the shortest loop (gaps), quantum (fwq) or unit of work (ftq) in it
  gap,     ///< start_s and duration_s of a detour
  fwq,     ///< fixed work took duration_s
  ftq      ///< in duration_s, `work` units of work were done
};
HPLCAST_ENUM_NAMES(DetourRowKind, "kind", "epoch", "window", "gap", "fwq", "ftq");

struct DetourRow {
  DetourRowKind kind = DetourRowKind::gap;
  std::string host;
  long core = 0;
  double start_s = 0;
  double duration_s = 0;
  double work = 0;
  double unit_s = 0;
};

/// Header line of our CSV, without newline; write_row() writes times to a nanosecond.
extern const char* const detour_csv_header;
void write_row(std::ostream& out, const DetourRow& row);

struct DetourReading {
  double threshold_s = 1e-6;  ///< fwq and ftq: shorter losses are no detours (gaps: the measuring program decided)
};

/// Reads a file of hplcast-measure-detours; of Netgauge's selfish benchmark (time in ns, a tab, duration in ns); of FTQ
/// (time in ns, count); or what `rtla osnoise top`, `rtla hwnoise` print. FWQ rows become events of what the work took
/// more than the quickest, FTQ rows events of what is missing to the largest count; both begin with their quantum.
/// @throws ParseError for other files, files without a row, or of one line (they cannot say how long they watched),
/// time that runs backwards, events longer than their window.
DetourTrace read_detour_trace(std::istream& in, const std::string& name, const DetourReading& reading = {});

/// One trace of several, with the earliest epoch that is known. Cores of the same host and number are joined.
/// @throws ParseError if their windows overlap (the same file twice).
DetourTrace join_traces(std::vector<DetourTrace> traces);

}  // namespace hplcast::core
