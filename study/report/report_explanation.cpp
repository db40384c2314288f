#include "study/report/report_sections.hpp"

#include <cctype>

#include "hplcast/core/text.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

/// For a data: URL.
std::string percent_encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += c;
      continue;
    }
    result += core::printed("%%%02X", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

std::string explanations_html(const std::vector<ExplanationSummary>& explanations) {
  if (explanations.empty()) return "";
  std::string html = "<h2>Why predictions and runs differ</h2>\n";
  for (const ExplanationSummary& one : explanations) {
    html += "<h3>" + core::xml_escaped(short_name(one.parameters)) + "</h3>\n<ul class=\"findings\">\n";
    for (const std::string& line : one.verdict) html += "<li>" + core::xml_escaped(line) + "</li>\n";
    html += "</ul>\n";
    HtmlTable table({"cause", "seconds", "share of the predicted time"}, "sortable words");
    for (const ExplanationSummary::Cause& cause : one.causes)
      table.add({cause.text, readable(cause.seconds, 3), core::readable_change(cause.share)});
    table.add({"not explained", "", core::readable_change(one.rest_share)});
    html += table.html();
    html += std::string("<p class=\"note\">Shares are ") +
            (one.simulated ? "of simulations with one part after the other as the run measured it."
                           : "estimated from sums.") +
            "</p>\n";
    if (!one.picture.empty())
      html +=
          "<div class=\"wide\"><img alt=\"what the ranks did, in the run and in the simulation\" "
          "src=\"data:image/svg+xml," +
          percent_encoded(one.picture) + "\"></div>\n";
  }
  return html;
}

}  // namespace hplcast::study
