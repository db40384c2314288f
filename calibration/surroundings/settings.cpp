// The table of settings: where the kernel keeps each of them.
#include "calibration/surroundings/settings.hpp"

#include <algorithm>
#include <set>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/sensors.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

fs::path cpus(const fs::path& root) {
  return root / "sys/devices/system/cpu";
}

/// cpu0/FILE, cpu1/FILE ..., as far as they are there.
std::vector<fs::path> of_each_cpu(const fs::path& root, const std::string& file) {
  std::vector<fs::path> found;
  for (const fs::path& cpu : entries(cpus(root), "cpu"))
    if (fs::exists(cpu / file)) found.push_back(cpu / file);
  return found;
}

/// The value that all have; "mixed" if they differ.
std::string common_value(const std::set<std::string>& values) {
  return values.empty() ? "" : values.size() == 1 ? *values.begin() : "mixed";
}

std::string value_of_cpus(const fs::path& root, const std::string& file) {
  std::set<std::string> values;
  for (const fs::path& one : of_each_cpu(root, file)) values.insert(chosen_word(one));
  return common_value(values);
}

std::string on_or_off(const fs::path& file, bool one_is_on = true) {
  const auto value = first_number(file);
  return !value ? "" : (*value != 0) == one_is_on ? "on" : "off";
}

/// @throws core::DomainError
std::string as_number(const std::string& value, bool one_is_on = true) {
  if (value != "on" && value != "off") throw core::DomainError("value", value, "on or off");
  return (value == "on") == one_is_on ? "1" : "0";
}

/// The value, if it is among those of a list, of which the kernel may have one in brackets. @throws core::DomainError
std::string one_of(const std::string& value, std::string list) {
  list.erase(std::remove_if(list.begin(), list.end(), [](char c) { return c == '[' || c == ']'; }), list.end());
  const std::vector<std::string> words = core::words_of(list);
  if (std::find(words.begin(), words.end(), value) != words.end()) return value;
  throw core::DomainError("value", value, "one of: " + list);
}

fs::path no_turbo(const fs::path& root) {
  return cpus(root) / "intel_pstate/no_turbo";
}

std::vector<FileText> set_turbo(const fs::path& root, const std::string& value) {
  if (fs::exists(no_turbo(root))) return {{no_turbo(root), as_number(value, false)}};
  return {{cpus(root) / "cpufreq/boost", as_number(value)}};
}

std::vector<FileText> set_governor(const fs::path& root, const std::string& value) {
  std::vector<FileText> writes;
  for (const fs::path& file : of_each_cpu(root, "cpufreq/scaling_governor")) {
    const std::string list = first_line(file.parent_path() / "scaling_available_governors");
    writes.push_back({file, list.empty() ? value : one_of(value, list)});
  }
  return writes;
}

/// Idle states of a CPU with their names, from the lightest to the deepest.
std::vector<fs::path> idle_states(const fs::path& cpu) {
  std::vector<fs::path> states = entries(cpu / "cpuidle", "state");
  std::sort(states.begin(), states.end(),
            [](const fs::path& a, const fs::path& b) { return core::ByNumber()(a.filename(), b.filename()); });
  return states;
}

std::string deepest_idle_state(const fs::path& root) {
  std::set<std::string> deepest;
  for (const fs::path& cpu : entries(cpus(root), "cpu")) {
    std::string name;
    for (const fs::path& state : idle_states(cpu))
      if (first_number(state / "disable").value_or(0) == 0) name = first_line(state / "name");
    if (!name.empty()) deepest.insert(name);
  }
  return common_value(deepest);
}

std::vector<FileText> set_deepest_idle_state(const fs::path& root, const std::string& value) {
  std::vector<FileText> writes;
  for (const fs::path& cpu : entries(cpus(root), "cpu")) {
    bool deeper = false;
    std::string names;
    for (const fs::path& state : idle_states(cpu)) {
      const std::string name = first_line(state / "name");
      names += (names.empty() ? "" : " ") + name;
      writes.push_back({state / "disable", deeper ? "1" : "0"});
      deeper |= name == value;
    }
    if (!names.empty()) one_of(value, names);
  }
  return writes;
}

/// "spectre_v2: Mitigation: Retpolines; mds: Vulnerable": what the processor is affected by.
std::string mitigations(const fs::path& root) {
  std::string text;
  for (const fs::path& one : entries(cpus(root) / "vulnerabilities", "")) {
    const std::string state = first_line(one);
    if (state.empty() || state == "Not affected") continue;
    text += (text.empty() ? "" : "; ") + one.filename().string() + ": " + state;
  }
  return text;
}

constexpr const char* smt = "sys/devices/system/cpu/smt/control";
constexpr const char* numa = "proc/sys/kernel/numa_balancing";
constexpr const char* huge = "sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* reserved = "proc/sys/vm/nr_hugepages";
constexpr const char* watchdog = "proc/sys/kernel/nmi_watchdog";

