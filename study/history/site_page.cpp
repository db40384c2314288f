#include "study/history/site.hpp"

#include <cctype>

#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

/// Blue below, orange above: apart in every common kind of colour blindness (Okabe and Ito 2008).
constexpr const char* style = R"css(
:root { --page: #fbfbf9; --ink: #1b1b19; --soft: #5b5b56; --line: #dcdcd6; --card: #fff; --below: #2a6fc9; --above: #d9621e;
  --inside: #9cc9ae; --untested: #d3d3cc; --band: #e4e9f0; }
@media (prefers-color-scheme: dark) { :root { --page: #191918; --ink: #eeeeea; --soft: #adada6; --line: #3b3b38; --card: #222220;
  --below: #5b9bea; --above: #f08a4b; --inside: #3d6b50; --untested: #454541; --band: #2a313b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .4rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem; }
nav, .note { color: var(--soft); font-size: .9rem; } a { color: var(--below); } p { margin: .3rem 0 .8rem; max-width: 46rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } td:last-child { white-space: normal; min-width: 10rem; } svg { display: block; width: 100%; height: auto; min-width: 34rem; margin: .3rem 0; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; } svg a text { fill: var(--below); }
.band { fill: var(--band); } .grid { stroke: var(--line); fill: none; } .bar { fill: var(--inside); }
.change { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 4 3; fill: none; }
.dot { fill: none; stroke: var(--soft); stroke-width: 4; stroke-linecap: round; }
.dot.below, .dot.above { stroke-width: 7; } .dot.outlier { stroke-width: 1.5; }
.cell { fill: none; stroke-width: 11; } .inside { stroke: var(--inside); } .untested { stroke: var(--untested); }
.below { stroke: var(--below); } .above { stroke: var(--above); } .outlier { stroke: var(--soft); }
.bad { font-weight: 600; } details { margin: .6rem 0; }
)css";

}  // namespace

std::string site_page(const std::string& title, const std::string& content) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
         "<title>" +
         core::xml_escaped(title) + "</title><style>" + style + "</style></head><body>\n<h1>" +
         core::xml_escaped(title) + "</h1>\n" + content + "</body></html>\n";
}

std::string html_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"wide\"><table><thead><tr>";
  for (const std::string& cell : header) html += "<th>" + cell + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += "<td>" + cell + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string link(const std::string& target, const std::string& text) {
  return "<a href=\"" + target + "\">" + core::xml_escaped(text) + "</a>";
}

std::string file_part(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' ? c : '_';
  return name;
}

}  // namespace hplcast::study
