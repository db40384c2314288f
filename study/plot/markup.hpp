#pragma once

#include <string>
#include <vector>

#include "hplcast/core/text.hpp"

namespace hplcast::study {

using core::append;
using core::readable;
using core::with_decimals;

/// A coordinate in SVG: two decimals are below what a screen shows.
std::string coordinate(double value, int decimals = 2);

/// ` name="value"`; the value is escaped.
std::string attribute(const std::string& name, const std::string& value);

/// Where it leads to, and a text.
std::string link(const std::string& target, const std::string& text);

/// The heading of a section with a note, which is HTML, below it.
std::string section(const std::string& title, const std::string& note = "");

/// A list of HTML; empty without items.
std::string list(const std::vector<std::string>& items, const std::string& css_class = "note");

class HtmlTable {
 public:
  /// `classes`: "sortable" where the header sorts it (Script::sorts_tables), "words" if the first and last columns are
  /// texts, "texts" if all are, "stacked" if a phone shows a row as lines of label and text, "numbers" beside it
  /// if several of them fit into a line.
  explicit HtmlTable(const std::vector<std::string>& header, const std::string& classes = "sortable");
  void add(const std::vector<std::string>& texts);
  /// A row whose cells are HTML already.
  void add_html(const std::vector<std::string>& cells);
  bool is_empty() const { return body_.empty(); }
  std::string html() const;

 private:
  std::string classes_, head_, body_;
  std::vector<std::string> labels_;  ///< where rows are stacked
};

/// The light colours in the place of the variables: not every program that shows SVG knows variables.
std::string style_of_pictures();

/// selects_time: figures whose svg has the class "time" share an axis that a reader zooms by selecting a span.
enum class Script { none, sorts_tables, selects_time };

/// A page that needs nothing else, and forbids itself any network. Light or dark as the reader's machine has it.
std::string html_page(const std::string& title, const std::string& content, Script script);

}  // namespace hplcast::study