std::vector<Setting> make_table() {
  using Root = const fs::path&;
  using Value = const std::string&;
  const auto chosen = [](const char* file) { return [file](Root root) { return chosen_word(root / file); }; };
  const auto whole = [](const char* file) { return [file](Root root) { return first_line(root / file); }; };
  const auto on_off = [](const char* file) { return [file](Root root) { return on_or_off(root / file); }; };
  const auto set_on_off = [](const char* file) {
    return [file](Root root, Value value) { return std::vector<FileText>{{root / file, as_number(value)}}; };
  };
  return {
      {"governor", "of the CPU frequency: performance, powersave ...",
       [](Root root) { return value_of_cpus(root, "cpufreq/scaling_governor"); }, set_governor},
      {"frequency_driver", "of the kernel: intel_pstate, acpi-cpufreq ...",
       [](Root root) { return value_of_cpus(root, "cpufreq/scaling_driver"); }, nullptr},
      {"turbo", "frequencies above the nominal one: on, off",
       [](Root root) {
         return fs::exists(no_turbo(root)) ? on_or_off(no_turbo(root), false) : on_or_off(cpus(root) / "cpufreq/boost");
       },
       set_turbo},
      {"deepest_idle_state", "name of the deepest that is enabled: POLL, C1, C6 ...", deepest_idle_state,
       set_deepest_idle_state},
      {"hyper_threads", "on, off, notsupported", chosen(smt),
       [](Root root, Value value) {
         return std::vector<FileText>{{root / smt, one_of(value, "on off")}};
       }},
      {"numa_balancing", "automatic NUMA balancing: on, off", on_off(numa), set_on_off(numa)},
      {"huge_pages", "transparent huge pages: always, madvise, never", chosen(huge),
       [](Root root, Value value) {
         return std::vector<FileText>{{root / huge, one_of(value, first_line(root / huge))}};
       }},
      {"reserved_huge_pages", "number of them", chosen(reserved),
       [](Root root, Value value) {
         constexpr std::size_t most_digits = 12;
         if (value.empty() || value.size() > most_digits || value.find_first_not_of("0123456789") != std::string::npos)
           throw core::DomainError("value", value, "a number of pages");
         return std::vector<FileText>{{root / reserved, value}};
       }},
      {"nmi_watchdog", "uses a counter of each core and interrupts it: on, off", on_off(watchdog),
       set_on_off(watchdog)},
      {"microcode", "of the CPUs", [](Root root) { return of_cpuinfo(root, "microcode"); }, nullptr},
      {"mitigations", "of processor vulnerabilities, as the kernel says them", mitigations, nullptr},
      {"kernel_command_line", "that the kernel was started with", whole("proc/cmdline"), nullptr},
      {"performance_counters", "of instructions and memory traffic: all, or why not",
       [](Root root) { return PerfCounters(root).availability(); }, nullptr},
      {"allowed_cpus", "that the control group has", chosen("sys/fs/cgroup/cpuset.cpus.effective"), nullptr},
  };
}

/// The things that hosts of one kind have in common, beside their settings.
Settings characteristics(const core::MachineDescription& host) {
  Settings all = host.settings;
  all["kernel"] = host.kernel;
  all["firmware"] = host.firmware;
  all["CPU"] = host.cpu_model;
  all["cores"] = std::to_string(host.cores);
  all["NUMA nodes"] = std::to_string(host.numa_nodes);
  all["memory"] = core::printed("%.0f GiB", host.memory_bytes / core::gibibyte);
  return all;
}

}  // namespace

const std::vector<Setting>& setting_table() {
  static const std::vector<Setting> table = make_table();
  return table;
}

std::string chosen_word(const fs::path& file) {
  const std::string line = first_line(file);
  const std::size_t open = line.find('['), close = line.find(']');
  if (open != std::string::npos && close != std::string::npos && open < close)
    return line.substr(open + 1, close - open - 1);
  return line.substr(0, line.find_last_not_of(" \t\n") + 1);
}

std::vector<SettingDescription> known_settings() {
  return core::mapped(setting_table(), [](const Setting& one) {
    return SettingDescription{one.name, one.meaning, one.writes != nullptr};
  });
}

Settings read_settings(const fs::path& root) {
  Settings settings;
  for (const Setting& one : setting_table())
    if (std::string value = one.read(root); !value.empty()) settings[one.name] = value;
  return settings;
}

void require_known(const Settings& settings, bool to_set) {
  std::vector<std::string> names;
  for (const Setting& one : setting_table())
    if (!to_set || one.writes) names.push_back(one.name);
  for (const auto& [name, value] : settings) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw core::InputError("`" + name + "` is no setting " + (to_set ? "that can be changed" : "of a host") +
                           "; expected one of: " + core::comma_separated(names));
  }
}

std::vector<std::string> unmet_requirements(const std::vector<core::MachineDescription>& hosts,
                                            const Settings& required) {
  std::vector<std::string> lines;
  for (const core::MachineDescription& host : hosts) {
    for (const auto& [name, value] : required) {
      const auto found = host.settings.find(name);
      if (found != host.settings.end() && found->second == value) continue;
      lines.push_back(host.host + ": " + name + " is " +
                      (found == host.settings.end() ? "not told by the system" : found->second) +
                      ", required: " + value);
    }
  }
  return lines;
}

std::vector<std::string> differences_of_hosts(const std::vector<core::MachineDescription>& hosts) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> found;  // name, value: hosts
  std::set<std::string> names;
  for (const core::MachineDescription& host : hosts)
    for (const auto& one : characteristics(host)) names.insert(one.first);
  for (const core::MachineDescription& host : hosts) {
    const Settings mine = characteristics(host);
    for (const std::string& name : names) {
      const auto value = mine.find(name);
      found[name][value == mine.end() || value->second.empty() ? "not known" : value->second].push_back(host.host);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [name, values] : found) {
    if (values.size() < 2) continue;
    const auto usual = std::max_element(values.begin(), values.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::string line = name + ": ";
    for (const auto& [value, of] : values)
      if (value != usual->first)
        line += value + " on " + core::first_few(of, 4, [](const auto& host) { return host; }) + ", ";
    const std::size_t others = usual->second.size();
    lines.push_back(line + usual->first + " on " +
                    (others == 1 ? usual->second.front() : "the other " + std::to_string(others) + " hosts"));
  }
  return lines;
}

}  // namespace hplcast::calibration
