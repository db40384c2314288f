#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"

/// Electrical power of hosts, by what their cores do: `power` of cluster.json (docs/models/energy.md).
///   P(host) = (idle + awake [any core is active] + sum over its cores of p(state, frequency)) / supply_efficiency
/// A core is active in a state whose watts are above 0.
namespace hplcast::core {

class Hosts;

/// Activity of a core, as far as its watts go: a kernel (with the number of its KernelId), or one of these.
enum class CoreState : int {
  polling = kernel_count,  ///< asks again and again whether a message is there, as HPL does with MPI_Iprobe
  blocked,                 ///< waits inside MPI (docs/models/energy.md)
  messages                 ///< copies and other work of MPI
};
inline constexpr int core_state_count = kernel_count + 3;

constexpr CoreState state_of(KernelId kernel) noexcept {
  return static_cast<CoreState>(kernel);
}
constexpr bool is_kernel(CoreState state) noexcept {
  return static_cast<int>(state) < kernel_count;
}
const char* to_string(CoreState state);
std::optional<CoreState> core_state_from_name(std::string_view name);

/// Key of `states` and of `scaling` for every kernel that has no entry of its own.
inline constexpr const char* default_state = "default";

/// Watts as a function of the frequency f in GHz: c0 + c1 f + c2 f^2 + ..., or a table of states, in which nothing is
/// between the states. In JSON: a number, a list of coefficients, or {"ghz": [...], "w": [...]}.
class Watts {
 public:
  struct Table {
    std::vector<double> ghz;  ///< strictly ascending or strictly descending, above 0
    std::vector<double> w;    ///< as many, at least 0
  };
  using Coefficients = std::vector<double>;  ///< c0, c1, ...: at least one

  Watts() = default;  ///< 0 W
  /// @throws DomainError for a negative or infinite number.
  Watts(double constant_w);  // NOLINT(google-explicit-constructor): a number is a constant polynomial
  /// @throws DomainError for no coefficients, infinite ones, or a negative constant.
  static Watts polynomial(Coefficients coefficients);
  /// @throws DomainError for lists of different lengths, none, states that are not in order, or negative watts.
  static Watts table(Table table);

  /// Whether a frequency is needed.
  bool varies() const noexcept;
  /// @param hz the frequency; may be missing where it does not vary.
  /// @throws DomainError without a needed frequency, for one that the table does not have (nothing is extrapolated),
  /// and for a result below 0.
  double at(std::optional<double> hz) const;
  const std::variant<Coefficients, Table>& law() const noexcept { return law_; }

 private:
  std::variant<Coefficients, Table> law_ = Coefficients{0.0};
};

/// Frequencies that are set while a run goes on: hz[i] from at_s[i] on, until the next one. Before the first nothing is
/// set. Where several say something of a CPU, the lowest holds.
struct FrequencySchedule {
  std::string hosts;               ///< radical: names among those of the cluster; empty: all
  std::optional<int> cpu;          ///< of each of them, from 0; nothing: all
  std::optional<double> period_s;  ///< the instants come again every so often; nothing: once
  std::vector<double> at_s;        ///< since the program began: strictly ascending, at least 0, below period_s
  std::vector<double> hz;          ///< as many
};

/// Keeps the mean power of groups of hosts at a limit while a run goes on: the rule is in docs/models/energy.md.
struct PowerController {
  std::string hosts;                   ///< as of a schedule; a host has one controller at most
  std::optional<int> hosts_per_group;  ///< neighbours in that list; nothing: all are one group
  double cap_w = 0;                    ///< of each group, at the wall
  double period_s = 0;                 ///< from one look at the power to the next
  std::optional<double> step_hz;       ///< of a range of frequencies; nothing: default_step_hz
  static constexpr double default_step_hz = 1e8;
};

/// The frequencies of the cores, and what they do to kernels.
struct FrequencyModel {
  double hz = 0;                          ///< at which the kernels of the cluster were measured, or are predicted
  std::vector<double> states_hz;          ///< that can be set; or
  std::optional<double> least_hz;         ///< any from least
  std::optional<double> most_hz;          ///< to most
  std::map<std::string, double> scaling;  ///< b in [0, 1] by kernel or `default`: time x (b f0/f + 1 - b)
  std::optional<double> scaling_hz = std::nullopt;  ///< the f0 of that; absent: hz
  std::vector<FrequencySchedule> schedules = {};
  std::vector<PowerController> controllers = {};

