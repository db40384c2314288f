#pragma once

#include <charconv>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

/// Reads a CSV (RFC 4180: optional double quotes, CRLF or LF) with a header, row by row: memory for one row only. A
/// header without commas may have semicolons or tabs, which then separate the fields of all rows. Blanks around fields
/// without quotes, and a byte order mark, do not count. Columns are asked for by name, and found in another case if no
/// column has that very name; empty lines and lines that start with # are skipped. Each reader decides which other
/// columns it takes: refuse_unknown() or refuse_misspelt().
class CsvReader {
 public:
  /// Reads the header. @throws ParseError if it is missing, or names a column twice.
  CsvReader(std::istream& in, std::string name);
  CsvReader(const TextStream& text, std::string name);

  /// Index of a column. @throws ParseError that lists the columns there are.
  std::size_t column(std::string_view name) const;
  /// Index of a column, or npos.
  std::size_t find_column(std::string_view name) const noexcept;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  /// For configurations and designs. @throws ParseError for a column that is not one of these (a second spelling of the
  /// same column is one, too).
  void refuse_unknown(const std::vector<std::string>& known) const;
  /// For measurements, which carry whatever their programs wrote. @throws ParseError for a column that is not one of
  /// these but nearly is one that the file does not have.
  void refuse_misspelt(const std::vector<std::string>& known) const;

  /// The next row; false at the end. @throws ParseError if it has another number of fields than the header.
  bool next();

  /// Fields of the current row. @throws ParseError (file, line, column) if the text is not what is asked for.
  std::string_view text(std::size_t column) const { return fields_[column]; }
  /// Whether it has any; of a column that may be npos.
  bool has(std::size_t column) const noexcept { return column != npos && !fields_[column].empty(); }
  double number(std::size_t column) const;        ///< finite
  double positive(std::size_t column) const;      ///< finite and > 0
  double non_negative(std::size_t column) const;  ///< finite and >= 0
  /// For a column that may be npos: `otherwise` where there is none.
  double non_negative_or(double otherwise, std::size_t column) const {
    return has(column) ? non_negative(column) : otherwise;
  }
  std::string_view text_or_none(std::size_t column) const { return has(column) ? text(column) : std::string_view(); }
  long long integer(std::size_t column) const;
  int integer(std::size_t column, int least, int most = 2147483647) const;
  /// Result of `make` on the text. @throws ParseError with the words of its DomainError.
  template <typename Make>
  auto made(std::size_t column, Make make) const {
    try {
      return make(std::string(text(column)));
    } catch (const DomainError& error) {
      throw ParseError(at(column), error.what());
    }
  }

  const std::vector<std::string>& header() const noexcept { return header_; }
  std::size_t line() const noexcept { return line_; }
  const std::string& name() const noexcept { return name_; }
  Location at(std::size_t column) const { return {name_, line_, header_[column]}; }

 private:
  bool read_line();
  void split_fields();

  std::optional<TextStream> text_;  ///< the owner of in_, if it is of a text
  std::istream& in_;
  std::string name_;
  char separator_ = ',';
  std::vector<std::string> header_;
  std::vector<std::string> fields_;
  std::string buffer_;
  std::size_t line_ = 0;
};

/// The header of a CSV: the first line that is neither empty nor a comment.
std::string csv_header(const std::string& text);

/// The character that separates the fields of a header: a comma, or else a semicolon or a tab if there is one.
char csv_separator(std::string_view header);

/// A field as it stands in a CSV: quoted where it must be.
std::string csv_field(std::string_view text);

/// The shortest text that reads back as the same double.
std::string shortest(double value);

/// Parses a whole text as a finite double; false if it is anything else.
bool parse_double(std::string_view text, double& value) noexcept;

/// Parses a whole text as an integer that its type has; false if it is anything else, also with a + or blanks.
template <typename Integer>
bool parse_integer(std::string_view text, Integer& value) noexcept {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace hplcast::core
