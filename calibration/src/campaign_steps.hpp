#pragma once

#include <functional>
#include <string>

#include "hplcast/calibration/campaign.hpp"

namespace hplcast::calibration {

/// What the folder of a campaign remembers of the plan that is measured there (steps.json): of each step the program,
/// its arguments, its design and its pieces; and who measures.
std::string steps_json(const CampaignPlan& plan);

/// How a plan differs from what has been measured with another one, of which `remembered` is the steps_json(): the
/// first difference, for people. Empty: what was measured belongs to the new plan, too. `is_begun`: whether something
/// of the step with this name has been measured. @throws ParseError if `remembered` is damaged; `name`: where it is
/// from.
std::string measured_otherwise(const std::string& remembered, const std::string& name, const CampaignPlan& plan,
                               const std::function<bool(const std::string& step)>& is_begun);

}  // namespace hplcast::calibration