  /// Whether frequencies may change while a run goes on.
  bool changes() const noexcept { return !schedules.empty() || !controllers.empty(); }
  /// Whether a frequency can be set: one of the states, in the range, or, with neither of both, hz itself.
  bool covers(double frequency_hz) const noexcept;
  /// How much longer the kernel takes at `to_hz` than at `from_hz`. Its share b that goes with the clock is its own,
  /// that of `default` (as of code that is no kernel of HPL: nothing), else 1.
  double time_factor(std::optional<KernelId> kernel, double from_hz, double to_hz) const;
  /// Frequencies that can be set below `from_hz`, which comes first, in descending order; of a range in steps down to
  /// least_hz.
  std::vector<double> steps_below(double from_hz, std::optional<double> step_hz) const;
};

/// A frequency, and until when it holds.
struct FrequencyUntil {
  double hz = 0;
  double until_s = 0;  ///< may be infinite
};
/// @param hz  where no schedule has set anything yet
FrequencyUntil scheduled_frequency(const std::vector<const FrequencySchedule*>& schedules, double hz, double time_s);

/// Limits of power that the hardware keeps by lowering frequencies.
struct PowerCaps {
  std::optional<double> cpu_w;   ///< per CPU (socket)
  std::optional<double> host_w;  ///< per host
  bool empty() const { return !cpu_w && !host_w; }
};

/// Where a host, a CPU of all hosts, or a CPU of one host differs; what is absent is as elsewhere. A key of `states`
/// that an override names replaces that key only. One of host and CPU goes before one of a host, that before one of a
/// CPU.
struct PowerOverride {
  std::optional<int> host;           ///< index into the hosts of the cluster, from 0
  std::optional<int> cpu;            ///< CPU (socket) of a host, from 0
  std::optional<double> hz;          ///< its frequency, instead of FrequencyModel::hz
  std::optional<Watts> idle, awake;  ///< not with a CPU
  std::optional<double> off_w;       ///< not with a CPU
  std::map<std::string, Watts> states;
};

/// The power of a cluster: `power` of cluster.json.
class PowerModel {
 public:
  struct Values {
    Watts idle;        ///< of a host on which nothing runs
    Watts awake;       ///< added by a host as soon as one of its cores is active
    double off_w = 0;  ///< of a host that is off
    std::map<std::string, Watts> states = {{default_state, Watts()}};  ///< added by ONE core, by name of the state
    std::optional<FrequencyModel> frequency;
    PowerCaps caps;
    double supply_efficiency = 1;  ///< of the power supplies: what hosts draw is divided by it; in (0, 1]
    double network_w = 0;          ///< of all switches together, always
    std::vector<PowerOverride> overrides;
  };
  PowerModel() = default;
  /// @throws DomainError for negative watts at a frequency that can be set, unknown states, no `default`, watts that
  /// vary without a frequency, tables that lack a frequency that can be set, and what else cannot be.
  static PowerModel make(Values values);

  const Values& values() const noexcept { return values_; }
  /// The frequency of a CPU: its own or that of the cluster; nothing if the model has none.
  std::optional<double> frequency_hz(int host, int cpu) const noexcept;
  /// Watts added by one core. Kernels without an entry: `default`; other states without one: 0 W.
  const Watts& core(int host, int cpu, CoreState state) const noexcept;
  const Watts& idle(int host) const noexcept;
  const Watts& awake(int host) const noexcept;
  double off_w(int host) const noexcept;
  /// Watts added by one core in a kernel without an entry.
  const Watts& default_core(int host, int cpu) const noexcept;

