#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <sstream>

#include "child_output.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace fs = std::filesystem;

namespace {

std::string name_of(const Command& command) {
  return fs::path(command.program).filename().string();
}

bool is_about_an_error(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word :
       {"error", "fail", "cannot", "critical", "no such", "not found", "fault", "exception", "killed"})
    if (line.find(word) != std::string::npos) return true;
  return false;
}

/// "hplcast-measure-mpi: ...", unless it only warns.
bool is_ours(const std::string& line) {
  return begins_with(line, "hplcast") && line.find(": ") != std::string::npos &&
         line.find(": warning: ") == std::string::npos && line.find(": note: ") == std::string::npos;
}

/// What smpirun and SMPI add about a program that failed: its exit code, and the command.
bool is_of_smpirun(const std::string& line) {
  return begins_with(line, "Execution failed with code ") ||
         line.find("SMPI process did not return 0. Return value :") != std::string::npos ||
         line.find(" --cfg=smpi/privatization:") != std::string::npos;
}

/// Without blanks around it, and not longer than one wants to read.
std::string trimmed(const std::string& line) {
  constexpr std::size_t longest = 240;
  const std::size_t begin = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  const std::string text = line.substr(begin, end - begin + 1);
  return text.size() <= longest ? text : text.substr(0, longest) + " ...";
}

/// A file that stays, with what a program has printed. Empty if it cannot be written.
fs::path kept(const Command& command, const std::string& output) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : folder) / ("hplcast-" + name_of(command) + "-XXXXXX.log")).string();
  const int fd = ::mkstemps(name.data(), 4);
  if (fd < 0) return {};
  const bool whole = ::write(fd, output.data(), output.size()) == static_cast<ssize_t>(output.size());
  ::close(fd);
  if (!whole) ::unlink(name.c_str());
  return whole ? fs::path(name) : fs::path();
}

}  // namespace

std::string telling_line(std::istream& output) {
  std::string error, last;
  for (std::string line; std::getline(output, line);) {
    if (std::none_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); }) || is_of_smpirun(line))
      continue;
    if (is_ours(line)) return trimmed(line);
    // Open MPI 5 wraps what it says of a rank that was lost.
    const bool goes_on = last.find(" noticed that process ") != std::string::npos;
    if (error.empty() && is_about_an_error(line)) error = goes_on ? trimmed(last) + " " + trimmed(line) : line;
    last = line;
  }
  return trimmed(error.empty() ? last : error);
}

std::string how_it_ended(const Command& command, const CommandResult& result) {
  std::ostringstream text;
  text << name_of(command);
  constexpr int signals = 128, most_signals = 64;
  if (result.timed_out) {
    text << " did not end within " << command.timeout_s << " s";
  } else if (result.status > signals && result.status <= signals + most_signals) {
    text << " ended with status " << result.status << " (signal " << result.status - signals << ": "
         << ::strsignal(result.status - signals) << ")";
  } else {
    text << " ended with status " << result.status;
  }
  return text.str();
}

ExternalError program_failure(const Command& command, int status, const std::string& how, const std::string& details) {
  std::string message = command.purpose.empty() ? how : command.purpose + " failed: " + how;
  std::ifstream output(command.output);
  const std::string said = telling_line(output);
  if (said.empty()) {
    message += command.output.empty() || !output.is_open() ? "" : "; it printed nothing";
  } else {
    message += "; its output is in " + fs::absolute(command.output).string();
  }
  if (!details.empty()) message += "\n  " + details;
  if (!said.empty()) message += "\n  it said: " + said;
  if (!command.purpose.empty() && !output_is_shown()) message += "\n  hint: --verbose shows the command and its output";
  return ExternalError(status, message);
}

CommandResult run_checked(const Command& command) {
  CommandResult result = run(command);
  if (result.status == 0) return result;
  Command with_log = command;
  if (command.output.empty() && !result.output.empty()) with_log.output = kept(command, result.output);
  throw program_failure(with_log, result.status, how_it_ended(command, result));
}

}  // namespace hplcast::core
