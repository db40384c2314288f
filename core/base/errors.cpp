#include "hplcast/core/errors.hpp"

#include <algorithm>

#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

std::string with_hint(std::string message, const std::string& hint) {
  constexpr std::size_t most = 4000;            // a file of one line needs not be shown
  const auto letter = [&](std::size_t place) {  // of UTF-8, that a byte belongs to
    while (place > 0 && (message[place] & 0xC0) == 0x80) --place;
    return message.begin() + static_cast<std::ptrdiff_t>(place);
  };
  if (message.size() > most) message.replace(letter(most / 2), letter(message.size() - most / 2), " ... ");
  if (!hint.empty()) message += "\n  hint: " + hint;
  // Parts of files are in it, which must not move the cursor of a terminal.
  const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f; };
  std::replace_if(message.begin(), message.end(), is_control, '?');
  return message;
}

/// Without what the JSON library calls its exceptions: "[json.exception.type_error.302] ".
std::string without_library(std::string message) {
  const std::size_t begin = message.find("[json.exception.");
  const std::size_t end = begin == std::string::npos ? begin : message.find("] ", begin);
  return end == std::string::npos ? message : message.erase(begin, end + 2 - begin);
}

}  // namespace

std::string to_string(const Location& location) {
  std::string text = location.file.empty() ? "<input>" : location.file;
  if (location.line > 0) text += ":" + std::to_string(location.line);
  if (!location.field.empty()) text += ", field `" + location.field + "`";
  return text;
}

ParseError::ParseError(Location location, const std::string& message, const std::string& hint)
    : Error(ExitCode::bad_input, with_hint(to_string(location) + ": " + without_library(message), hint)),
      location_(std::move(location)) {}

DomainError::DomainError(const std::string& name, const std::string& value, const std::string& constraint,
                         const std::string& hint)
    : Error(ExitCode::bad_input, with_hint("`" + name + "` is " + value + "; expected " + constraint, hint)) {}

DomainError::DomainError(const std::string& name, double value, const std::string& constraint, const std::string& hint)
    : DomainError(name, printed("%.12g", value), constraint, hint) {}

ExternalError::ExternalError(const std::string& command, int status, const std::string& detail)
    : Error(ExitCode::external_failure, status < 0
                                            ? "cannot run " + command + ": " + detail
                                            : command + " ended with status " + std::to_string(status) + ": " + detail),
      status_(status) {}

}  // namespace hplcast::core
