// Counters of processors and of their memory controllers, by the perf events of Linux.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/sensors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

/// Bits of a word of the event that a name such as `umask` stands for: "config:8-15", "config1:0".
struct BitField {
  std::size_t word = 0;
  int first = 0, last = 63;
};

std::optional<BitField> bit_field(const std::string& format) {
  BitField field;
  const std::size_t colon = format.find(':');
  const std::string word = format.substr(0, colon);
  if (colon == std::string::npos || word.rfind("config", 0) != 0 || word.size() > 7) return std::nullopt;
  field.word = word.size() == 7 ? static_cast<std::size_t>(word[6] - '0') : 0;
  const std::string bits = format.substr(colon + 1);
  char* rest = nullptr;
  field.first = field.last = static_cast<int>(std::strtol(bits.c_str(), &rest, 10));
  if (*rest == '-') field.last = static_cast<int>(std::strtol(rest + 1, &rest, 10));
  const bool fine = field.word < 3 && *rest == '\0' && field.first >= 0 && field.first <= field.last && field.last < 64;
  return fine ? std::optional(field) : std::nullopt;  // fields in several parts are not used by memory controllers
}

/// The words of an event that a device describes as "event=0x04,umask=0x03". Nothing: in a way that is not known.
std::optional<std::array<std::uint64_t, 3>> event_words(const fs::path& device, const std::string& event) {
  std::array<std::uint64_t, 3> words{};
  for (const std::string& term : core::split(event, ',')) {
    const std::size_t equals = term.find('=');
    const auto field = bit_field(first_line(device / "format" / term.substr(0, equals)));
    if (!field) return std::nullopt;
    const std::uint64_t value = equals == std::string::npos ? 1 : std::strtoull(term.c_str() + equals + 1, nullptr, 0);
    words[field->word] |= value << field->first;
  }
  return words;
}

/// The numbers of "0,18" or "0-3".
std::vector<int> cpus_of(const std::string& list) {
  std::vector<int> cpus;
  for (const std::string& part : core::split(list, ',')) {
    char* rest = nullptr;
    const long first = std::strtol(part.c_str(), &rest, 10);
    const long last = *rest == '-' ? std::strtol(rest + 1, &rest, 10) : first;
    constexpr long most = 65536;
    if (*rest != '\0' || rest == part.c_str() || first < 0 || last >= most) return {};
    for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

/// A counter of all processes on a CPU; -1 with errno.
int open_event(std::uint32_t type, const std::array<std::uint64_t, 3>& words, int cpu) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = type;
  event.config = words[0];
  event.config1 = words[1];
  event.config2 = words[2];
  event.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &event, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string why_not_opened(const fs::path& root) {
  const int error = errno;
  if (error == EACCES || error == EPERM)
    return "not allowed: /proc/sys/kernel/perf_event_paranoid is " +
           first_line(root / "proc/sys/kernel/perf_event_paranoid") + ", 0 or root is needed";
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) return "this processor, or virtual machine, has none";
  return std::strerror(error);
}

}  // namespace

PerfCounters::~PerfCounters() {
  for (const Counter& counter : counters_)
    for (const int file : counter.files) ::close(file);
}

bool PerfCounters::open(Counter counter, std::uint32_t type, const std::array<std::uint64_t, 3>& words,
                        const std::vector<int>& cpus) {
  for (const int cpu : cpus)
    if (const int file = open_event(type, words, cpu); file >= 0) counter.files.push_back(file);
  if (counter.files.size() == cpus.size() && !cpus.empty()) {
    counters_.push_back(std::move(counter));
    return true;
  }
  const int error = errno;
  for (const int file : counter.files) ::close(file);
  errno = error;
  return false;
}

PerfCounters::PerfCounters(const fs::path& root) {
  const std::vector<int> cpus = cpus_of(first_line(root / "sys/devices/system/cpu/online"));
  if (cpus.empty()) return;
  known_ = true;
  if (!open({Quantity::instructions, "all CPUs", 1, {}}, PERF_TYPE_HARDWARE, {PERF_COUNT_HW_INSTRUCTIONS}, cpus))
    skipped_ = "instructions: " + why_not_opened(root);
  bool any = false;
  std::string failure;
  for (const fs::path& device : entries(root / "sys/bus/event_source/devices", "uncore_imc")) {
    const auto type = first_number(device / "type");
    const struct {
      Quantity quantity;
      std::vector<const char*> names;
    } kinds[] = {{Quantity::memory_read_bytes, {"cas_count_read", "data_reads"}},
                 {Quantity::memory_written_bytes, {"cas_count_write", "data_writes"}}};
    for (const auto& [quantity, names] : kinds) {
      for (const char* name : names) {
        const std::string event = first_line(device / "events" / name);
        const auto words = event_words(device, event);
        if (event.empty() || !type || !words) continue;
        const double scale = first_number(device / "events" / (std::string(name) + ".scale")).value_or(1);
        const std::string unit = first_line(device / "events" / (std::string(name) + ".unit"));
        const double bytes = unit == "MiB" ? core::mebibyte : unit == "KiB" ? core::kibibyte : 1;
        // One CPU per package counts for all of it.
        for (const int cpu : cpus_of(first_line(device / "cpumask"))) {
          const std::string sensor = device.filename().string() + " of the package of cpu" + std::to_string(cpu);
          any = true;
          if (!open({quantity, sensor, scale * bytes, {}}, static_cast<std::uint32_t>(*type), *words, {cpu}))
            failure = why_not_opened(root);
        }
      }
    }
  }
  if (!any) failure = "the kernel describes no memory controller";
  if (!failure.empty()) skipped_ += (skipped_.empty() ? "" : "; ") + ("memory traffic: " + failure);
}

std::vector<Reading> PerfCounters::read(double time_s) const {
  std::vector<Reading> readings;
  for (const Counter& counter : counters_) {
    double sum = 0;
    for (const int file : counter.files) {
      std::uint64_t value[3] = {};  // count; time that it was wanted, and that it counted: others may share the counter
      if (::read(file, value, sizeof value) != sizeof value || value[2] == 0) continue;
      sum += static_cast<double>(value[0]) * static_cast<double>(value[1]) / static_cast<double>(value[2]);
    }
    readings.push_back({time_s, counter.quantity, counter.name, sum * counter.unit, 0});
  }
  return readings;
}

}  // namespace hplcast::calibration
