#include "hpl_lines.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

/// isspace of the C locale: what %s stops at.
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

/// What fgets would store, with the end of the line but without the final NUL; empty at the end of the file.
std::string HplLines::read() {
  std::string line;
  char c = 0;
  while (line.size() < most_read && in_.get(c)) {
    line += c;
    if (c == '\n') break;
  }
  const bool begins_a_line = !cut_;
  if (!line.empty() && begins_a_line) ++number_;
  cut_ = line.size() == most_read && line.back() != '\n' && in_.peek() != std::istream::traits_type::eof();
  return line;
}

void HplLines::next(const char* field) {
  field_ = field;
  const std::string line = read();
  ended_ = line.empty();
  if (ended_) return;
  std::copy(line.begin(), line.end(), buffer_.begin());
  buffer_[line.size()] = '\0';
  written_ = std::max(written_, line.size() + 1);
  text_ = line.substr(0, line.find_last_not_of("\r\n") + 1);
}

void HplLines::skip_into_other_buffer() {
  read();
}

char HplLines::at(std::size_t position) const {
  if (position >= size)
    fail("HPL would read behind the end of its line: the line has fewer values than its count says");
  if (position >= written_) {
    fail(written_ == 0 ? "the file is empty"
                       : "the line has fewer values than its count says, and HPL would read memory behind it that "
                         "holds nothing of the file");
  }
  return buffer_[position];
}

bool HplLines::scan(std::size_t begin) {
  while (is_space(at(begin))) ++begin;
  std::string found;
  for (std::size_t i = begin; at(i) != '\0' && !is_space(at(i)); ++i) found += at(i);
  if (!found.empty()) word_ = found;
  return word_.has_value();
}

const std::string& HplLines::word(std::size_t begin) {
  if (!scan(begin)) fail("no value here or before; HPL would use memory that holds nothing of the file");
  return *word_;
}

void HplLines::fail(const char* what) const {
  throw ParseError({name_, std::max<std::size_t>(number_, 1), field_}, what);
}

}  // namespace hplcast::core
