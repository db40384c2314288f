#include "study/report/report_sections.hpp"

#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

std::string signed_percent(double ratio) {
  return (ratio > 0 ? "+" : "") + with_decimals(100 * ratio, 1) + " %";
}

/// For a data: URL.
std::string percent_encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += c;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    result += code;
  }
  return result;
}

}  // namespace

bool is_explanation(const std::string& text) {
  return text.find("\"causes\"") != std::string::npos && text.find("\"verdict\"") != std::string::npos &&
         text.find("\"rest_s\"") != std::string::npos;
}

ReportExplanation read_explanation(std::istream& in, const std::string& name) {
  ReportExplanation explanation;
  try {
    const auto json = core::parse_json<nlohmann::json>(core::read_json_text(in, name));
    core::HplParameters parameters;
    for (const core::HplField& field : core::hpl_fields())
      field.set(parameters, json.at("parameters").at(field.name).get<long long>());
    explanation.configuration = short_name(parameters);
    explanation.verdict = json.at("verdict").get<std::vector<std::string>>();
    const double predicted_s = json.at("predicted_s").get<double>();
    for (const auto& cause : json.at("causes")) {
      const double share = cause.at("share").get<double>();
      explanation.causes.push_back({share, share * predicted_s, cause.at("text").get<std::string>()});
    }
    explanation.rest_share = json.at("rest_s").get<double>() / predicted_s;
    explanation.simulated = json.at("simulated").get<bool>();
    explanation.picture = json.value("picture", "");
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("not an explanation: ") + error.what(),
                           "such files are written by `hplcast explain -o`");
  }
  return explanation;
}

std::string explanations_html(const std::vector<ReportExplanation>& explanations) {
  if (explanations.empty()) return "";
  std::string html = "<h2>Why predictions and runs differ</h2>\n";
  for (const ReportExplanation& one : explanations) {
    html += "<h3>" + core::xml_escaped(one.configuration) + "</h3>\n<ul class=\"findings\">\n";
    for (const std::string& line : one.verdict) html += "<li>" + core::xml_escaped(line) + "</li>\n";
    html += "</ul>\n";
    HtmlTable table({"cause", "seconds", "share of the predicted time"}, "words");
    for (const ReportExplanation::Cause& cause : one.causes)
      table.add({cause.text, readable(cause.seconds, 3), signed_percent(cause.share)});
    table.add({"not explained", "", signed_percent(one.rest_share)});
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
