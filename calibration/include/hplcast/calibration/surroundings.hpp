#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/campaign.hpp"

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
  /// written, or a system that does not do what was written.
  explicit HeldSettings(const Settings& wanted, const std::filesystem::path& root = "/");
  ~HeldSettings();
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