 private:
  Values values_;
};

/// States (of polling, blocked, messages) that the model does not give: they are taken as 0 W.
std::vector<CoreState> unstated(const PowerModel& model);

/// Whether frequencies may change while a run goes on.
bool frequency_changes(const std::optional<PowerModel>& power) noexcept;

/// Indices of the hosts of a schedule or controller, ascending. @throws DomainError for a name that the cluster does
/// not have
std::vector<int> hosts_named(const std::string& radical, const Hosts& hosts);
/// The groups of hosts that a controller looks at.
std::vector<std::vector<int>> groups_of(const PowerController& controller, const Hosts& hosts);

/// @throws DomainError for an override or schedule of a host or CPU that the cluster does not have, a host with two
/// controllers, and a cap below what a group draws with all cores in dgemm at the lowest frequency.
void check_power(const PowerModel& model, const Hosts& hosts);

/// Some cores of a CPU in one state.
struct CoresInState {
  int cpu = 0;
  CoreState state = CoreState::blocked;
  int cores = 1;
};

/// The watts of one host at its frequencies: idle and awake as the mean over its CPUs, each at its own frequency. All
/// but at_wall_w() is behind the power supply.
class HostPower {
 public:
  /// @param hz all CPUs at this frequency instead of theirs
  /// @throws DomainError for a frequency that is not covered.
  HostPower(const PowerModel& model, const Hosts& hosts, int host, std::optional<double> hz = std::nullopt);

  double idle_w() const noexcept { return idle_w_; }
  double awake_w() const noexcept { return awake_w_; }
  /// Added by one core of a CPU.
  double core_w(int cpu, CoreState state) const noexcept {
    return core_w_[static_cast<std::size_t>(cpu)][static_cast<std::size_t>(state)];
  }
  bool is_active(int cpu, CoreState state) const noexcept { return core_w(cpu, state) > 0; }
  /// Power drawn by all supplies of the host.
  double at_wall_w(double behind_supply_w) const noexcept { return behind_supply_w / supply_efficiency_; }
  /// Power at the wall with so many cores in each state; cores that are not named add nothing.
  double watts(const std::vector<CoresInState>& cores) const noexcept;

 private:
  double idle_w_ = 0, awake_w_ = 0, supply_efficiency_ = 1;
  std::vector<std::array<double, core_state_count>> core_w_;  // by CPU
};

/// Wattage of a host for SimGrid's plugin host_energy at one frequency, at the wall: idle without load, epsilon +
/// load (all - epsilon) with load. All kernels add `default` there, and waiting nothing.
struct SimgridWattage {
  double idle_w = 0, epsilon_w = 0, all_cores_w = 0, off_w = 0;
};
/// Rounded to 1e-9 W. @throws DomainError for a frequency that is not covered.
SimgridWattage simgrid_wattage(const PowerModel& model, const Hosts& hosts, int host,
                               std::optional<double> hz = std::nullopt);

/// A host of SimGrid at all frequency states that can be set. The first one is its own, the others descend;
/// without states there is one.
struct SimgridPstates {
  std::vector<double> speeds;     ///< relative to the first
  std::string wattage_per_state;  ///< "idle:epsilon:all,...": the property of that name
  double off_w = 0;
};
/// @throws DomainError for a frequency without watts.
SimgridPstates simgrid_pstates(const PowerModel& model, const Hosts& hosts, int host);

/// Measured power of a host, as files of SimGrid up to 3.1x and versions 1 and 2 of cluster.json have it.
struct LoadWatts {
  std::optional<double> ghz;  ///< the frequency, where there are several
  double idle_w = 0;
  double one_core_w = 0;   ///< ONE core, fully busy; not used of hosts with one core
  double all_cores_w = 0;  ///< all cores busy
  double off_w = 0;
};
/// The published model of SimGrid's users: one core adds p = (all - one)/(cores - 1) in every kernel and nothing
/// otherwise, awake = one - p - idle; of a host with one core p = all - idle, awake = 0.
/// @param states one, or several of different frequencies, as tables; frequency.hz is the first one.
/// @throws DomainError for negative watts, one_core_w below idle_w + p, none, or several without ghz.
PowerModel power_from_loads(const std::vector<LoadWatts>& states, int cores);

/// The power model alone, as `fit power -o` writes it: {"power": {...}}.
std::string power_json(const PowerModel& model);

}  // namespace hplcast::core
