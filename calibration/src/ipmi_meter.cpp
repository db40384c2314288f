#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "power_finders.hpp"

namespace hplcast::calibration {

namespace {

constexpr double patience_s = 10;  // a busy management controller takes about 1 s

/// The number behind "Instantaneous power reading:"; nothing if the text has none, or says that it is off.
std::optional<double> watts_in(const std::string& text) {
  std::optional<double> watts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 1));
    std::string word;
    words >> word;
    if (line.find("Instantaneous power reading") != std::string::npos) {
      double value = 0;
      if (core::parse_double(word, value)) watts = value;
    }
    if (line.find("Power reading state is") != std::string::npos && word == "deactivated") return std::nullopt;
  }
  return watts;
}

struct Answer {
  std::optional<double> watts;
  std::string complaint;
};

Answer ask() {
  core::Command command;
  command.program = "ipmitool";
  command.arguments = {"dcmi", "power", "reading"};
  command.timeout_s = patience_s;
  try {
    const core::CommandResult result = core::run(command);
    Answer answer;
    if (result.status == 0 && !result.timed_out) answer.watts = watts_in(result.output);
    if (answer.watts) return answer;
    std::istringstream lines(result.output);
    answer.complaint = core::telling_line(lines);
    if (answer.complaint.empty()) answer.complaint = core::how_it_ended(command, result);
    return answer;
  } catch (const core::ExternalError& error) {
    return {std::nullopt, error.what()};
  }
}

/// "/dev/ipmi0 is absent", "/dev/ipmi0: Permission denied"; empty: it is there and may be used.
std::string device_trouble(const std::filesystem::path& root) {
  std::string trouble = "/dev/ipmi0 is absent (modprobe ipmi_devintf ipmi_si)";
  for (const char* name : {"dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0"}) {
    const std::filesystem::path device = root / name;
    if (std::error_code error; !std::filesystem::exists(device, error)) continue;
    if (::access(device.c_str(), R_OK | W_OK) == 0) return "";
    trouble = "/" + std::string(name) + ": " + std::strerror(errno) + " (it belongs to root)";
  }
  return trouble;
}

}  // namespace

void find_ipmi(const std::filesystem::path& root, PowerMeters& meters) {
  std::string found = device_trouble(root);
  if (core::find_program("ipmitool").empty())
    found += (found.empty() ? "" : "; ") + std::string("ipmitool is not installed");
  if (found.empty()) {
    const Answer answer = ask();
    found = answer.watts ? "answers" : "does not answer: " + answer.complaint;
    if (answer.watts) meters.meters.push_back(gauge_meter("dcmi", core::PowerDomain::host, [] { return ask().watts; }));
  }
  meters.looked_for.push_back({MeterKind::ipmi, "IPMI (ipmitool dcmi power reading)", found});
}

}  // namespace hplcast::calibration
