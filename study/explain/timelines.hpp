#pragma once

#include <string>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/activity/rank_activity.hpp"

namespace hplcast::study {

/// What one rank did, in seconds since the start of the factorisation by one clock.
struct Timeline {
  int rank = 0;
  std::string kind;  ///< "real" or "simulated"
  std::vector<ActivityEvent> events;
  std::vector<double> waited_s;  ///< of each event
};

/// A strip per timeline, one below the other: phases above, and kernels, messages and waiting below. The time is that
/// of request.first_panel to last_panel in the real run. The size of the SVG goes with the number of strips, not with
/// that of events.
std::string timeline_picture(const std::vector<Timeline>& lines, const ExplainRequest& request);

/// Writes request.trace and request.picture, where asked for: a run and its simulation, aligned at the start of the
/// first factorisation. Returns the picture.
std::string write_timelines(const ExplainRequest& request, const ObservedRanks& real,
                            const std::vector<RankActivity>& simulated);

}  // namespace hplcast::study
