#pragma once

#include <string>
#include <vector>

#include "hplcast/core/text.hpp"

namespace hplcast::study {

/// A number with that many decimals and commas between thousands: "12,345.6".
std::string with_decimals(double value, int decimals);

/// A number for people: `digits` significant digits, thousands separated by commas, no exponent: "1,234", "0.0123".
std::string readable(double value, int digits = 4);

/// A coordinate in SVG: two decimals are below what a screen shows.
std::string coordinate(double value);

/// More cells for a row.
inline void append(std::vector<std::string>& row, const std::vector<std::string>& cells) {
  row.insert(row.end(), cells.begin(), cells.end());
}

/// A table of texts; its header sorts it where scripts run (report_script).
class HtmlTable {
 public:
  /// `kind`: a further class, such as "words" for tables whose first and last columns are texts.
  explicit HtmlTable(const std::vector<std::string>& header, const std::string& kind = "")
      : kind_(kind.empty() ? "" : " " + kind), head_(row(header, "th")) {}
  void add(const std::vector<std::string>& cells) { body_ += row(cells, "td"); }
  std::string html() const {
    return "<div class=\"wide\"><table class=\"sortable" + kind_ + "\">\n<thead>" + head_ + "</thead><tbody>\n" +
           body_ + "</tbody></table></div>\n";
  }

 private:
  static std::string row(const std::vector<std::string>& cells, const std::string& tag) {
    std::string html = "<tr>";
    for (const std::string& cell : cells) html += "<" + tag + ">" + core::xml_escaped(cell) + "</" + tag + ">";
    return html + "</tr>\n";
  }

  std::string kind_;
  std::string head_;
  std::string body_;
};

/// Sorts a table by the column whose header is clicked, or chosen with the keyboard. The only script of a report.
inline constexpr const char* report_script = R"js(
for (const head of document.querySelectorAll("table.sortable th")) {
  head.tabIndex = 0;
  head.title = "sort";
  const sort = () => {
    const table = head.closest("table"), column = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.children[column].textContent;
    const number = text => parseFloat(text.replace(/,/g, ""));
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const x = number(key(a)), y = number(key(b));
      const order = isNaN(x) || isNaN(y) ? key(a).localeCompare(key(b)) : x - y;
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows);
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
}
)js";

}  // namespace hplcast::study
