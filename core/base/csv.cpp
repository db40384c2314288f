#include "hplcast/core/csv.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <istream>

#include "hplcast/core/files.hpp"

namespace hplcast::core {

namespace {

constexpr std::size_t max_line_bytes = 1 << 20;

std::string quoted_start(std::string_view text) {
  constexpr std::size_t shown = 40;
  return "\"" + std::string(text.substr(0, shown)) + (text.size() > shown ? "...\"" : "\"");
}

/// Whether two names are the same but for case.
bool same(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

void trim(std::string& text) {
  if (text.empty() || (text.front() != ' ' && text.front() != '\t' && text.back() != ' ' && text.back() != '\t'))
    return;
  const std::size_t end = text.find_last_not_of(" \t");
  text.erase(end == std::string::npos ? 0 : end + 1);
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
}

}  // namespace

std::string csv_header(const std::string& text) {
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string::npos && line.front() != '#') return line;
  }
  return "";
}

char csv_separator(std::string_view header) {
  for (const char separator : {',', ';', '\t'})
    if (header.find(separator) != std::string_view::npos) return separator;
  return ',';
}

CsvReader::CsvReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  if (!read_line()) throw ParseError({name_, 0, ""}, "the file is empty", "the first line names the columns");
  if (!is_utf8(buffer_))
    throw ParseError({name_, line_, ""}, "a header with bytes that are not UTF-8",
                     "iconv -f latin1 -t utf8 may mend the file");
  separator_ = csv_separator(buffer_);
  split_fields();
  header_ = fields_;
  constexpr std::size_t most_columns = 10000;
  if (header_.size() > most_columns)
    throw ParseError({name_, line_, ""}, std::to_string(header_.size()) + " columns; expected at most 10000");
  for (auto column = header_.begin(); column != header_.end(); ++column)
    if (std::find(header_.begin(), column, *column) != column)
      throw ParseError({name_, line_, *column}, "the header names this column twice");
}

CsvReader::CsvReader(const TextStream& text, std::string name)
    : CsvReader(static_cast<std::istream&>(text), std::move(name)) {
  text_ = text;
}

std::size_t CsvReader::find_column(std::string_view name) const noexcept {
  auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end())
    found = std::find_if(header_.begin(), header_.end(), [&](const std::string& column) { return same(column, name); });
  return found == header_.end() ? npos : static_cast<std::size_t>(found - header_.begin());
}

void CsvReader::refuse_unknown(const std::vector<std::string>& known) const {
  std::vector<std::string> seen;
  for (const std::string& column : header_) {
    const auto which = std::find_if(known.begin(), known.end(), [&](const auto& name) { return same(column, name); });
    if (which == known.end())
      throw ParseError({name_, 1, column},
                       column.empty() ? "a column without a name (a comma too many?)" : "unknown column",
                       name_hint(column, known));
    if (std::find(seen.begin(), seen.end(), *which) != seen.end())
      throw ParseError({name_, 1, column}, "the header names this column twice");
    seen.push_back(*which);
  }
}

void CsvReader::refuse_misspelt(const std::vector<std::string>& known) const {
  constexpr std::size_t shortest_word = 5;  // other programs have words that are near to `node` or `m`, too
  std::vector<std::string> absent;
  for (const std::string& name : known)
    if (name.size() >= shortest_word && find_column(name) == npos) absent.push_back(name);
  for (const std::string& column : header_) {
    if (std::any_of(known.begin(), known.end(), [&](const auto& name) { return same(column, name); })) continue;
    const std::string nearest = nearest_name(column, absent);
    if (!nearest.empty())
      throw ParseError({name_, 1, column}, "unknown column", "did you mean `" + nearest + "`? Else rename it");
  }
}

std::size_t CsvReader::column(std::string_view name) const {
  const std::size_t index = find_column(name);
  if (index == npos)
    throw ParseError({name_, 1, std::string(name)}, "no such column; the columns are: " + comma_separated(header_));
  return index;
}

/// The next line with something in it, into buffer_. False at the end of the input.
bool CsvReader::read_line() {
  do {
    if (!core::read_line(in_, buffer_, name_)) {
      if (in_.bad()) throw ParseError({name_, line_, ""}, "reading failed");
      return false;
    }
    ++line_;
  } while (buffer_.empty() || buffer_.front() == '#');
  return true;
}

/// Splits buffer_ into fields_; a record may span lines inside quotes.
void CsvReader::split_fields() {
  const std::size_t first_line = line_;
  fields_.assign(1, std::string());
  bool quoted = false, was_quoted = false;
  const auto end_field = [&] {
    if (!was_quoted) trim(fields_.back());
    was_quoted = false;
  };
  for (std::size_t i = 0;; ++i) {
    if (i == buffer_.size()) {
      if (!quoted) return end_field();
      if (!core::read_line(in_, buffer_, name_))
        throw ParseError({name_, first_line, ""}, "a quoted field does not end");
      ++line_;
      fields_.back() += '\n';
      i = static_cast<std::size_t>(-1);
      continue;
    }
    const char c = buffer_[i];
    if (quoted) {
      if (c != '"') {
        fields_.back() += c;
      } else if (i + 1 < buffer_.size() && buffer_[i + 1] == '"') {
        fields_.back() += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && !was_quoted && fields_.back().find_first_not_of(' ') == std::string::npos) {
      quoted = was_quoted = true;
      fields_.back().clear();
    } else if (c == separator_) {
      end_field();
      fields_.emplace_back();
    } else if (!was_quoted || c != ' ') {
      fields_.back() += c;
    }
    if (fields_.back().size() > max_line_bytes)
      throw ParseError({name_, first_line, ""}, "a field is longer than 1 MiB", "is this a CSV?");
  }
}

bool CsvReader::next() {
  if (!read_line()) return false;
  split_fields();
  for (const std::string& field : fields_)
    if (!is_utf8(field))
      throw ParseError({name_, line_, ""}, "found bytes that are not UTF-8",
                       "iconv -f latin1 -t utf8 may mend the file");
  if (fields_.size() != header_.size())
    throw ParseError({name_, line_, ""}, std::to_string(fields_.size()) + " fields; expected " +
                                             std::to_string(header_.size()) + " as in the header");
  return true;
}

bool parse_double(std::string_view text, double& value) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && std::isfinite(value);
}

double CsvReader::number(std::size_t column) const {
  double value = 0;
  if (!parse_double(fields_[column], value))
    throw ParseError(at(column), "found " + quoted_start(fields_[column]) + "; expected a finite number (1.5e-3)");
  return value;
}

double CsvReader::positive(std::size_t column) const {
  const double value = number(column);
  if (!(value > 0))
    throw ParseError(at(column), "found " + quoted_start(fields_[column]) + "; expected a number above 0");
  return value;
}

double CsvReader::non_negative(std::size_t column) const {
  const double value = number(column);
  if (!(value >= 0))
    throw ParseError(at(column), "found " + quoted_start(fields_[column]) + "; expected a number of at least 0");
  return value;
}

long long CsvReader::integer(std::size_t column) const {
  const std::string& text = fields_[column];
  long long value = 0;
  if (!parse_integer(text, value))
    throw ParseError(at(column), "found " + quoted_start(text) + "; expected an integer");
  return value;
}

int CsvReader::integer(std::size_t column, int least, int most) const {
  const long long value = integer(column);
  if (value >= least && value <= most) return static_cast<int>(value);
  throw ParseError(at(column), "found " + std::to_string(value) + "; expected at least " + std::to_string(least) +
                                   ", and at most " + std::to_string(most));
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && (text.empty() || text.front() != '#'))
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string shortest(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

}  // namespace hplcast::core
