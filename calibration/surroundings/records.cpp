// The texts that archives keep of a host, beside its description.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

extern char** environ;

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

/// Parts of names of variables whose values are nobody's business.
constexpr const char* private_words[] = {"TOKEN",  "SECRET",  "PASS",    "KEY",      "CREDENTIAL", "AUTH",
                                         "COOKIE", "USER",    "LOGNAME", "HOME",     "MAIL",       "SSH",
                                         "PWD",    "SESSION", "ACCOUNT", "HISTFILE", "PROXY",      "LICENSE"};

/// /proc/modules has addresses, which are nobody's business either: names and sizes are enough.
std::string modules(const fs::path& root) {
  std::set<std::string> lines;
  for (const std::string& line : core::split(core::text_if_any(root / "proc/modules"), '\n'))
    if (const auto words = core::words_of(line); words.size() > 1) lines.insert(words[0] + " " + words[1] + " bytes\n");
  return core::joined(lines, "");
}

std::string environment() {
  std::set<std::string> lines;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    lines.insert(is_private_variable(name) ? name + "  (left out)" : text);
  }
  return core::joined(lines, "", [](const std::string& line) { return line + '\n'; });
}

/// PCI devices: address, class, vendor and device as numbers, and the driver that has it.
std::string devices(const fs::path& root) {
  std::string text;
  for (const fs::path& device : entries(root / "sys/bus/pci/devices", "")) {
    std::error_code none;
    const fs::path driver = fs::read_symlink(device / "driver", none).filename();
    text += device.filename().string() + ',' + first_line(device / "class") + ',' + first_line(device / "vendor") +
            ',' + first_line(device / "device") + ',' + (none ? "" : driver.string()) + '\n';
  }
  return text.empty() ? "" : "address,class,vendor,device,driver\n" + text;
}

/// Shared libraries that this process has mapped: MPI, BLAS, libc and what they need.
std::string libraries(const fs::path& root) {
  std::set<std::string> files;
  for (const std::string& line : core::split(core::text_if_any(root / "proc/self/maps"), '\n')) {
    const std::size_t begin = line.find('/');
    if (begin != std::string::npos && line.find(".so", begin) != std::string::npos) files.insert(line.substr(begin));
  }
  std::string text;
  for (const std::string& file : files)
    if (const std::string content = core::text_if_any(file); !content.empty())
      text += core::csv_field(file) + ',' + core::sha256_hex(content) + '\n';
  return text.empty() ? "" : "file,sha256\n" + text;
}

}  // namespace

bool is_private_variable(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::any_of(std::begin(private_words), std::end(private_words),
                     [&](const char* word) { return upper.find(word) != std::string::npos; });
}

std::map<std::string, std::string> host_records(const fs::path& root) {
  std::map<std::string, std::string> records = {{"mounts.txt", core::text_if_any(root / "proc/mounts")},
                                                {"modules.txt", modules(root)},
                                                {"environment.txt", environment()},
                                                {"devices.csv", devices(root)},
                                                {"libraries.csv", libraries(root)}};
  for (auto one = records.begin(); one != records.end();)
    one = one->second.empty() ? records.erase(one) : std::next(one);
  return records;
}

std::string kernel_log_since(double unix_s) {
  const int log = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (log < 0) return "";
  const double boot_unix_s = core::unix_time_s() - now_s(CLOCK_BOOTTIME);
  std::string text;
  char record[8192];  // the most that the kernel gives at once; "priority,number,microseconds,flags;message\n details"
  for (ssize_t size; (size = ::read(log, record, sizeof record - 1)) > 0 || (size < 0 && errno == EPIPE);) {
    if (size < 0) continue;  // overwritten before we came
    record[size] = '\0';
    double priority = 0, number = 0, microseconds = 0;
    const char* message = std::strchr(record, ';');
    if (message == nullptr || std::sscanf(record, "%lf,%lf,%lf", &priority, &number, &microseconds) != 3) continue;
    const double when_s = boot_unix_s + 1e-6 * microseconds;
    if (when_s < unix_s) continue;
    text += core::printed("%.3f ", when_s) + std::string(message + 1, std::strcspn(message + 1, "\n")) + '\n';
  }
  ::close(log);
  return text;
}

}  // namespace hplcast::calibration
