#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/study/report.hpp"

namespace hplcast::study {

/// Whether a JSON is what write_explanation() writes.
bool is_explanation(const std::string& text);

/// @throws core::ParseError for missing fields.
ReportExplanation read_explanation(std::istream& in, const std::string& name);

/// The section of a report: verdict, shares, picture. Empty without explanations. Pictures stand in it as images, so
/// whatever they may hold cannot do anything.
std::string explanations_html(const std::vector<ReportExplanation>& explanations);

}  // namespace hplcast::study
