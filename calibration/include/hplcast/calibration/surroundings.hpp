#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hplcast/core/campaign.hpp"
#include "hplcast/core/process.hpp"

/// How a host is set up, as far as it changes how fast it computes: recorded, compared, demanded, changed and restored.
namespace hplcast::calibration {

/// Values of settings by name, such as {"governor", "performance"} (docs/use/doctor.md has all of them).
using Settings = std::map<std::string, std::string>;

/// Names and meanings, for help and documentation.
struct SettingDescription {
  std::string name, meaning;
  bool can_be_set = false;
};
std::vector<SettingDescription> known_settings();

/// The settings that the system tells; /proc and /sys are looked for under `root`.
Settings read_settings(const std::filesystem::path& root = "/");

/// @throws core::InputError with a hint for a name that is not known, or, if it is `to_set`, that nobody can set.
void require_known(const Settings& settings, bool to_set);

/// A line per host and setting that is not as `required`: "node-7: governor is powersave, required: performance".
std::vector<std::string> unmet_requirements(const std::vector<core::MachineDescription>& hosts,
                                            const Settings& required);

/// A line per difference between hosts that should be alike: "microcode: 0x1 on node-7, 0x2 on the other 15 hosts".
std::vector<std::string> differences_of_hosts(const std::vector<core::MachineDescription>& hosts);

/// Changes settings of this host, and restores what they were when it ends. A process of its own does that, so that
/// nothing stays changed when this one is killed, by SIGKILL too.
class HeldSettings {
 public:
  /// @throws core::InputError, with everything restored, for a value that a setting cannot have, a file that cannot be
  /// written, a system that does not do what was written, or if another process holds settings of this host.
  explicit HeldSettings(const Settings& wanted, const std::filesystem::path& root = "/");
  ~HeldSettings() { restore(); }
  HeldSettings(const HeldSettings&) = delete;
  HeldSettings& operator=(const HeldSettings&) = delete;

  /// Restores now, which the destructor does otherwise, and waits for it. Whether everything could be restored.
  bool restore() noexcept;
  /// A line per setting: "huge_pages: madvise -> always".
  const std::vector<std::string>& changes() const noexcept { return changes_; }

 private:
  std::vector<std::string> changes_;
  int keeper_ = -1;  ///< process; -1: there is none any more
  int life_ = -1;    ///< it restores when this is closed
  int report_ = -1;  ///< and says how many files refused
  struct Lock {
    int fd = -1;  ///< of a folder; the keeper has it, too
    void release() noexcept;
    ~Lock() { release(); }
  } lock_;
};

/// Holds settings of this host until SIGTERM, SIGINT, SIGHUP, SIGUSR1 or the end of the process that started this one,
/// and says on standard output what it does, in lines that SettingsOnHosts reads. Whether everything could be restored.
/// @throws as HeldSettings
bool hold_settings(const Settings& wanted);

/// Settings of several hosts: a launcher runs `hplcast doctor --hold` on each of them.
class SettingsOnHosts {
 public:
  /// Waits until all have changed. `launch` starts one process per host; `hplcast` is the program there, `output` a
  /// file for what it prints. @throws core::Error, with everything restored, if a host refuses or does not answer
  SettingsOnHosts(const Settings& wanted, const core::MpiLaunch& launch, const std::filesystem::path& hplcast,
                  const std::filesystem::path& output);
  ~SettingsOnHosts() { restore(); }

  /// As HeldSettings::restore(): whether all hosts said that they have restored everything.
  bool restore() noexcept;
  /// "h1: huge_pages: madvise -> always".
  const std::vector<std::string>& changes() const noexcept { return changes_; }

 private:
  void run();
  /// Words of the hosts so far: lines that begin with `word`, without it.
  std::vector<std::string> said(const std::string& word) const;

  core::Command command_;
  std::size_t hosts_;
  std::vector<std::string> changes_;
  std::atomic<bool> is_ending_ = false, has_ended_ = false;
  std::exception_ptr failure_;  ///< of the launcher, when it has ended
  std::thread thread_;
};

/// Texts about this host for archives, by name of the file. The environment is without secrets and names of users; the
/// libraries are those of this process, with SHA-256. What the system does not tell is left out.
inline constexpr const char* record_names[] = {"mounts.txt", "modules.txt", "environment.txt", "devices.csv",
                                               "libraries.csv"};
std::map<std::string, std::string> host_records(const std::filesystem::path& root = "/");

/// Whether a variable of the environment is left out of records: it may be a secret, or names a user.
bool is_private_variable(const std::string& name);

/// Messages of the kernel from a Unix time on, a line each with its Unix time; empty if the system does not let us read
/// them.
std::string kernel_log_since(double unix_s);

}  // namespace hplcast::calibration
