// Performance logs of ReFrame: lines of version 3, tables with a header of version 4.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <istream>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

std::vector<std::string> split_at(const std::string& line, char separator) {
  std::vector<std::string> parts = {""};
  for (const char c : line)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

class PerflogReader {
 public:
  explicit PerflogReader(std::string name) : name_(std::move(name)) {}

  void take(const std::string& line) {
    ++number_;
    if (folded(line).empty()) return;
    const std::vector<std::string> header = header_in(line);
    if (!header.empty()) {
      header_ = header;
      separator_ = separator_in(line);
    } else if (header_.empty()) {
      take_line(split_at(line, '|'));
    } else {
      take_table_row(split_at(line, separator_));
    }
  }

  std::vector<PerflogRow> rows;

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw ParseError({name_, number_, ""}, what, hint);
  }

  static char separator_in(const std::string& line) { return line.find('|') != std::string::npos ? '|' : ','; }

  /// The names of the fields, which version 4 writes whenever they change; empty for another line.
  static std::vector<std::string> header_in(const std::string& line) {
    if (line.find("_value") == std::string::npos || line.find("job_completion_time") == std::string::npos) return {};
    return split_at(line, separator_in(line));
  }

  double number(const std::string& text, const std::string& field) const {
    double value = 0;
    if (!parse_double(folded(text), value) || !std::isfinite(value))
      fail("found `" + text + "` as " + field + "; expected a number with a decimal point",
           "a log that was cut off, or written in another locale?");
    return value;
  }
  std::optional<double> maybe(const std::string& text, const std::string& field) const {
    const std::string word = folded(text);
    return word.empty() || word == "none" || word == "null" ? std::nullopt : std::optional(number(text, field));
  }

  /// "2020-08-20T10:12:24+01:00", to Unix time.
  double unix_time(const std::string& text) const {
    std::tm parts{};
    const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr) fail("found `" + text + "`; expected a time such as 2020-08-20T10:12:24+01:00");
    if (*rest == '.') rest += std::strspn(rest + 1, "0123456789") + 1;
    int hours = 0, minutes = 0;
    char sign = '+';
    if (*rest != 'Z' && std::sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) < 2)
      fail("found `" + text + "`; expected a time zone such as +01:00 behind it");
    const int offset_s = 60 * (60 * hours + minutes);
    return static_cast<double>(timegm(&parts)) - (sign == '-' ? -offset_s : offset_s);
  }

  /// TIME|reframe VERSION|TEST on SYSTEM:PARTITION using ENVIRONMENT|jobid=N|NAME=VALUE|UNIT|ref=R (l=L, u=U)|tags
  void take_line(const std::vector<std::string>& fields) {
    constexpr std::size_t least = 7;
    if (fields.size() < least || !begins_with(fields[1], "reframe "))
      fail("not a line of ReFrame's performance log with " + std::to_string(least) + " fields; found " +
               std::to_string(fields.size()),
           "expected TIME|reframe VERSION|TEST on SYSTEM:PARTITION using ENVIRONMENT|jobid=N|NAME=VALUE|UNIT|ref=...");
    for (std::size_t i = 2; i < fields.size(); ++i)
      if (begins_with(fields[i], "reframe ")) fail("two records in one line", "break it before the second time");
    PerflogRow row;
    row.time_s = unix_time(fields[0]);
    const std::vector<std::string> words = words_of(fields[2]);
    constexpr std::size_t words_of_info = 5;
    if (words.size() != words_of_info || words[1] != "on" || words[3] != "using")
      fail("found `" + fields[2] + "`; expected TEST on SYSTEM:PARTITION using ENVIRONMENT");
    const std::size_t colon = words[2].find(':');
    row.test = words[0];
    row.system = words[2].substr(0, colon);
    if (colon != std::string::npos) row.partition = words[2].substr(colon + 1);
    row.environment = words[4];
    if (begins_with(fields[3], "jobid=")) row.jobid = fields[3].substr(6);
    const std::size_t equals = fields[4].rfind('=');
    if (equals == std::string::npos) fail("found `" + fields[4] + "`; expected NAME=VALUE");
    row.variable = fields[4].substr(0, equals);
    row.value = number(fields[4].substr(equals + 1), row.variable);
    row.unit = fields[5];
    const std::string& limits = fields[6];
    const auto limit = [&](const std::string& begin, const std::string& ends) -> std::optional<double> {
      const std::size_t at = limits.find(begin);
      if (at == std::string::npos) return std::nullopt;
      const std::size_t from = at + begin.size();
      return maybe(limits.substr(from, limits.find_first_of(ends, from) - from), begin);
    };
    row.reference = limit("ref=", " ");
    row.lower = limit("l=", ",");
    row.upper = limit("u=", ")");
    rows.push_back(std::move(row));
  }

  void take_table_row(const std::vector<std::string>& fields) {
    // A field for each name; the last one may be an empty name behind the last separator.
    if (fields.size() != header_.size())
      fail("found " + std::to_string(fields.size()) + " fields; expected the " + std::to_string(header_.size()) +
               " of the header",
           "a log that was cut off?");
    const auto field = [&](const std::string& name) -> std::string {
      for (std::size_t i = 0; i < header_.size(); ++i)
        if (header_[i] == name) return fields[i];
      return "";
    };
    PerflogRow row;
    row.time_s = unix_time(field("job_completion_time"));
    for (const char* name : {"display_name", "name", "info"})
      if (row.test.empty()) row.test = field(name);
    row.system = field("system");
    row.partition = field("partition");
    row.environment = field("environ");
    row.jobid = field("jobid");
    row.result = field("result");
    const std::string ending = "_value";
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (!ends_with(header_[i], ending)) continue;
      const std::string variable = header_[i].substr(0, header_[i].size() - ending.size());
      const std::optional<double> value = maybe(fields[i], variable);
      if (!value) continue;  // a test that failed before
      row.variable = variable;
      row.value = *value;
      row.unit = field(variable + "_unit");
      row.reference = maybe(field(variable + "_ref"), variable + "_ref");
      row.lower = maybe(field(variable + "_lower_thres"), variable + "_lower_thres");
      row.upper = maybe(field(variable + "_upper_thres"), variable + "_upper_thres");
      rows.push_back(row);
    }
  }

  std::string name_;
  std::size_t number_ = 0;
  char separator_ = '|';
  std::vector<std::string> header_;
};

}  // namespace

std::vector<PerflogRow> read_perflog(std::istream& in, const std::string& name) {
  PerflogReader reader(name);
  for (std::string line; read_line(in, line, name);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    reader.take(line);
  }
  if (reader.rows.empty()) throw ParseError({name, 0, ""}, "no value in it; expected a performance log of ReFrame");
  return std::move(reader.rows);
}

}  // namespace hplcast::core
