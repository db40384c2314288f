#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace hplcast::core {

/// Exit codes of every hplcast program (docs/use/commands.md).
enum class ExitCode : int {
  fine = 0,
  wrong_usage = 2,
  bad_input = 3,
  no_acceptable_fit = 4,
  limit_exceeded = 5,
  external_failure = 6,
};

/// Base of everything that hplcast throws on purpose. `what()` is meant for the user: it says what happened, where,
/// what was found, what was expected, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// Exit code that a program ends with when this error reaches main().
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A place in an input: file (or stream name), line from 1 (0: not known), field (column name, JSON pointer, or empty).
struct Location {
  std::string file;
  std::size_t line = 0;
  std::string field;
};

/// "file:line, field `x`" with the parts that are known.
std::string to_string(const Location& location);

/// An input that cannot be read: `message` says what was found and what was expected. Exit code bad_input.
class ParseError : public Error {
 public:
  ParseError(Location location, const std::string& message, const std::string& hint = "");
  const Location& location() const noexcept { return location_; }

 private:
  Location location_;
};

/// A value outside its domain: "`name` is `value`; expected `constraint`". Exit code bad_input.
class DomainError : public Error {
 public:
  DomainError(const std::string& name, const std::string& value, const std::string& constraint,
              const std::string& hint = "");
  DomainError(const std::string& name, double value, const std::string& constraint, const std::string& hint = "");
  template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  DomainError(const std::string& name, Integer value, const std::string& constraint, const std::string& hint = "")
      : DomainError(name, static_cast<double>(value), constraint, hint) {}
};

/// @throws DomainError of what follows unless `holds`.
template <typename... What>
void require(bool holds, const What&... what) {
  if (!holds) throw DomainError(what...);
}

/// An external program that could not be started (status -1), or ended with an error. Exit code external_failure.
class ExternalError : public Error {
 public:
  ExternalError(const std::string& command, int status, const std::string& detail);
  /// With a message of its own, see program_failure().
  ExternalError(int status, const std::string& message) : Error(ExitCode::external_failure, message), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

/// A file that cannot be written because of the place where it is: a full disk, a quota, a limit of file sizes, a
/// broken or read-only disk. The content is not to blame. Exit code bad_input.
class StorageError : public Error {
 public:
  explicit StorageError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

/// Anything else that the user can change: a file, a host, the ranks that were started. Exit code bad_input.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

/// Wrong use of a command that the option parser alone cannot see. Exit code wrong_usage.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::wrong_usage, message) {}
};

}  // namespace hplcast::core
