#pragma once

#include <string>
#include <vector>

#include "hplcast/core/detour_trace.hpp"

namespace hplcast::core {

/// The formats of other programs that measure detours, from the lines of a file.
struct DetourLines {
  std::vector<std::string> lines;
  std::string name;
};

bool looks_like_osnoise(const DetourLines& file);
DetourTrace read_osnoise(const DetourLines& file);

/// Lines of two numbers: Netgauge's selfish, or FTQ.
DetourTrace read_two_columns(const DetourLines& file, const DetourReading& reading);

/// Events from fixed time quanta: count i in [start_s, start_s + duration_s).
struct WorkQuantum {
  double start_s = 0;
  double duration_s = 0;
  double work = 0;
};
void add_ftq_events(const std::vector<WorkQuantum>& quanta, const DetourReading& reading, CoreDetours& core);
void add_fwq_events(const std::vector<WorkQuantum>& quanta, const DetourReading& reading, CoreDetours& core);

/// @throws ParseError unless the events are in the order of their times, which do not overlap, and end in their window.
void require_order(const CoreDetours& core, const std::string& name);

}  // namespace hplcast::core
